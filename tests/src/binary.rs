//! The real binary, started and stopped by tests.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use serde_json::Value;

/// Returns the path of the binary that was built with the tests.
pub fn path() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has a path");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    let path = path.join("attestry");
    assert!(path.exists(), "{} is not built: run `make test`, or `cargo build` first", path.display());
    path
}

/// Builds a command of the binary with a data folder and without `DATABASE_URL`.
pub fn command(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.args(words).arg("--data-dir").arg(data).env_remove("DATABASE_URL");
    command
}

pub fn run(data: &Path, words: &[&str]) -> Output {
    command(data, words).output().expect("the binary runs")
}

/// The standard output of a command that must succeed.
#[track_caller]
pub fn succeed(data: &Path, words: &[&str]) -> String {
    let output = run(data, words);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {error}{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).expect("text")
}

/// Creates an organization from the command line.
#[track_caller]
pub fn bootstrap(data: &Path, more: &[&str]) -> Value {
    bootstrap_as(data, "Acme", "ada@example.com", more)
}

/// Creates an organization with another name and owner.
#[track_caller]
pub fn bootstrap_as(data: &Path, organization: &str, email: &str, more: &[&str]) -> Value {
    let mut words = vec!["admin", "bootstrap", "--organization", organization, "--email", email];
    words.extend(["--password", "correct horse battery", "--json"]);
    words.extend(more);
    serde_json::from_str(&succeed(data, &words)).expect("JSON")
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub url: String,
    /// The output before it was ready.
    pub said: Vec<String>,
}

impl Server {
    pub fn start(data: &Path, more: &[&str]) -> Self {
        let mut words = vec!["serve", "--listen", "127.0.0.1:0"];
        words.extend(more);
        Self::from(command(data, &words))
    }

    pub fn from(mut command: Command) -> Self {
        command.stderr(Stdio::null());
        Self::started(command.stdout(Stdio::piped()).spawn().expect("the server starts"))
    }

    /// Starts the server and returns its log.
    pub fn with_log(mut command: Command) -> (Self, ChildStderr) {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let log = child.stderr.take().expect("a pipe");
        (Self::started(child), log)
    }

    fn started(mut child: Child) -> Self {
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut said = Vec::new();
        let url = loop {
            let line = lines.next().expect("the server says that it is ready").expect("text");
            said.push(line.clone());
            if let Some((_, url)) = line.split_once("ready at ") {
                break url.to_owned();
            }
        };
        Self { child, url, said }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process, as a power failure would.
    pub fn kill(mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it ends");
    }

    /// Sends `SIGTERM`, and returns true if the server exits cleanly.
    pub fn stop(mut self) -> bool {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(asked.expect("kill runs").success());
        self.child.wait().expect("it ends").success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for another process; the time limit only ends a failed test.
pub async fn wait_until(done: impl AsyncFn() -> bool) {
    let began = std::time::Instant::now();
    while !done().await {
        assert!(began.elapsed().as_secs() < 120, "it did not happen");
        tokio::task::yield_now().await;
    }
}
