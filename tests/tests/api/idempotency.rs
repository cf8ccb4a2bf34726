//! `Idempotency-Key`.

use std::time::Duration;

use attestry_tests::both;
use serde_json::{Value, json};

both! {
    async fn the_same_key_and_body_act_once(app) {
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
        app.post("/v1/people", &json!({"userId": bob.user, "role": "admin"})).header("idempotency-key", "k-1").send().await.problem(422, "idempotency_mismatch");
        app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k-1").send().await.problem(422, "idempotency_mismatch");
        // Another caller's key of the same name is another key.
        app.call("POST", "/v1/organization/api-keys").key(&bob.key).json(&body).header("idempotency-key", "k-1").send().await.expect(201);
    }

    async fn a_failed_request_frees_its_key(app) {
        let bob = app.tenant("Other", "bob@example.com").await;
        let wrong = json!({"userId": bob.user});
        let right = json!({"userId": bob.user, "role": "employee"});
        app.post("/v1/people", &wrong).header("idempotency-key", "k").send().await.problem(400, "validation_failed");
        app.post("/v1/people", &right).header("idempotency-key", "k").send().await.expect(201);
        assert_eq!(app.post("/v1/people", &right).header("idempotency-key", &"x".repeat(256)).send().await.wrong_fields(), ["Idempotency-Key"]);
    }

    async fn it_is_forgotten_after_a_day(app) {
        let body = json!({"name": "daily", "scopes": ["member:read"]});
        let call = || app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k");
        let first = call().send().await.expect(201);
        app.clock.advance(Duration::from_hours(23));
        assert_eq!(call().send().await.expect(201)["id"], first["id"]);
        app.clock.advance(Duration::from_hours(2));
        assert_ne!(call().send().await.expect(201)["id"], first["id"]);
    }

    async fn a_secret_is_not_answered_twice(app) {
        let body = json!({"name": "once", "scopes": ["member:read"]});
        let call = || app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k");
        let first = call().send().await.expect(201);
        assert!(first["key"].is_string());
        let second = call().send().await.expect(201);
        assert_eq!((&second["id"], &second["key"]), (&first["id"], &Value::Null));
    }

    async fn at_once_only_one_runs(app) {
        let bob = app.tenant("Other", "bob@example.com").await;
        let body = json!({"userId": bob.user, "role": "employee"});
        let calls = (0..5).map(|_| app.post("/v1/people", &body).header("idempotency-key", "k").send());
        let replies = futures_util::future::join_all(calls).await;
        let fresh = replies.iter().filter(|r| r.status.as_u16() == 201 && r.header("idempotency-replayed").is_none()).count();
        assert_eq!(fresh, 1);
        for reply in replies {
            match reply.status.as_u16() {
                201 => {}
                _ => drop(reply.problem(409, "idempotency_in_progress")),
            }
        }
    }

    async fn after_a_crash_a_repetition_learns_that_it_was_done(app) {
        let body = json!({"name": "once", "scopes": ["member:read"]});
        let call = || app.post("/v1/organization/api-keys", &body).header("idempotency-key", "k");
        call().send().await.expect(201);
        // The process died between the commit and the answer.
        app.ctx.db.write(async |t| t.execute("UPDATE idempotency_keys SET state = 'applied', answer = NULL", &[]).await).await.expect("a statement");
        call().send().await.problem(409, "idempotency_in_progress");
        app.clock.advance(Duration::from_mins(3));
        call().send().await.problem(409, "idempotency_answer_lost");
        // It died before the commit: the claim can be taken over when its time is up.
        app.ctx.db.write(async |t| t.execute("UPDATE idempotency_keys SET state = 'running'", &[]).await).await.expect("a statement");
        call().send().await.expect(201);
    }
}
