//! Handshakes with good and bad certificates.

use attestry_egress::{Refusal, TlsAnswer, TlsQuery};
use serde_json::json;

use crate::peers::{
    Identity, Names, PUBLIC, Web, detoured, hosts, issued, ok, open, self_signed, strange, wish,
};

async fn look_at(identity: Identity) -> TlsAnswer {
    let names = Names::public().await;
    let web = Web::encrypted(identity, |_| ok("")).await;
    let egress = detoured(&names, &[(PUBLIC, 443, &web)]);
    let query = TlsQuery { host: "Web.Example.com".to_owned(), port: 443 };
    let answer = egress.tls(&hosts(&["web.example.com"]), query).await.expect("an answer");
    // No data was sent after the handshake.
    assert_eq!(web.requests(), [""; 0]);
    answer
}

#[tokio::test]
async fn a_good_certificate_is_trusted() {
    let mut good = wish(&["web.example.com", "*.example.org"]);
    good.not_before = rcgen::date_time_ymd(2024, 2, 29);
    good.not_after = rcgen::date_time_ymd(2099, 12, 31);
    good.serial_number = Some(vec![0x0a, 0x01, 0xff].into());
    let identity = issued(&good);
    let leaf = identity.chain[0].clone();
    let answer = serde_json::to_value(look_at(identity).await).expect("JSON");
    let fingerprint: String = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &leaf)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(
        answer,
        json!({
            "host": "web.example.com",
            "port": 443,
            "address": PUBLIC.to_string(),
            "protocol": "TLS 1.3",
            "trusted": true,
            "problem": null,
            "certificate": {
                "subject": "O=Example,CN=web.example.com",
                "issuer": "CN=Trusted Tests",
                "serialNumber": "0a01ff",
                "notBefore": "2024-02-29T00:00:00.000Z",
                "notAfter": "2099-12-31T00:00:00.000Z",
                "dnsNames": ["web.example.com", "*.example.org"],
                "sha256": fingerprint,
            },
            "chainLength": 2,
        })
    );
}

#[tokio::test]
async fn a_bad_certificate_is_looked_at_and_not_trusted() {
    let mut expired = wish(&["web.example.com"]);
    expired.not_before = rcgen::date_time_ymd(2020, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let mut early = wish(&["web.example.com"]);
    early.not_before = rcgen::date_time_ymd(2098, 1, 1);
    early.not_after = rcgen::date_time_ymd(2099, 1, 1);
    let mut authority = wish(&["web.example.com"]);
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let mut client = wish(&["web.example.com"]);
    client.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let by_itself = "It is signed by itself, not by a trusted authority.";
    for (identity, problem) in [
        (issued(&expired), "It expired at 2021-01-01T00:00:00.000Z."),
        (issued(&early), "It is not valid before 2098-01-01T00:00:00.000Z."),
        (
            issued(&wish(&["a.example.com", "b.example.com"])),
            "It was issued for a.example.com, b.example.com, not for web.example.com.",
        ),
        (self_signed(&wish(&["web.example.com"])), by_itself),
        (self_signed(&authority), by_itself),
        (
            strange(&wish(&["web.example.com"])),
            "It was not issued by a trusted authority, or the server does not send the certificates between.",
        ),
        (issued(&client), "It is not meant for a server."),
    ] {
        let answer = look_at(identity).await;
        assert_eq!((answer.trusted, answer.problem.as_deref()), (false, Some(problem)));
        assert!(answer.chain_length > 0);
    }
}

#[tokio::test]
async fn only_permitted_hosts_and_ports_are_looked_at() {
    let names = Names::here().await;
    let web = Web::encrypted(issued(&wish(&["web.example.com", "127.0.0.1"])), |_| ok("")).await;
    let egress = open(&names);
    let port = web.port();
    let listed = hosts(&["web.example.com", &format!("127.0.0.1:{port}"), "http://plain.example.com:443"]);
    let query = |host: &str, port| TlsQuery { host: host.to_owned(), port };
    let wrong_port = |host: &str, port| Refusal::Port { host: host.to_owned(), port };
    for (query, refusal) in [
        (query("other.example.com", 443), Refusal::Host("other.example.com".to_owned())),
        (query("web.example.com", port), wrong_port("web.example.com", port)),
        (query("plain.example.com", 443), wrong_port("plain.example.com", 443)),
        (query("", 443), Refusal::Name),
        (query("web.example.com/x", 443), Refusal::Name),
        (query("me@web.example.com", 443), Refusal::Name),
        (query("web.example.com:443", 443), Refusal::Name),
    ] {
        assert_eq!(egress.tls(&listed, query.clone()).await, Err(refusal), "{query:?}");
    }
    assert!(names.questions().is_empty());
    let answer = egress.tls(&listed, query("127.0.0.1", port)).await.expect("an answer");
    assert_eq!((answer.trusted, answer.problem), (true, None));
}

#[tokio::test]
async fn what_does_not_speak_tls_is_refused() {
    let names = Names::public().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"SSH-2.0-OpenSSH_9.2\r\n").await.expect("sent");
        stream
    });
    let detour = [(std::net::SocketAddr::new(PUBLIC, 443), address)].into();
    let egress = attestry_egress::Egress::with_detours(crate::peers::settings(&names), detour);
    let query = TlsQuery { host: "web.example.com".to_owned(), port: 443 };
    let answer = egress.expect("settings").tls(&hosts(&["web.example.com"]), query).await;
    assert_eq!(answer, Err(Refusal::Handshake("web.example.com".to_owned())));
    drop(server.await);
}
