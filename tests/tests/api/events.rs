//! `GET /v1/events`.

use std::time::{Duration, Instant};

use attestry_app::feed::{MAX_CATCH_UP_ENTRIES, StreamLimits};
use attestry_tests::binary::wait_until;
use attestry_tests::two_servers::TwoServers;
use attestry_tests::{Call, Engine, TestApp, both, id, run_with};
use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};

both! {
    what_happens_is_streamed_as_it_happens,
    whoever_was_away_misses_nothing,
    another_organizations_events_are_unseen,
    an_employee_is_told_of_what_concerns_them,
    a_key_is_told_of_what_its_scopes_show,
    a_stream_ends_with_its_credential,
    a_member_has_only_so_many_streams,
    a_wrong_last_event_id_is_refused,
    whoever_missed_too_much_reloads,
    a_client_that_takes_gzip_gets_events_at_once,
    head_takes_no_place,
    a_server_that_stops_ends_its_streams,
}

pub(crate) const EVENTS: &str = "/v1/events";

/// A client's parser of an event stream.
#[derive(Default)]
struct Parser {
    text: String,
    /// The last id received, with or without an event.
    last: Option<i64>,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    id: i64,
    action: String,
    data: Value,
}

impl Parser {
    /// Returns the next event in the received text.
    fn next(&mut self) -> Option<Event> {
        while let Some((block, rest)) = self.text.split_once("\n\n") {
            let (mut action, mut data) = (None, None);
            for line in block.lines() {
                let (name, value) = line.split_once(':').expect("a field");
                match name {
                    "id" => self.last = Some(value.trim().parse().expect("a number")),
                    "event" => action = Some(value.trim().to_owned()),
                    "data" => data = Some(serde_json::from_str(value).expect("JSON")),
                    "retry" => assert_eq!(value.trim(), "3000"),
                    "" => {}
                    other => panic!("a field {other}: {block}"),
                }
            }
            self.text = rest.to_owned();
            if let Some(data) = data {
                let (id, action) = (self.last.expect("an id"), action.expect("an action"));
                return Some(Event { id, action, data });
            }
        }
        None
    }
}

/// A client of an event stream.
pub(crate) struct Stream {
    body: Body,
    parser: Parser,
}

impl Stream {
    pub(crate) async fn open(call: Call<'_>) -> Self {
        let response = call.begin().await;
        assert_eq!(response.status(), 200);
        let mut stream = Self { body: response.into_body(), parser: Parser::default() };
        // The stream sends its position before the first event.
        assert!(stream.read().await);
        stream
    }

    /// Reads more; `false` at the end of the stream.
    async fn read(&mut self) -> bool {
        // The timeout only ends a failed test.
        let frame = tokio::time::timeout(Duration::from_mins(1), self.body.frame()).await.expect("something");
        let Some(frame) = frame else { return false };
        let frame = frame.expect("a frame");
        self.parser.text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
        true
    }

    /// Returns the next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.parser.next() {
                return Some(event);
            }
            if !self.read().await {
                return None;
            }
        }
    }

    /// Returns the action and the entity id of the next event.
    async fn told(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        (event.action, event.data["entityId"].as_str().expect("an id").to_owned())
    }
}

fn resumed(app: &TestApp, last: i64) -> Call<'_> {
    app.get(EVENTS).header("last-event-id", &last.to_string())
}

fn about(action: &str, thing: &Value) -> (String, String) {
    (action.to_owned(), id(thing).to_owned())
}

async fn what_happens_is_streamed_as_it_happens(app: &TestApp) {
    let response = app.get(EVENTS).begin().await;
    for (name, value) in
        [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")]
    {
        assert_eq!(response.headers()[name], value);
    }
    let before = app.entries(&app.home).await;
    let mut stream = Stream { body: response.into_body(), parser: Parser::default() };
    let risk = app.risk(json!({})).await;
    let data = json!({"entityType": "risk", "entityId": risk["id"], "at": attestry_tests::START});
    let created = Event { id: before + 1, action: "risk.created".to_owned(), data: data.clone() };
    assert_eq!(stream.next().await.expect("an event"), created);
    app.patch(&format!("/v1/risks/{}", id(&risk)), &json!({"status": "closed"})).send().await.expect(200);
    let updated = Event { id: before + 2, action: "risk.updated".to_owned(), data };
    assert_eq!(stream.next().await.expect("an event"), updated);
}

async fn whoever_was_away_misses_nothing(app: &TestApp) {
    let mut stream = Stream::open(app.get(EVENTS)).await;
    assert!(stream.parser.next().is_none());
    let began = stream.parser.last.expect("where it begins");
    assert_eq!(began, app.entries(&app.home).await);
    drop(stream);
    // More than one read or one buffer holds.
    let rows: Vec<String> = (0..900).map(|number| format!("Risk {number},x,other\n")).collect();
    let table = format!("title,description,category\n{}", rows.concat());
    app.call("POST", "/v1/risks/import").key(&app.home.key).raw("text/csv", table).send().await.expect(200);
    let end = app.entries(&app.home).await;
    assert!(end >= began + 900);
    let mut ahead = Stream::open(app.get(EVENTS)).await;
    let mut behind = Stream::open(resumed(app, began)).await;
    for sequence in began + 1..=end {
        assert_eq!(behind.next().await.expect("an event").id, sequence);
    }
    let mut in_between = Stream::open(resumed(app, end - 3)).await;
    app.risk(json!({})).await;
    for sequence in end - 2..=end + 1 {
        assert_eq!(in_between.next().await.expect("an event").id, sequence);
    }
    for stream in [&mut ahead, &mut behind] {
        assert_eq!(stream.next().await.expect("an event").id, end + 1);
    }
}

async fn another_organizations_events_are_unseen(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let mut stream = Stream::open(app.get(EVENTS)).await;
    let mut theirs = Stream::open(app.call("GET", EVENTS).key(&other.key)).await;
    let vendor = json!({"name": "Cloudy", "description": "Hosts everything."});
    let vendor = app.post("/v1/vendors", &vendor).key(&other.key).send().await.expect(201);
    let risk = app.risk(json!({})).await;
    assert_eq!(stream.told().await, about("risk.created", &risk));
    assert_eq!(theirs.told().await, about("vendor.created", &vendor));
}

async fn an_employee_is_told_of_what_concerns_them(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let mut stream = Stream::open(app.call("GET", EVENTS).session(&token, &app.home.organization)).await;
    let remark = |what: &str, on: &Value| json!({"content": "Hm.", "entityType": what, "entityId": on["id"]});
    let mut expected = Vec::new();

    let risk = app.risk(json!({})).await;
    app.post("/v1/comments", &remark("risk", &risk)).send().await.expect(201);
    let task = app.task(json!({"assigneeId": app.home.member})).await;
    app.post("/v1/comments", &remark("task", &task)).send().await.expect(201);
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    app.post(&format!("/v1/tasks/{}/attachments", id(&task)), &file).send().await.expect(201);

    let own = app.task(json!({"assigneeId": eve["id"]})).await;
    let path = format!("/v1/tasks/{}", id(&own));
    expected.push(about("task.created", &own));
    let comment = app.post("/v1/comments", &remark("task", &own)).send().await.expect(201);
    expected.push(about("comment.created", &comment));
    let attached = format!("/v1/comments/{}/attachments", id(&comment));
    let attached = app.post(&attached, &file).send().await.expect(201);
    expected.push(about("attachment.created", &attached));
    // Events of a task's children are visible as long as the task is assigned to her.
    for expected in expected.drain(..) {
        assert_eq!(stream.told().await, expected);
    }
    app.patch(&path, &json!({"assigneeId": null})).send().await.expect(200);
    expected.push(about("task.updated", &own));
    app.patch(&path, &json!({"title": "No longer hers"})).send().await.expect(200);
    let other = app.task(json!({"assigneeId": eve["id"]})).await;
    expected.push(about("task.created", &other));
    app.delete(&format!("/v1/tasks/{}", id(&other))).send().await.expect(200);
    expected.push(about("task.deleted", &other));

    let policy = json!({"name": "Access", "contentMarkdown": "Be careful."});
    let policy = app.post("/v1/policies", &policy).send().await.expect(201);
    let under = |rest: &str| format!("/v1/policies/{}{rest}", id(&policy));
    let ask = json!({"approverId": app.home.member});
    app.post(&under("/submit-for-approval"), &ask).send().await.expect(200);
    app.call("POST", &under("/approve")).key(&app.home.key).send().await.expect(200);
    expected.push(about("policy.published", &policy));
    app.patch(&under(""), &json!({"contentMarkdown": "Be more careful."})).send().await.expect(200);
    app.patch(&under(""), &json!({"isArchived": true})).send().await.expect(200);
    expected.push(about("policy.updated", &policy));

    app.mails().await;
    app.member(&app.home, "bob@example.com", "employee").await;
    let path = format!("/v1/people/{}", id(&eve));
    app.patch(&path, &json!({"department": "it"})).send().await.expect(200);
    expected.push(about("member.updated", &eve));
    app.mails().await;

    let mut told = Vec::new();
    while told.last() != expected.last() {
        told.push(stream.told().await);
    }
    assert_eq!(told, expected);
}

async fn a_key_is_told_of_what_its_scopes_show(app: &TestApp) {
    let blind = app.key(&["risk:create"]).await;
    app.get(EVENTS).key(&blind).send().await.problem(403, "forbidden");
    let key = app.key(&["risk:read", "comment:read"]).await;
    let mut stream = Stream::open(app.get(EVENTS).key(&key)).await;
    let vendor = app.vendor(json!({})).await;
    let remark = |what: &str, on: &Value| json!({"content": "Hm.", "entityType": what, "entityId": on["id"]});
    app.post("/v1/comments", &remark("vendor", &vendor)).send().await.expect(201);
    let risk = app.risk(json!({})).await;
    assert_eq!(stream.told().await, about("risk.created", &risk));
    let comment = app.post("/v1/comments", &remark("risk", &risk)).send().await.expect(201);
    assert_eq!(stream.told().await, about("comment.created", &comment));
    let comment = format!("/v1/comments/{}", id(&comment));
    app.delete(&comment).send().await.expect(200);
    assert_eq!(stream.told().await.0, "comment.deleted");
}

async fn a_stream_ends_with_its_credential(app: &TestApp) {
    let hours = |hours| app.clock.advance(Duration::from_hours(hours));
    let person = |member: &Value| format!("/v1/people/{}", id(member));
    for (number, how) in
        ["signed out", "signed out here", "another role", "deactivated", "idle"].into_iter().enumerate()
    {
        let email = format!("eve{number}@example.com");
        let eve = app.member(&app.home, &email, "admin").await;
        let token = app.sign_in(&email).await;
        let session = |method, path| app.call(method, path).session(&token, &app.home.organization);
        let mut stream = Stream::open(session("GET", EVENTS)).await;
        match how {
            "signed out" => drop(session("POST", "/v1/auth/logout").send().await.expect(200)),
            "signed out here" => {
                let path = format!("{}/sign-out", person(&eve));
                app.call("POST", &path).key(&app.home.key).send().await.expect(200);
            }
            "another role" => {
                app.patch(&person(&eve), &json!({"role": "auditor"})).send().await.expect(200);
            }
            "deactivated" => drop(app.delete(&person(&eve)).send().await.expect(200)),
            _ => hours(13),
        }
        assert_eq!(stream.next().await, None, "{how}");
        app.work().await;
    }
    for how in ["revoked", "expired"] {
        let until = app.ctx.now().plus(Duration::from_hours(1)).to_string();
        let body = json!({"name": "test", "scopes": ["risk:read"], "expiresAt": until});
        let made = app.post("/v1/organization/api-keys", &body).send().await.expect(201);
        let mut stream = Stream::open(app.get(EVENTS).key(made["key"].as_str().expect("a key"))).await;
        match how {
            "revoked" => {
                drop(
                    app.delete(&format!("/v1/organization/api-keys/{}", id(&made))).send().await.expect(200),
                );
            }
            _ => hours(2),
        }
        assert_eq!(stream.next().await, None, "{how}");
    }
    assert_eq!(app.ctx.feed().streams(), 0, "none is left");
}

async fn a_member_has_only_so_many_streams(app: &TestApp) {
    let mut open = Vec::new();
    for _ in 0..20 {
        open.push(Stream::open(app.get(EVENTS)).await);
    }
    let refused = app.get(EVENTS).send().await;
    let problem = refused.problem(429, "rate_limited");
    assert!(problem["detail"].as_str().expect("text").starts_with("You have too many"), "{problem}");
    assert_eq!(refused.header("retry-after"), Some("15"));
    app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    Stream::open(app.call("GET", EVENTS).session(&token, &app.home.organization)).await;
    open.pop();
    Stream::open(app.get(EVENTS)).await;
}

#[test]
fn an_organization_and_a_server_have_only_so_many_streams() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let most = StreamLimits { in_all: 2, of_one_organization: 1 };
        run_with(
            engine,
            |http| http.event_streams = most,
            async |app| {
                let (bob, cy) = (
                    app.tenant("Bob's", "bob@example.com").await,
                    app.tenant("Cy's", "cy@example.com").await,
                );
                let of = |key: &str| app.call("GET", EVENTS).key(key);
                let refused = async |key: &str, whose: &str| {
                    let problem = of(key).send().await.problem(429, "rate_limited");
                    assert!(problem["detail"].as_str().expect("text").starts_with(whose), "{problem}");
                };
                let own = Stream::open(of(&app.home.key)).await;
                refused(&app.home.key, "Your organization").await;
                let _bobs = Stream::open(of(&bob.key)).await;
                refused(&cy.key, "The server").await;
                let metrics = app.call("GET", "/metrics").send().await.text();
                assert!(metrics.contains("attestry_event_streams 2"), "{metrics}");
                drop(own);
                Stream::open(of(&cy.key)).await;
                Stream::open(of(&app.home.key)).await;
            },
        );
    }
}

async fn a_wrong_last_event_id_is_refused(app: &TestApp) {
    for wrong in ["", "none", "-1", "+1", "1.5", "99999999999999999999", "1, 2"] {
        let reply = app.get(EVENTS).header("last-event-id", wrong).send().await;
        let problem = reply.problem(400, "bad_request");
        assert!(problem["detail"].as_str().expect("text").contains("Last-Event-ID"), "{wrong:?}");
    }
    app.get("/v1/events?after=1").send().await.problem(400, "validation_failed");
}

async fn whoever_missed_too_much_reloads(app: &TestApp) {
    // As if there had been many events: skipped entries are not read.
    let moved = app.ctx.db.write(async |t| {
        t.execute("UPDATE journal_heads SET sequence = sequence + $1", &[(MAX_CATCH_UP_ENTRIES + 1).into()])
            .await
    });
    moved.await.map_err(|error: attestry_db::Error| error).expect("moved");
    let head = app.entries(&app.home).await;
    // A position too far behind, and one of another journal.
    for unknown in [head - MAX_CATCH_UP_ENTRIES - 1, head + 1] {
        let mut stream = Stream::open(resumed(app, unknown)).await;
        let reset = Event { id: head, action: "reset".to_owned(), data: json!({}) };
        assert_eq!(stream.next().await, Some(reset));
        drop(stream);
    }
    let mut stream = Stream::open(resumed(app, 0)).await;
    assert_eq!(stream.next().await.expect("an event").action, "reset");
    let risk = app.risk(json!({})).await;
    assert_eq!(stream.told().await, about("risk.created", &risk));
    let mut stream = Stream::open(resumed(app, head)).await;
    assert_eq!(stream.told().await, about("risk.created", &risk), "what is known is resumed");
}

async fn a_client_that_takes_gzip_gets_events_at_once(app: &TestApp) {
    let response = app.get(EVENTS).header("accept-encoding", "gzip").begin().await;
    assert!(!response.headers().contains_key("content-encoding"));
    let mut stream = Stream { body: response.into_body(), parser: Parser::default() };
    let risk = app.risk(json!({})).await;
    assert_eq!(stream.told().await, about("risk.created", &risk));
}

async fn head_takes_no_place(app: &TestApp) {
    for _ in 0..30 {
        let reply = app.call("HEAD", EVENTS).key(&app.home.key).send().await;
        assert_eq!((reply.status.as_u16(), reply.body.len()), (200, 0));
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    }
    assert_eq!(app.ctx.feed().streams(), 0);
    app.post(EVENTS, &json!({})).send().await.problem(405, "method_not_allowed");
}

async fn a_server_that_stops_ends_its_streams(app: &TestApp) {
    let mut stream = Stream::open(app.get(EVENTS)).await;
    app.ctx.feed().close();
    assert_eq!(stream.next().await, None);
    let mut late = Stream::open(app.get(EVENTS)).await;
    assert_eq!(late.next().await, None);
}

#[test]
fn a_page_elsewhere_may_resume() {
    run_with(
        Engine::Sqlite,
        |http| http.cors_origins = vec!["https://console.example.com".to_owned()],
        async |app| {
            let preflight = app
                .call("OPTIONS", EVENTS)
                .header("origin", "https://console.example.com")
                .header("access-control-request-method", "GET")
                .header("access-control-request-headers", "last-event-id");
            let allowed = preflight.send().await;
            let allowed = allowed.header("access-control-allow-headers").expect("headers");
            assert!(allowed.contains("last-event-id"), "{allowed}");
        },
    );
}

/// Reads the next event from a connection.
async fn next(response: &mut reqwest::Response, parser: &mut Parser) -> Event {
    loop {
        if let Some(event) = parser.next() {
            return event;
        }
        let bytes = response.chunk().await.expect("a connection").expect("more");
        parser.text.push_str(std::str::from_utf8(&bytes).expect("text"));
    }
}

#[tokio::test]
async fn a_stream_ends_soon_after_another_process_ends_its_key() {
    let two = TwoServers::start().await;
    let (client, here, there, own) = (&two.client, &two.here, &two.there, &two.key);
    let body = json!({"name": "Reader", "scopes": ["*"]});
    let call =
        client.post(format!("{}/v1/organization/api-keys", there.url)).header("x-api-key", own).json(&body);
    let made: Value = call.send().await.expect("an answer").json().await.expect("JSON");
    let (key, path) = (
        made["key"].as_str().expect("a key"),
        format!("{}/v1/organization/api-keys/{}", there.url, id(&made)),
    );
    let call = client.get(format!("{}{EVENTS}", here.url)).header("x-api-key", key);
    let mut stream = call.send().await.expect("an answer");
    assert_eq!(stream.status(), 200);
    let deleted = client.delete(path).header("x-api-key", own).send().await.expect("an answer");
    assert_eq!(deleted.status(), 200);
    // It ends before the heartbeat, which would check the key in any case.
    let mut all = Vec::new();
    while let Some(chunk) = stream.chunk().await.expect("it ends as it should") {
        all.extend(chunk);
    }
    let all = String::from_utf8(all).expect("text");
    assert!(!all.lines().any(|line| line.starts_with(':')), "{all}");
    two.stop().await;
}

#[tokio::test]
async fn what_one_process_does_is_heard_in_another() {
    let two = TwoServers::start().await;
    let (client, here, there, key) = (&two.client, &two.here, &two.there, &two.key);
    let open = async || {
        let call = client.get(format!("{}{EVENTS}", here.url)).header("x-api-key", key);
        let response = call.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        response
    };
    let (mut stream, mut parser) = (open().await, Parser::default());
    let began = Instant::now();
    for number in 0..5 {
        let risk = json!({"title": format!("Risk {number}"), "description": "x", "category": "other"});
        let call = client.post(format!("{}/v1/risks", there.url)).header("x-api-key", key).json(&risk);
        let risk: Value = call.send().await.expect("an answer").json().await.expect("JSON");
        let event = next(&mut stream, &mut parser).await;
        assert_eq!((event.action.as_str(), &event.data["entityId"]), ("risk.created", &risk["id"]));
    }
    // All followers are woken every 15 seconds in any case, which is too slow for five events in a row.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());

    // A client that disconnects frees its slot.
    let streams = async || {
        let metrics = client.get(format!("{}/metrics", here.url)).send().await.expect("an answer");
        let metrics = metrics.text().await.expect("text");
        let line =
            metrics.lines().find(|line| line.starts_with("attestry_event_streams ")).expect("a number");
        line.split(' ').nth(1).expect("a number").to_owned()
    };
    assert_eq!(streams().await, "1");
    drop(stream);
    wait_until(async || streams().await == "0").await;

    // A stream does not delay the shutdown of the server.
    let mut stream = open().await;
    let began = Instant::now();
    assert!(two.here.stop());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    while stream.chunk().await.expect("it ends as it should").is_some() {}
    assert!(two.there.stop());
    two.database.remove().await;
}
