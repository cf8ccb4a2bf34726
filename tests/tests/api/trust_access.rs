//! `/v1/trust-access`: from the access request to reading, and every kind of rejection.

use std::time::Duration;

use attestry_app::files::signatures::{Verdict, check};
use attestry_tests::{Engine, TestApp, both, id, run_with_pdf_reader};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::portal::{
    GUEST, approved, choose, fetch, granted, marks, pdf, publish, request, sign, slow_pdf, text, token_for,
    token_of, upload,
};

both! {
    the_whole_journey,
    requests_and_grants_are_sorted_and_filtered,
    requests_are_reviewed_once,
    nothing_shows_who_has_access,
    agreements_expire_and_are_replaced,
    an_agreement_is_signed_by_the_one_who_asked,
    two_signatures_at_once_are_one,
    an_own_agreement_is_used,
    access_ends,
    reviewers_are_told,
    mail_to_an_address_is_limited,
    links_that_are_used_stay,
    agreements_can_be_printed,
    files_on_their_way_are_few,
    uploaded_policies_are_marked,
    hostile_policy_file_is_refused_while_others_are_served,
    a_deleted_organization_lets_nobody_in,
    links_in_mails_open_pages,
    pages_of_links_are_escaped,
}

const REQUESTS: &str = "/v1/trust-access/admin/requests";

async fn policy(app: &TestApp, name: &str) -> String {
    let made = app
        .post("/v1/policies", &json!({"name": name, "contentMarkdown": "# Rules\n\nBe careful."}))
        .send()
        .await;
    let path = format!("/v1/policies/{}", id(&made.expect(201)));
    app.post(&format!("{path}/submit-for-approval"), &json!({"approverId": app.home.member}))
        .send()
        .await
        .expect(200);
    app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    app.mails().await;
    path.rsplit('/').next().expect("an id").to_owned()
}

/// Returns all rows of a list, in pages of two, by their addresses.
async fn in_pages(app: &TestApp, path: &str) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.get(&format!("{path}&limit=2{cursor}")).send().await.expect(200);
        let rows = page["data"].as_array().expect("data").iter();
        seen.extend(rows.map(|row| row["email"].as_str().expect("an address").to_owned()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return seen,
        }
    }
}

async fn requests_and_grants_are_sorted_and_filtered(app: &TestApp) {
    publish(app, &app.home).await;
    let asking = format!("/v1/trust-access/{}/requests", app.home.organization);
    for (name, email, company, purpose) in [
        ("Cleo", "c@customer.example", Some("Anvil"), None),
        ("ada", "a@customer.example", None, Some("zebra")),
        ("Bert", "b@customer.example", Some("bolt"), Some("Audit")),
    ] {
        app.clock.advance(Duration::from_millis(1));
        let mut body = json!({"name": name, "email": email});
        for (field, value) in [("company", company), ("purpose", purpose)] {
            body.as_object_mut()
                .expect("an object")
                .extend(value.map(|value| (field.to_owned(), json!(value))));
        }
        app.call("POST", &asking).json(&body).send().await.expect(201);
    }
    let denied = &app.get(&format!("{REQUESTS}?order=asc")).send().await.expect(200)["data"][0];
    let deny = format!("{REQUESTS}/{}/deny", id(denied));
    app.post(&deny, &json!({"reason": "No."})).send().await.expect(200);
    let of = |letters: [&str; 3]| letters.map(|letter| format!("{letter}@customer.example"));
    for (sort, up) in [
        ("createdAt", ["c", "a", "b"]),
        ("name", ["a", "b", "c"]),
        ("company", ["a", "c", "b"]),
        ("purpose", ["c", "b", "a"]),
        ("status", ["a", "b", "c"]),
    ] {
        let mut down = of(up);
        assert_eq!(in_pages(app, &format!("{REQUESTS}?sort={sort}&order=asc")).await, down, "{sort}");
        down.reverse();
        assert_eq!(in_pages(app, &format!("{REQUESTS}?sort={sort}")).await, down, "{sort}");
    }
    let some = format!("{REQUESTS}?status=denied,approved&total=true");
    assert_eq!(app.get(&some).send().await.expect(200)["total"], 1);
    app.get(&format!("{REQUESTS}?status=open")).send().await.problem(400, "validation_failed");
    app.get(&format!("{REQUESTS}?sort=email")).send().await.problem(400, "validation_failed");

    let grants = "/v1/trust-access/admin/grants";
    let mut made = Vec::new();
    for email in ["a@customer.example", "b@customer.example", "c@customer.example"] {
        app.clock.advance(Duration::from_hours(1));
        made.push(granted(app, &app.home, email).await.1);
    }
    let revoke = format!("{grants}/{}/revoke", made[1]);
    app.post(&revoke, &json!({"reason": "Left."})).send().await.expect(200);
    for (sort, up) in [
        ("createdAt", ["a", "b", "c"]),
        ("status", ["a", "c", "b"]),
        ("endsAt", ["b", "a", "c"]),
        ("revocationReason", ["a", "c", "b"]),
        ("name", ["a", "b", "c"]),
    ] {
        let mut down = of(up);
        assert_eq!(in_pages(app, &format!("{grants}?sort={sort}&order=asc")).await, down, "{sort}");
        down.reverse();
        assert_eq!(in_pages(app, &format!("{grants}?sort={sort}")).await, down, "{sort}");
    }
    let total = async |status: &str| {
        app.get(&format!("{grants}?status={status}&total=true")).send().await.expect(200)["total"].clone()
    };
    assert_eq!((total("active").await, total("revoked,expired").await), (json!(2), json!(1)));
    app.clock.advance(Duration::from_hours(24 * 400));
    assert_eq!((total("active").await, total("revoked,expired").await), (json!(0), json!(3)));
}

#[expect(clippy::too_many_lines, reason = "one journey from its beginning to its end")]
async fn the_whole_journey(app: &TestApp) {
    app.patch("/v1/trust-portal/settings", &json!({"friendlyUrl": "engines", "status": "published"}))
        .send()
        .await
        .expect(200);
    upload(app, &app.home, "iso_27001", &pdf(3)).await.expect(201);
    let policy = policy(app, "Access Control Policy").await;
    for document in ["iso_27001", &policy] {
        choose(app, &app.home, document, "nda").await.expect(200);
    }
    let hidden = app
        .post("/v1/policies", &json!({"name": "Draft", "contentMarkdown": "Secret."}))
        .send()
        .await
        .expect(201);

    let ask = json!({"name": "Grace Hopper", "email": GUEST, "company": "Customer Inc.", "jobTitle": "Analyst", "purpose": "Assessment", "requestedDurationDays": 10});
    let taken = app.call("POST", "/v1/trust-access/engines/requests").json(&ask).send().await.expect(201);
    assert_eq!(taken["status"], "under_review");
    app.mails().await;
    let listed = app.get(&format!("{REQUESTS}?status=under_review&total=true")).send().await.expect(200);
    assert_eq!(listed["total"], 1);
    assert_eq!(listed["data"][0]["id"], taken["id"]);
    let path = format!("{REQUESTS}/{}", id(&taken));
    let preview =
        app.call("POST", &format!("{path}/preview-nda")).key(&app.home.key).send().await.expect(200);
    let key = format!(
        "{}/trust-nda/preview-{}.pdf",
        app.home.organization,
        preview["previewId"].as_str().expect("an id")
    );
    assert_eq!(preview["s3Key"], key);
    // Repeated previews do not accumulate files.
    for _ in 0..5 {
        let again = app.call("POST", &format!("{path}/preview-nda")).key(&app.home.key).send().await;
        assert_eq!(again.expect(200)["s3Key"], key);
    }
    let stored = futures_util::StreamExt::count(app.ctx.blobs.list(None)).await;
    assert_eq!(stored, 2, "the certificate and one preview");
    let seen = text(&fetch(app, &preview["pdfDownloadUrl"]).await);
    assert!(seen.contains("PREVIEW") && seen.contains("Grace Hopper") && seen.contains("10 days"), "{seen}");
    let details = app.get(&path).send().await.expect(200);
    assert_eq!(details["ndaAgreement"], Value::Null, "a preview is no agreement");

    let approval = app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    assert_eq!(approval["request"]["status"], "approved");
    assert_eq!(approval["ndaAgreement"]["status"], "pending");
    assert_eq!(approval["ndaAgreement"]["durationDays"], 10);
    let nda = token_for(app, GUEST).await;
    let offer = app.call("GET", &format!("/v1/trust-access/nda/{nda}")).send().await.expect(200);
    assert_eq!((&offer["organizationName"], &offer["status"]), (&json!("Home"), &json!("pending")));
    let preview =
        app.call("POST", &format!("/v1/trust-access/nda/{nda}/preview-nda")).send().await.expect(200);
    assert!(text(&fetch(app, &preview["pdfDownloadUrl"]).await).contains("PREVIEW"));

    let signed = sign(app, &nda, GUEST).await.expect(200);
    assert_eq!(signed["grant"]["status"], "active");
    assert_eq!(signed["expiresAt"], "2026-11-25T09:30:00.000Z");
    let file = fetch(app, &signed["pdfDownloadUrl"]).await;
    let seen = text(&file);
    assert!(
        seen.contains(GUEST) && seen.contains("2026-11-15 09:30:00 UTC") && !seen.contains("PREVIEW"),
        "{seen}"
    );
    let details = app.get(&path).send().await.expect(200);
    let signature = &details["ndaAgreement"]["signature"];
    let code = signature["code"].as_str().expect("a code");
    assert!(seen.contains(code), "{code}: {seen}");
    let verified = app
        .call("GET", &format!("/v1/trust-access/nda/verify/{}", code.to_lowercase()))
        .send()
        .await
        .expect(200);
    assert_eq!(verified["documentHash"], offer["documentHash"]);
    let verify = async |file: &[u8]| {
        let body = json!({"fileData": STANDARD.encode(file)});
        app.call("POST", "/v1/trust-access/nda/verify").json(&body).send().await.expect(200)
    };
    assert_eq!(verify(&file).await, verified);
    let mut changed = file.clone();
    *changed.iter_mut().rev().nth(200).expect("a byte") ^= 1;
    assert_eq!(verify(&changed).await["isSigned"], false);
    let keys = app.call("GET", "/.well-known/attestry-keys.json").send().await.json();
    let public = keys["keys"][0]["publicKey"].as_str().expect("a key");
    let public: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&public[2 * at..2 * at + 2], 16).expect("hex")).collect();
    let known = [(keys["keys"][0]["id"].as_str().expect("an id").to_owned(), public)];
    assert!(matches!(check(&file, &known), Verdict::Intact { .. }));
    assert_eq!(check(&changed, &known), Verdict::Changed);
    let link = app.get(&format!("{path}/nda/download")).send().await.expect(200);
    assert_eq!(fetch(app, &link["downloadUrl"]).await, file);

    let token = token_of(&signed["portalUrl"]);
    assert_ne!(token_for(app, GUEST).await, "", "the link is also sent");
    let access = format!("/v1/trust-access/access/{token}");
    let seen = app.call("GET", &access).send().await.expect(200);
    assert_eq!(seen["policies"].as_array().map(Vec::len), Some(1));
    assert_eq!(seen["complianceResources"][0]["framework"], "iso_27001");
    assert_eq!(app.call("GET", &format!("{access}/policies")).send().await.expect(200), seen["policies"]);
    assert_eq!(
        app.call("GET", &format!("{access}/compliance-resources")).send().await.expect(200),
        seen["complianceResources"]
    );
    for (path, pages) in [
        ("compliance-resources/iso_27001", Some(3)),
        ("policies/download-all", None),
        (&format!("policies/{policy}"), None),
    ] {
        let head = app.call("HEAD", &format!("{access}/{path}")).send().await;
        assert_eq!(head.status.as_u16(), 200);
        let reply =
            app.call("GET", &format!("{access}/{path}")).header("accept-encoding", "gzip").send().await;
        assert_eq!(reply.status.as_u16(), 200, "{}", reply.text());
        assert_eq!(reply.header("content-encoding"), None, "a PDF is packed already");
        assert_eq!(reply.header("content-type"), Some("application/pdf"));
        assert!(reply.header("content-disposition").expect("a name").starts_with("attachment"));
        let all = lopdf::Document::load_mem(&reply.body).expect("a PDF").get_pages().len();
        assert_eq!(all, pages.unwrap_or(all), "{path}");
        for mark in ["Grace Hopper", GUEST] {
            assert_eq!(marks(&reply.body, mark), all, "{path}");
        }
        assert_eq!(marks(&reply.body, "2026-11-15 09:30:00 UTC"), all, "{path}");
    }
    for path in [
        format!("policies/{}", id(&hidden)),
        "policies/nonsense".to_owned(),
        "compliance-resources/gdpr".to_owned(),
        "compliance-resources/x".to_owned(),
    ] {
        app.call("GET", &format!("{access}/{path}")).send().await.problem(404, "not_found");
    }
    let visits = app.get("/v1/trust-access/admin/visits").send().await.expect(200);
    let actions: Vec<&str> = visits["data"]
        .as_array()
        .expect("visits")
        .iter()
        .map(|one| one["action"].as_str().expect("a word"))
        .collect();
    assert_eq!(actions, ["downloaded_policy", "downloaded_all_policies", "downloaded_certificate", "opened"]);
    assert_eq!(visits["data"][0]["document"], policy);
    assert_eq!(visits["data"][0]["email"], GUEST);

    let grant = id(&signed["grant"]);
    let grants = app.get("/v1/trust-access/admin/grants?status=active").send().await.expect(200);
    assert_eq!(grants["data"][0]["id"], grant);
    assert!(!grants.to_string().contains(&token));
    let reason = json!({"reason": "The assessment is over."});
    let revoked =
        app.post(&format!("/v1/trust-access/admin/grants/{grant}/revoke"), &reason).send().await.expect(200);
    assert_eq!(revoked["status"], "revoked");
    for path in [
        "",
        "/policies",
        "/policies/download-all",
        "/compliance-resources",
        "/compliance-resources/iso_27001",
    ] {
        app.call("GET", &format!("{access}{path}")).send().await.problem(410, "link_expired");
    }
    app.post(&format!("/v1/trust-access/admin/grants/{grant}/revoke"), &reason)
        .send()
        .await
        .problem(409, "grant_is_over");
    sign(app, &nda, GUEST).await.problem(410, "link_expired");
    assert!(app.mails().await.is_empty());
    let entries = app.get("/v1/audit-logs?limit=1000").send().await.expect(200).to_string();
    for secret in [&token, &nda] {
        assert!(!entries.contains(secret.as_str()), "no link is recorded");
    }
}

async fn requests_are_reviewed_once(app: &TestApp) {
    publish(app, &app.home).await;
    let first = format!("{REQUESTS}/{}", request(app, &app.home, GUEST).await);
    app.mails().await;
    let approve = |path: String, body: Value| app.post(&format!("{path}/approve"), &body).send();
    let deny = |path: String, body: Value| app.post(&format!("{path}/deny"), &body).send();
    assert_eq!(approve(first.clone(), json!({"durationDays": 0})).await.wrong_fields(), ["durationDays"]);
    assert_eq!(approve(first.clone(), json!({"durationDays": "30"})).await.wrong_fields(), ["durationDays"]);
    assert_eq!(deny(first.clone(), json!({})).await.wrong_fields(), ["reason"]);
    app.call("POST", &format!("{first}/resend-nda"))
        .key(&app.home.key)
        .send()
        .await
        .problem(409, "nothing_to_sign");
    app.get(&format!("{first}/nda/download")).send().await.problem(404, "not_found");
    let denied = deny(first.clone(), json!({"reason": "Customers only."})).await.expect(200);
    assert_eq!((&denied["status"], &denied["denialReason"]), (&json!("denied"), &json!("Customers only.")));
    let mails = app.mails().await;
    assert!(mails.len() == 1 && mails[0].text.contains("Customers only."), "{mails:?}");
    approve(first.clone(), json!({})).await.problem(409, "request_reviewed");
    deny(first.clone(), json!({"reason": "Twice."})).await.problem(409, "request_reviewed");
    // A reviewed request still has a preview.
    app.call("POST", &format!("{first}/preview-nda")).key(&app.home.key).send().await.expect(200);
    let second = format!("{REQUESTS}/{}", request(app, &app.home, GUEST).await);
    app.mails().await;
    let before = app.get(&second).send().await;
    let tag = before.header("etag").expect("a tag").to_owned();
    assert_eq!(
        approve(second.clone(), json!({"durationDays": 3})).await.expect(200)["ndaAgreement"]["durationDays"],
        3
    );
    app.mails().await;
    let after = app.get(&second).header("if-none-match", &tag).send().await.expect(200);
    assert_eq!(after["reviewedBy"], app.home.member);
    let list = app.get(&format!("{REQUESTS}?limit=1")).send().await.expect(200);
    let next = list["nextCursor"].as_str().expect("a cursor");
    assert_eq!(
        app.get(&format!("{REQUESTS}?limit=1&cursor={next}")).send().await.expect(200)["data"][0]["status"],
        "denied"
    );
}

async fn nothing_shows_who_has_access(app: &TestApp) {
    publish(app, &app.home).await;
    granted(app, &app.home, GUEST).await;
    let ask = async |email: &str| {
        let path = format!("/v1/trust-access/{}/requests", app.home.organization);
        let mut answer =
            app.call("POST", &path).json(&json!({"name": "X", "email": email})).send().await.expect(201);
        assert!(id(&answer).starts_with("tar_"));
        answer["id"] = Value::Null;
        answer
    };
    assert_eq!(ask(GUEST).await, ask("nobody@customer.example").await);
    let mails = app.mails().await;
    let fresh: Vec<_> = mails.iter().filter(|mail| mail.to_address == GUEST).collect();
    assert_eq!(fresh.len(), 1, "whoever has access gets a fresh link");
    let token = attestry_tests::token_in(&[fresh[0].clone()]);
    app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
    assert!(!mails.iter().any(|mail| mail.to_address == "nobody@customer.example"));
    let reclaim = async |email: &str| {
        let path = format!("/v1/trust-access/{}/reclaim", app.home.organization);
        app.call("POST", &path).json(&json!({"email": email})).send().await.expect(200)
    };
    let known = reclaim("Grace@CUSTOMER.example").await;
    assert!(!known.to_string().contains("token"));
    let token = token_for(app, GUEST).await;
    app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
    assert_eq!(reclaim("nobody@customer.example").await, known);
    assert!(app.mails().await.is_empty());
    let listed = app.get(&format!("{REQUESTS}?status=under_review")).send().await.expect(200);
    assert_eq!(listed["count"], 1, "what needs no review is not waiting for one");
}

async fn agreements_expire_and_are_replaced(app: &TestApp) {
    publish(app, &app.home).await;
    let (request, first) = approved(app, &app.home, GUEST).await;
    let resend = format!("{REQUESTS}/{request}/resend-nda");
    let tag =
        app.get(&format!("{REQUESTS}/{request}")).send().await.header("etag").expect("a tag").to_owned();
    app.clock.advance(Duration::from_secs(1));
    let again = app.call("POST", &resend).key(&app.home.key).send().await.expect(200);
    assert_eq!(again["request"]["status"], "approved");
    let details =
        app.get(&format!("{REQUESTS}/{request}")).header("if-none-match", &tag).send().await.expect(200);
    assert_eq!(details["ndaAgreement"], again["ndaAgreement"]);
    let voided = app.get("/v1/audit-logs?action=nda.voided").send().await.expect(200);
    assert_eq!(voided["count"], 1);
    let second = token_for(app, GUEST).await;
    for path in ["", "/preview-nda", "/sign"] {
        let call = app.call(
            if path.is_empty() { "GET" } else { "POST" },
            &format!("/v1/trust-access/nda/{first}{path}"),
        );
        let call = if path == "/sign" {
            call.json(&json!({"name": "G", "email": GUEST, "accept": true}))
        } else {
            call
        };
        call.send().await.problem(410, "link_expired");
    }
    app.clock.advance(Duration::from_hours(7 * 24));
    app.call("GET", &format!("/v1/trust-access/nda/{second}")).send().await.problem(410, "link_expired");
    sign(app, &second, GUEST).await.problem(410, "link_expired");
    app.call("POST", &resend).key(&app.home.key).send().await.expect(200);
    let third = token_for(app, GUEST).await;
    sign(app, &third, GUEST).await.expect(200);
    app.mails().await;
    app.call("POST", &resend).key(&app.home.key).send().await.problem(409, "already_signed");
    app.call("GET", "/v1/trust-access/nda/nonsense").send().await.problem(404, "not_found");
    app.call("GET", "/v1/trust-access/nda/verify/NONS-ENSE").send().await.problem(404, "not_found");
}

async fn an_agreement_is_signed_by_the_one_who_asked(app: &TestApp) {
    publish(app, &app.home).await;
    let (_, nda) = approved(app, &app.home, GUEST).await;
    let path = format!("/v1/trust-access/nda/{nda}/sign");
    let with = |body: Value| app.call("POST", &path).json(&body).send();
    with(json!({"name": "Eve", "email": "eve@customer.example", "accept": true}))
        .await
        .problem(403, "not_the_requester");
    assert_eq!(
        with(json!({"name": "Grace", "email": GUEST, "accept": false})).await.wrong_fields(),
        ["accept"]
    );
    assert_eq!(
        with(json!({"name": "Grace", "email": GUEST, "accept": "true"})).await.wrong_fields(),
        ["accept"]
    );
    assert_eq!(with(json!({})).await.wrong_fields(), ["accept", "email", "name"]);
    let good = json!({"name": "Grace Hopper", "email": "GRACE@customer.example", "accept": true});
    let first = app.call("POST", &path).json(&good).header("idempotency-key", "one").send().await.expect(200);
    let replayed =
        app.call("POST", &path).json(&good).header("idempotency-key", "one").send().await.expect(200);
    assert_eq!(replayed["grant"], first["grant"]);
    assert_eq!(replayed["portalUrl"], Value::Null, "a link is told once");
    app.mails().await;
    let second = with(good).await.expect(200);
    assert_eq!(second["grant"], first["grant"]);
    assert!(app.mails().await.is_empty());
    for signed in [&first, &second] {
        let token = token_of(&signed["portalUrl"]);
        app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
    }
    assert_eq!(
        app.call("GET", &format!("/v1/trust-access/nda/{nda}")).send().await.expect(200)["status"],
        "signed"
    );
}

async fn two_signatures_at_once_are_one(app: &TestApp) {
    publish(app, &app.home).await;
    let (request, nda) = approved(app, &app.home, GUEST).await;
    let both = futures_util::future::join_all((0..4).map(|_| sign(app, &nda, GUEST))).await;
    let grants: Vec<Value> = both.iter().map(|reply| reply.expect(200)["grant"]["id"].clone()).collect();
    assert!(grants.iter().all(|grant| *grant == grants[0]), "{grants:?}");
    app.mails().await;
    let link = app.get(&format!("{REQUESTS}/{request}/nda/download")).send().await.expect(200);
    let file = fetch(app, &link["downloadUrl"]).await;
    let body = json!({"fileData": STANDARD.encode(&file)});
    let verified = app.call("POST", "/v1/trust-access/nda/verify").json(&body).send().await.expect(200);
    assert_eq!(verified["isSigned"], true);
    assert_eq!(app.get("/v1/trust-access/admin/grants?total=true").send().await.expect(200)["total"], 1);
}

async fn an_own_agreement_is_used(app: &TestApp) {
    let own =
        "# Hush\n\nBetween {{organization}} and {{name}} of {{company}}, for {{duration}}. {{ nothing }}";
    app.patch(
        "/v1/trust-portal/settings",
        &json!({"status": "published", "ndaText": own, "defaultDurationDays": 5}),
    )
    .send()
    .await
    .expect(200);
    let path = format!("/v1/trust-access/{}/requests", app.home.organization);
    let ask = json!({"name": "{{company}} *Grace*", "email": GUEST, "company": "A_B"});
    let request = app.call("POST", &path).json(&ask).send().await.expect(201);
    app.mails().await;
    app.call("POST", &format!("{REQUESTS}/{}/approve", id(&request)))
        .key(&app.home.key)
        .send()
        .await
        .expect(200);
    let nda = token_for(app, GUEST).await;
    let offer = app.call("GET", &format!("/v1/trust-access/nda/{nda}")).send().await.expect(200);
    assert!(offer["text"].as_str().expect("a text").contains("for 5 days. {{ nothing }}"), "{offer}");
    // An agreement that was sent does not change any more.
    app.patch("/v1/trust-portal/settings", &json!({"ndaText": "# Other"})).send().await.expect(200);
    let preview =
        app.call("POST", &format!("/v1/trust-access/nda/{nda}/preview-nda")).send().await.expect(200);
    let seen = text(&fetch(app, &preview["pdfDownloadUrl"]).await);
    assert!(seen.contains("{{company}} *Grace* of A_B"), "{seen}");
}

async fn access_ends(app: &TestApp) {
    publish(app, &app.home).await;
    upload(app, &app.home, "gdpr", &pdf(1)).await.expect(201);
    choose(app, &app.home, "gdpr", "nda").await.expect(200);
    let (token, _) = granted(app, &app.home, GUEST).await;
    let access = format!("/v1/trust-access/access/{token}");
    app.clock.advance(Duration::from_hours(30 * 24 - 1));
    app.call("GET", &access).send().await.expect(200);
    app.clock.advance(Duration::from_hours(1));
    app.call("GET", &access).send().await.problem(410, "link_expired");
    assert_eq!(app.get("/v1/trust-access/admin/grants?status=expired").send().await.expect(200)["count"], 1);
    app.call("GET", "/v1/trust-access/access/nonsense").send().await.problem(404, "not_found");
    let reclaim = format!("/v1/trust-access/{}/reclaim", app.home.organization);
    app.call("POST", &reclaim).json(&json!({"email": GUEST})).send().await.expect(200);
    assert!(app.mails().await.is_empty(), "what has ended is not given again");
    // Replacing or deleting a certificate takes effect immediately.
    let (token, _) = granted(app, &app.home, "ada@customer.example").await;
    let file = format!("/v1/trust-access/access/{token}/compliance-resources/gdpr");
    assert_eq!(app.call("GET", &file).send().await.status.as_u16(), 200);
    // A portal that is a draft again serves no visitor; once republished, existing access works again.
    let settings = "/v1/trust-portal/settings";
    app.patch(settings, &json!({"status": "draft"})).send().await.expect(200);
    for path in ["", "/compliance-resources", "/compliance-resources/gdpr", "/policies"] {
        let path = format!("/v1/trust-access/access/{token}{path}");
        app.call("GET", &path).send().await.problem(410, "portal_offline");
    }
    app.patch(settings, &json!({"status": "published"})).send().await.expect(200);
    assert_eq!(app.call("GET", &file).send().await.status.as_u16(), 200);
    app.delete("/v1/trust-portal/compliance-resources/gdpr").send().await.expect(200);
    app.call("GET", &file).send().await.problem(404, "not_found");
    app.work().await;
}

async fn reviewers_are_told(app: &TestApp) {
    publish(app, &app.home).await;
    app.member(&app.home, "auditor@example.com", "auditor").await;
    app.member(&app.home, "admin@example.com", "admin").await;
    request(app, &app.home, GUEST).await;
    let mails = app.mails().await;
    let mut told: Vec<&str> = mails.iter().map(|mail| mail.to_address.as_str()).collect();
    told.sort_unstable();
    assert_eq!(told, ["ada@example.com", "admin@example.com"]);
    assert!(mails[0].subject.contains("Grace Hopper (Customer Inc.)"), "{mails:?}");
    let session = app.sign_in("admin@example.com").await;
    app.call("PATCH", "/v1/auth/notifications")
        .session(&session, &app.home.organization)
        .json(&json!({"portal": false}))
        .send()
        .await
        .expect(200);
    app.work().await;
    request(app, &app.home, GUEST).await;
    assert_eq!(app.mails().await.len(), 1);
    // An auditor can read, but not decide.
    let session = app.sign_in("auditor@example.com").await;
    let list = app.call("GET", REQUESTS).session(&session, &app.home.organization).send().await.expect(200);
    let path = format!("{REQUESTS}/{}/approve", id(&list["data"][0]));
    app.call("POST", &path).session(&session, &app.home.organization).send().await.problem(403, "forbidden");
}

async fn mail_to_an_address_is_limited(app: &TestApp) {
    let published = json!({"friendlyUrl": "engines", "status": "published"});
    app.patch("/v1/trust-portal/settings", &published).send().await.expect(200);
    let path = format!("/v1/trust-access/{}/reclaim", app.home.organization);
    for count in 0..5 {
        // The id and the friendly URL of a portal share the limit.
        let path = if count % 2 == 0 { &path } else { "/v1/trust-access/engines/reclaim" };
        app.call("POST", path).json(&json!({"email": GUEST})).send().await.expect(200);
    }
    let refused = app.call("POST", &path).json(&json!({"email": "GRACE@customer.example"})).send().await;
    assert!(refused.header("retry-after").is_some());
    refused.problem(429, "rate_limited");
    app.call("POST", &path).json(&json!({"email": "ada@customer.example"})).send().await.expect(200);
    app.work().await;
}

/// Anyone can request links; they do not displace a link that is in use.
async fn links_that_are_used_stay(app: &TestApp) {
    publish(app, &app.home).await;
    let (first, grant) = granted(app, &app.home, GUEST).await;
    let fresh = async || {
        // Bypasses the API's rate limit.
        let id = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
        let grant = attestry_domain::id::AccessGrantId::read(&grant).expect("an id");
        let scope = attestry_domain::access::Scope::system(id, "test");
        let (token, now) = (app.ctx.keys.token(), app.ctx.now());
        let hash = token.hash;
        app.clock.advance(Duration::from_secs(1));
        app.ctx
            .db
            .write(async move |t| {
                attestry_storage::trust_access::insert_token(t, &scope, grant, &hash, false, now).await
            })
            .await
            .expect("a link");
        token.text
    };
    let open = async |token: &str| {
        app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.status.as_u16()
    };
    let (used, unused) = (fresh().await, fresh().await);
    assert_eq!(open(&used).await, 200);
    for _ in 0..12 {
        fresh().await;
    }
    assert_eq!((open(&first).await, open(&used).await, open(&unused).await), (200, 200, 404));
}

/// The number of files in memory is limited, however slowly clients read.
async fn files_on_their_way_are_few(app: &TestApp) {
    publish(app, &app.home).await;
    upload(app, &app.home, "gdpr", &pdf(1)).await.expect(201);
    choose(app, &app.home, "gdpr", "nda").await.expect(200);
    let path = |token: &str| format!("/v1/trust-access/access/{token}/compliance-resources/gdpr");
    // Clients that do not read. None of them gets more than its share.
    let mut slow = Vec::new();
    for reader in 0..4 {
        let (token, _) = granted(app, &app.home, &format!("reader{reader}@customer.example")).await;
        for _ in 0..4 {
            let answer = app.call("GET", &path(&token)).begin().await;
            assert_eq!(answer.status().as_u16(), 200);
            slow.push(answer);
        }
        let refused = app.call("GET", &path(&token)).send().await;
        refused.problem(429, "rate_limited");
        assert!(refused.header("retry-after").is_some());
    }
    // The next download waits, and all other requests are served meanwhile.
    let (token, _) = granted(app, &app.home, GUEST).await;
    let mut waiting = Box::pin(app.call("GET", &path(&token)).send());
    let others = Box::pin(async {
        for _ in 0..50 {
            app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
        }
    });
    let first = futures_util::future::select(&mut waiting, others).await;
    assert!(matches!(first, futures_util::future::Either::Right(_)), "it waits for a place");
    slow.pop();
    assert_eq!(waiting.await.status.as_u16(), 200);
}

/// An agreement that cannot be printed fails on approval, and names cannot reverse the text direction.
async fn agreements_can_be_printed(app: &TestApp) {
    let own = json!({"status": "published", "ndaText": "{{name}}".repeat(5500)});
    app.patch("/v1/trust-portal/settings", &own).send().await.expect(200);
    let path = format!("/v1/trust-access/{}/requests", app.home.organization);
    let ask = |body: Value| app.call("POST", &path).json(&body).send();
    for name in ["\u{202e}Grace", "\u{200b}", "---"] {
        assert_eq!(
            ask(json!({"name": name, "email": GUEST, "company": name})).await.wrong_fields(),
            ["company", "name"]
        );
    }
    let request =
        ask(json!({"name": "G".repeat(255), "email": GUEST, "company": "A-B *c*"})).await.expect(201);
    app.mails().await;
    let path = format!("{REQUESTS}/{}", id(&request));
    let approve = |path: &str| app.call("POST", &format!("{path}/approve")).key(&app.home.key).send();
    approve(&path).await.problem(409, "agreement_unprintable");
    assert_eq!(app.get(&path).send().await.expect(200)["status"], "under_review");
    app.call("POST", &format!("{path}/preview-nda"))
        .key(&app.home.key)
        .send()
        .await
        .problem(409, "agreement_unprintable");
    app.patch("/v1/trust-portal/settings", &json!({"ndaText": "{{name}}\n\n{{company}}"}))
        .send()
        .await
        .expect(200);
    approve(&path).await.expect(200);
    let nda = token_for(app, GUEST).await;
    let offer = app.call("GET", &format!("/v1/trust-access/nda/{nda}")).send().await.expect(200);
    assert_eq!(offer["plainText"], format!("{}\nA-B *c*", "G".repeat(255)));
}

/// Publishes a policy whose text is an uploaded PDF, and opens it to visitors with an agreement.
async fn uploaded_policy(app: &TestApp, name: &str, file: &[u8]) -> String {
    let made = app.post("/v1/policies", &json!({"name": name})).send().await.expect(201);
    let path = format!("/v1/policies/{}", id(&made));
    let body = json!({"fileName": name, "fileType": "application/pdf", "fileData": STANDARD.encode(file)});
    let file = app.post(&format!("{path}/attachments"), &body).send().await.expect(201);
    app.patch(&path, &json!({"fileId": file["id"]})).send().await.expect(200);
    app.post(&format!("{path}/submit-for-approval"), &json!({"approverId": app.home.member}))
        .send()
        .await
        .expect(200);
    app.call("POST", &format!("{path}/approve")).key(&app.home.key).send().await.expect(200);
    app.mails().await;
    choose(app, &app.home, id(&made), "nda").await.expect(200);
    id(&made).to_owned()
}

async fn uploaded_policies_are_marked(app: &TestApp) {
    publish(app, &app.home).await;
    let good = uploaded_policy(app, "good.pdf", &pdf(2)).await;
    let bad = uploaded_policy(app, "bad.pdf", b"%PDF-1.7\nnothing").await;
    let (token, _) = granted(app, &app.home, GUEST).await;
    let get = |id: &str| app.call("GET", &format!("/v1/trust-access/access/{token}/policies/{id}")).send();
    let file = get(&good).await;
    assert_eq!(marks(&file.body, GUEST), 2);
    get(&bad).await.problem(409, "file_cannot_be_marked");
    let all = app.call("GET", &format!("/v1/trust-access/access/{token}/policies/download-all")).send().await;
    assert!(text(&all.body).contains("good.pdf"), "what is a file is mentioned");
}

async fn hostile_policy_file_is_refused_while_others_are_served(app: &TestApp) {
    publish(app, &app.home).await;
    let text = String::from_utf8(pdf(1)).expect("text");
    let page = "<</Type/Page/Parent 2 0 R";
    let good = uploaded_policy(app, "good.pdf", &pdf(2)).await;
    let (reader, _) = granted(app, &app.home, GUEST).await;
    let (other, _) = granted(app, &app.home, "ada@customer.example").await;
    let open = |token: &str, id: &str| {
        app.call("GET", &format!("/v1/trust-access/access/{token}/policies/{id}")).send()
    };
    for (name, file) in [
        ("slow.pdf", slow_pdf()),
        ("circle.pdf", text.replace("/Kids[4 0 R]", "/Kids[2 0 R]").into_bytes()),
        ("deep.pdf", text.replace(page, &"[".repeat(1_000_000)).into_bytes()),
    ] {
        assert_ne!(file, pdf(1), "{name}");
        let hostile = uploaded_policy(app, name, &file).await;
        let visits = app.entries(&app.home).await;
        let (refused, served) = tokio::join!(open(&reader, &hostile), open(&other, &good));
        let problem = refused.problem(409, "file_cannot_be_marked");
        assert!(problem["detail"].as_str().expect("text").contains("cannot be watermarked"), "{problem}");
        assert_eq!(marks(&served.body, "ada@customer.example"), 2, "{name}");
        assert_eq!(app.entries(&app.home).await, visits + 1, "only the file that was read is a visit");
        assert!(app.take_warnings().iter().any(|line| line.contains("cannot be marked")), "{name}");
        assert_eq!(marks(&open(&reader, &good).await.body, GUEST), 2, "after {name}");
    }
}

#[test]
fn without_a_confined_process_policy_files_are_unavailable() {
    run_with_pdf_reader(Engine::Sqlite, "/bin/true", async |app| {
        publish(app, &app.home).await;
        let policy = uploaded_policy(app, "policy.pdf", &pdf(1)).await;
        let (token, _) = granted(app, &app.home, GUEST).await;
        let visits = app.entries(&app.home).await;
        let path = format!("/v1/trust-access/access/{token}/policies/{policy}");
        let refused = app.call("GET", &path).send().await;
        refused.problem(503, "unavailable");
        assert!(refused.header("retry-after").is_some());
        assert_eq!(app.entries(&app.home).await, visits, "nothing was read");
        assert!(app.take_errors().iter().any(|line| line.contains("no confined process")));
        // What needs no such process is served.
        app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.expect(200);
    });
}

async fn a_deleted_organization_lets_nobody_in(app: &TestApp) {
    publish(app, &app.home).await;
    let (token, _) = granted(app, &app.home, GUEST).await;
    let (_, nda) = approved(app, &app.home, "ada@customer.example").await;
    app.call("DELETE", "/v1/organization")
        .key(&app.home.key)
        .json(&json!({"name": "Home"}))
        .send()
        .await
        .expect(200);
    app.call("GET", &format!("/v1/trust-access/access/{token}")).send().await.problem(404, "not_found");
    app.call("GET", &format!("/v1/trust-access/nda/{nda}")).send().await.problem(404, "not_found");
    app.call("GET", &format!("/v1/trust-access/{}", app.home.organization))
        .send()
        .await
        .problem(404, "not_found");
}

async fn page(app: &TestApp, path: &str, status: u16) -> String {
    let page = app.call("GET", path).header("accept", "text/html").send().await;
    assert_eq!(page.status.as_u16(), status, "{path}: {}", page.text());
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    assert_eq!(page.header("cache-control"), Some("no-store"), "{path}");
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("script-src 'self'; style-src 'self';"), "{policy}");
    page.text()
}

async fn links_in_mails_open_pages(app: &TestApp) {
    publish(app, &app.home).await;
    upload(app, &app.home, "gdpr", &pdf(1)).await.expect(201);
    choose(app, &app.home, "gdpr", "nda").await.expect(200);
    let (_, nda) = approved(app, &app.home, GUEST).await;
    // Mail programs add parameters of their own.
    let agreement = page(app, &format!("/trust/nda?utm_source=mail&token={nda}"), 200).await;
    for part in
        ["Home asks Grace Hopper", "Access lasts 30 days", &format!("/v1/trust-access/nda/{nda}/sign")]
    {
        assert!(agreement.contains(part), "{part} in {agreement}");
    }
    let german =
        app.call("GET", &format!("/trust/nda?token={nda}")).header("accept-language", "de").send().await;
    assert!(german.text().contains("<h1>Vertraulichkeitsvereinbarung</h1>"), "{}", german.text());
    let signed = sign(app, &nda, GUEST).await.expect(200);
    app.mails().await;
    assert!(page(app, &format!("/trust/nda?token={nda}"), 200).await.contains("signed already"));
    let token = token_of(&signed["portalUrl"]);
    let before = app.entries(&app.home).await;
    let documents = page(app, &format!("/trust/access?token={token}"), 200).await;
    let file = format!("/v1/trust-access/access/{token}/compliance-resources/gdpr");
    assert!(documents.contains("Documents of Home") && documents.contains(&file), "{documents}");
    // A mail program that opens the link is no visit.
    assert_eq!(app.entries(&app.home).await, before);
    for path in ["/trust/nda", "/trust/access", "/trust/nda?token=x&token=y", "/trust/access?token=%2e%2e%2f"]
    {
        let missing = page(app, path, 404).await;
        assert!(missing.contains("<h1>This link cannot be used</h1>"), "{missing}");
    }
    let german = app.call("GET", "/trust/nda?token=x").header("accept-language", "de").send().await;
    assert!(german.text().contains("Dieser Link ist ungültig."), "{}", german.text());
    app.patch("/v1/trust-portal/settings", &json!({"status": "draft"})).send().await.expect(200);
    let offline = page(app, &format!("/trust/access?token={token}"), 410).await;
    assert!(offline.contains("taken its trust portal offline"), "{offline}");
    for (path, text) in
        [("/trust/confirm?token=x", "Confirm subscription"), ("/trust/leave?token=x", "Unsubscribe")]
    {
        assert!(page(app, path, 200).await.contains(text), "{path}");
    }
}

async fn pages_of_links_are_escaped(app: &TestApp) {
    const HOSTILE: &str = "A\"'><script>alert(1)</script>";
    app.patch("/v1/organization", &json!({"name": HOSTILE})).send().await.expect(200);
    let text = json!({"ndaText": "# {{organization}}\n\n{{name}} <script>alert(1)</script>"});
    app.patch("/v1/trust-portal/settings", &text).send().await.expect(200);
    publish(app, &app.home).await;
    upload(app, &app.home, "gdpr", &pdf(1)).await.expect(201);
    choose(app, &app.home, "gdpr", "nda").await.expect(200);
    choose(app, &app.home, &policy(app, HOSTILE).await, "nda").await.expect(200);
    let ask = json!({"name": HOSTILE, "email": GUEST, "company": HOSTILE});
    let asked = app
        .call("POST", &format!("/v1/trust-access/{}/requests", app.home.organization))
        .json(&ask)
        .send()
        .await;
    let path = format!("{REQUESTS}/{}/approve", id(&asked.expect(201)));
    app.mails().await;
    app.call("POST", &path).key(&app.home.key).send().await.expect(200);
    let nda = token_for(app, GUEST).await;
    let agreement = page(app, &format!("/trust/nda?token={nda}"), 200).await;
    let signing = json!({"name": HOSTILE, "email": GUEST, "accept": true});
    let signed = app.call("POST", &format!("/v1/trust-access/nda/{nda}/sign")).json(&signing).send().await;
    let token = token_of(&signed.expect(200)["portalUrl"]);
    app.mails().await;
    let documents = page(app, &format!("/trust/access?token={token}"), 200).await;
    let leave = page(app, "/trust/leave?token=%22%27%3E%3Cscript%3Ealert(1)%3C/script%3E", 200).await;
    for text in [agreement, documents, leave] {
        for markup in ["<script>", "\"'>", "href=\"javascript:"] {
            assert!(!text.contains(markup), "{markup} in {text}");
        }
        assert!(text.contains("alert(1)"), "{text}");
    }
}
