//! `/v1/programme`, the trace of a framework, and the risk library.

use std::collections::HashSet;
use std::time::Duration;

use attestry_domain::access::Scope;
use attestry_domain::id::{OrganizationId, ProgrammeRunId};
use attestry_storage::programmes::{self, Claim, Run, RunContent};
use attestry_tests::{TestApp, both, id};
use http::StatusCode;
use serde_json::{Value, json};

both! {
    a_preview_creates_nothing,
    a_start_leaves_no_requirement_uncovered,
    a_second_framework_keeps_what_was_edited,
    answers_leave_out_what_does_not_apply,
    a_start_is_undone_until_something_is_edited,
    starts_are_undone_one_after_the_other,
    what_was_archived_or_there_before_is_respected,
    callers_see_what_they_may_see,
    invalid_settings_are_named,
    starting_needs_the_permissions_to_create,
    two_starts_at_once_create_everything_once,
    readiness_reaches_100_when_everything_is_done,
    a_trace_names_gaps_and_evidence,
    risks_come_from_the_library,
    a_start_chooses_its_frameworks,
    the_plan_is_exported,
    past_readiness_follows_the_scope_of_an_undone_programme,
    starts_with_other_settings_at_once_leave_nothing,
    an_interrupted_start_is_completed_by_sending_it_again,
    choosing_frameworks_needs_the_permission_for_the_organization,
    an_old_programme_can_be_extended,
    a_reopened_task_lowers_the_line,
}

const ROLES: [&str; 7] = [
    "management",
    "security_lead",
    "engineering_lead",
    "it_lead",
    "people_lead",
    "privacy_lead",
    "office_manager",
];

fn owners(app: &TestApp) -> Value {
    ROLES
        .iter()
        .map(|role| ((*role).to_owned(), json!(app.home.member)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn settings(app: &TestApp, frameworks: &[&str]) -> Value {
    json!({
        "frameworkIds": frameworks, "auditDate": "2027-06-01", "owners": owners(app),
        "scope": {
            "people": 40, "offices": 0, "remote_work": true, "own_servers": false, "cloud": true, "software": true,
            "outside_developers": false, "online_service": true, "ai": true, "personal_data": true,
            "customer_personal_data": true, "transfers": false, "special_cases": [], "us_health_data": "none",
            "soc2_categories": ["availability", "confidentiality"]
        }
    })
}

async fn all(app: &TestApp, path: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut next = format!("{path}?limit=1000");
    loop {
        let page = app.get(&next).send().await.expect(200);
        if let Value::Array(all) = &page {
            return all.clone();
        }
        found.extend(page["data"].as_array().expect("rows").clone());
        match page["nextCursor"].as_str() {
            Some(cursor) => next = format!("{path}?limit=1000&cursor={cursor}"),
            None => return found,
        }
    }
}

async fn counts(app: &TestApp) -> [usize; 4] {
    let mut counts = [0; 4];
    for (count, path) in counts.iter_mut().zip(["/v1/controls", "/v1/policies", "/v1/tasks", "/v1/context"]) {
        *count = all(app, path).await.len();
    }
    counts
}

async fn start(app: &TestApp, frameworks: &[&str]) -> Value {
    let started = app.post("/v1/programme", &settings(app, frameworks)).send().await.expect(201);
    app.work().await;
    started
}

async fn a_preview_creates_nothing(app: &TestApp) {
    let entries = app.entries(&app.home).await;
    let preview =
        app.post("/v1/programme/preview", &settings(app, &["iso_27001", "soc_2"])).send().await.expect(200);
    assert_eq!(counts(app).await, [0; 4]);
    assert_eq!(app.entries(&app.home).await, entries);
    app.get("/v1/programme").send().await.problem(404, "not_found");
    assert_eq!(preview["decisions"], json!([]));
    assert_eq!((&preview["startsOn"], &preview["endsOn"]), (&json!("2026-11-15"), &json!("2027-05-18")));
    for framework in preview["coverage"].as_array().expect("frameworks") {
        let number = |field: &str| framework[field].as_u64().expect("a number");
        assert_eq!(number("met") + number("leftOut"), number("requirements"), "{framework}");
        assert_eq!(number("metBefore"), 0);
    }
    let of = |field: &str| -> u64 {
        let weeks = preview["weeks"].as_array().expect("weeks");
        weeks.iter().map(|week| week[field].as_u64().expect("a number")).sum()
    };
    for field in ["controls", "policies", "tasks"] {
        assert_eq!(preview["counts"][field]["created"], json!(of(field)), "{field}");
    }
}

async fn a_start_leaves_no_requirement_uncovered(app: &TestApp) {
    let started = start(app, &["iso_27001", "soc_2"]).await;
    let [controls, policies, tasks, context] = counts(app).await;
    assert_eq!(started["created"], json!({"controls": controls, "policies": policies, "tasks": tasks}));
    assert!(context >= 15, "the answers are facts about the organization");
    for control in all(app, "/v1/controls").await {
        assert_eq!(control["assigneeId"], json!(app.home.member), "{control}");
        let linked = control["policyIds"].as_array().expect("ids").len()
            + control["taskIds"].as_array().expect("ids").len();
        assert!(linked > 0 && control["catalogueKey"].is_string(), "{control}");
    }
    for task in all(app, "/v1/tasks").await {
        assert!(
            task["dueDate"].as_str().is_some_and(|due| due > "2026-11-14" && due <= "2027-05-18"),
            "{task}"
        );
        assert_eq!(task["assigneeId"], json!(app.home.member));
    }
    for policy in all(app, "/v1/policies").await {
        assert!(policy["dueDate"].is_string(), "{policy}");
    }
    for framework in ["iso_27001", "soc_2"] {
        let found = app.get(&format!("/v1/frameworks/{framework}/readiness")).send().await.expect(200);
        assert_eq!(found["counts"]["uncovered"], 0, "{framework}");
    }
    let entries = app.get("/v1/audit-logs?entityType=programme").send().await.expect(200);
    assert_eq!((&entries["count"], &entries["data"][0]["action"]), (&json!(1), &json!("programme.started")));

    // The plan by week.
    let plan = app.get("/v1/programme").send().await.expect(200);
    assert_eq!(plan["id"], started["id"]);
    assert_eq!(plan["counts"]["due"], json!(policies + tasks));
    assert_eq!((&plan["unscheduled"], &plan["forecast"]["finishesOn"]), (&json!([]), &json!(null)));
    assert_eq!(plan["scope"]["us_health_data"], "none");
    let first = plan["weeks"]
        .as_array()
        .expect("weeks")
        .iter()
        .flat_map(|week| week["items"].as_array().expect("items"));
    let task = first.clone().find(|item| item["kind"] == "task").expect("a task");
    app.patch(&format!("/v1/tasks/{}", id(task)), &json!({"status": "done"})).send().await.expect(200);
    app.clock.advance(Duration::from_hours(24 * 60));
    let later = app.get("/v1/programme").send().await.expect(200);
    let late = later["counts"]["late"].as_u64().expect("a number");
    assert!(late > 0 && later["counts"]["done"] == 1, "{}", later["counts"]);

    // Owners are reminded of what is late, and of nothing else.
    app.mails().await;
    let reminded = app.call("POST", "/v1/programme/remind").key(&app.home.key).send().await.expect(200);
    assert_eq!(reminded, json!({"items": late, "members": 1}));
    let mails = app.mails().await;
    assert!(mails.iter().any(|mail| mail.subject.contains("overdue")), "{mails:?}");
    let done = app.post("/v1/programme/remind", &json!({"ids": [task["id"]]})).send().await.expect(200);
    assert_eq!(done, json!({"items": 0, "members": 0}));
    app.post("/v1/programme/remind", &json!({"ids": ["rsk_1"]}))
        .send()
        .await
        .problem(400, "validation_failed");

    // The same start again creates nothing.
    let again = start(app, &["iso_27001", "soc_2"]).await;
    assert_eq!(again["created"], json!({"controls": 0, "policies": 0, "tasks": 0}));
    assert_eq!(counts(app).await, [controls, policies, tasks, context]);
}

async fn a_second_framework_keeps_what_was_edited(app: &TestApp) {
    start(app, &["soc_2"]).await;
    let [controls, ..] = counts(app).await;
    let edited = all(app, "/v1/controls").await.remove(0);
    let path = format!("/v1/controls/{}", id(&edited));
    let patch = json!({"name": "Our own words", "assigneeId": null, "policyIds": [], "taskIds": []});
    let edited = app.patch(&path, &patch).send().await.expect(200);
    let preview =
        app.post("/v1/programme/preview", &settings(app, &["soc_2", "iso_27001"])).send().await.expect(200);
    let overlap = &preview["coverage"].as_array().expect("frameworks")[0];
    assert!(overlap["metBefore"].as_u64().expect("a number") > 60, "{overlap}");
    let started = start(app, &["soc_2", "iso_27001"]).await;
    let created = started["created"]["controls"].as_u64().expect("a number");
    assert!(created < 40, "{started}");
    assert_eq!(counts(app).await[0], controls + usize::try_from(created).expect("a few"));
    let now = app.get(&path).send().await.expect(200);
    assert_eq!(
        (&now["name"], &now["assigneeId"], &now["updatedAt"]),
        (&edited["name"], &edited["assigneeId"], &edited["updatedAt"])
    );
    let action = app.get("/v1/audit-logs?entityType=programme").send().await.expect(200);
    assert_eq!(action["data"][0]["action"], "programme.updated");
}

async fn answers_leave_out_what_does_not_apply(app: &TestApp) {
    start(app, &["iso_27001"]).await;
    let found = app.get("/v1/frameworks/iso_27001/readiness").send().await.expect(200);
    let status = |code: &str| {
        let all = found["requirements"].as_array().expect("requirements");
        all.iter().find(|one| one["code"] == code).expect("it")["status"].clone()
    };
    assert_eq!((status("7.1"), status("8.30")), (json!("not_applicable"), json!("not_applicable")));
    assert_ne!(status("8.25"), json!("not_applicable"));

    // The statement of applicability says why.
    let organization = &app.home.organization;
    let body = json!({"organizationId": organization, "frameworkId": "iso_27001"});
    let document = app.post("/v1/soa/ensure-setup", &body).send().await.expect(200)["document"]["id"].clone();
    let fill = json!({"organizationId": organization, "documentId": document});
    assert_eq!(app.post("/v1/soa/auto-fill", &fill).send().await.status, StatusCode::OK);
    let path = format!("/v1/soa/documents/{}", document.as_str().expect("an id"));
    let answers = app.get(&path).send().await.expect(200)["answers"].as_array().expect("answers").clone();
    assert_eq!(answers.len(), 93);
    let out: Vec<&str> = answers
        .iter()
        .filter(|one| one["isApplicable"] == false)
        .map(|one| one["justification"].as_str().expect("why"))
        .collect();
    assert!(out.iter().any(|why| why.contains("no premises")), "{out:?}");
    let cites = |one: &&Value| {
        let why = one["justification"].as_str().expect("why");
        why.contains("Required by P-") || why.contains("Treats R-")
    };
    assert!(answers.iter().filter(|one| one["isApplicable"] == true).all(|one| cites(&one)));

    // What a request leaves out stays as it is.
    let before = app.get("/v1/programme").send().await.expect(200);
    let both = json!({"frameworkIds": ["iso_27001", "soc_2"]});
    app.post("/v1/programme", &both).send().await.expect(201);
    app.work().await;
    let after = app.get("/v1/programme").send().await.expect(200);
    for field in ["auditDate", "owners", "startsOn"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    let found = app.get("/v1/frameworks/iso_27001/readiness").send().await.expect(200);
    assert!(found["counts"]["notApplicable"].as_u64().expect("a number") > 0);

    // A changed answer is applied by the next start, and written into the context.
    let mut changed = settings(app, &["iso_27001"]);
    changed["scope"]["offices"] = json!(2);
    app.post("/v1/programme", &changed).send().await.expect(201);
    app.work().await;
    let found = app.get("/v1/frameworks/iso_27001/readiness").send().await.expect(200);
    let all_requirements = found["requirements"].as_array().expect("requirements");
    assert_ne!(
        all_requirements.iter().find(|one| one["code"] == "7.1").expect("it")["status"],
        "not_applicable"
    );
    let context = all(app, "/v1/context").await;
    let offices =
        context.iter().find(|one| one["tags"].as_array().expect("tags").contains(&json!("scope_offices")));
    assert_eq!(offices.expect("an entry")["answer"], "2");
}

async fn a_start_is_undone_until_something_is_edited(app: &TestApp) {
    let task = app.task(json!({"title": "Ours"})).await;
    start(app, &["soc_2"]).await;
    let before = counts(app).await;
    start(app, &["soc_2", "gdpr"]).await;
    assert!(counts(app).await[0] > before[0]);
    let undone = app.post("/v1/programme/undo", &json!({})).send().await.expect(200);
    assert!(undone["deleted"].as_u64().expect("a number") > 0);
    assert_eq!(counts(app).await, before, "the first start stays");
    let plan = app.get("/v1/programme").send().await.expect(200);
    assert_eq!(plan["frameworkIds"].as_array().expect("ids").len(), 1);

    // A repeated start changes nothing, and the id of a start that is undone is refused.
    let again = start(app, &["soc_2"]).await;
    assert_eq!(again["startId"], json!(null));
    let gone = app.post("/v1/programme", &settings(app, &["soc_2", "gdpr"])).send().await.expect(201);
    let body = json!({"startId": gone["startId"]});
    app.post("/v1/programme/undo", &body).send().await.expect(200);
    app.post("/v1/programme/undo", &body).send().await.problem(409, "programme_changed");
    app.post("/v1/programme/undo", &json!({"startId": "x"})).send().await.problem(400, "validation_failed");
    assert_eq!(counts(app).await, before);

    // An automation on a new task counts as an edit.
    let new_task =
        all(app, "/v1/tasks").await.into_iter().find(|one| one["title"] != "Ours").expect("a task");
    let automations = format!("/v1/tasks/{}/automations", id(&new_task));
    let script = json!({"name": "A", "script": "export default () => ({ status: 'pass' })"});
    let made = app.post(&automations, &script).send().await.expect(201);
    let refused = app.post("/v1/programme/undo", &json!({})).send().await.problem(409, "programme_edited");
    assert!(refused["detail"].as_str().expect("why").contains(new_task["reference"].as_str().expect("one")));
    app.delete(&format!("{automations}/{}", id(&made))).send().await.expect(200);

    // An edited record keeps the whole start.
    let control = all(app, "/v1/controls").await.remove(3);
    app.patch(&format!("/v1/controls/{}", id(&control)), &json!({"department": "it"}))
        .send()
        .await
        .expect(200);
    let refused = app.post("/v1/programme/undo", &json!({})).send().await.problem(409, "programme_edited");
    assert!(
        refused["detail"].as_str().expect("why").contains(control["reference"].as_str().expect("one")),
        "{refused}"
    );
    assert_eq!(counts(app).await, before);
    app.clock.advance(Duration::from_hours(25));
    app.post("/v1/programme/undo", &json!({})).send().await.problem(409, "programme_undo_expired");
    app.get(&format!("/v1/tasks/{}", id(&task))).send().await.expect(200);
}

async fn starts_are_undone_one_after_the_other(app: &TestApp) {
    let first = settings(app, &["iso_27001"]);
    app.post("/v1/programme", &first).send().await.expect(201);
    let mut second = first.clone();
    second["scope"]["offices"] = json!(2);
    app.post("/v1/programme", &second).send().await.expect(201);
    app.work().await;
    for _ in 0..2 {
        app.post("/v1/programme/undo", &json!({})).send().await.expect(200);
    }
    assert_eq!(counts(app).await, [0; 4]);
    app.post("/v1/programme/undo", &json!({})).send().await.problem(404, "not_found");
    app.get("/v1/programme").send().await.problem(404, "not_found");
    app.work().await;
}

async fn what_was_archived_or_there_before_is_respected(app: &TestApp) {
    let before = app.post("/v1/tasks/from-templates", &json!({})).send().await.expect(201);
    let done = id(&before["created"][0]);
    app.patch(&format!("/v1/tasks/{done}"), &json!({"status": "done"})).send().await.expect(200);
    start(app, &["soc_2"]).await;
    let task = app.get(&format!("/v1/tasks/{done}")).send().await.expect(200);
    assert_eq!(
        (&task["dueDate"], &task["assigneeId"]),
        (&json!(null), &json!(null)),
        "a task that is done stays"
    );
    let dated = all(app, "/v1/tasks").await.iter().filter(|one| one["dueDate"].is_string()).count();
    assert!(dated > 40, "{dated} tasks that were there got a date");
    let policy = all(app, "/v1/policies").await.remove(0);
    app.patch(&format!("/v1/policies/{}", id(&policy)), &json!({"isArchived": true}))
        .send()
        .await
        .expect(200);
    let again = start(app, &["soc_2", "iso_27001"]).await;
    assert!(again["startId"].is_string());
    assert!(all(app, "/v1/policies").await.iter().all(|one| one["name"] != policy["name"]));
    // The start of the plan stays when it is extended later, and nothing new is due in the past.
    app.clock.advance(Duration::from_hours(24 * 30));
    let later = settings(app, &["soc_2", "iso_27001", "hipaa"]);
    app.post("/v1/programme", &later).send().await.expect(201);
    app.work().await;
    assert_eq!(app.get("/v1/programme").send().await.expect(200)["startsOn"], "2026-11-15");
    let preview = app.post("/v1/programme/preview", &later).send().await.expect(200);
    let due = preview["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .map(|task| task["dueDate"].as_str().expect("a date"));
    assert!(due.min().is_some_and(|first| first >= "2026-12-15"));
}

async fn callers_see_what_they_may_see(app: &TestApp) {
    start(app, &["soc_2"]).await;
    let narrow = app.key(&["programme:read"]).await;
    let plan = app.get("/v1/programme").key(&narrow).send().await.expect(200);
    assert!(plan["weeks"].as_array().expect("weeks").iter().all(|week| week["items"] == json!([])));
    let path = "/v1/frameworks/soc_2/requirements?limit=1";
    let requirement = app.get(path).send().await.expect(200)["data"][0]["id"].clone();
    let control = json!({"name": "Secret", "requirementIds": [requirement]});
    app.post("/v1/controls", &control).send().await.expect(201);
    let preview = app.post("/v1/programme/preview", &settings(app, &["soc_2"])).key(&narrow).send().await;
    assert!(!preview.text().contains("Secret"));
    preview.expect(200);
    // Adding risks is not enough to change controls.
    let risks = app.key(&["risk:create", "risk:read"]).await;
    let made = app.call("POST", "/v1/risks/from-library").key(&risks).send().await.expect(201);
    assert!(made["createdCount"].as_u64().expect("a number") > 0);
    assert!(all(app, "/v1/controls").await.iter().all(|one| one["riskIds"] == json!([])));
}

async fn invalid_settings_are_named(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let bad = json!({
        "frameworkIds": ["iso_27001", "iso_1"], "auditDate": "2026-11-15",
        "owners": {"security_lead": other.member}, "scope": {}
    });
    for path in ["/v1/programme/preview", "/v1/programme"] {
        let reply = app.post(path, &bad).send().await;
        reply.problem(400, "validation_failed");
        assert_eq!(reply.wrong_fields(), ["auditDate", "frameworkIds[1]", "owners.security_lead"]);
    }
    for (body, field) in [
        (json!({}), "frameworkIds"),
        (json!({"frameworkIds": []}), "frameworkIds"),
        (json!({"frameworkIds": ["soc_2"], "scope": {"offices": "two"}}), "scope"),
        (json!({"frameworkIds": ["soc_2"], "scope": {"colour": true}}), "scope"),
        (json!({"frameworkIds": ["soc_2"], "owners": {"cook": app.home.member}}), "owners"),
        (json!({"frameworkIds": ["soc_2"], "owners": {"it_lead": 5}}), "owners"),
        (json!({"frameworkIds": ["soc_2"], "start": "2046-01-01"}), "start"),
        (json!({"frameworkIds": ["soc_2"], "auditDate": "2090-01-01"}), "auditDate"),
        (json!({"frameworkIds": ["soc_2"], "framework": 1}), "framework"),
    ] {
        let reply = app.post("/v1/programme", &body).send().await;
        reply.problem(400, "validation_failed");
        assert_eq!(reply.wrong_fields(), [field], "{body}");
    }
    assert_eq!(counts(app).await, [0; 4]);
    let plain = json!({"frameworkIds": ["soc_2"], "auditDate": null, "start": null});
    let preview = app.post("/v1/programme/preview", &plain).send().await.expect(200);
    let kinds: HashSet<&str> = preview["decisions"]
        .as_array()
        .expect("decisions")
        .iter()
        .map(|one| one["kind"].as_str().expect("a kind"))
        .collect();
    assert_eq!(kinds, HashSet::from(["unanswered", "no_owner"]));
}

async fn starting_needs_the_permissions_to_create(app: &TestApp) {
    let body = settings(app, &["soc_2"]);
    let narrow = app.key(&["programme:read", "programme:update"]).await;
    app.post("/v1/programme/preview", &body).key(&narrow).send().await.expect(200);
    app.post("/v1/programme", &body).key(&narrow).send().await.problem(403, "forbidden");
    let reader = app.key(&["programme:read"]).await;
    app.post("/v1/programme", &body).key(&reader).send().await.problem(403, "forbidden");
    app.post("/v1/programme/undo", &json!({})).key(&reader).send().await.problem(403, "forbidden");
    assert_eq!(counts(app).await, [0; 4]);
    let other = app.tenant("Other", "bob@example.com").await;
    start(app, &["soc_2"]).await;
    app.get("/v1/programme").key(&other.key).send().await.problem(404, "not_found");
    app.post("/v1/programme/undo", &json!({})).key(&other.key).send().await.problem(404, "not_found");
    assert!(counts(app).await[0] > 0);
}

async fn two_starts_at_once_create_everything_once(app: &TestApp) {
    let (first, second) = (settings(app, &["soc_2"]), settings(app, &["soc_2"]));
    let first = app.post("/v1/programme", &first).header("idempotency-key", "one").send();
    let second = app.post("/v1/programme", &second).header("idempotency-key", "two").send();
    let (first, second) = tokio::join!(first, second);
    app.work().await;
    assert!([first.status, second.status].contains(&StatusCode::CREATED));
    let controls = all(app, "/v1/controls").await;
    let keys: HashSet<&str> =
        controls.iter().map(|one| one["catalogueKey"].as_str().expect("a key")).collect();
    assert_eq!(keys.len(), controls.len());
    let tasks = all(app, "/v1/tasks").await;
    let templates: HashSet<&str> =
        tasks.iter().map(|one| one["taskTemplateId"].as_str().expect("one")).collect();
    assert_eq!(templates.len(), tasks.len());
    // The response is replayed.
    let body = settings(app, &["soc_2"]);
    let key = if first.status == StatusCode::CREATED { "one" } else { "two" };
    let again = app.post("/v1/programme", &body).header("idempotency-key", key).send().await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}

async fn readiness_reaches_100_when_everything_is_done(app: &TestApp) {
    start(app, &["iso_27001"]).await;
    let readiness =
        async || app.get("/v1/frameworks/iso_27001/readiness").send().await.expect(200)["score"].clone();
    assert_eq!(readiness().await, 0);
    for task in all(app, "/v1/tasks").await {
        let file = json!({"fileName": "proof.txt", "fileType": "text/plain", "fileData": "cHJvb2Y="});
        app.post(&format!("/v1/tasks/{}/attachments", id(&task)), &file).send().await.expect(201);
    }
    let ids: Vec<Value> = all(app, "/v1/tasks").await.iter().map(|task| task["id"].clone()).collect();
    app.patch("/v1/tasks/bulk", &json!({"taskIds": ids, "status": "done"})).send().await.expect(200);
    let half = readiness().await.as_u64().expect("a number");
    assert!(half < 100);
    for policy in all(app, "/v1/policies").await {
        let path = format!("/v1/policies/{}", id(&policy));
        let ask = json!({"approverId": app.home.member});
        app.post(&format!("{path}/submit-for-approval"), &ask).send().await.expect(200);
        app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    }
    app.work().await;
    assert_eq!(readiness().await, 100);
    let plan = app.get("/v1/programme").send().await.expect(200);
    assert_eq!((&plan["counts"]["due"], &plan["forecast"]["remaining"]), (&json!(0), &json!(0)));
}

async fn a_trace_names_gaps_and_evidence(app: &TestApp) {
    start(app, &["iso_27001"]).await;
    let tasks = all(app, "/v1/tasks").await;
    let task = id(&tasks[0]);
    let file = json!({"fileName": "proof.txt", "fileType": "text/plain", "fileData": "cHJvb2Y="});
    app.post(&format!("/v1/tasks/{task}/attachments"), &file).send().await.expect(201);
    let trace = app.get("/v1/frameworks/iso_27001/trace").send().await.expect(200);
    let requirements = trace["requirements"].as_array().expect("requirements");
    assert_eq!(requirements.len(), 116);
    let gaps =
        requirements.iter().filter(|one| one["status"] != "ready" && one["status"] != "not_applicable");
    assert_eq!(trace["gaps"], json!(gaps.count()));
    let traced = requirements.iter().flat_map(|one| one["controls"].as_array().expect("controls"));
    let mut evidence =
        traced.flat_map(|control| control["tasks"].as_array().expect("tasks")).filter(|one| id(one) == task);
    assert_eq!(evidence.next().expect("the task")["evidence"]["name"], "proof.txt");

    // Callers see policies and tasks only with the permissions for them.
    let narrow = app.key(&["control:read", "framework:read"]).await;
    let less = app.get("/v1/frameworks/iso_27001/trace").key(&narrow).send().await.expect(200);
    let first = &less["requirements"][0]["controls"][0];
    assert_eq!((&first["policies"], &first["tasks"]), (&json!([]), &json!([])));

    let before = app.entries(&app.home).await;
    let table = app.get("/v1/frameworks/iso_27001/trace/export").send().await;
    assert!(table.text().starts_with("Requirement,Title,Status,"), "{}", table.text());
    assert!(table.text().contains("proof.txt"));
    assert_eq!(app.entries(&app.home).await, before + 1, "the export is recorded");
    let book = app.get("/v1/frameworks/iso_27001/trace/export?format=xlsx").send().await;
    assert_eq!(book.status, StatusCode::OK);
    app.get("/v1/frameworks/iso_1/trace").send().await.problem(404, "not_found");
}

async fn risks_come_from_the_library(app: &TestApp) {
    let library = app.get("/v1/risk-library").send().await.expect(200);
    assert!(library["count"].as_u64().expect("a number") >= 60);
    start(app, &["iso_27001"]).await;
    let key = &library["data"][0]["key"];
    let made = app.post("/v1/risks/from-library", &json!({"keys": [key]})).send().await.expect(201);
    assert_eq!((&made["createdCount"], &made["created"][0]["isAssessed"]), (&json!(1), &json!(false)));
    let risk = id(&made["created"][0]).to_owned();
    let treats = app.get(&format!("/v1/controls?riskId={risk}")).send().await.expect(200);
    assert!(treats["count"].as_u64().expect("a number") > 0, "the controls that treat it are linked");
    let rest = app.call("POST", "/v1/risks/from-library").key(&app.home.key).send().await.expect(201);
    assert!(rest["createdCount"].as_u64().expect("a number") > 30);
    let again = app.call("POST", "/v1/risks/from-library").key(&app.home.key).send().await.expect(201);
    assert_eq!(again["createdCount"], 0);
    for keys in [json!(["x"]), json!([key, key])] {
        let body = json!({"keys": keys});
        app.post("/v1/risks/from-library", &body).send().await.problem(400, "validation_failed");
    }
}

async fn a_start_chooses_its_frameworks(app: &TestApp) {
    let chosen = async || {
        let own = app.get("/v1/organization").send().await.expect(200);
        own["frameworkIds"].as_array().expect("ids").len()
    };
    let frameworks = all(app, "/v1/frameworks").await;
    let id_of =
        |alias: &str| frameworks.iter().find(|one| one["alias"] == alias).expect("shipped")["id"].clone();
    let before = json!({"frameworkIds": [id_of("gdpr")]});
    app.patch("/v1/organization", &before).send().await.expect(200);
    start(app, &["iso_27001", "gdpr"]).await;
    assert_eq!(chosen().await, 2);
    app.post("/v1/programme/undo", &json!({})).send().await.expect(200);
    assert_eq!(chosen().await, 1, "the one that was chosen before stays");
}

async fn the_plan_is_exported(app: &TestApp) {
    app.get("/v1/programme/export").send().await.problem(404, "not_found");
    start(app, &["soc_2"]).await;
    let table = app.get("/v1/programme/export").send().await;
    assert_eq!(table.status.as_u16(), 200);
    let text = table.text();
    assert!(text.contains("Week,Due,Kind,Reference,Title,Owner,State,Completed"), "{text}");
    let plan = app.get("/v1/programme").send().await.expect(200);
    let items: usize = plan["weeks"]
        .as_array()
        .expect("weeks")
        .iter()
        .map(|week| week["items"].as_array().expect("items").len())
        .sum();
    assert_eq!(text.trim().lines().count(), items + 1);
    let log = app.get("/v1/audit-logs?limit=1").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "programme.exported");
    let book = app.get("/v1/programme/export?format=xlsx").send().await;
    assert_eq!(book.status.as_u16(), 200);
}

async fn past_readiness_follows_the_scope_of_an_undone_programme(app: &TestApp) {
    let left_out = async |query: &str| {
        let path = format!("/v1/frameworks/iso_27001/readiness{query}");
        app.get(&path).send().await.expect(200)["counts"]["notApplicable"].as_u64().expect("a number")
    };
    let before = app.ctx.now();
    app.clock.advance(Duration::from_hours(1));
    start(app, &["iso_27001"]).await;
    let (first, some) = (app.ctx.now(), left_out("").await);
    assert!(some > 0);
    app.clock.advance(Duration::from_hours(1));
    app.post("/v1/programme/undo", &json!({})).send().await.expect(200);
    assert_eq!(left_out("").await, 0);
    assert_eq!(left_out(&format!("?asOf={first}")).await, some);
    assert_eq!(left_out(&format!("?asOf={}", app.ctx.now())).await, 0);
    assert_eq!(left_out(&format!("?asOf={before}")).await, 0);
    // The programme that was started since has an id of its own.
    app.clock.advance(Duration::from_hours(1));
    let mut other = settings(app, &["iso_27001"]);
    other["scope"]["offices"] = json!(2);
    app.post("/v1/programme", &other).send().await.expect(201);
    app.work().await;
    assert!(left_out("").await < some);
    assert_eq!(left_out(&format!("?asOf={first}")).await, some);
}

async fn starts_with_other_settings_at_once_leave_nothing(app: &TestApp) {
    let bodies =
        [settings(app, &["soc_2"]), settings(app, &["hipaa"]), settings(app, &["gdpr", "iso_27001"])];
    let [first, second, third] = &bodies;
    let send = |body: &Value| app.post("/v1/programme", body).send();
    let replies = tokio::join!(send(first), send(second), send(third));
    let mut started = Vec::new();
    for (reply, body) in [replies.0, replies.1, replies.2].into_iter().zip(&bodies) {
        match reply.status {
            StatusCode::CREATED => started.push(body),
            _ => drop(reply.problem(409, "programme_starting")),
        }
    }
    app.work().await;
    // Others may have come when the first was complete.
    for _ in 1..started.len() {
        app.post("/v1/programme/undo", &json!({})).send().await.expect(200);
    }
    let started = started[0];
    let preview = app.post("/v1/programme/preview", started).send().await.expect(200);
    let [controls, policies, tasks, _] = counts(app).await;
    for (field, count) in [("controls", controls), ("policies", policies), ("tasks", tasks)] {
        assert_eq!(preview["counts"][field], json!({"created": 0, "reused": count}), "{field}");
    }
    let chosen = app.get("/v1/organization").send().await.expect(200)["frameworkIds"].clone();
    assert_eq!(chosen.as_array().map(Vec::len), started["frameworkIds"].as_array().map(Vec::len));
    app.post("/v1/programme/undo", &json!({})).send().await.expect(200);
    assert_eq!(counts(app).await, [0; 4]);
}

/// Makes the run of a start that was interrupted: of the one whose settings the programme has.
async fn interrupt(app: &TestApp) {
    let scope = Scope::system(OrganizationId::read(&app.home.organization).expect("an id"), "test");
    let (run, now): (ProgrammeRunId, _) = (app.ctx.ids.next(), app.ctx.now());
    let made = app.ctx.db.write(async move |t| {
        let settings = programmes::get(t, &scope).await?.expect("a programme").settings;
        let claim = Some(Claim { settings: settings.clone(), at: now });
        let content = RunContent { before: Some(settings), claim, ..RunContent::default() };
        let run = Run { id: run, started_at: now, finished_at: None, content };
        programmes::put_run(t, &scope, &run).await
    });
    made.await.expect("a run");
}

async fn an_interrupted_start_is_completed_by_sending_it_again(app: &TestApp) {
    let (own, other) = (settings(app, &["soc_2"]), settings(app, &["soc_2", "gdpr"]));
    let send = |body: &Value| app.post("/v1/programme", body).send();
    send(&own).await.expect(201);
    app.work().await;
    let before = counts(app).await;
    interrupt(app).await;
    let entries = app.entries(&app.home).await;
    send(&other).await.problem(409, "programme_starting");
    assert_eq!((counts(app).await, app.entries(&app.home).await), (before, entries), "nothing is left");
    send(&own).await.expect(201);
    send(&other).await.expect(201);
    app.work().await;
    // Another start takes over from one that does not go on.
    interrupt(app).await;
    send(&own).await.problem(409, "programme_starting");
    app.clock.advance(Duration::from_mins(1));
    send(&own).await.expect(201);
    app.work().await;
    assert_eq!(
        app.get("/v1/programme").send().await.expect(200)["frameworkIds"].as_array().map(Vec::len),
        Some(1)
    );
}

async fn choosing_frameworks_needs_the_permission_for_the_organization(app: &TestApp) {
    let scopes = [
        "programme:read",
        "programme:update",
        "control:create",
        "control:update",
        "control:delete",
        "policy:create",
        "policy:delete",
        "task:create",
        "task:update",
        "task:delete",
        "context:create",
        "context:update",
        "context:delete",
    ];
    let key = app.key(&scopes).await;
    let body = settings(app, &["soc_2"]);
    let entries = app.entries(&app.home).await;
    let refused = app.post("/v1/programme", &body).key(&key).send().await.problem(403, "forbidden");
    assert!(refused["detail"].as_str().expect("why").contains("organization:update"), "{refused}");
    app.work().await;
    assert_eq!(counts(app).await, [0; 4]);
    assert!(app.entries(&app.home).await <= entries + 1, "at most the refusal");
    app.get("/v1/programme").send().await.problem(404, "not_found");
    // Frameworks that the organization works on already need no permission.
    let soc_2 = app.get("/v1/frameworks/soc_2").send().await.expect(200)["id"].clone();
    app.patch("/v1/organization", &json!({"frameworkIds": [soc_2]})).send().await.expect(200);
    app.post("/v1/programme", &body).key(&key).send().await.expect(201);
    app.work().await;
    app.post("/v1/programme/undo", &json!({})).key(&key).send().await.expect(200);
    start(app, &["soc_2", "gdpr"]).await;
    let before = counts(app).await;
    let refused = app.post("/v1/programme/undo", &json!({})).key(&key).send().await.problem(403, "forbidden");
    assert!(refused["detail"].as_str().expect("why").contains("organization:update"), "{refused}");
    assert_eq!(counts(app).await, before);
    app.work().await;
}

async fn an_old_programme_can_be_extended(app: &TestApp) {
    start(app, &["soc_2"]).await;
    app.clock.advance(Duration::from_hours(24 * 366 * 6));
    let more = json!({"frameworkIds": ["soc_2", "gdpr"]});
    app.post("/v1/programme/preview", &more).send().await.expect(200);
    app.post("/v1/programme", &more).send().await.expect(201);
    app.work().await;
    let dated = json!({"frameworkIds": ["soc_2", "gdpr"], "auditDate": "2034-06-01"});
    app.post("/v1/programme", &dated).send().await.expect(201);
    app.work().await;
    let plan = app.get("/v1/programme").send().await.expect(200);
    assert_eq!((&plan["startsOn"], &plan["auditDate"]), (&json!("2026-11-15"), &json!("2034-06-01")));
    for (field, date) in [("auditDate", "2039-01-01"), ("start", "2026-11-15")] {
        let wrong = json!({"frameworkIds": ["soc_2"], field: date});
        assert_eq!(app.post("/v1/programme", &wrong).send().await.wrong_fields(), [field]);
    }
}

async fn a_reopened_task_lowers_the_line(app: &TestApp) {
    start(app, &["soc_2"]).await;
    let task = all(app, "/v1/tasks").await.into_iter().find(|task| task["frequency"].is_null());
    let task = format!("/v1/tasks/{}", id(&task.expect("a task that is done once")));
    let set = async |status: &str| {
        app.clock.advance(Duration::from_hours(24 * 7));
        app.patch(&task, &json!({"status": status})).send().await.expect(200);
    };
    let line = async || {
        let plan = app.get("/v1/programme").send().await.expect(200);
        let points = plan["burnUp"].as_array().expect("points").iter().take(6);
        let done: Vec<u64> = points.map(|point| point["done"].as_u64().expect("a number")).collect();
        (done, plan["forecast"]["completedLately"].clone())
    };
    // Points are Sundays, from the one before the first week.
    set("done").await;
    assert_eq!(line().await, (vec![0, 0, 1, 1, 1, 1], json!(1)));
    app.patch(&task, &json!({"description": "Done twice."})).send().await.expect(200);
    set("in_progress").await;
    assert_eq!(line().await, (vec![0, 0, 1, 0, 0, 0], json!(1)), "the pace counts first completions");
    set("blocked").await;
    assert_eq!(line().await, (vec![0, 0, 1, 0, 0, 0], json!(1)));
    set("done").await;
    assert_eq!(line().await.0, [0, 0, 1, 1, 1, 1]);
}
