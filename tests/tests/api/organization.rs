//! `/v1/organization`.

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    it_is_shown_and_changed,
    only_an_owner_deletes_it,
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
    app.delete("/v1/organization").key(&admin).send().await.problem(403, "forbidden");
    app.member(&app.home, "eve@example.com", "admin").await;
    let eve = app.sign_in("eve@example.com").await;
    app.call("DELETE", "/v1/organization")
        .session(&eve, &app.home.organization)
        .send()
        .await
        .problem(403, "forbidden");
    app.tenant("Other", "bob@example.com").await;
    let gone = app.delete("/v1/organization").send().await.expect(200);
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
    let id = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
    let verdict = attestry_app::journal::verify(&app.ctx, id, &[]).await.expect("a verdict");
    assert!(matches!(verdict, attestry_app::journal::Verdict::Intact { .. }), "{verdict:?}");
}
