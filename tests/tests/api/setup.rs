//! `/v1/setup`: the first start.

use attestry_app::identity::setup;
use attestry_tests::{PASSWORD, TestApp, both};
use serde_json::{Value, json};

both! {
    an_empty_installation_is_set_up_once_by_the_token,
    another_secret_key_is_refused,
}

fn first(token: &str) -> Value {
    json!({"token": token, "organization": "First", "email": "first@example.com", "password": PASSWORD})
}

/// Empties the installation, as before set-up.
async fn empty(app: &attestry_tests::TestApp) {
    app.ctx
        .db
        .write(async |t| {
            for table in [
                "DELETE FROM journal",
                "DELETE FROM journal_heads",
                "DELETE FROM api_keys",
                "DELETE FROM members",
                "DELETE FROM organizations",
            ] {
                t.execute(table, &[]).await?;
            }
            Ok::<_, attestry_storage::Error>(())
        })
        .await
        .expect("emptied");
}

async fn an_empty_installation_is_set_up_once_by_the_token(app: &TestApp) {
    assert_eq!(app.call("GET", "/v1/setup").send().await.expect(200), json!({"needed": false}));
    assert!(setup::offer(&app.ctx).await.expect("an answer").is_none());
    empty(app).await;
    assert_eq!(app.call("GET", "/v1/setup").send().await.expect(200), json!({"needed": true}));
    let old = setup::offer(&app.ctx).await.expect("an answer").expect("a token");
    let token = setup::offer(&app.ctx).await.expect("an answer").expect("a token");
    app.call("POST", "/v1/setup").json(&first("guess")).send().await.problem(403, "wrong_setup_token");
    app.call("POST", "/v1/setup").json(&first(&old)).send().await.problem(403, "wrong_setup_token");
    let made = app.call("POST", "/v1/setup").json(&first(&token)).send().await.expect(201);
    app.call("POST", "/v1/setup").json(&first(&token)).send().await.problem(409, "already_set_up");
    let session = app.sign_in("first@example.com").await;
    let organization = made["organizationId"].as_str().expect("an id");
    let people = app.call("GET", "/v1/people").session(&session, organization).send().await.expect(200);
    assert_eq!(people["data"][0]["role"], "owner");
}

async fn another_secret_key_is_refused(app: &TestApp) {
    setup::bind_secret_key(&app.ctx, false).await.expect("bound");
    setup::bind_secret_key(&app.ctx, false).await.expect("the same key");
    app.ctx
        .db
        .write(async |t| attestry_storage::instance::put(t, "secret_key_fingerprint", "other").await)
        .await
        .expect("a statement");
    let error = setup::bind_secret_key(&app.ctx, false).await.expect_err("another key");
    assert!(error.to_string().contains("ATTESTRY_SECRET_KEY"), "{error}");
    setup::bind_secret_key(&app.ctx, true).await.expect("adopted");
}
