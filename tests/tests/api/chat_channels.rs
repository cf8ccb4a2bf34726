//! Chat channels.

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
    channels_hear_of_what_they_ask_for,
    a_channel_says_why_a_message_did_not_arrive,
    the_address_of_a_channel_is_never_shown,
    hanging_channel_does_not_delay_another,
    channel_has_one_message_in_flight,
    retry_after_of_the_service_is_honoured,
    new_address_ends_the_pause_and_is_journaled,
}

/// A receiver of webhooks.
#[derive(Clone, Debug, Default)]
struct Receiver {
    received: Arc<Mutex<Vec<Value>>>,
    /// The next answers, last first: a status, and a body, a target or a `Retry-After`.
    answers: Arc<Mutex<Vec<(u16, &'static str)>>>,
    /// The time that each answer takes.
    delay: Arc<Mutex<Duration>>,
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

    fn delay(&self, delay: Duration) {
        *self.delay.lock().expect("held by nobody") = delay;
    }

    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.received.lock().expect("held by nobody"))
    }
}

async fn receive(State(receiver): State<Receiver>, body: axum::Json<Value>) -> Response {
    receiver.received.lock().expect("held by nobody").push(body.0);
    let delay = *receiver.delay.lock().expect("held by nobody");
    tokio::time::sleep(delay).await;
    let answer = receiver.answers.lock().expect("held by nobody").pop();
    match answer {
        None => "ok".into_response(),
        Some((302, target)) => Redirect::temporary(target).into_response(),
        Some((429, wait)) => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", wait)], "slow").into_response(),
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
    let of_slack = received.iter().find(|body| body.get("text").is_some()).expect("one for Slack");
    let text = "Assigned\n• T-1 Review &lt;access&gt; &amp; more (eve)\nhttps://compliance.example.com/inbox";
    assert_eq!(of_slack["text"], text);
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
    let lines = digest[0]["text"].as_str().expect("lines");
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
    // Some services repeat the address in their answer.
    receiver.answer(404, "Cannot POST /hooks/T000/B000/abcdefghijklwXyZ");
    let failed = test().await;
    let detail = "answered 404: the service does not know the address; check the webhook";
    assert_eq!((&failed["isDelivered"], &failed["detail"]), (&json!(false), &json!(detail)));
    receiver.take();
    receiver.answer(302, "/hooks/elsewhere");
    let detail = "answered with a redirect; enter the address it leads to";
    assert_eq!(test().await["detail"], detail);
    assert_eq!(receiver.take().len(), 1, "a redirect is not followed");
    // A message that could not be delivered is sent again.
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    app.work().await;
    receiver.take();
    receiver.answer(503, "Cannot POST /hooks/T000/B000/abcdefghijklwXyZ");
    app.task(json!({"title": "again", "assigneeId": eve["id"]})).await;
    app.take_warnings();
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
    let warnings = app.take_warnings();
    assert!(warnings.iter().any(|line| line.contains("answered 503")), "{warnings:?}");
    assert!(!warnings.iter().any(|line| line.contains("abcdefghijkl")), "{warnings:?}");
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
        (
            json!({"name": "a", "kind": "slack", "url": "https://*.example.com/x", "notices": ["assigned"]}),
            vec!["url"],
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

async fn hanging_channel_does_not_delay_another(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let (hanging, url) = Receiver::start().await;
    let made = channel(app, "slack", &url, json!(["assigned"])).await;
    let (other, url) = Receiver::start().await;
    channel(app, "slack", &url, json!(["assigned"])).await;
    hanging.delay(Duration::from_mins(1));
    let start = std::time::Instant::now();
    for title in ["a", "b", "c"] {
        app.task(json!({"title": title, "assigneeId": eve["id"]})).await;
    }
    app.work().await;
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!((hanging.take().len(), other.take().len()), (1, 3), "the channel pauses after one failure");
    let list = app.get("/v1/chat-channels").send().await.expect(200);
    let channels = list["data"].as_array().expect("channels");
    let found = channels.iter().find(|one| one["id"] == made["id"]).expect("the channel");
    assert_eq!(found["lastDelivery"]["detail"], "did not answer within 5 s");
    hanging.delay(Duration::ZERO);
    app.clock.advance(Duration::from_secs(2));
    app.work().await;
    assert_eq!((hanging.take().len(), other.take().len()), (3, 0));
}

async fn channel_has_one_message_in_flight(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let (receiver, url) = Receiver::start().await;
    channel(app, "slack", &url, json!(["assigned"])).await;
    receiver.delay(Duration::from_secs(3));
    app.task(json!({"title": "a", "assigneeId": eve["id"]})).await;
    let second = async {
        while receiver.received.lock().expect("held by nobody").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        app.task(json!({"title": "b", "assigneeId": eve["id"]})).await;
        app.work().await;
        assert_eq!(receiver.received.lock().expect("held by nobody").len(), 1);
    };
    tokio::join!(app.work(), second);
    receiver.delay(Duration::ZERO);
    app.clock.advance(Duration::from_secs(1));
    app.work().await;
    assert_eq!(receiver.take().len(), 2);
}

async fn retry_after_of_the_service_is_honoured(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let (receiver, url) = Receiver::start().await;
    channel(app, "slack", &url, json!(["assigned"])).await;
    receiver.answer(429, "1800");
    app.task(json!({"title": "a", "assigneeId": eve["id"]})).await;
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
    app.clock.advance(Duration::from_secs(1799));
    app.work().await;
    assert_eq!(receiver.take().len(), 0);
    app.clock.advance(Duration::from_secs(1));
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
}

async fn new_address_ends_the_pause_and_is_journaled(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let (receiver, url) = Receiver::start().await;
    let made = channel(app, "slack", &url, json!(["assigned"])).await;
    receiver.answer(503, "later");
    app.task(json!({"title": "a", "assigneeId": eve["id"]})).await;
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
    let path = format!("/v1/chat-channels/{}", id(&made));
    // The hint stays the same.
    let other = url.replace("T000", "T111");
    let patched = app.patch(&path, &json!({"url": other})).send().await.expect(200);
    assert_eq!(patched["urlHint"], made["urlHint"]);
    app.task(json!({"title": "b", "assigneeId": eve["id"]})).await;
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
    app.clock.advance(Duration::from_secs(2));
    app.work().await;
    assert_eq!(receiver.take().len(), 1);
    app.patch(&path, &json!({"name": "Renamed"})).send().await.expect(200);
    let logs = app.get("/v1/audit-logs").send().await.expect(200);
    let entries = logs["data"].as_array().expect("entries");
    let prints: Vec<&Value> = entries
        .iter()
        .filter(|entry| entry["entityType"] == "chat_channel")
        .map(|entry| &entry["state"]["urlFingerprint"])
        .collect();
    let [renamed, moved, created] = prints.as_slice() else { panic!("{prints:?}") };
    assert!(created.is_string() && created != moved, "{prints:?}");
    assert_eq!(renamed, moved);
}
