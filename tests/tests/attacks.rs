//! Attacks by a hostile client or a hostile tenant, against the real binary as it is installed: SQLite or PostgreSQL,
//! mail in files.

#![expect(clippy::expect_used, reason = "test code")]

use attestry_tests::Engine;
use attestry_tests::binary::{Server, bootstrap, bootstrap_as};
use attestry_tests::database::Database;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

const PASSWORD: &str = "correct horse battery";

/// A server with two organizations.
struct Two {
    server: Server,
    /// The organization that is attacked.
    a: Value,
    /// The organization of the attacker.
    b: Value,
    database: Database,
    _data: TempDir,
}

impl Two {
    async fn start(engine: Engine) -> Self {
        let (data, database) = (TempDir::new().expect("a folder"), Database::create(engine).await);
        let flags = match database.config() {
            attestry_db::Config::Sqlite { .. } => Vec::new(),
            attestry_db::Config::Postgres { url, .. } => vec!["--database-url".to_owned(), url],
        };
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let a = bootstrap(data.path(), &flags);
        let another = [&["--another"], &flags[..]].concat();
        let b = bootstrap_as(data.path(), "Bandits", "bob@bandits.example", &another);
        let server = Server::start(data.path(), &flags);
        Self { server, a, b, database, _data: data }
    }

    async fn stop(self) {
        assert!(self.server.stop());
        self.database.remove().await;
    }

    /// Sends a request with these headers.
    async fn call(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Value) -> (u16, Value) {
        let mut call = reqwest::Client::new().request(method, format!("{}{path}", self.server.url));
        for (name, value) in headers {
            call = call.header(*name, *value);
        }
        if !body.is_null() {
            call = call.json(&body);
        }
        let reply = call.send().await.expect("a response");
        (reply.status().as_u16(), reply.json().await.expect("JSON"))
    }

    async fn post(&self, of: &Value, path: &str, body: Value) -> Value {
        let key = of["apiKey"].as_str().expect("a key");
        let (status, reply) = self.call(Method::POST, path, &[("x-api-key", key)], body).await;
        assert_eq!(status, 201, "{path}: {reply}");
        reply
    }

    async fn get(&self, of: &Value, path: &str) -> Value {
        let key = of["apiKey"].as_str().expect("a key");
        let (status, reply) = self.call(Method::GET, path, &[("x-api-key", key)], Value::Null).await;
        assert_eq!(status, 200, "{path}: {reply}");
        reply
    }

    /// Invites an address and returns the token of the displayed link.
    async fn invite(&self, by: &Value, email: &str) -> String {
        let invited = self.post(by, "/v1/people/invite", json!({"email": email, "role": "admin"})).await;
        let link = invited["invitationLink"].as_str().expect("a link");
        link.split_once("token=").expect("a token").1.to_owned()
    }

    async fn accept(&self, body: Value) -> (u16, Value) {
        self.call(Method::POST, "/v1/auth/accept-invitation", &[], body).await
    }

    async fn sign_in(&self, email: &str, password: &str) -> Option<String> {
        let body = json!({"email": email, "password": password});
        let (_, reply) = self.call(Method::POST, "/v1/auth/login", &[], body).await;
        reply["token"].as_str().map(ToOwned::to_owned)
    }

    /// Returns the status of a request for an organization's risks with a session.
    async fn risks(&self, session: &str, of: &Value) -> u16 {
        let organization = of["organizationId"].as_str().expect("an id");
        let bearer = format!("Bearer {session}");
        let headers = [("authorization", bearer.as_str()), ("x-organization-id", organization)];
        self.call(Method::GET, "/v1/risks", &headers, Value::Null).await.0
    }
}

async fn invitations_take_no_account_over(engine: Engine) {
    let two = Two::start(engine).await;
    // B creates an account for a person of A and waits until A invites them.
    let shown = two.invite(&two.b, "victim@acme.example").await;
    assert_eq!(two.accept(json!({"token": shown, "password": PASSWORD})).await.0, 200);
    let theirs = two.sign_in("victim@acme.example", PASSWORD).await.expect("a session");
    assert_eq!(two.risks(&theirs, &two.b).await, 200);
    let token = two.invite(&two.a, "victim@acme.example").await;
    for password in [json!(null), json!(PASSWORD), json!("another password"), json!("wrong")] {
        let mut body = json!({"token": token, "name": "Mallory"});
        if !password.is_null() {
            body["password"] = password;
        }
        let (status, reply) = two.accept(body).await;
        assert_eq!((status, &reply["code"]), (400, &json!("validation_failed")), "{reply}");
    }
    assert_eq!(two.risks(&theirs, &two.a).await, 403);
    // A's admin, who sees the link, does not get into B either.
    let body = json!({"token": token, "newPassword": "chosen by the admin of A"});
    assert_eq!(two.accept(body).await.0, 400);
    assert!(two.sign_in("victim@acme.example", "chosen by the admin of A").await.is_none());
    // B invites the owner of A, and is shown the link.
    let token = two.invite(&two.b, "ada@example.com").await;
    assert_eq!(two.accept(json!({"token": token, "name": "Mallory"})).await.0, 400);
    let owner = format!("/v1/people/{}", two.a["memberId"].as_str().expect("an id"));
    assert_ne!(two.get(&two.a, &owner).await["user"]["name"], "Mallory");
    assert_eq!(two.accept(json!({"token": token, "name": "Mallory", "password": PASSWORD})).await.0, 200);
    assert_ne!(two.get(&two.a, &owner).await["user"]["name"], "Mallory");
    two.stop().await;
}

async fn an_id_adds_nobody_and_shows_no_address(engine: Engine) {
    let two = Two::start(engine).await;
    let added = two.post(&two.b, "/v1/people", json!({"userId": two.a["userId"], "role": "admin"})).await;
    assert_eq!((&added["userId"], &added["isActive"]), (&two.a["userId"], &json!(false)));
    let path = format!("/v1/people/{}", added["id"].as_str().expect("an id"));
    for shown in [added.clone(), two.get(&two.b, &path).await, two.get(&two.b, "/v1/audit-logs").await] {
        assert!(!shown.to_string().contains("ada@example.com"), "{shown}");
    }
    let session = two.sign_in("ada@example.com", PASSWORD).await.expect("a session");
    assert_eq!(two.risks(&session, &two.b).await, 403);
    let (_, token) =
        added["invitationLink"].as_str().and_then(|link| link.split_once("token=")).expect("a token");
    let bearer = format!("Bearer {session}");
    let look = format!("/v1/auth/invitation?token={token}");
    let (_, offer) = two.call(Method::GET, &look, &[], Value::Null).await;
    assert_eq!((&offer["email"], &offer["needsCurrentPassword"]), (&Value::Null, &json!(true)));
    let accept = json!({"token": token});
    assert_eq!(two.accept(accept.clone()).await.0, 400);
    let headers = [("authorization", bearer.as_str())];
    assert_eq!(two.call(Method::POST, "/v1/auth/accept-invitation", &headers, accept).await.0, 200);
    assert_eq!(two.risks(&session, &two.b).await, 200);
    two.stop().await;
}

async fn a_flood_of_passwords_keeps_nobody_from_signing_in(engine: Engine) {
    let two = Two::start(engine).await;
    let login = format!("{}/v1/auth/login", two.server.url);
    let mut flood = tokio::task::JoinSet::new();
    for address in 2..7_u8 {
        let from = std::net::IpAddr::from([127, 0, 0, address]);
        let client = reqwest::Client::builder().local_address(from).build().expect("a client");
        for number in 0..40 {
            let (client, login) = (client.clone(), login.clone());
            let body = json!({"email": format!("nobody{number}@{address}.example"), "password": PASSWORD});
            flood.spawn(async move {
                client.post(login).json(&body).send().await.expect("a response").status().as_u16()
            });
        }
    }
    // The other sign-ins are queued by network meanwhile.
    for _ in 0..5 {
        assert!(two.sign_in("ada@example.com", PASSWORD).await.is_some());
    }
    let statuses = flood.join_all().await;
    assert!(statuses.contains(&503), "nobody was refused");
    assert!(statuses.iter().all(|status| [401, 429, 503].contains(status)), "{statuses:?}");
    two.stop().await;
}

/// Returns the anonymous resident memory of the server in bytes.
fn resident(server: &Server) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a process");
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("its memory");
    line.split_whitespace().nth(1).expect("a number").parse::<usize>().expect("a number") << 10
}

/// Builds a workbook whose shared strings are many times larger than the file.
fn swollen_workbook() -> Vec<u8> {
    let relationships = |kind: &str, target: &str| {
        let base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        format!(r#"<Relationship Id="{kind}" Type="{base}/{kind}" Target="{target}"/>"#)
    };
    let all = |inner: String| format!("<Relationships>{inner}</Relationships>");
    let parts = [
        ("_rels/.rels", all(relationships("officeDocument", "xl/workbook.xml"))),
        (
            "xl/_rels/workbook.xml.rels",
            all(relationships("worksheet", "sheet.xml") + &relationships("sharedStrings", "strings.xml")),
        ),
        ("xl/workbook.xml", r#"<workbook><sheets><sheet id="worksheet"/></sheets></workbook>"#.to_owned()),
        ("xl/strings.xml", format!("<sst>{}</sst>", "<si><t>title</t></si>".repeat(1_000_000))),
        ("xl/sheet.xml", "<worksheet><sheetData></sheetData></worksheet>".to_owned()),
    ];
    let mut book = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        book.start_file(name, zip::write::SimpleFileOptions::default()).expect("a part");
        std::io::Write::write_all(&mut book, text.as_bytes()).expect("text");
    }
    book.finish().expect("an archive").into_inner()
}

async fn workbooks_are_read_within_the_memory_for_bodies(engine: Engine) {
    const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let two = Two::start(engine).await;
    let (file, before) = (swollen_workbook(), resident(&two.server));
    assert!(file.len() < 200_000);
    let mut uploads = tokio::task::JoinSet::new();
    for number in 0..48 {
        let of = if number % 2 == 0 { &two.a } else { &two.b };
        let key = of["apiKey"].as_str().expect("a key");
        let call = reqwest::Client::new().post(format!("{}/v1/risks/import", two.server.url));
        let call = call.header("x-api-key", key).header("content-type", XLSX).body(file.clone());
        uploads.spawn(async move { call.send().await.expect("a response").status().as_u16() });
    }
    let mut most = 0;
    while let Some(status) = uploads.join_next().await {
        assert!([400, 503].contains(&status.expect("it ends")));
        most = most.max(resident(&two.server));
    }
    // The budget is 128 MiB.
    assert!(most < before + ((128 + 64) << 20), "{most} after {before}");
    two.stop().await;
}

/// Runs each of these functions as a test on both databases.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                use super::Engine;

                #[tokio::test]
                async fn sqlite() {
                    super::$name(Engine::Sqlite).await;
                }

                #[tokio::test]
                async fn postgres() {
                    super::$name(Engine::Postgres).await;
                }
            }
        )*
    };
}

both! {
    invitations_take_no_account_over,
    an_id_adds_nobody_and_shows_no_address,
    a_flood_of_passwords_keeps_nobody_from_signing_in,
    workbooks_are_read_within_the_memory_for_bodies,
}
