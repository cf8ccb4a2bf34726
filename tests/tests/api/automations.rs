//! Automations: scripts and checks that really run, in the child process of the real binary.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

both! {
    a_script_runs_and_leaves_evidence,
    an_automation_is_made_changed_and_deleted_with_everything,
    bad_automations_are_refused,
    only_the_own_path_leads_to_an_automation,
    runs_are_listed_and_linked,
    a_run_can_be_cancelled,
    what_a_run_has_written_shows_while_it_runs,
    an_interrupted_run_ends,
    a_runaway_script_ends_with_its_limit,
    secrets_are_used_and_never_shown,
    masking_many_secrets_holds_up_nobody,
    secrets_that_cannot_be_masked_are_not_read,
    only_listed_hosts_are_reached,
    schedules_fire_once,
    events_start_automations_and_never_in_circles,
    checks_run_without_javascript,
    a_verdict_moves_the_task,
    a_run_never_stays_running,
    a_limited_key_gains_nothing_by_an_automation,
    nothing_of_a_deleted_organization_runs,
    odd_requests_are_answered_plainly,
}

const PASS: &str = "export default async (ctx) => ({ status: 'pass', summary: `It is ${ctx.now}.` });";

fn path(task: &Value) -> String {
    format!("/v1/tasks/{}/automations", id(task))
}

async fn add(app: &TestApp, task: &Value, body: Value) -> Value {
    app.post(&path(task), &body).send().await.expect(201)
}

async fn scripted(app: &TestApp, script: &str) -> (Value, String) {
    let task = app.task(json!({})).await;
    let made = add(app, &task, json!({"name": "Test", "script": script})).await;
    let own = format!("{}/{}", path(&task), id(&made));
    (task, own)
}

/// Runs an automation to its end.
async fn run(app: &TestApp, own: &str) -> Value {
    let run = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    assert_eq!(
        (&run["status"], &run["completedAt"], &run["success"]),
        (&json!("PENDING"), &Value::Null, &Value::Null)
    );
    app.work().await;
    app.get(&format!("{own}/runs/{}", id(&run))).send().await.expect(200)
}

async fn a_script_runs_and_leaves_evidence(app: &TestApp) {
    let script = "export default async (ctx) => {
        ctx.log('looking at', ctx.task.title);
        console.log({ a: 1 });
        return { status: 'pass', summary: 'All good.', evidence: { title: ctx.task.title, event: ctx.event, now: ctx.now } };
    }";
    let (task, own) = scripted(app, script).await;
    let done = run(app, &own).await;
    assert_eq!(
        (&done["status"], &done["trigger"], &done["version"]),
        (&json!("COMPLETED"), &json!("MANUAL"), &json!(1))
    );
    assert_eq!((&done["evaluationStatus"], &done["evaluationReason"]), (&json!("pass"), &json!("All good.")));
    assert_eq!((&done["success"], &done["error"]), (&json!(true), &Value::Null));
    assert_eq!(
        done["output"],
        json!({"title": "Review access", "event": null, "now": "2026-11-15T09:30:00.000Z"})
    );
    assert_eq!(done["logs"][0], "looking at Review access");
    assert!(done["completedAt"].is_string() && done["startedAt"].is_string() && done["durationMs"].is_i64());
    let files = app.get(&format!("/v1/tasks/{}/attachments", id(&task))).send().await.expect(200);
    let file = &files["data"][0];
    assert_eq!(
        (&file["runId"], &file["automationVersion"], &file["id"]),
        (&done["id"], &json!(1), &done["attachmentId"])
    );
    assert_eq!((&file["effectiveDate"], &file["uploadedBy"]), (&json!("2026-11-15"), &Value::Null));
    assert_eq!((&file["type"], &file["description"]), (&json!("application/json"), &json!("All good.")));
    assert_eq!(
        app.get(&format!("/v1/tasks/{}", id(&task))).send().await.expect(200)["evidenceStatus"],
        "fresh"
    );
    let log = app.get("/v1/audit-logs?entityType=automation-run").send().await.expect(200);
    let actions: Vec<&Value> =
        log["data"].as_array().expect("entries").iter().map(|entry| &entry["action"]).collect();
    assert_eq!(actions, ["automation-run.completed", "automation-run.created"]);
    let quiet = "export default () => ({ status: 'fail', summary: 'No.' })";
    let (task, own) = scripted(app, quiet).await;
    let done = run(app, &own).await;
    assert_eq!(
        (&done["status"], &done["evaluationStatus"], &done["attachmentId"]),
        (&json!("COMPLETED"), &json!("fail"), &Value::Null)
    );
    let files = app.get(&format!("/v1/tasks/{}/attachments", id(&task))).send().await.expect(200);
    assert_eq!(files["count"], 0);
}

async fn an_automation_is_made_changed_and_deleted_with_everything(app: &TestApp) {
    let task = app.task(json!({})).await;
    let made = add(app, &task, json!({"name": "Later"})).await;
    let own = format!("{}/{}", path(&task), id(&made));
    assert_eq!(
        (&made["latestVersion"], &made["isEnabled"], &made["taskId"]),
        (&Value::Null, &json!(true), &task["id"])
    );
    app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.problem(409, "no_script");
    let one = app.post(&format!("{own}/versions"), &json!({"script": PASS})).send().await.expect(201);
    assert_eq!(
        (&one["version"], &one["script"], &one["createdBy"]),
        (&json!(1), &json!(PASS), &json!(app.home.member))
    );
    let two = app
        .post(&format!("{own}/versions"), &json!({"script": format!("{PASS}\n"), "changelog": "b"}))
        .send()
        .await
        .expect(201);
    assert_eq!((&two["version"], &two["changelog"]), (&json!(2), &json!("b")));
    let versions = app.get(&format!("{own}/versions?total=true")).send().await.expect(200);
    assert_eq!((&versions["data"][0]["version"], &versions["total"]), (&json!(2), &json!(2)));
    let reply = app.get(&own).send().await;
    assert_eq!(reply.expect(200)["latestVersion"], 2);
    let tag = reply.header("etag").expect("a tag").to_owned();
    let change = json!({"name": "Now", "schedule": "0 6 * * *", "timeZone": "Europe/Berlin"});
    let changed = app.patch(&own, &change).header("if-match", &tag).send().await.expect(200);
    assert_eq!(
        (&changed["name"], &changed["nextRunAt"]),
        (&json!("Now"), &json!("2026-11-16T05:00:00.000Z"))
    );
    app.patch(&own, &change).header("if-match", &tag).send().await.problem(412, "precondition_failed");
    assert_eq!(
        app.patch(&own, &json!({"isEnabled": false})).send().await.expect(200)["nextRunAt"],
        Value::Null
    );
    let done = run(app, &own).await;
    assert_eq!((&done["version"], &done["status"]), (&json!(2), &json!("COMPLETED")));
    let kept = json!({"name": "With evidence", "script": "export default () => ({ status: 'pass', summary: 'x', evidence: {} })"});
    let kept = add(app, &task, kept).await;
    let kept = format!("{}/{}", path(&task), id(&kept));
    run(app, &kept).await;
    let files = format!("/v1/tasks/{}/attachments", id(&task));
    assert_eq!(app.get(&files).send().await.expect(200)["count"], 1);
    let gone = app.delete(&kept).send().await.expect(200);
    assert_eq!(gone["success"], true);
    app.work().await;
    assert_eq!(app.get(&files).send().await.expect(200)["count"], 0, "what its runs left goes with it");
    app.get(&kept).send().await.problem(404, "not_found");
    let all = app.get(&format!("{}/runs", path(&task))).send().await.expect(200);
    assert_eq!(all.as_array().expect("runs").len(), 1, "those of the other automation");
    app.delete(&format!("/v1/tasks/{}", id(&task))).send().await.expect(200);
    app.get(&own).send().await.problem(404, "not_found");
}

async fn bad_automations_are_refused(app: &TestApp) {
    let task = app.task(json!({})).await;
    let post = |body: Value| app.post(&path(&task), &body);
    let body = json!({"name": "", "schedule": "soon", "timeZone": "Mars", "events": ["vendor.eaten"], "statusOnPass": "x", "keepEvidence": 1, "latestVersion": 3});
    assert_eq!(
        post(body).send().await.wrong_fields(),
        ["events", "keepEvidence", "latestVersion", "name", "schedule", "statusOnPass", "timeZone"]
    );
    assert_eq!(post(json!({})).send().await.wrong_fields(), ["name"]);
    let wrong = post(json!({"name": "A", "script": "export default () => {\n  let x = ;\n}"})).send().await;
    let problem = wrong.problem(400, "validation_failed");
    assert_eq!(problem["errors"][0]["field"], "script");
    let message = problem["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("line 2, column 11"), "{message}");
    for script in ["export const a = 1;", "import 'fs'; export default () => 1", "  "] {
        assert_eq!(
            post(json!({"name": "A", "script": script})).send().await.wrong_fields(),
            ["script"],
            "{script}"
        );
    }
    for bad in ["* * * *", "0 0 31 2 *", "* * * * * *", "@hourlyish"] {
        assert_eq!(
            post(json!({"name": "A", "schedule": bad})).send().await.wrong_fields(),
            ["schedule"],
            "{bad}"
        );
    }
    assert_eq!(post(json!({"check": "nothing"})).send().await.wrong_fields(), ["check"]);
    assert_eq!(post(json!({"check": "tls_certificate"})).send().await.wrong_fields(), ["parameters.host"]);
    let body = json!({"check": "tls_certificate", "parameters": {"host": "example.com", "port": 0, "x": 1}});
    assert_eq!(post(body).send().await.wrong_fields(), ["parameters.port", "parameters.x"]);
    assert_eq!(post(json!({"name": "A", "parameters": {}})).send().await.wrong_fields(), ["parameters"]);
    assert_eq!(
        post(json!({"name": "A", "check": "dns_records", "script": PASS})).send().await.wrong_fields(),
        ["check"]
    );
    assert_eq!(app.get(&path(&task)).send().await.expect(200)["count"], 0);
    let check =
        add(app, &task, json!({"check": "tls_certificate", "parameters": {"host": "example.com"}})).await;
    assert_eq!((&check["name"], &check["latestVersion"]), (&json!("TLS certificate"), &json!(1)));
    let own = format!("{}/{}", path(&task), id(&check));
    app.post(&format!("{own}/versions"), &json!({"script": PASS}))
        .send()
        .await
        .problem(409, "automation_is_a_check");
    let wrong = app.patch(&own, &json!({"parameters": {"host": 5}})).send().await;
    assert_eq!(wrong.wrong_fields(), ["parameters.host"]);
    let changed = app
        .patch(&own, &json!({"parameters": {"host": "www.example.com", "port": 8443}}))
        .send()
        .await
        .expect(200);
    assert_eq!(changed["parameters"], json!({"host": "www.example.com", "port": 8443, "minDaysLeft": 30}));
}

async fn only_the_own_path_leads_to_an_automation(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app
        .call("POST", "/v1/tasks")
        .key(&other.key)
        .json(&json!({"title": "Theirs"}))
        .send()
        .await
        .expect(201);
    let (_, own) = scripted(app, PASS).await;
    let done = run(app, &own).await;
    let automation = own.rsplit('/').next().expect("an id");
    let sibling = app.task(json!({})).await;
    for base in [path(&sibling), path(&theirs)] {
        let through = format!("{base}/{automation}");
        app.get(&through).send().await.problem(404, "not_found");
        app.patch(&through, &json!({"name": "x"})).send().await.problem(404, "not_found");
        app.delete(&through).send().await.problem(404, "not_found");
        app.get(&format!("{through}/runs")).send().await.problem(404, "not_found");
        app.get(&format!("{through}/runs/{}", id(&done))).send().await.problem(404, "not_found");
        app.call("POST", &format!("{through}/runs"))
            .key(&app.home.key)
            .send()
            .await
            .problem(404, "not_found");
    }
    let foreign = |method: &str, path: &str| app.call(method, path).key(&other.key);
    foreign("GET", &own).send().await.problem(404, "not_found");
    foreign("DELETE", &own).send().await.problem(404, "not_found");
    foreign("GET", &format!("{}/{automation}", path(&theirs))).send().await.problem(404, "not_found");
    assert_eq!(app.get(&own).send().await.expect(200)["name"], "Test", "nothing happened");
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    app.patch(&format!("/v1/tasks/{}", id(&sibling)), &json!({"assigneeId": eve["id"]}))
        .send()
        .await
        .expect(200);
    app.work().await;
    let token = app.sign_in("eve@example.com").await;
    app.call("GET", &path(&sibling))
        .session(&token, &app.home.organization)
        .send()
        .await
        .problem(403, "forbidden");
}

async fn runs_are_listed_and_linked(app: &TestApp) {
    let (task, own) = scripted(app, PASS).await;
    assert_eq!(app.get(&format!("{own}/runs")).send().await.expect(200), json!([]));
    for _ in 0..205 {
        app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    }
    // Read in two batches, and still one array.
    let all = app.get(&format!("{}/runs", path(&task))).send().await.expect(200);
    let all = all.as_array().expect("a bare array");
    assert_eq!(all.len(), 205);
    assert!(all.is_sorted_by(|a, b| a["id"].as_str() > b["id"].as_str()), "newest first");
    // A client that accepts gzip, as every browser does, gets the complete body.
    let packed = app.get(&format!("{own}/runs?limit=200")).header("accept-encoding", "gzip").begin().await;
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    http_body_util::BodyExt::collect(packed.into_body()).await.expect("it comes to its end");
    let page = app.get(&format!("{own}/runs?limit=200")).send().await;
    assert_eq!(page.expect(200).as_array().expect("runs").len(), 200);
    let link = page.header("link").expect("a link").to_owned();
    let next = link.strip_prefix('<').and_then(|link| link.split('>').next()).expect("a target");
    assert_eq!(app.get(next).send().await.expect(200).as_array().expect("runs").len(), 5);
    app.delete(&own).send().await.expect(200);
    app.work().await;
}

async fn what_a_run_has_written_shows_while_it_runs(app: &TestApp) {
    let secret = app.call("PUT", "/v1/organization/secrets/TOKEN").key(&app.home.key);
    secret.json(&json!({"value": "swordfish"})).send().await.expect(200);
    let script = "export default async (ctx) => { ctx.log(`one ${await ctx.secret('TOKEN')}`); for (;;); }";
    let (_, own) = scripted(app, script).await;
    let running = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    let path = format!("{own}/runs/{}", id(&running));
    let watch = async {
        loop {
            let seen = app.get(&path).send().await.expect(200);
            if seen["logs"] != json!([]) {
                assert_eq!(seen["status"], "RUNNING");
                app.call("POST", &format!("{path}/cancel")).key(&app.home.key).send().await.expect(200);
                return seen["logs"].clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let ((), logs) = tokio::join!(app.work(), watch);
    assert_eq!(logs, json!(["one ***"]), "without the secret");
    let seen = app.get(&path).send().await.expect(200);
    assert_eq!((&seen["status"], &seen["logs"]), (&json!("CANCELLED"), &logs), "it stays");
}

async fn a_run_can_be_cancelled(app: &TestApp) {
    let (_, own) = scripted(app, "export default async () => { for (;;); }").await;
    let waiting = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    let cancel = |run: &Value| app.call("POST", &format!("{own}/runs/{}/cancel", id(run))).key(&app.home.key);
    let cancelled = cancel(&waiting).send().await.expect(200);
    assert_eq!((&cancelled["status"], &cancelled["success"]), (&json!("CANCELLED"), &json!(false)));
    cancel(&waiting).send().await.problem(409, "run_is_over");
    app.work().await;
    let seen = app.get(&format!("{own}/runs/{}", id(&waiting))).send().await.expect(200);
    assert_eq!((&seen["status"], &seen["startedAt"]), (&json!("CANCELLED"), &Value::Null), "it never ran");
    // A running run is stopped, long before its own time limit.
    let running = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    let started = std::time::Instant::now();
    let stop = async {
        loop {
            let seen = app.get(&format!("{own}/runs/{}", id(&running))).send().await.expect(200);
            if seen["status"] == "RUNNING" {
                return cancel(&running).send().await.expect(200);
            }
            tokio::task::yield_now().await;
        }
    };
    let ((), cancelled) = tokio::join!(app.work(), stop);
    assert_eq!(cancelled["status"], "CANCELLED");
    let seen = app.get(&format!("{own}/runs/{}", id(&running))).send().await.expect(200);
    assert_eq!(seen["status"], "CANCELLED", "what it did after that does not count");
    assert!(started.elapsed() < Duration::from_secs(20));
}

async fn an_interrupted_run_ends(app: &TestApp) {
    let (_, own) = scripted(app, PASS).await;
    let run = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    // As if a server had started it and died: the job is no longer leased.
    let sql = "UPDATE automation_runs SET status = 'RUNNING', started_at = created_at";
    app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("begun");
    app.work().await;
    let ended = app.get(&format!("{own}/runs/{}", id(&run))).send().await.expect(200);
    assert_eq!((&ended["status"], &ended["error"]["code"]), (&json!("FAILED"), &json!("interrupted")));
}

async fn a_runaway_script_ends_with_its_limit(app: &TestApp) {
    for (script, code) in [
        ("export default () => { for (;;); }", "cpu_time_limit"),
        ("export default () => { const a = []; for (;;) a.push(new Array(1e5).fill(1.5)); }", "memory_limit"),
        ("export default () => { const f = () => f() + 1; return f(); }", "stack_limit"),
        ("export default () => /^(a+)+$/.test('a'.repeat(40) + 'b')", "cpu_time_limit"),
        ("export default () => new Promise(() => {})", "never_settles"),
        ("export default (ctx) => { for (;;) ctx.log('x'.repeat(1000)); }", "log_limit"),
        (
            "export default () => ({ status: 'pass', summary: 'x', evidence: 'x'.repeat(2e6) })",
            "output_limit",
        ),
        ("export default async (ctx) => { for (;;) await ctx.secret('A').catch(() => 0); }", "call_limit"),
        ("export default () => ({ status: 'maybe', summary: 'x' })", "bad_result"),
        ("export default () => { throw new TypeError('no'); }", "script_error"),
    ] {
        let (_, own) = scripted(app, script).await;
        let done = run(app, &own).await;
        assert_eq!(
            (&done["status"], &done["error"]["code"]),
            (&json!("FAILED"), &json!(code)),
            "{script}: {done}"
        );
        assert_eq!((&done["success"], &done["evaluationStatus"]), (&json!(false), &Value::Null));
        assert!(
            done["error"]["message"].as_str().expect("a message").ends_with(['.', ')']),
            "{}",
            done["error"]
        );
    }
}

async fn secrets_are_used_and_never_shown(app: &TestApp) {
    const VALUE: &str = "p4ss/w0rd+with=äöü";
    let secret = |name: &str| app.call("PUT", &format!("/v1/organization/secrets/{name}")).key(&app.home.key);
    let set = secret("API_TOKEN").json(&json!({"value": VALUE})).send().await.expect(200);
    assert_eq!((&set["name"], set.get("value")), (&json!("API_TOKEN"), None));
    app.clock.advance(Duration::from_secs(5));
    let again = secret("API_TOKEN").json(&json!({"value": VALUE})).send().await.expect(200);
    assert_eq!(again["createdAt"], set["createdAt"]);
    assert_ne!(again["updatedAt"], set["updatedAt"]);
    assert_eq!(secret("lower").json(&json!({"value": "x"})).send().await.wrong_fields(), ["name"]);
    assert_eq!(secret("A").json(&json!({"value": ""})).send().await.wrong_fields(), ["value"]);
    let names = app.get("/v1/organization/secrets").send().await;
    assert_eq!(names.expect(200)["data"][0]["name"], "API_TOKEN");
    let script = "export default async (ctx) => {
        const secret = await ctx.secret('API_TOKEN');
        const reversed = [...secret].reverse().join('');
        const bytes = new TextEncoder().encode(secret);
        const base64 = btoa(String.fromCharCode(...bytes));
        ctx.log('plain', secret); ctx.log('reversed', reversed); ctx.log('base64', base64);
        ctx.log('basic', btoa('user:' + String.fromCharCode(...bytes)));
        if (secret.length !== 18) throw new Error('not the secret: ' + secret);
        return { status: 'pass', summary: `used ${secret}`, evidence: { [secret]: [secret, base64, reversed] } };
    }";
    let (task, own) = scripted(app, script).await;
    let done = run(app, &own).await;
    assert_eq!(done["status"], "COMPLETED", "{done}");
    assert_eq!((&done["evaluationReason"], &done["logs"][0]), (&json!("used ***"), &json!("plain ***")));
    assert_eq!((&done["logs"][1], &done["logs"][2]), (&json!("reversed ***"), &json!("base64 ***")));
    assert_eq!(done["output"], json!({"***": ["***", "***", "***"]}));
    // A key rotation does not change the secret.
    assert_eq!(attestry_app::core::data_key::rotate(&app.ctx).await.expect("a new key"), 1);
    assert_eq!(run(app, &own).await["status"], "COMPLETED");
    // The secret appears in no response, journal entry, file or table.
    let file = app
        .get(&format!(
            "/v1/tasks/{}/attachments/{}/download",
            id(&task),
            done["attachmentId"].as_str().expect("an id")
        ))
        .send()
        .await
        .expect(200);
    let url = file["downloadUrl"].as_str().expect("a link").replace("https://compliance.example.com", "");
    let texts = [
        done.to_string(),
        app.get("/v1/audit-logs?limit=1000").send().await.text(),
        app.call("GET", &url).send().await.text(),
        names.text(),
    ];
    for text in texts {
        assert!(!text.contains("p4ss") && !text.contains("dr0w"), "{text}");
    }
    let (_, missing) = scripted(app, "export default async (ctx) => { await ctx.secret('NOTHING'); }").await;
    let done = run(app, &missing).await;
    assert!(
        done["error"]["message"].as_str().expect("a message").contains("There is no secret NOTHING"),
        "{done}"
    );
    // Secrets are not shared with another organization.
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app.call("GET", "/v1/organization/secrets").key(&other.key).send().await.expect(200);
    assert_eq!(theirs["count"], 0);
    app.call("DELETE", "/v1/organization/secrets/API_TOKEN")
        .key(&other.key)
        .send()
        .await
        .problem(404, "not_found");
    app.delete("/v1/organization/secrets/API_TOKEN").send().await.expect(200);
    app.delete("/v1/organization/secrets/API_TOKEN").send().await.problem(404, "not_found");
}

/// Returns the longest time for which `work` blocked the runtime, which has one thread here, and the duration of
/// `work`.
async fn longest_gap(work: impl Future<Output = ()>) -> (Duration, Duration) {
    let began = std::time::Instant::now();
    let (mut longest, mut last) = (Duration::ZERO, began);
    let ticks = async {
        loop {
            tokio::time::sleep(Duration::from_millis(1)).await;
            longest = longest.max(last.elapsed());
            last = std::time::Instant::now();
        }
    };
    tokio::select! {
        () = work => {}
        () = ticks => {}
    }
    (longest.max(last.elapsed()), began.elapsed())
}

/// Returns as many lines as fit into one secret; each line is a secret, too.
fn lines(first: char) -> String {
    (0..1_400).map(|number| format!("{first}{number:05}")).collect::<Vec<_>>().join("\n")
}

async fn masking_many_secrets_holds_up_nobody(app: &TestApp) {
    let secret = app.call("PUT", "/v1/organization/secrets/LINES").key(&app.home.key);
    secret.json(&json!({"value": lines('k')})).send().await.expect(200);
    let script = "export default async (ctx) => {
        const secret = await ctx.secret('LINES');
        ctx.log(secret);
        const evidence = Array.from({ length: 60000 }, (_, number) => 'n' + number);
        return { status: 'pass', summary: secret.slice(-6), evidence };
    }";
    let (_, own) = scripted(app, script).await;
    let started = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
    let (longest, all) = longest_gap(app.work()).await;
    let done = app.get(&format!("{own}/runs/{}", id(&started))).send().await.expect(200);
    assert_eq!(done["status"], "COMPLETED", "{}", done["error"]);
    assert_eq!((&done["logs"], &done["evaluationReason"]), (&json!(["***"]), &json!("***")));
    assert_eq!(done["output"][59_999], "n59999");
    assert!(longest * 3 < all, "the runtime did nothing else for {longest:?} of {all:?}");
}

async fn secrets_that_cannot_be_masked_are_not_read(app: &TestApp) {
    for first in ['A', 'B', 'C', 'D'] {
        let secret = app.call("PUT", &format!("/v1/organization/secrets/{first}")).key(&app.home.key);
        secret.json(&json!({"value": lines(first)})).send().await.expect(200);
    }
    let script = "export default async (ctx) => {
        for (const name of ['A', 'B', 'C', 'D']) await ctx.secret(name);
    }";
    let (_, own) = scripted(app, script).await;
    let done = run(app, &own).await;
    let message = done["error"]["message"].as_str().expect("a message");
    assert!(message.contains("too large together"), "{message}");
}

/// Starts a server, in its own thread, that returns the same response to every request.
fn server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { break };
            let mut request = Vec::new();
            let mut buffer = [0; 1024];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut buffer) {
                    Ok(0) | Err(_) => break,
                    Ok(read) => request.extend_from_slice(&buffer[..read]),
                }
            }
            let path = String::from_utf8_lossy(&request).split(' ').nth(1).unwrap_or_default().to_owned();
            let body = answer.replace("{path}", &path);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-frame-options: DENY\r\ncontent-length: ";
            let _ = write!(stream, "{head}{}\r\nconnection: close\r\n\r\n{body}", body.len());
        }
    });
    address.to_string()
}

async fn only_listed_hosts_are_reached(app: &TestApp) {
    let address = server("{\"path\": \"{path}\"}");
    let script = format!(
        "export default async (ctx) => {{
            const response = await ctx.fetch('http://{address}/hello', {{ headers: {{ accept: 'application/json' }} }});
            return {{ status: 'pass', summary: 'x', evidence: {{ status: response.status, body: await response.json() }} }};
        }}"
    );
    let (_, own) = scripted(app, &script).await;
    let done = run(app, &own).await;
    assert_eq!(done["status"], "FAILED");
    assert!(
        done["error"]["message"].as_str().expect("a message").contains("list of automation hosts"),
        "{done}"
    );
    let hosts = |hosts: Value| {
        app.call("PUT", "/v1/organization/automation-hosts").key(&app.home.key).json(&json!({"hosts": hosts}))
    };
    assert_eq!(hosts(json!(["http://a/b", "*"])).send().await.wrong_fields(), ["hosts"]);
    let set = hosts(json!([format!("http://{address}"), "API.example.com"])).send().await.expect(200);
    assert_eq!(set["hosts"][1], "api.example.com");
    assert_eq!(app.get("/v1/organization/automation-hosts").send().await.expect(200), set);
    let done = run(app, &own).await;
    assert_eq!(done["output"], json!({"status": 200, "body": {"path": "/hello"}}), "{done}");
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs =
        app.call("GET", "/v1/organization/automation-hosts").key(&other.key).send().await.expect(200);
    assert_eq!(theirs, json!({"hosts": []}));
}

async fn schedules_fire_once(app: &TestApp) {
    let task = app.task(json!({})).await;
    let made = add(app, &task, json!({"name": "Hourly", "script": PASS, "schedule": "0 * * * *"})).await;
    let own = format!("{}/{}", path(&task), id(&made));
    assert_eq!(made["nextRunAt"], "2026-11-15T10:00:00.000Z");
    let runs =
        async || app.get(&format!("{own}/runs")).send().await.expect(200).as_array().expect("runs").clone();
    app.housekeeping().await;
    assert_eq!(runs().await.len(), 0);
    app.clock.advance(Duration::from_mins(30));
    app.housekeeping().await;
    app.housekeeping().await;
    let all = runs().await;
    assert_eq!(
        (all.len(), &all[0]["trigger"], &all[0]["status"]),
        (1, &json!("SCHEDULED"), &json!("COMPLETED"))
    );
    assert_eq!(app.get(&own).send().await.expect(200)["nextRunAt"], "2026-11-15T11:00:00.000Z");
    app.clock.advance(Duration::from_hours(10));
    app.housekeeping().await;
    assert_eq!(runs().await.len(), 2, "what was missed runs once");
    app.patch(&own, &json!({"isEnabled": false})).send().await.expect(200);
    app.clock.advance(Duration::from_hours(10));
    app.housekeeping().await;
    assert_eq!(runs().await.len(), 2);
    // When the organization's time zone changes, so does the schedule.
    app.patch(&own, &json!({"isEnabled": true, "schedule": "0 6 * * *"})).send().await.expect(200);
    app.patch("/v1/organization", &json!({"timeZone": "Asia/Kolkata"})).send().await.expect(200);
    assert_eq!(app.get(&own).send().await.expect(200)["nextRunAt"], "2026-11-17T00:30:00.000Z");
}

async fn events_start_automations_and_never_in_circles(app: &TestApp) {
    let task = app.task(json!({})).await;
    let script =
        "export default (ctx) => ({ status: 'pass', summary: ctx.event.action, evidence: ctx.event })";
    let body = json!({"name": "Vendors", "script": script, "events": ["vendor.created", "task.updated", "attachment.created"], "statusOnPass": "in_progress"});
    let made = add(app, &task, body).await;
    let own = format!("{}/{}", path(&task), id(&made));
    let other = app.tenant("Other", "bob@example.com").await;
    let vendor = json!({"name": "Cloudy", "description": "Hosts."});
    app.call("POST", "/v1/vendors").key(&other.key).json(&vendor).send().await.expect(201);
    let made = app.vendor(json!({})).await;
    let runs =
        async || app.get(&format!("{own}/runs")).send().await.expect(200).as_array().expect("runs").clone();
    assert_eq!(runs().await.len(), 1, "the run is there with the change");
    app.work().await;
    let all = runs().await;
    assert_eq!(
        (all.len(), &all[0]["trigger"], &all[0]["status"]),
        (1, &json!("EVENT"), &json!("COMPLETED")),
        "it moved its task and attached a file, and that started nothing"
    );
    let event = &all[0]["output"];
    assert_eq!(
        (&event["action"], &event["entityId"], &event["state"]["name"]),
        (&json!("vendor.created"), &made["id"], &json!("Cloudy"))
    );
    assert!(event["sequence"].is_i64() && event["actor"]["type"] == "key");
    assert_eq!(
        app.get(&format!("/v1/tasks/{}", id(&task))).send().await.expect(200)["status"],
        "in_progress"
    );
    app.patch(&format!("/v1/tasks/{}", id(&task)), &json!({"title": "By hand"})).send().await.expect(200);
    app.work().await;
    assert_eq!(runs().await.len(), 2);
    app.patch(&own, &json!({"isEnabled": false})).send().await.expect(200);
    app.vendor(json!({})).await;
    app.patch(&own, &json!({"isEnabled": true, "events": []})).send().await.expect(200);
    app.vendor(json!({})).await;
    assert_eq!(runs().await.len(), 2);
    // Each row of an import is an event.
    app.patch(&own, &json!({"events": ["vendor.created"]})).send().await.expect(200);
    let table = "name,description\nA,B\nC,D\nE,F\n";
    app.call("POST", "/v1/vendors/import").key(&app.home.key).raw("text/csv", table).send().await.expect(200);
    assert_eq!(runs().await.len(), 5);
    app.work().await;
    // A job starts large numbers of runs, and none is lost.
    let table = format!("name,description\n{}", "V,B\n".repeat(150));
    app.call("POST", "/v1/vendors/import").key(&app.home.key).raw("text/csv", table).send().await.expect(200);
    assert_eq!(runs().await.len(), 5, "not in the commit itself");
    app.work().await;
    let all = runs().await;
    assert_eq!(all.iter().filter(|run| run["status"] == "COMPLETED").count(), 155);
    let own = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
    let proof = attestry_app::core::verification::verify(&app.ctx, own, &[]).await.expect("a verdict");
    assert!(
        matches!(proof, attestry_app::core::verification::Verdict::Intact { .. }),
        "the chain holds: {proof:?}"
    );
}

async fn checks_run_without_javascript(app: &TestApp) {
    let list = app.get("/v1/automation-checks").send().await.expect(200);
    let names: Vec<&Value> =
        list["data"].as_array().expect("checks").iter().map(|check| &check["check"]).collect();
    assert_eq!(
        names,
        ["tls_certificate", "security_headers", "dns_records", "http_endpoint", "branch_protection"]
    );
    assert_eq!(list["data"][0]["parameters"]["required"], json!(["host"]));
    let address = server(
        "{\"status\": \"ok\", \"deep\": {\"a/b\": [7]}, \"required_pull_request_reviews\": {\"required_approving_review_count\": 2}}",
    );
    let task = app.task(json!({})).await;
    let check = async |check: &str, parameters: Value| {
        let made = add(app, &task, json!({"check": check, "parameters": parameters})).await;
        run(app, &format!("{}/{}", path(&task), id(&made))).await
    };
    let url = format!("http://{address}/health");
    let done =
        check("http_endpoint", json!({"url": url, "jsonPointer": "/deep/a~1b/0", "expectedValue": 7})).await;
    assert_eq!((&done["evaluationStatus"], &done["output"]["value"]), (&json!("pass"), &json!(7)), "{done}");
    let done =
        check("http_endpoint", json!({"url": url, "jsonPointer": "/status", "expectedValue": "down"})).await;
    assert_eq!(done["evaluationStatus"], "fail");
    assert!(done["evaluationReason"].as_str().expect("a reason").contains("instead of \"down\""));
    let done = check("http_endpoint", json!({"url": url, "expectedStatus": 204})).await;
    assert_eq!(done["evaluationReason"], format!("{url} answered 200 instead of 204."));
    let done = check("security_headers", json!({"url": url})).await;
    assert_eq!(
        (&done["evaluationStatus"], done["output"]["problems"].as_array().map(Vec::len)),
        (&json!("fail"), Some(4))
    );
    let done = check("security_headers", json!({"url": url, "headers": ["x-frame-options"]})).await;
    assert_eq!(done["evaluationStatus"], "pass");
    let repository =
        json!({"repository": "acme/app", "baseUrl": format!("http://{address}"), "minReviews": 2});
    let done = check("branch_protection", repository.clone()).await;
    assert_eq!(
        (&done["evaluationStatus"], &done["output"]["httpStatus"]),
        (&json!("pass"), &json!(200)),
        "{done}"
    );
    // With a token, the host must be on the list.
    let mut with_token = repository;
    with_token["tokenSecret"] = json!("GITHUB_TOKEN");
    app.call("PUT", "/v1/organization/secrets/GITHUB_TOKEN")
        .key(&app.home.key)
        .json(&json!({"value": "t0k3n"}))
        .send()
        .await
        .expect(200);
    let done = check("branch_protection", with_token.clone()).await;
    assert!(
        done["error"]["message"].as_str().expect("a message").contains("list of automation hosts"),
        "{done}"
    );
    let hosts = json!({"hosts": [format!("http://{address}")]});
    app.call("PUT", "/v1/organization/automation-hosts")
        .key(&app.home.key)
        .json(&hosts)
        .send()
        .await
        .expect(200);
    assert_eq!(check("branch_protection", with_token).await["evaluationStatus"], "pass");
    let files = app.get(&format!("/v1/tasks/{}/attachments", id(&task))).send().await.expect(200);
    assert_eq!(files["count"], 7, "each left its evidence");
}

async fn a_verdict_moves_the_task(app: &TestApp) {
    let task = app.task(json!({"frequency": "monthly"})).await;
    let script =
        "export default (ctx) => ({ status: ctx.task.status === 'todo' ? 'pass' : 'fail', summary: 'x' })";
    let made = add(
        app,
        &task,
        json!({"name": "A", "script": script, "statusOnPass": "done", "statusOnFail": "blocked"}),
    )
    .await;
    let own = format!("{}/{}", path(&task), id(&made));
    let seen = async || app.get(&format!("/v1/tasks/{}", id(&task))).send().await.expect(200);
    run(app, &own).await;
    let done = seen().await;
    assert_eq!((&done["status"], &done["lastCompletedAt"]), (&json!("done"), &done["updatedAt"]));
    run(app, &own).await;
    assert_eq!(seen().await["status"], "blocked");
}

async fn a_run_never_stays_running(app: &TestApp) {
    // Small in itself, but many megabytes when it is indented.
    let script = "export default () => {
        let e = new Array(300000).fill(0);
        for (let i = 0; i < 15; i++) e = [e];
        return { status: 'pass', summary: 's', evidence: e };
    }";
    let (_, own) = scripted(app, script).await;
    let done = run(app, &own).await;
    assert_eq!((&done["status"], &done["error"]), (&json!("COMPLETED"), &Value::Null));
    // A server error also ends the run, whether the list of hosts or the automation is damaged.
    let write = async |sql: &'static str| {
        app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("written");
    };
    let hosts = json!({"hosts": ["example.com"]});
    app.call("PUT", "/v1/organization/automation-hosts")
        .key(&app.home.key)
        .json(&hosts)
        .send()
        .await
        .expect(200);
    for (damage, repair) in [
        ("UPDATE automation_hosts SET hosts = 'nonsense'", "UPDATE automation_hosts SET hosts = '[]'"),
        ("UPDATE automations SET parameters = 'nonsense'", "UPDATE automations SET parameters = NULL"),
    ] {
        let asked = app.call("POST", &format!("{own}/runs")).key(&app.home.key).send().await.expect(201);
        write(damage).await;
        app.work().await;
        write(repair).await;
        let ended = app.get(&format!("{own}/runs/{}", id(&asked))).send().await.expect(200);
        assert_eq!(
            (&ended["status"], &ended["error"]["code"]),
            (&json!("FAILED"), &json!("internal")),
            "{damage}"
        );
        assert_eq!(app.take_errors().len(), 1);
    }
    app.mails().await;
}

async fn a_limited_key_gains_nothing_by_an_automation(app: &TestApp) {
    let task = app.task(json!({})).await;
    let key = app.key(&["automation:create", "automation:update", "automation:run", "automation:read"]).await;
    let post = |key: &str, body: Value| app.call("POST", &path(&task)).key(key).json(&body);
    post(&key, json!({"name": "A", "script": PASS})).send().await.problem(403, "forbidden");
    let key = app.key(&["automation:create", "automation:update", "task:read"]).await;
    let made = post(&key, json!({"name": "A", "script": PASS})).send().await.expect(201);
    let own = format!("{}/{}", path(&task), id(&made));
    for more in [json!({"events": ["risk.created"]}), json!({"statusOnPass": "done"})] {
        app.patch(&own, &more).key(&key).send().await.problem(403, "forbidden");
    }
    app.patch(&own, &json!({"events": ["task.created"], "isEnabled": false}))
        .key(&key)
        .send()
        .await
        .expect(200);
    app.patch(&own, &json!({"events": ["risk.created"], "statusOnPass": "done"})).send().await.expect(200);
    // Nor may it add a script to an automation whose events and status another caller has set.
    let version = app.call("POST", &format!("{own}/versions")).key(&key).json(&json!({"script": PASS}));
    version.send().await.problem(403, "forbidden");
}

async fn nothing_of_a_deleted_organization_runs(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let call = |method: &str, path: &str| app.call(method, path).key(&other.key);
    let task = call("POST", "/v1/tasks").json(&json!({"title": "A"})).send().await.expect(201);
    let body = json!({"name": "A", "script": PASS, "schedule": "* * * * *"});
    let made = call("POST", &path(&task)).json(&body).send().await.expect(201);
    let own = format!("{}/{}", path(&task), id(&made));
    let run = call("POST", &format!("{own}/runs")).send().await.expect(201);
    call("DELETE", "/v1/organization").json(&json!({"name": "Other"})).send().await.expect(200);
    app.clock.advance(Duration::from_mins(5));
    app.housekeeping().await;
    let organization = attestry_domain::id::OrganizationId::read(&other.organization).expect("an id");
    attestry_app::identity::organizations::restore(&app.ctx, organization).await.expect("restored");
    let seen = call("GET", &format!("{own}/runs/{}", id(&run))).send().await.expect(200);
    assert_eq!((&seen["status"], &seen["startedAt"]), (&json!("CANCELLED"), &Value::Null));
    assert_ne!(call("GET", &own).send().await.expect(200)["nextRunAt"], Value::Null, "its schedule goes on");
    app.clock.advance(Duration::from_mins(2));
    app.housekeeping().await;
    let all = call("GET", &format!("{own}/runs")).send().await.expect(200);
    assert_eq!(all.as_array().map(Vec::len), Some(2));
}

async fn odd_requests_are_answered_plainly(app: &TestApp) {
    let (task, own) = scripted(app, PASS).await;
    let start = |body: &str| {
        app.call("POST", &format!("{own}/runs")).key(&app.home.key).raw("application/json", body.to_owned())
    };
    assert_eq!(start("{\"x\": 1}").send().await.wrong_fields(), ["x"]);
    start("garbage").send().await.problem(400, "malformed_body");
    let done = run(app, &own).await;
    let reply = app.get(&format!("{own}/runs/{}", id(&done))).send().await;
    let tag = reply.header("etag").expect("a tag").to_owned();
    let again = app.get(&format!("{own}/runs/{}", id(&done))).header("if-none-match", &tag).send().await;
    assert_eq!(again.status.as_u16(), 304);
    for parameters in [
        json!({"url": "https://example.com", "expectedValue": "a\u{0}b"}),
        json!({"url": "https://example.com", "jsonPointer": "/a~b"}),
    ] {
        let body = json!({"check": "http_endpoint", "parameters": parameters});
        assert_eq!(app.post(&path(&task), &body).send().await.wrong_fields().len(), 1);
    }
    let secret = json!({"value": "ab1\ncd2 ef\ng&3"});
    app.call("PUT", "/v1/organization/secrets/LINES")
        .key(&app.home.key)
        .json(&secret)
        .send()
        .await
        .expect(200);
    let script = "export default async (ctx) => {
        const secret = await ctx.secret('LINES');
        ctx.log('multi ' + secret);
        ctx.log(encodeURIComponent(secret).replaceAll('%20', '+'), encodeURI(secret));
        return { status: 'pass', summary: 'x' };
    }";
    let (_, own) = scripted(app, script).await;
    let done = run(app, &own).await;
    assert_eq!(done["logs"], json!(["multi ***", "*** ***"]), "{done}");
}
