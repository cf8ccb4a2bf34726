//! Checks by DNS.

use std::time::Duration;

use attestry_hosting::{Challenge, DnsSettings, Error, Failure, Hosting, Settings, Status};

use crate::{Names, TARGET, VALUE, cname, record, txt, well};

/// Adds the record that satisfies the challenge of this name.
fn proved(name: &str, records: &str) -> String {
    format!("_attestry-challenge.{name} TXT {VALUE}\n{records}")
}

#[tokio::test]
async fn a_domain_that_is_proved_and_leads_here_is_well() {
    let names = Names::with(&proved("trust", "trust CNAME portal.attestry.test.")).await;
    assert_eq!(names.status("trust.customer.test").await, well());
    assert!(!format!("{:?}", names.hosting).contains(VALUE));
}

#[tokio::test]
async fn a_challenge_is_met_by_any_string_of_any_record() {
    let cases = [
        (format!("@ TXT {VALUE}"), true),
        (format!("@ TXT other\n@ TXT {VALUE}\n@ TXT v=spf1"), true),
        // The strings of one record are concatenated, but some users put several values into one record.
        (format!("@ TXT {} {}", &VALUE[..10], &VALUE[10..]), true),
        (format!("@ TXT other {VALUE}"), true),
        // Some web forms store the quotation marks.
        (format!("@ TXT \"\\\"{VALUE}\\\" \""), true),
        (format!("@ CNAME a\na CNAME b\nb TXT {VALUE}"), true),
        (format!("@ TXT {VALUE}x"), false),
        (format!("@ TXT {}", VALUE.to_uppercase()), false),
        (format!("c TXT {VALUE}"), false),
    ];
    let zone = cases.iter().enumerate().map(|(at, (texts, _))| {
        let texts = texts.replace('@', &format!("_attestry-challenge.t{at}"));
        format!("t{at} CNAME portal.attestry.test.\n{texts}")
    });
    let names = Names::with(&zone.collect::<Vec<_>>().join("\n")).await;
    for (at, (texts, met)) in cases.into_iter().enumerate() {
        let status = names.status(&format!("t{at}.customer.test")).await;
        assert_eq!((status.verified, status.misconfigured), (met, false), "{texts}");
        assert_eq!(status.verification.is_empty(), met, "{texts}");
    }
}

#[tokio::test]
async fn a_challenge_that_is_not_met_says_what_was_found() {
    let names = Names::with("").await;
    let long = format!("\"{}\"", "x".repeat(200));
    for (texts, reason) in [
        (vec![], "No TXT record is found at _attestry-challenge.t.customer.test.".to_owned()),
        (vec!["abc"], "The TXT record holds \"abc\" instead.".to_owned()),
        (vec!["a b"], "The TXT record holds \"ab\" instead.".to_owned()),
        (vec!["a", "b"], "The TXT records hold \"a\" and \"b\" instead.".to_owned()),
        (vec!["\"\\000\\255\\\"\""], "The TXT record holds \"\\x00\\xff\\\"\" instead.".to_owned()),
        (vec![&long], format!("The TXT record holds \"{}…\" instead.", "x".repeat(64))),
    ] {
        let lines = texts.iter().map(|text| format!("_attestry-challenge.t TXT {text}\n"));
        names.set(&format!("t CNAME portal.attestry.test.\n{}", lines.collect::<String>())).await;
        let status = names.status("t.customer.test").await;
        assert_eq!(
            status,
            Status { verified: false, verification: vec![txt("t.customer.test", &reason)], ..well() }
        );
    }
    let many: Vec<_> = (0..9).map(|at| format!("_attestry-challenge.t TXT {at}")).collect();
    names.set(&format!("t CNAME portal.attestry.test.\n{}", many.join("\n"))).await;
    let status = names.status("t.customer.test").await;
    assert!(status.verification[0].reason.ends_with(" and 6 more instead."), "{status:?}");
}

#[tokio::test]
async fn a_challenge_without_a_value_is_never_met() {
    let names = Names::with("_attestry-challenge.t TXT \"\"").await;
    let challenge = Challenge { domain: "t.customer.test", value: "" };
    assert!(!names.hosting.status(&challenge).await.expect("a status").verified);
}

#[tokio::test]
async fn a_challenge_may_not_run_in_circles() {
    let names = Names::with(
        "t CNAME portal.attestry.test.\n_attestry-challenge.t CNAME loop\nloop CNAME _attestry-challenge.t",
    )
    .await;
    let reason = "The CNAME records of _attestry-challenge.t.customer.test form a loop.";
    assert_eq!(names.status("t.customer.test").await.verification, [txt("t.customer.test", reason)]);
}

#[tokio::test]
async fn a_cname_leads_here_over_any_hop() {
    let names = Names::with(
        "a CNAME portal.attestry.test.\n\
         b CNAME PORTAL.Attestry.TEST.\n\
         c CNAME c1\nc1 CNAME c2\nc2 CNAME c3\nc3 CNAME portal.attestry.test.\n\
         d CNAME d1\nd1 A 192.0.2.10\n\
         *.wild CNAME portal.attestry.test.",
    )
    .await;
    for domain in ["a", "b", "c", "d", "any.wild"] {
        let status = names.status(&format!("{domain}.customer.test")).await;
        assert!(!status.misconfigured, "{status:?}");
    }
    // Also the target itself, in any spelling in the settings.
    let names = Names::changed("t CNAME portal.attestry.test.", |settings| {
        settings.target = "Portal.ATTESTRY.test.".to_owned();
    })
    .await;
    for domain in ["t.customer.test", TARGET] {
        let status = names.status(domain).await;
        assert!(!status.misconfigured, "{status:?}");
        assert_eq!(status.cname_target.as_deref(), Some(TARGET));
    }
}

#[tokio::test]
async fn a_domain_that_leads_elsewhere_says_where() {
    let names = Names::with("").await;
    let chain = (0..8).map(|at| format!("c{at} CNAME c{}", at + 1)).collect::<Vec<_>>().join("\n");
    for (records, reason) in [
        ("", "t.customer.test does not exist."),
        ("sub.t A 192.0.2.10", "t.customer.test has no CNAME, A or AAAA record."),
        ("t MX 10 mail", "t.customer.test has no CNAME, A or AAAA record."),
        ("t CNAME Old\nold A 192.0.2.99", "t.customer.test is a CNAME of old.customer.test."),
        ("t CNAME old", "t.customer.test is a CNAME of old.customer.test."),
        (
            "t CNAME a\na CNAME b\nb A 192.0.2.99",
            "t.customer.test is a CNAME of a.customer.test, which leads to b.customer.test.",
        ),
        ("t CNAME t", "The CNAME records of t.customer.test form a loop."),
        ("t CNAME a\na CNAME b\nb CNAME t", "The CNAME records of t.customer.test form a loop."),
        ("t CNAME a\na CNAME b\nb CNAME a", "The CNAME records of t.customer.test form a loop."),
        (
            &format!("t CNAME c0\n{chain}\nc8 CNAME portal.attestry.test."),
            "t.customer.test leads through more than 8 CNAME records.",
        ),
        ("t A 192.0.2.99", "t.customer.test has the address 192.0.2.99."),
        ("t AAAA 2001:db8::99", "t.customer.test has the address 2001:db8::99."),
        // One wrong address is enough.
        ("t A 192.0.2.10\nt AAAA 2001:db8::99", "t.customer.test has the address 2001:db8::99."),
        (
            "t A 192.0.2.99\nt AAAA 2001:db8::99",
            "t.customer.test has the addresses 192.0.2.99 and 2001:db8::99.",
        ),
    ] {
        names.set(records).await;
        let status = names.status("t.customer.test").await;
        assert!(status.misconfigured && !status.verified, "{records}");
        assert_eq!(status.verification[1..], [cname("t.customer.test", reason)], "{records}");
    }
}

#[tokio::test]
async fn addresses_lead_here_if_all_of_them_do() {
    let names = Names::with(
        "a A 192.0.2.10\nb AAAA 2001:db8::10\nc A 192.0.2.10\nc AAAA 2001:db8::10\nd A 192.0.2.10\nd A 192.0.2.99",
    )
    .await;
    for (domain, misconfigured) in [("a", false), ("b", false), ("c", false), ("d", true)] {
        let status = names.status(&format!("{domain}.customer.test")).await;
        assert_eq!(status.misconfigured, misconfigured, "{status:?}");
    }
    // Configured addresses replace those of the target.
    let names = Names::changed("t A 192.0.2.10\nu A 192.0.2.20", |settings| {
        settings.addresses = vec!["192.0.2.20".parse().expect("an address")];
    })
    .await;
    assert!(names.status("t.customer.test").await.misconfigured);
    assert!(!names.status("u.customer.test").await.misconfigured);
}

#[tokio::test]
async fn the_root_of_a_zone_is_to_have_addresses() {
    let names = Names::with("@ TXT unrelated").await;
    let reason = "customer.test has no CNAME, A or AAAA record.";
    let status = names.status("customer.test").await;
    let addresses = [
        record("A", "customer.test", "192.0.2.10", reason),
        record("AAAA", "customer.test", "2001:db8::10", reason),
    ];
    assert_eq!(status.verification[1..], addresses);
    names.set(&format!("@ A 192.0.2.10\n_attestry-challenge TXT {VALUE}")).await;
    assert_eq!(names.status("customer.test").await, well());
    // A CNAME is suggested if the target has no addresses.
    names.server.set("attestry.test", "").await.expect("a zone");
    names.set("@ A 192.0.2.99").await;
    let names = Names { hosting: hosting(names.server.settings(TARGET)), ..names };
    let status = names.status("customer.test").await;
    assert_eq!(
        status.verification[1..],
        [cname("customer.test", "customer.test has the address 192.0.2.99.")]
    );
}

#[tokio::test]
async fn names_that_cannot_be_are_not_found() {
    let names = Names::with("").await;
    let long = format!("{}.customer.test", vec!["x".repeat(55); 4].join("."));
    let status = names.status(&long).await;
    assert!(status.verification[0].reason.ends_with(" is not a name, or too long for one."), "{status:?}");
    assert_eq!(status.verification[1].reason, format!("{long} does not exist."));
    for wrong in ["", ".", "..", "x..customer.test", "\\"] {
        let status = names.status(wrong).await;
        assert!(!status.verified && status.misconfigured, "{wrong:?}");
    }
}

#[tokio::test]
async fn long_answers_are_read_whole() {
    let texts = (0..60).map(|at| format!("_attestry-challenge.t TXT {at}{}\n", "x".repeat(100)));
    let names =
        Names::with(&proved("t", &format!("t CNAME portal.attestry.test.\n{}", texts.collect::<String>())))
            .await;
    assert_eq!(names.status("t.customer.test").await, well());
}

#[tokio::test]
async fn a_zone_that_is_refused_is_a_failure() {
    let names = Names::with("t CNAME elsewhere.test.\nu CNAME portal.attestry.test.").await;
    for domain in ["trust.other.test", "t.customer.test"] {
        let failure = names.ask(domain).await.expect_err("a failure");
        let Failure::Down(message) = &failure else { unreachable!("{failure:?}") };
        assert!(message.starts_with("The name servers cannot tell the "), "{message}");
        assert!(message.ends_with(": Query Refused."), "{message}");
        assert_eq!(failure.to_string(), *message);
    }
    assert!(!names.status("u.customer.test").await.misconfigured, "it still answers for what it knows");
}

#[tokio::test]
async fn a_server_that_is_gone_is_a_failure_until_it_is_back() {
    let mut names = Names::changed(&proved("t", "t CNAME portal.attestry.test."), |settings| {
        settings.timeout = Duration::from_secs(2);
    })
    .await;
    names.server.stop().expect("stopped");
    for _ in 0..2 {
        let failure = names.ask("t.customer.test").await.expect_err("a failure");
        assert!(matches!(failure, Failure::Down(_)), "{failure:?}");
    }
    names.server.restart().await.expect("restarted");
    assert_eq!(names.status("t.customer.test").await, well());
}

#[tokio::test]
async fn a_server_that_is_silent_is_a_failure() {
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let settings = DnsSettings {
        servers: vec![silent.local_addr().expect("an address")],
        timeout: Duration::from_millis(300),
        ..DnsSettings::new(TARGET)
    };
    let challenge = Challenge { domain: "t.customer.test", value: VALUE };
    let failure = hosting(settings).status(&challenge).await.expect_err("a failure");
    assert!(matches!(failure, Failure::Down(_)), "{failure:?}");
}

#[tokio::test]
async fn a_target_must_be_a_host_name() {
    for target in ["", ".", "192.0.2.10", "[::1]", "https://portal.example.com", "a b", "a..b"] {
        let error = Hosting::new(Settings::Dns(DnsSettings::new(target))).expect_err("an error");
        assert_eq!(error, Error::Target(target.to_owned()));
    }
}

fn hosting(settings: DnsSettings) -> Hosting {
    Hosting::new(Settings::Dns(settings)).expect("settings")
}
