//! The risk criteria of an organization, and the acceptance of risks.

use std::time::Duration;

use attestry_tests::{PASSWORD, TestApp, both, id};
use serde_json::{Value, json};

both! {
    scales_have_the_words_of_the_organization,
    a_risk_is_accepted_by_its_owner_until_a_day,
    an_acceptance_ends_when_the_risk_changes,
    the_end_of_an_acceptance_is_announced,
}

async fn scales_have_the_words_of_the_organization(app: &TestApp) {
    let set = app.get("/v1/risk-criteria").send().await.expect(200);
    assert_eq!(
        (&set["appetite"], &set["acceptanceMonths"], &set["updatedAt"]),
        (&Value::Null, &json!(12), &Value::Null)
    );
    assert_eq!(set["likelihood"].as_array().map(Vec::len), Some(5));
    let body = json!({
        "likelihood": [{"level": "very_likely", "name": "Every month"}, {"level": "possible", "name": null, "description": "Once a year"}],
        "appetite": 9, "acceptanceMonths": 6
    });
    let put = |body: &Value| app.call("PUT", "/v1/risk-criteria").key(&app.home.key).json(body);
    let set = put(&body).send().await.expect(200);
    assert_eq!(
        set["likelihood"][4],
        json!({"level": "very_likely", "name": "Every month", "description": null})
    );
    assert_eq!(set["likelihood"][2]["description"], "Once a year");
    assert_eq!(set["impact"][0], json!({"level": "insignificant", "name": null, "description": null}));
    assert_eq!(app.get("/v1/risk-criteria").send().await.expect(200), set);
    let log = app.get("/v1/audit-logs?limit=1").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "risk_criteria.updated");
    for (body, field) in [
        (json!({"appetite": 26}), "appetite"),
        (json!({"acceptanceMonths": 0}), "acceptanceMonths"),
        (json!({"likelihood": [{"level": "often"}]}), "likelihood"),
        (
            json!({"impact": [{"level": "minor", "name": "Small"}, {"level": "major", "name": "small"}]}),
            "impact",
        ),
        (json!({"impact": {"minor": "Small"}}), "impact"),
    ] {
        let wrong = put(&body).send().await.wrong_fields();
        assert!(wrong.len() == 1 && wrong[0].starts_with(field), "{wrong:?}");
    }
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app.call("GET", "/v1/risk-criteria").key(&other.key).send().await.expect(200);
    assert_eq!(theirs["appetite"], Value::Null);
    app.member(&app.home, "joe@example.com", "auditor").await;
    let token = app.sign_in("joe@example.com").await;
    let auditor = app.call("PUT", "/v1/risk-criteria").session(&token, &app.home.organization);
    auditor.json(&json!({})).send().await.problem(403, "forbidden");
    // Above the appetite.
    let high = json!({"title": "high", "residualLikelihood": "likely", "residualImpact": "moderate"});
    app.risk(high).await;
    app.risk(json!({"title": "low", "residualLikelihood": "possible", "residualImpact": "moderate"})).await;
    let found = app.get("/v1/risks?minResidualScore=10").send().await.expect(200);
    assert_eq!((&found["count"], &found["data"][0]["title"]), (&json!(1), &json!("high")));
}

fn accept(body: &Value) -> Value {
    json!({"until": body["until"].as_str().unwrap_or("2027-06-30"), "reason": "The system is replaced in June."})
}

async fn a_risk_is_accepted_by_its_owner_until_a_day(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let risk = app.risk(json!({"assigneeId": eve["id"]})).await;
    let path = format!("/v1/risks/{}/acceptance", id(&risk));
    let by =
        |token: &str, body: &Value| app.call("POST", &path).session(token, &app.home.organization).json(body);
    let body = accept(&json!({}));
    app.post(&path, &body).send().await.problem(403, "session_required");
    let owner = app.sign_in(&app.home.email).await;
    by(&owner, &body).send().await.problem(403, "not_owner");
    by(&token, &body).send().await.problem(409, "risk_not_assessed");
    let rated = json!({"residualLikelihood": "likely", "residualImpact": "major"});
    app.patch(&format!("/v1/risks/{}", id(&risk)), &rated).send().await.expect(200);
    for (until, wrong) in [("2026-11-15", "until"), ("2027-11-16", "until"), ("tomorrow", "until")] {
        assert_eq!(by(&token, &accept(&json!({"until": until}))).send().await.wrong_fields(), [wrong]);
    }
    assert_eq!(
        by(&token, &json!({"until": "2027-06-30", "reason": ""})).send().await.wrong_fields(),
        ["reason"]
    );
    // The owner accepts what they have read.
    let read = app.get(&format!("/v1/risks/{}", id(&risk))).send().await;
    let tag = read.header("etag").expect("a tag").to_owned();
    app.patch(&format!("/v1/risks/{}", id(&risk)), &json!({"residualImpact": "severe"}))
        .send()
        .await
        .expect(200);
    by(&token, &body).header("if-match", &tag).send().await.problem(412, "precondition_failed");
    let now = app.get(&format!("/v1/risks/{}", id(&risk))).send().await;
    let tag = now.header("etag").expect("a tag").to_owned();
    let accepted = by(&token, &body).header("if-match", &tag).send().await.expect(200);
    app.delete(&path).header("if-match", &tag).send().await.problem(412, "precondition_failed");
    assert_eq!((&accepted["acceptedById"], &accepted["acceptedUntil"]), (&eve["id"], &json!("2027-06-30")));
    assert_eq!(accepted["acceptanceStatus"], "accepted");
    let log = app.get("/v1/audit-logs?limit=1").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "risk.accepted");
    assert!(log["data"][0].to_string().contains(eve["id"].as_str().expect("an id")), "{log}");
    // Nobody else can set the fields.
    let fields = json!({"acceptedUntil": "2030-01-01"});
    assert_eq!(
        app.patch(&format!("/v1/risks/{}", id(&risk)), &fields).send().await.wrong_fields(),
        ["acceptedUntil"]
    );
    // The password is asked again after a while.
    app.clock.advance(Duration::from_mins(11));
    by(&token, &body).send().await.problem(403, "confirmation_required");
    let confirm = app.call("POST", "/v1/auth/confirm").session(&token, &app.home.organization);
    confirm.json(&json!({"password": PASSWORD})).send().await.expect(200);
    app.work().await;
    by(&token, &body).send().await.expect(200);
    // What was accepted stays known as of that day.
    let shown = app.get(&format!("/v1/risks/{}", id(&risk))).send().await.expect(200);
    let withdrawn = app.delete(&path).send().await.expect(200);
    assert_eq!(
        (&withdrawn["acceptanceStatus"], &withdrawn["acceptanceReason"]),
        (&json!("none"), &Value::Null)
    );
    assert_eq!(shown["acceptanceReason"], "The system is replaced in June.");
    let other = app.tenant("Other", "bob@example.com").await;
    app.call("DELETE", &path).key(&other.key).send().await.problem(404, "not_found");
}

async fn accepted(app: &TestApp, until: &str) -> (Value, String) {
    let rated =
        json!({"assigneeId": app.home.member, "residualLikelihood": "likely", "residualImpact": "major"});
    let risk = app.risk(rated).await;
    let path = format!("/v1/risks/{}", id(&risk));
    let token = app.sign_in(&app.home.email).await;
    let call = app.call("POST", &format!("{path}/acceptance")).session(&token, &app.home.organization);
    (call.json(&accept(&json!({"until": until}))).send().await.expect(200), path)
}

async fn an_acceptance_ends_when_the_risk_changes(app: &TestApp) {
    for (change, status) in [
        (json!({"reviewDate": "2027-01-01", "department": "it"}), "accepted"),
        (json!({"residualImpact": "severe"}), "none"),
        (json!({"treatmentStrategy": "mitigate"}), "none"),
        (json!({"title": "Something else"}), "none"),
    ] {
        let (_, path) = accepted(app, "2027-06-30").await;
        let after = app.patch(&path, &change).send().await.expect(200);
        assert_eq!(after["acceptanceStatus"], status, "{change}");
    }
    let (risk, path) = accepted(app, "2027-06-30").await;
    let change = json!({"ids": [risk["id"]], "change": {"likelihood": "very_likely"}});
    app.post("/v1/risks/bulk", &change).send().await.expect(200);
    assert_eq!(app.get(&path).send().await.expect(200)["acceptanceStatus"], "none");
}

async fn the_end_of_an_acceptance_is_announced(app: &TestApp) {
    let (_, path) = accepted(app, "2026-11-20").await;
    app.mails().await;
    app.housekeeping().await;
    let text = app.mail.take().pop().expect("a digest").text;
    assert!(text.contains("its acceptance ends on 2026-11-20"), "{text}");
    app.clock.advance(Duration::from_hours(6 * 24));
    app.housekeeping().await;
    let text = app.mail.take().pop().expect("a digest").text;
    assert!(text.contains("its acceptance ended on 2026-11-20"), "{text}");
    assert_eq!(app.get(&path).send().await.expect(200)["acceptanceStatus"], "ended");
    let found = app.get("/v1/inbox?kind=overdue").send().await.expect(200);
    assert_eq!(found["data"][0]["entityType"], "risk");
}
