//! Responses that are too large, too slow, broken or odd.

use std::io::Write;
use std::time::Duration;

use attestry_egress::{Egress, Refusal, Request, Settings, TlsQuery};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::peers::{
    Names, PUBLIC, Reply, Web, detoured, fetch_from, get, hosts, issued, ok, raw, self_signed, settings, wish,
};

const MIB: usize = 1024 * 1024;

fn name() -> String {
    "web.example.com".to_owned()
}

fn too_large() -> Refusal {
    Refusal::TooLarge { host: name(), limit: MIB }
}

fn with_length(length: usize) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + length, b'x');
    answer
}

#[tokio::test]
async fn a_body_ends_at_the_limit() {
    let web = Web::plain(|_| Reply::Close(with_length(MIB))).await;
    assert_eq!(fetch_from(&web).await.expect("an answer").body.len(), MIB);
    // It is rejected by its length, before the body arrives.
    let web = Web::plain(|_| {
        Reply::Wait(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", MIB + 1).into_bytes())
    })
    .await;
    assert_eq!(fetch_from(&web).await, Err(too_large()));
    let web = Web::plain(|_| {
        Reply::Wait(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", u64::MAX - 2).into_bytes())
    })
    .await;
    assert_eq!(fetch_from(&web).await, Err(too_large()));
    // Without a length, the body lasts until the connection ends, which it never does.
    let web = Web::plain(|_| Reply::Repeat(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 4096])).await;
    assert_eq!(fetch_from(&web).await, Err(too_large()));
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(4096)).into_bytes();
    let web = Web::plain(move |_| {
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        Reply::Repeat(head, chunk.clone())
    })
    .await;
    assert_eq!(fetch_from(&web).await, Err(too_large()));
}

#[tokio::test]
async fn a_compressed_body_stays_compressed() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..8 {
        encoder.write_all(&vec![0; MIB]).expect("memory");
    }
    let bomb = encoder.finish().expect("memory");
    let mut answer =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", bomb.len())
            .into_bytes();
    answer.extend_from_slice(&bomb);
    let web = Web::plain(move |_| Reply::Close(answer.clone())).await;
    let got = fetch_from(&web).await.expect("an answer");
    assert_eq!(got.body, bomb);
    assert!(got.headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())));
    assert!(web.requests()[0].contains("\r\naccept-encoding: identity\r\n"));
}

#[tokio::test]
async fn bodies_come_in_every_framing() {
    for (answer, body) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok"),
        (
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nx-trailer: 1\r\n\r\n",
            "ok",
        ),
        ("HTTP/1.1 200 OK\r\n\r\nok", "ok"),
        ("HTTP/1.0 200 OK\r\n\r\nok", "ok"),
        ("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", "ok"),
        ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", ""),
    ] {
        let web = Web::plain(move |_| raw(answer)).await;
        assert_eq!(fetch_from(&web).await.expect(answer).body, body.as_bytes(), "{answer}");
    }
}

#[tokio::test]
async fn head_has_no_body() {
    let names = Names::here().await;
    let web = Web::plain(|_| raw("HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n")).await;
    let host = format!("http://web.example.com:{}", web.port());
    let request = Request { method: "HEAD".to_owned(), ..get(&host) };
    let answer = crate::peers::open(&names).fetch(&hosts(&[&host]), request).await.expect("an answer");
    assert!(answer.body.is_empty());
    assert_eq!(answer.headers, [("content-length".to_owned(), "9000000".to_owned())]);
}

#[tokio::test]
async fn half_an_answer_is_none() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-len",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ] {
        let web = Web::plain(move |_| raw(answer)).await;
        assert_eq!(fetch_from(&web).await, Err(Refusal::Incomplete(name())), "{answer}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    for answer in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ] {
        let web = Web::plain(move |_| raw(answer)).await;
        assert_eq!(fetch_from(&web).await, Err(Refusal::NotHttp(name())), "{answer}");
    }
}

#[tokio::test]
async fn huge_headers_are_refused() {
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "x".repeat(MIB));
    let web = Web::plain(move |_| raw(&long)).await;
    assert_eq!(fetch_from(&web).await, Err(Refusal::AnswerHeaders(name())));
    let web =
        Web::plain(move |_| Reply::Repeat(b"HTTP/1.1 200 OK\r\n".to_vec(), b"x-more: x\r\n".to_vec())).await;
    assert_eq!(fetch_from(&web).await, Err(Refusal::AnswerHeaders(name())));
    let web = Web::plain(move |_| {
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n".to_vec();
        Reply::Repeat(head, b"x-more: x\r\n".to_vec())
    })
    .await;
    assert!(fetch_from(&web).await.is_err());
}

#[tokio::test]
async fn everything_ends_at_the_deadline() {
    let names = Names::here().await;
    let timeout = Duration::from_millis(300);
    let hurried = Settings { allow_private_networks: true, timeout, ..settings(&names) };
    let egress = Egress::new(hurried).expect("settings");
    let late = Refusal::TooSlow { host: name(), timeout };
    assert_eq!(late.to_string(), "web.example.com did not answer within 300 ms.");
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhalf",
    ] {
        let web = Web::plain(move |_| Reply::Wait(answer.as_bytes().to_vec())).await;
        let host = format!("http://web.example.com:{}", web.port());
        assert_eq!(egress.fetch(&hosts(&[&host]), get(&host)).await, Err(late.clone()), "{answer}");
        // A handshake with a server that only listens.
        let listed = hosts(&[&format!("web.example.com:{}", web.port())]);
        let query = TlsQuery { host: name(), port: web.port() };
        assert!(egress.tls(&listed, query).await.is_err());
    }
    // A byte now and then does not move the deadline.
    let web = Web::plain(|_| Reply::Repeat(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())).await;
    let host = format!("http://web.example.com:{}", web.port());
    assert_eq!(egress.fetch(&hosts(&[&host]), get(&host)).await, Err(late));
}

#[tokio::test]
async fn a_certificate_must_be_trusted() {
    let names = Names::public().await;
    let listed = hosts(&["web.example.com"]);
    let url = get("https://web.example.com/");
    let mut expired = wish(&["web.example.com"]);
    expired.not_before = rcgen::date_time_ymd(2020, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    for (identity, problem) in [
        (issued(&expired), "It expired at 2021-01-01T00:00:00.000Z."),
        (issued(&wish(&["other.example.com"])), "It was issued for another name."),
        (
            self_signed(&wish(&["web.example.com"])),
            "It was not issued by a trusted authority, or the server does not send the certificates between.",
        ),
    ] {
        let web = Web::encrypted(identity, |_| ok("")).await;
        let egress = detoured(&names, &[(PUBLIC, 443, &web)]);
        let refusal = Refusal::Certificate { host: name(), problem: problem.to_owned() };
        assert_eq!(egress.fetch(&listed, url.clone()).await, Err(refusal));
        assert_eq!(web.requests(), [""; 0]);
    }
}
