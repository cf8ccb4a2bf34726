//! A fake provider with scripted replies, over a real connection and in the real protocols. It can misbehave in all
//! the ways that providers and networks do. For tests.

mod reply;
mod serve;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use attestry_net::Secret;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use url::Url;

use crate::{Error, Kind, Settings};

pub use reply::Reply;

/// The key in [`FakeProvider::settings`]. It must not appear anywhere but in requests.
pub const KEY: &str = "sk-fake-7f3a9c51e2d84b60";
/// The model named in all replies.
pub const MODEL: &str = "fake-model-2026";

/// Listens on a free port of this machine until it is dropped.
#[derive(Debug)]
pub struct FakeProvider {
    kind: Kind,
    address: SocketAddr,
    stage: Arc<Stage>,
    listening: JoinHandle<()>,
}

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The request line with the query, such as `POST /v1/messages`.
    pub line: String,
    headers: Vec<(String, String)>,
    pub body: Value,
}

impl Seen {
    /// The value of a header; `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

/// State shared by all connections.
#[derive(Debug)]
struct Stage {
    kind: Kind,
    script: Mutex<Script>,
    seen: Mutex<Vec<Seen>>,
    counts: watch::Sender<Counts>,
}

#[derive(Debug)]
struct Script {
    replies: Vec<Reply>,
    next: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    connections: usize,
    requests: usize,
    hang_ups: usize,
    cues: usize,
}

impl FakeProvider {
    /// Starts a provider that sends the replies of the script in order, then repeats the last one.
    pub async fn start(kind: Kind, script: impl Into<Vec<Reply>>) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage {
            kind,
            script: Mutex::new(Script { replies: script.into(), next: 0 }),
            seen: Mutex::default(),
            counts: watch::Sender::default(),
        });
        let listening = tokio::spawn(serve::listen(listener, Arc::clone(&stage)));
        Ok(Self { kind, address, stage, listening })
    }

    /// Settings for this provider.
    pub fn settings(&self) -> Result<Settings, Error> {
        let mut settings = Settings::new(self.kind, MODEL)?;
        settings.base_url = Url::parse(&self.base_url()).map_err(|_| Error::BaseUrl)?;
        settings.key = Some(Secret::new(KEY));
        Ok(settings)
    }

    pub fn base_url(&self) -> String {
        match self.kind {
            Kind::OpenAi => format!("http://{}/v1", self.address),
            Kind::Anthropic => format!("http://{}", self.address),
        }
    }

    /// Replaces the script and starts it from the first reply.
    pub fn play(&self, script: impl Into<Vec<Reply>>) {
        *held(&self.stage.script) = Script { replies: script.into(), next: 0 };
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Seen> {
        held(&self.stage.seen).clone()
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.stage.counts.borrow().connections
    }

    /// Waits until this many requests were received.
    pub async fn asked(&self, times: usize) {
        self.until(|counts| counts.requests >= times).await;
    }

    /// Waits until this many clients have disconnected before their replies were complete.
    pub async fn hung_up(&self, times: usize) {
        self.until(|counts| counts.hang_ups >= times).await;
    }

    /// Lets one [`Reply::waits`] continue.
    pub fn cue(&self) {
        self.stage.counts.send_modify(|counts| counts.cues += 1);
    }

    async fn until(&self, reached: impl Fn(&Counts) -> bool) {
        // Fails only if the sender is dropped, and `self` owns it.
        let _ = self.stage.counts.subscribe().wait_for(reached).await.map(drop);
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Stage {
    fn next_reply(&self) -> Reply {
        let mut script = held(&self.script);
        let at = script.next.min(script.replies.len().saturating_sub(1));
        script.next += 1;
        script.replies.get(at).cloned().unwrap_or_else(|| Reply::status(500, "{}"))
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        self.counts.send_modify(change);
    }

    /// Waits for a cue and consumes it.
    async fn take_cue(&self) {
        let mut counts = self.counts.subscribe();
        loop {
            let mut taken = false;
            self.counts.send_if_modified(|counts| {
                taken = counts.cues > 0;
                counts.cues -= usize::from(taken);
                taken
            });
            if taken || counts.changed().await.is_err() {
                return;
            }
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
