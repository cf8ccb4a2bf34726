//! Saved views of lists.

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

both! {
    a_view_is_kept_and_changed,
    views_are_ones_own_or_shared,
    a_bad_view_is_refused,
    a_neighbours_views_are_out_of_reach,
}

fn view(more: &Value) -> Value {
    let mut body = json!({"list": "risks", "name": "High", "parameters": {"status": "open,pending", "sort": "residualScore"}});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    body
}

async fn a_view_is_kept_and_changed(app: &TestApp) {
    let made = app.post("/v1/views", &view(&json!({}))).send().await.expect(201);
    assert_eq!((&made["isShared"], &made["isEditable"]), (&json!(false), &json!(true)));
    let path = format!("/v1/views/{}", id(&made));
    let shown = app.get(&path).send().await;
    assert_eq!(shown.expect(200), made);
    let tag = shown.header("etag").expect("a tag").to_owned();
    let change = json!({"name": "Higher", "parameters": {"minScore": "15"}});
    let changed = app.patch(&path, &change).header("if-match", &tag).send().await.expect(200);
    assert_eq!((&changed["name"], &changed["parameters"]), (&json!("Higher"), &json!({"minScore": "15"})));
    app.patch(&path, &change).header("if-match", &tag).send().await.problem(412, "precondition_failed");
    app.post("/v1/views", &view(&json!({"list": "tasks"}))).send().await.expect(201);
    let listed = app.get("/v1/views?list=risks").send().await.expect(200);
    assert_eq!((&listed["count"], &listed["data"][0]["name"]), (&json!(1), &json!("Higher")));
    assert_eq!(app.get("/v1/views").send().await.expect(200)["count"], 2);
    let log = app.get("/v1/audit-logs?entityType=view").send().await.expect(200);
    assert_eq!(log["count"], 3);
    app.delete(&path).send().await.expect(200);
    app.get(&path).send().await.problem(404, "not_found");
    app.delete(&path).send().await.problem(404, "not_found");
}

async fn views_are_ones_own_or_shared(app: &TestApp) {
    app.member(&app.home, "ann@example.com", "auditor").await;
    let (ann, org) = (app.sign_in("ann@example.com").await, app.home.organization.clone());
    let own = app.post("/v1/views", &view(&json!({}))).send().await.expect(201);
    let shared = app.post("/v1/views", &view(&json!({"isShared": true}))).send().await.expect(201);
    let listed = app.get("/v1/views").session(&ann, &org).send().await.expect(200);
    assert_eq!(listed["count"], 1);
    assert_eq!((id(&listed["data"][0]), &listed["data"][0]["isEditable"]), (id(&shared), &json!(false)));
    for (method, id, status, code) in [
        ("GET", id(&own), 404, "not_found"),
        ("PATCH", id(&own), 404, "not_found"),
        ("DELETE", id(&own), 404, "not_found"),
        ("PATCH", id(&shared), 403, "forbidden"),
        ("DELETE", id(&shared), 403, "forbidden"),
    ] {
        let call = app.call(method, &format!("/v1/views/{id}")).session(&ann, &org);
        let call = if method == "PATCH" { call.json(&json!({"name": "Mine"})) } else { call };
        call.send().await.problem(status, code);
    }
    let body = view(&json!({"isShared": true}));
    app.post("/v1/views", &body).session(&ann, &org).send().await.problem(403, "forbidden");
    let hers = app.post("/v1/views", &view(&json!({}))).session(&ann, &org).send().await.expect(201);
    let path = format!("/v1/views/{}", id(&hers));
    let share = app.patch(&path, &json!({"isShared": true})).session(&ann, &org).send().await;
    share.problem(403, "forbidden");
    app.get(&path).send().await.problem(404, "not_found");
    app.delete(&path).session(&ann, &org).send().await.expect(200);
}

async fn a_bad_view_is_refused(app: &TestApp) {
    for (body, field) in [
        (view(&json!({"list": "dreams"})), "list"),
        (view(&json!({"name": " "})), "name"),
        (view(&json!({"parameters": {"a b": "c"}})), "parameters"),
        (view(&json!({"parameters": {"status": 3}})), "parameters"),
        (view(&json!({"parameters": []})), "parameters"),
        (view(&json!({"color": "red"})), "color"),
    ] {
        let reply = app.post("/v1/views", &body).send().await;
        reply.problem(400, "validation_failed");
        assert_eq!(reply.wrong_fields(), [field]);
    }
}

async fn a_neighbours_views_are_out_of_reach(app: &TestApp) {
    let made = app.post("/v1/views", &view(&json!({"isShared": true}))).send().await.expect(201);
    let other = app.tenant("Neighbour", "n@neighbour.example").await;
    let path = format!("/v1/views/{}", id(&made));
    app.get(&path).key(&other.key).send().await.problem(404, "not_found");
    app.patch(&path, &json!({"name": "x"})).key(&other.key).send().await.problem(404, "not_found");
    app.delete(&path).key(&other.key).send().await.problem(404, "not_found");
    assert_eq!(app.get("/v1/views").key(&other.key).send().await.expect(200)["count"], 0);
}
