//! Two server processes on one PostgreSQL database.

use attestry_app::identity::setup::{self, Founded, NewInstallation};
use attestry_domain::Parse;
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

use crate::PASSWORD;
use crate::binary::{Server, command};
use crate::database::{Database, Engine};

const SECRET: &str = "a secret that these servers share: 0123456789";

/// The address of the owner, who signs in with [`PASSWORD`].
pub const OWNER: &str = "ada@example.com";

/// Two processes and an organization.
#[derive(Debug)]
pub struct TwoServers {
    pub database: Database,
    pub here: Server,
    pub there: Server,
    pub client: reqwest::Client,
    pub organization: String,
    /// An API key of the owner.
    pub key: String,
    _folders: [TempDir; 2],
}

fn server(database: &Database, data: &TempDir) -> Server {
    let attestry_db::Config::Postgres { url, .. } = database.config() else { unreachable!("PostgreSQL") };
    let mut serve = command(data.path(), &["serve", "--listen", "127.0.0.1:0", "--database-url", &url]);
    serve.env("ATTESTRY_SECRET_KEY", SECRET).env("ATTESTRY_RATE_LIMIT_PUBLIC_PER_SECOND", "0");
    Server::from(serve)
}

impl TwoServers {
    pub async fn start() -> Self {
        let database = Database::create(Engine::Postgres).await;
        let new = NewInstallation {
            organization: Parse::parse("Acme").expect("a name"),
            email: Parse::parse(OWNER).expect("an address"),
            password: Some(Parse::parse(PASSWORD).expect("a password")),
            name: None,
        };
        let ctx = database.context(SECRET).await;
        let (Founded { organization, .. }, made) =
            setup::by_operator(&ctx, new).await.expect("an organization");
        let folders = [(); 2].map(|()| TempDir::new().expect("a folder"));
        let (here, there) = (server(&database, &folders[0]), server(&database, &folders[1]));
        Self {
            database,
            here,
            there,
            client: reqwest::Client::new(),
            organization: organization.to_string(),
            key: made.text,
            _folders: folders,
        }
    }

    /// Sends a request to one of the servers, with a session if there is one; returns the status and the body.
    pub async fn call(
        &self,
        server: &Server,
        session: Option<&str>,
        method: Method,
        path: &str,
        body: &Value,
    ) -> (u16, Value) {
        let mut call = self.client.request(method, format!("{}{path}", server.url));
        if let Some(session) = session {
            call = call.bearer_auth(session).header("x-organization-id", &self.organization);
        }
        if !body.is_null() {
            call = call.json(body);
        }
        let reply = call.send().await.expect("an answer");
        (reply.status().as_u16(), reply.json().await.expect("JSON"))
    }

    /// Sends a request that must have this status; returns the body.
    pub async fn expect(
        &self,
        status: u16,
        server: &Server,
        session: Option<&str>,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Value {
        let (found, reply) = self.call(server, session, method, path, body).await;
        assert_eq!(found, status, "{path}: {reply}");
        reply
    }

    pub async fn stop(self) {
        assert!(self.here.stop() && self.there.stop());
        self.database.remove().await;
    }
}
