//! Rate limits.

use attestry_tests::{Engine, TestApp, both, run_with};
use serde_json::json;

both! {
    without_a_limit_nobody_is_refused,
}

#[test]
fn a_key_that_asks_too_often_is_told_to_wait() {
    run_with(
        Engine::Sqlite,
        |http| http.rate_per_credential = 2,
        async |app| {
            let other = app.tenant("Other", "bob@example.com").await;
            let mut refused = None;
            for _ in 0..6 {
                let reply = app.get("/v1/people").send().await;
                if reply.status.as_u16() == 429 {
                    refused = Some(reply);
                }
            }
            let refused = refused.expect("a refusal");
            refused.problem(429, "rate_limited");
            assert_eq!(refused.header("retry-after"), Some("1"));
            app.call("GET", "/v1/people").key(&other.key).send().await.expect(200);
        },
    );
}

async fn without_a_limit_nobody_is_refused(app: &TestApp) {
    for _ in 0..50 {
        app.get("/v1/organization").send().await.expect(200);
    }
    let body = json!({"email": "x@example.com"});
    for _ in 0..20 {
        app.call("POST", "/v1/auth/forgot-password").json(&body).send().await.expect(200);
    }
    app.work().await;
}
