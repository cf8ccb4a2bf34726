//! A portal's own domain, from the name server to the browser: the real binary, a real name server, a real Caddy; and a
//! signed agreement that is checked offline.

#![expect(clippy::expect_used, reason = "test code")]

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use attestry_hosting::testing::NameServer;
use attestry_tests::binary::{self, Server, wait_until};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Client, Method};
use serde_json::{Value, json};

const DOMAIN: &str = "trust.customer.example";
const TARGET: &str = "compliance.example.com";

struct Caddy(Child);

impl Drop for Caddy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts Caddy on a free port; it asks the server whether it may serve a domain.
fn caddy(folder: &Path, server: &Server) -> (Caddy, u16) {
    let port = {
        let free = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        free.local_addr().expect("an address").port()
    };
    let storage = folder.join("storage");
    let backend = server.url.trim_start_matches("http://");
    let config = format!(
        "{{\n admin off\n auto_https disable_redirects\n skip_install_trust\n default_bind 127.0.0.1\n https_port {port}\n \
         storage file_system {}\n on_demand_tls {{\n ask {}/internal/tls/ask\n }}\n}}\n\
         https:// {{\n tls internal {{\n on_demand\n }}\n reverse_proxy {backend}\n}}\n",
        storage.display(),
        server.url
    );
    let path = folder.join("Caddyfile");
    std::fs::write(&path, config).expect("a file");
    let child = Command::new("caddy")
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(&path)
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("XDG_DATA_HOME", folder.join("data"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("caddy starts: run `make caddy`");
    (Caddy(child), port)
}

async fn call(server: &Server, key: &str, method: Method, path: &str, body: Option<&Value>) -> Value {
    let client = Client::builder().no_proxy().build().expect("a client");
    let call = client.request(method, format!("{}{path}", server.url)).header("x-api-key", key);
    let call = match body {
        Some(body) => call.json(body),
        None => call,
    };
    let reply = call.send().await.expect("an answer");
    let status = reply.status();
    let text = reply.text().await.expect("a body");
    assert!(status.is_success(), "{path}: {status} {text}");
    serde_json::from_str(&text).expect("JSON")
}

/// Starts our server with this name server.
fn serve(data: &Path, names: &NameServer) -> Server {
    let mut command = binary::command(data, &["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("ATTESTRY_DNS_SERVERS", names.address().to_string())
        .env("ATTESTRY_DOMAINS_TARGET", TARGET)
        .env("ATTESTRY_HTTP_TRUSTED_PROXIES", "127.0.0.1");
    Server::from(command)
}

#[tokio::test(flavor = "multi_thread")]
async fn caddy_serves_a_domain_once_it_is_proven() {
    let data = tempfile::tempdir().expect("a folder");
    let names = NameServer::start(&["customer.example", "example.com"]).await.expect("a name server");
    names.set("example.com", "compliance A 127.0.0.1\n").await.expect("a zone");
    let made = binary::bootstrap(data.path(), &[]);
    let key = made["apiKey"].as_str().expect("a key").to_owned();
    let server = serve(data.path(), &names);
    let folder = tempfile::tempdir().expect("a folder");
    let (_caddy, port) = caddy(folder.path(), &server);
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let browser = || {
        Client::builder()
            .no_proxy()
            .resolve(DOMAIN, address)
            .resolve("other.customer.example", address)
            .danger_accept_invalid_certs(true)
            .build()
            .expect("a client")
    };
    let settings = json!({"domain": DOMAIN, "status": "published"});
    call(&server, &key, Method::PATCH, "/v1/trust-portal/settings", Some(&settings)).await;
    let status = format!("/v1/trust-portal/domain/status?domain={DOMAIN}");
    let found = call(&server, &key, Method::GET, &status, None).await;
    let records = found["verification"].as_array().expect("records");
    let value = records.iter().find(|one| one["type"] == "TXT").expect("a challenge")["value"].clone();
    let url = format!("https://{DOMAIN}:{port}/");
    wait_until(async || tokio::net::TcpStream::connect(address).await.is_ok()).await;
    assert!(browser().get(&url).send().await.is_err(), "nobody has proven this domain");
    let zone = format!("trust CNAME {TARGET}.\n_attestry-challenge.trust TXT {value}\n");
    names.set("customer.example", &zone).await.expect("a zone");
    let found = call(&server, &key, Method::GET, &status, None).await;
    assert_eq!((&found["verified"], &found["misconfigured"]), (&json!(true), &json!(false)));
    wait_until(async || browser().get(&url).send().await.is_ok()).await;
    let page = browser().get(&url).send().await.expect("an answer").text().await.expect("a page");
    assert!(page.contains("<h1>Security at Acme</h1>"), "{page}");
    let hidden = browser().get(format!("{url}v1/health")).send().await.expect("an answer");
    assert_eq!(hidden.status().as_u16(), 404);
    let other = format!("https://other.customer.example:{port}/");
    assert!(browser().get(other).send().await.is_err(), "this one is not ours");
    assert!(server.stop());
}

/// The token of a link in a mail that was written to the data folder.
async fn token(data: &Path, before: &str) -> String {
    let found = std::sync::Mutex::new(String::new());
    wait_until(async || {
        for entry in std::fs::read_dir(data.join("mail")).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let text = text.replace("=\r\n", "").replace("=\n", "").replace("=3D", "=");
            if let Some((_, rest)) = text.split_once(before) {
                let token = rest.chars().take_while(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
                *found.lock().expect("not poisoned") = token;
                return true;
            }
        }
        false
    })
    .await;
    found.into_inner().expect("not poisoned")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_agreement_is_checked_offline() {
    let data = tempfile::tempdir().expect("a folder");
    let made = binary::bootstrap(data.path(), &[]);
    let (key, organization) =
        (made["apiKey"].as_str().expect("a key"), made["organizationId"].as_str().expect("an id"));
    let server = Server::start(data.path(), &[]);
    call(&server, key, Method::PATCH, "/v1/trust-portal/settings", Some(&json!({"status": "published"})))
        .await;
    let ask = json!({"name": "Grace Hopper", "email": "grace@customer.example"});
    let asked =
        call(&server, key, Method::POST, &format!("/v1/trust-access/{organization}/requests"), Some(&ask))
            .await;
    let approve = format!("/v1/trust-access/admin/requests/{}/approve", asked["id"].as_str().expect("an id"));
    call(&server, key, Method::POST, &approve, None).await;
    let nda = token(data.path(), "/trust/nda?token=").await;
    let sign = json!({"name": "Grace Hopper", "email": "grace@customer.example", "accept": true});
    let signed =
        call(&server, key, Method::POST, &format!("/v1/trust-access/nda/{nda}/sign"), Some(&sign)).await;
    let client = Client::builder().no_proxy().build().expect("a client");
    let get =
        async |url: &str| client.get(url).send().await.expect("an answer").bytes().await.expect("a body");
    let file = get(signed["pdfDownloadUrl"].as_str().expect("a link")).await;
    let keys = get(&format!("{}/.well-known/attestry-keys.json", server.url)).await;
    // Signed agreements survive a power failure.
    server.kill();
    let server = Server::start(data.path(), &[]);
    let grants = call(&server, key, Method::GET, "/v1/trust-access/admin/grants", None).await;
    assert_eq!(grants["count"], 1);
    let upload = json!({
        "organizationId": organization, "framework": "gdpr", "fileName": "certificate.pdf", "fileType": "application/pdf",
        "fileData": STANDARD.encode(&file)
    });
    let uploads = "/v1/trust-portal/compliance-resources/upload";
    call(&server, key, Method::POST, uploads, Some(&upload)).await;
    assert!(server.stop());

    // A backup contains the agreement and the certificate, and both are verified against the journal.
    let archive = tempfile::tempdir().expect("a folder");
    let (archive, restored) = (archive.path().join("backup.tar"), archive.path().join("restored"));
    binary::succeed(data.path(), &["backup", "--to", archive.to_str().expect("a path")]);
    binary::succeed(&restored, &["restore", "--from", archive.to_str().expect("a path")]);
    let said = binary::succeed(&restored, &["audit", "verify", "--files"]);
    assert!(said.contains("2 files, all intact"), "{said}");
    for folder in ["trust-nda", "trust-certificates"] {
        let folder = restored.join("blobs").join(organization).join(folder);
        let stored =
            std::fs::read_dir(folder).expect("a folder").next().expect("a file").expect("a file").path();
        std::fs::write(stored, b"%PDF-1.7 forged").expect("a file");
    }
    let output = binary::run(&restored, &["audit", "verify", "--files"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && said.contains("2 BROKEN"), "{said}");

    let elsewhere = tempfile::tempdir().expect("a folder");
    let (pdf, published) = (elsewhere.path().join("nda.pdf"), elsewhere.path().join("keys.json"));
    std::fs::write(&pdf, &file).expect("a file");
    std::fs::write(&published, &keys).expect("a file");
    let verify = |data: &Path, more: &[&str]| {
        let mut words = vec!["verify", pdf.to_str().expect("a path")];
        words.extend(more);
        let output = binary::run(data, &words);
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let known = ["--keys", published.to_str().expect("a path")];
    let nowhere = elsewhere.path().join("nothing");
    assert!(verify(&nowhere, &known).0, "with the published key, and nothing else");
    assert!(!nowhere.exists(), "nothing is made");
    assert!(verify(data.path(), &[]).0, "with the key of the installation");
    let (is_fine, said) = verify(&nowhere, &[]);
    assert!(!is_fine && said.contains("--keys"), "{said}");
    let mut changed = file.to_vec();
    changed[100] ^= 1;
    std::fs::write(&pdf, &changed).expect("a file");
    let (is_fine, said) = verify(&nowhere, &known);
    assert!(!is_fine && said.contains("CHANGED"), "{said}");
    std::fs::write(&pdf, b"%PDF-1.7").expect("a file");
    assert!(verify(&nowhere, &known).1.contains("not signed"));
}
