//! Providers that are unreachable, hostile or endless, against real sockets on this machine.

#![expect(clippy::expect_used, reason = "test code")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use attestry_oidc::{Client, Failure, Oidc, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A name server that does not exist: nothing here needs one.
const NO_DNS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);
/// The time limit of one attempt, which only ends a failed test.
const FAILED_AFTER: Duration = Duration::from_mins(1);
const GIGABYTE: usize = 1 << 30;

fn oidc(allow_private_networks: bool) -> Oidc {
    let settings = Settings { allow_private_networks, dns_servers: vec![NO_DNS], ..Settings::default() };
    Oidc::new(settings).expect("settings")
}

/// Tries to use the provider of an issuer, and returns why that failed.
async fn refused(oidc: &Oidc, issuer: &str) -> Failure {
    let found = tokio::time::timeout(FAILED_AFTER, oidc.discover(issuer)).await.expect("an end");
    found.expect_err("it must not be usable")
}

/// The sentence of a provider that cannot or must not be asked.
#[track_caller]
fn unreachable(failure: &Failure) -> &str {
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure:?}");
    let Failure::Unreachable(sentence) = failure else { return "" };
    sentence
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Reads the head of a request, and returns its path.
async fn read_path(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()?.split(' ').nth(1).map(str::to_owned)
}

fn ok(document: &Value) -> Vec<u8> {
    let body = document.to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", body.len());
    format!("{head}\r\n\r\n{body}").into_bytes()
}

/// A server with one answer for each path, which records the paths that were asked for.
struct Server {
    issuer: String,
    asked: Arc<Mutex<Vec<String>>>,
    _task: JoinSet<()>,
}

impl Server {
    /// Starts a server; `answer` gets the issuer and the path.
    async fn start(answer: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let (listener, address) = listener().await;
        let issuer = format!("http://{address}");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (own, kept) = (issuer.clone(), Arc::clone(&asked));
        let mut task = JoinSet::new();
        task.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let Some(path) = read_path(&mut stream).await else { continue };
                let bytes = answer(&own, &path);
                kept.lock().expect("not poisoned").push(path);
                // The client may have closed the connection.
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { issuer, asked, _task: task }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

const DISCOVERY: &str = "/.well-known/openid-configuration";

/// The metadata of a provider at `issuer`.
fn metadata(issuer: &str) -> Value {
    json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"]
    })
}

/// The answers of an honest provider, some of whose metadata are replaced.
fn honest(issuer: &str, path: &str, field: &str, value: &str) -> Vec<u8> {
    let mut document = metadata(issuer);
    document[field] = json!(value);
    if path == DISCOVERY { ok(&document) } else { ok(&json!({"keys": []})) }
}

#[tokio::test]
async fn private_addresses_are_refused_unless_they_are_allowed() {
    let server = Server::start(|issuer, path| honest(issuer, path, "issuer", issuer)).await;
    let strict = oidc(false);
    // Without TLS not even a public provider is asked.
    let plain = refused(&strict, &server.issuer).await;
    assert!(plain.to_string().contains("https://"), "{plain:?}");
    let (_, port) = server.issuer.rsplit_once(':').expect("a port");
    for host in
        ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "10.0.0.7", "192.168.1.1"]
    {
        let failure = refused(&strict, &format!("https://{host}:{port}")).await;
        assert!(unreachable(&failure).contains("is a private or reserved address"), "{host}: {failure:?}");
    }
    assert_eq!(server.asked(), [""; 0], "nothing was sent");
    let provider = oidc(true).discover(&server.issuer).await.expect("a provider");
    assert_eq!(provider.issuer(), server.issuer);
    assert_eq!(server.asked(), [DISCOVERY, "/keys"]);
}

#[tokio::test]
async fn redirects_are_refused() {
    let target = Server::start(|issuer, path| honest(issuer, path, "issuer", issuer)).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}{DISCOVERY}", target.issuer);
        let server = Server::start(move |_, _| {
            format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
                .into_bytes()
        })
        .await;
        let failure = refused(&oidc(true), &server.issuer).await;
        assert!(unreachable(&failure).contains("Too many redirects"), "{status}: {failure:?}");
        assert_eq!(server.asked(), [DISCOVERY]);
    }
    // The keys, too.
    let location = format!("{}/keys", target.issuer);
    let server = Server::start(move |issuer, path| match path {
        DISCOVERY => ok(&metadata(issuer)),
        _ => format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into_bytes(),
    })
    .await;
    let failure = refused(&oidc(true), &server.issuer).await;
    assert!(unreachable(&failure).contains("Too many redirects"), "{failure:?}");
    assert_eq!(server.asked(), [DISCOVERY, "/keys"]);
    assert_eq!(target.asked(), [""; 0]);
}

/// Sends a head, and then the same block again and again until the client closes the connection or has received a
/// gigabyte; returns the number of bytes.
async fn flood(listener: TcpListener, head: &'static str, block: Vec<u8>) -> usize {
    let (mut stream, _) = listener.accept().await.expect("a connection");
    read_path(&mut stream).await.expect("a request");
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut sent = 0;
    while sent < GIGABYTE && stream.write_all(&block).await.is_ok() {
        sent += block.len();
    }
    sent
}

#[tokio::test]
async fn endless_document_is_not_read_to_its_end() {
    const BLOCK: usize = 64 * 1024;
    let chunk = format!("{BLOCK:x}\r\n{}\r\n", " ".repeat(BLOCK)).into_bytes();
    for (head, block) in [
        ("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n", vec![b' '; BLOCK]),
        ("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n", chunk),
    ] {
        let (listener, address) = listener().await;
        let flooding = tokio::spawn(flood(listener, head, block));
        let failure = refused(&oidc(true), &format!("http://{address}")).await;
        assert_eq!(unreachable(&failure), "127.0.0.1 answered with more than 256 KiB.");
        let sent = flooding.await.expect("it ends");
        assert!(sent < GIGABYTE / 8, "{sent} bytes were taken, which is more than buffers hold");
    }
}

#[tokio::test]
async fn document_of_a_gigabyte_is_refused_by_its_length() {
    let (listener, address) = listener().await;
    // The body never comes: whoever waits for it waits until the timeout.
    let waiting = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        read_path(&mut stream).await.expect("a request");
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {GIGABYTE}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.expect("sent");
        stream.read_u8().await.is_err()
    });
    let failure = refused(&oidc(true), &format!("http://{address}")).await;
    assert_eq!(unreachable(&failure), "127.0.0.1 answered with more than 256 KiB.");
    assert!(waiting.await.expect("it ends"), "the connection is closed");
}

#[tokio::test]
async fn link_local_endpoints_are_always_refused() {
    for keys in ["http://169.254.169.254/latest/keys", "https://169.254.0.1/keys", "https://[fe80::1]/keys"] {
        let server = Server::start(move |issuer, path| honest(issuer, path, "jwks_uri", keys)).await;
        let failure = refused(&oidc(true), &server.issuer).await;
        assert!(unreachable(&failure).contains("is a private or reserved address"), "{keys}: {failure:?}");
        assert_eq!(server.asked(), [DISCOVERY]);
    }
    // Secrets are not sent there, either.
    let token = "http://169.254.169.254/token";
    let server = Server::start(move |issuer, path| honest(issuer, path, "token_endpoint", token)).await;
    let oidc = oidc(true);
    let provider = oidc.discover(&server.issuer).await.expect("a provider");
    let client =
        Client { id: "attestry", secret: Some("secret"), redirect_uri: "https://attestry.example/callback" };
    let asked =
        tokio::time::timeout(FAILED_AFTER, oidc.knows_client(&provider, &client)).await.expect("an end");
    let failure = asked.expect_err("it must not be asked");
    assert!(unreachable(&failure).contains("is a private or reserved address"), "{failure:?}");
}

/// Waits for as long as the timeout of requests is, which no setting changes.
#[tokio::test]
async fn provider_that_never_answers_ends_at_the_timeout() {
    let began = std::time::Instant::now();
    let mut asked = JoinSet::new();
    for part in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{",
    ] {
        let (listener, address) = listener().await;
        asked.spawn(async move {
            let silent = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                read_path(&mut stream).await.expect("a request");
                stream.write_all(part.as_bytes()).await.expect("sent");
                // Until the client closes the connection.
                stream.read_u8().await.is_err()
            });
            let failure = refused(&oidc(true), &format!("http://{address}")).await;
            assert_eq!(unreachable(&failure), "127.0.0.1 did not answer within 10 s.", "{part:?}");
            assert!(silent.await.expect("it ends"), "{part:?}: the connection is closed");
        });
    }
    asked.join_all().await;
    assert!(began.elapsed() >= Duration::from_secs(9), "{:?}", began.elapsed());
}
