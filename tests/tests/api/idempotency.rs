//! `Idempotency-Key`.

use std::sync::Arc;
use std::time::Duration;

use attestry_app::core::idempotency::{self, Begun};
use attestry_domain::access::{Actor, Claim, Origin, grant};
use attestry_domain::identity::api_keys::{NewApiKey, Scopes};
use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

use crate::sso::{self, ada};

both! {
    the_same_key_and_body_act_once,
    the_header_is_no_way_around_a_check,
    on_public_routes_strangers_may_choose_the_same_key,
    a_failed_request_frees_its_key,
    it_is_forgotten_after_a_day,
    a_secret_is_not_answered_twice,
    at_once_only_one_runs,
    after_a_crash_a_repetition_learns_that_it_was_done,
    whoever_lost_a_claim_changes_nothing,
    starts_of_single_sign_on_are_not_replayed,
}

async fn the_same_key_and_body_act_once(app: &TestApp) {
    let body = json!({"name": "once", "scopes": ["member:read"]});
    let bob = app.tenant("Other", "bob@example.com").await;
    let add = json!({"userId": bob.user, "role": "employee"});
    let call = || app.post("/v1/people", &add).header("idempotency-key", "k-1");
    let first = call().send().await;
    assert_eq!(first.header("idempotency-replayed"), None);
    let entries = app.entries(&app.home).await;
    let second = call().send().await;
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
    assert_eq!((second.expect(201), second.header("etag")), (first.expect(201), first.header("etag")));
    assert_eq!(app.entries(&app.home).await, entries);
    app.post("/v1/people", &json!({"userId": bob.user, "role": "admin"}))
        .header("idempotency-key", "k-1")
        .send()
        .await
        .problem(422, "idempotency_mismatch");
    app.post("/v1/organization/api-keys", &body)
        .header("idempotency-key", "k-1")
        .send()
        .await
        .problem(422, "idempotency_mismatch");
    // The same key of another caller is a different key.
    app.call("POST", "/v1/organization/api-keys")
        .key(&bob.key)
        .json(&body)
        .header("idempotency-key", "k-1")
        .send()
        .await
        .expect(201);
    assert_eq!(app.mails().await.len(), 1);
}

async fn the_header_is_no_way_around_a_check(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let bob = app.join(&app.home, &other, "admin").await;
    app.delete(&format!("/v1/people/{}", bob["id"].as_str().expect("an id"))).send().await.expect(200);
    let token = app.sign_in("bob@example.com").await;
    let body = json!({"email": "x@example.com", "role": "admin"});
    let invite = || app.call("POST", "/v1/people/invite").json(&body).header("idempotency-key", "zz");
    invite().session(&token, &app.home.organization).send().await.problem(403, "not_a_member");
    invite()
        .key(&other.key)
        .header("x-organization-id", &app.home.organization)
        .send()
        .await
        .problem(403, "organization_mismatch");
    invite().key("atk_aaaaaaaa_bad").send().await.problem(401, "invalid_api_key");
    invite().send().await.problem(401, "missing_credentials");
    let reader = app.key(&["member:read"]).await;
    invite().key(&reader).send().await.problem(403, "forbidden");
    app.call("POST", "/v1/auth/logout")
        .header("idempotency-key", "zz")
        .send()
        .await
        .problem(401, "missing_credentials");
    // A caller who lost the permission does not get the earlier response.
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let eve_token = app.sign_in("eve@example.com").await;
    let make = || {
        app.call("POST", "/v1/people/invite")
            .session(&eve_token, &app.home.organization)
            .json(&body)
            .header("idempotency-key", "mine")
    };
    make().send().await.expect(201);
    app.mails().await;
    app.patch(&format!("/v1/people/{}", eve["id"].as_str().expect("an id")), &json!({"role": "employee"}))
        .send()
        .await
        .expect(200);
    make().send().await.problem(403, "forbidden");
}

async fn on_public_routes_strangers_may_choose_the_same_key(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "employee").await;
    for email in ["ada@example.com", "eve@example.com"] {
        let body = json!({"email": email});
        let call = || app.call("POST", "/v1/auth/forgot-password").json(&body).header("idempotency-key", "1");
        call().send().await.expect(200);
        assert_eq!(call().send().await.header("idempotency-replayed"), Some("true"));
        assert_eq!(app.mails().await.len(), 1, "one link, however often it is asked for");
    }
}

async fn a_failed_request_frees_its_key(app: &TestApp) {
    let bob = app.tenant("Other", "bob@example.com").await;
    let wrong = json!({"userId": bob.user});
    let right = json!({"userId": bob.user, "role": "employee"});
    app.post("/v1/people", &wrong)
        .header("idempotency-key", "k")
        .send()
        .await
        .problem(400, "validation_failed");
    app.post("/v1/people", &right).header("idempotency-key", "k").send().await.expect(201);
    assert_eq!(
        app.post("/v1/people", &right)
            .header("idempotency-key", &"x".repeat(256))
            .send()
            .await
            .wrong_fields(),
        ["Idempotency-Key"]
    );
    app.work().await;
}

async fn it_is_forgotten_after_a_day(app: &TestApp) {
    let body = json!({"name": "daily", "scopes": ["member:read"]});
    let call = || app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k");
    let first = call().send().await.expect(201);
    app.clock.advance(Duration::from_hours(23));
    assert_eq!(call().send().await.expect(201)["id"], first["id"]);
    app.clock.advance(Duration::from_hours(2));
    assert_ne!(call().send().await.expect(201)["id"], first["id"]);
}

async fn a_secret_is_not_answered_twice(app: &TestApp) {
    let body = json!({"name": "once", "scopes": ["member:read"]});
    let call = || app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k");
    let first = call().send().await.expect(201);
    assert!(first["key"].is_string());
    let second = call().send().await.expect(201);
    assert_eq!((&second["id"], &second["key"]), (&first["id"], &Value::Null));
}

async fn at_once_only_one_runs(app: &TestApp) {
    let bob = app.tenant("Other", "bob@example.com").await;
    let body = json!({"userId": bob.user, "role": "employee"});
    let calls = (0..5).map(|_| app.post("/v1/people", &body).header("idempotency-key", "k").send());
    let replies = futures_util::future::join_all(calls).await;
    let fresh = replies
        .iter()
        .filter(|r| r.status.as_u16() == 201 && r.header("idempotency-replayed").is_none())
        .count();
    assert_eq!(fresh, 1);
    for reply in replies {
        match reply.status.as_u16() {
            201 => {}
            _ => drop(reply.problem(409, "idempotency_in_progress")),
        }
    }
    assert_eq!(app.mails().await.len(), 1);
}

async fn after_a_crash_a_repetition_learns_that_it_was_done(app: &TestApp) {
    let body = json!({"name": "once", "scopes": ["member:read"]});
    let call = || app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k");
    call().send().await.expect(201);
    // The process died between the commit and the response.
    app.ctx
        .db
        .write(async |t| t.execute("UPDATE idempotency_keys SET state = 'applied', answer = NULL", &[]).await)
        .await
        .expect("a statement");
    call().send().await.problem(409, "idempotency_in_progress");
    app.clock.advance(Duration::from_mins(3));
    call().send().await.problem(409, "idempotency_answer_lost");
    // It died before the commit: the claim can be taken over once it expires.
    app.ctx
        .db
        .write(async |t| t.execute("UPDATE idempotency_keys SET state = 'running'", &[]).await)
        .await
        .expect("a statement");
    call().send().await.expect(201);
}

async fn whoever_lost_a_claim_changes_nothing(app: &TestApp) {
    let request =
        || idempotency::Request { owner: "me", key: "k", operation: "POST /v1/risks", body: &[b"{}"] };
    let begin = async || match idempotency::begin(&app.ctx, request()).await {
        Ok(Begun::Run(claim)) => claim,
        other => panic!("{other:?}"),
    };
    let slow = begin().await;
    app.clock.advance(idempotency::CLAIM_TIMEOUT + Duration::from_secs(1));
    let second = begin().await;
    let principal =
        attestry_app::identity::principals::by_api_key(&app.ctx, &app.home.key, None).await.expect("a key");
    let create = async |claim: &Arc<Claim>| {
        let origin = Origin { claim: Some(Arc::clone(claim)), ..Origin::command("r") };
        let actor = Actor { principal: Arc::clone(&principal.principal), origin };
        let scope = actor.authorize::<grant::ApiKeyCreate>().expect("an owner");
        let new = NewApiKey { name: "once".to_owned(), scopes: Scopes::All, expires_at: None };
        attestry_app::identity::api_keys::create(&app.ctx, &scope, new).await
    };
    let entries = app.entries(&app.home).await;
    create(&slow).await.expect_err("its claim is somebody else's");
    assert_eq!(app.entries(&app.home).await, entries);
    create(&second).await.expect("its own claim");
    create(&slow).await.expect_err("still not");
    idempotency::release(&app.ctx, &slow).await.expect("nothing of its own");
    assert_eq!(app.entries(&app.home).await, entries + 1);
}

async fn starts_of_single_sign_on_are_not_replayed(app: &TestApp) {
    let on = sso::set_up(app).await;
    let test = format!("/v1/organization/sso-connections/{}/test", on.connection);
    for (path, body) in [(on.path("start-ticket"), Some(json!({"purpose": "confirm"}))), (test, None)] {
        let start = async || {
            let call = app.call("POST", &path).session(&on.owner, &on.organization);
            let call = call.header("idempotency-key", "k");
            let call = if let Some(body) = &body { call.json(body) } else { call };
            let reply = call.send().await;
            assert_eq!(reply.header("idempotency-replayed"), None, "{path}");
            reply.expect(200)["startUrl"].as_str().expect("an address").to_owned()
        };
        let (first, second) = (start().await, start().await);
        assert_ne!(first, second, "{path}");
        // Each of them works.
        for start in [first, second] {
            let back = on.round(&on.owner, &start, ada("eve@acme.example")).await;
            assert!(!back.location().contains("sso_expired"), "{path}: {}", back.location());
        }
    }
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    let back = on.come_back(&back, &browser, Some(&on.owner)).await;
    let ticket = back.location().strip_prefix("/sign-in?switch=").expect("a ticket").to_owned();
    let cookies = format!("attestry_sso={browser}");
    let switch = async || {
        let call = app.call("POST", "/v1/auth/sso/switch").header("cookie", &cookies);
        call.header("idempotency-key", "k").json(&json!({"ticket": ticket})).send().await
    };
    switch().await.expect(200);
    let again = switch().await;
    again.problem(410, "ceremony_expired");
    assert_eq!(again.header("idempotency-replayed"), None);
    app.mails().await;
}
