//! The directory: what an identity provider sends by SCIM, in the shapes of Entra ID and Okta, and what people set.

use std::process::Command;
use std::time::Duration;

use attestry_app::identity::mail_domains;
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::members::{Member, NewMember};
use attestry_domain::identity::users::User;
use attestry_domain::portals::DomainName;
use attestry_domain::text::Parse;
use attestry_domain::words::Department;
use attestry_storage::{members, users};
use attestry_tests::{Call, PASSWORD, Reply, Tenant, TestApp, both, id, merged};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::auth::dump;
use crate::events::{EVENTS, Stream};
use crate::second_factors::enrol;

both! {
    a_token_needs_a_domain_and_a_way_in,
    people_are_kept_in_step,
    password_attribute_is_nowhere,
    a_deleted_person_comes_back_as_the_same_member,
    members_are_adopted_and_the_exempt_are_invisible,
    deactivation_ends_sessions_keys_and_streams,
    whom_the_organization_suspends_stays_out,
    an_account_that_was_never_verified_loses_its_password,
    addresses_are_of_verified_domains_and_unique,
    entra_is_understood,
    entra_with_and_without_its_flag_is_answered_alike,
    okta_is_understood,
    okta_deactivates_without_a_path,
    lists_are_filtered_and_paged,
    groups_give_roles,
    mapping_beyond_own_permissions_is_refused,
    a_directory_that_is_given_up_binds_nobody,
    what_the_directory_keeps_out_stays_out_by_every_way,
    members_of_a_group_change_one_by_one,
    thousand_members_at_once_from_two_clients_are_all_in_the_group,
    errors_have_the_shape_of_scim,
    what_somebody_had_is_handed_over_and_given_back,
    owners_hear_of_expiring_tokens_and_of_silence,
    requests_are_kept_for_people_to_look_at,
    password_attribute_is_not_in_the_log_of_requests,
    the_access_review_names_every_way_in,
    the_reference_tester_finds_no_error,
}

const SCIM: &str = "/scim/v2";
const SETTINGS: &str = "/v1/organization/directory";

/// An identity provider with a token, and the owner who made it.
pub(crate) struct Provider<'a> {
    app: &'a TestApp,
    tenant: Tenant,
    /// The owner's session.
    owner: String,
    pub(crate) token: String,
}

async fn verify(app: &TestApp, tenant: &Tenant, domain: &str) {
    let organization = OrganizationId::read(&tenant.organization).expect("an id");
    let name = DomainName::parse(domain).expect("a domain");
    mail_domains::verify_by_operator(&app.ctx, organization, &name).await.expect("verified");
}

impl<'a> Provider<'a> {
    /// Sets an organization up for a directory.
    pub(crate) async fn of(app: &'a TestApp, tenant: &Tenant, domain: &str) -> Self {
        let owner = enrol(app, tenant, &tenant.email).await.token;
        verify(app, tenant, domain).await;
        let mut provider = Self { app, tenant: tenant.clone(), owner, token: String::new() };
        let exempt = json!({"isExempt": true});
        provider.own("PATCH", &format!("/v1/people/{}", tenant.member), exempt).await.expect(200);
        let made = provider.own("POST", &format!("{SETTINGS}/tokens"), json!({"name": "Entra ID"})).await;
        made.expect(201)["token"].as_str().expect("a token").clone_into(&mut provider.token);
        app.mails().await;
        provider
    }

    /// Calls as the owner.
    async fn own(&self, method: &str, path: &str, body: Value) -> Reply {
        let call = self.app.call(method, path).session(&self.owner, &self.tenant.organization);
        if body.is_null() { call.send().await } else { call.json(&body).send().await }
    }

    fn call(&self, method: &str, path: &str) -> Call<'a> {
        let call = self.app.call(method, &format!("{SCIM}{path}"));
        call.header("authorization", &format!("Bearer {}", self.token))
    }

    async fn get(&self, path: &str) -> Reply {
        self.call("GET", path).send().await
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.call(method, path).raw("application/scim+json", body.to_string()).send().await
    }

    async fn add(&self, email: &str) -> Value {
        self.send("POST", "/Users", &person(email)).await.expect(201)
    }

    async fn patch(&self, path: &str, operations: Value) -> Reply {
        let body =
            json!({"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": operations});
        self.send("PATCH", path, &body).await
    }

    async fn set_active(&self, person: &Value, is_active: bool) -> Value {
        let path = format!("/Users/{}", id(person));
        self.patch(&path, json!([{"op": "replace", "path": "active", "value": is_active}])).await.expect(200)
    }

    async fn member(&self, person: &Value) -> Value {
        let path = format!("/v1/people/{}", id(person));
        self.app.call("GET", &path).key(&self.tenant.key).send().await.expect(200)
    }
}

/// Fills a directory with one entity of every kind, and lets somebody leave a risk behind.
pub(crate) async fn fill(app: &TestApp, risk: &str) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    let group = json!({"displayName": "Compliance", "members": [{"value": id(&eve)}]});
    idp.send("POST", "/Groups", &group).await.expect(201);
    let assigned = json!({"assigneeId": id(&eve)});
    app.patch(&format!("/v1/risks/{risk}"), &assigned).send().await.expect(200);
    idp.set_active(&eve, false).await;
}

fn person(email: &str) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": email, "externalId": format!("x {email}"),
        "name": {"givenName": "Eve", "familyName": "Doe"}, "active": true,
        "emails": [{"value": email, "type": "work", "primary": true}]
    })
}

/// Checks a failure of SCIM.
#[track_caller]
fn failed(reply: &Reply, status: u16, kind: Option<&str>) {
    let body = reply.expect(status);
    assert_eq!(reply.header("content-type"), Some("application/scim+json"));
    assert_eq!(body["schemas"], json!(["urn:ietf:params:scim:api:messages:2.0:Error"]));
    assert_eq!((&body["status"], body["scimType"].as_str()), (&json!(status.to_string()), kind), "{body}");
    assert!(body["detail"].as_str().is_some_and(|detail| detail.ends_with('.')), "{body}");
}

async fn a_token_needs_a_domain_and_a_way_in(app: &TestApp) {
    let owner = enrol(app, &app.home, &app.home.email).await.token;
    let make = async || {
        let call = app.call("POST", &format!("{SETTINGS}/tokens")).session(&owner, &app.home.organization);
        call.json(&json!({"name": "Okta"})).send().await
    };
    make().await.problem(409, "domain_required");
    verify(app, &app.home, "acme.example").await;
    make().await.problem(409, "break_glass_required");
    let own = format!("/v1/people/{}", app.home.member);
    let exempt = async |is_exempt: bool| {
        let call = app.call("PATCH", &own).session(&owner, &app.home.organization);
        call.json(&json!({"isExempt": is_exempt})).send().await
    };
    exempt(true).await.expect(200);
    let first = make().await.expect(201);
    make().await.expect(201);
    make().await.problem(409, "too_many_tokens");
    // The owner stays a way in as long as there are tokens.
    exempt(false).await.problem(409, "break_glass_required");
    let shown = app.get(&format!("{SETTINGS}/tokens")).send().await.expect(200);
    assert_eq!(shown["count"], 2);
    assert!(!shown.to_string().contains("ats_"), "a token is shown once");
    let token = first["token"].as_str().expect("a token");
    let ask = async || {
        let call = app.call("GET", "/scim/v2/Users").header("authorization", &format!("Bearer {token}"));
        call.send().await
    };
    ask().await.expect(200);
    app.write_touches();
    let state = app.get(SETTINGS).send().await.expect(200);
    assert_eq!((&state["isActive"], &state["defaultRole"]), (&json!(true), &json!("employee")));
    let path = format!("{SETTINGS}/tokens/{}", id(&first));
    let revoke = app.call("DELETE", &path).session(&owner, &app.home.organization);
    revoke.send().await.expect(200);
    failed(&ask().await, 401, None);
    // An administrator reads, and changes nothing.
    app.member(&app.home, "bob@acme.example", "admin").await;
    let bob = app.sign_in("bob@acme.example").await;
    let call = |method: &str, path: &str| app.call(method, path).session(&bob, &app.home.organization);
    call("GET", SETTINGS).send().await.expect(200);
    let refused = call("POST", &format!("{SETTINGS}/tokens")).json(&json!({"name": "x"})).send().await;
    refused.problem(403, "forbidden");
    // Nobody becomes an owner by the directory.
    let call = app.call("PATCH", SETTINGS).session(&owner, &app.home.organization);
    assert_eq!(call.json(&json!({"defaultRole": "owner"})).send().await.wrong_fields(), ["defaultRole"]);
    let expired = json!({"name": "x", "expiresAt": "2020-01-01T00:00:00Z"});
    let call = app.call("POST", &format!("{SETTINGS}/tokens")).session(&owner, &app.home.organization);
    assert_eq!(call.json(&expired).send().await.wrong_fields(), ["expiresAt"]);
    app.mails().await;
}

async fn people_are_kept_in_step(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let before = app.entries(&app.home).await;
    let reply = idp.send("POST", "/Users", &person("Eve@Acme.example")).await;
    let eve = reply.expect(201);
    let address = eve["meta"]["location"].as_str().expect("an address");
    assert_eq!(reply.header("location"), Some(address));
    assert_eq!(reply.header("etag"), Some("W/\"1\""));
    assert_eq!((&eve["userName"], &eve["active"]), (&json!("Eve@Acme.example"), &json!(true)));
    assert_eq!(eve.get("groups"), None, "what is absent is absent");
    let member = idp.member(&eve).await;
    assert_eq!((&member["role"], &member["isActive"]), (&json!("employee"), &json!(true)));
    assert_eq!(member["user"]["name"], "Eve Doe");
    assert_eq!(app.mails().await.len(), 0, "nobody is told");
    // The member, and what the directory says of them.
    assert_eq!(app.entries(&app.home).await, before + 2);
    let log = app.get("/v1/audit-logs?entityType=directory_user").send().await.expect(200);
    assert_eq!(
        (&log["data"][0]["action"], &log["data"][0]["actor"]["type"]),
        (&json!("directory_user.created"), &json!("directory"))
    );
    assert!(!log.to_string().contains("ats_"));
    let path = format!("/Users/{}", id(&eve));
    let same = idp.get(&path).await;
    assert_eq!(same.expect(200), eve);
    let known = idp.call("GET", &path).header("if-none-match", "W/\"1\"").send().await;
    assert_eq!(known.status, 304);
    // The same again changes nothing.
    let before = app.entries(&app.home).await;
    idp.send("PUT", &path, &person("Eve@Acme.example")).await.expect(200);
    assert_eq!(app.entries(&app.home).await, before);
    // A replacement without `active` leaves it.
    idp.set_active(&eve, false).await;
    assert_eq!(idp.member(&eve).await["isActive"], false);
    let mut replaced = person("Eve@Acme.example");
    replaced.as_object_mut().expect("an object").remove("active");
    replaced["displayName"] = json!("Eve D.");
    replaced["password"] = json!("a secret that is nowhere");
    let after = idp.send("PUT", &path, &replaced).await.expect(200);
    assert_eq!((&after["active"], &after["displayName"]), (&json!(false), &json!("Eve D.")));
    assert_eq!(idp.member(&eve).await["isActive"], false);
    assert_eq!(idp.member(&eve).await["user"]["name"], "Eve D.");
    let all = app.get("/v1/audit-logs?limit=200").send().await.expect(200);
    assert!(!all.to_string().contains("nowhere") && !after.to_string().contains("nowhere"));
    let stale = idp.call("PUT", &path).header("if-match", "W/\"1\"");
    let stale = stale.raw("application/scim+json", person("eve@acme.example").to_string()).send().await;
    failed(&stale, 412, None);
    assert_eq!(idp.set_active(&eve, true).await["active"], true);
    assert_eq!(idp.member(&eve).await["isActive"], true);
    // A new address moves the account.
    let moved =
        json!([{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "eve.doe@acme.example"}]);
    idp.patch(&path, moved).await.expect(200);
    assert_eq!(idp.member(&eve).await["user"]["email"], "eve.doe@acme.example");
    app.mails().await;
}

async fn password_attribute_is_nowhere(app: &TestApp) {
    const SECRET: &str = "1mz050nq-a-password-of-the-directory";
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let with = |value: Value| merged(person("eve@acme.example"), value);
    let created = idp.send("POST", "/Users", &with(json!({"password": SECRET}))).await.expect(201);
    let path = format!("/Users/{}", id(&created));
    let mut shown = vec![created];
    for body in
        [json!({"PassWord": SECRET}), json!({"password": [SECRET]}), json!({"password": {"value": SECRET}})]
    {
        shown.push(idp.send("PUT", &path, &merged(with(body), json!({"title": "CISO"}))).await.expect(200));
    }
    for operation in [
        json!({"op": "add", "path": "password", "value": SECRET}),
        json!({"op": "replace", "path": "password", "value": SECRET}),
        json!({"op": "replace", "path": "urn:ietf:params:scim:schemas:core:2.0:User:password", "value": SECRET}),
        json!({"op": "Replace", "value": {"password": SECRET, "title": "CEO"}}),
    ] {
        shown.push(idp.patch(&path, json!([operation])).await.expect(200));
    }
    shown.push(idp.get(&path).await.expect(200));
    shown.push(idp.get("/Users?attributes=userName,password").await.expect(200));
    for answer in shown {
        assert!(!answer.to_string().to_lowercase().contains("password"), "{answer}");
    }
    let log = app.get("/v1/audit-logs?limit=200").send().await.expect(200);
    assert!(!log.to_string().contains(SECRET), "{log}");
    let sql = "SELECT resource FROM directory_users";
    let stored = app.ctx.db.read(async move |t| t.all(sql, &[], |row| row.text(0)).await).await;
    let stored: Vec<String> = stored.map_err(|error: attestry_db::Error| error).expect("rows");
    let [resource] = stored.as_slice() else { panic!("not one person but {}", stored.len()) };
    assert!(resource.contains("CEO") && !resource.to_lowercase().contains("password"), "{resource}");
    assert!(!dump(app).await.contains(SECRET), "the password is in the database");
    // It does not sign in either.
    let login = json!({"email": "eve@acme.example", "password": SECRET});
    app.call("POST", "/v1/auth/login").json(&login).send().await.problem(401, "invalid_credentials");
    assert!(app.take_warnings().iter().all(|line| !line.contains(SECRET)));
    app.mails().await;
}

async fn a_deleted_person_comes_back_as_the_same_member(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    let path = format!("/Users/{}", id(&eve));
    assert_eq!(idp.call("DELETE", &path).send().await.status, 204);
    assert_eq!(idp.member(&eve).await["isActive"], false);
    failed(&idp.get(&path).await, 404, None);
    failed(&idp.call("DELETE", &path).send().await, 404, None);
    failed(&idp.patch(&path, json!([{"op": "replace", "path": "title", "value": "x"}])).await, 404, None);
    assert_eq!(
        idp.get("/Users?filter=userName%20eq%20%22eve%40acme.example%22").await.expect(200)["totalResults"],
        0
    );
    let back = idp.add("eve@acme.example").await;
    assert_eq!(id(&back), id(&eve));
    assert_eq!(idp.member(&eve).await["isActive"], true);
    app.mails().await;
}

async fn members_are_adopted_and_the_exempt_are_invisible(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "example.com").await;
    let bob = app.member(&app.home, "bob@example.com", "auditor").await;
    app.member(&app.home, "carol@elsewhere.example", "admin").await;
    let invited = app.post("/v1/people/invite", &json!({"email": "dora@example.com", "role": "admin"}));
    invited.send().await.expect(201);
    let link = attestry_tests::token_in(&app.mails().await);
    // The owner has an address of the domain, too, and is exempt; Carol's domain is another one.
    let all = idp.get("/Users").await.expect(200);
    let names: Vec<&Value> =
        all["Resources"].as_array().expect("people").iter().map(|one| &one["userName"]).collect();
    assert_eq!(names, ["bob@example.com", "dora@example.com"]);
    failed(&idp.get(&format!("/Users/{}", app.home.member)).await, 404, None);
    failed(&idp.send("POST", "/Users", &person("ada@example.com")).await, 409, Some("uniqueness"));
    let adopted = idp.add("Bob@example.com").await;
    assert_eq!(id(&adopted), id(&bob));
    assert_eq!(idp.member(&bob).await["role"], "auditor", "no group says anything else");
    failed(&idp.send("POST", "/Users", &person("bob@example.com")).await, 409, Some("uniqueness"));
    // An invitation is accepted with its role.
    let dora = idp.add("dora@example.com").await;
    let member = idp.member(&dora).await;
    assert_eq!((&member["role"], &member["isActive"]), (&json!("admin"), &json!(true)));
    app.accept(&link).await.problem(410, "invitation_expired");
    // Another organization's people are not there, and its token sees others.
    let other = app.tenant("Other", "zoe@other.example").await;
    let theirs = Provider::of(app, &other, "other.example").await;
    failed(&theirs.get(&format!("/Users/{}", id(&bob))).await, 404, None);
    assert_eq!(theirs.get("/Users").await.expect(200)["totalResults"], 0);
    failed(&theirs.send("POST", "/Users", &person("x@example.com")).await, 400, Some("invalidValue"));
    app.mails().await;
}

async fn deactivation_ends_sessions_keys_and_streams(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let bob = app.member(&app.home, "bob@acme.example", "admin").await;
    let session = app.sign_in("bob@acme.example").await;
    let key = app.call("POST", "/v1/organization/api-keys").session(&session, &app.home.organization);
    let key = key.json(&json!({"name": "nightly"})).send().await.expect(201);
    let key = key["key"].as_str().expect("a key").to_owned();
    let mut stream = Stream::open(app.call("GET", EVENTS).key(&key)).await;
    app.call("GET", "/v1/risks").key(&key).send().await.expect(200);
    app.call("GET", "/v1/risks").session(&session, &app.home.organization).send().await.expect(200);
    idp.add("bob@acme.example").await;
    idp.set_active(&bob, false).await;
    app.call("GET", "/v1/risks").key(&key).send().await.problem(401, "invalid_api_key");
    let ended = app.call("GET", "/v1/risks").session(&session, &app.home.organization).send().await;
    assert!(ended.status == 401 || ended.status == 403, "{}", ended.text());
    while stream.next().await.is_some() {}
    app.call("POST", "/v1/auth/login")
        .json(&json!({"email": "bob@acme.example", "password": PASSWORD}))
        .send()
        .await
        .problem(403, "no_active_membership");
    app.mails().await;
}

async fn whom_the_organization_suspends_stays_out(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    let path = format!("/v1/people/{}", id(&eve));
    app.delete(&path).send().await.expect(200);
    // The directory still says yes, and it changes nothing.
    assert_eq!(idp.set_active(&eve, true).await["active"], true);
    idp.patch(&format!("/Users/{}", id(&eve)), json!([{"op": "add", "path": "title", "value": "CISO"}]))
        .await
        .expect(200);
    assert_eq!(idp.member(&eve).await["isActive"], false);
    app.patch(&path, &json!({"isActive": true})).send().await.expect(200);
    assert_eq!(idp.member(&eve).await["isActive"], true);
    // Whom the directory keeps out is brought back by nobody else.
    idp.set_active(&eve, false).await;
    app.patch(&path, &json!({"isActive": true})).send().await.problem(409, "managed_by_directory");
    app.patch(&path, &json!({"role": "auditor"})).send().await.expect(200);
    assert_eq!(idp.member(&eve).await["role"], "auditor");
    app.mails().await;
}

async fn an_account_that_was_never_verified_loses_its_password(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    // Somebody else has made an account with the address, in an organization of their own.
    let other = app.tenant("Other", "zoe@other.example").await;
    app.member(&other, "eve@acme.example", "admin").await;
    let sql = "UPDATE users SET email_verified = FALSE WHERE email_key = 'eve@acme.example'";
    app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("changed");
    let session = app.sign_in("eve@acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    let call = app.call("GET", "/v1/risks").session(&session, &app.home.organization);
    call.send().await.problem(401, "invalid_session");
    let login = json!({"email": "eve@acme.example", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&login).send().await.problem(401, "invalid_credentials");
    // The account keeps the name that others see.
    assert_ne!(idp.member(&eve).await["user"]["name"], "Eve Doe");
    app.mails().await;
}

async fn addresses_are_of_verified_domains_and_unique(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    for body in [
        person("eve@elsewhere.example"),
        person("eve@sub.acme.example"),
        json!({"userName": "eve"}),
        json!({"userName": "eve", "emails": [{"value": "nonsense"}]}),
        json!({"emails": [{"value": "eve@acme.example"}]}),
        json!({"userName": 3}),
    ] {
        failed(&idp.send("POST", "/Users", &body).await, 400, Some("invalidValue"));
    }
    let eve = idp.add("Eve@acme.example").await;
    failed(&idp.send("POST", "/Users", &person("eve@ACME.example")).await, 409, Some("uniqueness"));
    let same_id = merged(person("bob@acme.example"), json!({"externalId": "x Eve@acme.example"}));
    failed(&idp.send("POST", "/Users", &same_id).await, 409, Some("uniqueness"));
    let bob = idp.add("bob@acme.example").await;
    let path = format!("/Users/{}", id(&bob));
    let rename = json!([{"op": "replace", "path": "userName", "value": "EVE@acme.example"}]);
    failed(&idp.patch(&path, rename).await, 409, Some("uniqueness"));
    let away = json!([{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "bob@elsewhere.example"}]);
    failed(&idp.patch(&path, away).await, 400, Some("invalidValue"));
    let taken =
        json!([{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "eve@acme.example"}]);
    failed(&idp.patch(&path, taken).await, 409, Some("uniqueness"));
    assert_eq!(idp.get(&path).await.expect(200), bob, "nothing of it was kept");
    assert_eq!(idp.get(&format!("/Users/{}", id(&eve))).await.expect(200), eve);
    app.mails().await;
}

async fn entra_is_understood(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    // The connection test asks for somebody who does not exist.
    let nobody = "/Users?filter=userName+eq+%220e0dd1a3-9d5a-4d5c-a7e4-3b7a3a4b6a3f%22";
    let found = idp.get(nobody).await.expect(200);
    assert_eq!((&found["totalResults"], &found["Resources"]), (&json!(0), &json!([])));
    let body = json!({
        "schemas": [
            "urn:ietf:params:scim:schemas:core:2.0:User", "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
        ],
        "externalId": "0a21f0f2", "userName": "eve@acme.example", "active": true, "displayName": "Eve Doe",
        "emails": [{"primary": true, "type": "work", "value": "eve@acme.example"}],
        "meta": {"resourceType": "User"}, "name": {"formatted": "Eve Doe", "familyName": "Doe", "givenName": "Eve"},
        "roles": [], "phoneNumbers": [{"type": "mobile", "value": "1"}],
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": {"department": "IT", "manager": {"value": "x"}}
    });
    let eve = idp.send("POST", "/Users", &body).await.expect(201);
    assert_eq!(eve.get("roles"), None);
    let path = format!("/Users/{}", id(&eve));
    let by_external = idp.get("/Users?filter=externalId+eq+%220a21f0f2%22").await.expect(200);
    assert_eq!(by_external["Resources"][0]["id"], eve["id"]);
    // Several values at once; a path-less operation with dotted keys; and the words for booleans.
    let changed = idp.patch(&path, json!([
        {"op": "Replace", "path": "emails[type eq \"work\"].value", "value": "eve.doe@acme.example"},
        {"op": "Replace", "path": "name.familyName", "value": "Döe"},
        {"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "Sales"},
        {"op": "Add", "path": "addresses[type eq \"work\"].streetAddress", "value": "1 Main St"},
        {"op": "Add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager", "value": "x"},
        {"op": "Replace", "value": {"displayName": "Eve Döe", "name.givenName": "Éve"}}
    ]));
    let changed = changed.await.expect(200);
    assert_eq!(
        changed["emails"],
        json!([{"primary": true, "type": "work", "value": "eve.doe@acme.example"}])
    );
    assert_eq!(changed["name"], json!({"formatted": "Eve Doe", "familyName": "Döe", "givenName": "Éve"}));
    assert_eq!(
        changed["urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],
        json!({"department": "Sales"})
    );
    let off =
        idp.patch(&path, json!([{"op": "Replace", "path": "active", "value": "False"}])).await.expect(200);
    assert_eq!(off["active"], false);
    idp.patch(&path, json!([{"op": "Replace", "value": {"active": true}}])).await.expect(200);
    assert_eq!(idp.member(&eve).await["isActive"], true);
    // Groups with the schema that Entra adds.
    let group = json!({
        "schemas": [
            "urn:ietf:params:scim:schemas:core:2.0:Group", "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"
        ],
        "externalId": "8aa1a0c0", "displayName": "Compliance", "meta": {"resourceType": "Group"}
    });
    let group = idp.send("POST", "/Groups", &group).await.expect(201);
    let group_path = format!("/Groups/{}", id(&group));
    let add = json!([{"op": "Add", "path": "members", "value": [{"$ref": null, "value": id(&eve)}]}]);
    assert_eq!(idp.patch(&group_path, add).await.status, 204);
    let lean = idp.get(&format!("{group_path}?excludedAttributes=members")).await.expect(200);
    assert_eq!(lean.get("members"), None);
    let listed = idp.get("/Groups?excludedAttributes=members&filter=displayName+eq+%22compliance%22").await;
    assert_eq!(listed.expect(200)["Resources"][0]["id"], group["id"]);
    assert_eq!(idp.get(&group_path).await.expect(200)["members"][0]["value"], eve["id"]);
    assert_eq!(idp.get(&path).await.expect(200)["groups"][0]["display"], "Compliance");
    let rename = json!([{"op": "Replace", "path": "displayName", "value": "Risk"}]);
    assert_eq!(idp.patch(&group_path, rename).await.status, 204);
    let without = json!([{"op": "Remove", "path": "members", "value": [{"value": id(&eve)}]}]);
    assert_eq!(idp.patch(&group_path, without).await.status, 204);
    let after = idp.get(&group_path).await.expect(200);
    assert_eq!((&after["displayName"], after.get("members")), (&json!("Risk"), None));
    assert_eq!(idp.call("DELETE", &group_path).send().await.status, 204);
    failed(&idp.get(&group_path).await, 404, None);
    app.mails().await;
}

/// Sends what Entra ID sends about a person and a group; `flag` is the query that the base URL ends with. Returns the
/// answers, with placeholders for ids and for the name.
async fn answers_to_entra(idp: &Provider<'_>, name: &str, flag: &str) -> Vec<(u16, String)> {
    let flagged = |path: &str| match (flag.is_empty(), path.contains('?')) {
        (true, _) => path.to_owned(),
        (false, true) => format!("{path}&{flag}"),
        (false, false) => format!("{path}?{flag}"),
    };
    let send = async |method: &str, path: &str, body: Value| match body {
        Value::Null => idp.call(method, &flagged(path)).send().await,
        body => idp.send(method, &flagged(path), &body).await,
    };
    let patch = async |path: &str, operations: Value| {
        let schema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
        send("PATCH", path, json!({"schemas": [schema], "Operations": operations})).await
    };
    let get = async |path: &str| send("GET", path, Value::Null).await;
    let unknown = "/Users?filter=userName+eq+%220e0dd1a3-9d5a-4d5c-a7e4-3b7a3a4b6a3f%22";
    let mut replies = vec![get(unknown).await];
    let eve = send("POST", "/Users", person(&format!("{name}@acme.example"))).await;
    let eve_id = id(&eve.expect(201)).to_owned();
    let path = format!("/Users/{eve_id}");
    replies.extend([
        eve,
        get(&path).await,
        get(&format!("/Users?filter=userName+eq+%22{name}%40acme.example%22")).await,
        get(&format!("/Users?filter=externalId+eq+%22x+{name}%40acme.example%22")).await,
        patch(&path, json!([{"op": "Add", "path": "title", "value": "CISO"}])).await,
        patch(&path, json!([{"op": "Replace", "path": "name.familyName", "value": "Roe"}])).await,
        // Older clients write the words of booleans, newer ones booleans.
        patch(&path, json!([{"op": "Replace", "path": "active", "value": "False"}])).await,
        patch(&path, json!([{"op": "replace", "path": "active", "value": true}])).await,
        patch(&path, json!([{"op": "replace", "path": "active", "value": false}])).await,
        patch(&path, json!([{"op": "Replace", "value": {"active": true, "displayName": "Eve"}}])).await,
        patch(&path, json!([{"op": "Replace", "path": "shoeSize", "value": 3}])).await,
    ]);
    let group =
        send("POST", "/Groups", json!({"externalId": format!("g {name}"), "displayName": name})).await;
    let group_id = id(&group.expect(201)).to_owned();
    let of_group = format!("/Groups/{group_id}");
    let members = json!([{"$ref": null, "value": eve_id}]);
    replies.extend([
        group,
        get(&format!("{of_group}?excludedAttributes=members")).await,
        get(&format!("/Groups?excludedAttributes=members&filter=displayName+eq+%22{name}%22")).await,
        patch(&of_group, json!([{"op": "Add", "path": "members", "value": members}])).await,
        get(&of_group).await,
        // Older clients name the member in the value, newer ones in the path.
        patch(&of_group, json!([{"op": "Remove", "path": "members", "value": members}])).await,
        patch(&of_group, json!([{"op": "add", "path": "members", "value": members}])).await,
        patch(&of_group, json!([{"op": "remove", "path": format!("members[value eq \"{eve_id}\"]")}])).await,
        get(&of_group).await,
        patch(&of_group, json!([{"op": "replace", "path": "displayName", "value": format!("{name} 2")}]))
            .await,
        send("DELETE", &of_group, Value::Null).await,
        get(&of_group).await,
        send("DELETE", &path, Value::Null).await,
        get(&path).await,
    ]);
    let plain = |reply: Reply| {
        let text = reply.text().replace(&eve_id, "EVE").replace(&group_id, "GROUP").replace(name, "NAME");
        (reply.status.as_u16(), text)
    };
    replies.into_iter().map(plain).collect()
}

async fn entra_with_and_without_its_flag_is_answered_alike(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let without = answers_to_entra(&idp, "qx1", "").await;
    let statuses: Vec<u16> = without.iter().map(|(status, _)| *status).collect();
    assert_eq!(
        statuses,
        [
            200, 201, 200, 200, 200, 200, 200, 200, 200, 200, 200, 400, 201, 200, 200, 204, 200, 204, 204,
            204, 200, 204, 204, 404, 204, 404
        ]
    );
    for (name, flag) in [("qx2", "aadOptscim062020"), ("qx3", "aadOptscim062020=true")] {
        assert_eq!(answers_to_entra(&idp, name, flag).await, without, "{flag}");
    }
    app.mails().await;
}

async fn okta_is_understood(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let first = idp.get("/Users?count=1&startIndex=1").await.expect(200);
    assert_eq!(first["itemsPerPage"], 0);
    failed(&idp.get("/Users/010101001010101011001010101011").await, 404, None);
    let body = json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "Runscope300Eve@acme.example",
        "name": {"givenName": "Eve", "familyName": "Doe"}, "displayName": "Eve Doe", "locale": "en-US",
        "emails": [{"primary": true, "value": "Runscope300Eve@acme.example", "type": "work"}],
        "groups": [], "password": "1mz050nq", "active": true
    });
    let reply = idp.call("POST", "/Users").raw("application/json", body.to_string()).send().await;
    let eve = reply.expect(201);
    assert_eq!(eve["userName"], "Runscope300Eve@acme.example", "the case is kept");
    assert_eq!(reply.header("content-type"), Some("application/scim+json"));
    let again = idp.send("POST", "/Users", &body).await;
    failed(&again, 409, Some("uniqueness"));
    let capitals = "/Users?filter=userName%20eq%20%22RUNSCOPE300EVE%40ACME.EXAMPLE%22";
    assert_eq!(idp.get(capitals).await.expect(200)["totalResults"], 1);
    // Okta reads, changes and puts the whole resource back.
    let path = format!("/Users/{}", id(&eve));
    let mut whole = idp.get(&path).await.expect(200);
    whole["active"] = json!(false);
    assert_eq!(idp.send("PUT", &path, &whole).await.expect(200)["active"], false);
    assert_eq!(idp.member(&eve).await["isActive"], false);
    idp.patch(&path, json!([{"op": "replace", "value": {"active": true}}])).await.expect(200);
    assert_eq!(idp.member(&eve).await["isActive"], true);
    // An empty group is pushed and filled.
    let group =
        idp.send("POST", "/Groups", &json!({"displayName": "Everyone", "members": []})).await.expect(201);
    let filled = json!({"id": id(&group), "displayName": "Everyone", "members": [{"value": id(&eve), "display": "x"}]});
    let filled = idp.send("PUT", &format!("/Groups/{}", id(&group)), &filled).await.expect(200);
    assert_eq!(filled["members"][0]["value"], eve["id"]);
    let without = app.call("GET", "/scim/v2/Users").send().await;
    failed(&without, 401, None);
    assert_eq!(without.header("www-authenticate"), Some("Bearer"));
    app.mails().await;
}

async fn okta_deactivates_without_a_path(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let bob = app.member(&app.home, "bob@acme.example", "admin").await;
    let session = app.sign_in("bob@acme.example").await;
    let risks = async || {
        let call = app.call("GET", "/v1/risks").session(&session, &app.home.organization);
        call.send().await
    };
    idp.add("bob@acme.example").await;
    // Nobody has this name, and there are no groups yet.
    let nobody =
        idp.get("/Users?filter=userName%20eq%20%22nobody%40acme.example%22&startIndex=1&count=100").await;
    let nobody = nobody.expect(200);
    assert_eq!(nobody["schemas"], json!(["urn:ietf:params:scim:api:messages:2.0:ListResponse"]));
    assert_eq!(
        (&nobody["totalResults"], &nobody["itemsPerPage"], &nobody["Resources"]),
        (&json!(0), &json!(0), &json!([]))
    );
    let list = async || idp.get("/Groups?startIndex=1&count=100").await.expect(200);
    let none = list().await;
    assert_eq!((&none["totalResults"], &none["Resources"]), (&json!(0), &json!([])));
    let members = json!([{"value": id(&bob), "display": "Bob"}]);
    for (name, members) in [("Everyone", members), ("Nobody", json!([]))] {
        idp.send("POST", "/Groups", &json!({"displayName": name, "members": members})).await.expect(201);
    }
    let both = list().await;
    let names: Vec<&Value> =
        both["Resources"].as_array().expect("groups").iter().map(|group| &group["displayName"]).collect();
    assert_eq!(names, ["Everyone", "Nobody"]);
    assert_eq!((&both["totalResults"], &both["startIndex"]), (&json!(2), &json!(1)));
    assert_eq!(both["Resources"][0]["members"][0]["value"], bob["id"]);
    // The request has no path, and keeps everything else.
    risks().await.expect(200);
    let path = format!("/Users/{}", id(&bob));
    let before = idp.get(&path).await.expect(200);
    let off = idp.patch(&path, json!([{"op": "replace", "value": {"active": false}}])).await.expect(200);
    let mut expected = before;
    expected["active"] = json!(false);
    expected["meta"] = off["meta"].clone();
    assert_eq!(off, expected);
    assert_eq!(idp.get(&path).await.expect(200), off);
    assert_eq!(idp.member(&bob).await["isActive"], false);
    let ended = risks().await;
    assert!(ended.status == 401 || ended.status == 403, "{}", ended.text());
    let login = json!({"email": "bob@acme.example", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&login).send().await.problem(403, "no_active_membership");
    app.mails().await;
}

async fn lists_are_filtered_and_paged(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    for number in 0..5 {
        idp.add(&format!("p{number}@acme.example")).await;
    }
    let page = idp.get("/Users?startIndex=2&count=2").await.expect(200);
    let names = |page: &Value| -> Vec<String> {
        let all = page["Resources"].as_array().expect("people").iter();
        all.map(|one| one["userName"].as_str().expect("a name")[..2].to_owned()).collect()
    };
    assert_eq!(
        (&page["totalResults"], &page["startIndex"], &page["itemsPerPage"]),
        (&json!(5), &json!(2), &json!(2))
    );
    assert_eq!(names(&page), ["p1", "p2"]);
    let filtered = async |filter: &str, more: &str| {
        let filter = filter.replace(' ', "%20").replace('"', "%22").replace('[', "%5B").replace(']', "%5D");
        idp.get(&format!("/Users?filter={filter}{more}")).await
    };
    for (filter, expected) in [
        (r#"userName eq "P3@acme.example""#, vec!["p3"]),
        (r#"userName eq "P3@acme.example" or externalId eq "x p1@acme.example""#, vec!["p1", "p3"]),
        (r#"emails.value eq "p2@acme.example""#, vec!["p2"]),
        (r#"emails[type eq "work" and value sw "p4"]"#, vec!["p4"]),
        (r#"emails[type eq "work"].value eq "p4@acme.example""#, vec!["p4"]),
        (
            r#"not (userName sw "p1") and active eq true and name.familyName eq "doe""#,
            vec!["p0", "p2", "p3", "p4"],
        ),
        ("groups pr", vec![]),
        (r#"userName eq "x' OR '1'='1""#, vec![]),
    ] {
        let found = filtered(filter, "").await.expect(200);
        assert_eq!(names(&found), expected, "{filter}");
    }
    let cut = filtered("active eq true", "&startIndex=4&count=1&attributes=userName").await.expect(200);
    assert_eq!((&cut["totalResults"], names(&cut)), (&json!(5), vec!["p3".to_owned()]));
    assert_eq!(cut["Resources"][0].as_object().expect("an object").len(), 3, "schemas, id and userName");
    assert_eq!(idp.get("/Users?count=0").await.expect(200)["Resources"], json!([]));
    assert_eq!(idp.get("/Users?startIndex=-3&count=1000").await.expect(200)["startIndex"], 1);
    failed(&idp.get("/Users?count=many").await, 400, Some("invalidValue"));
    let deep = format!("{}active eq true{}", "(".repeat(21), ")".repeat(21));
    for wrong in ["shoeSize eq 3", "userName eq", r#"userName eq "x"; DROP TABLE users"#, &deep] {
        failed(&filtered(wrong, "").await, 400, Some("invalidFilter"));
    }
    app.mails().await;
}

async fn groups_give_roles(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let (eve, bob) = (idp.add("eve@acme.example").await, idp.add("bob@acme.example").await);
    let role = async |person: &Value| idp.member(person).await["role"].clone();
    let make = async |name: &str, members: Value| {
        let group = json!({"displayName": name, "members": members});
        idp.send("POST", "/Groups", &group).await.expect(201)
    };
    let admins = make("Admins", json!([{"value": id(&eve)}])).await;
    let auditors = make("Auditors", json!([])).await;
    assert_eq!(role(&eve).await, "employee");
    let set = async |group: &Value, role: Value| {
        idp.own("PATCH", &format!("{SETTINGS}/groups/{}", id(group)), json!({"role": role})).await
    };
    assert_eq!(set(&admins, json!("owner")).await.wrong_fields(), ["role"]);
    assert_eq!(set(&admins, json!("admin")).await.expect(200)["members"], 1);
    assert_eq!(role(&eve).await, "admin");
    set(&auditors, json!("auditor")).await.expect(200);
    let listed = app.get(&format!("{SETTINGS}/groups")).send().await.expect(200);
    assert_eq!(listed["data"][0]["role"], "admin");
    // Several groups add up, and the role follows at once.
    let join = |person: &Value| json!([{"op": "add", "path": "members", "value": [{"value": id(person)}]}]);
    let (admins_path, auditors_path) =
        (format!("/Groups/{}", id(&admins)), format!("/Groups/{}", id(&auditors)));
    idp.patch(&auditors_path, join(&eve)).await;
    assert_eq!(role(&eve).await, "admin,auditor");
    idp.patch(&auditors_path, join(&bob)).await;
    assert_eq!(role(&bob).await, "auditor");
    let leave = json!([{"op": "remove", "path": format!("members[value eq \"{}\"]", id(&eve))}]);
    idp.patch(&admins_path, leave).await;
    assert_eq!(role(&eve).await, "auditor");
    idp.call("DELETE", &auditors_path).send().await;
    assert_eq!((role(&eve).await, role(&bob).await), (json!("employee"), json!("employee")));
    // An owner stays one.
    let path = format!("/v1/people/{}", id(&bob));
    app.patch(&path, &json!({"role": "owner"})).send().await.expect(200);
    idp.patch(&admins_path, join(&bob)).await;
    assert_eq!(role(&bob).await, "owner");
    let log = app.get("/v1/audit-logs?entityType=directory_group").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "directory_group.members_changed");
    app.mails().await;
}

async fn mapping_beyond_own_permissions_is_refused(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    let group = json!({"displayName": "Admins", "members": [{"value": id(&eve)}]});
    let group = idp.send("POST", "/Groups", &group).await.expect(201);
    let path = format!("{SETTINGS}/groups/{}", id(&group));
    // The key acts as the owner, with less.
    let key = app.key(&["identity:update"]).await;
    let set = async |path: &str, body: Value| app.call("PATCH", path).key(&key).json(&body).send().await;
    for role in ["admin", "auditor", "employee,admin"] {
        set(SETTINGS, json!({"defaultRole": role})).await.problem(403, "role_exceeds_own");
        set(&path, json!({"role": role})).await.problem(403, "role_exceeds_own");
    }
    assert_eq!(app.get(SETTINGS).send().await.expect(200)["defaultRole"], "employee");
    let groups = app.get(&format!("{SETTINGS}/groups")).send().await.expect(200);
    assert_eq!(groups["data"][0]["role"], Value::Null);
    assert_eq!(idp.member(&eve).await["role"], "employee");
    set(&path, json!({"role": "employee"})).await.expect(200);
    // Neither does it take away what it could not give.
    idp.own("PATCH", &path, json!({"role": "admin"})).await.expect(200);
    for role in [Value::Null, json!("employee")] {
        set(&path, json!({"role": role})).await.problem(403, "role_exceeds_own");
    }
    assert_eq!(idp.member(&eve).await["role"], "admin");
    app.mails().await;
}

async fn a_directory_that_is_given_up_binds_nobody(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    idp.set_active(&eve, false).await;
    let path = format!("/v1/people/{}", id(&eve));
    app.patch(&path, &json!({"isActive": true})).send().await.problem(409, "managed_by_directory");
    let tokens = app.get(&format!("{SETTINGS}/tokens")).send().await.expect(200);
    idp.own("DELETE", &format!("{SETTINGS}/tokens/{}", id(&tokens["data"][0])), Value::Null)
        .await
        .expect(200);
    app.patch(&path, &json!({"isActive": true})).send().await.expect(200);
    assert_eq!(idp.member(&eve).await["isActive"], true);
    app.mails().await;
}

async fn what_the_directory_keeps_out_stays_out_by_every_way(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    let admins = json!({"displayName": "Admins", "members": [{"value": id(&eve)}]});
    let admins = idp.send("POST", "/Groups", &admins).await.expect(201);
    let role = json!({"role": "admin"});
    idp.own("PATCH", &format!("{SETTINGS}/groups/{}", id(&admins)), role).await.expect(200);
    idp.set_active(&eve, false).await;
    let member = idp.member(&eve).await;
    let again = app.post("/v1/people", &json!({"userId": member["userId"], "role": "admin"}));
    again.send().await.problem(409, "managed_by_directory");
    let invite = app.post("/v1/people/invite", &json!({"email": "eve@acme.example", "role": "admin"}));
    invite.send().await.expect(201);
    let link = attestry_tests::token_in(&app.mails().await);
    let accept =
        app.call("POST", "/v1/auth/accept-invitation").json(&json!({"token": link, "password": PASSWORD}));
    assert!(accept.send().await.status.is_client_error());
    assert_eq!(idp.member(&eve).await["isActive"], false);
    // Whom the directory deletes has no role of its groups any more, and the invitation of one who waits ends.
    assert_eq!(idp.call("DELETE", &format!("/Users/{}", id(&eve))).send().await.status, 204);
    assert_eq!(idp.member(&eve).await["role"], "employee");
    let invite = app.post("/v1/people/invite", &json!({"email": "dora@acme.example", "role": "admin"}));
    let dora = invite.send().await.expect(201);
    let link = attestry_tests::token_in(&app.mails().await);
    assert_eq!(idp.call("DELETE", &format!("/Users/{}", id(&dora))).send().await.status, 204);
    app.accept(&link).await.problem(410, "invitation_expired");
    app.mails().await;
}

async fn members_of_a_group_change_one_by_one(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let mut people = Vec::new();
    for number in 0..4 {
        people.push(idp.add(&format!("p{number}@acme.example")).await);
    }
    let value = |number: usize| json!({"value": id(&people[number])});
    let group = json!({"displayName": "g", "members": [value(0), value(1)]});
    let group = idp.send("POST", "/Groups", &group).await.expect(201);
    let path = format!("/Groups/{}", id(&group));
    let members = async || -> Vec<String> {
        let group = idp.get(&path).await.expect(200);
        let all = group["members"].as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one["value"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(members().await.len(), 2);
    idp.patch(&path, json!([{"op": "add", "path": "members", "value": [value(2), value(0)]}])).await;
    assert_eq!(members().await.len(), 3, "adding adds");
    idp.patch(&path, json!([{"op": "remove", "path": format!("members[value eq \"{}\"]", id(&people[1]))}]))
        .await;
    assert_eq!(members().await.len(), 2, "the rest stays");
    let unknown =
        json!([{"op": "add", "path": "members", "value": [{"value": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"}]}]);
    failed(&idp.patch(&path, unknown).await, 400, Some("invalidValue"));
    let exempt = json!([{"op": "add", "path": "members", "value": [{"value": app.home.member}]}]);
    failed(&idp.patch(&path, exempt).await, 400, Some("invalidValue"));
    failed(
        &idp.patch(&path, json!([{"op": "replace", "path": "shoeSize", "value": 3}])).await,
        400,
        Some("invalidPath"),
    );
    failed(&idp.send("POST", "/Groups", &json!({"displayName": "G"})).await, 409, Some("uniqueness"));
    let before = app.entries(&app.home).await;
    idp.patch(&path, json!([{"op": "add", "path": "members", "value": [value(0)]}])).await;
    assert_eq!(app.entries(&app.home).await, before, "nothing changed");
    idp.patch(&path, json!([{"op": "replace", "path": "members", "value": []}])).await;
    assert_eq!(members().await.len(), 0);
    app.mails().await;
}

/// Makes active members with addresses of a domain, straight in the database; returns their ids.
async fn populate(app: &TestApp, tenant: &Tenant, domain: &str, count: usize) -> Vec<String> {
    let organization = OrganizationId::read(&tenant.organization).expect("an id");
    let (scope, now) = (Scope::system(organization, "test"), app.ctx.now());
    let people: Vec<(User, Member)> = (0..count)
        .map(|number| {
            let email = format!("p{number}@{domain}");
            let user = User::new(app.ctx.ids.next(), format!("Person {number}"), email, true, now);
            let new = NewMember {
                user_id: user.id,
                role: Roles::stored("employee".to_owned()),
                department: Department::None,
                is_active: true,
                device_label_id: None,
            };
            let member = Member::new(app.ctx.ids.next(), organization, new, now);
            (user, member)
        })
        .collect();
    let ids = people.iter().map(|(_, member)| member.id.to_string()).collect();
    let written = app.ctx.db.write(async move |t| {
        for (user, member) in &people {
            users::insert(t, user, None).await?;
            members::insert(t, &scope, member).await?;
        }
        Ok::<_, attestry_storage::Error>(())
    });
    written.await.expect("people");
    ids
}

async fn thousand_members_at_once_from_two_clients_are_all_in_the_group(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let people = populate(app, &app.home, "acme.example", 1000).await;
    let group = idp.send("POST", "/Groups", &json!({"displayName": "Everyone"})).await.expect(201);
    let path = format!("/Groups/{}", id(&group));
    let before = app.entries(&app.home).await;
    // Each client adds every other batch of a hundred.
    let batches: Vec<&[String]> = people.chunks(100).collect();
    let client = async |first: usize| {
        for batch in batches.iter().skip(first).step_by(2) {
            let value: Vec<Value> = batch.iter().map(|id| json!({"value": id})).collect();
            let add = json!([{"op": "add", "path": "members", "value": value}]);
            assert_eq!(idp.patch(&path, add).await.status, 204);
        }
    };
    join_all([0, 1].map(client)).await;
    let mut expected = people.clone();
    expected.sort();
    let members = async || -> Vec<String> {
        let group = idp.get(&path).await.expect(200);
        let all = group["members"].as_array().expect("members").iter();
        let mut all: Vec<String> = all.map(|one| one["value"].as_str().expect("an id").to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(members().await, expected);
    let groups = app.get(&format!("{SETTINGS}/groups")).send().await.expect(200);
    assert_eq!(groups["data"][0]["members"], 1000);
    assert_eq!(app.entries(&app.home).await, before + 10, "one entry for each batch");
    // The same at once again, and the other way round: all leave, and none is left.
    let client = async |first: usize| {
        for batch in batches.iter().skip(first).step_by(2) {
            let value: Vec<Value> = batch.iter().map(|id| json!({"value": id})).collect();
            let remove = json!([{"op": "remove", "path": "members", "value": value}]);
            assert_eq!(idp.patch(&path, remove).await.status, 204);
        }
    };
    join_all([0, 1].map(client)).await;
    assert_eq!(idp.get(&path).await.expect(200).get("members"), None);
    app.mails().await;
}

async fn errors_have_the_shape_of_scim(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    failed(&idp.get("/Nothing").await, 404, None);
    failed(&idp.get("/Users/nonsense").await, 404, None);
    failed(&idp.send("POST", "/ServiceProviderConfig", &json!({})).await, 405, None);
    for path in ["/Bulk", "/Me", "/.search"] {
        failed(&idp.send("POST", path, &json!({})).await, 501, None);
    }
    for body in ["", "{", "[]", "null"] {
        let reply = idp.call("POST", "/Users").raw("application/scim+json", body).send().await;
        failed(&reply, 400, Some("invalidSyntax"));
    }
    failed(&idp.call("POST", "/Users").raw("text/plain", "{}").send().await, 415, None);
    let huge = format!("{{\"userName\": \"{}\"}}", "x".repeat(2 << 20));
    failed(&idp.call("POST", "/Users").raw("application/json", huge).send().await, 413, None);
    for header in [
        "Bearer ats_k3x9w7ab_9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0",
        "Bearer x",
        "Basic eDp5",
        "Bearer",
    ] {
        failed(&app.call("GET", "/scim/v2/Users").header("authorization", header).send().await, 401, None);
    }
    // Neither a key nor a session is a token, and a token is neither.
    failed(&app.call("GET", "/scim/v2/Users").key(&app.home.key).send().await, 401, None);
    let call = app.call("GET", "/v1/risks").session(&idp.token, &app.home.organization);
    call.send().await.problem(401, "invalid_session");
    app.call("GET", "/v1/risks").key(&idp.token).send().await.problem(401, "invalid_api_key");
    // A deleted organization has no directory.
    let keyed = idp
        .call("POST", "/Users")
        .header("idempotency-key", "a")
        .raw("application/json", person("eve@acme.example").to_string());
    keyed.send().await.expect(201);
    app.mails().await;
}

async fn what_somebody_had_is_handed_over_and_given_back(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let (eve, bob) = (idp.add("eve@acme.example").await, idp.add("bob@acme.example").await);
    let mine = json!({"assigneeId": id(&eve)});
    let risk = app.risk(mine.clone()).await;
    let (first, second) = (app.task(mine.clone()).await, app.task(mine.clone()).await);
    let vendor = app.vendor(mine).await;
    app.mails().await;
    idp.set_active(&eve, false).await;
    let mails = app.mails().await;
    let told = mails.iter().find(|mail| mail.subject == "Records have lost their owner").expect("a mail");
    assert_eq!(told.to_address, app.home.email);
    assert!(told.text.contains("1 risk, 1 vendor, 2 tasks."), "{}", told.text);
    assert!(told.text.contains(&format!("/people?open={}", id(&eve))), "{}", told.text);
    let assignee = async |path: &str, record: &Value| {
        app.get(&format!("{path}/{}", id(record))).send().await.expect(200)["assigneeId"].clone()
    };
    assert_eq!(assignee("/v1/risks", &risk).await, Value::Null);
    let released = format!("/v1/people/{}/released", id(&eve));
    let all = app.get(&released).send().await.expect(200);
    assert_eq!(all["count"], 4);
    assert_eq!(all["data"][0]["entityType"], "risk");
    assert_eq!(app.get(&format!("{released}?limit=1")).send().await.expect(200)["count"], 1);
    let hand = async |body: Value| app.post(&format!("/v1/people/{}/handover", id(&eve)), &body).send().await;
    assert_eq!(hand(json!({"toMemberId": id(&eve)})).await.wrong_fields(), ["toMemberId"]);
    assert_eq!(
        hand(json!({"toMemberId": id(&bob), "entityTypes": ["house"]})).await.wrong_fields(),
        ["entityTypes"]
    );
    assert_eq!(hand(json!({"toMemberId": id(&bob), "entityTypes": ["task"]})).await.expect(200)["moved"], 2);
    assert_eq!(assignee("/v1/tasks", &first).await, bob["id"]);
    assert_eq!(assignee("/v1/risks", &risk).await, Value::Null);
    let few = app.key(&["member:read", "task:read"]).await;
    let seen = app.call("GET", &released).key(&few).send().await.expect(200);
    assert_eq!(seen["count"], 2, "only what the caller may see");
    let seen = app.key(&["member:update", "member:read"]).await;
    let call = app.call("POST", &format!("/v1/people/{}/handover", id(&eve))).key(&seen);
    call.json(&json!({"toMemberId": id(&bob)})).send().await.problem(403, "forbidden");
    // Somebody takes one of the tasks and the vendor.
    let other = idp.add("zoe@acme.example").await;
    let take = json!({"assigneeId": id(&other)});
    app.patch(&format!("/v1/tasks/{}", id(&second)), &take).send().await.expect(200);
    app.patch(&format!("/v1/vendors/{}", id(&vendor)), &take).send().await.expect(200);
    app.clock.advance(Duration::from_hours(24));
    idp.set_active(&eve, true).await;
    assert_eq!(assignee("/v1/risks", &risk).await, eve["id"], "nobody had it");
    assert_eq!(assignee("/v1/tasks", &first).await, eve["id"], "it was only handed over");
    assert_eq!(assignee("/v1/tasks", &second).await, other["id"]);
    assert_eq!(assignee("/v1/vendors", &vendor).await, other["id"]);
    assert_eq!(app.get(&released).send().await.expect(200)["count"], 0);
    let log = app.get("/v1/audit-logs?entityType=member").send().await.expect(200);
    assert!(
        log["data"].as_array().expect("entries").iter().any(|entry| entry["action"] == "member.restored")
    );
    // After a month it is too late.
    idp.set_active(&eve, false).await;
    app.clock.advance(Duration::from_hours(31 * 24));
    idp.set_active(&eve, true).await;
    assert_eq!(assignee("/v1/risks", &risk).await, Value::Null);
    app.mails().await;
}

async fn owners_hear_of_expiring_tokens_and_of_silence(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let expires_at = app.ctx.now().plus(Duration::from_hours(15 * 24)).to_string();
    let body = json!({"name": "Next", "expiresAt": expires_at});
    idp.own("POST", &format!("{SETTINGS}/tokens"), body).await.expect(201);
    idp.get("/Users").await.expect(200);
    app.write_touches();
    let (mut expiring, mut silent) = (Vec::new(), Vec::new());
    for day in 0..17 {
        app.housekeeping().await;
        for mail in app.mail.take().iter().filter(|mail| mail.to_address == app.home.email) {
            if mail.subject.contains("token") {
                expiring.push(15 - day);
            }
            if mail.subject.contains("silent") {
                silent.push(day);
            }
        }
        app.clock.advance(Duration::from_hours(24));
    }
    assert_eq!(expiring, [14, 3]);
    assert_eq!(silent.len(), 1, "{silent:?}");
}

async fn requests_are_kept_for_people_to_look_at(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    app.write_touches();
    let kept = async |count: usize| {
        let path = format!("{SETTINGS}/requests");
        loop {
            let found = idp.own("GET", &path, Value::Null).await.expect(200)["data"].clone();
            if found.as_array().is_some_and(|all| all.len() == count) {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    let mut eve = person("eve@acme.example");
    eve["password"] = json!("swordfish");
    idp.send("POST", "/Users", &eve).await.expect(201);
    let wrong = idp.send("POST", "/Users", &person("eve@elsewhere.example")).await;
    assert_eq!(wrong.status, 400);
    let all = kept(2).await;
    let (failed, made) = (&all[0], &all[1]);
    assert_eq!(
        (&failed["method"], &failed["path"], &failed["status"]),
        (&json!("POST"), &json!("/scim/v2/Users"), &json!(400))
    );
    assert_eq!(failed["detail"], "The domain elsewhere.example is not verified by this organization.");
    assert_eq!((&made["status"], &made["detail"]), (&json!(201), &Value::Null));
    let body = made["body"].as_str().expect("a body");
    assert!(body.contains("eve@acme.example") && !body.contains("swordfish"), "{body}");
    // A stranger leaves nothing, and another organization sees nothing.
    let token = format!("Bearer {}x", &idp.token[..idp.token.len() - 1]);
    let stranger = app.call("GET", "/scim/v2/Users").header("authorization", &token).send().await;
    assert_eq!(stranger.status, 401);
    kept(2).await;
    let other = app.tenant("Other", "other@example.com").await;
    let theirs = app.call("GET", &format!("{SETTINGS}/requests")).key(&other.key).send().await.expect(200);
    assert_eq!(theirs["count"], 0);
    app.mails().await;
}

async fn password_attribute_is_not_in_the_log_of_requests(app: &TestApp) {
    const SECRET: &str = "swordfish";
    let idp = Provider::of(app, &app.home, "acme.example").await;
    app.write_touches();
    let eve = idp.add("eve@acme.example").await;
    let path = format!("/Users/{}", id(&eve));
    let whole = merged(person("eve@acme.example"), json!({"PassWord": SECRET}));
    idp.send("PUT", &path, &whole).await.expect(200);
    let urn = "urn:ietf:params:scim:schemas:core:2.0:User:password";
    let operations = [
        json!({"op": "replace", "path": "password", "value": SECRET}),
        json!({"op": "replace", "path": urn, "value": SECRET}),
        json!({"op": "replace", "value": {"password": SECRET}}),
        json!({"op": "replace", "value": {(urn): SECRET}}),
        // The names of these fields are read without case.
        json!({"Op": "Replace", "Path": "Password", "Value": SECRET}),
    ];
    let count = 2 + operations.len();
    for operation in operations {
        idp.patch(&path, json!([operation])).await.expect(200);
    }
    let log = loop {
        let log = idp.own("GET", &format!("{SETTINGS}/requests"), Value::Null).await.expect(200);
        if log["count"] == count {
            break log;
        }
        tokio::task::yield_now().await;
    };
    assert!(!log.to_string().contains(SECRET), "{log}");
    assert!(!dump(app).await.contains(SECRET), "the password is in the database");
    app.mails().await;
}

async fn the_access_review_names_every_way_in(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let eve = idp.add("eve@acme.example").await;
    app.member(&app.home, "bob@acme.example", "admin").await;
    let bob = app.sign_in("bob@acme.example").await;
    let key = app.call("POST", "/v1/organization/api-keys").session(&bob, &app.home.organization);
    key.json(&json!({"name": "nightly"})).send().await.expect(201);
    let review = "/v1/organization/access-review";
    let all = app.get(&format!("{review}?total=true")).send().await.expect(200);
    assert_eq!(all["total"], 3);
    let of = |email: &str| {
        let rows = all["data"].as_array().expect("rows").iter();
        rows.clone().find(|row| row["email"] == email).expect(email).clone()
    };
    let owner = of(&app.home.email);
    assert_eq!(
        (&owner["methods"], &owner["hasSecondFactor"], &owner["isExempt"]),
        (&json!(["password"]), &json!(true), &json!(true))
    );
    let bob_row = of("bob@acme.example");
    assert_eq!((&bob_row["apiKeys"], &bob_row["isManaged"]), (&json!(1), &json!(false)));
    let eve_row = of("eve@acme.example");
    assert_eq!((&eve_row["methods"], &eve_row["isManaged"]), (&json!([]), &json!(true)));
    let table = app.get(&format!("{review}/export?format=csv")).send().await;
    assert!(table.text().contains("eve@acme.example"), "{}", table.text());
    // Who left is not on it.
    idp.set_active(&eve, false).await;
    assert_eq!(app.get(review).send().await.expect(200)["count"], 2);
    let employee = app.member(&app.home, "carl@acme.example", "employee").await;
    assert_eq!(employee["role"], "employee");
    let carl = app.sign_in("carl@acme.example").await;
    app.call("GET", review).session(&carl, &app.home.organization).send().await.problem(403, "forbidden");
    app.mails().await;
}

async fn the_reference_tester_finds_no_error(app: &TestApp) {
    let idp = Provider::of(app, &app.home, "acme.example").await;
    let address = app.serve().await;
    let python = std::env::var("TEST_PYTHON").expect("TEST_PYTHON is not set: run `make test`");
    let (base, token) = (format!("http://{address}{SCIM}"), idp.token.clone());
    let checked = tokio::task::spawn_blocking(move || {
        Command::new(python).args(["scim.py", &base, &token, "acme.example"]).output().expect("it runs")
    });
    let output = checked.await.expect("it ends");
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{told}");
    app.mails().await;
    app.take_warnings();
}
