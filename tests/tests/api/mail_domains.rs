//! Mail domains, with a real name server.

use std::time::Duration;

use attestry_app::identity::mail_domains;
use attestry_domain::id::{MailDomainId, OrganizationId};
use attestry_hosting::testing::NameServer;
use attestry_mail::Message;
use attestry_tests::{Engine, Reply, TARGET, Tenant, TestApp, id, run_with_name_server};
use serde_json::{Value, json};

use crate::sso::{self, IDENTITIES, USERS, ada, count};

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
    record_of_the_portal_verifies_no_mail_domain,
    lapsed_domain_links_nobody,
    identities_end_with_a_lost_domain,
    daily_check_notices_a_lost_domain,
    a_name_server_that_is_silent_changes_nothing,
}

fn run(engine: Engine, body: impl AsyncFnOnce(&TestApp, NameServer)) {
    run_with_name_server(engine, &["acme.example", "example.com"], body);
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

async fn record_of_the_portal_verifies_no_mail_domain(app: &TestApp, dns: NameServer) {
    dns.set("example.com", "compliance A 192.0.2.1\n").await.expect("set");
    let home = &app.home;
    let domain = add(app, home, "trust.acme.example").await;
    let own = domain["record"]["value"].as_str().expect("a value");
    let status =
        async || app.get("/v1/trust-portal/domain/status?domain=trust.acme.example").send().await.expect(200);
    let asked = status().await;
    let records = asked["verification"].as_array().expect("records");
    let challenge = records.iter().find(|one| one["type"] == "TXT").expect("a record");
    assert_eq!(challenge["domain"], "_attestry-challenge.trust.acme.example");
    let portals = challenge["value"].as_str().expect("a value");
    let way = format!("trust CNAME {TARGET}.\n");
    let missing = "No TXT record is found at _attestry-identity.trust.acme.example.";
    for (zone, reason) in [
        (format!("{way}_attestry-challenge.trust TXT \"{portals}\"\n"), missing),
        (format!("{way}_attestry-challenge.trust TXT \"{own}\"\n"), missing),
        (format!("{way}_attestry-identity.trust TXT \"{portals}\"\n"), portals),
        (
            format!(
                "{way}_attestry-challenge.trust TXT \"{own}\"\n_attestry-identity.trust CNAME _attestry-challenge.trust\n"
            ),
            missing,
        ),
    ] {
        dns.set("acme.example", &zone).await.expect("set");
        let found = verify(app, home, &domain).await.expect(200);
        assert_eq!(found["state"], "pending", "{zone}");
        assert!(found["reason"].as_str().is_some_and(|text| text.contains(reason)), "{zone}: {found}");
    }
    // The record of the mail domain verifies no portal.
    let zone =
        format!("{way}_attestry-challenge.trust TXT \"{own}\"\n_attestry-identity.trust TXT \"{own}\"\n");
    dns.set("acme.example", &zone).await.expect("set");
    assert_eq!(status().await["verified"], false);
    assert_eq!(verify(app, home, &domain).await.expect(200)["state"], "verified");
    app.mails().await;
}

/// The only mail domain of the home organization, as if its record had been found. What the operator answers for needs
/// none.
async fn only_domain(app: &TestApp) -> Value {
    let all = app.get(PATH).send().await.expect(200);
    let [domain] = all["data"].as_array().expect("domains").as_slice() else { panic!("not one: {all}") };
    check(app, &app.home, domain).await;
    assert_eq!(state(app, &app.home, domain).await, "verified");
    let sql = "UPDATE mail_domains SET is_by_operator = FALSE";
    app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("changed");
    domain.clone()
}

/// Lets a domain lapse, whose record is missing.
async fn lapse(app: &TestApp, domain: &Value) {
    check(app, &app.home, domain).await;
    assert_eq!(state(app, &app.home, domain).await, "failing");
    app.clock.advance(Duration::from_hours(14 * 24));
    check(app, &app.home, domain).await;
    assert_eq!(state(app, &app.home, domain).await, "lapsed");
}

async fn lapsed_domain_links_nobody(app: &TestApp, _dns: NameServer) {
    let on = sso::set_up(app).await;
    let domain = only_domain(app).await;
    app.member(&app.home, "carol@acme.example", "admin").await;
    on.sign_in(ada("eve@acme.example")).await.opened();
    let offered = async || {
        let call = app.call("POST", "/v1/auth/sign-in-methods").json(&json!({"email": "x@acme.example"}));
        call.send().await.expect(200)["sso"].clone()
    };
    check(app, &app.home, &domain).await;
    assert_eq!(state(app, &app.home, &domain).await, "failing");
    // It still counts.
    on.sign_in(ada("bob@acme.example")).await.opened();
    assert_ne!(offered().await, Value::Null);
    lapse(app, &domain).await;
    let (users, identities) = (count(app, USERS).await, count(app, IDENTITIES).await);
    // Neither a stranger is added, nor a member linked.
    for email in ["dora@acme.example", "carol@acme.example"] {
        on.sign_in(ada(email)).await.refused("sso_domain_not_verified");
    }
    assert_eq!((count(app, USERS).await, count(app, IDENTITIES).await), (users, identities));
    assert_eq!(offered().await, Value::Null);
    // Who is linked still signs in.
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    on.people(&eve).await.expect(200);
    app.mails().await;
}

/// Gives the domain of the home organization to another one, after it lapsed.
async fn take_over(app: &TestApp, dns: &NameServer, domain: &Value) {
    let other = app.tenant("Other", "bob@other.example").await;
    let theirs = add(app, &other, "acme.example").await;
    dns.set("acme.example", &record(&theirs)).await.expect("set");
    lapse(app, domain).await;
    assert_eq!(verify(app, &other, &theirs).await.expect(200)["state"], "verified");
    app.mails().await;
}

async fn identities_end_with_a_lost_domain(app: &TestApp, dns: NameServer) {
    let on = sso::set_up(app).await;
    let domain = only_domain(app).await;
    // An identity with an address of another domain, which its user linked.
    let start = on.ticket(&on.owner, "link").await.expect(200);
    let start = start["startUrl"].as_str().expect("an address");
    on.round(&on.owner, start, ada("ada@example.com")).await;
    on.sign_in(ada("eve@acme.example")).await.opened();
    take_over(app, &dns, &domain).await;
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    on.people(&eve).await.expect(200);
    assert_eq!(count(app, IDENTITIES).await, 2);
    app.mails().await;
    check(app, &app.home, &domain).await;
    assert_eq!(state(app, &app.home, &domain).await, "lost");
    let mails = app.mails().await;
    let is_told = |mail: &Message| {
        mail.to_address == app.home.email && mail.subject == "The domain acme.example was lost"
    };
    assert!(mails.iter().any(is_told), "{mails:?}");
    assert_eq!(count(app, IDENTITIES).await, 1);
    on.people(&eve).await.problem(403, "not_a_member");
    on.sign_in(ada("eve@acme.example")).await.refused("sso_domain_not_verified");
    on.sign_in(ada("ada@example.com")).await.opened();
    app.mails().await;
}

/// Nobody has to look at a domain for its loss to be noticed.
async fn daily_check_notices_a_lost_domain(app: &TestApp, dns: NameServer) {
    let on = sso::set_up(app).await;
    let domain = only_domain(app).await;
    on.sign_in(ada("eve@acme.example")).await.opened();
    take_over(app, &dns, &domain).await;
    app.housekeeping().await;
    assert_eq!(state(app, &app.home, &domain).await, "lost");
    assert_eq!(count(app, IDENTITIES).await, 0);
    app.mails().await;
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
