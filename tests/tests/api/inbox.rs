//! The inbox of a member.

use std::time::Duration;

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

both! {
    what_concerns_a_member_reaches_their_inbox,
    many_notifications_of_one_change_are_one_item,
    due_dates_are_told_once_and_forgotten_when_done,
    an_item_goes_with_its_record_and_with_the_permission_to_see_it,
    an_inbox_shows_what_its_reader_may_see,
}

async fn inbox(app: &TestApp, token: &str, query: &str) -> Value {
    let path = format!("/v1/inbox{query}");
    app.call("GET", &path).session(token, &app.home.organization).send().await.expect(200)
}

async fn mark(app: &TestApp, token: &str, body: Value) -> Value {
    let call = app.call("POST", "/v1/inbox/read").session(token, &app.home.organization);
    call.json(&body).send().await.expect(200)
}

fn texts(inbox: &Value) -> Vec<&str> {
    inbox["data"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["text"].as_str().expect("a text"))
        .collect()
}

async fn what_concerns_a_member_reaches_their_inbox(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let task = app.task(json!({"title": "Review access", "assigneeId": eve["id"]})).await;
    let risk = app.risk(json!({"title": "Laptops are lost"})).await;
    let owner = app.sign_in(&app.home.email).await;
    let comment = json!({"content": "@eve, see this", "entityType": "risk", "entityId": id(&risk), "mentions": [eve["id"]]});
    let call = app.call("POST", "/v1/comments").session(&owner, &app.home.organization);
    call.json(&comment).send().await.expect(201);
    let found = inbox(app, &token, "").await;
    assert_eq!(texts(&found), ["Ada Byron mentioned you on R-1 Laptops are lost", "T-1 Review access"]);
    assert_eq!(found["unread"], 2);
    let [mention, assigned] = found["data"].as_array().expect("items").as_slice() else { panic!("two") };
    assert_eq!((&mention["kind"], &mention["entityType"]), (&json!("mentioned"), &json!("risk")));
    assert_eq!((&mention["entityId"], &mention["actorId"]), (&risk["id"], &json!(app.home.member)));
    assert_eq!((&assigned["kind"], &assigned["entityId"]), (&json!("assigned"), &task["id"]));
    assert_eq!(texts(&inbox(app, &token, "?kind=assigned").await), ["T-1 Review access"]);
    assert_eq!(texts(&inbox(app, &token, "?limit=1").await).len(), 1);
    let next = inbox(app, &token, "?limit=1").await["nextCursor"].as_str().expect("a cursor").to_owned();
    assert_eq!(texts(&inbox(app, &token, &format!("?limit=1&cursor={next}")).await), ["T-1 Review access"]);

    assert_eq!(mark(app, &token, json!({"ids": [mention["id"]]})).await["unread"], 1);
    assert_eq!(texts(&inbox(app, &token, "?unread=true").await), ["T-1 Review access"]);
    assert_eq!(mark(app, &token, json!({"ids": [mention["id"]], "isRead": false})).await["unread"], 2);
    assert_eq!(mark(app, &token, json!({"upTo": mention["id"]})).await["unread"], 0);
    let call = app.call("POST", "/v1/inbox/read").session(&token, &app.home.organization);
    assert_eq!(call.json(&json!({})).send().await.wrong_fields(), ["ids"]);

    // Nobody else's inbox is changed or seen, not even with their ids.
    assert_eq!(inbox(app, &owner, "").await["data"], json!([]));
    mark(app, &owner, json!({"ids": [mention["id"]], "isRead": false})).await;
    assert_eq!(inbox(app, &token, "").await["unread"], 0);
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app.call("GET", "/v1/inbox").key(&other.key).send().await.expect(200);
    assert_eq!(theirs["data"], json!([]));
    app.call("GET", "/v1/inbox").send().await.problem(401, "missing_credentials");

    // Mail preferences do not empty the inbox.
    let off = json!({"assigned": false});
    let call = app.call("PATCH", "/v1/auth/notifications").session(&token, &app.home.organization);
    call.json(&off).send().await.expect(200);
    app.mails().await;
    app.task(json!({"title": "Quiet", "assigneeId": eve["id"]})).await;
    assert_eq!(app.mails().await.len(), 0);
    assert_eq!(texts(&inbox(app, &token, "?unread=true").await), ["T-2 Quiet"]);
    app.clock.advance(Duration::from_hours(366 * 24));
    app.housekeeping().await;
    let token = app.sign_in("eve@example.com").await;
    let kept = inbox(app, &token, "?kind=mentioned").await;
    assert_eq!(kept["data"], json!([]), "a year is enough");
}

async fn many_notifications_of_one_change_are_one_item(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let mut ids = Vec::new();
    for number in 0..40 {
        ids.push(app.task(json!({"title": format!("Task {number}")})).await["id"].clone());
    }
    app.patch("/v1/tasks/bulk/assignee", &json!({"taskIds": ids, "assigneeId": eve["id"]}))
        .send()
        .await
        .expect(200);
    let mails = app.mails().await;
    assert_eq!((mails.len(), mails[0].subject.as_str()), (1, "40 things were assigned to you"));
    assert!(mails[0].text.contains("and 10 more"), "{}", mails[0].text);
    let token = app.sign_in("eve@example.com").await;
    let found = inbox(app, &token, "").await;
    assert_eq!(texts(&found), ["40 things were assigned to you"]);
    assert_eq!(found["data"][0]["entityId"], Value::Null);
}

async fn due_dates_are_told_once_and_forgotten_when_done(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let soon = app.task(json!({"title": "soon", "dueDate": "2026-11-18", "assigneeId": eve["id"]})).await;
    app.task(json!({"title": "late", "dueDate": "2026-11-02", "assigneeId": eve["id"]})).await;
    app.housekeeping().await;
    app.clock.advance(Duration::from_hours(24));
    app.housekeeping().await;
    let token = app.sign_in("eve@example.com").await;
    let due = async |kind: &str| {
        let found = inbox(app, &token, &format!("?kind={kind}")).await;
        texts(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(due("dueSoon").await, ["T-1 soon (due 2026-11-18)"]);
    assert_eq!(due("overdue").await, ["T-2 late (due 2026-11-02)"]);
    let path = format!("/v1/tasks/{}", id(&soon));
    app.patch(&path, &json!({"status": "done"})).send().await.expect(200);
    assert_eq!(due("dueSoon").await, [""; 0]);
    let done = inbox(app, &token, "?unread=true").await;
    assert_eq!(done["unread"].as_i64(), i64::try_from(texts(&done).len()).ok());
    // A new due date is another occasion.
    app.patch(&path, &json!({"status": "todo", "dueDate": "2026-11-19"})).send().await.expect(200);
    app.clock.advance(Duration::from_hours(24));
    app.housekeeping().await;
    let token = app.sign_in("eve@example.com").await;
    let found = inbox(app, &token, "?kind=dueSoon").await;
    assert!(texts(&found).contains(&"T-1 soon (due 2026-11-19)"));
}

async fn an_item_goes_with_its_record_and_with_the_permission_to_see_it(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let task = app.task(json!({"title": "gone", "assigneeId": eve["id"]})).await;
    app.task(json!({"title": "kept", "assigneeId": eve["id"]})).await;
    let risk = app.risk(json!({})).await;
    let owner = app.sign_in(&app.home.email).await;
    let comment =
        json!({"content": "see", "entityType": "risk", "entityId": id(&risk), "mentions": [eve["id"]]});
    let call = app.call("POST", "/v1/comments").session(&owner, &app.home.organization);
    call.json(&comment).send().await.expect(201);
    app.delete(&format!("/v1/tasks/{}", id(&task))).send().await.expect(200);
    assert_eq!(texts(&inbox(app, &token, "").await).len(), 2);
    let role = json!({"role": "employee"});
    app.patch(&format!("/v1/people/{}", id(&eve)), &role).send().await.expect(200);
    let token = app.sign_in("eve@example.com").await;
    assert_eq!(texts(&inbox(app, &token, "").await), ["T-2 kept"]);
}

async fn an_inbox_shows_what_its_reader_may_see(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let task = app.task(json!({"title": "secret plan", "assigneeId": eve["id"]})).await;
    let draft = json!({"name": "Draft", "assigneeId": eve["id"]});
    let policy = app.post("/v1/policies", &draft).send().await.expect(201);
    let token = app.sign_in("eve@example.com").await;
    assert!(texts(&inbox(app, &token, "").await).contains(&"T-1 secret plan"));
    let owner = app.sign_in(&app.home.email).await;
    let risk = app.risk(json!({"title": "secret risk"})).await;
    let mention =
        json!({"content": "see", "entityType": "risk", "entityId": id(&risk), "mentions": [eve["id"]]});
    let call = app.call("POST", "/v1/comments").session(&owner, &app.home.organization);
    call.json(&mention).send().await.expect(201);
    let ask = json!({"approverId": eve["id"]});
    app.patch(&format!("/v1/policies/{}", id(&policy)), &json!({"contentMarkdown": "Be careful."}))
        .send()
        .await
        .expect(200);
    app.post(&format!("/v1/policies/{}/submit-for-approval", id(&policy)), &ask).send().await.expect(200);
    assert_eq!(texts(&inbox(app, &token, "").await).len(), 4, "a task, a policy and its approval, a mention");
    // A key reaches no further than its permissions.
    let call = app.call("POST", "/v1/organization/api-keys").session(&token, &app.home.organization);
    let key = call.json(&json!({"name": "narrow", "scopes": ["profile:read"]})).send().await.expect(201);
    let key = key["key"].as_str().expect("a key").to_owned();
    let found = app.call("GET", "/v1/inbox").key(&key).send().await.expect(200);
    assert_eq!((&found["data"], &found["unread"]), (&json!([]), &json!(0)));
    let call = app.call("POST", "/v1/organization/api-keys").session(&token, &app.home.organization);
    let risks = json!({"name": "risks", "scopes": ["profile:read", "risk:read"]});
    let risks = call.json(&risks).send().await.expect(201)["key"].as_str().expect("a key").to_owned();
    let found = app.call("GET", "/v1/inbox").key(&risks).send().await.expect(200);
    assert_eq!(texts(&found), ["Ada Byron mentioned you on R-1 secret risk"]);
    let blind = app.key(&["risk:read"]).await;
    app.call("GET", "/v1/inbox").key(&blind).send().await.problem(403, "forbidden");
    // Someone else's task, and a policy that is not published, are not for an employee.
    let path = format!("/v1/people/{}", id(&eve));
    app.patch(&path, &json!({"role": "employee"})).send().await.expect(200);
    app.patch(&format!("/v1/tasks/{}", id(&task)), &json!({"assigneeId": null})).send().await.expect(200);
    let token = app.sign_in("eve@example.com").await;
    let found = inbox(app, &token, "").await;
    assert_eq!((texts(&found), &found["unread"]), (Vec::new(), &json!(0)), "{policy}");
    // A digest names no risk to an owner who may not see risks.
    app.risk(json!({"title": "hidden", "assigneeId": eve["id"]})).await;
    app.clock.advance(Duration::from_hours(24));
    app.housekeeping().await;
    let token = app.sign_in("eve@example.com").await;
    assert_eq!(texts(&inbox(app, &token, "").await), [""; 0]);
}
