//! Requests reach only public addresses that were checked.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use attestry_egress::{Egress, Refusal, Settings, TlsQuery};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{RData, RecordType};
use url::Url;

use crate::peers::{
    DnsReply, Names, PUBLIC, PUBLIC_TOO, Web, addresses, detoured, get, hosts, ok, open, redirect, settings,
};

fn private(host: &str, address: &str) -> Refusal {
    Refusal::PrivateAddress { host: host.to_owned(), address: address.parse().expect("an address") }
}

#[tokio::test]
async fn literal_addresses_are_checked_in_every_spelling() {
    let names = Names::here().await;
    let egress = Egress::new(settings(&names)).expect("settings");
    for (url, address) in [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1"),
        ("http://①②⑦.0.0.1/", "127.0.0.1"),
        ("http://127.0.0.1./", "127.0.0.1"),
        ("http://0/", "0.0.0.0"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://[::1]/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "::ffff:7f00:1"),
        ("http://[::ffff:8.8.8.8]/", "::ffff:808:808"),
        ("http://[64:ff9b::a00:1]/", "64:ff9b::a00:1"),
        ("http://[2002:7f00:1::]/", "2002:7f00:1::"),
        ("http://[fd00:ec2::254]/", "fd00:ec2::254"),
    ] {
        // The host is on the list; the address decides.
        let listed = hosts(&[&format!("http://{}", Url::parse(url).expect("a URL").authority())]);
        let answer = egress.fetch(&listed, get(url)).await;
        let host = Url::parse(url).expect("a URL").host_str().expect("a host").to_owned();
        assert_eq!(answer, Err(private(&host, address)), "{url}");
    }
    assert!(names.questions().is_empty());
}

#[tokio::test]
async fn all_addresses_of_a_name_must_be_public() {
    let names = Names::start(|name, kind| match name {
        "private.example.com" => addresses(&["10.0.0.7"], kind),
        "mixed.example.com" => addresses(&["93.184.215.14", "10.0.0.7"], kind),
        "six.example.com" => addresses(&["93.184.215.14", "fd00::7"], kind),
        "alias.example.com" if kind == RecordType::A => {
            DnsReply::Alias("inside.example.net.", vec![RData::from(Ipv4Addr::new(10, 0, 0, 7))])
        }
        "alias.example.com" => DnsReply::Alias("inside.example.net.", Vec::new()),
        "mapped.example.com" => addresses(&["::ffff:93.184.215.14"], kind),
        "missing.example.com" => DnsReply::Code(ResponseCode::NXDomain),
        "empty.example.com" | "inside.example.net" => DnsReply::Records(Vec::new()),
        _ => DnsReply::Code(ResponseCode::ServFail),
    })
    .await;
    let web = Web::plain(|_| ok("")).await;
    let egress = detoured(&names, &[(PUBLIC, 80, &web), (PUBLIC, 443, &web)]);
    for (name, refusal) in [
        ("private.example.com", private("private.example.com", "10.0.0.7")),
        ("mixed.example.com", private("mixed.example.com", "10.0.0.7")),
        ("six.example.com", private("six.example.com", "fd00::7")),
        ("alias.example.com", private("alias.example.com", "10.0.0.7")),
        ("mapped.example.com", private("mapped.example.com", "::ffff:93.184.215.14")),
        ("missing.example.com", Refusal::NoAddress("missing.example.com".to_owned())),
        ("empty.example.com", Refusal::NoAddress("empty.example.com".to_owned())),
        ("broken.example.com", Refusal::Lookup("broken.example.com".to_owned())),
        ("localhost", private("localhost", "127.0.0.1")),
    ] {
        let listed = hosts(&[&format!("http://{name}"), name]);
        let url = format!("http://{name}/");
        assert_eq!(egress.fetch(&listed, get(&url)).await, Err(refusal.clone()), "{name}");
        let query = TlsQuery { host: name.to_owned(), port: 443 };
        assert_eq!(egress.tls(&listed, query).await, Err(refusal), "{name}");
    }
    assert_eq!(web.requests(), [""; 0]);
}

#[tokio::test]
async fn the_settings_let_private_addresses_through() {
    let names = Names::here().await;
    let web = Web::plain(|_| ok("inside")).await;
    let host = format!("http://127.0.0.1:{}", web.port());
    assert_eq!(open(&names).fetch(&hosts(&[&host]), get(&host)).await.expect("an answer").body, b"inside");
    let strict = Egress::new(Settings { allow_private_networks: false, ..settings(&names) });
    assert!(strict.expect("settings").fetch(&hosts(&[&host]), get(&host)).await.is_err());
    let metadata = "http://169.254.169.254";
    let refused = open(&names).fetch(&hosts(&[metadata]), get(metadata)).await.expect_err("always refused");
    assert!(matches!(refused, Refusal::PrivateAddress { .. }), "{refused}");
}

/// The first DNS response is public, all later ones are private.
#[tokio::test]
async fn a_name_that_changes_its_address_leads_nowhere_else() {
    let asked = AtomicUsize::new(0);
    let names = Names::start(move |_, kind| match kind {
        RecordType::A if asked.fetch_add(1, Ordering::SeqCst) == 0 => addresses(&[&PUBLIC.to_string()], kind),
        RecordType::A => addresses(&["127.0.0.1"], kind),
        _ => DnsReply::Records(Vec::new()),
    })
    .await;
    let inside = Web::plain(|_| ok("secret")).await;
    let outside = Web::plain(|_| redirect(302, "/again")).await;
    let port = inside.port();
    let egress = detoured(&names, &[(PUBLIC, port, &outside)]);
    let host = format!("http://web.example.com:{port}");
    // The redirect triggers another look-up and another check.
    let answer = egress.fetch(&hosts(&[&host]), get(&host)).await;
    assert_eq!(answer, Err(private("web.example.com", "127.0.0.1")));
    assert_eq!(outside.requests().len(), 1);
    assert_eq!(inside.requests(), [""; 0]);
    assert_eq!(names.questions().iter().filter(|question| question.starts_with("A ")).count(), 2);
}

#[tokio::test]
async fn one_request_looks_a_name_up_once() {
    let asked = AtomicUsize::new(0);
    let names = Names::start(move |_, kind| match kind {
        RecordType::A if asked.fetch_add(1, Ordering::SeqCst) == 0 => addresses(&[&PUBLIC.to_string()], kind),
        RecordType::A => addresses(&[&PUBLIC_TOO.to_string()], kind),
        _ => DnsReply::Records(Vec::new()),
    })
    .await;
    let (first, second) = (Web::plain(|_| ok("first")).await, Web::plain(|_| ok("second")).await);
    let egress = detoured(&names, &[(PUBLIC, 80, &first), (PUBLIC_TOO, 80, &second)]);
    let listed = hosts(&["http://web.example.com"]);
    for body in ["first", "second"] {
        let answer = egress.fetch(&listed, get("http://web.example.com/")).await.expect("an answer");
        assert_eq!(answer.body, body.as_bytes());
    }
}

#[tokio::test]
async fn redirects_to_private_addresses_are_refused() {
    let names = Names::start(|name, kind| match name {
        "inside.example.com" => addresses(&["10.0.0.7"], kind),
        _ => addresses(&[&PUBLIC.to_string()], kind),
    })
    .await;
    for (location, refusal) in [
        ("http://inside.example.com/", private("inside.example.com", "10.0.0.7")),
        ("http://127.0.0.1/", private("127.0.0.1", "127.0.0.1")),
        ("//2130706433/", private("127.0.0.1", "127.0.0.1")),
        ("http://[::1]/", private("[::1]", "::1")),
        ("http://localhost/", private("localhost", "127.0.0.1")),
    ] {
        let web = Web::plain(move |_| redirect(302, location)).await;
        let egress = detoured(&names, &[(PUBLIC, 80, &web)]);
        let listed = hosts(&[
            "http://web.example.com",
            "http://inside.example.com",
            "http://127.0.0.1",
            "http://[::1]",
            "http://localhost",
        ]);
        let answer = egress.fetch(&listed, get("http://web.example.com/")).await;
        assert_eq!(answer, Err(refusal), "{location}");
        assert_eq!(web.requests().len(), 1);
    }
}
