//! `/v1/audit-logs`: the journal, its chain and its verification.

use attestry_app::core::verification::{Verdict, verify};
use attestry_domain::id::OrganizationId;
use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    an_entry_tells_who_changed_what,
    sequences_have_no_gaps_under_concurrency,
    filters_and_pages,
    refused_attempts_are_entries,
    repeated_refusals_are_counted,
    refusals_are_counted_for_each_organization,
    a_changed_state_is_found,
    a_changed_entry_is_found,
    a_removed_entry_is_found,
    reordered_entries_are_found,
    a_cut_tail_is_found_by_the_signed_head_and_by_an_exported_one,
    an_erased_state_leaves_the_chain_whole,
    the_head_can_be_checked_with_the_published_key,
    one_organization_cannot_see_anothers_log,
    a_chain_never_runs_backwards,
    a_failed_change_leaves_no_entry_and_harms_nobody,
    a_change_that_cannot_be_recorded_is_not_kept,
}

fn home(app: &TestApp) -> OrganizationId {
    OrganizationId::read(&app.home.organization).expect("an id")
}

/// Runs a statement behind the product's back.
pub(crate) async fn tamper(app: &TestApp, sql: &'static str) {
    app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("a statement");
}

async fn broken_at(app: &TestApp) -> i64 {
    match verify(&app.ctx, home(app), &[]).await.expect("a verdict") {
        Verdict::Broken { sequence, .. } => sequence,
        Verdict::Intact { entries } => panic!("intact with {entries} entries"),
    }
}

async fn five_changes(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    for department in ["it", "hr", "gov", "qms", "itsm"] {
        app.patch(&path, &json!({"department": department})).send().await.expect(200);
    }
}

async fn an_entry_tells_who_changed_what(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    app.patch(&path, &json!({"department": "it"})).header("x-request-id", "trace-1").send().await.expect(200);
    let log = app.get("/v1/audit-logs?limit=1").send().await.expect(200);
    let entry = &log["data"][0];
    assert_eq!(entry["action"], "member.updated");
    assert_eq!((&entry["entityType"], &entry["entityId"]), (&json!("member"), &json!(app.home.member)));
    assert_eq!(
        (&entry["authType"], &entry["requestId"], &entry["at"]),
        (&json!("api-key"), &json!("trace-1"), &json!("2026-11-15T09:30:00.000Z"))
    );
    assert_eq!(
        (&entry["actor"]["type"], &entry["actor"]["memberId"]),
        (&json!("key"), &json!(app.home.member))
    );
    assert_eq!(entry["changes"], json!([{"field": "department", "before": "none", "after": "it"}]));
    assert_eq!(entry["state"]["department"], "it");
    assert_eq!(entry["sequence"], 4);
    assert!(log["nextCursor"].is_string());
}

async fn sequences_have_no_gaps_under_concurrency(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    let bodies: Vec<Value> = (0..20).map(|number| json!({"deviceLabelId": number})).collect();
    let calls = bodies.iter().map(|body| app.patch(&path, body).send());
    for reply in futures_util::future::join_all(calls).await {
        reply.expect(200);
    }
    let log = app.get("/v1/audit-logs").send().await.expect(200);
    let sequences: Vec<i64> = log["data"]
        .as_array()
        .expect("data")
        .iter()
        .map(|e| e["sequence"].as_i64().expect("a number"))
        .collect();
    assert_eq!(sequences, (1..=23).rev().collect::<Vec<i64>>());
    assert_eq!(verify(&app.ctx, home(app), &[]).await.expect("a verdict"), Verdict::Intact { entries: 23 });
}

async fn filters_and_pages(app: &TestApp) {
    five_changes(app).await;
    let found = async |query: &str| {
        let list = app.get(&format!("/v1/audit-logs?{query}")).send().await.expect(200);
        list["count"].as_i64().expect("a count")
    };
    assert_eq!(found("entityType=organization").await, 1);
    assert_eq!(found(&format!("entityId={}", app.home.member)).await, 6);
    assert_eq!(found("action=member.updated").await, 5);
    let both = found("entityType=organization,member").await;
    assert_eq!(both, found("entityType=organization&entityType=member").await);
    assert_eq!(both, 1 + found("entityType=member").await);
    assert_eq!(found("action=member.updated,nothing.else").await, 5);
    assert_eq!(found("action=Member.updated,member%25,member_updated").await, 0);
    assert_eq!(app.get("/v1/audit-logs?action=a,").send().await.wrong_fields(), ["action"]);
    assert_eq!(found(&format!("actor={}", app.home.member)).await, 5);
    assert_eq!(found("from=2026-11-15T09:30:00Z").await, 8);
    assert_eq!(found("to=2026-11-15T09:30:00Z").await, 0);
    assert_eq!(app.get("/v1/audit-logs?from=yesterday").send().await.wrong_fields(), ["from"]);
    let first = app.get("/v1/audit-logs?limit=5").send().await.expect(200);
    let next = first["nextCursor"].as_str().expect("more");
    let second = app.get(&format!("/v1/audit-logs?limit=5&cursor={next}")).send().await.expect(200);
    assert_eq!(
        (&second["data"][0]["sequence"], &second["count"], &second["nextCursor"]),
        (&json!(3), &json!(3), &Value::Null)
    );
    let sequences = |page: &Value| -> Vec<i64> {
        page["data"].as_array().expect("data").iter().filter_map(|entry| entry["sequence"].as_i64()).collect()
    };
    let first = app.get("/v1/audit-logs?order=asc&limit=5").send().await.expect(200);
    assert_eq!(sequences(&first), [1, 2, 3, 4, 5]);
    let next = first["nextCursor"].as_str().expect("more");
    let second = app.get(&format!("/v1/audit-logs?order=asc&limit=5&cursor={next}")).send().await.expect(200);
    assert_eq!((sequences(&second), &second["nextCursor"]), (vec![6, 7, 8], &Value::Null));
    let skipped = app.get("/v1/audit-logs?order=asc&offset=6").send().await.expect(200);
    assert_eq!(sequences(&skipped), [7, 8]);
    let mixed = app.get(&format!("/v1/audit-logs?cursor={next}")).send().await;
    assert_eq!(mixed.wrong_fields(), ["cursor"], "a cursor belongs to its order");
    assert_eq!(app.get("/v1/audit-logs?order=up").send().await.wrong_fields(), ["order"]);
}

async fn refused_attempts_are_entries(app: &TestApp) {
    let reader = app.key(&["member:read"]).await;
    let before = app.entries(&app.home).await;
    app.call("DELETE", "/v1/organization").key(&reader).send().await.problem(403, "forbidden");
    let entry = app.get("/v1/audit-logs?action=access.refused").send().await.expect(200)["data"][0].clone();
    assert_eq!(
        (&entry["entityType"], &entry["entityId"]),
        (&json!("operation"), &json!("DELETE /v1/organization"))
    );
    assert_eq!((&entry["actor"]["type"], &entry["state"]["code"]), (&json!("key"), &json!("forbidden")));
    // A deactivated member returns with a session.
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let other = app.tenant("Other", "bob@example.com").await;
    app.call("POST", "/v1/people/invite")
        .key(&other.key)
        .json(&json!({"email": "eve@example.com", "role": "admin"}))
        .send()
        .await
        .expect(201);
    app.accept(&attestry_tests::token_in(&app.mails().await)).await.expect(200);
    let token = app.sign_in("eve@example.com").await;
    app.delete(&format!("/v1/people/{}", eve["id"].as_str().expect("an id"))).send().await.expect(200);
    app.call("GET", "/v1/people")
        .session(&token, &app.home.organization)
        .send()
        .await
        .problem(403, "not_a_member");
    let log = app.get("/v1/audit-logs?action=access.refused").send().await.expect(200);
    assert_eq!(log["data"][0]["actor"]["memberId"], eve["id"]);
    assert!(app.entries(&app.home).await > before);
}

async fn repeated_refusals_are_counted(app: &TestApp) {
    let reader = app.key(&["member:read"]).await;
    let second = app.key(&["member:read"]).await;
    let before = app.entries(&app.home).await;
    for number in 0..200 {
        let path = if number % 4 == 0 { "/v1/risks" } else { "/v1/tasks" };
        app.call("GET", path).key(&reader).send().await.problem(403, "forbidden");
    }
    app.call("GET", "/v1/risks").key(&second).send().await.problem(403, "forbidden");
    assert_eq!(app.entries(&app.home).await, before + 2, "the first of each credential");
    attestry_app::core::refusals::write_counted(&app.ctx, false).await;
    assert_eq!(app.entries(&app.home).await, before + 2, "the minute is not over");
    app.clock.advance(std::time::Duration::from_mins(1));
    attestry_app::core::refusals::write_counted(&app.ctx, false).await;
    assert_eq!(app.entries(&app.home).await, before + 3);
    let log = app.get("/v1/audit-logs?action=access.refused").send().await.expect(200);
    let state = &log["data"][0]["state"];
    assert_eq!(state["count"], 199);
    assert_eq!(state["operations"], json!({"GET /v1/risks": 49, "GET /v1/tasks": 150}));
    assert_eq!(log["data"][0]["actor"]["type"], "key");
    // An active client stays in the counted window; one that stopped starts a new one.
    app.call("GET", "/v1/risks").key(&reader).send().await.problem(403, "forbidden");
    assert_eq!(app.entries(&app.home).await, before + 3);
    app.call("GET", "/v1/risks").key(&second).send().await.problem(403, "forbidden");
    assert_eq!(app.entries(&app.home).await, before + 4);
    // A server that stops writes its pending counts.
    attestry_app::core::refusals::write_counted(&app.ctx, true).await;
    assert_eq!(app.entries(&app.home).await, before + 5);
    assert!(matches!(verify(&app.ctx, home(app), &[]).await, Ok(Verdict::Intact { .. })));
}

async fn refusals_are_counted_for_each_organization(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let both = app.tenant("Third", "eve@example.com").await;
    for tenant in [&app.home, &other] {
        app.join(tenant, &both, "employee").await;
    }
    let session = app.sign_in("eve@example.com").await;
    for (tenant, path, times) in [(&app.home, "/v1/audit-logs", 3), (&other, "/v1/audit-logs/head", 5)] {
        for _ in 0..times {
            app.call("GET", path)
                .session(&session, &tenant.organization)
                .send()
                .await
                .problem(403, "forbidden");
        }
    }
    app.clock.advance(std::time::Duration::from_mins(1));
    attestry_app::core::refusals::write_counted(&app.ctx, false).await;
    for (tenant, path, counted) in [(&app.home, "/v1/audit-logs", 2), (&other, "/v1/audit-logs/head", 4)] {
        let log = app.call("GET", "/v1/audit-logs?action=access.refused").key(&tenant.key).send().await;
        let log = log.expect(200);
        let entries = log["data"].as_array().expect("entries");
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0]["state"]["operations"], json!({format!("GET {path}"): counted}));
    }
}

async fn a_changed_state_is_found(app: &TestApp) {
    five_changes(app).await;
    tamper(app, "UPDATE journal SET state = '{}' WHERE sequence = 5").await;
    assert_eq!(broken_at(app).await, 5);
}

async fn a_changed_entry_is_found(app: &TestApp) {
    five_changes(app).await;
    tamper(app, "UPDATE journal SET actor_id = 'somebody' WHERE sequence = 6").await;
    assert_eq!(broken_at(app).await, 6);
}

async fn a_removed_entry_is_found(app: &TestApp) {
    five_changes(app).await;
    tamper(app, "DELETE FROM journal WHERE sequence = 4").await;
    assert_eq!(broken_at(app).await, 4);
}

async fn reordered_entries_are_found(app: &TestApp) {
    five_changes(app).await;
    tamper(app, "UPDATE journal SET sequence = 99 WHERE sequence = 4").await;
    tamper(app, "UPDATE journal SET sequence = 4 WHERE sequence = 5").await;
    tamper(app, "UPDATE journal SET sequence = 5 WHERE sequence = 99").await;
    assert_eq!(broken_at(app).await, 4);
}

async fn a_cut_tail_is_found_by_the_signed_head_and_by_an_exported_one(app: &TestApp) {
    five_changes(app).await;
    let head = app.get("/v1/audit-logs/head").send().await.expect(200);
    assert_eq!(head["sequence"], 8);
    tamper(app, "DELETE FROM journal WHERE sequence > 6").await;
    assert_eq!(broken_at(app).await, 7);
    // Setting back the head does not help: its signature is missing.
    tamper(
        app,
        "UPDATE journal_heads SET sequence = 6, hash = (SELECT hash FROM journal WHERE sequence = 6)",
    )
    .await;
    assert_eq!(broken_at(app).await, 6);
    let exported = [(8, [7; 32])];
    let verdict = verify(&app.ctx, home(app), &exported).await.expect("a verdict");
    assert!(matches!(verdict, Verdict::Broken { sequence: 7, .. }), "{verdict:?}");
}

async fn an_erased_state_leaves_the_chain_whole(app: &TestApp) {
    five_changes(app).await;
    tamper(app, "UPDATE journal SET state = NULL WHERE sequence = 5").await;
    assert_eq!(verify(&app.ctx, home(app), &[]).await.expect("a verdict"), Verdict::Intact { entries: 8 });
}

async fn the_head_can_be_checked_with_the_published_key(app: &TestApp) {
    let head = app.get("/v1/audit-logs/head").send().await.expect(200);
    let keys = app.call("GET", "/.well-known/attestry-keys.json").send().await.expect(200);
    let key = &keys["keys"][0];
    assert_eq!(key["id"], head["keyId"]);
    let message = json!({"at": head["at"], "hash": head["hash"], "organizationId": head["organizationId"], "sequence": head["sequence"]});
    let public: Vec<u8> = (0..64)
        .step_by(2)
        .map(|i| u8::from_str_radix(&key["publicKey"].as_str().expect("hex")[i..i + 2], 16).expect("hex"))
        .collect();
    let signature = base64::Engine::decode(
        &base64::engine::general_purpose::STANDARD,
        head["signature"].as_str().expect("base64"),
    )
    .expect("base64");
    let public = aws_lc_rs::signature::UnparsedPublicKey::new(&aws_lc_rs::signature::ED25519, public);
    public.verify(message.to_string().as_bytes(), &signature).expect("the signature holds");
}

async fn one_organization_cannot_see_anothers_log(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let log = app
        .call("GET", &format!("/v1/audit-logs?entityId={}", app.home.member))
        .key(&other.key)
        .send()
        .await
        .expect(200);
    assert_eq!(log["count"], 0);
}

async fn a_chain_never_runs_backwards(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    let now = app.ctx.now();
    app.patch(&path, &json!({"department": "it"})).send().await.expect(200);
    // As if a server with a slow clock made the next change.
    app.clock.set(now.minus(std::time::Duration::from_hours(1)));
    app.patch(&path, &json!({"department": "hr"})).send().await.expect(200);
    app.clock.set(now);
    let log = app.get("/v1/audit-logs?limit=2").send().await.expect(200);
    assert_eq!(log["data"][0]["at"], log["data"][1]["at"]);
    assert!(matches!(verify(&app.ctx, home(app), &[]).await, Ok(Verdict::Intact { .. })));
}

async fn a_failed_change_leaves_no_entry_and_harms_nobody(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    let before = app.entries(&app.home).await;
    let bodies: Vec<Value> = (0..12).map(|number| json!({"deviceLabelId": number})).collect();
    let good = bodies.iter().map(|body| app.patch(&path, body).send());
    let bad = json!({"role": "employee"});
    let refused = (0..6).map(|_| app.patch(&path, &bad).send());
    let (good, refused) =
        futures_util::join!(futures_util::future::join_all(good), futures_util::future::join_all(refused));
    for reply in good {
        reply.expect(200);
    }
    for reply in refused {
        reply.problem(409, "last_owner");
    }
    assert_eq!(app.entries(&app.home).await, before + 12);
    assert!(matches!(verify(&app.ctx, home(app), &[]).await, Ok(Verdict::Intact { .. })));
}

async fn a_change_that_cannot_be_recorded_is_not_kept(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    app.patch(&path, &json!({"department": "it"})).send().await.expect(200);
    // A row already exists at the next sequence.
    tamper(app, "INSERT INTO journal (org_id, sequence, id, at, actor_type, actor_id, action, entity_type, entity_id, request_id, hash) SELECT org_id, sequence + 1, 'aud_x', at, 'system', 'x', 'x', 'x', 'x', 'x', hash FROM journal_heads").await;
    for _ in 0..3 {
        let refused = app.patch(&path, &json!({"department": "hr"})).send().await;
        assert!(refused.status.is_server_error(), "{}", refused.status);
    }
    assert_eq!(app.take_errors().len(), 3, "an operator learns of it");
    assert_eq!(app.get(&path).send().await.expect(200)["department"], "it");
    tamper(app, "DELETE FROM journal WHERE id = 'aud_x'").await;
    app.patch(&path, &json!({"department": "hr"})).send().await.expect(200);
    assert!(matches!(verify(&app.ctx, home(app), &[]).await, Ok(Verdict::Intact { .. })));
}
