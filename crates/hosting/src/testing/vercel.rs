//! A fake of the parts of Vercel's REST API that are used, over real connections. Each domain has its own responses.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use attestry_net::Secret;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use url::Url;

use super::held;
use crate::{Error, VercelSettings};

/// The token in [`FakeVercel::settings`]. It must not appear anywhere but in requests.
pub const TOKEN: &str = "vc-fake-51e2d84b607f3a9c";
/// The project and the team in [`FakeVercel::settings`].
pub const PROJECT: &str = "prj_portal";
pub const TEAM: &str = "team_attestry";

/// Listens on a free port of this machine until it is dropped. Knows no domain until one is set.
#[derive(Debug)]
pub struct FakeVercel {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    listening: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct State {
    domains: BTreeMap<String, Answers>,
    /// Sent to every request instead of all other replies.
    always: Option<Reply>,
    seen: Vec<Seen>,
}

/// The responses about one domain.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Response to `GET /v9/projects/{project}/domains/{domain}`.
    pub project: Reply,
    /// Response to `GET /v6/domains/{domain}/config`.
    pub config: Reply,
}

#[derive(Clone, Debug)]
pub enum Reply {
    Json(u16, Value),
    /// A status and an arbitrary body.
    Raw(u16, Vec<u8>),
    /// A redirect to another URL.
    Redirect(String),
    /// Accepts the request and never responds.
    Silence,
    /// Accepts the request and closes the connection.
    NoAnswer,
}

/// A received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The request line, such as `GET /v6/domains/trust.example.com/config?teamId=…`.
    pub line: String,
    pub authorization: Option<String>,
}

impl Answers {
    /// The domain is verified and points to Vercel.
    pub fn verified(domain: &str) -> Self {
        let project = json!({
            "name": domain, "apexName": apex(domain), "projectId": PROJECT, "redirect": null,
            "redirectStatusCode": null, "gitBranch": null, "updatedAt": 1_790_000_000_000_u64,
            "createdAt": 1_790_000_000_000_u64, "verified": true
        });
        let config = json!({
            "configuredBy": "CNAME", "nameservers": [], "serviceType": "external", "aValues": [],
            "cnames": ["cname.vercel-dns.com."], "conflicts": [], "acceptedChallenges": ["http-01"],
            "recommendedIPv4": [
                { "rank": 1, "value": ["216.198.79.1"] }, { "rank": 2, "value": ["76.76.21.21"] }
            ],
            "recommendedCNAME": [
                { "rank": 1, "value": "0123456789abcdef.vercel-dns-017.com." },
                { "rank": 2, "value": "cname.vercel-dns.com." }
            ],
            "misconfigured": false
        });
        Self { project: Reply::Json(200, project), config: Reply::Json(200, config) }
    }

    /// Vercel requires a TXT record first.
    #[must_use]
    pub fn unverified(mut self, domain: &str, value: &str) -> Self {
        if let Reply::Json(_, project) = &mut self.project {
            project["verified"] = json!(false);
            project["verification"] = json!([{
                "type": "TXT", "domain": format!("_vercel.{}", apex(domain)), "value": value,
                "reason": "pending_domain_verification"
            }]);
        }
        self
    }

    /// The domain points elsewhere: to these addresses, if any.
    #[must_use]
    pub fn misconfigured(mut self, addresses: &[&str]) -> Self {
        if let Reply::Json(_, config) = &mut self.config {
            config["configuredBy"] = Value::Null;
            config["cnames"] = json!([]);
            config["aValues"] = json!(addresses);
            config["misconfigured"] = json!(true);
        }
        self
    }
}

/// The last two labels, which is correct for the names used in tests.
fn apex(domain: &str) -> &str {
    domain.rmatch_indices('.').nth(1).and_then(|(at, _)| domain.get(at + 1..)).unwrap_or(domain)
}

impl FakeVercel {
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::default();
        let listening = tokio::spawn(listen(listener, Arc::clone(&state)));
        Ok(Self { address, state, listening })
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Settings for this server.
    pub fn settings(&self) -> Result<VercelSettings, Error> {
        let mut settings = VercelSettings::new(Secret::new(TOKEN), PROJECT)?;
        settings.base_url = Url::parse(&self.base_url()).map_err(|_| Error::BaseUrl)?;
        settings.team = Some(TEAM.to_owned());
        Ok(settings)
    }

    /// Sets the responses about a domain.
    pub fn set(&self, domain: &str, answers: Answers) {
        self.state().domains.insert(domain.to_owned(), answers);
    }

    /// Removes the domain from the project.
    pub fn remove(&self, domain: &str) {
        self.state().domains.remove(domain);
    }

    /// Sends the same reply to every request; `None` restores the normal replies.
    pub fn always(&self, reply: impl Into<Option<Reply>>) {
        self.state().always = reply.into();
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        held(&self.state)
    }
}

impl Drop for FakeVercel {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl State {
    fn reply(&self, seen: &Seen) -> Reply {
        if let Some(reply) = &self.always {
            return reply.clone();
        }
        let problem = |status, code: &str, message: &str| {
            Reply::Json(status, json!({ "error": { "code": code, "message": message } }))
        };
        if seen.authorization.as_deref() != Some(&format!("Bearer {TOKEN}")) {
            return problem(403, "forbidden", "Not authorized");
        }
        let target = seen.line.strip_prefix("GET ").unwrap_or_default();
        let Ok(url) = Url::parse("http://fake/").and_then(|base| base.join(target)) else {
            return problem(400, "bad_request", "Invalid request");
        };
        if !url.query_pairs().any(|(name, value)| name == "teamId" && value == TEAM) {
            return problem(403, "forbidden", "Not authorized");
        }
        let answers = |domain: &str| self.domains.get(domain).cloned();
        let path: Vec<_> = url.path_segments().into_iter().flatten().collect();
        match path.as_slice() {
            ["v9", "projects", PROJECT, "domains", domain] => answers(domain).map(|answers| answers.project),
            // Vercel returns the configuration of any domain.
            ["v6", "domains", domain, "config"] => {
                Some(answers(domain).unwrap_or_else(|| Answers::verified(domain).misconfigured(&[])).config)
            }
            _ => None,
        }
        .unwrap_or_else(|| problem(404, "not_found", "The domain is not found"))
    }
}

async fn listen(listener: TcpListener, state: Arc<Mutex<State>>) {
    // Dropping it ends all connections.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, Arc::clone(&state)));
        while connections.try_join_next().is_some() {}
    }
}

/// Handles requests one after the other, until the client closes the connection.
async fn converse(stream: TcpStream, state: Arc<Mutex<State>>) -> io::Result<()> {
    let (reading, mut writing) = stream.into_split();
    let mut lines = BufReader::new(reading).lines();
    while let Some(line) = lines.next_line().await? {
        let line = line.strip_suffix(" HTTP/1.1").unwrap_or(&line).to_owned();
        let mut seen = Seen { line, authorization: None };
        while let Some(header) = lines.next_line().await?.filter(|header| !header.is_empty()) {
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("authorization")
            {
                seen.authorization = Some(value.trim().to_owned());
            }
        }
        let reply = {
            let mut state = held(&state);
            let reply = state.reply(&seen);
            state.seen.push(seen);
            reply
        };
        let (status, header, body) = match reply {
            Reply::Json(status, body) => {
                (status, "content-type: application/json".to_owned(), body.to_string().into_bytes())
            }
            Reply::Raw(status, body) => (status, "content-type: text/plain".to_owned(), body),
            Reply::Redirect(to) => (307, format!("location: {to}"), Vec::new()),
            Reply::Silence => std::future::pending().await,
            Reply::NoAnswer => return Ok(()),
        };
        let head = format!("HTTP/1.1 {status} Fake\r\n{header}\r\ncontent-length: {}\r\n\r\n", body.len());
        writing.write_all(&[head.as_bytes(), &body].concat()).await?;
    }
    Ok(())
}
