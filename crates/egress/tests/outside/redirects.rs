//! Redirects, each checked as if it were the first request.

use attestry_egress::{Egress, Refusal, Request, Settings};

use crate::peers::{
    Names, PUBLIC, PUBLIC_TOO, Web, addresses, detoured, get, hosts, issued, ok, open, raw, redirect,
    settings, wish,
};

const SECRETS: &[(&str, &str)] =
    &[("authorization", "Bearer s3cret"), ("cookie", "a=s3cret"), ("x-api-key", "s3cret")];
const HARMLESS: &[(&str, &str)] = &[
    ("accept", "application/json"),
    ("accept-language", "de"),
    ("user-agent", "me"),
    ("content-type", "text/csv"),
];

fn post(url: &str) -> Request {
    let headers = SECRETS.iter().chain(HARMLESS);
    Request {
        url: url.to_owned(),
        method: "POST".to_owned(),
        headers: headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: Some(b"a;b".to_vec()),
    }
}

fn has(request: &str, headers: &[(&str, &str)]) -> bool {
    headers.iter().all(|(name, value)| request.contains(&format!("\r\n{name}: {value}\r\n")))
}

#[tokio::test]
async fn an_answer_knows_where_it_came_from() {
    let names = Names::here().await;
    let web = Web::plain(|request| match request.split(' ').nth(1) {
        Some("/a/b?c") => redirect(301, "../d?e#f"),
        Some("/d?e") => redirect(307, "?g"),
        _ => ok("there"),
    })
    .await;
    let host = format!("http://web.example.com:{}", web.port());
    let answer = open(&names).fetch(&hosts(&[&host]), get(&format!("{host}/a/b?c"))).await;
    let answer = answer.expect("an answer");
    assert_eq!(answer.url, format!("{host}/d?g"));
    assert!(answer.redirected);
    assert_eq!((answer.status, answer.body.as_slice()), (200, b"there".as_slice()));
}

#[tokio::test]
async fn one_origin_gets_all_headers_again_and_another_only_harmless_ones() {
    let names = Names::here().await;
    let other = Web::plain(|_| ok("")).await;
    let there = format!("http://other.example.com:{}/there", other.port());
    let web = Web::plain(move |request| match request.split(' ').nth(1) {
        Some("/") => redirect(307, "/same"),
        _ => redirect(307, &there),
    })
    .await;
    let listed = hosts(&[
        &format!("http://web.example.com:{}", web.port()),
        &format!("http://other.example.com:{}", other.port()),
    ]);
    let request = post(&format!("http://web.example.com:{}", web.port()));
    open(&names).fetch(&listed, request).await.expect("an answer");
    for request in web.requests() {
        assert!(has(&request, SECRETS) && has(&request, HARMLESS), "{request}");
    }
    let [request] = other.requests().try_into().expect("one request");
    assert!(has(&request, HARMLESS) && !request.contains("s3cret"), "{request}");
    assert!(request.starts_with("POST /there ") && request.ends_with("\r\n\r\na;b"), "{request}");
    assert!(request.contains(&format!("\r\nhost: other.example.com:{}\r\n", other.port())), "{request}");
}

/// Another port or another scheme is another origin too, and dropped headers are not added again.
#[tokio::test]
async fn secrets_do_not_come_back() {
    let names = Names::start(|name, kind| {
        let address = if name == "web.example.com" { PUBLIC } else { PUBLIC_TOO };
        addresses(&[&address.to_string()], kind)
    })
    .await;
    let plain = Web::plain(|_| redirect(307, "https://web.example.com/end")).await;
    let secure =
        Web::encrypted(issued(&wish(&["web.example.com"])), |request| match request.split(' ').nth(1) {
            Some("/") => redirect(307, "http://web.example.com/"),
            _ => ok("end"),
        })
        .await;
    let egress = detoured(&names, &[(PUBLIC, 80, &plain), (PUBLIC, 443, &secure)]);
    let listed = hosts(&["web.example.com", "http://web.example.com"]);
    let answer = egress.fetch(&listed, post("https://web.example.com/")).await.expect("an answer");
    assert_eq!(answer.body, b"end");
    let [first, last] = secure.requests().try_into().expect("two requests");
    let [middle] = plain.requests().try_into().expect("one request");
    assert!(has(&first, SECRETS));
    assert!(!middle.contains("s3cret"), "{middle}");
    assert!(!last.contains("s3cret"), "{last}");
}

#[tokio::test]
async fn methods_change_as_in_browsers() {
    let names = Names::here().await;
    for (status, before, after) in [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (301, "PUT", "PUT"),
        (302, "DELETE", "DELETE"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (302, "HEAD", "HEAD"),
    ] {
        let web = Web::plain(move |request| match request.split(' ').nth(1) {
            Some("/") => redirect(status, "/next"),
            _ => raw("HTTP/1.1 204 No Content\r\n\r\n"),
        })
        .await;
        let host = format!("http://web.example.com:{}", web.port());
        let request = match before {
            "HEAD" => Request { method: before.to_owned(), ..get(&host) },
            _ => Request { method: before.to_owned(), ..post(&host) },
        };
        let answer = open(&names).fetch(&hosts(&[&host]), request).await.expect("an answer");
        assert_eq!(answer.status, 204);
        let last = web.requests().pop().expect("a request");
        assert!(last.starts_with(&format!("{after} /next ")), "{status} {before}: {last}");
        let same = before == after && before != "HEAD";
        assert_eq!(last.ends_with("a;b"), same, "{status} {before}: {last}");
        assert_eq!(last.contains("content-type"), same, "{status} {before}: {last}");
        assert_eq!(last.contains("s3cret"), before != "HEAD", "{status} {before}: {last}");
    }
}

#[tokio::test]
async fn targets_that_are_not_on_the_list_are_refused() {
    let names = Names::here().await;
    let inside = Web::plain(|_| ok("secret")).await;
    let port = inside.port();
    let web_host = || "web.example.com".to_owned();
    for (location, refusal) in [
        (format!("http://evil.example:{port}/"), Refusal::Host("evil.example".to_owned())),
        (format!("http://127.0.0.1:{port}/"), Refusal::Host("127.0.0.1".to_owned())),
        (format!("//evil.example:{port}/"), Refusal::Host("evil.example".to_owned())),
        (format!("/\\evil.example:{port}/"), Refusal::Host("evil.example".to_owned())),
        ("http://api.example.com/".to_owned(), Refusal::PlainHttp("api.example.com".to_owned())),
        (
            format!("https://api.example.com:{port}/"),
            Refusal::Port { host: "api.example.com".to_owned(), port },
        ),
        (format!("http://me:pass@web.example.com:{port}/"), Refusal::Redirect(web_host())),
        ("file:///etc/passwd".to_owned(), Refusal::Redirect(web_host())),
        ("data:text/plain,x".to_owned(), Refusal::Redirect(web_host())),
        ("http://".to_owned(), Refusal::Redirect(web_host())),
        ("http://a b/".to_owned(), Refusal::Redirect(web_host())),
    ] {
        let there = location.clone();
        let web = Web::plain(move |_| redirect(302, &there)).await;
        let host = format!("http://web.example.com:{}", web.port());
        let answer = open(&names).fetch(&hosts(&[&host, "api.example.com"]), get(&host)).await;
        assert_eq!(answer, Err(refusal), "{location}");
    }
    assert_eq!(inside.requests(), [""; 0]);
}

#[tokio::test]
async fn loops_end() {
    let names = Names::here().await;
    let web = Web::plain(|_| redirect(302, "/")).await;
    let host = format!("http://web.example.com:{}", web.port());
    assert_eq!(open(&names).fetch(&hosts(&[&host]), get(&host)).await, Err(Refusal::Redirects(5)));
    assert_eq!(web.requests().len(), 6);
    let once = open(&names).fetch_once(&hosts(&[&host]), get(&host)).await;
    assert_eq!(once, Err(Refusal::Redirects(0)));
    assert_eq!(web.requests().len(), 7);
    let none = Settings { allow_private_networks: true, redirects: 0, ..settings(&names) };
    let none = Egress::new(none).expect("settings");
    assert_eq!(none.fetch(&hosts(&[&host]), get(&host)).await, Err(Refusal::Redirects(0)));
    assert_eq!(web.requests().len(), 8);
}

#[tokio::test]
async fn a_redirect_without_a_target_is_an_answer() {
    for answer in [
        "HTTP/1.1 302 Found\r\ncontent-length: 4\r\n\r\nhere",
        "HTTP/1.1 304 Not Modified\r\nlocation: /x\r\n\r\n",
        "HTTP/1.1 300 Multiple Choices\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 201 Created\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n",
    ] {
        let web = Web::plain(move |_| raw(answer)).await;
        let got = crate::peers::fetch_from(&web).await.expect("an answer");
        assert!(!got.redirected);
        assert_eq!(web.requests().len(), 1);
    }
}
