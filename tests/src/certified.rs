//! A certified OpenID provider in Node, started and stopped by tests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

#[derive(Debug)]
pub struct CertifiedProvider {
    child: Child,
    /// Open as long as the provider may write to it.
    _output: BufReader<ChildStdout>,
    pub issuer: String,
}

impl CertifiedProvider {
    pub fn start() -> Self {
        let packages = std::env::var("TEST_NODE").expect("TEST_NODE is not set: run `make test`");
        let mut child = Command::new("node")
            .arg("node/oidc-provider.mjs")
            .env("TEST_NODE", packages)
            .env("NODE_NO_WARNINGS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the provider starts");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut port = String::new();
        while port.trim().parse::<u16>().is_err() {
            port.clear();
            assert_ne!(output.read_line(&mut port).expect("a line"), 0, "the provider ended");
        }
        Self { child, _output: output, issuer: format!("http://127.0.0.1:{}", port.trim()) }
    }

    /// Signs in as a browser would: follows redirects and fills in forms until it is sent back to another address,
    /// which is returned.
    pub async fn sign_in(&self, location: &str, name: &str) -> String {
        let client = Client::builder().redirect(Policy::none()).build().expect("a client");
        let mut cookies: HashMap<String, String> = HashMap::new();
        let mut next = Url::parse(location).expect("an address");
        let mut form: Option<Vec<(&str, &str)>> = None;
        for _ in 0..20 {
            if !next.as_str().starts_with(&self.issuer) {
                return next.into();
            }
            let request = match form.take() {
                Some(fields) => {
                    let body: Vec<String> =
                        fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    client
                        .post(next.clone())
                        .header("content-type", "application/x-www-form-urlencoded")
                        .body(body.join("&"))
                }
                None => client.get(next.clone()),
            };
            let all: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let response = request.header(COOKIE, all.join("; ")).send().await.expect("an answer");
            keep(&response, &mut cookies);
            if let Some(to) = response.headers().get(LOCATION) {
                next = next.join(to.to_str().expect("an address")).expect("an address");
                continue;
            }
            let page = response.text().await.expect("a page");
            let is_login = page.contains("name=\"login\"");
            form = Some(if is_login {
                vec![("prompt", "login"), ("login", name), ("password", "any")]
            } else {
                vec![("prompt", "consent")]
            });
        }
        panic!("the provider leads round and round");
    }
}

fn keep(response: &Response, cookies: &mut HashMap<String, String>) {
    for value in response.headers().get_all(SET_COOKIE) {
        let text = value.to_str().expect("a cookie");
        if let Some((name, rest)) = text.split_once('=') {
            cookies.insert(name.to_owned(), rest.split(';').next().unwrap_or_default().to_owned());
        }
    }
}

impl Drop for CertifiedProvider {
    fn drop(&mut self) {
        // It stops when its standard input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
