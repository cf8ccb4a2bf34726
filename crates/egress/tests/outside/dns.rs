//! Look-ups of every type, and the difference between no records and a failure.

use std::net::Ipv4Addr;
use std::time::Duration;

use attestry_egress::{DnsQuery, DnsType, Egress, Refusal, Settings};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::rdata::{CAA, CNAME, MX, NS, TXT};
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use serde_json::{Value, json};

use crate::peers::{DnsReply, Names, addresses, hosts, settings};

fn name(text: &str) -> Name {
    Name::from_ascii(text).expect("a name")
}

fn zone(asked: &str, kind: RecordType) -> DnsReply {
    let caa = |tag: &str, value: &str, critical: bool| {
        let mut record = CAA::new_issue(critical, None, Vec::new());
        tag.clone_into(&mut record.tag);
        record.value = value.as_bytes().to_vec();
        RData::CAA(record)
    };
    DnsReply::Records(match (asked, kind) {
        ("missing.example.com", _) => return DnsReply::Code(ResponseCode::NXDomain),
        ("broken.example.com", _) => return DnsReply::Code(ResponseCode::ServFail),
        ("refused.example.com", _) => return DnsReply::Code(ResponseCode::Refused),
        ("odd.example.com", _) => return DnsReply::Code(ResponseCode::Unknown(12)),
        ("silent.example.com", _) => return DnsReply::Nothing,
        ("alias.example.com", RecordType::A) => {
            return DnsReply::Alias("target.example.net.", vec![RData::from(Ipv4Addr::new(10, 0, 0, 7))]);
        }
        ("example.com", RecordType::A | RecordType::AAAA) => {
            return addresses(&["93.184.215.14", "10.0.0.7", "2606:2800::1"], kind);
        }
        ("example.com", RecordType::NS) => vec![RData::NS(NS(name("ns1.example.net.")))],
        ("example.com", RecordType::MX) => {
            vec![RData::MX(MX::new(10, name("Mail.example.com."))), RData::MX(MX::new(0, Name::root()))]
        }
        ("example.com", RecordType::CAA) => vec![
            caa("issue", "letsencrypt.org", false),
            caa("issue", ";", true),
            caa("iodef", "mailto:a@example.com", false),
        ],
        ("example.com", RecordType::TXT) => vec![
            RData::TXT(TXT::new(vec!["v=spf1 ".to_owned(), "-all".to_owned()])),
            RData::TXT(TXT::from_bytes(vec!["grüße".as_bytes(), b"\xff"])),
        ],
        ("_dmarc.example.com", RecordType::TXT) => {
            vec![RData::TXT(TXT::new(vec!["v=DMARC1; p=reject".to_owned()]))]
        }
        ("mail._domainkey.example.com", RecordType::TXT) => {
            vec![RData::TXT(TXT::new(vec!["x".repeat(200); 20]))]
        }
        ("www.example.com", RecordType::CNAME) => vec![RData::CNAME(CNAME(name("example.com.")))],
        ("xn--bcher-kva.example", RecordType::A) => vec![RData::from(Ipv4Addr::LOCALHOST)],
        _ => Vec::new(),
    })
}

async fn ask(egress: &Egress, name: &str, kind: &str) -> Result<Value, Refusal> {
    let query: DnsQuery = serde_json::from_value(json!({ "name": name, "type": kind })).expect("a query");
    let listed = hosts(&["example.com", "*.example.com:8443", "bücher.example"]);
    egress.dns(&listed, query).await.map(|answer| serde_json::to_value(answer).expect("JSON"))
}

#[tokio::test]
async fn every_type_is_read() {
    let names = Names::start(zone).await;
    let egress = Egress::new(settings(&names)).expect("settings");
    for (name, kind, records) in [
        ("example.com", "A", json!(["93.184.215.14", "10.0.0.7"])),
        ("Example.COM.", "AAAA", json!(["2606:2800::1"])),
        ("example.com", "NS", json!(["ns1.example.net"])),
        (
            "example.com",
            "MX",
            json!([{ "preference": 10, "exchange": "Mail.example.com" }, { "preference": 0, "exchange": "." }]),
        ),
        (
            "example.com",
            "CAA",
            json!([
                { "critical": false, "tag": "issue", "value": "letsencrypt.org" },
                { "critical": true, "tag": "issue", "value": ";" },
                { "critical": false, "tag": "iodef", "value": "mailto:a@example.com" },
            ]),
        ),
        ("example.com", "TXT", json!(["v=spf1 -all", "grüße\u{fffd}"])),
        ("_dmarc.example.com", "TXT", json!(["v=DMARC1; p=reject"])),
        // Too long for a datagram.
        ("mail._domainkey.example.com", "TXT", json!(["x".repeat(4000)])),
        ("www.example.com", "CNAME", json!(["example.com"])),
        ("bücher.example", "A", json!(["127.0.0.1"])),
        ("alias.example.com", "A", json!(["10.0.0.7"])),
    ] {
        let answer = ask(&egress, name, kind).await.expect(name);
        assert_eq!(answer["records"], records, "{name} {kind}");
        assert_eq!((&answer["exists"], &answer["type"]), (&json!(true), &json!(kind)), "{name} {kind}");
    }
    assert_eq!(ask(&egress, "Example.COM.", "A").await.expect("an answer")["name"], "example.com");
    assert_eq!(
        ask(&egress, "BÜCHER.example", "A").await.expect("an answer")["name"],
        "xn--bcher-kva.example"
    );
}

#[tokio::test]
async fn nothing_is_not_a_failure() {
    let names = Names::start(zone).await;
    let egress = Egress::new(settings(&names)).expect("settings");
    let missing = ask(&egress, "missing.example.com", "TXT").await.expect("an answer");
    assert_eq!(
        missing,
        json!({ "name": "missing.example.com", "type": "TXT", "exists": false, "records": [] })
    );
    let empty = ask(&egress, "empty.example.com", "MX").await.expect("an answer");
    assert_eq!(empty, json!({ "name": "empty.example.com", "type": "MX", "exists": true, "records": [] }));
    for name in ["broken.example.com", "refused.example.com", "odd.example.com"] {
        for kind in ["A", "TXT"] {
            assert_eq!(
                ask(&egress, name, kind).await,
                Err(Refusal::Lookup(name.to_owned())),
                "{name} {kind}"
            );
        }
    }
}

#[tokio::test]
async fn silence_is_a_failure() {
    let names = Names::start(zone).await;
    let hurried = Settings { timeout: Duration::from_millis(200), ..settings(&names) };
    let egress = Egress::new(hurried).expect("settings");
    let name = "silent.example.com".to_owned();
    assert_eq!(ask(&egress, &name, "A").await, Err(Refusal::Lookup(name)));
}

/// Look-ups are not cached: they return the current state.
#[tokio::test]
async fn each_look_up_asks_anew() {
    let names = Names::start(zone).await;
    let egress = Egress::new(settings(&names)).expect("settings");
    for _ in 0..3 {
        ask(&egress, "_dmarc.example.com", "TXT").await.expect("an answer");
    }
    assert_eq!(names.questions(), ["TXT _dmarc.example.com"; 3]);
}

#[tokio::test]
async fn only_names_of_permitted_hosts_are_looked_up() {
    let names = Names::start(zone).await;
    let egress = Egress::new(settings(&names)).expect("settings");
    let listed = hosts(&["api.example.com"]);
    for name in ["example.com", "www.api.example.com", "evil.example", "_dmarc.example.com", "localhost"] {
        let query = DnsQuery { name: name.to_owned(), kind: DnsType::A };
        assert_eq!(egress.dns(&listed, query).await, Err(Refusal::Host(name.to_owned())), "{name}");
    }
    for name in ["", ".", "a..b", "127.0.0.1", "[::1]", "::1", "a b", "*.example.com", "example.com/x"] {
        let query = DnsQuery { name: name.to_owned(), kind: DnsType::A };
        assert_eq!(egress.dns(&listed, query).await, Err(Refusal::Name), "{name}");
    }
    assert!(names.questions().is_empty());
    for kind in ["ANY", "SRV", "a", ""] {
        assert!(serde_json::from_value::<DnsQuery>(json!({ "name": "x", "type": kind })).is_err(), "{kind}");
    }
}
