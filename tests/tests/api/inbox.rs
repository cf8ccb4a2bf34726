//! The inbox of a member, and chat channels.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attestry_tests::{TestApp, both, id};
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use http::StatusCode;
use serde_json::{Value, json};

both! {
    what_concerns_a_member_reaches_their_inbox,
    many_notifications_of_one_change_are_one_item,
    due_dates_are_told_once_and_forgotten_when_done,
    an_item_goes_with_its_record_and_with_the_permission_to_see_it,
    channels_hear_of_what_they_ask_for,
    a_channel_says_why_a_message_did_not_arrive,
    the_address_of_a_channel_is_never_shown,
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

/// A receiver of webhooks: what it received, and what it answers.
#[derive(Clone, Debug, Default)]
struct Receiver {
    received: Arc<Mutex<Vec<Value>>>,
    answers: Arc<Mutex<Vec<(u16, &'static str)>>>,
}

impl Receiver {
    async fn start() -> (Self, String) {
        let receiver = Self::default();
        let router = Router::new().route("/hooks/{*path}", post(receive)).with_state(receiver.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        (receiver, format!("http://{address}/hooks/T000/B000/abcdefghijklwXyZ"))
    }

    fn answer(&self, status: u16, text: &'static str) {
        self.answers.lock().expect("held by nobody").push((status, text));
    }

    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.received.lock().expect("held by nobody"))
    }
}

async fn receive(State(receiver): State<Receiver>, body: axum::Json<Value>) -> Response {
    receiver.received.lock().expect("held by nobody").push(body.0);
    match receiver.answers.lock().expect("held by nobody").pop() {
        None => "ok".into_response(),
        Some((302, target)) => Redirect::temporary(target).into_response(),
        Some((status, text)) => (StatusCode::from_u16(status).expect("a status"), text).into_response(),
    }
}

async fn channel(app: &TestApp, kind: &str, url: &str, notices: Value) -> Value {
    let body = json!({"name": "Compliance", "kind": kind, "url": url, "notices": notices});
    app.post("/v1/chat-channels", &body).send().await.expect(201)
}

async fn channels_hear_of_what_they_ask_for(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let (receiver, url) = Receiver::start().await;
    let slack = channel(app, "slack", &url, json!(["assigned", "overdue"])).await;
    let teams = channel(app, "teams", &url, json!(["assigned"])).await;
    app.task(json!({"title": "Review <access> & more", "assigneeId": eve["id"]})).await;
    app.work().await;
    let received = receiver.take();
    assert_eq!(received.len(), 2);
    let of_slack = received.iter().find(|body| body.get("blocks").is_some()).expect("one for Slack");
    assert_eq!(of_slack["text"], "Assigned: T-1 Review &lt;access&gt; &amp; more (eve)");
    let of_teams = received.iter().find(|body| body.get("attachments").is_some()).expect("one for Teams");
    let line = &of_teams["attachments"][0]["content"]["body"][1]["inlines"][0]["text"];
    assert_eq!(line, "• T-1 Review <access> & more (eve)");
    // Comments are between people.
    let owner = app.sign_in(&app.home.email).await;
    let task = app.task(json!({"title": "b", "assigneeId": eve["id"]})).await;
    app.work().await;
    receiver.take();
    let comment = json!({"content": "confidential", "entityType": "task", "entityId": id(&task), "mentions": [eve["id"]]});
    let call = app.call("POST", "/v1/comments").session(&owner, &app.home.organization);
    call.json(&comment).send().await.expect(201);
    app.work().await;
    assert_eq!(receiver.take(), [Value::Null; 0]);
    // Another organization's notifications stay there.
    let other = app.tenant("Other", "bob@example.com").await;
    let bob = json!({"title": "theirs", "assigneeId": other.member});
    app.call("POST", "/v1/tasks").key(&other.key).json(&bob).send().await.expect(201);
    let path = format!("/v1/chat-channels/{}", id(&teams));
    app.patch(&path, &json!({"isActive": false})).send().await.expect(200);
    app.call("PATCH", &path)
        .key(&other.key)
        .json(&json!({"isActive": true}))
        .send()
        .await
        .problem(404, "not_found");
    app.task(json!({"title": "c", "assigneeId": eve["id"]})).await;
    app.work().await;
    assert_eq!(receiver.take().len(), 1, "only the one that is switched on");
    // The digest is one message a kind.
    for title in ["one", "two"] {
        app.task(json!({"title": title, "dueDate": "2026-11-01", "assigneeId": eve["id"]})).await;
    }
    app.work().await;
    receiver.take();
    app.housekeeping().await;
    let digest = receiver.take();
    assert_eq!(digest.len(), 1);
    let lines = digest[0]["blocks"][1]["text"]["text"].as_str().expect("lines");
    assert!(lines.contains("one (due 2026-11-01) (eve)") && lines.contains("two"), "{lines}");
    app.delete(&format!("/v1/chat-channels/{}", id(&slack))).send().await.expect(200);
    app.task(json!({"title": "d", "assigneeId": eve["id"]})).await;
    app.work().await;
    assert_eq!(receiver.take(), [Value::Null; 0]);
}

async fn a_channel_says_why_a_message_did_not_arrive(app: &TestApp) {
    let (receiver, url) = Receiver::start().await;
    let made = channel(app, "slack", &url, json!(["assigned"])).await;
    assert_eq!(made["lastDelivery"], Value::Null);
    let test = async || {
        let path = format!("/v1/chat-channels/{}/test", id(&made));
        app.call("POST", &path).key(&app.home.key).send().await.expect(202);
        app.work().await;
        let list = app.get("/v1/chat-channels").send().await.expect(200);
        list["data"][0]["lastDelivery"].clone()
    };
    let fine = test().await;
    assert_eq!((&fine["isDelivered"], &fine["detail"]), (&json!(true), &Value::Null));
    receiver.answer(404, "no_service");
    let failed = test().await;
    assert_eq!(
        (&failed["isDelivered"], &failed["detail"]),
        (&json!(false), &json!("answered 404: no_service"))
    );
    receiver.answer(302, "https://example.com/elsewhere");
    let detail = "answered with a redirect; enter the address it leads to";
    assert_eq!(test().await["detail"], detail);
    // A message that could not be delivered is sent again.
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    app.work().await;
    receiver.take();
    receiver.answer(503, "later");
    app.task(json!({"title": "again", "assigneeId": eve["id"]})).await;
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
    app.clock.advance(Duration::from_hours(1));
    app.work().await;
    assert_eq!(receiver.take().len(), 1, "and only once more");
    // Nothing listens there.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let url = json!({"url": format!("http://{gone}/hooks/x")});
    app.patch(&format!("/v1/chat-channels/{}", id(&made)), &url).send().await.expect(200);
    assert_eq!(test().await["detail"], "127.0.0.1 cannot be reached.");
}

async fn the_address_of_a_channel_is_never_shown(app: &TestApp) {
    let secret = "https://hooks.slack.com/services/T000/B000/abcdefghijklwXyZ";
    let made = channel(app, "slack", secret, json!(["assigned", "overdue"])).await;
    assert_eq!(made["urlHint"], "hooks.slack.com/…wXyZ");
    let path = format!("/v1/chat-channels/{}", id(&made));
    app.patch(&path, &json!({"name": "Other"})).send().await.expect(200);
    for shown in ["/v1/chat-channels", "/v1/audit-logs"] {
        let shown = app.get(shown).send().await.expect(200).to_string();
        assert!(shown.contains("hooks.slack.com") && !shown.contains("abcdefghijkl"), "{shown}");
    }
    for (body, wrong) in [
        (
            json!({"name": "", "kind": "irc", "url": "x", "notices": ["mentioned"]}),
            vec!["kind", "name", "notices", "url"],
        ),
        (json!({"name": "a", "kind": "slack", "url": secret, "notices": []}), vec!["notices"]),
        (
            json!({"name": "a", "kind": "slack", "url": "ftp://a/b", "notices": ["assigned", "assigned"]}),
            vec!["notices", "url"],
        ),
    ] {
        let mut fields = app.post("/v1/chat-channels", &body).send().await.wrong_fields();
        fields.sort();
        assert_eq!(fields, wrong, "{body}");
    }
    app.member(&app.home, "joe@example.com", "auditor").await;
    let token = app.sign_in("joe@example.com").await;
    let auditor = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    auditor("GET", "/v1/chat-channels").send().await.expect(200);
    auditor("DELETE", &path).send().await.problem(403, "forbidden");
    for number in 1..20 {
        channel(app, "teams", &format!("https://example.com/{number}"), json!(["portal"])).await;
    }
    let body = json!({"name": "x", "kind": "slack", "url": secret, "notices": ["portal"]});
    app.post("/v1/chat-channels", &body).send().await.problem(409, "too_many_chat_channels");
}
