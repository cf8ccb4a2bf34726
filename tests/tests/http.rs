//! Slow, rude or malformed clients, against the real binary over a real connection.

#![expect(clippy::expect_used, reason = "test code")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use attestry_tests::binary::{Server, bootstrap, command, wait_until};
use serde_json::Value;
use tempfile::TempDir;

fn start() -> (TempDir, Server, String) {
    let data = TempDir::new().expect("a folder");
    let made = bootstrap(data.path(), &[]);
    let server = Server::start(data.path(), &[]);
    (data, server, made["apiKey"].as_str().expect("a key").to_owned())
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.url.trim_start_matches("http://")).expect("a connection");
    // The timeout only ends a failed test.
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a limit");
    stream
}

/// Sends bytes and returns the status line and a reader for the rest of the response.
fn raw(server: &Server, bytes: &[u8]) -> (String, BufReader<TcpStream>) {
    let mut stream = connect(server);
    // The server may refuse before it has read everything.
    let _ = stream.write_all(bytes);
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let _ = reader.read_line(&mut line);
    (line.trim().to_owned(), reader)
}

fn body(reader: &mut BufReader<TcpStream>) -> String {
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).expect("a head") > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    String::from_utf8(body).expect("text")
}

/// Returns the anonymous resident memory of the server in bytes. It excludes the pages of the binary, which is ten
/// times larger here than a release.
fn resident(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a process");
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("its memory");
    line.split_whitespace().nth(1).expect("a number").parse::<usize>().expect("a number") << 10
}

#[test]
fn what_is_not_http_gets_an_answer() {
    let (_data, server, _) = start();
    let headers: Vec<String> = (0..101).map(|number| format!("x-{number}: 1\r\n")).collect();
    let headers = headers.concat();
    for (request, status) in [
        (format!("GET /v1/health HTTP/1.1\r\nhost: x\r\n{headers}\r\n"), "431"),
        (format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(66_000)), "414"),
        ("GET /v1/health HTTP/1.1\r\nhost x\r\n\r\n".to_owned(), "400"),
        ("GET /v1/health HTTP/1.1\r\nhost: x\r\nbad\u{1}name: x\r\n\r\n".to_owned(), "400"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
    ] {
        let (line, _) = raw(&server, request.as_bytes());
        assert!(line.starts_with(&format!("HTTP/1.1 {status}")), "{line:?} instead of {status}");
    }
}

#[test]
fn a_stray_line_end_after_a_body_delays_nothing() {
    let (_data, server, _) = start();
    let mut stream = connect(&server);
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
    let body = r#"{"email":"nobody@example.com","password":"x"}"#;
    let head = format!(
        "POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}\r\n").as_bytes()).expect("sent");
    let mut line = String::new();
    BufReader::new(stream)
        .read_line(&mut line)
        .expect("an answer before the server gives up on the next request");
    assert!(line.starts_with("HTTP/1.1 401"), "{line}");
}

#[tokio::test]
async fn a_body_that_nobody_expects_loses_no_response() {
    let (_data, server, key) = start();
    let client = reqwest::Client::new();
    for number in 0..40 {
        let body = serde_json::json!({"title": "A", "description": "B", "category": "other"});
        let made = client.post(format!("{}/v1/risks", server.url)).header("x-api-key", &key).json(&body);
        let made: Value = made.send().await.expect("a response").json().await.expect("JSON");
        let id = made["id"].as_str().expect("an id");
        let size = if number % 2 == 0 { 2 } else { 40_000 };
        let head = format!(
            "DELETE /v1/risks/{id} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-type: application/json\r\n\
             connection: close\r\ncontent-length: {size}\r\n\r\n"
        );
        let mut stream = connect(&server);
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(&b"{}".repeat(size / 2)).expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("the whole response");
        assert!(response.starts_with("HTTP/1.1 200") && response.ends_with('}'), "{response}");
    }
}

#[test]
fn a_compressed_body_is_refused_and_its_response_arrives() {
    let (_data, server, key) = start();
    for _ in 0..20 {
        let head = format!(
            "POST /v1/risks HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-type: application/json\r\n\
             content-encoding: gzip\r\nconnection: close\r\ncontent-length: 40000\r\n\r\n"
        );
        let mut stream = connect(&server);
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(&b"x".repeat(40_000)).expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("the whole response");
        assert!(response.starts_with("HTTP/1.1 415") && response.ends_with('}'), "{response}");
    }
}

#[test]
fn without_credentials_only_small_bodies_are_taken() {
    let (_data, server, _) = start();
    let before = resident(&server);
    let mut open = Vec::new();
    for path in ["/v1/auth/login", "/v1/setup", "/v1/auth/forgot-password"].iter().cycle().take(60) {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            15 << 20
        );
        let (line, reader) = raw(&server, head.as_bytes());
        assert!(line.starts_with("HTTP/1.1 413"), "{path}: {line}");
        open.push(reader);
    }
    // A body without a content length is cut off.
    let mut request = b"POST /v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..200 {
        request.extend_from_slice(b"1000\r\n");
        request.extend_from_slice(&[b' '; 0x1000]);
        request.extend_from_slice(b"\r\n");
    }
    let (line, mut reader) = raw(&server, &request);
    assert!(line.starts_with("HTTP/1.1 413"), "{line}");
    assert!(body(&mut reader).contains("payload_too_large"));
    assert!(resident(&server) < before + (32 << 20), "{} after {before}", resident(&server));
}

#[tokio::test]
async fn stalled_downloads_and_exports_take_little_memory() {
    let (_data, server, key) = start();
    let client = reqwest::Client::new();
    let post = async |path: &str, kind: &str, body: Vec<u8>| -> Value {
        let sent = client
            .post(format!("{}{path}", server.url))
            .header("x-api-key", &key)
            .header("content-type", kind);
        let reply = sent.body(body).send().await.expect("an answer");
        assert!(reply.status().is_success(), "{reply:?}");
        reply.json().await.expect("JSON")
    };
    let description = "x".repeat(5000);
    let rows: Vec<String> = (0..1000).map(|number| format!("{number},{description},other\n")).collect();
    let table = format!("title,description,category\n{}", rows.concat());
    for _ in 0..8 {
        post("/v1/risks/import", "text/csv", table.clone().into_bytes()).await;
    }
    let risk = post(
        "/v1/risks",
        "application/json",
        br#"{"title":"A","description":"B","category":"other"}"#.to_vec(),
    )
    .await;
    let attachments = format!("/v1/risks/{}/attachments", risk["id"].as_str().expect("an id"));
    let boundary = "xxxx";
    let mut form = format!(
        "--{boundary}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\ncontent-type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    form.resize(form.len() + (9 << 20), 7);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    let made = post(&attachments, &format!("multipart/form-data; boundary={boundary}"), form).await;
    let link: Value = client
        .get(format!("{}/v1/attachments/{}/download", server.url, made["id"].as_str().expect("an id")))
        .header("x-api-key", &key)
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let file = link["downloadUrl"].as_str().expect("a link").trim_start_matches(&server.url).to_owned();
    let before = resident(&server);
    let mut open = Vec::new();
    for (path, count) in [(file.as_str(), 80), ("/v1/risks/export", 40)] {
        for _ in 0..count {
            let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n");
            let (line, reader) = raw(&server, request.as_bytes());
            assert!(line.starts_with("HTTP/1.1 200"), "{line}");
            open.push(reader);
        }
    }
    // All responses have started, and no client reads on.
    for _ in 0..20 {
        assert_eq!(
            client.get(format!("{}/v1/health", server.url)).send().await.expect("an answer").status(),
            200
        );
    }
    let after = resident(&server);
    assert!(after < before + (150 << 20), "{after} after {before}");
}

/// Reads one of the server's own metrics.
async fn metric(server: &Server, name: &str) -> usize {
    let text = reqwest::get(format!("{}/metrics", server.url)).await.expect("a response").text().await;
    let text = text.expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.expect("a metric").trim().parse().expect("a number")
}

/// Measured by the server's own budget, because an allocator retains memory for later.
#[tokio::test]
async fn large_responses_share_a_budget() {
    const BUDGET: usize = 64 << 20;
    let data = TempDir::new().expect("a folder");
    let made = bootstrap(data.path(), &[]);
    let mut serve = command(data.path(), &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("ATTESTRY_HTTP_RESPONSE_MEMORY_MIB", (BUDGET >> 20).to_string());
    let server = Server::from(serve);
    let (client, key) = (reqwest::Client::new(), made["apiKey"].as_str().expect("a key"));
    let get = |path: &str| client.get(format!("{}{path}", server.url)).header("x-api-key", key);
    let description = "x".repeat(9_000);
    let rows: Vec<String> = (0..1000).map(|number| format!("{number},{description},other\n")).collect();
    let table = format!("title,description,category\n{}", rows.concat());
    let import = client.post(format!("{}/v1/risks/import", server.url)).header("x-api-key", key);
    let reply = import.header("content-type", "text/csv").body(table).send().await.expect("a response");
    assert_eq!(reply.status(), 200);
    // A page of large rows ends before its limit, and the next one continues there.
    let (mut cursor, mut seen) = (String::new(), 0);
    loop {
        let page: Value = get(&format!("/v1/risks?limit=1000{cursor}"))
            .send()
            .await
            .expect("a response")
            .json()
            .await
            .expect("JSON");
        let size = page.to_string().len();
        assert!(size < 6 << 20, "a page has {size} bytes");
        seen += page["data"].as_array().expect("rows").len();
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, 1000);
    // Clients that do not read hold only their share; a client that reads is still served.
    let stalled = (0..2).map(|_| {
        let request = format!("GET /v1/risks?limit=1000 HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n");
        let (line, reader) = raw(&server, request.as_bytes());
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        reader
    });
    let stalled: Vec<_> = stalled.collect();
    let held = metric(&server, "attestry_response_memory_bytes").await;
    assert!((8 << 20..=BUDGET / 2).contains(&held), "{held} bytes are held");
    drop(stalled);
    let most = async {
        let mut most = 0;
        loop {
            most = metric(&server, "attestry_response_memory_bytes").await.max(most);
            assert!(most <= BUDGET, "{most} bytes of {BUDGET}");
        }
    };
    let paths = [
        "/v1/risks?limit=1000&sort=title",
        "/v1/risks?limit=1000&q=xx",
        "/v1/audit-logs?limit=1000",
        "/v1/risks?limit=500",
    ];
    let readers = (0..16).map(async |number: usize| {
        // On a busy machine a reader may be asked to come again.
        let reply = loop {
            let reply = get(paths[number % 4]).send().await.expect("a response");
            if reply.status() != 503 {
                break reply;
            }
            assert!(reply.headers().contains_key("retry-after"));
        };
        assert_eq!(reply.status(), 200);
        assert!(reply.bytes().await.expect("a body").len() > 3 << 20);
    });
    tokio::select! {
        _ = futures_util::future::join_all(readers) => {}
        () = most => {}
    }
    wait_until(async || metric(&server, "attestry_response_memory_bytes").await == 0).await;
}
