//! `/v1/policies`: texts, approval, versions and signatures.

use std::time::Duration;

use attestry_tests::{TestApp, both, id};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};

both! {
    a_policy_is_shown_with_the_fields_of_the_contract,
    texts_come_and_go_as_nodes_and_markdown,
    bad_texts_are_refused_with_their_place,
    a_policy_is_approved_by_whom_was_asked,
    own_work_is_approved_by_another_where_that_is_required,
    a_denied_policy_is_a_draft_with_a_comment,
    a_change_under_review_needs_a_new_approval,
    members_read_and_sign_what_is_published,
    a_changed_version_is_signed_again_and_the_same_is_not,
    owners_see_who_has_signed_and_remind_the_others,
    policies_are_sorted_by_version_and_signatures,
    reviews_come_due_by_the_organizations_calendar,
    two_versions_are_compared,
    a_proposal_is_shown_and_applied_in_part,
    templates_become_policies,
    a_policy_can_be_a_file,
    the_past_the_history_and_deletion,
    whoever_leaves_approves_nothing,
    policies_are_printed,
    organizations_take_turns_at_printing,
    two_who_publish_and_sign_at_once_do_not_meet,
}

const DAY: Duration = Duration::from_hours(24);

fn path(policy: &Value) -> String {
    format!("/v1/policies/{}", id(policy))
}

fn under(policy: &Value, rest: &str) -> String {
    format!("{}/{rest}", path(policy))
}

async fn made(app: &TestApp, markdown: &str) -> Value {
    let body = json!({"name": "Access Control", "contentMarkdown": markdown});
    app.post("/v1/policies", &body).send().await.expect(201)
}

/// Submits a policy to the owner, who approves it.
async fn publish(app: &TestApp, policy: &Value) -> Value {
    let body = json!({"approverId": app.home.member});
    app.post(&under(policy, "submit-for-approval"), &body).send().await.expect(200);
    let published = app.call("POST", &under(policy, "approve")).key(&app.home.key).send().await.expect(200);
    app.work().await;
    published
}

fn text(node: &Value) -> &Value {
    &node["content"][0]["text"]
}

async fn a_policy_is_shown_with_the_fields_of_the_contract(app: &TestApp) {
    let made = app.post("/v1/policies", &json!({"name": " Access "})).send().await.expect(201);
    assert!(id(&made).starts_with("pol_"));
    assert_eq!(
        (&made["name"], &made["reference"], &made["status"]),
        (&json!("Access"), &json!("P-1"), &json!("draft"))
    );
    assert_eq!((&made["content"], &made["signedBy"]), (&json!([]), &json!([])));
    assert_eq!((&made["isRequiredToSign"], &made["isArchived"]), (&json!(true), &json!(false)));
    for field in [
        "frequency",
        "department",
        "reviewDate",
        "lastArchivedAt",
        "firstPublishedAt",
        "lastPublishedAt",
        "assigneeId",
        "approverId",
        "policyTemplateId",
        "currentVersion",
    ] {
        assert_eq!(made[field], Value::Null, "{field}");
    }
    let reply = app.get(&path(&made)).send().await;
    assert_eq!(reply.expect(200), made);
    let tag = reply.header("etag").expect("a tag").to_owned();
    assert_eq!(app.get(&path(&made)).header("if-none-match", &tag).send().await.status, 304);
    let change = json!({"department": "it", "isArchived": true});
    let archived = app.patch(&path(&made), &change).header("if-match", &tag).send().await.expect(200);
    assert_eq!(archived["lastArchivedAt"], archived["updatedAt"]);
    app.patch(&path(&made), &change)
        .header("if-match", &tag)
        .send()
        .await
        .problem(412, "precondition_failed");
    let list = app.get("/v1/policies").send().await.expect(200);
    assert_eq!(list["count"], 0, "archived policies are left out");
    assert_eq!(app.get("/v1/policies?isArchived=true&department=it").send().await.expect(200)["count"], 1);
    let wrong =
        app.post("/v1/policies", &json!({"status": "published", "signedBy": [], "x": 1})).send().await;
    assert_eq!(wrong.wrong_fields(), ["name", "signedBy", "status", "x"]);
    let gone = app.delete(&path(&made)).send().await.expect(200);
    assert_eq!(gone, json!({"success": true, "deletedPolicy": {"id": made["id"], "name": "Access"}}));
}

async fn texts_come_and_go_as_nodes_and_markdown(app: &TestApp) {
    let markdown =
        "## Purpose\n\nWho may see **what**.\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n";
    let made = made(app, markdown).await;
    assert_eq!(made["content"][0]["type"], "heading");
    assert_eq!(made.get("contentMarkdown"), None);
    let shown = app.get(&format!("{}?format=markdown", path(&made))).send().await.expect(200);
    assert_eq!(shown["contentMarkdown"], markdown);
    assert_eq!(shown["content"], made["content"]);
    // The text that an editor sends back is unchanged.
    let same = app.patch(&path(&made), &json!({"content": made["content"]})).send().await.expect(200);
    assert_eq!(same, made);
    let doc = json!({"type": "doc", "content": [{"type": "paragraph", "content": [
        {"type": "text", "text": "a", "marks": [{"type": "link", "attrs": {"href": "https://example.com", "target": "_blank", "rel": null}}]},
        {"type": "hardBreak"}, {"type": "text", "text": "b", "marks": [{"type": "underline"}]}
    ], "attrs": {"textAlign": null}}]});
    let changed = app
        .patch(&format!("{}?format=markdown", path(&made)), &json!({"content": doc}))
        .send()
        .await
        .expect(200);
    assert_eq!(changed["contentMarkdown"], "[a](https://example.com)\\\n<u>b</u>\n");
    let both = json!({"content": [], "contentMarkdown": "x"});
    assert_eq!(app.patch(&path(&made), &both).send().await.wrong_fields(), ["contentMarkdown"]);
    let list = app.get("/v1/policies?format=markdown&q=ACCESS").send().await.expect(200);
    assert_eq!(list["data"][0]["contentMarkdown"], changed["contentMarkdown"]);
    assert_eq!(app.get("/v1/policies?format=html").send().await.wrong_fields(), ["format"]);
}

async fn bad_texts_are_refused_with_their_place(app: &TestApp) {
    let made = made(app, "Fine.").await;
    let message = async |content: Value| {
        let reply = app.patch(&path(&made), &json!({"content": content})).send().await;
        let problem = reply.problem(400, "validation_failed");
        assert_eq!(problem["errors"][0]["field"], "content");
        problem["errors"][0]["message"].as_str().expect("a message").to_owned()
    };
    let paragraph = |inner: Value| json!([{"type": "paragraph"}, {"type": "paragraph", "content": [inner]}]);
    for (content, expected) in [
        (json!("text"), "must be an array of editor nodes"),
        (json!([{"type": "image"}]), "[0].type: \"image\" is not a block"),
        (
            json!([{"type": "heading", "attrs": {"level": 7}}]),
            "[0].attrs.level: must be a whole number from 1 to 6",
        ),
        (
            json!([{"type": "paragraph", "attrs": {"textAlign": "center"}}]),
            "[0].attrs.textAlign: is not supported",
        ),
        (paragraph(json!({"type": "text"})), "[1].content[0].text: must be a string"),
        (
            paragraph(
                json!({"type": "text", "text": "x", "marks": [{"type": "link", "attrs": {"href": "javascript:alert(1)"}}]}),
            ),
            "[1].content[0].marks[0].attrs.href: a link must lead to",
        ),
        (json!([{"type": "bulletList"}]), "[0].content: a list must hold at least one item"),
        (
            json!([{"type": "table", "content": [{"type": "tableRow", "content": [{"type": "tableCell", "attrs": {"colspan": 2}}]}]}]),
            "[0].content[0].content[0].attrs.colspan: must be 1",
        ),
    ] {
        let said = message(content).await;
        assert!(said.starts_with(expected), "{said}");
    }
    let mut deep = json!({"type": "paragraph"});
    for _ in 0..20 {
        deep = json!({"type": "blockquote", "content": [deep]});
    }
    assert!(message(json!([deep])).await.ends_with("nested at most 12 deep"));
    let wide: Vec<Value> = (0..20_001).map(|_| json!({"type": "horizontalRule"})).collect();
    assert!(message(json!(wide)).await.ends_with("there are more than 20000 nodes"));
    let link = json!({"contentMarkdown": "[x](javascript:alert(1))", "department": "it"});
    assert_eq!(app.patch(&path(&made), &link).send().await.wrong_fields(), ["contentMarkdown"]);
    let cell =
        |count: usize| json!({"type": "tableRow", "content": vec![json!({"type": "tableCell"}); count]});
    let rows: Vec<Value> = std::iter::once(cell(1000)).chain((0..1000).map(|_| cell(0))).collect();
    assert!(message(json!([{"type": "table", "content": rows}])).await.ends_with("at most 20000 cells"));
    let long = json!({"contentMarkdown": "x\n\n".repeat(15_000)});
    assert_eq!(app.patch(&path(&made), &long).send().await.wrong_fields(), ["contentMarkdown"]);
    assert_eq!(app.get(&path(&made)).send().await.expect(200), made, "nothing was lost");
}

async fn a_policy_is_approved_by_whom_was_asked(app: &TestApp) {
    let admin = app.member(&app.home, "grace@example.com", "admin").await;
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let empty = app.post("/v1/policies", &json!({"name": "Empty"})).send().await.expect(201);
    let ask = |who: &Value| json!({"approverId": who["id"]});
    app.post(&under(&empty, "submit-for-approval"), &ask(&admin)).send().await.problem(409, "policy_empty");
    let made = made(app, "Text.").await;
    let submit = under(&made, "submit-for-approval");
    assert_eq!(app.post(&submit, &ask(&eve)).send().await.wrong_fields(), ["approverId"]);
    let approve =
        |token: &str| app.call("POST", &under(&made, "approve")).session(token, &app.home.organization);
    let grace = app.sign_in("grace@example.com").await;
    approve(&grace).send().await.problem(409, "not_submitted");
    let submitted = app.post(&submit, &ask(&admin)).send().await.expect(200);
    assert_eq!((&submitted["status"], &submitted["approverId"]), (&json!("needs_review"), &admin["id"]));
    assert_eq!(submitted["submittedById"], app.home.member);
    let told = app.mails().await;
    assert_eq!(told.len(), 1);
    assert!(told[0].subject.contains("Please approve P-2 Access Control"), "{}", told[0].subject);
    let owner = app.sign_in("ada@example.com").await;
    approve(&owner).send().await.problem(403, "not_the_approver");
    app.work().await;
    let published = approve(&grace).send().await.expect(200);
    assert_eq!((&published["status"], &published["currentVersion"]), (&json!("published"), &json!(1)));
    assert_eq!(published["lastPublishedAt"], published["updatedAt"]);
    approve(&grace).send().await.problem(409, "not_submitted");
    let told: Vec<String> =
        app.mails().await.into_iter().map(|mail| format!("{} {}", mail.to_address, mail.subject)).collect();
    assert!(
        told.iter().any(|one| one.contains("ada@") && one.contains("is published as version 1")),
        "{told:?}"
    );
    assert!(told.iter().any(|one| one.contains("eve@") && one.contains("Please read and sign")), "{told:?}");
    let versions = app.get(&under(&made, "versions")).send().await.expect(200);
    assert_eq!((&versions["count"], &versions["data"][0]["version"]), (&json!(1), &json!(1)));
    assert_eq!(versions["data"][0]["approverId"], admin["id"]);
    let version = app.get(&under(&made, "versions/1?format=markdown")).send().await.expect(200);
    assert_eq!((&version["contentMarkdown"], &version["isChanged"]), (&json!("Text.\n"), &json!(true)));
    app.get(&under(&made, "versions/2")).send().await.problem(404, "not_found");
    app.get(&under(&made, "versions/draft")).send().await.problem(404, "not_found");
    app.get(&under(&empty, &format!("versions/{}", id(&version)))).send().await.problem(404, "not_found");
}

async fn own_work_is_approved_by_another_where_that_is_required(app: &TestApp) {
    let admin = app.member(&app.home, "grace@example.com", "admin").await;
    let grace = app.sign_in("grace@example.com").await;
    let first = made(app, "Text.").await;
    publish(app, &first).await;
    let versions = app.get(&under(&first, "versions")).send().await.expect(200);
    assert_eq!(versions["data"][0]["isSelfApproved"], true, "it is pointed out");
    // A policy submitted to oneself before that was forbidden needs another approver.
    let second = made(app, "Text.").await;
    let own = json!({"approverId": app.home.member});
    app.post(&under(&second, "submit-for-approval"), &own).send().await.expect(200);
    let forbid = json!({"isSelfApprovalAllowed": false});
    let organization = app.patch("/v1/organization", &forbid).send().await.expect(200);
    assert_eq!(organization["isSelfApprovalAllowed"], false);
    let approve = |policy: &Value| app.call("POST", &under(policy, "approve"));
    approve(&second).key(&app.home.key).send().await.problem(403, "self_approval_forbidden");
    let again = app.post(&under(&second, "submit-for-approval"), &own).send().await;
    again.problem(403, "self_approval_forbidden");
    app.post(&under(&second, "submit-for-approval"), &json!({"approverId": admin["id"]}))
        .send()
        .await
        .expect(200);
    approve(&second).session(&grace, &app.home.organization).send().await.expect(200);
    let versions = app.get(&under(&second, "versions")).send().await.expect(200);
    assert_eq!(versions["data"][0]["isSelfApproved"], false);
    app.mails().await;
}

async fn a_denied_policy_is_a_draft_with_a_comment(app: &TestApp) {
    let made = made(app, "Text.").await;
    let deny = under(&made, "deny");
    let comment = json!({"comment": "Too short."});
    app.post(&deny, &comment).send().await.problem(409, "not_submitted");
    let body = json!({"approverId": app.home.member});
    app.post(&under(&made, "submit-for-approval"), &body).send().await.expect(200);
    assert_eq!(app.post(&deny, &json!({})).send().await.wrong_fields(), ["comment"]);
    let denied = app.post(&deny, &comment).send().await.expect(200);
    assert_eq!((&denied["status"], &denied["approverId"]), (&json!("draft"), &Value::Null));
    let about = format!("/v1/comments?entityType=policy&entityId={}", id(&made));
    let comments = app.get(&about).send().await.expect(200);
    assert_eq!(comments["data"][0]["content"], "Too short.", "{comments}");
    let history = app.get(&under(&made, "history")).send().await.expect(200);
    let actions: Vec<&str> = history["data"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|one| one["action"].as_str().expect("one"))
        .collect();
    assert_eq!(actions, ["policy.denied", "policy.submitted", "policy.created"]);
}

async fn a_change_under_review_needs_a_new_approval(app: &TestApp) {
    let made = made(app, "Text.").await;
    let body = json!({"approverId": app.home.member});
    let submit = || app.post(&under(&made, "submit-for-approval"), &body).send();
    submit().await.expect(200);
    let same = app.patch(&path(&made), &json!({"department": "it"})).send().await.expect(200);
    assert_eq!(same["status"], "needs_review", "what is approved has not changed");
    let changed = app.patch(&path(&made), &json!({"contentMarkdown": "Other."})).send().await.expect(200);
    assert_eq!((&changed["status"], &changed["approverId"]), (&json!("draft"), &Value::Null));
    app.call("POST", &under(&made, "approve")).key(&app.home.key).send().await.problem(409, "not_submitted");
    submit().await.expect(200);
    let archived = app.patch(&path(&made), &json!({"isArchived": true})).send().await.expect(200);
    app.call("POST", &under(&archived, "approve"))
        .key(&app.home.key)
        .send()
        .await
        .problem(409, "policy_archived");
}

async fn members_read_and_sign_what_is_published(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let call = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    let draft = made(app, "Draft.").await;
    let made = made(app, "Published.").await;
    publish(app, &made).await;
    app.mails().await;
    app.patch(&path(&made), &json!({"contentMarkdown": "Secret plans.", "name": "Working title"}))
        .send()
        .await
        .expect(200);
    let list = call("GET", "/v1/policies").send().await.expect(200);
    assert_eq!(list["count"], 1, "{list}");
    for shown in [&list["data"][0], &call("GET", &path(&made)).send().await.expect(200)] {
        assert_eq!((&shown["name"], &shown["status"]), (&json!("Access Control"), &json!("published")));
        assert_eq!(text(&shown["content"][0]), "Published.");
    }
    for query in ["status=draft", "isPublished=true"] {
        let list = call("GET", &format!("/v1/policies?{query}")).send().await.expect(200);
        assert_eq!(list["count"], 1, "whatever people work on shows as it is published");
    }
    assert_eq!(call("GET", "/v1/policies?isArchived=true").send().await.expect(200)["count"], 0);
    for (q, count) in [("working", 0), ("access", 1), ("P-2", 1)] {
        let found = call("GET", &format!("/v1/policies?q={q}&total=true")).send().await.expect(200);
        assert_eq!(
            (&found["count"], &found["total"]),
            (&json!(count), &json!(count)),
            "{q}: what is published is found"
        );
    }
    let sorted = call("GET", "/v1/policies?sort=name&order=asc&limit=1").send().await.expect(200);
    assert_eq!(sorted["data"][0]["name"], "Access Control");
    call("GET", &path(&draft)).send().await.problem(404, "not_found");
    call("GET", &under(&made, "versions/1")).send().await.expect(200);
    call("GET", &under(&draft, "versions/1")).send().await.problem(404, "not_found");
    for forbidden in ["history", "versions", "signatures", "versions/1/diff/draft", "attachments"] {
        call("GET", &under(&made, forbidden)).send().await.problem(403, "forbidden");
    }
    call("GET", &format!("{}?asOf=2026-11-15", path(&made))).send().await.problem(403, "forbidden");
    call("PATCH", &path(&made)).json(&json!({"name": "x"})).send().await.problem(403, "forbidden");

    let to_sign = call("GET", "/v1/policies/to-sign?format=markdown").send().await.expect(200);
    assert_eq!(
        (&to_sign["count"], &to_sign["data"][0]["contentMarkdown"]),
        (&json!(1), &json!("Published.\n"))
    );
    let sign = under(&made, "sign");
    app.call("POST", &sign).key(&app.home.key).send().await.problem(403, "session_required");
    let other = json!({"versionId": "pv_01jcqg3v5mefzr7d0a6w3k9x2b"});
    call("POST", &sign).json(&other).send().await.problem(409, "version_changed");
    call("POST", &under(&draft, "sign")).send().await.problem(404, "not_found");
    let before = app.get(&path(&made)).send().await;
    let seen = json!({"versionId": to_sign["data"][0]["currentVersionId"]});
    let signature = call("POST", &sign).json(&seen).send().await.expect(200);
    assert_eq!((&signature["memberId"], &signature["version"]), (&eve["id"], &json!(1)));
    assert_eq!(call("POST", &sign).send().await.expect(200), signature, "signing again changes nothing");
    assert_eq!(call("GET", "/v1/policies/to-sign").send().await.expect(200)["count"], 0);
    assert_eq!(call("GET", &path(&made)).send().await.expect(200)["signedBy"], json!([eve["id"]]));
    let tag = before.header("etag").expect("a tag").to_owned();
    let after = app.get(&path(&made)).header("if-none-match", &tag).send().await.expect(200);
    assert_eq!(after["signedBy"], json!([eve["id"]]), "a signature changes the tag");
    let change = app.patch(&path(&made), &json!({"department": "hr"})).header("if-match", &tag);
    change.send().await.expect(200);
}

async fn a_changed_version_is_signed_again_and_the_same_is_not(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let call = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    let made = made(app, "One.").await;
    publish(app, &made).await;
    call("POST", &under(&made, "sign")).send().await.expect(200);
    app.mails().await;
    app.clock.advance(DAY);
    let same = publish(app, &made).await;
    assert_eq!((&same["currentVersion"], &same["signedBy"]), (&json!(2), &json!([eve["id"]])));
    assert!(app.mail.take().is_empty(), "nobody signs the same twice");
    app.clock.advance(DAY);
    let moment = "2026-11-17T00:00:00Z";
    app.patch(&path(&made), &json!({"contentMarkdown": "Two."})).send().await.expect(200);
    let changed = publish(app, &made).await;
    assert_eq!((&changed["currentVersion"], &changed["signedBy"]), (&json!(3), &json!([])));
    assert_eq!(app.mail.take().len(), 2, "the owner and the member are asked to sign");
    let then = app.get(&format!("{}?asOf={moment}", path(&made))).send().await.expect(200);
    assert_eq!(then["signedBy"], json!([eve["id"]]), "as it was");
    let signers = app.get(&under(&made, "signatures")).send().await.expect(200);
    let one = signers["data"].as_array().expect("signers").iter().find(|one| one["memberId"] == eve["id"]);
    let one = one.expect("eve");
    assert_eq!((&one["hasSigned"], &one["version"]), (&json!(false), &json!(1)));
}

async fn policies_are_sorted_by_version_and_signatures(app: &TestApp) {
    let mut policies = Vec::new();
    for name in ["draft", "signed", "open", "twice"] {
        app.clock.advance(Duration::from_secs(1));
        let body = json!({"name": name, "contentMarkdown": name, "isRequiredToSign": name != "open"});
        let policy = app.post("/v1/policies", &body).send().await.expect(201);
        if name != "draft" {
            publish(app, &policy).await;
        }
        policies.push(policy);
    }
    publish(app, &policies[3]).await;
    app.mails().await;
    for (email, policy) in [("eve@example.com", 1), ("mallory@example.com", 3)] {
        app.member(&app.home, email, "employee").await;
        let token = app.sign_in(email).await;
        let sign = app.call("POST", &under(&policies[policy], "sign"));
        sign.session(&token, &app.home.organization).send().await.expect(200);
    }
    let auditor = app.member(&app.home, "oscar@example.com", "employee").await;
    let token = app.sign_in("oscar@example.com").await;
    let sign = app.call("POST", &under(&policies[1], "sign"));
    sign.session(&token, &app.home.organization).send().await.expect(200);
    let names = async |token: Option<&str>, query: &str| -> Vec<String> {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let call = app.call("GET", &format!("/v1/policies?limit=1&order=asc&{query}{cursor}"));
            let call = match token {
                Some(token) => call.session(token, &app.home.organization),
                None => call.key(&app.home.key),
            };
            let page = call.send().await.expect(200);
            seen.extend(page["data"].as_array().expect("data").iter().map(|one| one["name"].to_string()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return seen.iter().map(|name| name.trim_matches('"').to_owned()).collect(),
            }
        }
    };
    for past in ["", "&asOf=2026-11-15"] {
        for (sort, expected) in [
            ("currentVersion", ["draft", "signed", "open", "twice"]),
            ("lastPublishedAt", ["draft", "signed", "open", "twice"]),
            ("signatures", ["draft", "open", "twice", "signed"]),
        ] {
            assert_eq!(names(None, &format!("sort={sort}{past}")).await, expected, "{sort}{past}");
        }
    }
    // A member's order tells nothing of the signatures of others.
    let eve = app.sign_in("eve@example.com").await;
    assert_eq!(names(Some(&eve), "sort=signatures").await, ["open", "twice", "signed"]);
    let mallory = app.sign_in("mallory@example.com").await;
    assert_eq!(names(Some(&mallory), "sort=signatures").await, ["open", "signed", "twice"]);
    // Whoever does not have to sign is not counted.
    let role = app.patch(&format!("/v1/people/{}", id(&auditor)), &json!({"role": "auditor"}));
    role.send().await.expect(200);
    assert_eq!(names(None, "sort=signatures&isPublished=true").await, ["open", "signed", "twice"]);
}

async fn owners_see_who_has_signed_and_remind_the_others(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "employee").await;
    app.member(&app.home, "mallory@example.com", "contractor").await;
    app.member(&app.home, "oscar@example.com", "auditor").await;
    let made = made(app, "One.").await;
    let remind = async || app.call("POST", &under(&made, "remind")).key(&app.home.key).send().await;
    remind().await.problem(409, "not_published");
    publish(app, &made).await;
    app.mails().await;
    let token = app.sign_in("eve@example.com").await;
    app.call("POST", &under(&made, "sign")).session(&token, &app.home.organization).send().await.expect(200);
    let list = app.get(&under(&made, "signatures?limit=2&total=true")).send().await.expect(200);
    assert_eq!(
        (&list["signedCount"], &list["missingCount"], &list["total"]),
        (&json!(1), &json!(2), &json!(3))
    );
    let cursor = list["nextCursor"].as_str().expect("more");
    let rest = app.get(&under(&made, &format!("signatures?cursor={cursor}"))).send().await.expect(200);
    assert_eq!((&rest["count"], &rest["nextCursor"]), (&json!(1), &Value::Null));
    assert_eq!(app.get(&under(&made, "signatures?version=1")).send().await.expect(200)["count"], 1);
    assert_eq!(remind().await.expect(200), json!({"remindedCount": 2}));
    assert_eq!(remind().await.expect(200), json!({"remindedCount": 0}), "they were reminded already");
    let told = app.mails().await;
    assert_eq!(told.len(), 2, "not the auditor, and nobody who has signed");
    assert!(told.iter().all(|mail| mail.subject.contains("Please read and sign P-1 Access Control")));
    app.patch(&path(&made), &json!({"isRequiredToSign": false})).send().await.expect(200);
    assert_eq!(remind().await.expect(200), json!({"remindedCount": 0}));
    // A member who has switched off these mails gets none.
    app.patch(&path(&made), &json!({"isRequiredToSign": true})).send().await.expect(200);
    let token = app.sign_in("mallory@example.com").await;
    let switch =
        app.call("PATCH", "/v1/auth/notifications").header("authorization", &format!("Bearer {token}"));
    switch.json(&json!({"policies": false})).send().await.expect(200);
    app.work().await;
    app.clock.advance(Duration::from_hours(23));
    assert_eq!(remind().await.expect(200), json!({"remindedCount": 0}), "not twice within a day");
    app.clock.advance(Duration::from_hours(1));
    assert_eq!(remind().await.expect(200), json!({"remindedCount": 1}), "as many as get a mail");
    let mails = app.mails().await;
    assert_eq!(mails.len(), 1);
    // The mail client can unsubscribe by itself.
    let mail = &mails[0];
    let link = mail.unsubscribe.as_deref().expect("a link");
    assert!(mail.html.contains(&format!("<a href=\"{link}\">")), "{}", mail.html);
    let target = link.replace("https://compliance.example.com", "");
    let form = "application/x-www-form-urlencoded";
    let done = app.call("POST", &target).raw(form, "List-Unsubscribe=One-Click").send().await;
    assert_eq!(done.status, 200, "{}", done.text());
    app.call("POST", "/unsubscribe?token=x")
        .raw(form, "List-Unsubscribe=One-Click")
        .send()
        .await
        .problem(410, "link_expired");
    app.work().await;
    app.clock.advance(DAY);
    assert_eq!(remind().await.expect(200), json!({"remindedCount": 0}));
    app.mails().await;
}

async fn reviews_come_due_by_the_organizations_calendar(app: &TestApp) {
    app.patch("/v1/organization", &json!({"timeZone": "Pacific/Kiritimati"})).send().await.expect(200);
    let made = made(app, "One.").await;
    app.patch(&path(&made), &json!({"frequency": "monthly"})).send().await.expect(200);
    let published = publish(app, &made).await;
    app.mails().await;
    // It is 15 November in UTC, and 14 hours later there.
    let today = app.get("/v1/policies?reviewDue=true").send().await.expect(200);
    assert_eq!(today["count"], 0);
    assert_eq!(published["reviewDate"], "2026-12-15");
    let status = async || app.get(&path(&made)).send().await.expect(200)["status"].clone();
    app.clock.advance(29 * DAY);
    app.housekeeping().await;
    assert_eq!(status().await, "published");
    app.clock.advance(DAY);
    app.housekeeping().await;
    assert_eq!(status().await, "needs_review");
    assert_eq!(app.get("/v1/policies?reviewDue=true").send().await.expect(200)["count"], 1);
    // The approver confirms it.
    let again = app.call("POST", &under(&made, "approve")).key(&app.home.key).send().await.expect(200);
    assert_eq!((&again["currentVersion"], &again["reviewDate"]), (&json!(2), &json!("2027-01-15")));
    app.mails().await;
}

async fn two_versions_are_compared(app: &TestApp) {
    let made = made(app, "# A\n\nWe review access every quarter.\n\nGone.").await;
    publish(app, &made).await;
    let change = json!({"contentMarkdown": "# A\n\nWe review access every month.\n\n- New"});
    app.patch(&path(&made), &change).send().await.expect(200);
    let diff = app.get(&under(&made, "versions/1/diff/draft")).send().await.expect(200);
    assert_eq!(diff["counts"], json!({"same": 1, "changed": 1, "added": 1, "removed": 1}));
    assert_eq!(
        diff["changes"][1]["words"],
        json!([
            {"change": "same", "text": "We review access every "}, {"change": "removed", "text": "quarter"},
            {"change": "added", "text": "month"}, {"change": "same", "text": "."}
        ])
    );
    publish(app, &made).await;
    let two = app.get(&under(&made, "versions/2")).send().await.expect(200);
    let by_id = app.get(&under(&made, &format!("versions/1/diff/{}", id(&two)))).send().await.expect(200);
    assert_eq!(by_id, diff);
    let none = app.get(&under(&made, "versions/2/diff/2")).send().await.expect(200);
    assert_eq!(none["counts"], json!({"same": 3, "changed": 0, "added": 0, "removed": 0}));
    for missing in ["versions/1/diff/3", "versions/x/diff/1", "versions/0/diff/1"] {
        app.get(&under(&made, missing)).send().await.problem(404, "not_found");
    }
    app.mails().await;
}

async fn a_proposal_is_shown_and_applied_in_part(app: &TestApp) {
    let made = made(app, "One.\n\nTwo words here.\n\nThree.").await;
    let compare = under(&made, "diff");
    let proposal = "Zero.\n\nOne.\n\nTwo good words here.\n\nThree.";
    let shown = app.post(&compare, &json!({"contentMarkdown": proposal})).send().await.expect(200);
    let changes: Vec<&str> = shown["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|one| one["change"].as_str().expect("one"))
        .collect();
    assert_eq!(changes, ["added", "same", "changed", "same"]);
    assert_eq!(app.get(&path(&made)).send().await.expect(200), made, "nothing is saved by comparing");
    let apply = |ids: Value| json!({"contentMarkdown": proposal, "apply": ids});
    assert_eq!(
        app.post(&compare, &apply(json!([1, 9]))).send().await.wrong_fields(),
        ["apply[0]", "apply[1]"]
    );
    assert_eq!(app.post(&compare, &apply(json!(["x"]))).send().await.wrong_fields(), ["apply"]);
    assert_eq!(app.post(&compare, &json!({"apply": [0]})).send().await.wrong_fields(), ["contentMarkdown"]);
    let reader = app.key(&["policy:read"]).await;
    app.post(&compare, &apply(json!([2]))).key(&reader).send().await.problem(403, "forbidden");
    app.post(&compare, &json!({"content": []})).key(&reader).send().await.expect(200);
    app.post(&compare, &apply(json!([2])))
        .header("if-match", "\"99\"")
        .send()
        .await
        .problem(412, "precondition_failed");
    let applied = app.post(&compare, &apply(json!([2]))).send().await.expect(200);
    let texts: Vec<&Value> = applied["content"].as_array().expect("blocks").iter().map(text).collect();
    assert_eq!(texts, ["One.", "Two good words here.", "Three."]);
}

async fn templates_become_policies(app: &TestApp) {
    let list = app.get("/v1/policy-templates?limit=100&total=true").send().await.expect(200);
    let all = list["data"].as_array().expect("templates");
    assert!(all.len() >= 25 && list["total"] == all.len());
    assert!(all.iter().all(|one| id(one).starts_with("frk_pt_")));
    let template = all.iter().find(|one| one["name"] == "Incident Response Policy").expect("a template");
    let shown = app.get(&format!("/v1/policy-templates/{}", id(template))).send().await.expect(200);
    assert!(shown["contentMarkdown"].as_str().expect("a text").contains("{{organization}}"));
    app.get("/v1/policy-templates/frk_pt_01jcqg3v5mefzr7d0a6w3k9x2b").send().await.problem(404, "not_found");
    let wishes = json!({"templateId": template["id"], "contact": "*security* <b>", "frequency": "quarterly"});
    let made = app.post("/v1/policies/from-template?format=markdown", &wishes).send().await;
    assert_eq!(made.wrong_fields(), ["format"]);
    let made = app.post("/v1/policies/from-template", &wishes).send().await.expect(201);
    assert_eq!((&made["policyTemplateId"], &made["status"]), (&template["id"], &json!("draft")));
    assert_eq!((&made["name"], &made["frequency"]), (&template["name"], &json!("quarterly")));
    let text = made["content"].to_string();
    assert!(
        !text.contains("{{") && text.contains("Home") && text.contains("*security* <b>"),
        "taken as it is"
    );
    let unknown = json!({"templateId": "frk_pt_01jcqg3v5mefzr7d0a6w3k9x2b"});
    assert_eq!(app.post("/v1/policies/from-template", &unknown).send().await.wrong_fields(), ["templateId"]);
    let default = json!({"templateId": template["id"], "name": "Ours"});
    let made = app.post("/v1/policies/from-template", &default).send().await.expect(201);
    assert!(made["content"].to_string().contains("ada@example.com"), "the caller is the contact");
    assert_eq!(made["name"], "Ours");
}

async fn a_policy_can_be_a_file(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let made = app.post("/v1/policies", &json!({"name": "Signed paper"})).send().await.expect(201);
    let attach = async |name: &str, kind: &str, data: &str| {
        let body = json!({"fileName": name, "fileType": kind, "fileData": data});
        app.post(&under(&made, "attachments"), &body).send().await.expect(201)
    };
    // "%PDF-1.4 …" and "hello"
    let file = attach("policy.pdf", "application/pdf", "JVBERi0xLjQKJcOkw7zDtgo=").await;
    let note = attach("note.txt", "text/plain", "aGVsbG8=").await;
    let point = |to: &Value| json!({"fileId": to["id"]});
    assert_eq!(app.patch(&path(&made), &point(&note)).send().await.wrong_fields(), ["fileId"]);
    let other = app.post("/v1/policies", &json!({"name": "x", "fileId": file["id"]})).send().await;
    assert_eq!(other.wrong_fields(), ["fileId"], "it belongs to another policy");
    let policy = app.patch(&path(&made), &point(&file)).send().await.expect(200);
    assert_eq!(policy["fileId"], file["id"]);
    publish(app, &made).await;
    app.mails().await;
    let theirs = |path: &str| app.call("GET", path).session(&token, &app.home.organization);
    let link = theirs(&under(&made, "file")).send().await.expect(200);
    assert!(link["downloadUrl"].as_str().expect("a link").contains("/v1/files/"));
    theirs(&format!("/v1/attachments/{}/download", id(&note))).send().await.problem(403, "forbidden");
    let gone = app.delete(&under(&made, &format!("attachments/{}", id(&file)))).send().await;
    gone.problem(409, "file_in_use");
    let version = app.get(&under(&made, "versions/1")).send().await.expect(200);
    assert_eq!(version["file"]["sha256"], file["sha256"]);
    app.patch(&path(&made), &json!({"fileId": null, "contentMarkdown": "Now a text."}))
        .send()
        .await
        .expect(200);
    app.delete(&under(&made, &format!("attachments/{}", id(&file)))).send().await.problem(409, "file_in_use");
    app.get(&under(&made, "file")).send().await.problem(404, "not_found");
    theirs(&under(&made, "file")).send().await.expect(200);
    app.delete(&path(&made)).send().await.expect(200);
    app.work().await;
}

async fn the_past_the_history_and_deletion(app: &TestApp) {
    let made = made(app, "One.").await;
    app.clock.advance(DAY);
    publish(app, &made).await;
    app.patch(&path(&made), &json!({"contentMarkdown": "Two."})).send().await.expect(200);
    let then = app.get(&format!("{}?asOf=2026-11-15&format=markdown", path(&made))).send().await.expect(200);
    assert_eq!((&then["contentMarkdown"], &then["status"]), (&json!("One.\n"), &json!("draft")));
    let list = app.get("/v1/policies?asOf=2026-11-15").send().await.expect(200);
    assert_eq!((&list["count"], text(&list["data"][0]["content"][0])), (&json!(1), &json!("One.")));
    let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
    app.post(&under(&made, "attachments"), &file).send().await.expect(201);
    let remark = json!({"content": "Nice.", "entityType": "policy", "entityId": made["id"]});
    app.post("/v1/comments", &remark).send().await.expect(201);
    let token = app.sign_in("ada@example.com").await;
    app.call("POST", &under(&made, "sign")).session(&token, &app.home.organization).send().await.expect(200);
    app.delete(&path(&made)).send().await.expect(200);
    app.mails().await;
    app.get(&under(&made, "versions")).send().await.problem(404, "not_found");
    let history = app.get(&under(&made, "history")).send().await.expect(200);
    assert_eq!(history["data"][0]["action"], "policy.deleted");
    let left = "SELECT (SELECT COUNT(*) FROM policies) + (SELECT COUNT(*) FROM policy_versions) + (SELECT COUNT(*) FROM policy_signatures) + (SELECT COUNT(*) FROM comments) + (SELECT COUNT(*) FROM attachments)";
    let left = app.ctx.db.read(async |t| t.one(left, &[], |row| row.int(0)).await).await.expect("a count");
    assert_eq!(left, 0);
}

async fn whoever_leaves_approves_nothing(app: &TestApp) {
    let grace = app.member(&app.home, "grace@example.com", "admin").await;
    let made = made(app, "Text.").await;
    let body = json!({"approverId": grace["id"]});
    app.post(&under(&made, "submit-for-approval"), &body).send().await.expect(200);
    app.patch(&path(&made), &json!({"assigneeId": grace["id"]})).send().await.expect(200);
    app.mails().await;
    app.delete(&format!("/v1/people/{}", id(&grace))).send().await.expect(200);
    let left = app.get(&path(&made)).send().await.expect(200);
    assert_eq!((&left["approverId"], &left["assigneeId"]), (&Value::Null, &Value::Null));
    assert_eq!(left["status"], "needs_review");
    let body = json!({"approverId": app.home.member});
    app.post(&under(&made, "submit-for-approval"), &body).send().await.expect(200);
    app.work().await;
}

/// Returns true when the bytes start and end like a PDF.
fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-2.0") && bytes.trim_ascii_end().ends_with(b"%%EOF")
}

async fn organizations_take_turns_at_printing(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let body = json!({"name": "Theirs", "contentMarkdown": "Short."});
    let theirs = app.call("POST", "/v1/policies").key(&other.key).json(&body).send().await.expect(201);
    let made = made(app, "Text.").await;
    // Block printing until all calls are queued, theirs behind ours.
    let nobody = attestry_domain::id::OrganizationId::from_u128(1);
    let held = app.ctx.printing.acquire(nobody).await;
    let next = app.ctx.printing.acquire(nobody).await;
    let mut calls = FuturesUnordered::new();
    for _ in 0..40 {
        calls.push(app.get(&under(&made, "pdf")).send().map(|reply| ("ours", reply)).boxed_local());
    }
    let mut replies = Vec::new();
    while app.ctx.printing.waiting() + replies.len() < 40 {
        tokio::select! {
            Some(reply) = calls.next() => replies.push(reply),
            () = tokio::task::yield_now() => {}
        }
    }
    let call = app.call("GET", &under(&theirs, "pdf")).key(&other.key);
    calls.push(call.send().map(|reply| ("theirs", reply)).boxed_local());
    while app.ctx.printing.waiting() + replies.len() < 41 {
        tokio::select! {
            Some(reply) = calls.next() => replies.push(reply),
            () = tokio::task::yield_now() => {}
        }
    }
    // Print one at a time, so that the calls end in the order in which they begin.
    drop(next);
    let (mut printed, mut refused, mut before_theirs) = (0, 0, None);
    replies.extend(calls.collect::<Vec<_>>().await);
    for (whose, reply) in replies {
        match (whose, reply.status.as_u16()) {
            ("ours", 503) => {
                assert!(reply.header("retry-after").is_some());
                refused += 1;
            }
            (_, status) => assert_eq!(status, 200, "{}", reply.text()),
        }
        match whose {
            "theirs" => before_theirs = Some(printed),
            _ if reply.status == 200 => printed += 1,
            _ => {}
        }
    }
    assert!(before_theirs.is_some_and(|before| before <= 4), "{before_theirs:?} of ours came first");
    drop(held);
    assert!(printed >= 30 && refused > 0, "{printed} printed, {refused} refused: waiting is bounded");
}

async fn policies_are_printed(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let theirs = |path: &str| app.call("GET", path).session(&token, &app.home.organization);
    let made =
        made(app, "## Zweck\n\n#evil *x* $y$ \u{a7} 日本 עברית\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")
            .await;
    theirs(&under(&made, "pdf")).send().await.problem(404, "not_found");
    let draft = app.get(&under(&made, "pdf")).send().await;
    assert_eq!(draft.status, 200);
    assert!(is_pdf(&draft.body));
    assert_eq!(draft.header("content-type"), Some("application/pdf"));
    assert_eq!(draft.header("content-disposition"), Some("attachment; filename=\"P-1 Access Control.pdf\""));
    assert_eq!(draft.header("x-missing-glyphs"), None);
    let again = app.get(&under(&made, "pdf")).send().await;
    assert!(again.body == draft.body, "the same input gives the same bytes");
    publish(app, &made).await;
    app.mails().await;
    let published = theirs(&under(&made, "pdf")).send().await;
    assert!(published.status == 200 && is_pdf(&published.body) && published.body != draft.body);
    let file = published.header("content-disposition").expect("a name");
    assert!(file.contains("P-1 Access Control v1.pdf"), "{file}");
    // U+13000 is a hieroglyph.
    app.patch(&path(&made), &json!({"contentMarkdown": "One \u{13000}."})).send().await.expect(200);
    let strange = app.get(&under(&made, "pdf")).send().await;
    assert_eq!(strange.header("x-missing-glyphs"), Some("U+13000"));
    let old = app.get(&under(&made, "pdf?version=1")).send().await;
    assert_eq!(old.status, 200);
    app.get(&under(&made, "pdf?version=2")).send().await.problem(404, "not_found");
    assert_eq!(app.get(&under(&made, "pdf?version=x")).send().await.wrong_fields(), ["version"]);
    let all = theirs("/v1/policies/pdf").send().await;
    assert!(all.status == 200 && is_pdf(&all.body));
    let log = app.get("/v1/audit-logs?action=policy.exported").send().await.expect(200);
    assert_eq!(log["count"], 6, "who printed what is recorded");
}

async fn two_who_publish_and_sign_at_once_do_not_meet(app: &TestApp) {
    let made = made(app, "One.").await;
    publish(app, &made).await;
    app.mails().await;
    let token = app.sign_in("ada@example.com").await;
    let sign = || app.call("POST", &under(&made, "sign")).session(&token, &app.home.organization).send();
    let all = futures_util::future::join_all((0..8).map(|_| sign())).await;
    let first = all[0].expect(200);
    assert!(all.iter().all(|one| one.expect(200) == first), "one signature, however often it is asked for");
    let body = json!({"approverId": app.home.member});
    app.post(&under(&made, "submit-for-approval"), &body).send().await.expect(200);
    let approve = || app.call("POST", &under(&made, "approve")).key(&app.home.key).send();
    let all = futures_util::future::join_all((0..8).map(|_| approve())).await;
    let done = all.iter().filter(|one| one.status == 200).count();
    assert_eq!(done, 1, "a policy is published once");
    for one in all.iter().filter(|one| one.status != 200) {
        one.problem(409, "not_submitted");
    }
    assert_eq!(app.get(&under(&made, "versions")).send().await.expect(200)["count"], 2);
    app.mails().await;
}
