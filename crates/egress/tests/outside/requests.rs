//! The bytes that are sent, and those that are not.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;

use attestry_egress::{Egress, Refusal, Request, Settings};
use tokio::net::TcpSocket;

use crate::peers::{Names, PUBLIC, Web, addresses, detoured, get, hosts, issued, ok, open, raw, wish};

#[tokio::test]
async fn https_goes_to_port_443_with_the_name_of_the_host() {
    let names = Names::public().await;
    let web = Web::encrypted(issued(&wish(&["api.example.com"])), |_| {
        raw("HTTP/1.1 200 Fine by me\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nX-Kind: test\r\ncontent-length: 5\r\n\r\nhello")
    })
    .await;
    let egress = detoured(&names, &[(PUBLIC, 443, &web)]);
    let answer =
        egress.fetch(&hosts(&["api.example.com"]), get("https://API.example.com./items?a=b#c")).await;
    let answer = answer.expect("an answer");
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(answer.status, 200);
    assert_eq!(answer.status_text, "Fine by me");
    assert_eq!(answer.url, "https://api.example.com/items?a=b");
    assert!(!answer.redirected);
    assert_eq!(
        answer.headers,
        [
            pair("content-length", "5"),
            pair("set-cookie", "a=1"),
            pair("set-cookie", "b=2"),
            pair("x-kind", "test"),
        ]
    );
    assert_eq!(answer.body, b"hello");
    let request = format!(
        "GET /items?a=b HTTP/1.1\r\nhost: api.example.com\r\nconnection: close\r\naccept-encoding: identity\r\n\
         accept: */*\r\nuser-agent: Attestry-Automation/{}\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(web.requests(), [request]);
    // Each name was looked up once, and no other.
    let mut questions = names.questions();
    questions.sort();
    assert_eq!(questions, ["A api.example.com", "AAAA api.example.com"]);
    let json = serde_json::to_value(&answer).expect("JSON");
    assert_eq!(json["statusText"], "Fine by me");
    assert_eq!(json["body"], "aGVsbG8=");
    assert_eq!(json["headers"][3], serde_json::json!(["x-kind", "test"]));
}

#[tokio::test]
async fn no_cookie_is_kept() {
    let names = Names::here().await;
    let web = Web::plain(|_| raw("HTTP/1.1 204 No Content\r\nset-cookie: a=1\r\n\r\n")).await;
    let (egress, host) = (open(&names), format!("http://web.example.com:{}", web.port()));
    for _ in 0..2 {
        egress.fetch(&hosts(&[&host]), get(&host)).await.expect("an answer");
    }
    assert_eq!(web.requests().len(), 2);
    assert!(web.requests().iter().all(|request| !request.contains("cookie")));
}

#[tokio::test]
async fn methods_headers_and_bodies_arrive() {
    let names = Names::here().await;
    let web = Web::plain(|_| ok("")).await;
    let (egress, host) = (open(&names), format!("http://web.example.com:{}", web.port()));
    let hosts = hosts(&[&host]);
    let request: Request = serde_json::from_value(serde_json::json!({
        "url": format!("{host}/a"),
        "method": "post",
        "headers": [["Authorization", "Bearer secret"], ["X-Twice", "1"], ["X-Twice", "2"], ["User-Agent", "me"]],
        "body": "aGVsbG8=",
    }))
    .expect("a request");
    assert!(!format!("{request:?}").contains("secret"));
    egress.fetch(&hosts, request).await.expect("an answer");
    let sent = web.requests().pop().expect("a request");
    assert!(sent.starts_with("POST /a HTTP/1.1\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\nhello"), "{sent}");
    for line in
        ["authorization: Bearer secret", "x-twice: 1", "x-twice: 2", "user-agent: me", "content-length: 5"]
    {
        assert!(sent.contains(&format!("\r\n{line}\r\n")), "{line} is missing in {sent}");
    }
    assert!(!sent.contains("Attestry-Automation"), "{sent}");
    for (method, length) in [
        ("POST", true),
        ("PUT", true),
        ("PATCH", true),
        ("GET", false),
        ("HEAD", false),
        ("DELETE", false),
        ("OPTIONS", false),
    ] {
        egress.fetch(&hosts, Request { method: method.to_owned(), ..get(&host) }).await.expect(method);
        let sent = web.requests().pop().expect("a request");
        assert!(sent.starts_with(&format!("{method} / HTTP/1.1\r\n")), "{sent}");
        assert_eq!(sent.contains("\r\ncontent-length: 0\r\n"), length, "{sent}");
    }
}

#[tokio::test]
async fn what_is_not_allowed_is_not_sent() {
    let names = Names::here().await;
    let web = Web::plain(|_| ok("")).await;
    let egress = open(&names);
    let port = web.port();
    let listed = hosts(&["api.example.com", "*.example.org", &format!("http://web.example.com:{port}")]);
    let host = |host: &str| Refusal::Host(host.to_owned());
    let plain = |host: String| Refusal::PlainHttp(host);
    for (url, refusal) in [
        (format!("http://other.example.com:{port}/"), host("other.example.com")),
        ("https://example.org/".to_owned(), host("example.org")),
        (format!("http://127.0.0.1:{port}/"), host("127.0.0.1")),
        (format!("http://api.example.com:{port}/"), plain(format!("api.example.com:{port}"))),
        ("http://a.example.org/".to_owned(), plain("a.example.org".to_owned())),
        ("http://web.example.com/".to_owned(), plain("web.example.com".to_owned())),
        (
            format!("https://web.example.com:{port}/"),
            Refusal::Port { host: "web.example.com".to_owned(), port },
        ),
        (
            "https://api.example.com:8443/".to_owned(),
            Refusal::Port { host: "api.example.com".to_owned(), port: 8443 },
        ),
        (format!("http://me@web.example.com:{port}/"), Refusal::Credentials),
        (format!("http://:pass@web.example.com:{port}/"), Refusal::Credentials),
        ("ftp://web.example.com/".to_owned(), Refusal::Url),
        ("file:///etc/passwd".to_owned(), Refusal::Url),
        ("data:text/plain,x".to_owned(), Refusal::Url),
        ("/items".to_owned(), Refusal::Url),
        ("http://".to_owned(), Refusal::Url),
        (String::new(), Refusal::Url),
    ] {
        assert_eq!(egress.fetch(&listed, get(&url)).await, Err(refusal), "{url}");
    }
    let good = get(&format!("http://web.example.com:{port}/"));
    assert_eq!(egress.fetch(&hosts(&[]), good.clone()).await, Err(host("web.example.com")));
    for method in ["TRACE", "CONNECT", "BREW", "", "G ET", "GET / HTTP/1.1\r\n"] {
        let request = Request { method: method.to_owned(), ..good.clone() };
        assert!(matches!(egress.fetch(&listed, request).await, Err(Refusal::Method(_))), "{method}");
    }
    let request = Request { body: Some(vec![1]), ..good.clone() };
    assert_eq!(egress.fetch(&listed, request).await, Err(Refusal::Body("GET")));
    let request = Request { headers: vec![("Host".to_owned(), "evil.example".to_owned())], ..good.clone() };
    assert_eq!(egress.fetch(&listed, request).await, Err(Refusal::Header("host".to_owned())));
    assert_eq!(web.requests(), [""; 0]);
    assert!(names.questions().is_empty());
    egress.fetch(&listed, good).await.expect("an answer");
}

/// Runs itself again with variables that would send every request to a closed port.
#[tokio::test]
async fn proxy_variables_are_ignored() {
    const INSIDE: &str = "EGRESS_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_none() {
        let mut again = Command::new(std::env::current_exe().expect("this test"));
        again.args(["--exact", "requests::proxy_variables_are_ignored"]).env(INSIDE, "1");
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            again.env(name, "http://127.0.0.1:1");
        }
        let output = tokio::task::spawn_blocking(move || again.output()).await.expect("a thread");
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let names = Names::here().await;
    let web = Web::plain(|_| ok("direct")).await;
    let host = format!("http://web.example.com:{}", web.port());
    let answer = open(&names).fetch(&hosts(&[&host]), get(&host)).await.expect("an answer");
    assert_eq!(answer.body, b"direct");
}

#[tokio::test]
async fn the_hosts_file_counts_where_no_name_server_is_set() {
    let web = Web::plain(|_| ok("here")).await;
    let settings = Settings { allow_private_networks: true, ..Settings::default() };
    let egress = Egress::new(settings).expect("settings");
    let host = format!("http://localhost:{}", web.port());
    assert_eq!(egress.fetch(&hosts(&[&host]), get(&host)).await.expect("an answer").body, b"here");
}

#[tokio::test]
async fn a_second_address_is_tried_when_the_first_is_dead() {
    let web = Web::plain(|_| ok("alive")).await;
    let names = Names::start(|_, kind| addresses(&["127.0.0.2", "127.0.0.1"], kind)).await;
    let host = format!("http://web.example.com:{}", web.port());
    assert_eq!(open(&names).fetch(&hosts(&[&host]), get(&host)).await.expect("an answer").body, b"alive");
}

#[tokio::test]
async fn where_nobody_listens_nothing_is_reached() {
    let names = Names::here().await;
    // Bound, but not listening.
    let taken = TcpSocket::new_v4().expect("a socket");
    taken.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
    let host = format!("http://web.example.com:{}", taken.local_addr().expect("an address").port());
    let answer = open(&names).fetch(&hosts(&[&host]), get(&host)).await;
    assert_eq!(answer, Err(Refusal::Unreachable("web.example.com".to_owned())));
}
