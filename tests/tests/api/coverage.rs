//! Tests that need no upkeep: they walk the OpenAPI document. Each operation rejects requests without credentials,
//! does not expose another organization's objects, and writes one journal entry when it changes something. A new
//! operation is covered as soon as it has a route.

use attestry_domain::frameworks;
use attestry_domain::journal::feed::VISIBILITY_RULES;
use attestry_tests::{PASSWORD, Tenant, TestApp, both, token_in};
use serde_json::{Value, json};

use crate::portal;

/// The operations that need no credentials. An addition must be intentional.
const PUBLIC: &[(&str, &str)] = &[
    ("get", "/v1/health"),
    ("get", "/v1/files/{ticket}"),
    ("get", "/v1/setup"),
    ("post", "/v1/setup"),
    ("post", "/v1/auth/login"),
    ("post", "/v1/auth/forgot-password"),
    ("post", "/v1/auth/reset-password"),
    ("get", "/v1/auth/invitation"),
    ("post", "/v1/auth/unsubscribe"),
    ("post", "/v1/auth/accept-invitation"),
    ("get", "/v1/trust-access/{friendlyUrl}"),
    ("get", "/v1/trust-access/{friendlyUrl}/documents/{document}"),
    ("post", "/v1/trust-access/{friendlyUrl}/requests"),
    ("post", "/v1/trust-access/{friendlyUrl}/reclaim"),
    ("post", "/v1/trust-access/{friendlyUrl}/subscribers"),
    ("post", "/v1/trust-access/subscriptions/confirm"),
    ("post", "/v1/trust-access/subscriptions/unsubscribe"),
    ("get", "/v1/trust-access/nda/{token}"),
    ("post", "/v1/trust-access/nda/{token}/preview-nda"),
    ("post", "/v1/trust-access/nda/{token}/sign"),
    ("get", "/v1/trust-access/nda/verify/{code}"),
    ("post", "/v1/trust-access/nda/verify"),
    ("get", "/v1/trust-access/access/{token}"),
    ("get", "/v1/trust-access/access/{token}/policies"),
    ("get", "/v1/trust-access/access/{token}/policies/download-all"),
    ("get", "/v1/trust-access/access/{token}/policies/{id}"),
    ("get", "/v1/trust-access/access/{token}/compliance-resources"),
    ("get", "/v1/trust-access/access/{token}/compliance-resources/{framework}"),
];

/// The address of a chat channel, where nothing listens.
const CHAT: &str = "http://127.0.0.1:9/hooks/abcdefghijklmnop";

both! {
    without_credentials_each_operation_is_401,
    another_organizations_things_are_404,
    each_change_leaves_one_entry,
}

pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) details: Value,
}

pub(crate) fn operations() -> Vec<Operation> {
    let document = attestry_api::document();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, details) in item.as_object().expect("operations") {
            let mut details = details.clone();
            if let Some(reference) =
                details["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str()
            {
                details["example"] =
                    document.pointer(&reference[1..]).expect("a schema")["examples"][0].clone();
            }
            let id = details["operationId"].as_str().expect("an id").to_owned();
            all.push(Operation { id, method: method.to_uppercase(), path: path.clone(), details });
        }
    }
    assert!(all.len() > 15, "the document is there");
    all
}

/// Real entities of an organization, by the prefix of their ids. Entities with attachments are separate: deleting one
/// deletes its attachments, each with its own journal entry.
pub(crate) struct Things {
    tenant: Tenant,
    ids: Vec<(&'static str, String)>,
    with_attachments: Vec<(&'static str, String)>,
    /// By the prefix of the entity that has the attachment.
    attachments: Vec<(&'static str, String)>,
}

impl Things {
    /// Creates one of every entity that has an id in a path.
    pub(crate) async fn of(app: &TestApp, tenant: &Tenant) -> Self {
        let name = tenant.email.split('@').next().expect("a name");
        let member = app.member(tenant, &format!("{name}-friend@example.com"), "employee").await;
        let body = json!({"name": "spare", "scopes": ["member:read"]});
        let key = app
            .call("POST", "/v1/organization/api-keys")
            .key(&tenant.key)
            .json(&body)
            .send()
            .await
            .expect(201);
        let post = async |path: &str, body: Value| {
            app.call("POST", path).key(&tenant.key).json(&body).send().await.expect(201)["id"].clone()
        };
        let risk = post("/v1/risks", json!({"title": "A", "description": "B", "category": "other"})).await;
        let vendor = post("/v1/vendors", json!({"name": "A", "description": "B"})).await;
        let task = post("/v1/tasks", json!({"title": "A"})).await;
        let other_task = post("/v1/tasks", json!({"title": "A"})).await;
        let policy = post("/v1/policies", json!({"name": "A", "contentMarkdown": "B"})).await;
        let other_policy = post("/v1/policies", json!({"name": "A"})).await;
        let control = post("/v1/controls", json!({"name": "A"})).await;
        let context = post("/v1/context", json!({"question": "A?"})).await;
        let post_on_portal = post("/v1/trust-portal/posts", json!({"kind": "update", "title": "A"})).await;
        let view = post("/v1/views", json!({"list": "risks", "name": "A", "parameters": {}})).await;
        let channel = json!({"name": "A", "kind": "slack", "url": CHAT, "notices": ["dueSoon"]});
        let channel = post("/v1/chat-channels", channel).await;
        portal::publish(app, tenant).await;
        let guest = format!("{name}-guest@customer.example");
        let access_request = portal::request(app, tenant, &guest).await;
        let (_, access_grant) =
            portal::granted(app, tenant, &format!("{name}-reader@customer.example")).await;
        let framework = framework(app, tenant, "things").await;
        let (_, statement) = statement(app, tenant, "answered_things").await;
        let automations = format!("/v1/tasks/{}/automations", task.as_str().expect("an id"));
        let script = "export default () => ({ status: 'pass', summary: 'x' })";
        let automation = post(&automations, json!({"name": "A", "script": script})).await;
        let runs = format!("{automations}/{}/runs", automation.as_str().expect("an id"));
        let run = post(&runs, json!({})).await;
        let about = post("/v1/risks", json!({"title": "A", "description": "B", "category": "other"})).await;
        let remark = json!({"content": "Hm.", "entityId": about, "entityType": "risk"});
        let comment = post("/v1/comments", remark.clone()).await;
        let other_comment = post("/v1/comments", remark).await;
        let other_vendor = post("/v1/vendors", json!({"name": "A", "description": "B"})).await;
        let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
        let attach = async |to: &str, id: &Value| {
            let path = format!("/v1/{to}/{}/attachments", id.as_str().expect("an id"));
            post(&path, file.clone()).await.as_str().expect("an id").to_owned()
        };
        let attachments = vec![
            ("rsk_", attach("risks", &about).await),
            ("vnd_", attach("vendors", &other_vendor).await),
            ("cmt_", attach("comments", &other_comment).await),
            ("tsk_", attach("tasks", &other_task).await),
            ("pol_", attach("policies", &other_policy).await),
        ];
        app.work().await;
        let stranger =
            app.tenant(&format!("{name}'s stranger"), &format!("{name}-stranger@example.com")).await;
        let id = |value: &Value| value.as_str().expect("an id").to_owned();
        let ids = vec![
            ("mem_", id(&member["id"])),
            ("apk_", id(&key["id"])),
            ("usr_", stranger.user),
            ("rsk_", id(&risk)),
            ("vnd_", id(&vendor)),
            ("cmt_", id(&comment)),
            ("tsk_", id(&task)),
            ("auto_", id(&automation)),
            ("ear_", id(&run)),
            ("pol_", id(&policy)),
            ("ctl_", id(&control)),
            ("ctx_", id(&context)),
            ("org_", tenant.organization.clone()),
            ("soa_doc_", statement),
            ("tpp_", id(&post_on_portal)),
            ("view_", id(&view)),
            ("chn_", id(&channel)),
            ("inb_", "inb_01jcqg3v5mefzr7d0a6w3k9x2b".to_owned()),
            ("tar_", access_request),
            ("tag_", access_grant),
            ("frk_", framework),
            ("ses_", session(app, tenant).await),
            ("pv_", "pv_01jcqg3v5mefzr7d0a6w3k9x2b".to_owned()),
            // Templates are shared by all organizations: this one does not exist.
            ("frk_pt_", "frk_pt_01jcqg3v5mefzr7d0a6w3k9x2b".to_owned()),
        ];
        let with_attachments = vec![
            ("rsk_", id(&about)),
            ("vnd_", id(&other_vendor)),
            ("cmt_", id(&other_comment)),
            ("tsk_", id(&other_task)),
            ("pol_", id(&other_policy)),
        ];
        Self { tenant: tenant.clone(), ids, with_attachments, attachments }
    }

    fn id(&self, prefix: &str) -> &str {
        find(&self.ids, prefix)
    }

    /// The path with its parameters filled in.
    pub(crate) fn path(&self, operation: &Operation) -> String {
        let mut path = operation.path.clone();
        let mut parent = "rsk_".to_owned();
        for parameter in operation.details["parameters"].as_array().expect("parameters") {
            if parameter["in"] != "path" {
                continue;
            }
            let value = match parameter["schema"]["pattern"].as_str() {
                None if parameter["name"] == "name" => "SPARE",
                None => "nonsense",
                Some(pattern) => match &pattern[1..pattern.find('[').expect("a prefix")] {
                    "att_" => find(&self.attachments, &parent),
                    prefix => {
                        prefix.clone_into(&mut parent);
                        let apart = operation.path.contains("/attachments");
                        find(if apart { &self.with_attachments } else { &self.ids }, prefix)
                    }
                },
            };
            path = path.replace(&format!("{{{}}}", parameter["name"].as_str().expect("a name")), value);
        }
        if operation.path.contains("/compliance-resources/{framework}") && operation.method == "DELETE" {
            path = path.replace("nonsense", "iso_27001");
        }
        if operation.id == "verify_soa" {
            path = format!("{path}?sha256={}", "a".repeat(64));
        }
        path
    }

    /// Returns the path with a new entity in it, for operations that consume theirs.
    async fn fresh_path(&self, app: &TestApp, operation: &Operation) -> String {
        let path = self.path(operation);
        if let Some(how) =
            operation.id.strip_suffix("_policy").or(operation.id.strip_suffix("_policy_signers"))
            && ["approve", "deny", "sign", "remind"].contains(&how)
        {
            let post =
                |path: &str, body: Value| app.call("POST", path).key(&self.tenant.key).json(&body).send();
            let made = post("/v1/policies", json!({"name": "A", "contentMarkdown": "B"})).await.expect(201);
            let path = format!("/v1/policies/{}", made["id"].as_str().expect("an id"));
            let ask = json!({"approverId": self.tenant.member});
            post(&format!("{path}/submit-for-approval"), ask).await.expect(200);
            if matches!(how, "sign" | "remind") {
                app.call("POST", &format!("{path}/approve")).key(&self.tenant.key).send().await.expect(200);
            }
            app.mails().await;
            return format!("{path}/{how}");
        }
        let (email, tenant) = (format!("{}@customer.example", operation.id.replace('_', "-")), &self.tenant);
        let path = match operation.id.as_str() {
            "approve_access_request" | "deny_access_request" => {
                let request = portal::request(app, tenant, &email).await;
                path.replace(self.id("tar_"), &request)
            }
            "end_session" => path.replace(self.id("ses_"), &session(app, tenant).await),
            "accept_risk" | "withdraw_risk_acceptance" => {
                let risk = json!({
                    "title": "A", "description": "B", "category": "other", "assigneeId": tenant.member,
                    "residualLikelihood": "likely"
                });
                let risk = post(app, tenant, "/v1/risks", risk, 201).await;
                let path = path.replace(self.id("rsk_"), risk["id"].as_str().expect("an id"));
                if operation.method == "DELETE" {
                    let token = app.sign_in(&tenant.email).await;
                    let call = app.call("POST", &path).session(&token, &tenant.organization);
                    call.json(&json!({"until": "2026-12-01", "reason": "A"})).send().await.expect(200);
                }
                path
            }
            "resend_nda" => path.replace(self.id("tar_"), &portal::approved(app, tenant, &email).await.0),
            "sign_nda" | "preview_own_nda" => {
                path.replace("nonsense", &portal::approved(app, tenant, "grace@customer.example").await.1)
            }
            "delete_certificate" | "get_certificate_link" => {
                portal::upload(app, tenant, "iso_27001", &portal::pdf(1)).await.expect(201);
                path
            }
            id if id.ends_with("_access") || id == "subscribe" => {
                path.replace("nonsense", &tenant.organization)
            }
            _ => path,
        };
        app.mails().await;
        let Some((runs, _)) = path.split_once("/ear_").filter(|_| operation.id == "cancel_run") else {
            return path;
        };
        let run = app.call("POST", runs).key(&self.tenant.key).send().await.expect(201);
        format!("{runs}/{}/cancel", run["id"].as_str().expect("an id"))
    }

    /// Returns the documented example with the ids of real entities.
    fn example(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.rfind('_') {
                Some(at) if text.len() == at + 27 && !text.starts_with("frk_") => {
                    json!(self.id(&text[..=at]))
                }
                _ => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.example(item)).collect(),
            Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), self.example(item))).collect(),
            other => other.clone(),
        }
    }

    /// Returns the body of a valid request: the documented example, or a fresh secret for operations that need one
    /// that was sent by mail.
    pub(crate) async fn body(&self, app: &TestApp, operation: &Operation) -> Option<Value> {
        if operation.id == "undo_programme" {
            let plan = json!({"frameworkIds": ["hipaa"]});
            let started = post(app, &self.tenant, "/v1/programme", plan, 201).await;
            return Some(json!({"startId": started["startId"]}));
        }
        let mut body = self.example(operation.details.get("example")?);
        // Discard the mail of earlier operations' jobs.
        app.mails().await;
        match operation.id.as_str() {
            "login" | "forgot_password" => body["email"] = json!(self.tenant.email),
            "reset_password" => {
                let ask = json!({"email": self.tenant.email});
                app.call("POST", "/v1/auth/forgot-password").json(&ask).send().await.expect(200);
                body["token"] = json!(token_in(&app.mails().await));
            }
            "accept_invitation" => {
                let ask = json!({"email": "newcomer@example.com", "role": "employee"});
                app.call("POST", "/v1/people/invite")
                    .key(&self.tenant.key)
                    .json(&ask)
                    .send()
                    .await
                    .expect(201);
                body["token"] = json!(token_in(&app.mails().await));
            }
            "unsubscribe" => {
                let task = json!({"title": "A", "assigneeId": self.id("mem_")});
                let task =
                    app.call("POST", "/v1/tasks").key(&self.tenant.key).json(&task).send().await.expect(201);
                body["token"] = json!(token_in(&app.mails().await));
                let path = format!("/v1/tasks/{}", task["id"].as_str().expect("an id"));
                app.call("DELETE", &path).key(&self.tenant.key).send().await.expect(200);
            }
            "create_members" => {
                body["members"][0]["userId"] = json!(app.tenant("Spare", "spare@example.com").await.user);
            }
            // Uses its own risk: deleting a risk deletes its comments, each with a journal entry.
            "create_comment" => {
                let risk = json!({"title": "A", "description": "B", "category": "other"});
                let risk =
                    app.call("POST", "/v1/risks").key(&self.tenant.key).json(&risk).send().await.expect(201);
                body["entityId"] = risk["id"].clone();
            }
            // No later operation sends a message there.
            "create_chat_channel" => {
                body["url"] = json!(CHAT);
                body["notices"] = json!(["dueSoon"]);
            }
            "delete_tasks" => {
                let task = json!({"title": "A"});
                let task =
                    app.call("POST", "/v1/tasks").key(&self.tenant.key).json(&task).send().await.expect(201);
                body["taskIds"] = json!([task["id"]]);
            }
            // The update operation has already applied the example.
            id if id.starts_with("bulk_") => body["change"] = json!({"assigneeId": self.tenant.member}),
            "submit_policy_for_approval" => body["approverId"] = json!(self.tenant.member),
            "sign_policy" => body = json!({}),
            "create_framework" => body["alias"] = json!("added"),
            id if id.ends_with("_soa") || id.ends_with("_soa_answer") => {
                let (framework, document) = statement(app, &self.tenant, id).await;
                let requirements = format!("/v1/frameworks/{framework}/requirements");
                let requirements = app.get(&requirements).key(&self.tenant.key).send().await.expect(200);
                body["documentId"] = json!(document);
                let post = |path: &str, body: Value| {
                    app.call("POST", &format!("/v1/soa/{path}")).key(&self.tenant.key).json(&body).send()
                };
                let mut answer = json!({"organizationId": self.tenant.organization, "documentId": document});
                let mut ask = answer.clone();
                answer["questionId"] = requirements["data"][0]["id"].clone();
                answer["isApplicable"] = json!(true);
                ask["approverId"] = json!(self.tenant.member);
                match id {
                    "save_soa_answer" => body = answer,
                    _ => drop(post("save-answer", answer).await.expect(200)),
                }
                match id {
                    "submit_soa" => body = ask,
                    "approve_soa" | "decline_soa" => drop(post("submit-for-approval", ask).await.expect(200)),
                    _ => {}
                }
            }
            "create_controls_from_framework" => {
                body["requirementIds"] = json!([frameworks::shipped()[0].requirements[0].id]);
            }
            "confirm_subscription" | "end_subscription" => {
                let path = format!("/v1/trust-access/{}/subscribers", self.tenant.organization);
                let email = format!("{}@customer.example", operation.id.replace('_', "-"));
                app.call("POST", &path).json(&json!({"email": email})).send().await.expect(200);
                let mut mails = app.mails().await;
                mails.retain(|mail| mail.to_address == email);
                body["token"] = json!(token_in(&mails));
            }
            "invite_member" => body["email"] = json!("invited@example.com"),
            "delete_organization" => body["name"] = json!("Analytical Engines Ltd"),
            "delete_comment" => body["userId"] = json!(self.tenant.user),
            id if id.ends_with("_attachment") => body["userId"] = json!(self.tenant.user),
            _ => {}
        }
        Some(body)
    }
}

async fn post(app: &TestApp, tenant: &Tenant, path: &str, body: Value, status: u16) -> Value {
    app.call("POST", path).key(&tenant.key).json(&body).send().await.expect(status)
}

/// Creates a framework with one question.
async fn framework(app: &TestApp, tenant: &Tenant, alias: &str) -> String {
    let body = json!({"name": "F", "alias": alias, "requirements": [{"code": "1", "title": "A"}]});
    let made = post(app, tenant, "/v1/frameworks", body, 201).await;
    made["id"].as_str().expect("an id").to_owned()
}

/// Creates a framework with one question and a statement of applicability for it.
async fn statement(app: &TestApp, tenant: &Tenant, alias: &str) -> (String, String) {
    let framework = framework(app, tenant, alias).await;
    let body = json!({"organizationId": tenant.organization, "frameworkId": framework});
    let made = post(app, tenant, "/v1/soa/ensure-setup", body, 200).await;
    (framework, made["document"]["id"].as_str().expect("an id").to_owned())
}

fn find<'a>(ids: &'a [(&str, String)], prefix: &str) -> &'a str {
    ids.iter()
        .find(|(known, _)| *known == prefix)
        .map_or_else(|| panic!("no thing with an id {prefix}…"), |(_, id)| id)
}

/// Returns the body of an operation that accepts a table: one row with the required fields.
fn table(operation: &Operation) -> Option<&'static str> {
    match operation.id.as_str() {
        "import_risks" | "preview_import_of_risks" => Some("title,description,category\nA,B,other\n"),
        "import_vendors" | "preview_import_of_vendors" => Some("name,description\nA,B\n"),
        "import_tasks" | "preview_import_of_tasks" => Some("title\nA\n"),
        "import_controls" | "preview_import_of_controls" => Some("name\nA\n"),
        "import_context" | "preview_import_of_context" => Some("question\nA?\n"),
        _ => None,
    }
}

/// Returns the example of a body without its user.
fn without_user(example: &Value) -> Value {
    let mut body = example.clone();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("userId");
    }
    body
}

/// Before set-up there is no organization and no journal; it has its own test file.
fn is_setup(operation: &Operation) -> bool {
    operation.id == "set_up"
}

async fn without_credentials_each_operation_is_401(app: &TestApp) {
    for operation in operations() {
        let is_public = PUBLIC.contains(&(operation.method.to_lowercase().as_str(), &operation.path));
        assert_eq!(
            operation.details["security"] == json!([]),
            is_public,
            "{} is documented as it is",
            operation.id
        );
        let path = operation.path.replace(['{', '}'], "");
        let reply = app.call(&operation.method, &path).send().await;
        assert_eq!(reply.status.as_u16() == 401, !is_public, "{}: {}", operation.id, reply.text());
    }
}

async fn another_organizations_things_are_404(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = Things::of(app, &other).await;
    let before = app.entries(&other).await;
    let by_id = |operation: &&Operation| operation.path.contains('{') && operation.id != "set_secret";
    for operation in operations().iter().filter(by_id) {
        let body = operation
            .details
            .get("example")
            .map(|example| if operation.method == "PATCH" { json!({}) } else { without_user(example) });
        let call = app.call(&operation.method, &theirs.path(operation));
        let call = match operation.details.get("x-session") {
            Some(_) => call.session(&app.sign_in(&app.home.email).await, &app.home.organization),
            None => call.key(&app.home.key),
        };
        let reply = match body {
            Some(body) => call.json(&body).send().await,
            None => call.send().await,
        };
        reply.problem(404, "not_found");
    }
    assert_eq!(app.entries(&other).await, before, "nothing happened there");
}

async fn each_change_leaves_one_entry(app: &TestApp) {
    let things = Things::of(app, &app.home).await;
    // Operations that delete other entities come last.
    let mut all = operations();
    all.sort_by_key(|operation| match operation.id.as_str() {
        "delete_organization" => 4,
        "revoke_api_key" | "delete_member" => 3,
        "delete_task" | "delete_tasks" => 2,
        id => u8::from(id.starts_with("delete_")),
    });
    // A chat saves nothing, and no provider is configured.
    let changes = |operation: &&Operation| {
        operation.method != "GET" && !is_setup(operation) && operation.details.get("x-stream").is_none()
    };
    for operation in all.iter().filter(changes) {
        // `body` creates the prerequisites, so it runs before the entries are counted.
        let body = things.body(app, operation).await;
        let session = match operation.details.get("x-session") {
            Some(_) => Some(app.sign_in(&app.home.email).await),
            None => None,
        };
        app.work().await;
        let path = things.fresh_path(app, operation).await;
        let before = sequence(app).await;
        let call = app.call(&operation.method, &path);
        let call = match &session {
            Some(token) => call.session(token, &app.home.organization),
            None => call.key(&app.home.key),
        };
        let reply = match (&body, table(operation)) {
            (Some(body), _) => call.json(body).send().await,
            (None, Some(table)) => call.raw("text/csv", table).send().await,
            (None, None) => call.send().await,
        };
        assert!(reply.status.is_success(), "{}: {}", operation.id, reply.text());
        // Some leave the work, and so the entry, to a job.
        app.mails().await;
        let entries = match operation.id.as_str() {
            // The request and the end of a run; a task and its automation.
            // A version and the policy; a comment and the policy.
            // An answer and the statement.
            "run_automation" | "delete_task" | "approve_policy" | "deny_policy" | "save_soa_answer"
            // A request and the agreement; a certificate and the one it replaces.
            | "approve_access_request" | "upload_certificate"
            // A visitor who already has access gets a link.
            | "request_access"
            // The agreement, and the one it replaces.
            | "resend_nda" => 2,
            // The agreement, its request, and the grant.
            "sign_nda" => 3,
            // A comparison saves nothing.
            // There are no proposals; the statement already exists.
            // Previews and lists save nothing.
            // One for each record.
            "start_programme" | "undo_programme" | "create_risks_from_library" => {
                assert!(sequence(app).await > before, "{} leaves entries", operation.id);
                // The start before it, so that later operations find requirements without a control.
                if operation.id == "undo_programme" {
                    post(app, &app.home, "/v1/programme/undo", json!({}), 200).await;
                }
                continue;
            }
            "compare_policy" | "confirm_soa_answers" | "ensure_soa_setup" | "list_certificates" | "preview_nda"
            | "preview_own_nda" | "verify_nda_file" | "preview_programme" | "preview_portal"
            // Nothing is late.
            | "remind_owners"
            // Nobody else's business.
            | "mark_inbox" => 0,
            previewed if previewed.starts_with("preview_import_of_") => 0,
            _ => 1,
        };
        assert_eq!(sequence(app).await, before + entries, "{} leaves its entry", operation.id);
        // Restore changed passwords, so that the next operation can sign in.
        if matches!(operation.id.as_str(), "reset_password" | "change_password") {
            let email = attestry_domain::Parse::parse(&app.home.email).expect("an address");
            let password = attestry_domain::Parse::parse(PASSWORD).expect("a password");
            attestry_app::identity::passwords::reset_by_operator(&app.ctx, &email, &password)
                .await
                .expect("a password");
        }
    }
    each_kind_has_its_readers(app).await;
}

/// Checks that every recorded entity type has a visibility rule.
async fn each_kind_has_its_readers(app: &TestApp) {
    let sql = "SELECT DISTINCT entity_type FROM journal";
    let kinds = app.ctx.db.read(async |t| t.all(sql, &[], |row| row.text(0)).await).await;
    for kind in kinds.map_err(|error: attestry_db::Error| error).expect("kinds") {
        assert!(
            VISIBILITY_RULES.iter().any(|(known, ..)| *known == kind),
            "{kind} is missing in domain/feed.rs"
        );
    }
}

/// Creates a session of the tenant's owner and returns its id.
async fn session(app: &TestApp, tenant: &Tenant) -> String {
    let token = app.sign_in(&tenant.email).await;
    let call = app.call("GET", "/v1/auth/sessions").session(&token, &tenant.organization);
    call.send().await.expect(200)["data"][0]["id"].as_str().expect("an id").to_owned()
}

/// Returns the head's sequence without the API, which may be inaccessible.
async fn sequence(app: &TestApp) -> i64 {
    let id = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
    let head = app.ctx.db.read(async move |t| attestry_storage::journal::head(t, id).await).await;
    head.expect("a read").expect("a head").head.sequence
}
