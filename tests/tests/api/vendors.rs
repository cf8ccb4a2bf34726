//! `/v1/vendors`.

use std::time::Duration;

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    a_vendor_is_shown_with_the_fields_of_the_interface,
    web_sites_are_addresses,
    wrong_fields_and_assignees_are_refused,
    lists_matrix_export_import_and_history,
}

fn names(list: &Value) -> Vec<String> {
    list["data"]
        .as_array()
        .expect("data")
        .iter()
        .map(|v| v["name"].as_str().expect("a name").to_owned())
        .collect()
}

async fn add(app: &TestApp, body: Value) -> Value {
    let mut full = json!({"name": "Cloudy", "description": "Hosts our servers."});
    for (key, value) in body.as_object().expect("an object") {
        full[key] = value.clone();
    }
    app.post("/v1/vendors", &full).send().await.expect(201)
}

fn path(vendor: &Value) -> String {
    format!("/v1/vendors/{}", vendor["id"].as_str().expect("an id"))
}

async fn a_vendor_is_shown_with_the_fields_of_the_interface(app: &TestApp) {
    let made = add(app, json!({})).await;
    for (field, value) in [
        ("category", "other"),
        ("status", "not_assessed"),
        ("inherentProbability", "very_unlikely"),
        ("inherentImpact", "insignificant"),
        ("residualProbability", "very_unlikely"),
        ("residualImpact", "insignificant"),
        ("authType", "api-key"),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    assert_eq!(
        (&made["website"], &made["assigneeId"], made.get("authenticatedUser")),
        (&Value::Null, &Value::Null, None)
    );
    let reply = app.get(&path(&made)).send().await;
    assert_eq!(reply.expect(200), made);
    let tag = reply.header("etag").expect("a tag").to_owned();
    assert_eq!(app.get(&path(&made)).header("if-none-match", &tag).send().await.status.as_u16(), 304);
    let token = app.sign_in("ada@example.com").await;
    let seen = app.call("GET", &path(&made)).session(&token, &app.home.organization).send().await.expect(200);
    assert_eq!(seen["authenticatedUser"], json!({"id": app.home.user, "email": "ada@example.com"}));
}

async fn web_sites_are_addresses(app: &TestApp) {
    assert_eq!(add(app, json!({"website": "cloudy.example"})).await["website"], "https://cloudy.example");
    assert_eq!(
        add(app, json!({"website": "http://cloudy.example/x"})).await["website"],
        "http://cloudy.example/x"
    );
    for bad in ["javascript:alert(1)", "ftp://x.example", "", "no host", "https://"] {
        let body = json!({"name": "A", "description": "B", "website": bad});
        assert_eq!(app.post("/v1/vendors", &body).send().await.wrong_fields(), ["website"], "{bad}");
    }
    let made = add(app, json!({"website": "cloudy.example"})).await;
    assert_eq!(
        app.patch(&path(&made), &json!({"website": null})).send().await.expect(200)["website"],
        Value::Null
    );
}

async fn wrong_fields_and_assignees_are_refused(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let body = json!({"name": 5, "description": "", "category": "weather", "status": "open", "inherentImpact": "bad", "title": "x"});
    assert_eq!(
        app.post("/v1/vendors", &body).send().await.wrong_fields(),
        ["category", "description", "inherentImpact", "name", "status", "title"]
    );
    let body = json!({"name": "A", "description": "B", "assigneeId": other.member});
    assert_eq!(app.post("/v1/vendors", &body).send().await.wrong_fields(), ["assigneeId"]);
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let made = add(app, json!({"assigneeId": eve["id"]})).await;
    app.delete(&format!("/v1/people/{}", eve["id"].as_str().expect("an id"))).send().await.expect(200);
    assert_eq!(app.get(&path(&made)).send().await.expect(200)["assigneeId"], Value::Null, "the vendor stays");
    app.mails().await;
}

async fn lists_matrix_export_import_and_history(app: &TestApp) {
    for (name, probability, status) in [
        ("delta", "very_likely", "assessed"),
        ("Alpha", "possible", "in_progress"),
        ("charlie", "likely", "assessed"),
    ] {
        app.clock.advance(Duration::from_millis(5));
        add(app, json!({"name": name, "inherentProbability": probability, "inherentImpact": "severe", "status": status})).await;
    }
    let found = async |query: &str| names(&app.get(&format!("/v1/vendors?{query}")).send().await.expect(200));
    assert_eq!(found("").await, ["charlie", "Alpha", "delta"]);
    assert_eq!(found("status=assessed&sort=inherentScore").await, ["delta", "charlie"]);
    assert_eq!(found("sort=name&order=asc").await, ["Alpha", "charlie", "delta"]);
    assert_eq!(found("minScore=20&q=HOSTS").await, ["charlie", "delta"]);
    let matrix = app.get("/v1/vendors/matrix").send().await.expect(200);
    assert_eq!(matrix["inherent"].as_array().expect("cells").iter().filter(|c| c["count"] == 1).count(), 3);
    assert!(app.get("/v1/vendors/export").send().await.text().starts_with("id,reference,name,description,"));
    assert_eq!(&app.get("/v1/vendors/export?format=xlsx").send().await.body[..2], b"PK");
    let table = "name,description,website\nEcho,Text,echo.example\n";
    let import = async |query: &str| {
        app.call("POST", &format!("/v1/vendors/import{query}"))
            .key(&app.home.key)
            .raw("text/csv", table)
            .send()
            .await
            .expect(200)
    };
    assert_eq!(
        (&import("?dryRun=true").await["imported"], &import("").await["imported"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(found("q=echo").await, ["Echo"]);
    let list = app.get("/v1/vendors?q=echo").send().await.expect(200);
    let echo = &list["data"][0];
    app.clock.advance(Duration::from_secs(10));
    app.patch(&path(echo), &json!({"status": "assessed"})).send().await.expect(200);
    let before = app.get(&format!("{}?asOf=2026-11-15T09:30:05Z", path(echo))).send().await.expect(200);
    assert_eq!(before["status"], "not_assessed");
    assert_eq!(found("asOf=2026-11-15T09:30:05Z&status=not_assessed").await, ["Echo"]);
    let gone = app.delete(&path(echo)).send().await.expect(200);
    assert_eq!(gone, json!({"success": true, "deletedVendor": {"id": echo["id"], "name": "Echo"}}));
    assert_eq!(app.get(&format!("{}/history", path(echo))).send().await.expect(200)["count"], 3);
}
