//! A real S3 server with one bucket, started and stopped by tests.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

#[derive(Debug)]
pub struct S3 {
    child: Child,
    port: String,
}

impl S3 {
    pub fn start() -> Self {
        let packages = std::env::var("TEST_NODE").expect("TEST_NODE is not set: run `make test`");
        let mut child = Command::new("node")
            .arg("node/s3-server.js")
            .env("TEST_NODE", packages)
            .env("NODE_NO_WARNINGS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the S3 server starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("a port");
        Self { child, port: port.trim().to_owned() }
    }

    /// Returns the `AWS_*` variables for this server.
    pub fn variables(&self) -> Vec<(String, String)> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            own("AWS_ENDPOINT_URL", &format!("http://127.0.0.1:{}", self.port)),
            own("AWS_ACCESS_KEY_ID", "S3RVER"),
            own("AWS_SECRET_ACCESS_KEY", "S3RVER"),
            own("AWS_REGION", "us-east-1"),
        ]
    }

    /// Returns the URL of a folder in its bucket.
    pub fn url(&self) -> &'static str {
        "s3://attestry/files/of-ours"
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // It removes its folder when its standard input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
