//! Caching of DNS responses.

use std::time::{Duration, Instant};

use crate::{Names, VALUE, well};

fn records(ttl: u32, value: &str, target: &str) -> String {
    format!("t {ttl} CNAME {target}\n_attestry-challenge.t {ttl} TXT {value}")
}

#[tokio::test]
async fn what_is_as_it_should_be_is_remembered_for_its_ttl() {
    let mut names = Names::changed(&records(300, VALUE, "portal.attestry.test."), |settings| {
        settings.timeout = Duration::from_secs(2);
    })
    .await;
    assert_eq!(names.status("t.customer.test").await, well());
    names.server.stop().expect("stopped");
    for _ in 0..100 {
        assert_eq!(names.status("t.customer.test").await, well());
    }
    assert!(names.ask("u.customer.test").await.is_err(), "nothing is known of others");
}

#[tokio::test]
async fn nothing_is_remembered_past_its_ttl() {
    let names = Names::with(&records(0, VALUE, "portal.attestry.test.")).await;
    assert_eq!(names.status("t.customer.test").await, well());
    names.set(&records(1, "other", "old")).await;
    let status = names.status("t.customer.test").await;
    assert!(!status.verified && status.misconfigured, "a TTL of 0 is not remembered");

    names.set(&records(1, VALUE, "portal.attestry.test.")).await;
    assert_eq!(names.status("t.customer.test").await, well());
    let since = Instant::now();
    names.set(&records(0, "other", "old")).await;
    while names.status("t.customer.test").await != well_not() {
        assert!(since.elapsed() < Duration::from_secs(4), "a TTL of 1 is over");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn absence_is_remembered_for_seconds_only() {
    // The zone allows it to be cached for an hour.
    let names = Names::with("t 300 A 192.0.2.10").await;
    assert!(!names.status("t.customer.test").await.misconfigured, "it needs no AAAA record");
    names.set("t 300 A 192.0.2.10\nt 300 AAAA 2001:db8::99").await;
    let since = Instant::now();
    while !names.status("t.customer.test").await.misconfigured {
        assert!(since.elapsed() < Duration::from_secs(10), "the absence of a record is still remembered");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn what_is_missing_is_asked_for_anew() {
    // The zone allows absence to be cached for an hour.
    let names = Names::with("").await;
    for _ in 0..3 {
        names.set("").await;
        let status = names.status("t.customer.test").await;
        assert!(!status.verified && status.misconfigured);
        names.set(&records(0, VALUE, "portal.attestry.test.")).await;
        assert_eq!(names.status("t.customer.test").await, well());
    }
}

#[tokio::test]
async fn what_is_wrong_is_asked_for_anew() {
    for wrong in [
        records(300, "other", "old"),
        records(300, "other", "old") + "\nold 300 A 192.0.2.99",
        "t 300 A 192.0.2.99\n_attestry-challenge.t 300 CNAME u\nu 300 TXT other".to_owned(),
        "t 300 CNAME u\nu 300 CNAME t\n_attestry-challenge.t 300 CNAME v\nv 300 CNAME v".to_owned(),
    ] {
        let names = Names::with(&wrong).await;
        let status = names.status("t.customer.test").await;
        assert!(!status.verified && status.misconfigured, "{wrong}");
        names.set(&records(300, VALUE, "portal.attestry.test.")).await;
        assert_eq!(names.status("t.customer.test").await, well(), "{wrong}");
    }
}

/// The status for [`records`] with another value and another target.
fn well_not() -> attestry_hosting::Status {
    attestry_hosting::Status {
        verified: false,
        misconfigured: true,
        verification: vec![
            crate::txt("t.customer.test", "The TXT record holds \"other\" instead."),
            crate::cname("t.customer.test", "t.customer.test is a CNAME of old.customer.test."),
        ],
        ..well()
    }
}
