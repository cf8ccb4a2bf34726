//! `/v1/controls`, `/v1/context`, and readiness.

use std::time::Duration;

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    a_control_is_linked_and_unlinked,
    what_goes_takes_its_links_along,
    only_what_is_there_can_be_linked,
    controls_come_from_a_framework_once,
    readiness_follows_policies_and_evidence,
    readiness_is_remembered,
    context_is_kept,
    controls_as_a_table,
    controls_are_sorted_by_what_is_in_place,
}

fn id(of: &Value) -> String {
    of["id"].as_str().expect("an id").to_owned()
}

async fn risk(app: &TestApp) -> String {
    let risk = json!({"title": "Laptops are lost", "description": "Often.", "category": "other"});
    id(&app.post("/v1/risks", &risk).send().await.expect(201))
}

async fn a_control_is_linked_and_unlinked(app: &TestApp) {
    let (one, two) = (risk(app).await, risk(app).await);
    let made =
        app.post("/v1/controls", &json!({"name": "Disks are encrypted", "riskIds": [one]})).send().await;
    let made = made.expect(201);
    assert_eq!((&made["reference"], &made["riskIds"]), (&json!("C-1"), &json!([one])));
    assert_eq!(made["readiness"]["status"], "not_started");
    let path = format!("/v1/controls/{}", id(&made));
    let linked =
        app.post(&format!("{path}/link"), &json!({"riskIds": [two, two, one]})).send().await.expect(200);
    assert_eq!(linked["riskIds"].as_array().map(Vec::len), Some(2));
    let by_risk = app.get(&format!("/v1/controls?riskId={two}&total=true")).send().await.expect(200);
    assert_eq!(by_risk["total"], 1);
    let by_vendor = app.get("/v1/controls?vendorId=vnd_01jcqg3v5mefzr7d0a6w3k9x2b").send().await.expect(200);
    assert_eq!(by_vendor["count"], 0);
    let left = app.post(&format!("{path}/unlink"), &json!({"riskIds": [one]})).send().await.expect(200);
    assert_eq!(left["riskIds"], json!([two]));
    let history = app.get(&format!("{path}/history")).send().await.expect(200);
    assert_eq!(history["count"], 3);
    app.post(&format!("{path}/link"), &json!({"riskIds": [one]}))
        .header("if-match", "\"1\"")
        .send()
        .await
        .problem(412, "precondition_failed");
    app.post(&format!("{path}/link"), &json!({"riskIds": "all"}))
        .send()
        .await
        .problem(400, "validation_failed");
}

async fn what_goes_takes_its_links_along(app: &TestApp) {
    let one = risk(app).await;
    let task = id(&app.post("/v1/tasks", &json!({"title": "Encrypt"})).send().await.expect(201));
    let control = json!({"name": "Disks are encrypted", "riskIds": [one], "taskIds": [task]});
    let path = format!("/v1/controls/{}", id(&app.post("/v1/controls", &control).send().await.expect(201)));
    app.delete(&format!("/v1/risks/{one}")).send().await.expect(200);
    app.delete(&format!("/v1/tasks/{task}")).send().await.expect(200);
    let left = app.get(&path).send().await.expect(200);
    assert_eq!((&left["riskIds"], &left["taskIds"]), (&json!([]), &json!([])));
}

async fn only_what_is_there_can_be_linked(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = json!({"title": "Theirs", "description": "B", "category": "other"});
    let theirs = app.post("/v1/risks", &theirs).key(&other.key).send().await.expect(201);
    for wrong in [
        json!({"name": "A", "riskIds": [theirs["id"]]}),
        json!({"name": "A", "policyIds": ["pol_01jcqg3v5mefzr7d0a6w3k9x2b"]}),
        json!({"name": "A", "requirementIds": ["frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b"]}),
        json!({"name": "A", "riskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"]}),
    ] {
        app.post("/v1/controls", &wrong).send().await.problem(400, "validation_failed");
    }
    let control = id(&app.post("/v1/controls", &json!({"name": "A"})).send().await.expect(201));
    for how in ["", "/link"] {
        let call =
            app.call(if how.is_empty() { "PATCH" } else { "POST" }, &format!("/v1/controls/{control}{how}"));
        let reply = call.key(&app.home.key).json(&json!({"riskIds": [theirs["id"]]})).send().await;
        let problem = reply.problem(400, "validation_failed");
        assert_eq!(problem["errors"][0]["field"], "riskIds");
    }
}

async fn controls_come_from_a_framework_once(app: &TestApp) {
    let make = |body: Value| app.post("/v1/controls/from-framework", &body).send();
    let iso = make(json!({"frameworkId": "iso_27001"})).await.expect(201);
    let count = iso["createdCount"].as_u64().expect("a count");
    assert!(count > 90, "{count}");
    assert_eq!(make(json!({"frameworkId": "iso_27001"})).await.expect(201)["createdCount"], 0);
    // Requirements that map to existing controls need no new ones.
    let soc =
        make(json!({"frameworkId": "soc_2"})).await.expect(201)["createdCount"].as_u64().expect("a count");
    let asked = app.get("/v1/frameworks/soc_2").send().await.expect(200);
    assert!(soc < asked["totalRequirements"].as_u64().expect("a count") / 2, "{soc}");
    let ready = app.get("/v1/frameworks/soc_2/readiness").send().await.expect(200);
    assert_eq!(ready["counts"]["uncovered"], 0);
    make(json!({"frameworkId": "iso_9001"})).await.problem(400, "validation_failed");
    let wrong = json!({"frameworkId": "iso_27001", "requirementIds": ["frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b"]});
    make(wrong).await.problem(400, "validation_failed");
}

async fn publish(app: &TestApp) -> String {
    let policy = json!({"name": "Access Control Policy", "contentMarkdown": "Who may see what."});
    let policy = id(&app.post("/v1/policies", &policy).send().await.expect(201));
    let path = format!("/v1/policies/{policy}");
    let ask = json!({"approverId": app.home.member});
    app.post(&format!("{path}/submit-for-approval"), &ask).send().await.expect(200);
    app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    app.work().await;
    policy
}

async fn readiness_follows_policies_and_evidence(app: &TestApp) {
    let requirements = app.get("/v1/frameworks/iso_27001/requirements?q=5.15").send().await.expect(200);
    let requirement = id(&requirements["data"][0]);
    let policy = publish(app).await;
    let task = json!({"title": "Review access", "frequency": "quarterly"});
    let task = id(&app.post("/v1/tasks", &task).send().await.expect(201));
    let control = json!({
        "name": "Access is reviewed", "requirementIds": [requirement], "policyIds": [policy], "taskIds": [task],
        "assigneeId": app.home.member
    });
    app.post("/v1/controls", &control).send().await.expect(201);
    let status = async || {
        let ready = app.get("/v1/frameworks/iso_27001/readiness").send().await.expect(200);
        let all = ready["requirements"].as_array().expect("requirements").clone();
        all.into_iter().find(|one| one["requirementId"] == requirement).expect("it")["status"].clone()
    };
    assert_eq!(status().await, "in_progress");
    // A completed task without evidence does not count.
    app.patch(&format!("/v1/tasks/{task}"), &json!({"status": "done"})).send().await.expect(200);
    assert_eq!(status().await, "in_progress");
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    app.post(&format!("/v1/tasks/{task}/attachments"), &file).send().await.expect(201);
    assert_eq!(status().await, "ready");
    let controls = app.get(&format!("/v1/controls?policyId={policy}")).send().await.expect(200);
    assert_eq!(controls["data"][0]["readiness"]["tasks"], json!({"linked": 1, "inPlace": 1}));
    app.patch(&format!("/v1/policies/{policy}"), &json!({"isArchived": true})).send().await.expect(200);
    assert_eq!(status().await, "in_progress");
    app.patch(&format!("/v1/policies/{policy}"), &json!({"isArchived": false})).send().await.expect(200);
    // Evidence expires.
    app.clock.advance(Duration::from_hours(24 * 120));
    assert_eq!(status().await, "in_progress");
}

async fn readiness_is_remembered(app: &TestApp) {
    let policy = publish(app).await;
    let requirements = app.get("/v1/frameworks/iso_27001/requirements?q=5.15").send().await.expect(200);
    let control = json!({
        "name": "Access is managed", "requirementIds": [id(&requirements["data"][0])], "policyIds": [policy],
        "assigneeId": app.home.member
    });
    let control = id(&app.post("/v1/controls", &control).send().await.expect(201));
    app.clock.advance(Duration::from_hours(1));
    let before = app.ctx.now();
    app.clock.advance(Duration::from_hours(1));
    app.delete(&format!("/v1/controls/{control}")).send().await.expect(200);
    app.delete(&format!("/v1/policies/{policy}")).send().await.expect(200);
    let ready = async |query: &str| {
        let ready = app.get(&format!("/v1/frameworks/iso_27001/readiness{query}")).send().await.expect(200);
        ready["counts"]["ready"].clone()
    };
    assert_eq!(ready("").await, 0);
    assert_eq!(ready(&format!("?asOf={before}")).await, 1);
    app.get("/v1/frameworks/iso_27001/readiness?asOf=2999-01-01")
        .send()
        .await
        .problem(400, "validation_failed");
}

async fn context_is_kept(app: &TestApp) {
    let entry = json!({"question": "Are there offices?", "answer": "No.", "tags": ["premises", "premises"]});
    let made = app.post("/v1/context", &entry).send().await.expect(201);
    assert_eq!((&made["reference"], &made["tags"]), (&json!("Q-1"), &json!(["premises"])));
    let path = format!("/v1/context/{}", id(&made));
    app.patch(&path, &json!({"answer": "Yes, one."})).send().await.expect(200);
    app.post("/v1/context", &json!({"question": "Is software made?", "tags": ["development"]}))
        .send()
        .await
        .expect(201);
    let found = app.get("/v1/context?tag=premises").send().await.expect(200);
    assert_eq!((&found["count"], &found["data"][0]["answer"]), (&json!(1), &json!("Yes, one.")));
    assert_eq!(app.get("/v1/context?tag=premise").send().await.expect(200)["count"], 0);
    app.get("/v1/context?tag=no%20tag").send().await.problem(400, "validation_failed");
    app.post("/v1/context", &json!({"question": "A?", "tags": ["No tag"]}))
        .send()
        .await
        .problem(400, "validation_failed");
    app.delete(&path).send().await.expect(200);
    assert_eq!(app.get("/v1/context").send().await.expect(200)["count"], 1);
}

async fn controls_as_a_table(app: &TestApp) {
    let one = risk(app).await;
    let control = json!({"name": "Disks are encrypted", "riskIds": [one, risk(app).await]});
    app.post("/v1/controls", &control).send().await.expect(201);
    let table = app.get("/v1/controls/export").send().await.text();
    let send =
        |path: &str, table: &str| app.call("POST", path).key(&app.home.key).raw("text/csv", table).send();
    assert_eq!(send("/v1/controls/import", &table).await.expect(200)["imported"], 1);
    let all = app.get(&format!("/v1/controls?riskId={one}")).send().await.expect(200);
    assert_eq!((&all["count"], &all["data"][0]["riskIds"]), (&json!(2), &all["data"][1]["riskIds"]));
    // A missing reference is reported with its row, in a dry run as well.
    let wrong = format!("name,riskIds\nA,{one}\nB,rsk_01jcqg3v5mefzr7d0a6w3k9x2b\n");
    let trial = send("/v1/controls/import?dryRun=true", &wrong).await.expect(200);
    assert_eq!((&trial["errorCount"], &trial["errors"][0]["row"]), (&json!(1), &json!(2)));
    let refused = send("/v1/controls/import", &wrong).await.problem(400, "validation_failed");
    assert_eq!(refused["errors"][0]["field"], "riskIds");
    let context =
        send("/v1/context/import", "question,answer,tags\nOffices?,No,\"premises, places\"\n").await;
    assert_eq!(context.expect(200)["imported"], 1);
    assert_eq!(app.get("/v1/context?tag=places").send().await.expect(200)["count"], 1);
}

/// Returns the names of all rows of a list, in pages of two.
async fn in_pages(app: &TestApp, path: &str) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.get(&format!("{path}&limit=2{cursor}")).send().await.expect(200);
        let rows = page["data"].as_array().expect("data").iter();
        seen.extend(rows.map(|row| row["name"].as_str().expect("a name").to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return seen,
        }
    }
}

async fn controls_are_sorted_by_what_is_in_place(app: &TestApp) {
    let (published, other) = (publish(app).await, publish(app).await);
    let draft = app.post("/v1/policies", &json!({"name": "Draft"})).send().await.expect(201);
    let task = app.post("/v1/tasks", &json!({"title": "Encrypt"})).send().await.expect(201);
    let iso = app.get("/v1/frameworks/iso_27001/requirements").send().await.expect(200);
    let requirements: Vec<&Value> =
        iso["data"].as_array().expect("data").iter().take(3).map(|one| &one["id"]).collect();
    for (name, fields) in [
        ("a", json!({"requirementIds": requirements[..3], "policyIds": [draft["id"]]})),
        ("b", json!({"policyIds": [published], "assigneeId": app.home.member})),
        (
            "c",
            json!({"requirementIds": requirements[..1], "policyIds": [published, other], "taskIds": [task["id"]]}),
        ),
    ] {
        app.clock.advance(Duration::from_millis(1));
        let mut control = fields;
        control["name"] = json!(name);
        app.post("/v1/controls", &control).send().await.expect(201);
    }
    for (sort, up) in [
        ("requirements", ["b", "c", "a"]),
        ("policies", ["a", "b", "c"]),
        ("tasks", ["a", "b", "c"]),
        ("readiness", ["b", "c", "a"]),
    ] {
        for past in ["", "&asOf=2026-11-15"] {
            let mut down = up.map(ToOwned::to_owned);
            let path = format!("/v1/controls?sort={sort}{past}");
            let found = in_pages(app, &format!("{path}&order=asc")).await;
            assert_eq!(found, down, "{sort}{past}");
            down.reverse();
            assert_eq!(in_pages(app, &path).await, down, "{sort}{past}");
        }
        let table = app.get(&format!("/v1/controls/export?sort={sort}&order=asc")).send().await.text();
        let names = |line: &str| line.split(',').find(|cell| up.contains(cell)).map(ToOwned::to_owned);
        assert_eq!(table.lines().skip(1).filter_map(names).collect::<Vec<_>>(), up, "{sort} in a table");
    }
    let found = in_pages(app, "/v1/controls?sort=readiness&order=asc&q=c").await;
    assert_eq!(found, ["c"], "filters hold in every order");
    app.get("/v1/controls?sort=readiness&cursor=WyJuYW1lIGFzYyIsImEiLCJiIl0")
        .send()
        .await
        .problem(400, "validation_failed");
}
