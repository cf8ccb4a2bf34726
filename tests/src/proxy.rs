//! A TCP proxy between the server and PostgreSQL that simulates network failures.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Treatment of the commit of a new risk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    Pass,
    /// It arrives, but its response is lost.
    LoseAnswer,
    /// It does not arrive.
    Lose,
}

#[derive(Debug)]
struct State {
    /// The number of the newest connection.
    newest: AtomicU64,
    /// Connections before this one are silent: their data is discarded.
    first_alive: AtomicU64,
    /// True when new connections are silent from the start.
    holds_new: AtomicBool,
    commits: watch::Sender<Commits>,
    /// True when the host refuses connections.
    is_down: watch::Sender<bool>,
}

#[derive(Clone, Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

/// Returns the path of the cluster's socket.
fn cluster() -> PathBuf {
    let url = crate::database::postgres_url("postgres");
    let host = url.split('@').nth(1).and_then(|rest| rest.split('/').next()).expect("a host");
    PathBuf::from(host.replace("%2F", "/")).join(".s.PGSQL.5432")
}

impl Proxy {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State {
            newest: AtomicU64::new(0),
            first_alive: AtomicU64::new(0),
            holds_new: AtomicBool::new(false),
            commits: watch::Sender::new(Commits::Pass),
            is_down: watch::Sender::new(false),
        });
        let own = Arc::clone(&state);
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.expect("a connection");
                while connections.try_join_next().is_some() {}
                let number = own.newest.fetch_add(1, Ordering::SeqCst) + 1;
                connections.spawn(pass(client, number, Arc::clone(&own)));
            }
        });
        Self { address, state }
    }

    /// The URL of a database of the cluster, by way of this proxy.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://attestry@{}/{database}?sslmode=disable", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Silences all current connections, as when their host vanishes. New ones work.
    pub fn silence(&self) {
        let newest = self.state.newest.load(Ordering::SeqCst);
        self.state.first_alive.store(newest + 1, Ordering::SeqCst);
    }

    /// Makes new connections hang after they are accepted, as with a pooler without a free connection.
    pub fn hold_new(&self, holds: bool) {
        self.state.holds_new.store(holds, Ordering::SeqCst);
    }

    pub fn treat_commits(&self, how: Commits) {
        self.state.commits.send_replace(how);
    }

    /// Closes all connections and accepts none.
    pub fn go_down(&self, is_down: bool) {
        self.state.is_down.send_replace(is_down);
    }
}

impl State {
    fn is_silent(&self, number: u64) -> bool {
        number < self.first_alive.load(Ordering::SeqCst)
    }
}

async fn pass(client: tokio::net::TcpStream, number: u64, state: Arc<State>) {
    let mut is_down = state.is_down.subscribe();
    if *is_down.borrow() {
        return;
    }
    if state.holds_new.load(Ordering::SeqCst) {
        // Read the data, so that the client's system sees a working connection.
        let (mut from, _to) = client.into_split();
        tokio::select! {
            () = swallow(&mut from) => {}
            _ = is_down.wait_for(|down| *down) => {}
        }
        return;
    }
    let server = UnixStream::connect(cluster()).await.expect("the cluster");
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let is_cut = AtomicBool::new(false);
    let up = async {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let Ok(length @ 1..) = from_client.read(&mut buffer).await else { return };
            let bytes = &buffer[..length];
            let holds = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
            let is_commit = holds(b"COMMIT\0") && holds(b"risk.created");
            let treated = if is_commit { *state.commits.borrow() } else { Commits::Pass };
            if treated != Commits::Pass {
                is_cut.store(true, Ordering::SeqCst);
            }
            if treated == Commits::Lose || state.is_silent(number) {
                continue;
            }
            if to_server.write_all(bytes).await.is_err() {
                return;
            }
        }
    };
    let down = async {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let Ok(length @ 1..) = from_server.read(&mut buffer).await else { return };
            if is_cut.load(Ordering::SeqCst) || state.is_silent(number) {
                continue;
            }
            if to_client.write_all(&buffer[..length]).await.is_err() {
                return;
            }
        }
    };
    let is_heard = tokio::select! {
        () = up => true,
        () = down => !is_cut.load(Ordering::SeqCst) && !state.is_silent(number),
        _ = is_down.wait_for(|down| *down) => true,
    };
    if !is_heard {
        // If the server closes a silent connection, the client does not notice.
        let _ = is_down.wait_for(|down| *down).await;
    }
}

async fn swallow(from: &mut tokio::net::tcp::OwnedReadHalf) {
    let mut buffer = vec![0; 4 << 10];
    while let Ok(1..) = from.read(&mut buffer).await {}
}
