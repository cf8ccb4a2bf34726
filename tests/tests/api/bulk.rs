//! Bulk changes, on several registers.

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

both! {
    rows_are_changed_by_their_ids_or_a_filter,
    a_change_is_undone_as_one,
    an_undo_leaves_later_changes_alone,
    rows_are_deleted_by_those_who_may,
    a_bad_request_changes_nothing,
    a_neighbours_rows_are_out_of_reach,
    a_selection_is_exported,
    lists_are_sorted_by_any_column,
    pages_of_a_sorted_list_follow_each_other,
    the_matrix_follows_the_filters,
    policies_and_controls_are_undone_whole,
    an_employee_changes_own_tasks_only,
    an_undo_needs_the_permission_of_the_change,
    an_undo_links_no_deleted_record,
    many_rows_are_undone_in_one_request,
    many_controls_are_linked_at_once,
}

async fn bulk(app: &TestApp, register: &str, body: &Value) -> Value {
    app.post(&format!("/v1/{register}/bulk"), body).send().await.expect(200)
}

async fn field_of(app: &TestApp, path: &str, field: &str) -> Value {
    app.get(path).send().await.expect(200)[field].clone()
}

async fn rows_are_changed_by_their_ids_or_a_filter(app: &TestApp) {
    let mut risks = Vec::new();
    for title in ["Laptop lost", "Laptop stolen", "Office burns"] {
        risks.push(app.risk(json!({"title": title})).await);
    }
    let gone = app.risk(json!({})).await;
    app.delete(&format!("/v1/risks/{}", id(&gone))).send().await.expect(200);
    let before = app.entries(&app.home).await;
    let outcome = bulk(
        app,
        "risks",
        &json!({"ids": [id(&risks[0]), id(&risks[0]), id(&risks[2]), id(&gone)], "change": {"status": "closed"}}),
    )
    .await;
    assert_eq!(
        (&outcome["changed"], &outcome["unchanged"], &outcome["missing"]),
        (&json!(2), &json!(0), &json!([id(&gone)]))
    );
    assert_eq!(app.entries(&app.home).await, before + 2, "an entry for each");
    let outcome =
        bulk(app, "risks", &json!({"filter": {"q": "laptop"}, "change": {"status": "closed"}})).await;
    assert_eq!((&outcome["changed"], &outcome["unchanged"]), (&json!(1), &json!(1)));
    let outcome = bulk(
        app,
        "risks",
        &json!({"filter": {"status": ["closed", "open"]}, "change": {"department": "it", "reviewDate": "2027-01-01"}}),
    )
    .await;
    assert_eq!(outcome["changed"], 3);
    for risk in &risks {
        let now = app.get(&format!("/v1/risks/{}", id(risk))).send().await.expect(200);
        assert_eq!((&now["status"], &now["department"]), (&json!("closed"), &json!("it")));
    }
    let outcome = bulk(app, "risks", &json!({"filter": {}, "change": {"department": null}})).await;
    assert_eq!(outcome["changed"], 3);
    // Every register supports it.
    let vendor = app.vendor(json!({})).await;
    let outcome =
        bulk(app, "vendors", &json!({"ids": [id(&vendor)], "change": {"isSubProcessor": true}})).await;
    assert_eq!(outcome["changed"], 1);
    let task = app.task(json!({})).await;
    let outcome = bulk(app, "tasks", &json!({"ids": [id(&task)], "change": {"frequency": "yearly"}})).await;
    assert_eq!(outcome["changed"], 1);
}

async fn a_change_is_undone_as_one(app: &TestApp) {
    let made = app.risk(json!({"title": "a", "likelihood": "likely"})).await;
    let other = app.risk(json!({"title": "b", "status": "pending"})).await;
    let change =
        json!({"status": "closed", "treatmentStrategy": "mitigate", "residualLikelihood": "unlikely"});
    let outcome = bulk(app, "risks", &json!({"filter": {}, "change": change})).await;
    let undo = json!({"undo": outcome["undo"]});
    let stranger = app.key(&["risk:read", "risk:update"]).await;
    app.post("/v1/risks/bulk", &undo).key(&stranger).send().await.problem(404, "not_found");
    app.post("/v1/vendors/bulk", &undo).send().await.problem(404, "not_found");
    let undone = bulk(app, "risks", &undo).await;
    assert_eq!(
        (&undone["changed"], &undone["unchanged"], &undone["undo"]),
        (&json!(2), &json!(0), &Value::Null)
    );
    for risk in [&made, &other] {
        let mut now = app.get(&format!("/v1/risks/{}", id(risk))).send().await.expect(200);
        now["updatedAt"] = risk["updatedAt"].clone();
        assert_eq!(&now, risk, "also what the product had set itself");
    }
    app.post("/v1/risks/bulk", &undo).send().await.problem(404, "not_found");
}

async fn an_undo_leaves_later_changes_alone(app: &TestApp) {
    let kept = app.risk(json!({"title": "kept"})).await;
    let changed = app.risk(json!({"title": "changed"})).await;
    let deleted = app.risk(json!({"title": "deleted"})).await;
    let outcome = bulk(app, "risks", &json!({"filter": {}, "change": {"status": "pending"}})).await;
    app.patch(&format!("/v1/risks/{}", id(&changed)), &json!({"title": "again"})).send().await.expect(200);
    app.delete(&format!("/v1/risks/{}", id(&deleted))).send().await.expect(200);
    let undone = bulk(app, "risks", &json!({"undo": outcome["undo"]})).await;
    assert_eq!(
        (&undone["changed"], &undone["unchanged"], &undone["missing"]),
        (&json!(1), &json!(1), &json!([id(&deleted)]))
    );
    assert_eq!(field_of(app, &format!("/v1/risks/{}", id(&kept)), "status").await, "open");
    assert_eq!(field_of(app, &format!("/v1/risks/{}", id(&changed)), "status").await, "pending");
}

async fn rows_are_deleted_by_those_who_may(app: &TestApp) {
    let risk = app.risk(json!({})).await;
    app.risk(json!({})).await;
    let only = json!({"ids": [id(&risk)], "delete": true});
    let key = app.key(&["risk:read", "risk:update"]).await;
    app.post("/v1/risks/bulk", &only).key(&key).send().await.problem(403, "forbidden");
    let key = app.key(&["risk:read", "risk:delete"]).await;
    app.post("/v1/risks/bulk", &only).key(&key).send().await.problem(403, "forbidden");
    let outcome = bulk(app, "risks", &only).await;
    assert_eq!((&outcome["changed"], &outcome["undo"]), (&json!(1), &Value::Null));
    app.get(&format!("/v1/risks/{}", id(&risk))).send().await.problem(404, "not_found");
    let outcome = bulk(app, "risks", &json!({"filter": {"status": "open"}, "delete": true})).await;
    assert_eq!(outcome["changed"], 1);
}

async fn a_bad_request_changes_nothing(app: &TestApp) {
    let risk = app.risk(json!({})).await;
    let entries = app.entries(&app.home).await;
    let change = json!({"status": "closed"});
    for (body, field) in [
        (json!({"change": change}), "ids"),
        (json!({"ids": [id(&risk)], "filter": {}, "change": change}), "ids"),
        (json!({"ids": [], "change": change}), "ids"),
        (json!({"ids": ["nothing"], "change": change}), "ids"),
        (json!({"filter": {}}), "change"),
        (json!({"filter": {}, "change": change, "delete": true}), "change"),
        (json!({"filter": {}, "delete": false}), "change"),
        (json!({"filter": {}, "change": change, "undo": "blk_01jcqg3v5mefzr7d0a6w3k9x2b"}), "change"),
        (json!({"filter": {}, "change": {"status": "shut"}}), "change.status"),
        (json!({"filter": {}, "change": {"reference": "R-9"}}), "change.reference"),
        (json!({"filter": {}, "change": {"assigneeId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"}}), "assigneeId"),
        (json!({"filter": {}, "change": []}), "change"),
        (json!({"filter": {"status": "shut"}, "change": change}), "filter.status"),
        (json!({"filter": {"color": "red"}, "change": change}), "filter.color"),
        (json!({"filter": {"asOf": "2026-01-01"}, "change": change}), "filter.asOf"),
        (json!({"filter": {"q": {"a": 1}}, "change": change}), "filter"),
        (json!({"filter": "status=open", "change": change}), "filter"),
        (json!({"filter": {}, "change": change, "more": 1}), "more"),
    ] {
        let reply = app.post("/v1/risks/bulk", &body).send().await;
        reply.problem(400, "validation_failed");
        assert_eq!(reply.wrong_fields(), [field], "{body}");
    }
    assert_eq!(app.entries(&app.home).await, entries);
    assert_eq!(field_of(app, &format!("/v1/risks/{}", id(&risk)), "status").await, "open");
}

async fn a_neighbours_rows_are_out_of_reach(app: &TestApp) {
    let risk = app.risk(json!({})).await;
    let outcome = bulk(app, "risks", &json!({"filter": {}, "change": {"status": "pending"}})).await;
    let other = app.tenant("Neighbour", "n@neighbour.example").await;
    let send = |body: Value| app.post("/v1/risks/bulk", &body).key(&other.key);
    let by_id = send(json!({"ids": [id(&risk)], "delete": true})).send().await.expect(200);
    assert_eq!((&by_id["changed"], &by_id["missing"]), (&json!(0), &json!([id(&risk)])));
    let all = send(json!({"filter": {}, "change": {"status": "closed"}})).send().await.expect(200);
    assert_eq!((&all["changed"], &all["undo"]), (&json!(0), &Value::Null));
    send(json!({"undo": outcome["undo"]})).send().await.problem(404, "not_found");
    let export = app.post("/v1/risks/export", &json!({"ids": [id(&risk)]})).key(&other.key).send().await;
    export.problem(404, "not_found");
    assert_eq!(field_of(app, &format!("/v1/risks/{}", id(&risk)), "status").await, "pending");
}

async fn a_selection_is_exported(app: &TestApp) {
    let mut ids = Vec::new();
    for title in ["one", "two", "three"] {
        ids.push(id(&app.risk(json!({"title": title})).await).to_owned());
    }
    let body = json!({"ids": [ids[2], ids[0]]});
    let reply = app.post("/v1/risks/export?format=csv", &body).send().await;
    assert_eq!(reply.status, 200);
    let text = reply.text();
    let titles: Vec<_> = text.lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
    assert_eq!(titles, ["three", "one"], "{text}");
    let log = app.get("/v1/audit-logs?action=risk.exported").send().await.expect(200);
    assert_eq!(log["count"], 1);
    app.post("/v1/risks/export", &json!({"ids": []})).send().await.problem(400, "validation_failed");
}

/// A field of each row of a list.
async fn each(app: &TestApp, path: &str, field: &str) -> Vec<String> {
    let list = app.get(path).send().await.expect(200);
    let rows = list.get("data").unwrap_or(&list).as_array().expect("rows").iter();
    rows.map(|row| row[field].as_str().unwrap_or("null").to_owned()).collect()
}

async fn lists_are_sorted_by_any_column(app: &TestApp) {
    let zoe = app.member(&app.home, "zoe@example.com", "admin").await;
    let abe = app.member(&app.home, "abe@example.com", "admin").await;
    for (title, fields) in [
        (
            "a",
            json!({"status": "closed", "category": "people", "assigneeId": id(&zoe), "reviewDate": "2027-03-01"}),
        ),
        (
            "b",
            json!({"status": "pending", "category": "customer", "department": "it", "treatmentStrategy": "transfer"}),
        ),
        (
            "c",
            json!({"status": "open", "category": "technology", "assigneeId": id(&abe), "reviewDate": "2026-12-01"}),
        ),
    ] {
        let mut fields = fields;
        fields["title"] = json!(title);
        app.risk(fields).await;
    }
    for (sort, expected) in [
        ("status", ["c", "b", "a"]),
        ("category", ["b", "a", "c"]),
        ("assignee", ["b", "c", "a"]),
        ("reviewDate", ["c", "a", "b"]),
        ("department", ["a", "c", "b"]),
        ("treatmentStrategy", ["a", "c", "b"]),
    ] {
        let up = each(app, &format!("/v1/risks?sort={sort}&order=asc"), "title").await;
        assert_eq!(up, expected, "{sort}");
        let past = format!("/v1/risks?sort={sort}&order=asc&asOf=2026-11-15T09:30:00Z");
        assert_eq!(each(app, &past, "title").await, expected, "{sort} of the past");
    }
    for title in ["x", "y"] {
        app.task(json!({"title": title, "frequency": if title == "x" { "yearly" } else { "weekly" }})).await;
    }
    assert_eq!(each(app, "/v1/tasks?sort=frequency&order=asc", "title").await, ["y", "x"]);
    for (register, sorts) in [
        ("vendors", &["category", "status", "treatmentStrategy", "assignee", "reviewDate"][..]),
        ("tasks", &["status", "department", "frequency", "assignee", "lastEvidenceDate"]),
        (
            "controls",
            &["department", "assignee", "reviewDate", "requirements", "policies", "tasks", "readiness"],
        ),
        (
            "policies",
            &[
                "status",
                "department",
                "frequency",
                "assignee",
                "reviewDate",
                "currentVersion",
                "lastPublishedAt",
                "signatures",
            ],
        ),
    ] {
        for sort in sorts {
            app.get(&format!("/v1/{register}?sort={sort}&order=desc")).send().await.expect(200);
        }
    }
}

async fn pages_of_a_sorted_list_follow_each_other(app: &TestApp) {
    let zoe = app.member(&app.home, "zoe@example.com", "admin").await;
    let abe = app.member(&app.home, "abe@example.com", "admin").await;
    for number in 0..9 {
        let owner = [json!(null), json!(id(&zoe)), json!(id(&abe))][number % 3].clone();
        let date = [json!(null), json!("2027-01-01")][number % 2].clone();
        app.risk(json!({"title": format!("r{number}"), "assigneeId": owner, "reviewDate": date})).await;
    }
    for sort in ["assignee", "reviewDate", "status", "category"] {
        for (order, past) in [("asc", ""), ("desc", ""), ("asc", "&asOf=2026-11-15T09:30:00Z")] {
            let whole = each(app, &format!("/v1/risks?sort={sort}&order={order}{past}"), "title").await;
            assert_eq!(whole.len(), 9);
            let (mut pages, mut cursor) = (Vec::new(), String::new());
            loop {
                let path = format!("/v1/risks?sort={sort}&order={order}&limit=2{past}{cursor}");
                let page = app.get(&path).send().await.expect(200);
                let rows = page["data"].as_array().expect("rows");
                pages.extend(rows.iter().map(|row| row["title"].as_str().expect("a title").to_owned()));
                match page["nextCursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
            assert_eq!(pages, whole, "{sort} {order} {past}");
        }
    }
}

async fn the_matrix_follows_the_filters(app: &TestApp) {
    app.risk(json!({"title": "Laptop", "likelihood": "likely", "impact": "major"})).await;
    app.risk(json!({"title": "Office", "likelihood": "likely", "impact": "major", "status": "closed"})).await;
    app.risk(json!({"title": "Unrated"})).await;
    let count = async |query: &str| {
        let matrix = app.get(&format!("/v1/risks/matrix?{query}")).send().await.expect(200);
        let cells = matrix["inherent"].as_array().expect("cells").iter();
        let rated: i64 = cells.map(|cell| cell["count"].as_i64().expect("a count")).sum();
        (rated, matrix["notAssessed"].as_i64().expect("a count"))
    };
    assert_eq!(count("").await, (2, 1));
    assert_eq!(count("status=open").await, (1, 1));
    assert_eq!(count("q=office").await, (1, 0));
    assert_eq!(count("status=closed&likelihood=very_unlikely").await, (0, 0));
    assert_eq!(count("status=open&asOf=2026-11-15T09:30:00Z").await, (1, 1));
    app.get("/v1/risks/matrix?color=red").send().await.problem(400, "validation_failed");
}

async fn policies_and_controls_are_undone_whole(app: &TestApp) {
    let policy = json!({"name": "Access", "contentMarkdown": "# Access\n\nWho may see what."});
    let policy = format!("/v1/policies/{}", id(&app.post("/v1/policies", &policy).send().await.expect(201)));
    let task = app.task(json!({})).await;
    let control = json!({"name": "Access is reviewed", "taskIds": [task["id"]]});
    let control =
        format!("/v1/controls/{}", id(&app.post("/v1/controls", &control).send().await.expect(201)));
    for (register, path) in [("policies", &policy), ("controls", &control)] {
        let before = app.get(path).send().await.expect(200);
        let change = json!({"department": "it", "reviewDate": "2027-01-01"});
        let outcome = bulk(app, register, &json!({"filter": {}, "change": change})).await;
        assert_eq!(outcome["changed"], 1);
        assert_eq!(field_of(app, path, "department").await, "it");
        bulk(app, register, &json!({"undo": outcome["undo"]})).await;
        let mut now = app.get(path).send().await.expect(200);
        now["updatedAt"] = before["updatedAt"].clone();
        assert_eq!(now, before, "{register}");
    }
}

async fn an_employee_changes_own_tasks_only(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let own = app.task(json!({"assigneeId": eve["id"]})).await;
    let other = app.task(json!({})).await;
    app.mails().await;
    let (session, organization) = (app.sign_in("eve@example.com").await, app.home.organization.clone());
    let send =
        |body: Value| app.post("/v1/tasks/bulk", &body).without("x-api-key").session(&session, &organization);
    let all = send(json!({"filter": {}, "change": {"status": "in_progress"}})).send().await.expect(200);
    assert_eq!(all["changed"], 1);
    let by_id =
        send(json!({"ids": [id(&own), id(&other)], "change": {"status": "done"}})).send().await.expect(200);
    assert_eq!((&by_id["changed"], &by_id["missing"]), (&json!(1), &json!([id(&other)])));
    send(json!({"filter": {}, "delete": true})).send().await.problem(403, "forbidden");
    assert_eq!(field_of(app, &format!("/v1/tasks/{}", id(&other)), "status").await, "todo");
}

async fn many_controls_are_linked_at_once(app: &TestApp) {
    let control =
        async |name: &str| app.post("/v1/controls", &json!({"name": name})).send().await.expect(201);
    let (a, b) = (control("a").await, control("b").await);
    let (risk, task) = (app.risk(json!({})).await, app.task(json!({})).await);
    let linked = json!({"riskIds": [risk["id"]], "taskIds": [task["id"]]});
    let path = format!("/v1/controls/{}", id(&a));
    app.post(&format!("{path}/link"), &json!({"riskIds": [risk["id"]]})).send().await.expect(200);
    let outcome = bulk(app, "controls", &json!({"filter": {}, "link": linked})).await;
    assert_eq!((&outcome["changed"], &outcome["unchanged"]), (&json!(2), &json!(0)));
    let again = bulk(app, "controls", &json!({"ids": [a["id"], b["id"]], "link": linked})).await;
    assert_eq!((&again["changed"], &again["unchanged"]), (&json!(0), &json!(2)));
    bulk(app, "controls", &json!({"undo": outcome["undo"]})).await;
    assert_eq!(field_of(app, &path, "taskIds").await, json!([]));
    assert_eq!(field_of(app, &path, "riskIds").await, json!([risk["id"]]), "as before, not empty");
    let removed = bulk(app, "controls", &json!({"filter": {}, "unlink": {"riskIds": [risk["id"]]}})).await;
    assert_eq!((&removed["changed"], &removed["unchanged"]), (&json!(1), &json!(1)));
    // Bad requests change nothing.
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = json!({"title": "A", "description": "B", "category": "other"});
    let theirs = app.call("POST", "/v1/risks").key(&other.key).json(&theirs).send().await.expect(201);
    for (register, body, field) in [
        ("controls", json!({"filter": {}, "link": {"riskIds": [theirs["id"]]}}), "riskIds"),
        ("controls", json!({"filter": {}, "link": {"riskIds": ["x"]}}), "link.riskIds"),
        ("controls", json!({"filter": {}, "link": linked, "unlink": linked}), "change"),
        ("controls", json!({"filter": {}, "link": linked, "delete": true}), "change"),
        ("controls", json!({"filter": {}, "link": {"colour": []}}), "link.colour"),
        ("risks", json!({"filter": {}, "link": linked}), "link"),
    ] {
        let wrong = app.post(&format!("/v1/{register}/bulk"), &body).send().await.wrong_fields();
        assert!(wrong.iter().any(|wrong| wrong == field), "{body}: {wrong:?}");
    }
    assert_eq!(field_of(app, &path, "riskIds").await, json!([]));
}

async fn an_undo_needs_the_permission_of_the_change(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let own = app.task(json!({"assigneeId": eve["id"]})).await;
    let other = app.task(json!({})).await;
    let token = app.sign_in("eve@example.com").await;
    let send = async |token: &str, body: Value| {
        let call = app.call("POST", "/v1/tasks/bulk").session(token, &app.home.organization);
        call.json(&body).send().await
    };
    let outcome = send(&token, json!({"filter": {}, "change": {"department": "hr"}})).await.expect(200);
    app.patch(&format!("/v1/people/{}", id(&eve)), &json!({"role": "employee"})).send().await.expect(200);
    let token = app.sign_in("eve@example.com").await;
    send(&token, json!({"undo": outcome["undo"]})).await.problem(403, "forbidden");
    for task in [&own, &other] {
        assert_eq!(field_of(app, &format!("/v1/tasks/{}", id(task)), "department").await, "hr");
    }
}

async fn an_undo_links_no_deleted_record(app: &TestApp) {
    let risk = app.risk(json!({})).await;
    let made =
        app.post("/v1/controls", &json!({"name": "A", "riskIds": [id(&risk)]})).send().await.expect(201);
    let unlink = json!({"ids": [id(&made)], "unlink": {"riskIds": [id(&risk)]}});
    let outcome = bulk(app, "controls", &unlink).await;
    app.delete(&format!("/v1/risks/{}", id(&risk))).send().await.expect(200);
    let undone = bulk(app, "controls", &json!({"undo": outcome["undo"]})).await;
    assert_eq!((&undone["changed"], &undone["unchanged"]), (&json!(0), &json!(1)));
    assert_eq!(field_of(app, &format!("/v1/controls/{}", id(&made)), "riskIds").await, json!([]));
    // The rows whose targets are still there are linked again.
    let (a, b) = (app.risk(json!({})).await, app.risk(json!({})).await);
    let mut controls = Vec::new();
    for risks in [json!([a["id"]]), json!([b["id"]]), json!([a["id"], b["id"]])] {
        let control = json!({"name": "B", "riskIds": risks});
        controls.push(app.post("/v1/controls", &control).send().await.expect(201)["id"].clone());
    }
    let unlink = json!({"ids": controls, "unlink": {"riskIds": [a["id"], b["id"]]}});
    let outcome = bulk(app, "controls", &unlink).await;
    app.delete(&format!("/v1/risks/{}", id(&a))).send().await.expect(200);
    let undone = bulk(app, "controls", &json!({"undo": outcome["undo"]})).await;
    assert_eq!((&undone["changed"], &undone["unchanged"]), (&json!(1), &json!(2)));
    let path = format!("/v1/controls/{}", controls[1].as_str().expect("an id"));
    assert_eq!(field_of(app, &path, "riskIds").await, json!([b["id"]]));
}

async fn many_rows_are_undone_in_one_request(app: &TestApp) {
    const ROWS: usize = 1_100;
    let rows =
        (0..ROWS).map(|row| format!("Risk {row},It may happen,operations\n")).collect::<Vec<_>>().concat();
    let table = format!("title,description,category\n{rows}");
    let import = app.call("POST", "/v1/risks/import").key(&app.home.key).raw("text/csv", table);
    import.send().await.expect(200);
    let change = json!({"filter": {}, "change": {"status": "closed", "assigneeId": app.home.member}});
    let outcome = bulk(app, "risks", &change).await;
    assert_eq!(outcome["changed"], ROWS);
    let undone = bulk(app, "risks", &json!({"undo": outcome["undo"]})).await;
    assert_eq!((&undone["changed"], &undone["unchanged"]), (&json!(ROWS), &json!(0)));
    let left = app.get("/v1/risks?status=closed&limit=1").send().await.expect(200);
    assert_eq!(left["count"], 0);
    app.work().await;
}
