//! `/v1/risks`.

use std::time::Duration;

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    a_risk_is_created_with_the_defaults_of_the_interface,
    a_session_is_told_who_it_is,
    wrong_fields_are_named_all_at_once,
    an_assignee_is_an_active_member_of_the_same_organization,
    patch_and_delete,
    lists_are_filtered_sorted_and_paged_while_rows_change,
    the_matrix_counts_every_cell,
    the_register_can_be_read_as_it_stood,
    a_long_register_is_paged_in_the_past_as_in_the_present,
    what_was_exported_can_be_imported,
    exports_are_safe_tables,
    an_import_takes_all_rows_or_none,
}

fn titles(list: &Value) -> Vec<String> {
    list["data"]
        .as_array()
        .expect("data")
        .iter()
        .map(|r| r["title"].as_str().expect("a title").to_owned())
        .collect()
}

async fn add(app: &TestApp, body: Value) -> Value {
    let mut full =
        json!({"title": "Laptops are lost", "description": "With data on them.", "category": "technology"});
    for (key, value) in body.as_object().expect("an object") {
        full[key] = value.clone();
    }
    app.post("/v1/risks", &full).send().await.expect(201)
}

fn path(risk: &Value) -> String {
    format!("/v1/risks/{}", risk["id"].as_str().expect("an id"))
}

async fn a_risk_is_created_with_the_defaults_of_the_interface(app: &TestApp) {
    let made = add(app, json!({})).await;
    for (field, value) in [
        ("status", "open"),
        ("likelihood", "very_unlikely"),
        ("impact", "insignificant"),
        ("residualLikelihood", "very_unlikely"),
        ("residualImpact", "insignificant"),
        ("treatmentStrategy", "accept"),
        ("authType", "api-key"),
        ("category", "technology"),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    for field in ["department", "treatmentStrategyDescription", "assigneeId"] {
        assert_eq!(made[field], Value::Null, "{field}");
    }
    assert_eq!((&made["inherentScore"], &made["organizationId"]), (&json!(1), &json!(app.home.organization)));
    assert!(made.get("authenticatedUser").is_none(), "only for sessions");
    assert_eq!(app.get(&path(&made)).send().await.expect(200), made);
}

async fn a_session_is_told_who_it_is(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let body = json!({"title": "A", "description": "B", "category": "fraud", "likelihood": "likely", "impact": "major"});
    let made = app
        .call("POST", "/v1/risks")
        .session(&token, &app.home.organization)
        .json(&body)
        .send()
        .await
        .expect(201);
    assert_eq!(
        (&made["authType"], &made["authenticatedUser"]),
        (&json!("session"), &json!({"id": app.home.user, "email": "ada@example.com"}))
    );
    assert_eq!((&made["category"], &made["inherentScore"]), (&json!("fraud"), &json!(16)));
    let list = app.call("GET", "/v1/risks").session(&token, &app.home.organization).send().await.expect(200);
    assert_eq!(
        (&list["authType"], &list["authenticatedUser"]["email"]),
        (&json!("session"), &json!("ada@example.com"))
    );
}

async fn wrong_fields_are_named_all_at_once(app: &TestApp) {
    let body = json!({"title": " ", "description": null, "category": "weather", "status": 1, "likelihood": "certain", "impact": null, "department": "x", "assigneeId": "usr_1", "treatmentStrategy": "pray", "score": 3});
    let fields = app.post("/v1/risks", &body).send().await.wrong_fields();
    assert_eq!(
        fields,
        [
            "assigneeId",
            "category",
            "department",
            "description",
            "impact",
            "likelihood",
            "score",
            "status",
            "title",
            "treatmentStrategy"
        ]
    );
    assert_eq!(
        app.post("/v1/risks", &json!({})).send().await.wrong_fields(),
        ["category", "description", "title"]
    );
}

async fn an_assignee_is_an_active_member_of_the_same_organization(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let body = |id: &Value| json!({"title": "A", "description": "B", "category": "other", "assigneeId": id});
    for bad in [json!(other.member), json!("mem_01jcqg3v5mefzr7d0a6w3k9x2b")] {
        assert_eq!(app.post("/v1/risks", &body(&bad)).send().await.wrong_fields(), ["assigneeId"]);
    }
    let made = app.post("/v1/risks", &body(&eve["id"])).send().await.expect(201);
    assert_eq!(made["assigneeId"], eve["id"]);
    assert_eq!(
        app.patch(&path(&made), &json!({"assigneeId": other.member})).send().await.wrong_fields(),
        ["assigneeId"]
    );
    // Deactivation clears the member's assignments and records it.
    app.delete(&format!("/v1/people/{}", eve["id"].as_str().expect("an id"))).send().await.expect(200);
    assert_eq!(app.get(&path(&made)).send().await.expect(200)["assigneeId"], Value::Null);
    let history = app.get(&format!("{}/history", path(&made))).send().await.expect(200);
    assert_eq!(
        history["data"][0]["changes"],
        json!([{"field": "assigneeId", "before": eve["id"], "after": null}])
    );
    assert_eq!(
        app.post("/v1/risks", &body(&eve["id"])).send().await.wrong_fields(),
        ["assigneeId"],
        "not active any more"
    );
    app.mails().await;
}

async fn patch_and_delete(app: &TestApp) {
    let made = add(app, json!({"department": "it"})).await;
    let changed = app
        .patch(&path(&made), &json!({"status": "closed", "department": null, "residualImpact": "minor"}))
        .send()
        .await
        .expect(200);
    assert_eq!(
        (&changed["status"], &changed["department"], &changed["residualScore"]),
        (&json!("closed"), &Value::Null, &json!(2))
    );
    let same = app.patch(&path(&made), &json!({})).send().await.expect(200);
    assert_eq!(same, changed);
    assert_eq!(
        app.patch(&path(&made), &json!({"title": null, "status": null})).send().await.wrong_fields(),
        ["status", "title"]
    );
    app.patch(&path(&made), &json!({"status": "open"}))
        .header("if-match", "\"1\"")
        .send()
        .await
        .problem(412, "precondition_failed");
    let gone = app.delete(&path(&made)).send().await.expect(200);
    assert_eq!(
        gone,
        json!({"success": true, "deletedRisk": {"id": made["id"], "title": "Laptops are lost"}})
    );
    app.get(&path(&made)).send().await.problem(404, "not_found");
    app.delete(&path(&made)).send().await.problem(404, "not_found");
    let history = app.get(&format!("{}/history", path(&made))).send().await.expect(200);
    assert_eq!((&history["data"][0]["action"], &history["count"]), (&json!("risk.deleted"), &json!(3)));
}

async fn lists_are_filtered_sorted_and_paged_while_rows_change(app: &TestApp) {
    for (title, likelihood, impact, status, category) in [
        ("delta", "very_likely", "severe", "open", "people"),
        ("Alpha", "possible", "minor", "pending", "other"),
        ("charlie", "likely", "major", "open", "other"),
        ("bravo", "unlikely", "major", "archived", "fraud"),
    ] {
        app.clock.advance(Duration::from_millis(5));
        add(app, json!({"title": title, "likelihood": likelihood, "impact": impact, "status": status, "category": category})).await;
    }
    let found = async |query: &str| titles(&app.get(&format!("/v1/risks?{query}")).send().await.expect(200));
    assert_eq!(found("").await, ["charlie", "Alpha", "delta"], "archived ones are left out");
    assert_eq!(found("status=archived").await, ["bravo"]);
    assert_eq!(found("category=other&status=open").await, ["charlie"]);
    // Several values match any of them. Archived risks are included when their status is named.
    assert_eq!(found("status=open,pending&category=other,people").await, ["charlie", "Alpha", "delta"]);
    assert_eq!(found("status=pending,%20archived").await, ["bravo", "Alpha"]);
    assert_eq!(found("category=fraud,people").await, ["delta"]);
    assert_eq!(found("category=fraud&category=people").await, ["delta"]);
    let counted = app.get("/v1/risks?status=open,archived&limit=1&total=true").send().await.expect(200);
    assert_eq!(counted["total"], 3);
    let now = app.ctx.now().to_string();
    assert_eq!(found(&format!("status=pending,archived&asOf={now}")).await, ["bravo", "Alpha"]);
    assert_eq!(found("minScore=16").await, ["charlie", "delta"]);
    assert_eq!(found("q=ALPHA").await, ["Alpha"]);
    assert_eq!(found("q=data%20on").await.len(), 3, "the description is searched, too");
    assert_eq!(found("sort=title&order=asc").await, ["Alpha", "charlie", "delta"]);
    assert_eq!(found("sort=inherentScore&order=desc").await, ["delta", "charlie", "Alpha"]);
    assert_eq!(found("sort=residualScore&order=asc").await, ["delta", "Alpha", "charlie"]);
    for (query, field) in [
        ("minScore=0", "minScore"),
        ("status=lost", "status"),
        ("status=open,lost", "status"),
        ("status=open,", "status"),
        ("minScore=1&minScore=2", "minScore"),
        ("foo=1&foo=2", "foo"),
        ("assigneeId=x", "assigneeId"),
        ("foo=1", "foo"),
        ("asOf=x", "asOf"),
    ] {
        assert_eq!(app.get(&format!("/v1/risks?{query}")).send().await.wrong_fields(), [field], "{query}");
    }
    // Inserting and deleting rows between two pages changes neither page.
    let first = app.get("/v1/risks?limit=1").send().await.expect(200);
    add(app, json!({"title": "newer"})).await;
    let cursor = first["nextCursor"].as_str().expect("more");
    let second = app.get(&format!("/v1/risks?limit=5&cursor={cursor}")).send().await.expect(200);
    assert_eq!(
        (titles(&first), titles(&second)),
        (vec!["charlie".to_owned()], vec!["Alpha".to_owned(), "delta".to_owned()])
    );
}

async fn the_matrix_counts_every_cell(app: &TestApp) {
    add(app, json!({"likelihood": "likely", "impact": "major"})).await;
    add(app, json!({"likelihood": "likely", "impact": "major", "residualLikelihood": "unlikely"})).await;
    add(app, json!({"status": "archived"})).await;
    let matrix = app.get("/v1/risks/matrix").send().await.expect(200);
    let count = |side: &str| -> Vec<(i64, i64)> {
        let cells = matrix[side].as_array().expect("cells");
        assert_eq!(cells.len(), 25);
        cells
            .iter()
            .filter(|c| c["count"] != 0)
            .map(|c| (c["score"].as_i64().expect("a score"), c["count"].as_i64().expect("a count")))
            .collect()
    };
    assert_eq!(count("inherent"), [(16, 2)]);
    assert_eq!(count("residual"), [(2, 1)], "nobody has rated the first after treatment");
}

async fn the_register_can_be_read_as_it_stood(app: &TestApp) {
    let first = add(app, json!({"title": "first"})).await;
    app.clock.advance(Duration::from_secs(10));
    app.patch(&path(&first), &json!({"title": "renamed", "likelihood": "likely"})).send().await.expect(200);
    let second = add(app, json!({"title": "second"})).await;
    app.clock.advance(Duration::from_secs(10));
    app.delete(&path(&first)).send().await.expect(200);
    let at = async |moment: &str, more: &str| {
        titles(&app.get(&format!("/v1/risks?asOf={moment}{more}")).send().await.expect(200))
    };
    assert_eq!(at("2026-11-15T09:29:59Z", "").await, Vec::<String>::new());
    assert_eq!(at("2026-11-15T09:30:05Z", "").await, ["first"]);
    assert_eq!(at("2026-11-15T09:30:15Z", "").await, ["second", "renamed"]);
    assert_eq!(at("2026-11-15T09:30:15Z", "&sort=inherentScore&order=desc").await, ["renamed", "second"]);
    assert_eq!(at("2026-11-15T09:30:15Z", "&q=ren").await, ["renamed"]);
    assert_eq!(at("2026-11-15T09:30:20Z", "").await, ["second"]);
    let page = app.get("/v1/risks?asOf=2026-11-15T09:30:15Z&limit=1").send().await.expect(200);
    let cursor = page["nextCursor"].as_str().expect("more");
    assert_eq!(at("2026-11-15T09:30:15Z", &format!("&limit=1&cursor={cursor}")).await, ["renamed"]);
    let once = app.get(&format!("{}?asOf=2026-11-15T09:30:05Z", path(&first))).send().await.expect(200);
    assert_eq!((&once["title"], &once["likelihood"]), (&json!("first"), &json!("very_unlikely")));
    app.get(&format!("{}?asOf=2026-11-15T09:30:05Z", path(&second))).send().await.problem(404, "not_found");
    app.get(&format!("{}?asOf=2026-11-15T09:30:20Z", path(&first))).send().await.problem(404, "not_found");
    let history = app.get(&format!("{}/history", path(&first))).send().await.expect(200);
    let actions: Vec<&Value> =
        history["data"].as_array().expect("data").iter().map(|e| &e["action"]).collect();
    assert_eq!(actions, ["risk.deleted", "risk.updated", "risk.created"]);
    assert!(history["data"][1]["changes"].to_string().contains("\"before\":\"first\""));
    app.get("/v1/risks/rsk_01jcqg3v5mefzr7d0a6w3k9x2b/history").send().await.problem(404, "not_found");
}

async fn a_long_register_is_paged_in_the_past_as_in_the_present(app: &TestApp) {
    let mut table = vec!["title,description,category,likelihood,impact".to_owned()];
    for number in 0..1203_usize {
        let (likelihood, impact) =
            (["likely", "possible", "unlikely"][number % 3], ["major", "minor"][number / 5 % 2]);
        table.push(format!("Risk {},B,other,{likelihood},{impact}", number * 7919 % 1203));
    }
    app.call("POST", "/v1/risks/import")
        .key(&app.home.key)
        .raw("text/csv", table.join("\n"))
        .send()
        .await
        .expect(200);
    let walk = async |query: &str| {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.get(&format!("/v1/risks?limit=500{query}{cursor}")).send().await.expect(200);
            found.extend(titles(&page));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return found,
            }
        }
    };
    for query in
        ["", "&order=asc", "&sort=title", "&sort=inherentScore&order=asc", "&minScore=10", "&sort=title&q=9"]
    {
        let (past, present) = (walk(&format!("{query}&asOf=2026-11-15T09:30:00Z")).await, walk(query).await);
        assert!(past == present && !past.is_empty(), "{query}: {} and {}", past.len(), present.len());
    }
}

async fn what_was_exported_can_be_imported(app: &TestApp) {
    for (title, score) in [("b", "likely"), ("a", "possible"), ("c", "unlikely")] {
        add(app, json!({"title": title, "likelihood": score, "impact": "major", "treatmentStrategyDescription": "- x; y"})).await;
    }
    let sorted = app.get("/v1/risks/export?sort=title&order=asc").send().await;
    let lines: Vec<String> = sorted
        .text()
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).expect("a title").to_owned())
        .collect();
    assert_eq!(lines, ["a", "b", "c"]);
    let done = app
        .call("POST", "/v1/risks/import")
        .key(&app.home.key)
        .raw("text/csv", sorted.body.clone())
        .send()
        .await
        .expect(200);
    assert_eq!(done["imported"], 3);
    assert_eq!(
        titles(&app.get("/v1/risks?sort=title&order=asc").send().await.expect(200)),
        ["a", "a", "b", "b", "c", "c"]
    );
    let all = app.get("/v1/risks").send().await.expect(200);
    assert!(
        all["data"]
            .as_array()
            .expect("risks")
            .iter()
            .all(|risk| risk["treatmentStrategyDescription"] == "- x; y"),
        "{all}"
    );
    // A semicolon-separated table, as spreadsheets of many countries write it.
    let table = "title;description;category\nd;one, two;other\n";
    app.call("POST", "/v1/risks/import").key(&app.home.key).raw("text/csv", table).send().await.expect(200);
    assert_eq!(app.get("/v1/risks?q=one,%20two").send().await.expect(200)["count"], 1);
    app.clock.advance(Duration::from_secs(10));
    app.delete(&path(&app.get("/v1/risks?q=one,%20two").send().await.expect(200)["data"][0]))
        .send()
        .await
        .expect(200);
    let then = app.get("/v1/risks/export?asOf=2026-11-15T09:30:00Z").send().await;
    assert!(then.text().contains("one, two"), "an export of the past");
    assert_eq!(then.text().lines().count(), 8);
}

async fn exports_are_safe_tables(app: &TestApp) {
    add(app, json!({"title": "=cmd|' /C calc'!A0", "description": "line one\nline \"two\""})).await;
    add(app, json!({"title": "＝1+1", "description": "＠x"})).await;
    add(app, json!({"title": "archived", "status": "archived"})).await;
    let csv = app.get("/v1/risks/export").send().await;
    let named = csv.header("content-disposition").expect("a name");
    assert!(named.starts_with("attachment; filename=\"risks-20") && named.ends_with(".csv\""), "{named}");
    let text = csv.text();
    assert!(text.starts_with("id,reference,title,description,category,"), "{text}");
    assert!(text.contains(",'＝1+1,'＠x,"), "full-width signs are formulas to some programs: {text}");
    assert!(text.contains(",'=cmd|") && text.contains("\"line one\nline \"\"two\"\"\""), "{text}");
    assert!(!text.contains("archived"), "the same rule as the list");
    let xlsx = app.get("/v1/risks/export?format=xlsx").send().await;
    assert_eq!(
        xlsx.header("content-type"),
        Some("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
    );
    assert_eq!(&xlsx.body[..2], b"PK");
    assert_eq!(app.get("/v1/risks/export?format=pdf").send().await.wrong_fields(), ["format"]);
}

async fn an_import_takes_all_rows_or_none(app: &TestApp) {
    let import = async |query: &str, text: &str| {
        app.call("POST", &format!("/v1/risks/import{query}"))
            .key(&app.home.key)
            .raw("text/csv", text)
            .send()
            .await
    };
    let good = "\u{feff}title,description,category,likelihood\nOne,\"Text, with a comma\",other,likely\nTwo,Text,people,\n";
    let dry = import("?dryRun=true", good).await.expect(200);
    assert_eq!(
        dry,
        json!({"dryRun": true, "total": 2, "imported": 0, "ids": [], "errors": [], "errorCount": 0})
    );
    assert_eq!(app.get("/v1/risks").send().await.expect(200)["count"], 0, "a dry run changes nothing");
    let bad = format!(
        "title,description,category,assigneeId\nOne,Text,other,\n,Text,weather,\nThree,Text,other,{}\n",
        "mem_01jcqg3v5mefzr7d0a6w3k9x2b"
    );
    let dry = import("?dryRun=true", &bad).await.expect(200);
    assert_eq!(
        dry["errors"]
            .as_array()
            .expect("errors")
            .iter()
            .map(|e| e["row"].as_i64().expect("a row"))
            .collect::<Vec<_>>(),
        [2, 2, 3]
    );
    let refused = import("", &bad).await.problem(400, "validation_failed");
    assert_eq!(refused["errors"], dry["errors"], "one shape for both");
    assert_eq!(import("", &bad).await.wrong_fields(), ["assigneeId", "category", "title"]);
    assert_eq!(app.get("/v1/risks").send().await.expect(200)["count"], 0, "none of them");
    let done = import("", good).await.expect(200);
    assert_eq!((&done["dryRun"], &done["imported"], &done["errors"]), (&json!(false), &json!(2), &json!([])));
    let ids = done["ids"].as_array().expect("ids");
    let first = app.get(&format!("/v1/risks/{}", ids[0].as_str().expect("an id"))).send().await.expect(200);
    assert_eq!((ids.len(), &first["title"]), (2, &json!("One")));
    assert_eq!(titles(&app.get("/v1/risks?sort=title&order=asc").send().await.expect(200)), ["One", "Two"]);
    import("", "").await.problem(400, "malformed_body");
    import("", "title,description,category\n").await.problem(400, "malformed_body");
    import("", "title,description,category\na,b\n").await.problem(400, "malformed_body");
    assert_eq!(
        import("", "title,description,category,colour\na,b,other,red\n").await.wrong_fields(),
        ["colour"]
    );
    app.call("POST", "/v1/risks/import")
        .key(&app.home.key)
        .json(&json!({}))
        .send()
        .await
        .problem(415, "unsupported_media_type");
}
