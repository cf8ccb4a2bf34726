//! A host for tests, and sandboxes whose child is this crate's own program.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attestry_sandbox::{Failure, Host, Limits, Outcome, Sandbox, Script, Settings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::Barrier;

/// Handles the calls of tests and records them.
#[derive(Default)]
pub(crate) struct Peer {
    pub(crate) calls: Mutex<Vec<(String, Value)>>,
    pub(crate) lines: Mutex<Vec<String>>,
    /// `dns` calls wait for each other here.
    pub(crate) meeting: Option<Barrier>,
}

impl Host for Peer {
    fn call(
        &self,
        operation: String,
        argument: Box<RawValue>,
    ) -> BoxFuture<'_, Result<Box<RawValue>, String>> {
        async move {
            let argument: Value = serde_json::from_str(argument.get()).expect("the argument is JSON");
            self.calls.lock().expect("no test panicked").push((operation.clone(), argument.clone()));
            let answer = self.answer(&operation, &argument).await?;
            Ok(to_raw_value(&answer).expect("it is JSON"))
        }
        .boxed()
    }

    fn log(&self, line: String) {
        self.lines.lock().expect("no test panicked").push(line);
    }
}

impl Peer {
    async fn answer(&self, operation: &str, argument: &Value) -> Result<Value, String> {
        match operation {
            "fetch" => match argument["url"].as_str() {
                Some("https://refused.example/") => Err("refused.example is not an allowed host".to_owned()),
                Some("https://waits.example/") => std::future::pending().await,
                Some("https://panics.example/") => panic!("as the test wants"),
                Some("https://large.example/") => Ok(response(&"QUJD".repeat(10 << 18))),
                Some("https://text.example/") => Ok(response("w6kg8J+YgP8=")),
                _ => Ok(response("eyJhIjpbMSwyXX0=")),
            },
            "secret" => Ok(json!(format!("the secret {}", argument.as_str().unwrap_or_default()))),
            "dns" => {
                if let Some(meeting) = &self.meeting {
                    meeting.wait().await;
                }
                Ok(json!([{"type": argument["type"], "data": argument["name"]}]))
            }
            "tls" => Ok(json!({"subject": argument["host"], "port": argument["port"]})),
            _ => Err("unknown".to_owned()),
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no test panicked").clone()
    }

    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        self.calls.lock().expect("no test panicked").clone()
    }
}

fn response(body: &str) -> Value {
    json!({
        "status": 200, "statusText": "OK", "url": "https://a.example/final", "redirected": true,
        "headers": [["Content-Type", "application/json"], ["Set-Cookie", "a=1"], ["set-cookie", "b=2"]],
        "body": body,
    })
}

pub(crate) fn limits() -> Limits {
    Limits { cpu: Duration::from_millis(500), wall: Duration::from_mins(1), ..Limits::default() }
}

pub(crate) fn sandbox(limits: Limits) -> Sandbox {
    Sandbox::new(Settings {
        program: env!("CARGO_BIN_EXE_sandbox-child").into(),
        arguments: Vec::new(),
        ready: 1,
        limits,
    })
}

pub(crate) fn script(source: &str) -> Script {
    let context =
        json!({"now": "2026-01-02T03:04:05Z", "event": {"kind": "schedule"}, "parameters": {"n": [1]}});
    Script { source: source.to_owned(), context: to_raw_value(&context).expect("it is JSON") }
}

pub(crate) async fn run(source: &str) -> Result<Outcome, Failure> {
    run_within(limits(), source).await
}

pub(crate) async fn run_within(limits: Limits, source: &str) -> Result<Outcome, Failure> {
    sandbox(limits).run(script(source), Arc::new(Peer::default())).await
}

/// Runs a function body with `ctx` in scope and returns the evidence.
pub(crate) async fn evidence(body: &str) -> Value {
    let source = format!("export default async function (ctx) {{\n{body}\n}}");
    let outcome = run(&source).await.unwrap_or_else(|failure| panic!("{failure}: {body}"));
    outcome.evidence.map_or(Value::Null, |evidence| serde_json::from_str(evidence.get()).expect("it is JSON"))
}
