//! Conventions of every operation, tested on `/v1/people`.

use attestry_tests::{Engine, TestApp, both, run_with};
use serde_json::json;

both! {
    every_failure_has_the_same_shape,
    bodies_are_json_objects,
    the_order_of_checks_holds,
    stray_query_parameters_are_named,
    made_up_methods_leave_no_trace_in_the_metrics,
    request_ids_are_taken_if_sane_or_made,
    answers_carry_security_headers,
    large_answers_are_compressed_for_those_who_take_it,
    head_answers_like_get_without_a_body,
    health_tells_that_it_runs,
    streamed_answers_are_whole_for_those_who_take_gzip,
    bodies_are_limited_by_what_their_route_takes,
    odd_clients_are_met_halfway,
    whole_numbers_are_taken_however_they_are_written,
}

async fn every_failure_has_the_same_shape(app: &TestApp) {
    let failures = [
        app.call("GET", "/nowhere").send().await,
        app.call("GET", "/v1/nowhere").send().await,
        app.call("PUT", "/v1/people").send().await,
        app.call("GET", "/v1/people").send().await,
        app.get("/v1/people/mem_x").send().await,
        app.call("POST", "/v1/people").key(&app.home.key).raw("text/plain", "x").send().await,
        app.call("POST", "/v1/people").key(&app.home.key).raw("application/json", "{").send().await,
        app.post("/v1/people", &json!({})).send().await,
    ];
    for (failure, status) in failures.iter().zip([404, 404, 405, 401, 404, 415, 400, 400]) {
        let problem = failure.expect(status);
        assert_eq!(failure.header("content-type"), Some("application/problem+json"));
        assert_eq!(problem["status"], status);
        assert_eq!(problem["requestId"], failure.header("x-request-id").expect("an id"));
        let code = problem["code"].as_str().expect("a code");
        assert_eq!(problem["type"], format!("/docs/errors#{code}"));
        assert!(
            problem["title"].is_string()
                && problem["detail"].as_str().is_some_and(|detail| detail.ends_with('.'))
        );
    }
    assert_eq!(failures[2].header("allow"), Some("GET,HEAD,POST"));
}

async fn odd_clients_are_met_halfway(app: &TestApp) {
    let slash = app.get("/v1/risks/?limit=1").send().await;
    assert_eq!((slash.status.as_u16(), slash.header("location")), (308, Some("/v1/risks?limit=1")));
    assert_eq!(app.call("GET", "/trust/engines/").send().await.header("location"), Some("/trust/engines"));
    for path in ["//evil.example/", "//evil.example//", "/\\evil.example/", "/v1/nowhere"] {
        assert_eq!(app.get(path).send().await.header("location"), None, "{path}");
    }
    app.get("/v1/risks").header("x-organization-id", "").send().await.expect(200);
    let body = json!({"title": "A", "description": "B", "category": "other"});
    let packed = app.post("/v1/risks", &body).header("content-encoding", "gzip").send().await;
    packed.problem(415, "unsupported_media_type");
    app.post("/v1/risks", &body).header("content-encoding", "identity").send().await.expect(201);
    assert_eq!(app.get("/v1/risks").send().await.expect(200)["count"], 1);
    let member = app.member(&app.home, "eve@example.com", "employee").await;
    let path = format!("/v1/people/{}?skipOffboarding=", member["id"].as_str().expect("an id"));
    assert_eq!(app.delete(&format!("{path}maybe")).send().await.wrong_fields(), ["skipOffboarding"]);
    app.delete(&format!("{path}true")).send().await.expect(200);
    let people =
        async |query: &str| app.get(&format!("/v1/people?{query}")).send().await.expect(200)["count"].clone();
    assert_eq!(people("includeDeactivated=true").await, 2);
    assert_eq!(people("includeDeactivated=false").await, 1);
    assert_eq!(people("includeDeactivated=&search=ada").await, 1);
    let log = app.get("/v1/audit-logs?take=2&offset=1").send().await.expect(200);
    let all = app.get("/v1/audit-logs").send().await.expect(200);
    assert_eq!((&log["data"][0], &log["count"]), (&all["data"][1], &json!(2)));
    let filtered = app.get("/v1/audit-logs?entityType=risk&offset=1").send().await.expect(200);
    assert_eq!(filtered["count"], 0);
    assert_eq!(app.get("/v1/audit-logs?offset=100001").send().await.wrong_fields(), ["offset"]);
}

async fn whole_numbers_are_taken_however_they_are_written(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    for (text, number) in [("12.0", 12), ("1e2", 100), ("1.5E1", 15)] {
        let body = format!("{{\"deviceLabelId\": {text}}}");
        let reply = app.call("PATCH", &path).key(&app.home.key).raw("application/json", body).send().await;
        assert_eq!(reply.expect(200)["deviceLabelId"], number, "{text}");
    }
    for text in ["12.5", "1e300", "-1.0", "\"12\""] {
        let body = format!("{{\"deviceLabelId\": {text}}}");
        let reply = app.call("PATCH", &path).key(&app.home.key).raw("application/json", body).send().await;
        assert_eq!(reply.wrong_fields(), ["deviceLabelId"], "{text}");
    }
    let settings = "/v1/trust-portal/settings";
    let body = "{\"defaultDurationDays\": 7.0}";
    let reply = app.call("PATCH", settings).key(&app.home.key).raw("application/json", body).send().await;
    assert_eq!(reply.expect(200)["defaultDurationDays"], 7);
}

async fn bodies_are_json_objects(app: &TestApp) {
    let send = async |content_type: &str, body: &'static [u8]| {
        app.call("POST", "/v1/people").key(&app.home.key).raw(content_type, body).send().await
    };
    for body in [
        &b""[..],
        b" ",
        b"{",
        b"[]",
        b"null",
        b"3",
        b"\"x\"",
        b"{\"a\":1,\"a\":2}",
        b"{\"a\":1}x",
        b"\xff",
        b"{\"a\":1,}",
        b"{\"role\":\"\\ud8\"}",
    ] {
        send("application/json", body).await.problem(400, "malformed_body");
    }
    // Checking for duplicate properties is quadratic, so their number is limited.
    let many: Vec<String> = (0..6000).map(|n| format!("\"{n}\":1")).collect();
    app.call("POST", "/v1/auth/login")
        .raw("application/json", format!("{{{}}}", many.join(",")))
        .send()
        .await
        .problem(400, "malformed_body");
    let many = format!("{{\"members\":[{}1]}}", "1,".repeat(1_000_000));
    let reply =
        app.call("POST", "/v1/people/bulk").key(&app.home.key).raw("application/json", many).send().await;
    assert_eq!(reply.wrong_fields(), ["members"]);
    // A lone surrogate is not text, and the error names the field.
    assert_eq!(
        send("application/json", b"{\"userId\":\"\\ud800\",\"role\":\"\\udc00x\"}").await.wrong_fields(),
        ["role", "userId"]
    );
    send("application/json; charset=utf-8", b"{}").await.problem(400, "validation_failed");
    send("Application/JSON", b"{}").await.problem(400, "validation_failed");
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "application/json5", "multipart/form-data"]
    {
        send(kind, b"{}").await.problem(415, "unsupported_media_type");
    }
    app.call("POST", "/v1/people").key(&app.home.key).send().await.problem(400, "malformed_body");
}

async fn the_order_of_checks_holds(app: &TestApp) {
    let huge = "x".repeat((16 << 20) + 1);
    let outsider = app.key(&["audit-log:read"]).await;
    let path = "/v1/people/mem_01jcqg3v5mefzr7d0a6w3k9x2b";
    // route, size, credentials, permission, body, existence
    app.call("POST", "/v1/nowhere").raw("text/plain", huge.clone()).send().await.problem(404, "not_found");
    app.call("PATCH", path)
        .header("content-length", &huge.len().to_string())
        .raw("text/plain", huge.clone())
        .send()
        .await
        .problem(413, "payload_too_large");
    app.call("PATCH", path).raw("text/plain", "x").send().await.problem(401, "missing_credentials");
    app.call("PATCH", path).key(&outsider).raw("text/plain", "x").send().await.problem(403, "forbidden");
    app.call("PATCH", path)
        .key(&app.home.key)
        .raw("text/plain", "x")
        .send()
        .await
        .problem(415, "unsupported_media_type");
    app.patch(path, &json!({"role": 1})).send().await.problem(400, "validation_failed");
    app.patch(path, &json!({})).send().await.problem(404, "not_found");
    // A body without a content length is cut off while it is read.
    app.call("POST", "/v1/people")
        .key(&app.home.key)
        .raw("application/json", huge)
        .send()
        .await
        .problem(413, "payload_too_large");
}

async fn stray_query_parameters_are_named(app: &TestApp) {
    for path in [
        "/v1/organization?x=1",
        "/v1/audit-logs/head?x=1",
        "/v1/health?x=1",
        &format!("/v1/people/{}?x=1", app.home.member),
    ] {
        assert_eq!(app.get(path).send().await.wrong_fields(), ["x"], "{path}");
    }
    assert_eq!(app.patch("/v1/organization?x=1", &json!({})).send().await.wrong_fields(), ["x"]);
}

async fn made_up_methods_leave_no_trace_in_the_metrics(app: &TestApp) {
    app.call("ZZ1", "/v1/people").send().await;
    let metrics = app.call("GET", "/metrics").send().await.text();
    assert!(!metrics.contains("ZZ1") && metrics.contains("method=\"other\""), "{metrics}");
}

async fn request_ids_are_taken_if_sane_or_made(app: &TestApp) {
    let given = app.call("GET", "/v1/health").header("x-request-id", "trace-42/a.b:c").send().await;
    assert_eq!(given.header("x-request-id"), Some("trace-42/a.b:c"));
    for odd in ["", "a b", "<script>", &"x".repeat(129)] {
        let reply = app.call("GET", "/v1/health").header("x-request-id", odd).send().await;
        let made = reply.header("x-request-id").expect("an id");
        assert!(made != odd && made.len() == 26, "{made}");
    }
}

async fn answers_carry_security_headers(app: &TestApp) {
    let reply = app.get("/v1/people").send().await;
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    assert_eq!(reply.header("strict-transport-security"), None);
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

async fn large_answers_are_compressed_for_those_who_take_it(app: &TestApp) {
    for number in 0..4 {
        app.member(&app.home, &format!("m{number}@example.com"), "employee").await;
    }
    let plain = app.get("/v1/people").send().await;
    assert_eq!(plain.header("content-encoding"), None);
    let zipped = app.get("/v1/people").header("accept-encoding", "gzip").send().await;
    assert_eq!((zipped.header("content-encoding"), &zipped.body[..2]), (Some("gzip"), &[0x1f, 0x8b][..]));
    assert!(zipped.body.len() < plain.body.len());
    let path = format!("/v1/people/{}", app.home.member);
    assert_eq!(
        app.get(&path).header("accept-encoding", "gzip").send().await.header("content-encoding"),
        None,
        "small"
    );
}

async fn head_answers_like_get_without_a_body(app: &TestApp) {
    let reply = app.call("HEAD", "/v1/people").key(&app.home.key).send().await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (200, 0));
}

async fn health_tells_that_it_runs(app: &TestApp) {
    app.clock.advance(std::time::Duration::from_millis(2500));
    let health = app.call("GET", "/v1/health").send().await.expect(200);
    assert_eq!(
        health,
        json!({"status": "ok", "timestamp": "2026-11-15T09:30:02.500Z", "uptime": 2.5, "version": "0.0.0-test"})
    );
    app.call("GET", "/health/live").send().await.expect(200);
    app.call("GET", "/health/ready").send().await.expect(200);
    let metrics = app.call("GET", "/metrics").send().await.text();
    assert!(
        metrics
            .contains("attestry_http_requests_total{method=\"GET\",route=\"/v1/health\",status=\"200\"} 1"),
        "{metrics}"
    );
    assert!(metrics.contains("attestry_http_request_seconds_bucket"));
}

#[test]
fn listed_origins_may_call_from_a_browser() {
    run_with(
        Engine::Sqlite,
        |http| http.cors_origins = vec!["https://console.example.com".to_owned()],
        async |app| {
            let preflight = |origin: &'static str| {
                app.call("OPTIONS", "/v1/people")
                    .header("origin", origin)
                    .header("access-control-request-method", "PATCH")
                    .header("access-control-request-headers", "x-api-key")
            };
            let good = preflight("https://console.example.com").send().await;
            assert_eq!(good.header("access-control-allow-origin"), Some("https://console.example.com"));
            assert!(
                good.header("access-control-allow-headers")
                    .is_some_and(|names| names.contains("x-organization-id"))
            );
            assert_eq!(
                preflight("https://evil.example").send().await.header("access-control-allow-origin"),
                None
            );
            let real = app.get("/v1/people").header("origin", "https://console.example.com").send().await;
            assert_eq!(real.header("access-control-allow-origin"), Some("https://console.example.com"));
        },
    );
}

#[test]
fn behind_https_browsers_are_told_to_stay_there() {
    run_with(
        Engine::Sqlite,
        |http| http.secure = true,
        async |app| {
            let reply = app.call("GET", "/v1/health").send().await;
            assert_eq!(reply.header("strict-transport-security"), Some("max-age=31536000"));
            let body = json!({"email": "ada@example.com", "password": attestry_tests::PASSWORD});
            let session = app.call("POST", "/v1/auth/login").json(&body).send().await;
            assert!(session.header("set-cookie").is_some_and(|cookie| cookie.contains("Secure")));
        },
    );
}

/// Decompresses a body as a client does.
fn unzipped(body: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(body), &mut text).expect("a whole gzip");
    text
}

async fn streamed_answers_are_whole_for_those_who_take_gzip(app: &TestApp) {
    for number in 0..40 {
        let risk =
            json!({"title": format!("Risk {number}"), "description": "x".repeat(500), "category": "other"});
        app.post("/v1/risks", &risk).send().await.expect(201);
        app.post("/v1/vendors", &json!({"name": format!("V{number}"), "description": "x".repeat(500)}))
            .send()
            .await
            .expect(201);
    }
    for path in ["/v1/risks/export", "/v1/vendors/export", "/v1/risks/export?asOf=2026-11-15T09:30:00Z"] {
        let plain = app.get(path).send().await;
        assert_eq!(plain.text().lines().count(), 41, "{path}");
        let zipped = app.get(path).header("accept-encoding", "gzip, deflate, br").send().await;
        assert_eq!(zipped.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(unzipped(&zipped.body), plain.text(), "{path}");
    }
    let sheet = app.get("/v1/risks/export?format=xlsx").header("accept-encoding", "gzip").send().await;
    assert!(sheet.status.is_success());
}

async fn bodies_are_limited_by_what_their_route_takes(app: &TestApp) {
    // The longest possible risk: every character of its texts as two escapes.
    let text = |count: usize| "\\ud83d\\ude00".repeat(count);
    let risk = format!(
        r#"{{"title":"{}","description":"{}","category":"other","treatmentStrategyDescription":"{}"}}"#,
        text(255),
        text(10_000),
        text(10_000)
    );
    app.call("POST", "/v1/risks").key(&app.home.key).raw("application/json", risk).send().await.expect(201);
    for (path, limit) in [("/v1/risks", 1 << 20), ("/v1/auth/login", 64 << 10)] {
        let spaces = |count: usize| app.call("POST", path).raw("application/json", " ".repeat(count));
        spaces(limit + 1).key(&app.home.key).send().await.problem(413, "payload_too_large");
        spaces(limit).key(&app.home.key).send().await.problem(400, "malformed_body");
    }
    let boundary = format!("multipart/form-data; boundary={}", "b".repeat(71));
    let risk = json!({"title": "A", "description": "B", "category": "other"});
    let risk = app.post("/v1/risks", &risk).send().await.expect(201);
    let attachments = format!("/v1/risks/{}/attachments", risk["id"].as_str().expect("an id"));
    for with_key in [true, false] {
        let call = app.call("POST", &attachments).key(&app.home.key).raw(&boundary, "x");
        let call = if with_key { call.header("idempotency-key", "k") } else { call };
        let problem = call.send().await.problem(400, "malformed_body");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("70")), "{problem}");
    }
}

#[test]
fn all_bodies_share_a_budget() {
    run_with(
        Engine::Sqlite,
        |http| http.body_memory = 64 << 10,
        async |app| {
            let small = json!({"title": "A", "description": "B", "category": "other"});
            let large = json!({"title": "A", "description": "x".repeat(10_000), "category": "other", "treatmentStrategyDescription": "x".repeat(10_000)});
            let file =
                json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVs".repeat(30_000)});
            app.post("/v1/risks", &large).send().await.expect(201);
            let risk = app.post("/v1/risks", &small).send().await.expect(201);
            let attachments = format!("/v1/risks/{}/attachments", risk["id"].as_str().expect("an id"));
            let refused = app.post(&attachments, &file).send().await;
            refused.problem(503, "unavailable");
            assert_eq!(refused.header("retry-after"), Some("1"));
            app.post("/v1/risks", &large).send().await.expect(201);
        },
    );
}
