//! Against real peers: an SMTP server with STARTTLS, and PostgreSQL over TLS.

#![expect(clippy::expect_used, reason = "test code")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use attestry_db::{Config, Db};
use attestry_mail::{Error, Mailer, Message};
use tempfile::TempDir;

/// Creates a self-signed certificate for localhost.
fn certificate(folder: &Path) -> (String, String) {
    let (certificate, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .expect("openssl runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate.display().to_string(), key.display().to_string())
}

struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn message(to: &str) -> Message {
    Message {
        from_name: String::new(),
        id: "job_1".to_owned(),
        to_name: "Grace Höpper".to_owned(),
        to_address: to.to_owned(),
        subject: "Join Acme".to_owned(),
        text: "Hello Grace,\n\nhttps://example.com/?token=abc\n".to_owned(),
        html: "<p>Hello Grace</p>".to_owned(),
        unsubscribe: Some("https://attestry.example.com/unsubscribe?token=x".to_owned()),
    }
}

#[tokio::test]
async fn mail_goes_out_by_smtp_with_starttls_and_a_password() {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let folder = TempDir::new().expect("a folder");
    let inbox = TempDir::new().expect("a folder");
    let (certificate, key) = certificate(folder.path());
    let python = std::env::var("TEST_PYTHON").expect("TEST_PYTHON is not set: run `make test`");
    let script = "smtp-server.py";
    let mut child = Command::new(python)
        .arg(script)
        .arg(inbox.path())
        .args([&certificate, &key])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the SMTP server starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a port");
    let _peer = Peer(child);
    let port = line.trim();
    let from = "Attestry <attestry@example.com>";
    // The certificate is self-signed: the server must not be trusted.
    let strict = Mailer::smtp(&format!("smtp://attestry:secret@localhost:{port}?tls=required"), from)
        .expect("a mailer");
    assert!(matches!(strict.send(&message("grace@example.com")).await, Err(Error::Temporary(_))));
    let trusting = Mailer::smtp_trusting(
        &format!("smtp://attestry:secret@localhost:{port}?tls=required"),
        from,
        &certificate,
    )
    .expect("a mailer");
    trusting.check().await.expect("it answers");
    trusting.send(&message("grace@example.com")).await.expect("sent");
    let mail = std::fs::read_to_string(inbox.path().join("0.eml")).expect("the mail arrived");
    for part in [
        "Subject: Join Acme",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "attestry@example.com",
        "grace@example.com",
        "Auto-Submitted: auto-generated",
        "List-Unsubscribe: <https://attestry.example.com/unsubscribe?token=x>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ] {
        assert!(mail.contains(part), "{part} is missing in {mail}");
    }
    assert!(matches!(trusting.send(&message("x@refused.example")).await, Err(Error::Permanent(_))));
    assert!(matches!(trusting.send(&message("x@later.example")).await, Err(Error::Temporary(_))));
    let wrong = Mailer::smtp_trusting(
        &format!("smtp://attestry:wrong@localhost:{port}?tls=required"),
        from,
        &certificate,
    )
    .expect("a mailer");
    assert!(wrong.send(&message("grace@example.com")).await.is_err());
}

/// A second private cluster, with TLS on a port.
#[tokio::test]
async fn postgres_is_reached_over_tls_and_its_certificate_checked() {
    let folder = TempDir::new().expect("a folder");
    let (certificate, key) = certificate(folder.path());
    let script = "./postgres-tls";
    let mut child = Command::new(script)
        .args([&certificate, &key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a port");
    let port = line.trim().to_owned();
    let ask = async |parameters: &str| {
        let url = format!("postgres://attestry@localhost:{port}/postgres?{parameters}");
        let db = Db::open(&Config::Postgres { url, connections: 1 })?;
        db.read(async |t| t.one("SELECT CAST(CASE WHEN ssl THEN 1 ELSE 0 END AS BIGINT) FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[], |row| row.int(0)).await).await
    };
    assert_eq!(ask("sslmode=require").await.expect("connected"), 1);
    assert_eq!(ask("sslmode=prefer").await.expect("connected"), 1);
    assert_eq!(ask(&format!("sslmode=verify-full&sslrootcert={certificate}")).await.expect("connected"), 1);
    assert!(ask("sslmode=verify-full").await.is_err(), "nobody vouches for this certificate");
    assert!(ask("sslmode=disable").await.is_err(), "the server takes TLS only");
    assert!(ask("sslmode=perhaps").await.is_err());
    // Closing its standard input stops the cluster.
    drop(child.stdin.take());
    child.wait().expect("it ends");
}
