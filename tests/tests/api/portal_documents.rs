//! The visibility of portal documents: hidden, on request, after the agreement, public.

use attestry_tests::{TestApp, both, id};
use serde_json::{Value, json};

use crate::portal::{
    GUEST, choose, granted, marks, pdf, publish, request, sign, token_for, token_of, upload,
};

both! {
    documents_are_hidden_until_somebody_chooses,
    public_documents_need_no_access,
    documents_on_request_are_granted_one_by_one,
    choices_are_checked,
    a_neighbour_learns_nothing,
}

const SETTINGS: &str = "/v1/trust-portal/settings";

async fn published_policy(app: &TestApp, name: &str) -> String {
    let made = app.post("/v1/policies", &json!({"name": name, "contentMarkdown": "Be careful."}));
    let policy = id(&made.send().await.expect(201)).to_owned();
    let path = format!("/v1/policies/{policy}");
    let ask = json!({"approverId": app.home.member});
    app.post(&format!("{path}/submit-for-approval"), &ask).send().await.expect(200);
    app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    policy
}

/// Returns the documents that the public portal lists.
async fn listed(app: &TestApp) -> Vec<(String, String)> {
    let path = format!("/v1/trust-access/{}", app.home.organization);
    let portal = app.call("GET", &path).send().await.expect(200);
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let documents = portal["documents"].as_array().expect("documents");
    documents.iter().map(|one| (word(&one["document"]), word(&one["visibility"]))).collect()
}

/// Returns the status of an unauthenticated download.
async fn open(app: &TestApp, document: &str) -> u16 {
    let path = format!("/v1/trust-access/{}/documents/{document}", app.home.organization);
    app.call("GET", &path).send().await.status.as_u16()
}

/// Returns the numbers of policies and certificates that a link opens.
async fn readable(app: &TestApp, token: &str) -> (usize, usize) {
    let seen = app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
    let count = |name: &str| seen[name].as_array().map_or(0, Vec::len);
    (count("policies"), count("complianceResources"))
}

async fn documents_are_hidden_until_somebody_chooses(app: &TestApp) {
    publish(app, &app.home).await;
    let policy = published_policy(app, "Access Control Policy").await;
    upload(app, &app.home, "iso_27001", &pdf(1)).await.expect(201);
    let (token, _) = granted(app, &app.home, GUEST).await;
    assert_eq!(listed(app).await, []);
    assert_eq!(readable(app, &token).await, (0, 0));
    let settings = app.get(SETTINGS).send().await;
    let tag = settings.header("etag").map(str::to_owned);
    let settings = settings.expect(200);
    assert_eq!(
        settings["documents"],
        json!([
            {"document": "iso_27001", "title": "ISO/IEC 27001", "visibility": "hidden"},
            {"document": policy, "title": "Access Control Policy", "visibility": "hidden"}
        ])
    );
    // The ETag of the settings changes when a policy is published.
    published_policy(app, "Backup Policy").await;
    assert_ne!(app.get(SETTINGS).send().await.header("etag").map(str::to_owned), tag);
    for document in ["iso_27001", &policy] {
        choose(app, &app.home, document, "nda").await.expect(200);
    }
    assert_eq!(readable(app, &token).await, (1, 1));
    let nda = || "nda".to_owned();
    assert_eq!(listed(app).await, [("iso_27001".to_owned(), nda()), (policy.clone(), nda())]);
    let all = app.call("GET", &format!("/v1/trust-access/access/{token}/policies/download-all")).send().await;
    let all = crate::portal::text(&all.body);
    assert!(all.contains("Access Control Policy") && !all.contains("Backup Policy"), "{all}");
    // Once hidden again, it is not found, even for those who had access.
    choose(app, &app.home, &policy, "hidden").await.expect(200);
    assert_eq!(readable(app, &token).await, (0, 1));
    let file = format!("/v1/trust-access/access/{token}/policies/{policy}");
    app.call("GET", &file).send().await.problem(404, "not_found");
    app.mails().await;
}

async fn public_documents_need_no_access(app: &TestApp) {
    publish(app, &app.home).await;
    let policy = published_policy(app, "Security Policy").await;
    upload(app, &app.home, "gdpr", &pdf(2)).await.expect(201);
    for (visibility, status) in [("hidden", 404), ("on_request", 404), ("nda", 404), ("public", 200)] {
        for document in ["gdpr", &policy] {
            choose(app, &app.home, document, visibility).await.expect(200);
            assert_eq!(open(app, document).await, status, "{document} {visibility}");
        }
    }
    let path = format!("/v1/trust-access/{}/documents/gdpr", app.home.organization);
    let file = app.call("GET", &path).send().await;
    assert_eq!(file.header("content-type"), Some("application/pdf"));
    assert_eq!(file.body, pdf(2), "as it was uploaded");
    let page = app.call("GET", &format!("/trust/{}", app.home.organization)).send().await;
    assert!(page.text().contains(&path), "{}", page.text());
    assert_eq!(open(app, "iso_27001").await, 404);
    assert_eq!(open(app, "nonsense").await, 404);
    // A framework that is not shown hides its certificate, and a draft portal hides everything.
    let hide = json!({"frameworks": [{"framework": "gdpr", "enabled": false, "status": "compliant"}]});
    app.patch(SETTINGS, &hide).send().await.expect(200);
    assert_eq!((open(app, "gdpr").await, open(app, &policy).await), (404, 200));
    app.patch(&format!("/v1/policies/{policy}"), &json!({"isArchived": true})).send().await.expect(200);
    assert_eq!(open(app, &policy).await, 404);
    app.patch(SETTINGS, &json!({"status": "draft"})).send().await.expect(200);
    assert_eq!(open(app, "gdpr").await, 404);
    app.mails().await;
}

async fn documents_on_request_are_granted_one_by_one(app: &TestApp) {
    publish(app, &app.home).await;
    for framework in ["gdpr", "soc2_type2", "iso_27001"] {
        upload(app, &app.home, framework, &pdf(1)).await.expect(201);
    }
    for (document, visibility) in [("gdpr", "nda"), ("soc2_type2", "on_request"), ("iso_27001", "on_request")]
    {
        choose(app, &app.home, document, visibility).await.expect(200);
    }
    // A visitor who requested no specific document can read those that the agreement opens.
    let (token, _) = granted(app, &app.home, GUEST).await;
    assert_eq!(readable(app, &token).await, (0, 1));
    let requests = format!("/v1/trust-access/{}/requests", app.home.organization);
    let ask = |documents: Value| {
        let body = json!({"name": "Grace Hopper", "email": GUEST, "documents": documents});
        app.call("POST", &requests).json(&body).send()
    };
    // A request for an on-request document is reviewed, even with access; a document that the agreement opens needs
    // no review.
    let asked = ask(json!(["soc2_type2", "iso_27001", "gdpr"])).await.expect(201);
    app.mails().await;
    let path = format!("/v1/trust-access/admin/requests/{}", id(&asked));
    let details = app.get(&path).send().await.expect(200);
    assert_eq!(
        (&details["status"], &details["documents"]),
        (&json!("under_review"), &json!(["iso_27001", "soc2_type2"]))
    );
    let approve = json!({"documents": ["soc2_type2"]});
    let approved = app.post(&format!("{path}/approve"), &approve).send().await.expect(200);
    assert_eq!(approved["request"]["documents"], json!(["soc2_type2"]));
    assert_eq!(readable(app, &token).await, (0, 1), "not before it is signed");
    let nda = token_for(app, GUEST).await;
    let signed = sign(app, &nda, GUEST).await.expect(200);
    app.mails().await;
    let second = token_of(&signed["portalUrl"]);
    // Both links open all granted documents.
    assert_eq!((readable(app, &token).await, readable(app, &second).await), ((0, 2), (0, 2)));
    let file = app.call("GET", &format!("/v1/trust-access/access/{second}/compliance-resources/soc2_type2"));
    assert_eq!(marks(&file.send().await.body, GUEST), 1);
    let file = app.call("GET", &format!("/v1/trust-access/access/{second}/compliance-resources/iso_27001"));
    file.send().await.problem(404, "not_found");
    // A second request for it needs no review.
    let again = ask(json!(["soc2_type2"])).await.expect(201);
    app.mails().await;
    let again = app.get(&format!("/v1/trust-access/admin/requests/{}", id(&again))).send().await.expect(200);
    assert_eq!(again["status"], "approved");
    // After the revocation neither link opens it, and other visitors never had access to it.
    let grant = id(&signed["grant"]).to_owned();
    let revoke = format!("/v1/trust-access/admin/grants/{grant}/revoke");
    app.post(&revoke, &json!({"reason": "Over."})).send().await.expect(200);
    assert_eq!(readable(app, &token).await, (0, 1));
    let (other, _) = granted(app, &app.home, "ada@customer.example").await;
    assert_eq!(readable(app, &other).await, (0, 1));
}

async fn choices_are_checked(app: &TestApp) {
    publish(app, &app.home).await;
    upload(app, &app.home, "gdpr", &pdf(1)).await.expect(201);
    for (documents, message) in [
        (json!([{"document": "nothing", "visibility": "nda"}]), "framework of a certificate"),
        (json!([{"document": "gdpr", "visibility": "secret"}]), "must be one of: hidden"),
        (json!([{"document": "gdpr"}]), "is required"),
        (
            json!([{"document": "gdpr", "visibility": "nda"}, {"document": "gdpr", "visibility": "public"}]),
            "more than once",
        ),
        (json!({"gdpr": "nda"}), "must be an array"),
    ] {
        let refused = app.patch(SETTINGS, &json!({"documents": documents})).send().await;
        let problem = refused.problem(400, "validation_failed");
        assert!(problem["errors"][0]["message"].as_str().expect("a message").contains(message), "{problem}");
    }
    // The response does not reveal which documents are hidden.
    let path = format!("/v1/trust-access/{}/requests", app.home.organization);
    for document in ["gdpr", "iso_27001", "pol_01jcqg3v5mefzr7d0a6w3k9x2b"] {
        let body = json!({"name": "Grace", "email": GUEST, "documents": [document]});
        let refused = app.call("POST", &path).json(&body).send().await.problem(400, "validation_failed");
        assert_eq!(
            refused["errors"],
            json!([{"field": "documents[0]", "message": "is not a document of this portal"}])
        );
    }
    // A requested document may have been hidden meanwhile: hidden documents are not granted.
    choose(app, &app.home, "gdpr", "on_request").await.expect(200);
    let body = json!({"name": "Grace", "email": GUEST, "documents": ["gdpr"]});
    let asked = app.call("POST", &path).json(&body).send().await.expect(201);
    choose(app, &app.home, "gdpr", "hidden").await.expect(200);
    let approve = format!("/v1/trust-access/admin/requests/{}/approve", id(&asked));
    let named = app.post(&approve, &json!({"documents": ["gdpr"]})).send().await;
    named.problem(400, "validation_failed");
    app.call("POST", &approve).key(&app.home.key).send().await.expect(200);
    app.mails().await;
}

async fn a_neighbour_learns_nothing(app: &TestApp) {
    let neighbour = app.tenant("Neighbour", "neighbour@example.com").await;
    publish(app, &app.home).await;
    publish(app, &neighbour).await;
    let policy = published_policy(app, "Access Control Policy").await;
    choose(app, &app.home, &policy, "public").await.expect(200);
    // Another organization's policy gets the same response as a nonexistent one.
    for nothing in [policy.as_str(), "pol_01jcqg3v5mefzr7d0a6w3k9x2b"] {
        let refused = choose(app, &neighbour, nothing, "public").await;
        assert_eq!(refused.wrong_fields(), ["documents[0].document"]);
    }
    let path = format!("/v1/trust-access/{}/documents/{policy}", neighbour.organization);
    app.call("GET", &path).send().await.problem(404, "not_found");
    let portal = format!("/v1/trust-access/{}", neighbour.organization);
    assert_eq!(app.call("GET", &portal).send().await.expect(200)["documents"], json!([]));
    request(app, &neighbour, GUEST).await;
    app.mails().await;
}
