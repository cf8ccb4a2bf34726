//! `/v1/tasks` and the task templates.

use std::time::Duration;

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

both! {
    a_task_is_shown_with_the_fields_of_the_interface,
    the_list_is_everything_in_the_order_of_the_board,
    pages_are_linked,
    lists_can_be_narrowed_down,
    bad_tasks_are_refused,
    many_tasks_change_together_or_not_at_all,
    tasks_are_put_into_an_order,
    done_tasks_open_again_in_the_organizations_time_zone,
    templates_become_tasks_once,
    an_employee_sees_and_moves_their_own_tasks_and_nothing_else,
    evidence_is_fresh_for_a_period,
    tables_history_and_the_past,
    deleting_takes_everything_along,
}

const DAY: Duration = Duration::from_hours(24);

fn path(task: &Value) -> String {
    format!("/v1/tasks/{}", id(task))
}

fn titles(list: &Value) -> Vec<&str> {
    list.as_array()
        .expect("a bare array")
        .iter()
        .map(|task| task["title"].as_str().expect("a title"))
        .collect()
}

async fn a_task_is_shown_with_the_fields_of_the_interface(app: &TestApp) {
    let made = app.post("/v1/tasks", &json!({"title": " Review access "})).send().await.expect(201);
    let null = [
        "assigneeId",
        "department",
        "frequency",
        "dueDate",
        "lastCompletedAt",
        "lastEvidenceDate",
        "taskTemplateId",
    ];
    for field in null {
        assert_eq!(made[field], Value::Null, "{field}");
    }
    assert_eq!(made["title"], "Review access");
    assert_eq!(
        (&made["status"], &made["order"], &made["description"]),
        (&json!("todo"), &json!(0), &json!(""))
    );
    assert_eq!((&made["reference"], &made["evidenceStatus"]), (&json!("T-1"), &json!("none")));
    assert_eq!(made.get("authType"), None, "that is for risks and vendors");
    let reply = app.get(&path(&made)).send().await;
    assert_eq!(reply.expect(200), made);
    let tag = reply.header("etag").expect("a tag").to_owned();
    let done =
        app.patch(&path(&made), &json!({"status": "done"})).header("if-match", &tag).send().await.expect(200);
    assert_eq!(done["lastCompletedAt"], done["updatedAt"]);
    app.patch(&path(&made), &json!({"title": "x"}))
        .header("if-match", &tag)
        .send()
        .await
        .problem(412, "precondition_failed");
    app.clock.advance(DAY);
    let again = app.patch(&path(&made), &json!({"status": "done"})).send().await.expect(200);
    assert_eq!(again, done, "nothing changed");
    let gone = app.delete(&path(&made)).send().await.expect(200);
    assert_eq!(gone, json!({"success": true, "message": "The task is deleted."}));
    app.get(&path(&made)).send().await.problem(404, "not_found");
}

async fn the_list_is_everything_in_the_order_of_the_board(app: &TestApp) {
    assert_eq!(app.get("/v1/tasks").send().await.expect(200), json!([]));
    for (title, status, order) in [
        ("d", "done", 0),
        ("b", "todo", 2),
        ("a", "todo", 1),
        ("e", "blocked", 0),
        ("c", "in_progress", 7),
        ("a2", "todo", 1),
    ] {
        app.clock.advance(Duration::from_millis(2));
        app.task(json!({"title": title, "status": status, "order": order})).await;
    }
    let reply = app.get("/v1/tasks").send().await;
    assert_eq!(titles(&reply.expect(200)), ["a", "a2", "b", "c", "d", "e"]);
    assert_eq!(reply.header("link"), None);
    let newest = app.get("/v1/tasks?sort=createdAt").send().await.expect(200);
    assert_eq!(titles(&newest)[0], "a2");
    let by_title = app.get("/v1/tasks?sort=title&order=desc").send().await.expect(200);
    assert_eq!(titles(&by_title)[0], "e");
}

async fn pages_are_linked(app: &TestApp) {
    for number in 0..5 {
        app.task(json!({"title": format!("task {number}"), "order": number})).await;
    }
    let mut next = Some("/v1/tasks?limit=2&q=task".to_owned());
    let mut seen = Vec::new();
    let mut pages = 0;
    while let Some(path) = next {
        let reply = app.get(&path).send().await;
        seen.extend(titles(&reply.expect(200)).into_iter().map(ToOwned::to_owned));
        next = reply.header("link").map(|link| {
            let (target, rest) =
                link.strip_prefix('<').and_then(|link| link.split_once('>')).expect("a link");
            assert_eq!(rest, "; rel=\"next\"");
            target.to_owned()
        });
        pages += 1;
    }
    assert_eq!((pages, seen.len()), (3, 5));
    assert!(seen.is_sorted());
    assert_eq!(app.get("/v1/tasks?limit=0").send().await.wrong_fields(), ["limit"]);
    assert_eq!(app.get("/v1/tasks?cursor=x").send().await.wrong_fields(), ["cursor"]);
    assert_eq!(app.get("/v1/tasks?page=2").send().await.wrong_fields(), ["page"]);
}

async fn lists_can_be_narrowed_down(app: &TestApp) {
    let today = "2026-11-15";
    app.task(json!({"title": "late", "dueDate": "2026-11-14", "department": "it", "frequency": "monthly"}))
        .await;
    app.task(json!({"title": "today", "dueDate": today, "department": "hr", "assigneeId": app.home.member}))
        .await;
    app.task(json!({"title": "done", "dueDate": "2026-11-01", "status": "done"})).await;
    let found = async |query: &str| {
        let list = app.get(&format!("/v1/tasks?{query}")).send().await.expect(200);
        titles(&list).join(" ")
    };
    assert_eq!(found("overdue=true").await, "late");
    assert_eq!(found("overdue=false").await, "late today done");
    assert_eq!(found("status=done").await, "done");
    assert_eq!(found("department=it&frequency=monthly").await, "late");
    assert_eq!(found(&format!("assigneeId={}", app.home.member)).await, "today");
    assert_eq!(found("q=LAT").await, "late");
    assert_eq!(found("q=t-3").await, "done");
    assert_eq!(found("sort=dueDate&order=asc").await, "done late today");
    assert_eq!(app.get("/v1/tasks?status=open").send().await.wrong_fields(), ["status"]);
    // In a time zone where it is already tomorrow, a task due today is overdue.
    app.patch("/v1/organization", &json!({"timeZone": "Pacific/Kiritimati"})).send().await.expect(200);
    app.clock.advance(Duration::from_hours(2));
    assert_eq!(found("overdue=true").await, "late today");
    for bad in ["Mars/Olympus", "", "CEST"] {
        assert_eq!(
            app.patch("/v1/organization", &json!({"timeZone": bad})).send().await.wrong_fields(),
            ["timeZone"]
        );
    }
}

async fn bad_tasks_are_refused(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let body = json!({
        "title": "", "description": 5, "status": "open", "assigneeId": other.member, "department": "x",
        "frequency": "hourly", "order": -1, "dueDate": "soon", "taskTemplateId": "frk_tt_01jcqg3v5mefzr7d0a6w3k9x2b",
        "lastCompletedAt": null, "evidenceStatus": "fresh"
    });
    assert_eq!(
        app.post("/v1/tasks", &body).send().await.wrong_fields(),
        [
            "department",
            "description",
            "dueDate",
            "evidenceStatus",
            "frequency",
            "lastCompletedAt",
            "order",
            "status",
            "taskTemplateId",
            "title"
        ]
    );
    let body = json!({"title": "A", "assigneeId": other.member});
    assert_eq!(app.post("/v1/tasks", &body).send().await.wrong_fields(), ["assigneeId"]);
    for order in [json!(1.5), json!("1"), json!(1_000_000_001)] {
        assert_eq!(
            app.post("/v1/tasks", &json!({"title": "A", "order": order})).send().await.wrong_fields(),
            ["order"]
        );
    }
    let made = app.task(json!({})).await;
    assert_eq!(app.patch(&path(&made), &json!({"title": null})).send().await.wrong_fields(), ["title"]);
}

async fn many_tasks_change_together_or_not_at_all(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app
        .call("POST", "/v1/tasks")
        .key(&other.key)
        .json(&json!({"title": "Theirs"}))
        .send()
        .await
        .expect(201);
    let (a, b) = (app.task(json!({"title": "a"})).await, app.task(json!({"title": "b"})).await);
    let both = json!([id(&a), id(&b)]);
    let mixed = json!([id(&a), id(&theirs)]);
    let status = |ids: &Value| app.patch("/v1/tasks/bulk", &json!({"taskIds": ids, "status": "done"}));
    assert_eq!(status(&mixed).send().await.wrong_fields(), ["taskIds[1]"]);
    assert_eq!(app.get(&path(&a)).send().await.expect(200)["status"], "todo", "nothing happened");
    assert_eq!(status(&both).send().await.expect(200), json!({"updatedCount": 2}));
    assert_eq!(app.get(&path(&b)).send().await.expect(200)["status"], "done");
    let assign = |ids: &Value, to: Value| {
        app.patch("/v1/tasks/bulk/assignee", &json!({"taskIds": ids, "assigneeId": to}))
    };
    assert_eq!(assign(&both, json!(other.member)).send().await.wrong_fields(), ["assigneeId"]);
    assert_eq!(assign(&both, json!(app.home.member)).send().await.expect(200), json!({"updatedCount": 2}));
    assert_eq!(app.get(&path(&a)).send().await.expect(200)["assigneeId"], json!(app.home.member));
    assert_eq!(assign(&both, Value::Null).send().await.expect(200), json!({"updatedCount": 2}));
    let missing = app.patch("/v1/tasks/bulk/assignee", &json!({"taskIds": both})).send().await;
    assert_eq!(missing.wrong_fields(), ["assigneeId"]);
    for bad in [json!([]), json!("x"), json!([1]), json!(["rsk_01jcqg3v5mefzr7d0a6w3k9x2b"])] {
        assert_eq!(status(&bad).send().await.wrong_fields(), ["taskIds"]);
    }
    let delete = |ids: &Value| app.delete("/v1/tasks/bulk").json(&json!({"taskIds": ids}));
    assert_eq!(delete(&mixed).send().await.wrong_fields(), ["taskIds[1]"]);
    assert_eq!(delete(&both).send().await.expect(200), json!({"deletedCount": 2}));
    assert_eq!(delete(&both).send().await.wrong_fields(), ["taskIds[0]", "taskIds[1]"]);
    assert_eq!(app.get("/v1/tasks").send().await.expect(200), json!([]));
}

async fn tasks_are_put_into_an_order(app: &TestApp) {
    let (a, b) = (
        app.task(json!({"title": "a", "order": 1})).await,
        app.task(json!({"title": "b", "order": 2})).await,
    );
    let reorder = |updates: Value| {
        app.call("PATCH", "/v1/tasks/reorder").key(&app.home.key).json(&json!({"updates": updates}))
    };
    let swapped = json!([{"id": id(&a), "order": 2, "status": "todo"}, {"id": id(&b), "order": 1}]);
    assert_eq!(reorder(swapped).send().await.expect(200), json!({"success": true}));
    assert_eq!(titles(&app.get("/v1/tasks").send().await.expect(200)), ["b", "a"]);
    let wrong = json!([{"id": id(&a), "order": 9}, {"id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "order": 1}]);
    assert_eq!(reorder(wrong).send().await.wrong_fields(), ["updates[1].id"]);
    let twice = json!([{"id": id(&a), "order": 9}, {"id": id(&a), "order": 1}]);
    assert_eq!(reorder(twice).send().await.wrong_fields(), ["updates"]);
    assert_eq!(app.get(&path(&a)).send().await.expect(200)["order"], 2, "nothing happened");
    let moved = json!([{"id": id(&b), "order": 0, "status": "done"}]);
    reorder(moved).send().await.expect(200);
    assert_ne!(app.get(&path(&b)).send().await.expect(200)["lastCompletedAt"], Value::Null);
}

async fn done_tasks_open_again_in_the_organizations_time_zone(app: &TestApp) {
    // 2026-11-15T09:30Z is 22:30 in Auckland.
    app.patch("/v1/organization", &json!({"timeZone": "Pacific/Auckland"})).send().await.expect(200);
    let daily = app
        .task(json!({"title": "daily", "frequency": "daily", "status": "done", "dueDate": "2026-11-10"}))
        .await;
    let once = app.task(json!({"title": "once", "status": "done"})).await;
    let status = async |task: &Value| app.get(&path(task)).send().await.expect(200)["status"].clone();
    app.clock.advance(Duration::from_hours(1));
    app.housekeeping().await;
    assert_eq!(status(&daily).await, "done", "it is still the same day there");
    app.clock.advance(Duration::from_hours(1));
    app.housekeeping().await;
    assert_eq!(status(&daily).await, "todo");
    assert_eq!(app.get(&path(&daily)).send().await.expect(200)["dueDate"], "2026-11-16");
    app.clock.advance(DAY * 400);
    app.housekeeping().await;
    assert_eq!((status(&daily).await, status(&once).await), (json!("todo"), json!("done")));
    let history = app.get(&format!("{}/history", path(&daily))).send().await.expect(200);
    assert_eq!(history["data"][0]["actor"]["type"], "system");
}

async fn templates_become_tasks_once(app: &TestApp) {
    let list = app.get("/v1/task-templates?total=true&limit=1000").send().await.expect(200);
    let all = list["data"].as_array().expect("templates");
    assert!(all.len() >= 40 && list["total"] == json!(all.len()));
    let page = app.get("/v1/task-templates?limit=3").send().await.expect(200);
    let cursor = page["nextCursor"].as_str().expect("a cursor");
    let second = app.get(&format!("/v1/task-templates?limit=3&cursor={cursor}")).send().await.expect(200);
    assert_eq!(second["data"][0], all[3]);
    let two = json!({"templateIds": [all[0]["id"], all[1]["id"]]});
    let made = app.post("/v1/tasks/from-templates", &two).send().await.expect(201);
    assert_eq!((&made["createdCount"], &made["created"][0]["taskTemplateId"]), (&json!(2), &all[0]["id"]));
    assert_eq!(made["created"][0]["title"], all[0]["title"]);
    assert_eq!(app.post("/v1/tasks/from-templates", &two).send().await.expect(201)["createdCount"], 0);
    let rest = app.call("POST", "/v1/tasks/from-templates").key(&app.home.key).send().await.expect(201);
    assert_eq!(rest["createdCount"], json!(all.len() - 2));
    assert_eq!(app.get("/v1/tasks").send().await.expect(200).as_array().expect("tasks").len(), all.len());
    let unknown = json!({"templateIds": ["frk_tt_01jcqg3v5mefzr7d0a6w3k9x2b"]});
    assert_eq!(app.post("/v1/tasks/from-templates", &unknown).send().await.wrong_fields(), ["templateIds"]);
}

async fn an_employee_sees_and_moves_their_own_tasks_and_nothing_else(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let own = app.task(json!({"title": "own", "assigneeId": eve["id"]})).await;
    let other = app.task(json!({"title": "other"})).await;
    app.work().await;
    let token = app.sign_in("eve@example.com").await;
    let call = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    assert_eq!(titles(&call("GET", "/v1/tasks").send().await.expect(200)), ["own"]);
    assert_eq!(titles(&call("GET", "/v1/tasks?q=other").send().await.expect(200)), Vec::<&str>::new());
    let asked = format!("/v1/tasks?assigneeId={}", app.home.member);
    assert_eq!(call("GET", &asked).send().await.expect(200), json!([]));
    call("GET", &path(&own)).send().await.expect(200);
    call("GET", &path(&other)).send().await.problem(404, "not_found");
    call("PATCH", &path(&own)).json(&json!({"status": "in_progress"})).send().await.expect(200);
    call("PATCH", &path(&other)).json(&json!({"status": "done"})).send().await.problem(404, "not_found");
    for change in [json!({"title": "x"}), json!({"status": "done", "assigneeId": null}), json!({"order": 3})]
    {
        call("PATCH", &path(&own)).json(&change).send().await.problem(403, "forbidden");
    }
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let files = |task: &Value| format!("{}/attachments", path(task));
    let attached = call("POST", &files(&own)).json(&file).send().await.expect(201);
    call("GET", &format!("{}/{}/download", files(&own), id(&attached))).send().await.expect(200);
    call("GET", &format!("/v1/attachments/{}/download", id(&attached))).send().await.expect(200);
    call("DELETE", &format!("{}/{}", files(&own), id(&attached))).send().await.problem(403, "forbidden");
    call("POST", &files(&other)).json(&file).send().await.problem(404, "not_found");
    let theirs = app.post(&files(&other), &file).send().await.expect(201);
    call("GET", &format!("/v1/attachments/{}/download", id(&theirs))).send().await.problem(404, "not_found");
    let remark = |task: &Value| json!({"content": "Done.", "entityType": "task", "entityId": task["id"]});
    call("POST", "/v1/comments").json(&remark(&own)).send().await.expect(201);
    call("POST", "/v1/comments").json(&remark(&other)).send().await.problem(404, "not_found");
    let risk = app.risk(json!({})).await;
    let about = format!("/v1/comments?entityType=risk&entityId={}", id(&risk));
    call("GET", &about).send().await.problem(403, "forbidden");
    for path in [
        format!("{}/history", path(&own)),
        "/v1/tasks/export".to_owned(),
        "/v1/tasks?asOf=2026-11-15".to_owned(),
    ] {
        call("GET", &path).send().await.problem(403, "forbidden");
    }
    let (bulk, order) = (
        json!({"taskIds": [own["id"]], "status": "done"}),
        json!({"updates": [{"id": own["id"], "order": 1}]}),
    );
    call("PATCH", "/v1/tasks/bulk").json(&bulk).send().await.problem(403, "forbidden");
    call("PATCH", "/v1/tasks/reorder").json(&order).send().await.problem(403, "forbidden");
    call("POST", "/v1/tasks").json(&json!({"title": "x"})).send().await.problem(403, "forbidden");
    call("DELETE", &path(&own)).send().await.problem(403, "forbidden");
    // A task that is unassigned is no longer visible to the former assignee.
    app.patch(&path(&own), &json!({"assigneeId": null})).send().await.expect(200);
    call("GET", &path(&own)).send().await.problem(404, "not_found");
    assert_eq!(call("GET", "/v1/tasks").send().await.expect(200), json!([]));
}

async fn evidence_is_fresh_for_a_period(app: &TestApp) {
    let task = app.task(json!({"frequency": "monthly"})).await;
    let attach = |date: &str| {
        let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8=", "effectiveDate": date});
        app.post(&format!("{}/attachments", path(&task)), &file)
    };
    let status = async || {
        let seen = app.get(&path(&task)).send().await.expect(200);
        (seen["evidenceStatus"].as_str().expect("a status").to_owned(), seen["lastEvidenceDate"].clone())
    };
    assert_eq!(status().await, ("none".to_owned(), Value::Null));
    let old = attach("2026-09-01").send().await.expect(201);
    assert_eq!((&old["effectiveDate"], &old["runId"]), (&json!("2026-09-01"), &Value::Null));
    assert_eq!(status().await, ("stale".to_owned(), json!("2026-09-01")));
    assert_eq!(attach("2026-12-01").send().await.wrong_fields(), ["effectiveDate"]);
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let new = app.post(&format!("{}/attachments", path(&task)), &file).send().await.expect(201);
    assert_eq!(new["effectiveDate"], "2026-11-15");
    assert_eq!(status().await, ("fresh".to_owned(), json!("2026-11-15")));
    app.delete(&format!("{}/attachments/{}", path(&task), id(&new))).send().await.expect(200);
    assert_eq!(status().await.0, "stale");
    let form = "--b\r\ncontent-disposition: form-data; name=\"effectiveDate\"\r\n\r\n2026-11-01\r\n\
                --b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\ncontent-type: text/plain\r\n\r\nhello\r\n--b--\r\n";
    let sent = app.call("POST", &format!("{}/attachments", path(&task))).key(&app.home.key);
    let sent = sent.raw("multipart/form-data; boundary=b", form).send().await.expect(201);
    assert_eq!(sent["effectiveDate"], "2026-11-01");
    app.clock.advance(DAY * 20);
    assert_eq!(status().await.0, "stale", "time goes by");
    let then = app.get(&format!("{}?asOf=2026-11-16", path(&task))).send().await.expect(200);
    assert_eq!(then["evidenceStatus"], "fresh", "as it was then");
    app.work().await;
}

async fn tables_history_and_the_past(app: &TestApp) {
    let task = app.task(json!({"title": "first", "frequency": "weekly", "dueDate": "2026-12-01"})).await;
    app.clock.advance(DAY);
    app.patch(&path(&task), &json!({"title": "second"})).send().await.expect(200);
    let then = app.get("/v1/tasks?asOf=2026-11-15").send().await.expect(200);
    assert_eq!(titles(&then), ["first"]);
    let one = app.get(&format!("{}?asOf=2026-11-15", path(&task))).send().await.expect(200);
    assert_eq!((&one["title"], &one["reference"]), (&json!("first"), &json!("T-1")));
    let history = app.get(&format!("{}/history", path(&task))).send().await.expect(200);
    assert_eq!(history["data"][0]["changes"][0]["field"], "title");
    let table = app.get("/v1/tasks/export").send().await.text();
    let header = table.trim_start_matches('\u{feff}').lines().next().expect("a header").to_owned();
    assert!(header.starts_with("id,reference,title,description,status,"), "{header}");
    assert!(header.contains("evidenceStatus"));
    let import = app
        .call("POST", "/v1/tasks/import")
        .key(&app.home.key)
        .raw("text/csv", table)
        .send()
        .await
        .expect(200);
    assert_eq!(import["imported"], 1);
    assert_eq!(titles(&app.get("/v1/tasks").send().await.expect(200)), ["second", "second"]);
    assert_eq!(&app.get("/v1/tasks/export?format=xlsx").send().await.body[..2], b"PK");
    app.get("/v1/tasks/matrix").send().await.problem(404, "not_found");
}

async fn deleting_takes_everything_along(app: &TestApp) {
    let task = app.task(json!({})).await;
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    let attached = app.post(&format!("{}/attachments", path(&task)), &file).send().await.expect(201);
    let remark = json!({"content": "Hm.", "entityType": "task", "entityId": task["id"]});
    let comment = app.post("/v1/comments", &remark).send().await.expect(201);
    app.delete(&path(&task)).send().await.expect(200);
    app.work().await;
    app.get(&format!("/v1/attachments/{}/download", id(&attached))).send().await.problem(404, "not_found");
    app.delete(&format!("/v1/comments/{}", id(&comment))).send().await.problem(404, "not_found");
}
