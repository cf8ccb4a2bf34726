//! `/v1/trust-portal`: settings, certificates, posts, subscribers, domains.

use attestry_hosting::testing::{Answers, FakeVercel, NameServer};
use attestry_tests::{Engine, TARGET, TestApp, both, id, run_with_domains, run_with_pdf_reader};
use serde_json::{Value, json};

use crate::portal::{certificate, choose, fetch, granted, marks, pdf, publish, slow_pdf, token_for, upload};

both! {
    settings_are_there_from_the_beginning,
    a_friendly_url_is_one_portals,
    a_draft_is_nobodys_business,
    the_public_sees_what_is_published,
    a_portal_is_rendered_again_when_something_on_it_changed,
    certificates_are_uploaded_and_replaced,
    certificates_are_checked,
    certificates_are_passive,
    certificates_are_read_within_limits,
    concurrent_uploads_leave_one_certificate,
    what_an_upload_left_is_swept,
    news_reach_those_who_confirmed,
    who_subscribes_to_an_organization_that_is_deleted_gets_no_mail,
    a_page_of_a_portal_is_escaped,
    nothing_on_a_portal_becomes_markup,
    a_preview_shows_changes_and_saves_nothing,
    previews_are_for_those_who_change_the_portal,
    a_process_lives_without_its_database,
}

const SETTINGS: &str = "/v1/trust-portal/settings";

async fn settings_are_there_from_the_beginning(app: &TestApp) {
    let first = app.get(SETTINGS).send().await;
    let tag = first.header("etag").expect("a tag").to_owned();
    let settings = first.expect(200);
    assert_eq!(settings["status"], "draft");
    assert_eq!(settings["friendlyUrl"], Value::Null);
    assert_eq!(settings["defaultDurationDays"], 30);
    assert_eq!(settings["frameworks"].as_array().map(Vec::len), Some(9));
    assert!(settings["frameworks"].as_array().expect("an array").iter().all(|one| one["enabled"] == false));
    app.get(SETTINGS).header("if-none-match", &tag).send().await.expect(304);
    let patch = json!({
        "friendlyUrl": "home", "contactEmail": "security@home.example", "overview": "Safe.",
        "frameworks": [{"framework": "gdpr", "enabled": true, "status": "in_progress"}],
        "ndaText": "# Hush", "defaultDurationDays": 7
    });
    let changed = app.patch(SETTINGS, &patch).header("if-match", &tag).send().await.expect(200);
    assert_eq!(changed["url"], "https://compliance.example.com/trust/home");
    let gdpr =
        changed["frameworks"].as_array().expect("an array").iter().find(|one| one["framework"] == "gdpr");
    assert_eq!(gdpr.expect("it")["status"], "in_progress");
    app.patch(SETTINGS, &json!({"ndaText": null}))
        .header("if-match", &tag)
        .send()
        .await
        .problem(412, "precondition_failed");
    let before = app.entries(&app.home).await;
    let same = app.patch(SETTINGS, &json!({})).send().await.expect(200);
    assert_eq!(same["updatedAt"], changed["updatedAt"]);
    assert_eq!(app.entries(&app.home).await, before, "nothing changed");
    let wrong = json!({
        "friendlyUrl": "Home!", "status": "public", "domain": "https://x", "contactEmail": "x", "frameworks": [{"framework": "iso"}],
        "defaultDurationDays": 366, "colour": "red"
    });
    assert_eq!(
        app.patch(SETTINGS, &wrong).send().await.wrong_fields(),
        ["colour", "contactEmail", "defaultDurationDays", "domain", "frameworks", "friendlyUrl", "status"]
    );
}

async fn a_friendly_url_is_one_portals(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines"})).send().await.expect(200);
    let taken = json!({"friendlyUrl": "engines"});
    let taken = app.call("PATCH", SETTINGS).key(&other.key).json(&taken).send().await;
    taken.problem(409, "friendly_url_taken");
    let deep = format!("{}x", "> ".repeat(200));
    assert_eq!(app.patch(SETTINGS, &json!({"ndaText": deep})).send().await.wrong_fields(), ["ndaText"]);
    app.patch(SETTINGS, &json!({"friendlyUrl": "admin"})).send().await.problem(400, "validation_failed");
}

async fn a_draft_is_nobodys_business(app: &TestApp) {
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines"})).send().await.expect(200);
    for name in
        ["engines", app.home.organization.as_str(), "nobody", "org_01jcqg3v5mefzr7d0a6w3k9x2b", "%2e%2e"]
    {
        app.call("GET", &format!("/v1/trust-access/{name}")).send().await.problem(404, "not_found");
        assert_eq!(app.call("GET", &format!("/trust/{name}")).send().await.status.as_u16(), 404);
        let ask = json!({"name": "Grace", "email": "grace@customer.example"});
        let path = format!("/v1/trust-access/{name}/requests");
        app.call("POST", &path).json(&ask).send().await.problem(404, "not_found");
    }
    assert!(app.mails().await.is_empty());
}

async fn the_public_sees_what_is_published(app: &TestApp) {
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines", "status": "published", "overview": "Safe."}))
        .send()
        .await
        .expect(200);
    app.vendor(json!({"name": "Cloudy", "isSubProcessor": true, "website": "https://cloudy.example"})).await;
    app.vendor(json!({"name": "Secret supplier"})).await;
    upload(app, &app.home, "soc2_type2", &pdf(1)).await.expect(201);
    choose(app, &app.home, "soc2_type2", "on_request").await.expect(200);
    let post =
        json!({"kind": "question", "title": "Where is our data?", "text": "In the EU.", "isPublished": true});
    app.post("/v1/trust-portal/posts", &post).send().await.expect(201);
    let draft = json!({"kind": "update", "title": "Not yet"});
    let draft = app.post("/v1/trust-portal/posts", &draft).send().await.expect(201);
    assert_eq!(draft["publishedAt"], Value::Null);
    let shown = app.call("GET", "/v1/trust-access/engines").send().await.expect(200);
    assert_eq!(
        shown,
        app.call("GET", &format!("/v1/trust-access/{}", app.home.organization)).send().await.expect(200)
    );
    assert_eq!(shown["name"], "Home");
    assert_eq!(
        shown["frameworks"],
        json!([{"framework": "soc2_type2", "title": "SOC 2 Type 2", "status": "compliant"}])
    );
    assert_eq!(
        shown["documents"],
        json!([{"document": "soc2_type2", "type": "certificate", "title": "SOC 2 Type 2", "visibility": "on_request"}])
    );
    assert_eq!(shown["subProcessors"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown["subProcessors"][0]["name"], "Cloudy");
    assert_eq!(shown["questions"][0]["title"], "Where is our data?");
    assert_eq!(shown["updates"], json!([]));
    // An explicit setting takes precedence over one derived from a certificate.
    let hide = json!({"frameworks": [{"framework": "soc2_type2", "enabled": false, "status": "compliant"}]});
    app.patch(SETTINGS, &hide).send().await.expect(200);
    let shown = app.call("GET", "/v1/trust-access/engines").send().await.expect(200);
    assert_eq!((&shown["frameworks"], &shown["documents"]), (&json!([]), &json!([])));
    app.call("GET", "/v1/trust-access/engines?x=1").send().await.problem(400, "validation_failed");
}

async fn a_portal_is_rendered_again_when_something_on_it_changed(app: &TestApp) {
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines", "status": "published"})).send().await.expect(200);
    let view = async |path: &'static str| {
        let shown = app.call("GET", path).send().await;
        (shown.status.as_u16(), shown.text())
    };
    let forms = ["/v1/trust-access/engines", "/trust/engines"];
    let rendered = app.ctx.portal_pages().rendered();
    let views = (0..40).map(|number| view(forms[number % 2]));
    let shown = futures_util::future::join_all(views).await;
    assert!(shown.iter().all(|(status, _)| *status == 200));
    assert_eq!(app.ctx.portal_pages().rendered() - rendered, 2, "once for each form");
    // Changes to data that is not on the page do not invalidate it.
    app.risk(json!({})).await;
    for path in forms {
        view(path).await;
    }
    assert_eq!(app.ctx.portal_pages().rendered() - rendered, 2);
    let everywhere = async |text: &str, is_there: bool| {
        for path in forms {
            let (status, shown) = view(path).await;
            assert_eq!((status, shown.contains(text)), (200, is_there), "{text} on {path}");
        }
    };
    let vendor = app.vendor(json!({"name": "Cloudy", "isSubProcessor": true})).await;
    everywhere("Cloudy", true).await;
    app.delete(&format!("/v1/vendors/{}", id(&vendor))).send().await.expect(200);
    everywhere("Cloudy", false).await;
    app.patch("/v1/organization", &json!({"name": "Renamed"})).send().await.expect(200);
    everywhere("Renamed", true).await;
    let post = json!({"kind": "question", "title": "Where?", "text": "Here.", "isPublished": true});
    let post = app.post("/v1/trust-portal/posts", &post).send().await.expect(201);
    everywhere("Where?", true).await;
    let path = format!("/v1/trust-portal/posts/{}", id(&post));
    app.patch(&path, &json!({"isPublished": false})).send().await.expect(200);
    everywhere("Where?", false).await;
    let policy = json!({"name": "Access control", "contentMarkdown": "Everybody has a key."});
    let policy = app.post("/v1/policies", &policy).send().await.expect(201);
    let path = format!("/v1/policies/{}", id(&policy));
    let ask = json!({"approverId": app.home.member});
    app.post(&format!("{path}/submit-for-approval"), &ask).send().await.expect(200);
    everywhere("Access control", false).await;
    app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    everywhere("Access control", false).await;
    choose(app, &app.home, id(&policy), "nda").await.expect(200);
    everywhere("Access control", true).await;
    app.patch(&path, &json!({"isArchived": true})).send().await.expect(200);
    everywhere("Access control", false).await;
    upload(app, &app.home, "iso_27001", &pdf(1)).await.expect(201);
    everywhere("ISO/IEC 27001", true).await;
    app.delete("/v1/trust-portal/compliance-resources/iso_27001").send().await.expect(200);
    everywhere("ISO/IEC 27001", false).await;
    app.patch(SETTINGS, &json!({"overview": "Safe."})).send().await.expect(200);
    everywhere("Safe.", true).await;
    app.patch(SETTINGS, &json!({"status": "draft"})).send().await.expect(200);
    for path in forms {
        assert_eq!(view(path).await.0, 404);
    }
    app.work().await;
}

async fn certificates_are_uploaded_and_replaced(app: &TestApp) {
    let first = pdf(1);
    let made = upload(app, &app.home, "iso_27001", &first).await.expect(201);
    assert_eq!(made["fileSize"], first.len());
    assert_eq!(made["fileName"], "certificate.pdf");
    let own = json!({"organizationId": app.home.organization});
    let list = "/v1/trust-portal/compliance-resources/list";
    assert_eq!(app.post(list, &own).send().await.expect(200), json!([made]));
    let named = json!({"organizationId": app.home.organization, "framework": "iso_27001"});
    let signed = "/v1/trust-portal/compliance-resources/signed-url";
    let link = app.post(signed, &named).send().await.expect(200);
    assert_eq!(fetch(app, &link["signedUrl"]).await, first);
    let second = pdf(2);
    upload(app, &app.home, "iso_27001", &second).await.expect(201);
    let after = app.post(list, &own).send().await.expect(200);
    assert_eq!(after.as_array().map(Vec::len), Some(1));
    app.work().await;
    let path = link["signedUrl"].as_str().expect("a link").replace("https://compliance.example.com", "");
    app.call("GET", &path).send().await.problem(404, "not_found");
    let link = app.post(signed, &named).send().await.expect(200);
    assert_eq!(fetch(app, &link["signedUrl"]).await, second);
    app.delete("/v1/trust-portal/compliance-resources/iso_27001").send().await.expect(200);
    app.work().await;
    app.post(signed, &named).send().await.problem(404, "not_found");
    app.delete("/v1/trust-portal/compliance-resources/iso_27001").send().await.problem(404, "not_found");
    assert_eq!(app.post(list, &own).send().await.expect(200), json!([]));
    assert_eq!(blobs(app).await, 0, "no file is left");
}

async fn blobs(app: &TestApp) -> usize {
    use futures_util::StreamExt;
    app.ctx.blobs.list(None).count().await
}

/// A file with active content is rejected with the reason.
async fn certificates_are_passive(app: &TestApp) {
    let file = String::from_utf8(pdf(1)).expect("text");
    for (action, word) in [
        ("/OpenAction<</S/JavaScript/JS(app.alert(1))>>", "JavaScript"),
        ("/OpenAction<</S/Launch/F(calc.exe)>>", "start a program"),
        ("/OpenAction<</S/GoToE/T<</R/C/N(a.pdf)>>>>", "attachments"),
    ] {
        let changed = file.replace("<</Type/Catalog", &format!("<<{action}/Type/Catalog"));
        assert_ne!(changed, file);
        let refused = upload(app, &app.home, "iso_27001", changed.as_bytes()).await;
        let problem = refused.problem(400, "file_refused");
        assert!(problem["detail"].as_str().expect("text").contains(word), "{problem}");
    }
}

/// A file that exceeds the limits of its process is rejected, and the others are read meanwhile and afterwards.
async fn certificates_are_read_within_limits(app: &TestApp) {
    let (small, file) = (pdf(1), slow_pdf());
    let (refused, accepted) =
        tokio::join!(upload(app, &app.home, "iso_27001", &file), upload(app, &app.home, "iso_42001", &small));
    assert!(refused.problem(400, "file_refused").to_string().contains("too complex"));
    accepted.expect(201);
    assert!(app.take_warnings().iter().any(|line| line.contains("within the limits")));
    upload(app, &app.home, "iso_27001", &small).await.expect(201);
}

#[test]
fn without_a_confined_process_certificates_are_unavailable() {
    run_with_pdf_reader(Engine::Sqlite, "/bin/true", async |app| {
        upload(app, &app.home, "iso_27001", &pdf(1)).await.problem(503, "unavailable");
        assert!(!app.take_errors().is_empty());
        assert_eq!(blobs(app).await, 0);
    });
}

async fn certificates_are_checked(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let path = "/v1/trust-portal/compliance-resources/upload";
    let good = certificate(&app.home, "iso_27001", &pdf(1));
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    let missing = app.post(path, &json!({})).send().await.wrong_fields();
    assert_eq!(missing, ["fileData", "fileName", "fileType", "framework", "organizationId"]);
    // The organization is checked before the file.
    let mut foreign = with("fileData", json!("not base64!"));
    foreign["organizationId"] = json!(other.organization);
    app.post(path, &foreign).send().await.problem(403, "organization_mismatch");
    for data in [
        "",
        "not base64!",
        "aGVsbG8",
        "aGVs bG8=",
        "aGVsbG8=\n",
        "data:application/pdf;base64,aGVsbG8=",
        "-_-_",
    ] {
        assert_eq!(
            app.post(path, &with("fileData", json!(data))).send().await.wrong_fields(),
            ["fileData"],
            "{data:?}"
        );
    }
    let large = vec![b'%'; (10 << 20) + 1];
    app.post(path, &certificate(&app.home, "iso_27001", &large)).send().await.problem(413, "file_too_large");
    assert_eq!(
        app.post(path, &with("fileType", json!("image/png"))).send().await.wrong_fields(),
        ["fileType"]
    );
    assert_eq!(
        app.post(path, &with("framework", json!("iso27001"))).send().await.wrong_fields(),
        ["framework"]
    );
    let protected = String::from_utf8_lossy(&pdf(1))
        .replace("/Root 1 0 R", "/Root 1 0 R/Encrypt<</Filter/Standard/V 1/R 2/O(x)/U(x)/P -4>>");
    for (file, says) in [
        (b"hello".to_vec(), "not a PDF"),
        (b"%PDF-1.7 and nothing else".to_vec(), "damaged"),
        (pdf(1)[..40].to_vec(), "damaged"),
        (protected.into_bytes(), "password"),
    ] {
        let refused = app.post(path, &certificate(&app.home, "iso_27001", &file)).send().await;
        let refused = refused.problem(400, "file_refused");
        assert!(refused["detail"].as_str().expect("a text").contains(says), "{refused}");
    }
    // A path in the name is removed, and an executable's name is rejected.
    let odd = with("fileName", json!("../../etc/Zertifikat \u{202e}2026.pdf"));
    assert_eq!(app.post(path, &odd).send().await.expect(201)["fileName"], "Zertifikat 2026.pdf");
    assert_eq!(app.post(path, &with("fileName", json!("x.exe"))).send().await.wrong_fields(), ["fileName"]);
    app.work().await;
    let files = blobs(app).await;
    assert_eq!(files, 1, "what was refused left nothing");
}

async fn concurrent_uploads_leave_one_certificate(app: &TestApp) {
    let uploads =
        (1..=4).map(|pages| async move { upload(app, &app.home, "gdpr", &pdf(pages)).await.expect(201) });
    futures_util::future::join_all(uploads).await;
    app.work().await;
    let own = json!({"organizationId": app.home.organization});
    let list = app.post("/v1/trust-portal/compliance-resources/list", &own).send().await.expect(200);
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    assert_eq!(blobs(app).await, 1);
}

async fn what_an_upload_left_is_swept(app: &TestApp) {
    publish(app, &app.home).await;
    granted(app, &app.home, "grace@customer.example").await;
    let requests = app.get("/v1/trust-access/admin/requests").send().await.expect(200);
    let request = id(&requests["data"][0]).to_owned();
    upload(app, &app.home, "gdpr", &pdf(1)).await.expect(201);
    let preview = format!("/v1/trust-access/admin/requests/{request}/preview-nda");
    app.call("POST", &preview).key(&app.home.key).send().await.expect(200);
    // A process that died between storing a file and writing its row.
    let organization = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
    let orphan: attestry_domain::id::CertificateId = app.ctx.ids.next();
    let key = attestry_blobs::Key::new(organization, attestry_blobs::Folder::Certificates, orphan);
    app.ctx.blobs.create(&key).finish().await.expect("a file");
    let before = blobs(app).await;
    app.housekeeping().await;
    assert_eq!(blobs(app).await, before, "what is young stays");
    app.clock.advance(std::time::Duration::from_hours(49));
    app.housekeeping().await;
    assert_eq!(
        blobs(app).await,
        2,
        "the certificate and the signed agreement stay; the preview and the orphan go"
    );
    app.mails().await;
}

async fn news_reach_those_who_confirmed(app: &TestApp) {
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines", "status": "published"})).send().await.expect(200);
    let subscribe = async |email: &str| {
        app.call("POST", "/v1/trust-access/engines/subscribers").json(&json!({"email": email})).send().await
    };
    let first = subscribe("grace@customer.example").await.expect(200);
    let token = token_for(app, "grace@customer.example").await;
    subscribe("never@customer.example").await.expect(200);
    app.mails().await;
    let publish = async |title: &str| {
        let post = json!({"kind": "update", "title": title, "text": "Read it.", "isPublished": true});
        app.post("/v1/trust-portal/posts", &post).send().await.expect(201);
        app.mails().await
    };
    assert!(publish("Too early").await.is_empty());
    let confirm = json!({"token": token});
    app.call("POST", "/v1/trust-access/subscriptions/confirm").json(&confirm).send().await.expect(200);
    app.call("POST", "/v1/trust-access/subscriptions/confirm").json(&confirm).send().await.expect(200);
    assert_eq!(app.get(SETTINGS).send().await.expect(200)["subscriberCount"], 1);
    // An existing subscriber gets the same response after the same work, and no mail.
    let jobs = async || {
        let sql = "SELECT COUNT(*) FROM jobs";
        app.ctx.db.read(async move |t| t.one(sql, &[], |row| row.int(0)).await).await.expect("a number")
    };
    let (entries, queued) = (app.entries(&app.home).await, jobs().await);
    assert_eq!(subscribe("Grace@Customer.example").await.expect(200), first);
    assert_eq!((app.entries(&app.home).await, jobs().await), (entries, queued + 1));
    assert!(app.mails().await.is_empty());
    assert_eq!(subscribe("new@customer.example").await.expect(200), first);
    assert_eq!((app.entries(&app.home).await, jobs().await), (entries, queued + 1));
    assert_eq!(app.mails().await.len(), 1);
    let mails = publish("A new report").await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to_address, "grace@customer.example");
    assert!(mails[0].subject.contains("A new report") && mails[0].text.contains("Read it."), "{mails:?}");
    // Editing a published post sends no second notification.
    let posts = app.get("/v1/trust-portal/posts?kind=update&total=true").send().await.expect(200);
    assert_eq!(posts["total"], 2);
    let path = format!("/v1/trust-portal/posts/{}", id(&posts["data"][0]));
    for patch in [json!({"text": "Really."}), json!({"isPublished": false}), json!({"isPublished": true})] {
        app.patch(&path, &patch).send().await.expect(200);
    }
    assert!(app.mails().await.is_empty());
    let link = mails[0].unsubscribe.as_deref().expect("a link").replace("https://compliance.example.com", "");
    let (_, rest) = mails[0].text.split_once("/trust/leave?token=").expect("a link");
    let leave = json!({"token": rest.split_whitespace().next()});
    app.call("POST", "/v1/trust-access/subscriptions/unsubscribe").json(&leave).send().await.expect(200);
    app.call("POST", "/v1/trust-access/subscriptions/unsubscribe").json(&leave).send().await.expect(200);
    assert!(publish("Too late").await.is_empty());
    // Unsubscribing again succeeds, also through the mail client.
    let form = "application/x-www-form-urlencoded";
    let again = app.call("POST", &link).raw(form, "List-Unsubscribe=One-Click").send().await;
    assert_eq!((again.status.as_u16(), again.text().as_str()), (200, "You are unsubscribed.\n"));
    app.call("POST", "/v1/trust-access/subscriptions/confirm")
        .json(&confirm)
        .send()
        .await
        .problem(410, "link_expired");
    let entries = app.get("/v1/audit-logs?limit=1000").send().await.expect(200);
    assert!(!entries.to_string().contains("grace@customer.example"), "who left is forgotten");
    app.delete(&path).send().await.expect(200);
    app.get(&path).send().await.problem(404, "not_found");
    // Unconfirmed subscriptions are deleted after a week.
    app.clock.advance(std::time::Duration::from_hours(8 * 24));
    app.housekeeping().await;
    let known =
        app.ctx.db.read(async |t| t.one("SELECT COUNT(*) FROM subscribers", &[], |row| row.int(0)).await);
    assert_eq!(known.await.expect("a number"), 0);
    app.mails().await;
}

async fn who_subscribes_to_an_organization_that_is_deleted_gets_no_mail(app: &TestApp) {
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines", "status": "published"})).send().await.expect(200);
    let body = json!({"email": "grace@customer.example"});
    app.call("POST", "/v1/trust-access/engines/subscribers").json(&body).send().await.expect(200);
    app.delete("/v1/organization").json(&json!({"name": "Home"})).send().await.expect(200);
    let mails = app.mails().await;
    assert!(mails.iter().all(|mail| mail.to_address != "grace@customer.example"), "{mails:?}");
}

async fn a_page_of_a_portal_is_escaped(app: &TestApp) {
    let patch = json!({
        "friendlyUrl": "engines", "status": "published", "overview": "<script>alert(1)</script> & \"more\"\n\nSecond",
        "contactEmail": "a'b@home.example"
    });
    app.patch(SETTINGS, &patch).send().await.expect(200);
    app.vendor(json!({"name": "<b>Cloudy</b>", "isSubProcessor": true})).await;
    let page = app.call("GET", "/trust/engines").send().await;
    assert_eq!(page.status.as_u16(), 200);
    let text = page.text();
    assert!(!text.contains("<script>alert") && !text.contains("<b>Cloudy"), "{text}");
    assert!(text.contains("<p>Second</p>") && text.contains("og:title"), "{text}");
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("script-src 'self'; style-src 'self';"), "{policy}");
    let german = app.call("GET", "/trust/engines").header("accept-language", "de-CH, en;q=0.5").send().await;
    assert!(german.text().contains("<html lang=\"de\">"), "{}", german.text());
    // A browser gets a page for a 404, too.
    let nothing = app.call("GET", "/trust/nobody").header("accept", "text/html").send().await;
    assert_eq!(nothing.status.as_u16(), 404);
    assert!(nothing.text().contains("<h1>Nothing here</h1>"), "{}", nothing.text());
    app.call("GET", "/trust/nobody").send().await.problem(404, "not_found");
}

/// Text that ends an element or an attribute and begins a script.
const HOSTILE: &str = "</p></title>\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{1}}";

/// Fills every field that a portal shows with markup, and looks at the page and its preview.
async fn nothing_on_a_portal_becomes_markup(app: &TestApp) {
    app.patch("/v1/organization", &json!({"name": HOSTILE, "website": "https://x.example/?a='b&c"}))
        .send()
        .await
        .expect(200);
    app.patch("/v1/organization", &json!({"website": "javascript:alert(1)"}))
        .send()
        .await
        .problem(400, "validation_failed");
    let patch = json!({
        "friendlyUrl": "engines", "status": "published", "overview": HOSTILE,
        "contactEmail": "a'onfocus='alert&b@home.example"
    });
    app.patch(SETTINGS, &patch).send().await.expect(200);
    let vendor = json!({
        "name": HOSTILE, "description": HOSTILE, "isSubProcessor": true, "website": "https://x.example/?a='b&c"
    });
    app.vendor(vendor).await;
    for kind in ["update", "question"] {
        let post = json!({"kind": kind, "title": HOSTILE, "text": HOSTILE, "isPublished": true});
        app.post("/v1/trust-portal/posts", &post).send().await.expect(201);
    }
    for visibility in ["public", "nda", "on_request"] {
        let policy = json!({"name": format!("{visibility} {HOSTILE}"), "contentMarkdown": "Text."});
        let policy = app.post("/v1/policies", &policy).send().await.expect(201);
        let path = format!("/v1/policies/{}", id(&policy));
        let ask = json!({"approverId": app.home.member});
        app.post(&format!("{path}/submit-for-approval"), &ask).send().await.expect(200);
        app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
        choose(app, &app.home, id(&policy), visibility).await.expect(200);
    }
    app.mails().await;
    for page in [
        app.call("GET", "/trust/engines").send().await,
        app.post(PREVIEW, &json!({"overview": HOSTILE})).send().await,
    ] {
        assert_eq!(page.status.as_u16(), 200);
        let text = page.text();
        for markup in ["<script>", "<img", "\"'>", "'onfocus='", "='b", "javascript:"] {
            assert!(!text.contains(markup), "{markup} in {text}");
        }
        assert!(text.matches("alert(1)&#60;/script&#62;").count() > 15, "{text}");
        assert!(text.contains("nda ") && text.contains("{{1}}"), "{text}");
    }
}

const PREVIEW: &str = "/v1/trust-portal/preview";

async fn a_preview_shows_changes_and_saves_nothing(app: &TestApp) {
    app.patch(SETTINGS, &json!({"friendlyUrl": "engines", "overview": "Safe."})).send().await.expect(200);
    app.vendor(json!({"name": "Cloudy", "isSubProcessor": true})).await;
    let (settings, entries) = (app.get(SETTINGS).send().await.expect(200), app.entries(&app.home).await);
    let draft = json!({
        "overview": "Safer.\n\nEvery day.", "contactEmail": "new@home.example", "status": "published",
        "frameworks": [{"framework": "gdpr", "enabled": true, "status": "in_progress"}],
    });
    let key = "a preview";
    for _ in 0..2 {
        let page = app.post(PREVIEW, &draft).header("idempotency-key", key).send().await;
        assert_eq!(page.status.as_u16(), 200, "{}", page.text());
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.ends_with("sandbox") && !policy.contains("script-src"), "{policy}");
        let text = page.text();
        for shown in
            ["<p>Safer.</p>", "<p>Every day.</p>", "new@home.example", "GDPR", "In progress", "Cloudy"]
        {
            assert!(text.contains(shown), "{shown} in {text}");
        }
        assert!(!text.contains("<script") && !text.contains("Safe.<"), "{text}");
    }
    let german = app.post(PREVIEW, &json!({})).header("accept-language", "de").send().await.text();
    assert!(german.contains("<html lang=\"de\">") && german.contains("<p>Safe.</p>"), "{german}");
    let emptied = app.post(PREVIEW, &json!({"overview": null})).send().await.text();
    assert!(emptied.contains("<h1>Security at Home</h1>") && !emptied.contains("Safe."), "{emptied}");
    let wrong = json!({"contactEmail": "x", "overview": "x".repeat(200_000), "colour": "red"});
    assert_eq!(app.post(PREVIEW, &wrong).send().await.wrong_fields(), ["colour", "contactEmail", "overview"]);
    let many = (0..30).map(|_| app.post(PREVIEW, &draft).send());
    assert!(futures_util::future::join_all(many).await.iter().all(|page| page.status.as_u16() == 200));

    assert_eq!(app.get(SETTINGS).send().await.expect(200), settings);
    assert_eq!(app.entries(&app.home).await, entries);
    app.call("GET", "/trust/engines").send().await.problem(404, "not_found");
    publish(app, &app.home).await;
    let page = app.call("GET", "/trust/engines").send().await.text();
    assert!(page.contains("<p>Safe.</p>") && !page.contains("Safer."), "{page}");
    assert!(page.contains("<script type=\"module\" src=\"/assets/portal.js\">"), "{page}");
}

async fn previews_are_for_those_who_change_the_portal(app: &TestApp) {
    app.call("POST", PREVIEW).json(&json!({})).send().await.problem(401, "missing_credentials");
    let reader = app.key(&["trust-portal:read"]).await;
    app.post(PREVIEW, &json!({})).key(&reader).send().await.problem(403, "forbidden");
    let writer = app.key(&["trust-portal:update"]).await;
    app.patch(SETTINGS, &json!({"overview": "Ours."})).send().await.expect(200);
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app.post(PREVIEW, &json!({})).key(&other.key).send().await.text();
    assert!(theirs.contains("<h1>Security at Other</h1>") && !theirs.contains("Ours."), "{theirs}");
    assert!(app.post(PREVIEW, &json!({})).key(&writer).send().await.text().contains("<p>Ours.</p>"));
}

/// Host names are resolved through the database, but the liveness check does not depend on it.
async fn a_process_lives_without_its_database(app: &TestApp) {
    let run = async |sql: &'static str| {
        app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("it runs");
    };
    run("ALTER TABLE portals RENAME TO away").await;
    let live = app.call("GET", "/health/live").header("host", "attestry.internal.example").send().await;
    run("ALTER TABLE away RENAME TO portals").await;
    live.expect(200);
}

/// A custom domain with a real name server.
mod a_domain_is_verified_by_dns {
    use super::*;

    #[test]
    fn sqlite() {
        run_with_domains(Engine::Sqlite, name_server, async |app, names| super::verify(app, &names).await);
    }

    #[test]
    fn postgres() {
        run_with_domains(Engine::Postgres, name_server, async |app, names| super::verify(app, &names).await);
    }

    async fn name_server() -> (attestry_hosting::Settings, NameServer) {
        let names = NameServer::start(&["customer.example", "example.com"]).await.expect("a name server");
        names.set("example.com", "compliance A 192.0.2.1\n").await.expect("a zone");
        (attestry_hosting::Settings::Dns(names.settings(TARGET)), names)
    }
}

const DOMAIN: &str = "trust.customer.example";

async fn verify(app: &TestApp, names: &NameServer) {
    let path = format!("/v1/trust-portal/domain/status?domain={DOMAIN}");
    let status = app.get(&path).send().await.expect(200);
    assert_eq!((&status["verified"], &status["misconfigured"]), (&json!(false), &json!(true)));
    assert_eq!(status["cnameTarget"], TARGET);
    let records = status["verification"].as_array().expect("records");
    let challenge = records.iter().find(|one| one["type"] == "TXT").expect("a challenge");
    assert!(challenge["reason"].as_str().expect("a reason").contains("No TXT record"), "{challenge}");
    let value = challenge["value"].as_str().expect("a value").to_owned();
    // Another organization gets a different record to create.
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app.call("GET", &path).key(&other.key).send().await.expect(200);
    assert!(!theirs.to_string().contains(&value));
    for bad in ["", "?domain=", "?domain=https://x.example", "?domain=localhost", "?domain=1.2.3.4"] {
        app.get(&format!("/v1/trust-portal/domain/status{bad}"))
            .send()
            .await
            .problem(400, "validation_failed");
    }
    app.patch(SETTINGS, &json!({"domain": "Trust.Customer.Example", "status": "published"}))
        .send()
        .await
        .expect(200);
    let ask = async |app: &TestApp| {
        app.call("GET", &format!("/internal/tls/ask?domain={DOMAIN}")).send().await.status.as_u16()
    };
    assert_eq!(ask(app).await, 404);
    let zone = format!("trust CNAME {TARGET}.\n_attestry-challenge.trust TXT \"{value}\"\n");
    names.set("customer.example", &zone).await.expect("a zone");
    let status = app.get(&path).send().await.expect(200);
    assert_eq!(status["verified"], true);
    assert_eq!(status["verification"], json!([]));
    assert_ne!(app.get(SETTINGS).send().await.expect(200)["domainVerifiedAt"], Value::Null);
    assert_eq!(ask(app).await, 200);
    assert_eq!(app.call("GET", "/internal/tls/ask?domain=other.example").send().await.status.as_u16(), 404);
    app.call("GET", &path).key(&other.key).send().await.problem(409, "domain_taken");
    let claim = json!({"domain": DOMAIN});
    app.call("PATCH", SETTINGS).key(&other.key).json(&claim).send().await.problem(409, "domain_taken");
    publish(app, &other).await;

    // The domain serves this portal and nothing else.
    let at = |method: &str, path: &str| app.call(method, path).header("host", &format!("{DOMAIN}:8443"));
    let page = at("GET", "/").send().await;
    assert!(page.text().contains("<h1>Security at Home</h1>"), "{}", page.text());
    at("GET", &format!("/v1/trust-access/{}", app.home.organization)).send().await.expect(200);
    at("GET", &format!("/v1/trust-access/{}", other.organization)).send().await.problem(404, "not_found");
    for hidden in [
        "/v1/health",
        "/v1/people",
        "/setup",
        "/sign-in",
        "/docs",
        "/metrics",
        "/health/live",
        "/v1/openapi.json",
        "/v1/trust-access/admin/requests",
        "/internal/tls/ask?domain=x.example",
    ] {
        assert_eq!(at("GET", hidden).key(&app.home.key).begin().await.status().as_u16(), 404, "{hidden}");
    }
    // An unpublished portal's domain serves nothing, not even the rest of the server.
    app.patch(SETTINGS, &json!({"status": "draft"})).send().await.expect(200);
    for path in ["/", "/sign-in", "/v1/health"] {
        assert_eq!(at("GET", path).begin().await.status().as_u16(), 404, "{path}");
    }
    publish(app, &app.home).await;
    let (token, _) = granted(app, &app.home, "grace@customer.example").await;
    at("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
    let (theirs, _) = granted(app, &other, "grace@customer.example").await;
    at("GET", &format!("/v1/trust-access/access/{theirs}")).send().await.problem(404, "not_found");
    app.call("GET", &format!("/v1/trust-access/access/{theirs}")).send().await.expect(200);
    app.mails().await;

    // When its records become invalid, the reviewers are notified once, and the domain is released after a while.
    names.set("customer.example", "trust A 203.0.113.7\n").await.expect("a zone");
    let told = async |app: &TestApp| {
        app.clock.advance(std::time::Duration::from_hours(1));
        app.housekeeping().await;
        app.mails().await.into_iter().filter(|mail| mail.text.contains(DOMAIN)).count()
    };
    assert_eq!(told(app).await, 1);
    assert_eq!(told(app).await, 0);
    assert_ne!(app.get(SETTINGS).send().await.expect(200)["domainBrokenAt"], Value::Null);
    assert_eq!(ask(app).await, 200);
    names.set("customer.example", &zone).await.expect("a zone");
    app.clock.advance(std::time::Duration::from_mins(2));
    assert_eq!(told(app).await, 1, "it works again");
    names.set("customer.example", "trust A 203.0.113.7\n").await.expect("a zone");
    assert_eq!(told(app).await, 1);
    app.clock.advance(std::time::Duration::from_hours(72));
    assert_eq!(told(app).await, 1);
    assert_eq!(app.get(SETTINGS).send().await.expect(200)["domainVerifiedAt"], Value::Null);
    assert_eq!(ask(app).await, 404);
    assert_eq!(at("GET", "/v1/health").send().await.status.as_u16(), 200, "a host like any other");
}

/// A name server that does not respond is an upstream error.
#[test]
fn a_domain_that_cannot_be_looked_up_is_a_502() {
    let silent = async || {
        let mut settings = attestry_hosting::DnsSettings::new(TARGET);
        settings.servers = vec!["127.0.0.1:9".parse().expect("an address")];
        settings.timeout = std::time::Duration::from_millis(200);
        (attestry_hosting::Settings::Dns(settings), ())
    };
    for engine in [Engine::Sqlite, Engine::Postgres] {
        run_with_domains(engine, silent, async |app, ()| {
            let path = format!("/v1/trust-portal/domain/status?domain={DOMAIN}");
            app.get(&path).send().await.problem(502, "domain_check_failed");
        });
    }
}

/// The hosting provider verifies the domain.
#[test]
fn a_domain_is_verified_by_vercel() {
    let vercel = async || {
        let fake = FakeVercel::start().await.expect("a provider");
        (attestry_hosting::Settings::Vercel(fake.settings().expect("settings")), fake)
    };
    let body = async |app: &TestApp, vercel: FakeVercel| {
        let path = format!("/v1/trust-portal/domain/status?domain={DOMAIN}");
        app.get(&path).send().await.problem(404, "not_found");
        vercel.set(DOMAIN, Answers::verified(DOMAIN).unverified(DOMAIN, "vc-domain-verify=x"));
        let status = app.get(&path).send().await.expect(200);
        assert_eq!(status["verified"], false);
        assert_eq!(status["verification"][0]["value"], "vc-domain-verify=x");
        app.patch(SETTINGS, &json!({"domain": DOMAIN, "status": "published"})).send().await.expect(200);
        vercel.set(DOMAIN, Answers::verified(DOMAIN));
        assert_eq!(app.get(&path).send().await.expect(200)["verified"], true);
        assert_ne!(app.get(SETTINGS).send().await.expect(200)["domainVerifiedAt"], Value::Null);
        vercel.always(attestry_hosting::testing::Reply::Json(500, json!({})));
        let down = app.get(&path).send().await.problem(502, "domain_check_failed");
        for inside in [attestry_hosting::testing::TOKEN, "127.0.0.1", "500"] {
            assert!(!down.to_string().contains(inside), "{down}");
        }
        let logged = app.take_warnings().concat();
        assert!(logged.contains("is failing (500)") && logged.contains("request_id="), "{logged}");
        vercel.always(attestry_hosting::testing::Reply::Json(429, json!({})));
        let busy = app.get(&path).send().await;
        busy.problem(503, "hosting_busy");
        assert_eq!(busy.header("retry-after"), Some("10"));
    };
    for engine in [Engine::Sqlite, Engine::Postgres] {
        run_with_domains(engine, vercel, body);
    }
}

/// A watermark is drawn on each page, whatever the script of the reader's name.
#[test]
fn names_of_all_scripts_are_marked() {
    attestry_tests::run(Engine::Sqlite, async |app| {
        publish(app, &app.home).await;
        upload(app, &app.home, "gdpr", &pdf(3)).await.expect(201);
        choose(app, &app.home, "gdpr", "nda").await.expect(200);
        for (email, name) in [
            ("wang@customer.example", "王小明"),
            ("ivan@customer.example", "Иван Ω"),
            ("sara@customer.example", "سارة"),
        ] {
            let path = format!("/v1/trust-access/{}/requests", app.home.organization);
            let ask = json!({"name": name, "email": email});
            let request = app.call("POST", &path).json(&ask).send().await.expect(201);
            app.mails().await;
            let path = format!("/v1/trust-access/admin/requests/{}/approve", id(&request));
            app.call("POST", &path).key(&app.home.key).send().await.expect(200);
            let nda = token_for(app, email).await;
            let body = json!({"name": name, "email": email, "accept": true});
            let signed = app
                .call("POST", &format!("/v1/trust-access/nda/{nda}/sign"))
                .json(&body)
                .send()
                .await
                .expect(200);
            app.mails().await;
            let token = crate::portal::token_of(&signed["portalUrl"]);
            let file = app
                .call("GET", &format!("/v1/trust-access/access/{token}/compliance-resources/gdpr"))
                .send()
                .await;
            assert_eq!(marks(&file.body, name), 3, "{name}");
        }
    });
}
