//! `/v1/organization/service-accounts`, and the limits of API keys.

use std::time::Duration;

use attestry_tests::{Call, TestApp, both, id, merged};
use serde_json::{Value, json};

both! {
    a_service_account_acts_with_its_keys,
    a_service_account_is_no_person,
    its_keys_have_no_permissions_that_the_maker_lacks,
    an_account_whose_owner_left_is_orphaned,
    an_account_and_its_keys_end_together,
    there_are_at_most_a_hundred,
    another_organization_does_not_see_it,
    the_policy_limits_new_keys,
}

const PATH: &str = "/v1/organization/service-accounts";

fn own<'a>(app: &'a TestApp, method: &str, path: &str) -> Call<'a> {
    app.call(method, path).key(&app.home.key)
}

fn importer(app: &TestApp) -> Value {
    json!({"name": "Nightly import", "role": "admin", "ownerId": app.home.member})
}

async fn create(app: &TestApp, fields: Value) -> Value {
    own(app, "POST", PATH).json(&merged(importer(app), fields)).send().await.expect(201)
}

async fn create_key(app: &TestApp, account: &Value, body: Value) -> (String, String) {
    let path = format!("{PATH}/{}/api-keys", id(account));
    let made = own(app, "POST", &path).json(&body).send().await.expect(201);
    assert_eq!((&made["kind"], &made["memberId"]), (&json!("service"), &account["memberId"]));
    (made["key"].as_str().expect("a key").to_owned(), id(&made).to_owned())
}

async fn a_service_account_acts_with_its_keys(app: &TestApp) {
    let account = create(app, json!({"description": "Imports the asset list."})).await;
    assert_eq!(account["isOrphaned"], false);
    let (key, key_id) = create_key(app, &account, json!({"name": "One"})).await;
    let risk = json!({"title": "Phishing", "description": "x", "category": "other"});
    let risk = app.call("POST", "/v1/risks").key(&key).json(&risk).send().await.expect(201);
    let comment = json!({"entityType": "risk", "entityId": id(&risk), "content": "Imported."});
    let comment = app.call("POST", "/v1/comments").key(&key).json(&comment).send().await.expect(201);
    assert_eq!(comment["author"]["name"], "Nightly import");
    // The audit log names it.
    let entries = app.get("/v1/audit-logs?limit=5").send().await.expect(200);
    let created = entries["data"].as_array().expect("entries");
    let created = created.iter().find(|entry| entry["entityId"] == risk["id"]).expect("an entry");
    assert_eq!(created["actor"]["memberId"], account["memberId"]);
    assert_eq!(created["actor"]["memberName"], "Nightly import");
    // Keys are listed with those of people, and alone.
    let all = app.get("/v1/organization/api-keys").send().await.expect(200);
    let kinds: Vec<&Value> = all["data"].as_array().expect("keys").iter().map(|key| &key["kind"]).collect();
    assert_eq!(kinds, ["service", "personal"]);
    let path = format!("{PATH}/{}/api-keys", id(&account));
    let keys = app.get(&path).send().await.expect(200);
    assert_eq!((&keys["data"][0]["id"], keys["count"].as_i64()), (&json!(key_id), Some(1)));
    // Anybody who may make keys rotates them.
    let rotate = format!("/v1/organization/api-keys/{key_id}/rotate");
    let rotated = own(app, "POST", &rotate).json(&json!({"overlapHours": 0})).send().await.expect(201);
    assert_eq!((&rotated["kind"], &rotated["name"]), (&json!("service"), &json!("One")));
    app.call("GET", "/v1/risks").key(&key).send().await.problem(401, "invalid_api_key");
    let key = rotated["key"].as_str().expect("a key");
    app.call("GET", "/v1/risks").key(key).send().await.expect(200);
    let revoked = own(app, "DELETE", &format!("{path}/{}", id(&rotated))).send().await.expect(200);
    assert_eq!(revoked["revokedApiKey"]["id"], rotated["id"]);
    app.call("GET", "/v1/risks").key(key).send().await.problem(401, "invalid_api_key");
    // A change of the role counts for its keys at once.
    let (key, _) = create_key(app, &account, json!({"name": "Two"})).await;
    let path = format!("{PATH}/{}", id(&account));
    let changed = own(app, "PATCH", &path).json(&json!({"role": "employee", "name": "Import"})).send().await;
    assert_eq!(changed.expect(200)["name"], "Import");
    app.call("GET", "/v1/risks").key(&key).send().await.problem(403, "forbidden");
    app.mails().await;
}

async fn a_service_account_is_no_person(app: &TestApp) {
    let people = app.get("/v1/people?total=true").send().await.expect(200);
    let review = app.get("/v1/organization/access-review").send().await.expect(200);
    let account = create(app, json!({})).await;
    let (key, _) = create_key(app, &account, json!({"name": "One"})).await;
    assert_eq!(app.get("/v1/people?total=true").send().await.expect(200), people);
    assert_eq!(app.get("/v1/organization/access-review").send().await.expect(200), review);
    let member = account["memberId"].as_str().expect("a member");
    let person = format!("/v1/people/{member}");
    app.get(&person).send().await.problem(404, "not_found");
    own(app, "PATCH", &person).json(&json!({"role": "owner"})).send().await.problem(404, "not_found");
    own(app, "DELETE", &person).send().await.problem(404, "not_found");
    own(app, "POST", &format!("{person}/sign-out")).send().await.problem(404, "not_found");
    // Nobody gives it work.
    for (path, body) in [
        ("/v1/risks", json!({"title": "A", "description": "x", "category": "other", "assigneeId": member})),
        ("/v1/tasks", json!({"title": "A", "description": "x", "assigneeId": member})),
        (PATH, merged(importer(app), json!({"ownerId": member}))),
    ] {
        own(app, "POST", path).json(&body).send().await.problem(400, "validation_failed");
    }
    // Its keys make keys that act as it, like those of people, and confirm nothing.
    let body = json!({"name": "Another", "scopes": ["risk:read"]});
    let made = app.call("POST", "/v1/organization/api-keys").key(&key).json(&body).send().await.expect(201);
    assert_eq!((&made["kind"], &made["memberId"]), (&json!("service"), &account["memberId"]));
    app.call("GET", "/v1/auth/security").key(&key).send().await.problem(403, "session_required");
    // Its user cannot be invited, and its address reaches nobody.
    let invited = json!({"email": format!("{}@service.invalid", id(&account)), "role": "employee"});
    own(app, "POST", "/v1/people/invite").json(&invited).send().await;
    own(app, "POST", PATH)
        .json(&merged(importer(app), json!({"role": "owner"})))
        .send()
        .await
        .problem(400, "validation_failed");
    app.mails().await;
}

async fn its_keys_have_no_permissions_that_the_maker_lacks(app: &TestApp) {
    let account = create(app, json!({})).await;
    let path = format!("{PATH}/{}/api-keys", id(&account));
    let scoped = json!({"name": "Maker", "scopes": ["api-key:create", "risk:read", "member:create"]});
    let maker = own(app, "POST", "/v1/organization/api-keys").json(&scoped).send().await.expect(201);
    let maker = maker["key"].as_str().expect("a key");
    let make = async |body: Value| app.call("POST", &path).key(maker).json(&body).send().await;
    make(json!({"name": "All"})).await.problem(403, "scope_exceeds_own");
    make(json!({"name": "More", "scopes": ["vendor:read"]})).await.problem(403, "scope_exceeds_own");
    let made = make(json!({"name": "Same", "scopes": ["risk:read"]})).await.expect(201);
    // Neither by rotation, nor by an account with a greater role.
    let (_, all) = create_key(app, &account, json!({"name": "All"})).await;
    let rotate = format!("/v1/organization/api-keys/{all}/rotate");
    app.call("POST", &rotate).key(maker).json(&json!({})).send().await.problem(403, "scope_exceeds_own");
    let body = importer(app);
    app.call("POST", PATH).key(maker).json(&body).send().await.problem(403, "role_exceeds_own");
    let key = made["key"].as_str().expect("a key");
    app.call("GET", "/v1/vendors").key(key).send().await.problem(403, "forbidden");
    app.call("GET", "/v1/risks").key(key).send().await.expect(200);
}

async fn an_account_whose_owner_left_is_orphaned(app: &TestApp) {
    let bob = app.member(&app.home, "bob@example.com", "admin").await;
    app.mails().await;
    let account = create(app, json!({"ownerId": id(&bob)})).await;
    let kept = create(app, json!({"name": "Kept"})).await;
    let (key, _) = create_key(app, &account, json!({"name": "One"})).await;
    let person = format!("/v1/people/{}", id(&bob));
    own(app, "DELETE", &person).send().await.expect(200);
    let told = app.mails().await;
    let is_told = |mail: &attestry_mail::Message| mail.subject == "Service accounts have lost their owner";
    assert!(told.iter().any(|mail| is_told(mail) && mail.to_address == app.home.email));
    let list = app.get(PATH).send().await.expect(200);
    let orphaned: Vec<_> =
        list["data"].as_array().expect("accounts").iter().map(|one| &one["isOrphaned"]).collect();
    assert_eq!(orphaned, [&json!(true), &json!(false)], "those without an owner come first");
    app.call("GET", "/v1/risks").key(&key).send().await.expect(200);
    // The owners hear of it every week.
    let mut reminders = 0;
    for _ in 0..16 {
        app.clock.advance(Duration::from_hours(24));
        app.housekeeping().await;
        let mails = app.mail.take();
        reminders += mails.iter().filter(|mail| mail.subject == "Service accounts have no owner").count();
    }
    assert_eq!(reminders, 2);
    // An owner who comes back has it again.
    own(app, "PATCH", &person).json(&json!({"isActive": true})).send().await.expect(200);
    let path = format!("{PATH}/{}", id(&account));
    assert_eq!(app.get(&path).send().await.expect(200)["isOrphaned"], false);
    own(app, "DELETE", &person).send().await.expect(200);
    let taken = own(app, "PATCH", &path).json(&json!({"ownerId": app.home.member})).send().await.expect(200);
    assert_eq!((&taken["isOrphaned"], &taken["ownerId"]), (&json!(false), &json!(app.home.member)));
    own(app, "PATCH", &path)
        .json(&json!({"ownerId": id(&bob)}))
        .send()
        .await
        .problem(400, "validation_failed");
    assert_eq!(kept["isOrphaned"], false);
    app.mails().await;
}

async fn an_account_and_its_keys_end_together(app: &TestApp) {
    let account = create(app, json!({})).await;
    let (key, _) = create_key(app, &account, json!({"name": "One"})).await;
    app.call("GET", "/v1/risks").key(&key).send().await.expect(200);
    let path = format!("{PATH}/{}", id(&account));
    let stale = own(app, "DELETE", &path).header("if-match", "\"9.9.9\"").send().await;
    stale.problem(412, "precondition_failed");
    own(app, "DELETE", &path).send().await.expect(200);
    own(app, "DELETE", &path).send().await.problem(404, "not_found");
    app.call("GET", "/v1/risks").key(&key).send().await.problem(401, "invalid_api_key");
    let keys = app.get("/v1/organization/api-keys").send().await.expect(200);
    assert_eq!(keys["data"].as_array().expect("keys").len(), 1);
}

async fn there_are_at_most_a_hundred(app: &TestApp) {
    for number in 0..100 {
        create(app, json!({"name": format!("Import {number}")})).await;
    }
    own(app, "POST", PATH).json(&importer(app)).send().await.problem(409, "too_many_service_accounts");
    let list = app.get(PATH).send().await.expect(200);
    assert_eq!(list["count"], 100);
    own(app, "DELETE", &format!("{PATH}/{}", id(&list["data"][7]))).send().await.expect(200);
    create(app, json!({})).await;
}

async fn another_organization_does_not_see_it(app: &TestApp) {
    let account = create(app, json!({})).await;
    let (_, key) = create_key(app, &account, json!({"name": "One"})).await;
    let other = app.tenant("Other", "other@example.com").await;
    let path = format!("{PATH}/{}", id(&account));
    let keys = format!("{path}/api-keys");
    let one = format!("{keys}/{key}");
    for (method, path, body) in [
        ("GET", &path, None),
        ("PATCH", &path, Some(json!({"name": "Mine"}))),
        ("DELETE", &path, None),
        ("GET", &keys, None),
        ("POST", &keys, Some(json!({"name": "Mine"}))),
        ("DELETE", &one, None),
    ] {
        let call = app.call(method, path).key(&other.key);
        let reply = match body {
            Some(body) => call.json(&body).send().await,
            None => call.send().await,
        };
        reply.problem(404, "not_found");
    }
    let theirs = json!({"name": "Mine", "role": "employee", "ownerId": app.home.member});
    app.call("POST", PATH).key(&other.key).json(&theirs).send().await.problem(400, "validation_failed");
}

async fn the_policy_limits_new_keys(app: &TestApp) {
    let policy = "/v1/organization/sign-in-policy";
    let token = app.sign_in(&app.home.email).await;
    let set = async |body: Value| {
        let call = app.call("PATCH", policy).session(&token, &app.home.organization);
        call.json(&body).send().await.expect(200)
    };
    let limits = set(json!({"apiKeyMaxDays": 90, "apiKeyScopesRequired": true})).await;
    assert_eq!((&limits["apiKeyMaxDays"], &limits["apiKeyScopesRequired"]), (&json!(90), &json!(true)));
    // The first key was made before, and works on.
    assert_eq!(limits["apiKeysBeyondPolicy"], 1);
    let keys = app.get("/v1/organization/api-keys").send().await.expect(200);
    assert_eq!(
        (&keys["data"][0]["isBeyondPolicy"], &keys["data"][0]["lastUsedIp"].is_string()),
        (&json!(true), &false)
    );
    let account = create(app, json!({})).await;
    let at = |days: u64| app.ctx.now().plus(Duration::from_hours(24 * days)).to_string();
    for path in ["/v1/organization/api-keys".to_owned(), format!("{PATH}/{}/api-keys", id(&account))] {
        let make = async |body: Value| own(app, "POST", &path).json(&body).send().await;
        for (body, field) in [
            (json!({"name": "A", "expiresAt": at(30)}), "scopes"),
            (json!({"name": "A", "scopes": ["risk:read"]}), "expiresAt"),
            (json!({"name": "A", "scopes": ["risk:read"], "expiresAt": at(91)}), "expiresAt"),
        ] {
            assert_eq!(make(body).await.problem(400, "validation_failed")["errors"][0]["field"], field);
        }
        let made = make(json!({"name": "A", "scopes": ["risk:read"], "expiresAt": at(90)})).await.expect(201);
        assert_eq!(made["isBeyondPolicy"], false);
        let rotate = format!("/v1/organization/api-keys/{}/rotate", id(&made));
        let again = own(app, "POST", &rotate).json(&json!({})).send().await;
        assert_eq!(again.problem(400, "validation_failed")["errors"][0]["field"], "expiresAt");
        own(app, "POST", &rotate).json(&json!({"expiresAt": at(90)})).send().await.expect(201);
    }
    let free = set(json!({"apiKeyMaxDays": null, "apiKeyScopesRequired": false})).await;
    assert_eq!(free["apiKeysBeyondPolicy"], 0);
    own(app, "POST", "/v1/organization/api-keys").json(&json!({"name": "B"})).send().await.expect(201);
    app.mails().await;
}
