//! A busy, full or unreachable database: 503 with `Retry-After`, and automatic recovery.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use attestry_tests::{Engine, run};
use serde_json::json;

#[test]
fn a_full_database_is_503_and_recovers() {
    run(Engine::Sqlite, async |app| {
        let path = format!("/v1/people/{}", app.home.member);
        let pages = app
            .ctx
            .db
            .write(async |t| t.one("PRAGMA page_count", &[], |row| row.int(0)).await)
            .await
            .expect("pages");
        let limit: &'static str = Box::leak(format!("PRAGMA max_page_count = {pages}").into_boxed_str());
        app.ctx.db.write(async move |t| t.one(limit, &[], |row| row.int(0)).await).await.expect("limited");
        let mut refused = None;
        for number in 0..200 {
            let reply = app.patch(&path, &json!({"deviceLabelId": number})).send().await;
            if reply.status.as_u16() != 200 {
                refused = Some(reply);
                break;
            }
        }
        let refused = refused.expect("the database fills up");
        refused.problem(503, "unavailable");
        assert_eq!(refused.header("retry-after"), Some("2"));
        app.get(&path).send().await.expect(200);
        app.ctx
            .db
            .write(async |t| t.one("PRAGMA max_page_count = 1000000", &[], |row| row.int(0)).await)
            .await
            .expect("unlimited");
        app.patch(&path, &json!({"department": "it"})).send().await.expect(200);
    });
}

#[test]
fn a_lost_connection_is_replaced() {
    run(Engine::Postgres, async |app| {
        app.get("/v1/people").send().await.expect(200);
        for _ in 0..3 {
            // The server ends every other connection, as a failover does.
            let _ = app.ctx.db.read(async |t| t.all("SELECT CAST(CASE WHEN pg_terminate_backend(pid) THEN 1 ELSE 0 END AS BIGINT) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()", &[], |row| row.int(0)).await).await;
            app.patch(&format!("/v1/people/{}", app.home.member), &json!({})).send().await.expect(200);
            app.get("/v1/people").send().await.expect(200);
        }
    });
}

#[test]
fn a_transaction_that_lay_idle_too_long_is_tried_again() {
    run(Engine::Postgres, async |app| {
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&attempts);
        let written: Result<u64, attestry_db::Error> = app
            .ctx
            .db
            .write(async move |t| {
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    t.execute("SET LOCAL idle_in_transaction_session_timeout = 1", &[]).await?;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                t.execute("INSERT INTO instance (name, value) VALUES ('idle', '1')", &[]).await
            })
            .await;
        assert_eq!((written.ok(), attempts.load(Ordering::SeqCst)), (Some(1), 2));
    });
}
