//! `/v1/organization`.

use std::time::Duration;

use attestry_app::identity::organizations::{self, GRACE};
use attestry_domain::id::OrganizationId;
use attestry_storage::archive;
use attestry_storage::schema::{Belongs, TABLES};
use attestry_tests::{PASSWORD, TestApp, both, token_in};
use serde_json::{Value, json};

both! {
    frameworks_are_chosen,
    it_is_shown_and_changed,
    only_an_owner_deletes_it,
    a_deletion_must_be_meant,
    a_deleted_organization_can_be_brought_back_for_thirty_days,
    a_removed_organization_leaves_its_chain_and_nothing_else,
}

async fn it_is_shown_and_changed(app: &TestApp) {
    let reply = app.get("/v1/organization").send().await;
    let before = reply.expect(200);
    assert_eq!(
        (&before["id"], &before["name"], &before["website"]),
        (&json!(app.home.organization), &json!("Home"), &Value::Null)
    );
    let tag = reply.header("etag").expect("a tag");
    let after = app
        .patch("/v1/organization", &json!({"name": " Home Ltd ", "website": "home.example"}))
        .header("if-match", tag)
        .send()
        .await
        .expect(200);
    assert_eq!((&after["name"], &after["website"]), (&json!("Home Ltd"), &json!("https://home.example")));
    app.patch("/v1/organization", &json!({"name": "x"}))
        .header("if-match", tag)
        .send()
        .await
        .problem(412, "precondition_failed");
    let cleared = app.patch("/v1/organization", &json!({"website": null})).send().await.expect(200);
    assert_eq!(cleared["website"], Value::Null);
    assert_eq!(
        app.patch("/v1/organization", &json!({"name": "", "website": "javascript:alert(1)"}))
            .send()
            .await
            .wrong_fields(),
        ["name", "website"]
    );
}

async fn only_an_owner_deletes_it(app: &TestApp) {
    let admin = app.key(&["organization:read", "organization:update", "api-key:create"]).await;
    let name = json!({"name": "Home"});
    app.delete("/v1/organization").key(&admin).json(&name).send().await.problem(403, "forbidden");
    app.member(&app.home, "eve@example.com", "admin").await;
    let eve = app.sign_in("eve@example.com").await;
    app.call("DELETE", "/v1/organization")
        .session(&eve, &app.home.organization)
        .json(&name)
        .send()
        .await
        .problem(403, "forbidden");
    app.tenant("Other", "bob@example.com").await;
    let gone = app.delete("/v1/organization").json(&name).send().await.expect(200);
    assert_eq!(
        gone,
        json!({"success": true, "deletedOrganization": {"id": app.home.organization, "name": "Home"}})
    );
    app.work().await;
    app.get("/v1/organization").send().await.problem(401, "invalid_api_key");
    app.call("GET", "/v1/people")
        .session(&eve, &app.home.organization)
        .send()
        .await
        .problem(403, "not_a_member");
    let verdict =
        attestry_app::core::verification::verify(&app.ctx, home(app), &[]).await.expect("a verdict");
    assert!(matches!(verdict, attestry_app::core::verification::Verdict::Intact { .. }), "{verdict:?}");
}

async fn a_deletion_must_be_meant(app: &TestApp) {
    let delete = || app.delete("/v1/organization");
    delete().send().await.problem(400, "malformed_body");
    assert_eq!(delete().json(&json!({})).send().await.wrong_fields(), ["name"]);
    for name in ["home", "Home Ltd", "x"] {
        assert_eq!(delete().json(&json!({"name": name})).send().await.wrong_fields(), ["name"], "{name}");
    }
    let old = delete().header("if-match", "\"0\"").json(&json!({"name": "Home"})).send().await;
    old.problem(412, "precondition_failed");
    app.get("/v1/organization").send().await.expect(200);
}

fn home(app: &TestApp) -> OrganizationId {
    OrganizationId::read(&app.home.organization).expect("an id")
}

async fn a_deleted_organization_can_be_brought_back_for_thirty_days(app: &TestApp) {
    let risk = app.risk(json!({"title": "Kept"})).await;
    app.post("/v1/people/invite", &json!({"email": "grace@example.com", "role": "employee"}))
        .send()
        .await
        .expect(201);
    let invitation = token_in(&app.mails().await);
    app.delete("/v1/organization").json(&json!({"name": "Home"})).send().await.expect(200);
    app.get("/v1/risks").send().await.problem(401, "invalid_api_key");
    let accept = json!({"token": invitation, "password": PASSWORD});
    app.call("POST", "/v1/auth/accept-invitation")
        .json(&accept)
        .send()
        .await
        .problem(410, "invitation_expired");
    let login = json!({"email": "ada@example.com", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&login).send().await.problem(403, "no_active_membership");
    app.clock.advance(GRACE.saturating_sub(Duration::from_secs(1)));
    app.housekeeping().await;
    organizations::restore(&app.ctx, home(app)).await.expect("brought back");
    assert_eq!(app.get("/v1/risks").send().await.expect(200)["data"][0]["id"], risk["id"]);
    app.sign_in("ada@example.com").await;
    let log = app.get("/v1/audit-logs?entityType=organization").send().await.expect(200);
    let actions: Vec<&str> = log["data"]
        .as_array()
        .expect("data")
        .iter()
        .map(|e| e["action"].as_str().expect("an action"))
        .collect();
    assert_eq!(actions, ["organization.restored", "organization.deleted", "organization.created"]);
}

async fn a_removed_organization_leaves_its_chain_and_nothing_else(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    app.risk(json!({})).await;
    app.post("/v1/people/invite", &json!({"email": "grace@example.com", "role": "employee"}))
        .send()
        .await
        .expect(201);
    app.work().await;
    app.delete("/v1/organization").json(&json!({"name": "Home"})).send().await.expect(200);
    app.clock.advance(GRACE + Duration::from_secs(1));
    app.housekeeping().await;
    organizations::restore(&app.ctx, home(app)).await.expect_err("too late");
    let (id, engine) = (app.home.organization.clone(), app.ctx.db.engine());
    let text = app
        .ctx
        .db
        .snapshot(async move |t| {
            let mut out = Vec::new();
            for table in TABLES.iter().filter(|table| table.belongs != Belongs::ForTheRecord) {
                let columns = archive::columns(t, engine, table.name).await?;
                archive::dump(t, table.name, &columns, &mut out).await?;
            }
            Ok::<_, attestry_storage::Error>(String::from_utf8_lossy(&out).into_owned())
        })
        .await
        .expect("a dump");
    // Only the row of the organization itself remains, without its name.
    assert_eq!(text.matches(&id).count(), 1, "{text}");
    assert!(!text.contains("grace@example.com") && !text.contains("\"Home\""), "{text}");
    let verdict =
        attestry_app::core::verification::verify(&app.ctx, home(app), &[]).await.expect("a verdict");
    assert!(matches!(verdict, attestry_app::core::verification::Verdict::Intact { .. }), "{verdict:?}");
    app.call("GET", "/v1/people").key(&other.key).send().await.expect(200);
}

async fn frameworks_are_chosen(app: &TestApp) {
    let all = app.get("/v1/frameworks?limit=2").send().await.expect(200);
    let ids = json!([all["data"][0]["id"], all["data"][1]["id"]]);
    let chosen = app.patch("/v1/organization", &json!({"frameworkIds": ids})).send().await.expect(200);
    assert_eq!(chosen["frameworkIds"].as_array().map(Vec::len), Some(2));
    let unknown = json!({"frameworkIds": ["frk_01jcqg3v5mefzr7d0a6w3k9x2b"]});
    assert_eq!(app.patch("/v1/organization", &unknown).send().await.wrong_fields(), ["frameworkIds"]);
    let none = app.patch("/v1/organization", &json!({"frameworkIds": []})).send().await.expect(200);
    assert_eq!(none["frameworkIds"], json!([]));
}
