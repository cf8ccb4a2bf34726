//! Mail domains, with a real name server.

use std::time::Duration;

use attestry_app::identity::mail_domains;
use attestry_domain::id::{MailDomainId, OrganizationId};
use attestry_hosting::testing::NameServer;
use attestry_tests::{Engine, Reply, Tenant, TestApp, id, run_with_name_server};
use serde_json::{Value, json};

macro_rules! with_name_server {
    ($($name:ident),* $(,)?) => {
        $(
            mod $name {
                #[test]
                fn sqlite() {
                    super::run(super::Engine::Sqlite, async |app, dns| super::$name(app, dns).await);
                }

                #[test]
                fn postgres() {
                    super::run(super::Engine::Postgres, async |app, dns| super::$name(app, dns).await);
                }
            }
        )*
    };
}

with_name_server! {
    a_domain_is_proved_by_its_record,
    a_record_that_vanishes_is_missed_after_a_while,
    another_organization_takes_a_lapsed_domain,
    a_cname_proves_nothing,
    a_name_server_that_is_silent_changes_nothing,
}

fn run(engine: Engine, body: impl AsyncFnOnce(&TestApp, NameServer)) {
    run_with_name_server(engine, &["acme.example"], body);
}

const PATH: &str = "/v1/organization/domains";

async fn own(app: &TestApp, tenant: &Tenant, method: &str, path: &str, body: Option<Value>) -> Reply {
    let token = app.sign_in(&tenant.email).await;
    let call = app.call(method, path).session(&token, &tenant.organization);
    match body {
        Some(body) => call.json(&body).send().await,
        None => call.send().await,
    }
}

async fn add(app: &TestApp, tenant: &Tenant, name: &str) -> Value {
    own(app, tenant, "POST", PATH, Some(json!({"name": name}))).await.expect(201)
}

async fn verify(app: &TestApp, tenant: &Tenant, domain: &Value) -> Reply {
    own(app, tenant, "POST", &format!("{PATH}/{}/verify", id(domain)), None).await
}

/// The line of a zone with the record of a domain.
fn record(domain: &Value) -> String {
    let record = &domain["record"];
    assert_eq!(
        (&record["type"], &record["name"]),
        (&json!("TXT"), &json!("_attestry-identity.acme.example"))
    );
    format!("_attestry-identity TXT \"{}\"", record["value"].as_str().expect("a value"))
}

/// Runs the daily check of one domain.
async fn check(app: &TestApp, tenant: &Tenant, domain: &Value) {
    let organization = OrganizationId::read(&tenant.organization).expect("an id");
    let domain = MailDomainId::read(id(domain)).expect("an id");
    mail_domains::check_again(&app.ctx, organization, domain).await.expect("checked");
}

async fn state(app: &TestApp, tenant: &Tenant, domain: &Value) -> Value {
    let call = app.call("GET", &format!("{PATH}/{}", id(domain))).key(&tenant.key);
    call.send().await.expect(200)["state"].clone()
}

async fn a_domain_is_proved_by_its_record(app: &TestApp, dns: NameServer) {
    let home = &app.home;
    for wrong in ["", "acme", "https://acme.example", "127.0.0.1", "a b.example"] {
        let reply = own(app, home, "POST", PATH, Some(json!({"name": wrong}))).await;
        reply.problem(400, "validation_failed");
    }
    let domain = add(app, home, "ACME.example").await;
    assert_eq!((&domain["name"], &domain["state"]), (&json!("acme.example"), &json!("pending")));
    own(app, home, "POST", PATH, Some(json!({"name": "acme.example"}))).await.problem(409, "domain_added");
    let missing = verify(app, home, &domain).await.expect(200);
    assert_eq!(missing["state"], "pending");
    assert_eq!(missing["reason"], "No TXT record is found at _attestry-identity.acme.example.");
    dns.set("acme.example", "_attestry-identity TXT \"something else\"").await.expect("set");
    let wrong = verify(app, home, &domain).await.expect(200);
    assert!(wrong["reason"].as_str().expect("a reason").contains("something else"), "{wrong}");
    // The record of a portal proves nothing here.
    dns.set("acme.example", &record(&domain).replace("_attestry-identity", "_attestry-challenge"))
        .await
        .expect("set");
    assert_eq!(verify(app, home, &domain).await.expect(200)["state"], "pending");
    // Another organization has another value.
    let other = app.tenant("Other", "bob@other.example").await;
    let theirs = add(app, &other, "acme.example").await;
    dns.set("acme.example", &record(&theirs)).await.expect("set");
    assert_eq!(verify(app, home, &domain).await.expect(200)["state"], "pending");
    dns.set("acme.example", &record(&domain)).await.expect("set");
    let proved = verify(app, home, &domain).await.expect(200);
    assert_eq!((&proved["state"], &proved["reason"]), (&json!("verified"), &Value::Null));
    assert_ne!(proved["verifiedAt"], Value::Null);
    verify(app, &other, &theirs).await.problem(409, "domain_taken");
    let log = app.get("/v1/audit-logs?entityType=mail_domain&order=asc").send().await.expect(200);
    let actions: Vec<&str> = log["data"]
        .as_array()
        .expect("entries")
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .collect();
    assert_eq!(actions, ["mail_domain.added", "mail_domain.verified"]);
    own(app, home, "DELETE", &format!("{PATH}/{}", id(&domain)), None).await.expect(200);
    app.mails().await;
}

async fn a_record_that_vanishes_is_missed_after_a_while(app: &TestApp, dns: NameServer) {
    let home = &app.home;
    let domain = add(app, home, "acme.example").await;
    dns.set("acme.example", &record(&domain)).await.expect("set");
    verify(app, home, &domain).await.expect(200);
    app.mails().await;
    dns.set("acme.example", "").await.expect("set");
    check(app, home, &domain).await;
    assert_eq!(state(app, home, &domain).await, "failing");
    let mails = app.mails().await;
    assert!(mails.iter().any(|mail| mail.subject.contains("acme.example") && mail.to_address == home.email));
    dns.set("acme.example", &record(&domain)).await.expect("set");
    check(app, home, &domain).await;
    assert_eq!(state(app, home, &domain).await, "verified");
    dns.set("acme.example", "").await.expect("set");
    check(app, home, &domain).await;
    app.clock.advance(Duration::from_hours(13 * 24));
    check(app, home, &domain).await;
    assert_eq!(state(app, home, &domain).await, "failing");
    app.clock.advance(Duration::from_hours(24));
    check(app, home, &domain).await;
    assert_eq!(state(app, home, &domain).await, "lapsed");
    app.mails().await;
}

async fn another_organization_takes_a_lapsed_domain(app: &TestApp, dns: NameServer) {
    let (home, other) = (&app.home, app.tenant("Other", "bob@other.example").await);
    let domain = add(app, home, "acme.example").await;
    dns.set("acme.example", &record(&domain)).await.expect("set");
    verify(app, home, &domain).await.expect(200);
    let theirs = add(app, &other, "acme.example").await;
    dns.set("acme.example", &record(&theirs)).await.expect("set");
    verify(app, &other, &theirs).await.problem(409, "domain_taken");
    check(app, home, &domain).await;
    app.clock.advance(Duration::from_hours(14 * 24));
    check(app, home, &domain).await;
    assert_eq!(state(app, home, &domain).await, "lapsed");
    assert_eq!(verify(app, &other, &theirs).await.expect(200)["state"], "verified");
    assert_eq!(verify(app, home, &domain).await.expect(200)["state"], "lost");
    app.mails().await;
}

async fn a_cname_proves_nothing(app: &TestApp, dns: NameServer) {
    let domain = add(app, &app.home, "acme.example").await;
    let zone = format!(
        "_attestry-identity CNAME elsewhere\n{}",
        record(&domain).replace("_attestry-identity", "elsewhere")
    );
    dns.set("acme.example", &zone).await.expect("set");
    assert_eq!(verify(app, &app.home, &domain).await.expect(200)["state"], "pending");
    app.work().await;
}

async fn a_name_server_that_is_silent_changes_nothing(app: &TestApp, dns: NameServer) {
    let mut dns = dns;
    let home = &app.home;
    let domain = add(app, home, "acme.example").await;
    dns.set("acme.example", &record(&domain)).await.expect("set");
    verify(app, home, &domain).await.expect(200);
    dns.stop().expect("stopped");
    verify(app, home, &domain).await.problem(502, "domain_check_failed");
    check(app, home, &domain).await;
    assert_eq!(state(app, home, &domain).await, "verified");
    app.take_warnings();
    app.mails().await;
}
