//! `/v1/comments`.

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

both! {
    whoever_is_mentioned_is_told,
    the_author_writes_changes_and_deletes,
    nobody_but_the_author_whatever_their_role,
    both_parameters_are_required_and_the_thing_must_be_ones_own,
    comments_go_with_what_they_are_about_and_outlive_their_author,
    everybody_acts_in_their_own_name,
    files_of_a_comment_are_seen_by_those_who_see_its_subject,
}

async fn the_author_writes_changes_and_deletes(app: &TestApp) {
    let risk = app
        .post("/v1/risks", &json!({"title": "A", "description": "B", "category": "other"}))
        .send()
        .await
        .expect(201);
    let body = json!({"content": " Encrypted since Monday. ", "entityId": risk["id"], "entityType": "risk"});
    let made = app.post("/v1/comments", &body).send().await.expect(201);
    assert_eq!(
        made["author"],
        json!({"id": app.home.user, "name": "Ada Byron", "email": "ada@example.com", "image": null, "deactivated": false})
    );
    assert_eq!(
        (&made["content"], &made["entityId"], &made["entityType"]),
        (&json!("Encrypted since Monday."), &risk["id"], &json!("risk"))
    );
    let path = format!("/v1/comments/{}", made["id"].as_str().expect("an id"));
    app.clock.advance(std::time::Duration::from_secs(1));
    let changed = app
        .call("PUT", &path)
        .key(&app.home.key)
        .json(&json!({"content": "Since Tuesday."}))
        .send()
        .await
        .expect(200);
    assert_eq!(
        (&changed["content"], &changed["updatedAt"]),
        (&json!("Since Tuesday."), &json!("2026-11-15T09:30:01.000Z"))
    );
    let query = format!("/v1/comments?entityType=risk&entityId={}", risk["id"].as_str().expect("an id"));
    assert_eq!(app.get(&query).send().await.expect(200)["data"], json!([changed]));
    let gone = app.delete(&path).send().await.expect(200);
    assert_eq!((&gone["success"], &gone["deletedCommentId"]), (&json!(true), &made["id"]));
    assert!(gone["message"].is_string());
    app.delete(&path).send().await.problem(404, "not_found");
    assert_eq!(app.get(&query).send().await.expect(200)["count"], 0);
}

async fn nobody_but_the_author_whatever_their_role(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "auditor").await;
    let token = app.sign_in("eve@example.com").await;
    let vendor = app.post("/v1/vendors", &json!({"name": "A", "description": "B"})).send().await.expect(201);
    let body = json!({"content": "Hm.", "entityId": vendor["id"], "entityType": "vendor"});
    let made = app
        .call("POST", "/v1/comments")
        .session(&token, &app.home.organization)
        .json(&body)
        .send()
        .await
        .expect(201);
    let path = format!("/v1/comments/{}", made["id"].as_str().expect("an id"));
    app.delete(&path).send().await.problem(403, "not_the_author");
    app.call("PUT", &path)
        .key(&app.home.key)
        .json(&json!({"content": "x"}))
        .send()
        .await
        .problem(403, "not_the_author");
    // In the name of another user.
    let mut forged = body.clone();
    forged["userId"] = json!(made["author"]["id"]);
    app.post("/v1/comments", &forged).send().await.problem(403, "not_the_author");
    forged["userId"] = json!(app.home.user);
    app.post("/v1/comments", &forged).send().await.expect(201);
    app.call("DELETE", &path).session(&token, &app.home.organization).send().await.expect(200);
}

async fn both_parameters_are_required_and_the_thing_must_be_ones_own(app: &TestApp) {
    assert_eq!(app.get("/v1/comments").send().await.wrong_fields(), ["entityId", "entityType"]);
    assert_eq!(app.get("/v1/comments?entityType=risk").send().await.wrong_fields(), ["entityId"]);
    assert_eq!(
        app.get("/v1/comments?entityType=member&entityId=x").send().await.wrong_fields(),
        ["entityType"]
    );
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app
        .call("POST", "/v1/vendors")
        .key(&other.key)
        .json(&json!({"name": "A", "description": "B"}))
        .send()
        .await
        .expect(201);
    let id = theirs["id"].as_str().expect("an id");
    app.get(&format!("/v1/comments?entityType=vendor&entityId={id}")).send().await.problem(404, "not_found");
    app.post("/v1/comments", &json!({"content": "x", "entityId": id, "entityType": "vendor"}))
        .send()
        .await
        .problem(404, "not_found");
    app.post("/v1/comments", &json!({"content": "x", "entityId": id, "entityType": "risk"}))
        .send()
        .await
        .problem(404, "not_found");
    let wrong = json!({"content": "x".repeat(2001), "entityId": 5, "entityType": "member"});
    assert_eq!(
        app.post("/v1/comments", &wrong).send().await.wrong_fields(),
        ["content", "entityId", "entityType"]
    );
}

async fn comments_go_with_what_they_are_about_and_outlive_their_author(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let risk = app
        .post("/v1/risks", &json!({"title": "A", "description": "B", "category": "other"}))
        .send()
        .await
        .expect(201);
    let id = risk["id"].as_str().expect("an id").to_owned();
    let body = json!({"content": "Hm.", "entityId": id, "entityType": "risk"});
    app.call("POST", "/v1/comments")
        .session(&token, &app.home.organization)
        .json(&body)
        .send()
        .await
        .expect(201);
    app.delete(&format!("/v1/people/{}", eve["id"].as_str().expect("an id"))).send().await.expect(200);
    let list = app.get(&format!("/v1/comments?entityType=risk&entityId={id}")).send().await.expect(200);
    assert_eq!(list["data"][0]["author"]["deactivated"], true);
    app.delete(&format!("/v1/risks/{id}")).send().await.expect(200);
    let log = app.get("/v1/audit-logs?action=comment.deleted").send().await.expect(200);
    assert_eq!((&log["count"], &log["data"][0]["state"]), (&json!(1), &Value::Null));
}

async fn everybody_acts_in_their_own_name(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let (own, other) = (json!({"userId": app.home.user}), json!({"userId": eve["userId"]}));
    let risk = app.risk(json!({})).await;
    let comment = json!({"content": "Hm.", "entityId": risk["id"], "entityType": "risk"});
    let comment = app.post("/v1/comments", &comment).send().await.expect(201);
    let path = format!("/v1/comments/{}", id(&comment));
    let put = |user: &Value| {
        app.call("PUT", &path).key(&app.home.key).json(&json!({"content": "Ah.", "userId": user["userId"]}))
    };
    put(&other).send().await.problem(403, "not_the_author");
    put(&own).send().await.expect(200);
    let attachments = format!("/v1/risks/{}/attachments", id(&risk));
    let attach = |user: &Value| {
        let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8=", "userId": user["userId"]});
        app.post(&attachments, &file)
    };
    attach(&other).send().await.problem(403, "not_the_author");
    let file = attach(&own).send().await.expect(201);
    let form = |user: &Value| {
        let part = |name: &str, more: &str, text: &str| {
            format!("--b\r\ncontent-disposition: form-data; name=\"{name}\"{more}\r\n\r\n{text}\r\n")
        };
        let user = part("userId", "", user["userId"].as_str().expect("an id"));
        let body = format!("{}{user}--b--\r\n", part("file", "; filename=\"a.txt\"", "hello"));
        app.call("POST", &attachments).key(&app.home.key).raw("multipart/form-data; boundary=b", body)
    };
    form(&other).send().await.problem(403, "not_the_author");
    form(&own).send().await.expect(201);
    let file = format!("{attachments}/{}", id(&file));
    for path in [&file, &path] {
        app.delete(path).json(&other).send().await.problem(403, "not_the_author");
        assert_eq!(app.delete(path).json(&json!({"userId": 5})).send().await.wrong_fields(), ["userId"]);
        app.delete(path).json(&own).send().await.expect(200);
    }
    app.work().await;
    assert_eq!(app.get(&attachments).send().await.expect(200)["count"], 1, "what was refused was not kept");
}

async fn files_of_a_comment_are_seen_by_those_who_see_its_subject(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let task = app.task(json!({"assigneeId": eve["id"]})).await;
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let comment =
        json!({"content": "See this.", "entityId": task["id"], "entityType": "task", "attachments": [file]});
    let comment = app.post("/v1/comments", &comment).send().await.expect(201);
    let files = format!("/v1/comments/{}/attachments", id(&comment));
    let list = || app.call("GET", &files).session(&token, &app.home.organization);
    let file = list().send().await.expect(200)["data"][0].clone();
    let link = format!("/v1/attachments/{}/download", id(&file));
    let download = || app.call("GET", &link).session(&token, &app.home.organization);
    download().send().await.expect(200);

    app.patch(&format!("/v1/tasks/{}", id(&task)), &json!({"assigneeId": null})).send().await.expect(200);
    list().send().await.problem(404, "not_found");
    download().send().await.problem(404, "not_found");
    app.work().await;
}

async fn whoever_is_mentioned_is_told(app: &TestApp) {
    let admin = app.member(&app.home, "grace@example.com", "admin").await;
    let employee = app.member(&app.home, "eve@example.com", "employee").await;
    let neighbour = app.tenant("Neighbour", "neighbour@example.com").await;
    let risk = app.risk(json!({"title": "Laptop stolen"})).await;
    let say = |mentions: Value| {
        let body = json!({"content": "@Grace, please look.", "entityId": id(&risk), "entityType": "risk", "mentions": mentions});
        app.post("/v1/comments", &body).send()
    };
    say(json!([admin["id"], app.home.member])).await.expect(201);
    let told = app.mails().await;
    assert_eq!(told.len(), 1, "nobody tells themselves: {told:?}");
    assert_eq!(told[0].to_address, "grace@example.com");
    assert!(told[0].subject.contains("mentioned you on R-1 Laptop stolen"), "{}", told[0].subject);
    // Employees do not see risks, and a mention must not reveal one. The comment is rejected as well.
    for nobody in [&employee["id"], &json!(neighbour.member), &json!("mem_01jcqg3v5mefzr7d0a6w3k9x2b")] {
        assert_eq!(say(json!([admin["id"], nobody])).await.wrong_fields(), ["mentions"]);
    }
    let about = format!("/v1/comments?entityType=risk&entityId={}", id(&risk));
    assert_eq!(app.get(&about).send().await.expect(200)["count"], 1);
    assert_eq!(app.mails().await.len(), 0);
    // An employee can be mentioned on a task that is assigned to them.
    let task = app.post("/v1/tasks", &json!({"title": "Test backups", "assigneeId": employee["id"]}));
    let task = task.send().await.expect(201);
    app.mails().await;
    let body = json!({"content": "Done?", "entityId": id(&task), "entityType": "task", "mentions": [employee["id"]]});
    app.post("/v1/comments", &body).send().await.expect(201);
    assert_eq!(app.mails().await.len(), 1);
    // The notification can be switched off.
    let session = app.sign_in("eve@example.com").await;
    app.call("PATCH", "/v1/auth/notifications")
        .session(&session, &app.home.organization)
        .json(&json!({"mentioned": false}))
        .send()
        .await
        .expect(200);
    app.post("/v1/comments", &body).send().await.expect(201);
    assert_eq!(app.mails().await.len(), 0);
}
