//! `/v1/organization/api-keys`.

use std::time::Duration;

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    a_key_is_shown_once,
    scopes_limit_a_key_and_the_keys_it_makes,
    available_scopes_are_those_one_has,
    a_key_loses_what_its_maker_loses,
    a_revoked_or_expired_key_stops_at_once,
    keys_are_paged,
    a_rotated_key_works_on_for_a_while,
    people_hear_of_expiring_keys,
}

const PATH: &str = "/v1/organization/api-keys";

async fn a_key_is_shown_once(app: &TestApp) {
    let body = json!({"name": "Nightly", "scopes": ["member:read"], "expiresAt": "2027-01-01T00:00:00Z"});
    let made = app.post(PATH, &body).send().await.expect(201);
    let key = made["key"].as_str().expect("a key");
    let parts: Vec<&str> = key.splitn(3, '_').collect();
    assert_eq!((parts[0], parts[1].len(), parts[2].len()), ("atk", 8, 43));
    assert_eq!((&made["prefix"], &made["scopes"]), (&json!(parts[1]), &json!(["member:read"])));
    assert_eq!(made["expiresAt"], "2027-01-01T00:00:00.000Z");
    let list = app.get(PATH).send().await;
    assert_eq!(list.expect(200)["count"], 2);
    assert!(!list.text().contains(parts[2]));
}

async fn scopes_limit_a_key_and_the_keys_it_makes(app: &TestApp) {
    let reader = app.key(&["member:read"]).await;
    app.call("GET", "/v1/people").key(&reader).send().await.expect(200);
    app.call("GET", "/v1/organization").key(&reader).send().await.problem(403, "forbidden");
    let maker = app.key(&["api-key:create", "member:read"]).await;
    let make = async |scopes: Value| {
        app.call("POST", PATH).key(&maker).json(&json!({"name": "x", "scopes": scopes})).send().await
    };
    make(json!(["member:read"])).await.expect(201);
    make(json!(["member:create"])).await.problem(403, "scope_exceeds_own");
    make(json!(["*"])).await.problem(403, "scope_exceeds_own");
    app.call("POST", PATH)
        .key(&maker)
        .json(&json!({"name": "x"}))
        .send()
        .await
        .problem(403, "scope_exceeds_own");
    assert_eq!(make(json!(["member:fly"])).await.wrong_fields(), ["scopes"]);
    assert_eq!(make(json!([])).await.wrong_fields(), ["scopes"]);
    assert_eq!(make(json!("*")).await.wrong_fields(), ["scopes"]);
    assert_eq!(make(json!([1])).await.wrong_fields(), ["scopes"]);
}

async fn available_scopes_are_those_one_has(app: &TestApp) {
    let all = app.get(&format!("{PATH}/available-scopes")).send().await.expect(200);
    assert_eq!(all["count"], attestry_domain::access::Permission::ALL.len());
    let few = app.key(&["api-key:read"]).await;
    let list = app.call("GET", &format!("{PATH}/available-scopes")).key(&few).send().await.expect(200);
    assert_eq!(list["data"][0]["scope"], "api-key:read");
    assert_eq!(list["count"], 1);
}

async fn a_key_loses_what_its_maker_loses(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let made = app
        .call("POST", PATH)
        .session(&token, &app.home.organization)
        .json(&json!({"name": "hers"}))
        .send()
        .await
        .expect(201);
    let key = made["key"].as_str().expect("a key");
    app.call("GET", "/v1/people").key(key).send().await.expect(200);
    let path = format!("/v1/people/{}", eve["id"].as_str().expect("an id"));
    app.patch(&path, &json!({"role": "employee"})).send().await.expect(200);
    app.call("GET", "/v1/people").key(key).send().await.problem(403, "forbidden");
    app.call("GET", &path).key(key).send().await.expect(200);
}

async fn a_revoked_or_expired_key_stops_at_once(app: &TestApp) {
    let key = app.key(&["member:read"]).await;
    let list = app.get(PATH).send().await.expect(200);
    let id = list["data"][0]["id"].as_str().expect("an id").to_owned();
    app.call("GET", "/v1/people").key(&key).send().await.expect(200);
    let revoked = app.delete(&format!("{PATH}/{id}")).send().await.expect(200);
    assert_eq!(revoked, json!({"success": true, "revokedApiKey": {"id": id, "name": "test"}}));
    app.call("GET", "/v1/people").key(&key).send().await.problem(401, "invalid_api_key");
    app.delete(&format!("{PATH}/{id}")).send().await.problem(404, "not_found");
    let body = json!({"name": "short", "scopes": ["member:read"], "expiresAt": "2026-11-15T09:30:10Z"});
    let made = app.post(PATH, &body).send().await.expect(201);
    let key = made["key"].as_str().expect("a key");
    app.clock.advance(Duration::from_secs(9));
    app.call("GET", "/v1/people").key(key).send().await.expect(200);
    app.clock.advance(Duration::from_secs(2));
    app.call("GET", "/v1/people").key(key).send().await.problem(401, "invalid_api_key");
    let past = json!({"name": "x", "expiresAt": "2020-01-01T00:00:00Z"});
    assert_eq!(app.post(PATH, &past).send().await.wrong_fields(), ["expiresAt"]);
}

async fn keys_are_paged(app: &TestApp) {
    for _ in 0..4 {
        app.key(&["member:read"]).await;
    }
    let first = app.get(&format!("{PATH}?limit=3")).send().await.expect(200);
    let next = first["nextCursor"].as_str().expect("more");
    let second = app.get(&format!("{PATH}?limit=3&cursor={next}")).send().await.expect(200);
    assert_eq!(
        (&first["count"], &second["count"], &second["nextCursor"]),
        (&json!(3), &json!(2), &Value::Null)
    );
}

/// The check of a cached key does not touch the database: it works while the database is unavailable.
#[test]
fn a_remembered_key_reads_and_writes_nothing() {
    attestry_tests::run(attestry_tests::Engine::Sqlite, async |app| {
        let known = attestry_app::identity::principals::by_api_key(&app.ctx, &app.home.key, None)
            .await
            .expect("a key");
        let again = attestry_app::identity::principals::by_api_key(&app.ctx, &app.home.key, None)
            .await
            .expect("a key");
        assert!(std::sync::Arc::ptr_eq(&known, &again));
        app.clock.advance(Duration::from_secs(5));
        let later = attestry_app::identity::principals::by_api_key(&app.ctx, &app.home.key, None)
            .await
            .expect("a key");
        assert!(!std::sync::Arc::ptr_eq(&known, &later), "after five seconds it is looked up again");
    });
}

async fn a_rotated_key_works_on_for_a_while(app: &TestApp) {
    let made =
        app.post(PATH, &json!({"name": "Nightly", "scopes": ["member:read", "api-key:create"]})).send().await;
    let made = made.expect(201);
    let old = made["key"].as_str().expect("a key").to_owned();
    let id = made["id"].as_str().expect("an id");
    let rotate = async |key: &str, id: &str, body: Value| {
        app.call("POST", &format!("{PATH}/{id}/rotate")).key(key).json(&body).send().await
    };
    // Also by the key itself, as long as it has what it gives.
    let next = rotate(&old, id, json!({"overlapHours": 2})).await.expect(201);
    assert_eq!((&next["name"], &next["scopes"]), (&made["name"], &made["scopes"]));
    let new = next["key"].as_str().expect("a key").to_owned();
    let works = async |key: &str| app.call("GET", "/v1/people").key(key).send().await.status.is_success();
    assert!(works(&old).await && works(&new).await);
    app.clock.advance(Duration::from_hours(2));
    assert!(!works(&old).await && works(&new).await);
    let third =
        rotate(&new, next["id"].as_str().expect("an id"), json!({"overlapHours": 0})).await.expect(201);
    assert!(!works(&new).await && works(third["key"].as_str().expect("a key")).await);
    rotate(&app.home.key, id, json!({"overlapHours": 1_000})).await.problem(400, "validation_failed");
    // A key acts as its member, and nobody else rotates it.
    app.member(&app.home, "bob@example.com", "admin").await;
    let bob = app.sign_in("bob@example.com").await;
    let theirs = app.call("POST", PATH).session(&bob, &app.home.organization);
    let theirs = theirs.json(&json!({"name": "x"})).send().await.expect(201);
    let id = theirs["id"].as_str().expect("an id");
    rotate(&app.home.key, id, json!({})).await.problem(403, "not_the_author");
    let few = app.key(&["api-key:create"]).await;
    let own = app.get(PATH).send().await.expect(200);
    let first = own["data"].as_array().expect("keys").last().expect("a key")["id"].as_str().expect("an id");
    rotate(&few, first, json!({})).await.problem(403, "scope_exceeds_own");
    app.mails().await;
}

async fn people_hear_of_expiring_keys(app: &TestApp) {
    app.member(&app.home, "bob@example.com", "admin").await;
    let bob = app.sign_in("bob@example.com").await;
    let expires_at = app.ctx.now().plus(Duration::from_hours(15 * 24)).to_string();
    let call = app.call("POST", PATH).session(&bob, &app.home.organization);
    call.json(&json!({"name": "Nightly", "expiresAt": expires_at})).send().await.expect(201);
    app.mails().await;
    let (mut owner, mut maker) = (Vec::new(), Vec::new());
    for day in 0..17 {
        app.housekeeping().await;
        for mail in app.mail.take().iter().filter(|mail| mail.subject == "An API key is about to expire") {
            assert!(mail.text.contains("Nightly"), "{}", mail.text);
            if mail.to_address == "bob@example.com" { maker.push(15 - day) } else { owner.push(15 - day) }
        }
        app.clock.advance(Duration::from_hours(24));
    }
    assert_eq!((owner, maker), (vec![14, 3], vec![14, 3]));
}
