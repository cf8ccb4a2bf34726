//! Known failures of APIs like this one, with one test each: the comment describes the failure elsewhere, the test
//! the behaviour here. Those of people, keys and roles are with their routes.

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    an_assignee_of_elsewhere_or_nowhere_is_400,
    comments_of_nothing_are_400,
    an_attachment_is_reached_through_its_own_thing_alone,
    nothing_is_coerced_and_bad_text_is_400,
    a_file_is_what_it_says_and_base64_is_strict,
    what_a_member_had_outlives_the_member,
    fraud_is_a_category_in_requests_and_answers,
}

fn risk() -> Value {
    json!({"title": "A", "description": "B", "category": "fraud"})
}

fn vendor() -> Value {
    json!({"name": "A", "description": "B"})
}

/// Returns the path of an entity in a collection.
fn path(of: &str, made: &Value) -> String {
    format!("{of}/{}", made["id"].as_str().expect("an id"))
}

// It accepts an assignee of another organization, and an unknown one is a 500.
async fn an_assignee_of_elsewhere_or_nowhere_is_400(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    for (of, new) in [("/v1/risks", risk()), ("/v1/vendors", vendor())] {
        let made = app.post(of, &new).send().await.expect(201);
        for assignee in [
            other.member.as_str(),
            "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
            "nobody",
            "usr_01jcqg3v5mefzr7d0a6w3k9x2b",
        ] {
            let mut body = new.clone();
            body["assigneeId"] = json!(assignee);
            assert_eq!(app.post(of, &body).send().await.wrong_fields(), ["assigneeId"], "{of} {assignee}");
            let patch = json!({"assigneeId": assignee});
            assert_eq!(
                app.patch(&path(of, &made), &patch).send().await.wrong_fields(),
                ["assigneeId"],
                "{of} {assignee}"
            );
        }
    }
}

// It lists the comments of the whole organization when no entity is named.
async fn comments_of_nothing_are_400(app: &TestApp) {
    let made = app.post("/v1/risks", &risk()).send().await.expect(201);
    app.post("/v1/comments", &json!({"content": "x", "entityId": made["id"], "entityType": "risk"}))
        .send()
        .await
        .expect(201);
    assert_eq!(app.get("/v1/comments").send().await.wrong_fields(), ["entityId", "entityType"]);
    assert_eq!(app.get("/v1/comments?entityType=risk").send().await.wrong_fields(), ["entityId"]);
    assert_eq!(app.get("/v1/comments?entityType=risk&entityId=").send().await.wrong_fields(), ["entityId"]);
    assert_eq!(
        app.get(&format!("/v1/comments?entityId={}", made["id"].as_str().expect("an id")))
            .send()
            .await
            .wrong_fields(),
        ["entityType"]
    );
    // The right id with the wrong entity type is not found.
    app.get(&format!("/v1/comments?entityType=vendor&entityId={}", made["id"].as_str().expect("an id")))
        .send()
        .await
        .problem(404, "not_found");
}

// It serves an attachment through any entity of the same kind.
async fn an_attachment_is_reached_through_its_own_thing_alone(app: &TestApp) {
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    for (of, new) in [("/v1/risks", risk()), ("/v1/vendors", vendor())] {
        let own = path(of, &app.post(of, &new).send().await.expect(201));
        let other = path(of, &app.post(of, &new).send().await.expect(201));
        let made = app.post(&format!("{own}/attachments"), &file).send().await.expect(201);
        let below = path("attachments", &made);
        app.get(&format!("{other}/{below}/download")).send().await.problem(404, "not_found");
        app.delete(&format!("{other}/{below}")).send().await.problem(404, "not_found");
        app.get(&format!("{own}/{below}/download")).send().await.expect(200);
    }
}

// It reads "false" as true and numbers as text; null, NUL and lone surrogates reach the database as a 500.
async fn nothing_is_coerced_and_bad_text_is_400(app: &TestApp) {
    for (of, new, name) in [("/v1/risks", risk(), "title"), ("/v1/vendors", vendor(), "name")] {
        let made = path(of, &app.post(of, &new).send().await.expect(201));
        for bad in [
            json!(5),
            json!(true),
            json!(null),
            json!(["A"]),
            json!({"a": 1}),
            json!("a\u{0}b"),
            json!(""),
            json!("  "),
            json!("x".repeat(256)),
        ] {
            let mut body = new.clone();
            body[name] = bad.clone();
            assert_eq!(app.post(of, &body).send().await.wrong_fields(), [name], "{of} {bad}");
            let mut patch = json!({});
            patch[name] = bad.clone();
            assert_eq!(app.patch(&made, &patch).send().await.wrong_fields(), [name], "{of} {bad}");
        }
        let half = format!(r#"{{"{name}": "\ud800", "description": "B", "category": "other"}}"#);
        let reply = app.call("POST", of).key(&app.home.key).raw("application/json", half).send().await;
        assert_eq!(reply.wrong_fields(), [name]);
    }
    let bodies = [
        json!({"content": 5}),
        json!({"content": null}),
        json!({"content": "a\u{0}b"}),
        json!({"content": ""}),
    ];
    let about = app.post("/v1/risks", &risk()).send().await.expect(201);
    for mut body in bodies {
        body["entityId"] = about["id"].clone();
        body["entityType"] = json!("risk");
        assert_eq!(app.post("/v1/comments", &body).send().await.wrong_fields(), ["content"], "{body}");
    }
}

// It trusts the file name for the type, and accepts base64 with arbitrary characters in between.
async fn a_file_is_what_it_says_and_base64_is_strict(app: &TestApp) {
    let all = format!(
        "{}/attachments",
        path("/v1/vendors", &app.post("/v1/vendors", &vendor()).send().await.expect(201))
    );
    let body = |data: &str| json!({"fileName": "a.pdf", "fileType": "application/pdf", "fileData": data});
    app.post(&all, &body("aGVsbG8=")).send().await.problem(400, "file_refused");
    for data in [
        "JVBERi0x LjQ=",
        "JVBERi0x\nLjQ=",
        "JVBERi0xLjQ",
        "data:application/pdf;base64,JVBERi0xLjQ=",
        "JVBERi0xLjQ==",
    ] {
        assert_eq!(app.post(&all, &body(data)).send().await.wrong_fields(), ["fileData"], "{data:?}");
    }
    app.post(&all, &body("JVBERi0xLjQ=")).send().await.expect(201);
}

// It deletes the vendors that were assigned to a member with the member, and fails if the member wrote a comment.
async fn what_a_member_had_outlives_the_member(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let session = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    let mut assigned = vendor();
    assigned["assigneeId"] = eve["id"].clone();
    let made = session("POST", "/v1/vendors").json(&assigned).send().await.expect(201);
    let comment = json!({"content": "x", "entityId": made["id"], "entityType": "vendor"});
    session("POST", "/v1/comments").json(&comment).send().await.expect(201);
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let of = path("/v1/vendors", &made);
    session("POST", &format!("{of}/attachments")).json(&file).send().await.expect(201);
    app.delete(&path("/v1/people", &eve)).send().await.expect(200);
    assert_eq!(app.get(&of).send().await.expect(200)["assigneeId"], Value::Null);
    assert_eq!(
        app.get(&format!("{of}/attachments")).send().await.expect(200)["data"][0]["uploadedBy"],
        eve["id"]
    );
    let comments = app
        .get(&format!("/v1/comments?entityType=vendor&entityId={}", made["id"].as_str().expect("an id")))
        .send()
        .await
        .expect(200);
    assert_eq!(comments["data"][0]["author"]["deactivated"], true);
    app.mails().await;
}

// It documents a category that it refuses.
async fn fraud_is_a_category_in_requests_and_answers(app: &TestApp) {
    let made = app.post("/v1/risks", &risk()).send().await.expect(201);
    assert_eq!(made["category"], "fraud");
    assert_eq!(app.get("/v1/risks?category=fraud").send().await.expect(200)["count"], 1);
}
