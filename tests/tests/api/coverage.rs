//! Tests that need no upkeep: they walk the OpenAPI document. Each operation rejects requests without credentials,
//! does not expose another organization's objects, and writes one journal entry when it changes something. A new
//! operation is covered as soon as it has a route: its request is the documented example, and the entities that it
//! names are created by the documented requests for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use attestry_domain::journal::feed::VISIBILITY_RULES;
use attestry_tests::authenticator::code_at;
use attestry_tests::provider::{CLIENT, IdentityProvider, SECRET};
use attestry_tests::{Call, Tenant, TestApp, both, id};
use serde_json::{Value, json};

use crate::second_factors::{challenge, enrol};
use crate::{directory, passkeys, portal, sso};

/// The operations that need no credentials. An addition must be intentional.
const PUBLIC: &[(&str, &str)] = &[
    ("get", "/v1/health"),
    ("get", "/v1/files/{ticket}"),
    ("get", "/v1/setup"),
    ("post", "/v1/setup"),
    ("post", "/v1/auth/login"),
    ("post", "/v1/auth/login/second-factor"),
    ("post", "/v1/auth/passkeys/sign-in-options"),
    ("post", "/v1/auth/passkeys/sign-in"),
    ("post", "/v1/auth/sign-in-methods"),
    ("get", "/v1/auth/sso/{connectionId}/start"),
    ("get", "/v1/auth/sso/{connectionId}/callback"),
    ("post", "/v1/auth/sso/{connectionId}/logout-token"),
    ("post", "/v1/auth/sso/switch"),
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

/// Operations that need a state, and the operation that leads to it. Both act on the same entities.
const STEPS: &[(&str, &str)] = &[
    ("accept_invitation", "invite_member"),
    ("approve_policy", "submit_policy_for_approval"),
    ("approve_soa", "submit_soa"),
    ("confirm_subscription", "subscribe"),
    ("decline_soa", "submit_soa"),
    ("delete_certificate", "upload_certificate"),
    ("delete_secret", "set_secret"),
    ("deny_policy", "submit_policy_for_approval"),
    ("end_subscription", "subscribe"),
    ("get_certificate_link", "upload_certificate"),
    ("preview_own_nda", "approve_access_request"),
    ("reclaim_access", "sign_nda"),
    ("remind_policy_signers", "approve_policy"),
    ("resend_nda", "approve_access_request"),
    ("remind_owners", "start_programme"),
    ("reset_password", "forgot_password"),
    ("sign_nda", "approve_access_request"),
    ("sign_policy", "approve_policy"),
    ("submit_soa", "save_soa_answer"),
    ("unlink_control", "link_control"),
    ("withdraw_risk_acceptance", "accept_risk"),
];

/// Entities that no POST to their collection creates: the prefix of the id, an operation, and the position of the id
/// in its response.
const CREATED_BY: &[(&str, &str, &str)] = &[
    ("frk_rq_", "list_requirements", "/data/0/id"),
    ("prr_", "start_programme", "/startId"),
    ("pv_", "approve_policy", "/currentVersionId"),
    ("ses_", "list_sessions", "/data/0/id"),
    ("soa_doc_", "ensure_soa_setup", "/document/id"),
    ("tag_", "sign_nda", "/grant/id"),
    ("tar_", "request_access", "/id"),
];

/// The number of journal entries of the operations that do not write exactly one; `None` if it depends on the catalogue.
const ENTRIES: &[(&str, Option<i64>)] = &[
    // The request and the agreement.
    ("approve_access_request", Some(2)),
    // The version and the policy.
    ("approve_policy", Some(2)),
    // The member, and what the directory says of them.
    ("create_scim_user", Some(2)),
    ("delete_scim_user", Some(2)),
    // The name of the account, too.
    ("replace_scim_user", Some(2)),
    // The example is what it is already.
    ("replace_scim_group", Some(0)),
    // The old key and the new one.
    ("rotate_api_key", Some(2)),
    // Nobody left anything behind.
    ("hand_over", Some(0)),
    // The example is what it is already.
    ("update_directory", Some(0)),
    ("check_sso_connection", Some(0)),
    ("compare_policy", Some(0)),
    // Nothing was proposed.
    ("confirm_soa_answers", Some(0)),
    // One for each requirement.
    ("create_controls_from_framework", None),
    ("create_risks_from_library", None),
    // The file, and the latest evidence of the task.
    ("create_task_attachment", Some(2)),
    ("delete_task_attachment", Some(2)),
    // The comment and the policy.
    ("deny_policy", Some(2)),
    ("list_certificates", Some(0)),
    // Only its reader sees it.
    ("mark_inbox", Some(0)),
    // Nothing is late.
    ("remind_owners", Some(0)),
    // The agreement, and the one that it replaces.
    ("resend_nda", Some(2)),
    // The request and the end of the run.
    ("run_automation", Some(2)),
    // The answer and the statement.
    ("save_soa_answer", Some(2)),
    // The agreement, its request, and the grant.
    ("sign_nda", Some(3)),
    ("show_sign_in_methods", Some(0)),
    // The secret waits for its first code, and a ceremony for its answer.
    ("start_passkey_confirmation", Some(0)),
    ("start_passkey_registration", Some(0)),
    ("start_passkey_sign_in", Some(0)),
    ("start_sso_ticket", Some(0)),
    ("start_totp", Some(0)),
    ("test_sso_connection", Some(0)),
    // One for each record.
    ("start_programme", None),
    ("undo_programme", None),
    // The example is what it is already.
    ("update_mail_domain", Some(0)),
    ("verify_nda_file", Some(0)),
];

/// Operations that have peers in tests of their own: a name server, and a provider that signs.
const ELSEWHERE: &[&str] = &["receive_logout_token", "switch_session", "verify_mail_domain"];

/// The number of the next authenticator.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The address of a chat channel, where nothing listens.
const CHAT: &str = "http://127.0.0.1:9/hooks/abcdefghijklmnop";
/// The address of the owner in all examples.
const OWNER: &str = "ada@example.com";

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
    /// The names of the fields that its body must have.
    required: Vec<String>,
}

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let document = attestry_api::document();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, details) in item.as_object().expect("operations") {
            let (mut details, mut required) = (details.clone(), Vec::new());
            if let Some(reference) =
                details["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str()
            {
                let schema = document.pointer(&reference[1..]).expect("a schema");
                details["example"] = schema["examples"][0].clone();
                let names = schema["required"].as_array().into_iter().flatten();
                required = names.map(|name| name.as_str().expect("a name").to_owned()).collect();
            }
            let id = details["operationId"].as_str().expect("an id").to_owned();
            all.push(Operation { id, method: method.to_uppercase(), path: path.clone(), details, required });
        }
    }
    assert!(all.len() > 15, "the document is there");
    all
});

pub(crate) fn operations() -> &'static [Operation] {
    &OPERATIONS
}

fn operation(id: &str) -> &'static Operation {
    operations().iter().find(|operation| operation.id == id).expect(id)
}

fn creation(collection: &str) -> Option<&'static Operation> {
    operations().iter().find(|operation| operation.method == "POST" && operation.path == collection)
}

/// Returns the path's parameters: the name, the prefix of the ids that it accepts, and an example.
fn path_parameters(operation: &Operation) -> impl Iterator<Item = (&str, Option<&str>, &Value)> {
    let all = operation.details["parameters"].as_array().expect("parameters").iter();
    all.filter(|parameter| parameter["in"] == "path").map(|parameter| {
        let pattern = parameter["schema"]["pattern"].as_str();
        let prefix = pattern.map(|pattern| &pattern[1..pattern.find('[').expect("a prefix")]);
        (parameter["name"].as_str().expect("a name"), prefix, &parameter["schema"]["examples"][0])
    })
}

/// Returns the part of a path before a parameter.
fn collection_of<'a>(operation: &'a Operation, parameter: &str) -> &'a str {
    operation.path.split(&format!("/{{{parameter}}}")).next().unwrap_or_default()
}

/// Returns the operation that creates entities with such ids.
fn source(prefix: &str, collection: Option<&str>) -> Option<&'static Operation> {
    if let Some((_, id, _)) = CREATED_BY.iter().find(|(known, ..)| *known == prefix) {
        return Some(operation(id));
    }
    let by_prefix = || {
        operations().iter().find_map(|operation| {
            path_parameters(operation)
                .filter(|(_, known, _)| *known == Some(prefix))
                .find_map(|(name, ..)| creation(collection_of(operation, name)))
        })
    };
    collection.and_then(creation).or_else(by_prefix)
}

/// The prefix of an id such as `rsk_01jcqg3v5mefzr7d0a6w3k9x2b`.
fn prefix_of(text: &str) -> Option<&str> {
    text.rfind('_').filter(|at| text.len() == at + 27).map(|at| &text[..=at])
}

/// Adds the prefixes of all ids in a value.
fn collect_prefixes(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => found.extend(prefix_of(text).map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| collect_prefixes(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect_prefixes(item, found)),
        _ => {}
    }
}

/// Replaces the ids in a value, by their prefixes, and the owner's address.
fn replace(value: &mut Value, ids: &BTreeMap<String, String>, owner: &str) {
    match value {
        Value::String(text) if text == OWNER => owner.clone_into(text),
        Value::String(text) => {
            if let Some(id) = prefix_of(text).and_then(|prefix| ids.get(prefix)) {
                id.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, ids, owner)),
        Value::Object(fields) => fields.values_mut().for_each(|item| replace(item, ids, owner)),
        _ => {}
    }
}

/// The entities of an organization. Each is created when a request first names it.
pub(crate) struct Things<'a> {
    app: &'a TestApp,
    tenant: &'a Tenant,
    /// The number of its authenticator.
    number: usize,
    /// By the operation that creates them.
    ids: BTreeMap<&'static str, String>,
    /// Its identity provider.
    provider: Option<IdentityProvider>,
    /// The token of its directory.
    directory: Option<String>,
}

impl<'a> Things<'a> {
    pub(crate) async fn of(app: &'a TestApp, tenant: &'a Tenant) -> Self {
        portal::publish(app, tenant).await;
        Self {
            app,
            tenant,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            ids: BTreeMap::new(),
            provider: None,
            directory: None,
        }
    }

    /// Returns the token of the directory, which is set up on first use.
    pub(crate) async fn directory(&mut self) -> String {
        if self.directory.is_none() {
            // Other organizations of the same test may have verified the domain before.
            let sql = "DELETE FROM mail_domains";
            self.app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("deleted");
            let email = self.fresh_email("chief");
            let member = self.app.member(self.tenant, &email, "owner").await;
            let chief = Tenant { email, member: id(&member).to_owned(), ..self.tenant.clone() };
            let provider = directory::Provider::of(self.app, &chief, "example.com").await;
            self.directory = Some(provider.token);
        }
        self.directory.clone().expect("a token")
    }

    /// Returns the id of an entity. `collection` is the path that contains it; `None` if a body names it.
    async fn id(&mut self, prefix: &str, collection: Option<&str>) -> Option<String> {
        match (prefix, collection) {
            ("org_", _) => return Some(self.tenant.organization.clone()),
            ("usr_", None) => return Some(self.tenant.user.clone()),
            ("mem_", None) => return Some(self.tenant.member.clone()),
            ("idn_", Some(collection)) => return Some(Box::pin(self.identity(collection)).await),
            _ => {}
        }
        // A member is one to the people and to the directory.
        let operation =
            if prefix == "mem_" { operation("create_member") } else { source(prefix, collection)? };
        if !self.ids.contains_key(operation.id.as_str()) {
            if prefix == "mem_" {
                // The owner can be neither deactivated nor demoted.
                self.app.mails().await;
                let member = self.app.member(self.tenant, &self.fresh_email("friend"), "employee").await;
                self.ids.insert(&operation.id, id(&member).to_owned());
            } else {
                Box::pin(self.run(operation)).await;
            }
        }
        self.ids.get(operation.id.as_str()).cloned()
    }

    /// Links an identity to another member, or to the owner's own account.
    async fn identity(&mut self, collection: &str) -> String {
        let (email, member) = if collection.starts_with("/v1/people") {
            let member = self.id("mem_", Some("/v1/people")).await.expect("a member");
            (self.fresh_email("friend"), member)
        } else {
            (self.tenant.email.clone(), self.tenant.member.clone())
        };
        let connection = self.id("idc_", None).await.expect("a connection");
        let provider = self.provider.clone().expect("a provider");
        sso::sign_in(self.app, self.tenant, &provider, &connection, &email).await;
        let path = format!("/v1/people/{member}/identities");
        let known = self.app.call("GET", &path).key(&self.tenant.key).send().await.expect(200);
        id(&known["data"][0]).to_owned()
    }

    fn fresh_email(&self, name: &str) -> String {
        format!("{name}-of-{}", self.tenant.email)
    }

    /// Returns the path with the entities that it names, and no valid token.
    pub(crate) async fn path(&mut self, operation: &Operation) -> String {
        self.path_with(operation, None).await
    }

    async fn path_with(&mut self, operation: &Operation, token: Option<&str>) -> String {
        let mut path = operation.path.clone();
        for (name, prefix, example) in path_parameters(operation) {
            let collection = Some(collection_of(operation, name));
            let value = match (name, prefix) {
                // Templates are shared by all organizations: the example does not exist.
                (_, Some(prefix)) => {
                    self.id(prefix, collection).await.or_else(|| example.as_str().map(str::to_owned))
                }
                // An id or an alias.
                ("id", None) => self.id("frk_", collection).await,
                ("framework", None) => Some("iso_27001".to_owned()),
                ("friendlyUrl", None) => Some(self.tenant.organization.clone()),
                ("name", None) => Some("SPARE".to_owned()),
                ("token", None) => token.map(str::to_owned),
                _ => None,
            };
            path = path.replace(&format!("{{{name}}}"), value.as_deref().unwrap_or("nonsense"));
        }
        if operation.id == "verify_soa" {
            path = format!("{path}?sha256={}", "a".repeat(64));
        }
        path
    }

    /// Returns the documented example with the entities that it names, and the token.
    async fn body(&mut self, operation: &Operation, token: Option<&str>) -> Option<Value> {
        let mut body = operation.details.get("example")?.clone();
        let (mut prefixes, mut ids) = (BTreeSet::new(), BTreeMap::new());
        collect_prefixes(&body, &mut prefixes);
        for prefix in prefixes {
            if let Some(id) = self.id(&prefix, None).await {
                ids.insert(prefix, id);
            }
        }
        replace(&mut body, &ids, &self.tenant.email);
        if let (Some(token), Some(field)) = (token, body.get_mut("token")) {
            *field = json!(token);
        }
        // The examples that no organization can send as they are.
        match operation.id.as_str() {
            // The user is not a member yet.
            "create_member" | "create_members" => {
                let user = self.app.tenant("Spare", &self.fresh_email("spare")).await.user;
                let member =
                    if operation.id == "create_members" { &mut body["members"][0] } else { &mut body };
                member["userId"] = json!(user);
            }
            // A test sends nothing to the outside: neither a message nor the request of a built-in check.
            "create_chat_channel" => {
                body["url"] = json!(CHAT);
                body["notices"] = json!(["dueSoon"]);
            }
            "create_automation" => {
                body =
                    json!({"name": "A", "script": "export default () => ({ status: 'pass', summary: 'x' })"});
            }
            "create_sso_connection" => {
                let provider = IdentityProvider::start().await;
                body["issuer"] = json!(provider.issuer);
                body["clientId"] = json!(CLIENT);
                body["clientSecret"] = json!(SECRET);
                body["isEnabled"] = json!(true);
                self.provider = Some(provider);
            }
            // An address is of one account.
            "create_scim_user" | "replace_scim_user" => {
                let name = if operation.id == "create_scim_user" { "scim" } else { "friend" };
                let email = self.fresh_email(name);
                body["userName"] = json!(email);
                body["emails"] = json!([{"value": email, "primary": true}]);
            }
            // All its questions are answered by one answer.
            "create_soa_document" | "ensure_soa_setup" => {
                body["frameworkId"] = json!(self.id("frk_", None).await);
            }
            _ => {}
        }
        Some(body)
    }

    /// Returns a table with one row: the required fields of the documented example.
    fn table(operation: &Operation) -> Option<String> {
        let (collection, _) = operation.path.split_once("/import")?;
        let creation = creation(collection)?;
        let values: Vec<_> =
            creation.required.iter().map(|name| creation.details["example"][name].to_string()).collect();
        Some(format!("{}\n{}\n", creation.required.join(","), values.join(",")))
    }

    /// Returns the session and the body of a step of a sign-in or an enrolment, whose example no account can send.
    async fn ceremony(&self, operation: &Operation) -> Option<(Option<String>, Option<Value>)> {
        let (app, tenant) = (self.app, self.tenant);
        let mut laptop = passkeys::authenticator(self.number);
        Some(match operation.id.as_str() {
            "activate_totp" => {
                let token = app.sign_in(&tenant.email).await;
                let start = app.call("POST", "/v1/auth/totp").session(&token, &tenant.organization);
                let secret = start.send().await.expect(201)["secret"].clone();
                let code = code_at(secret.as_str().expect("a secret"), app.ctx.now());
                (Some(token), Some(json!({"code": code})))
            }
            "remove_totp" | "renew_recovery_codes" => {
                (Some(enrol(app, tenant, &tenant.email).await.token), None)
            }
            "login_with_code" => {
                let owner = enrol(app, tenant, &tenant.email).await;
                let challenge = challenge(app, &tenant.email).await;
                (None, Some(json!({"challenge": challenge, "code": owner.next_code(app)})))
            }
            "add_passkey" => {
                let token = app.sign_in(&tenant.email).await;
                let body = passkeys::registration(app, tenant, &token, &mut laptop).await;
                (Some(token), Some(body))
            }
            "remove_password" => {
                let token = app.sign_in(&tenant.email).await;
                passkeys::add(app, tenant, &token, &mut laptop).await;
                (Some(token), None)
            }
            "sign_in_with_passkey" => {
                let token = app.sign_in(&tenant.email).await;
                passkeys::add(app, tenant, &token, &mut laptop).await;
                (None, Some(passkeys::answer(app, &mut laptop).await))
            }
            "confirm_with_passkey" => {
                let token = app.sign_in(&tenant.email).await;
                passkeys::add(app, tenant, &token, &mut laptop).await;
                let body = passkeys::confirmation(app, tenant, &token, &mut laptop).await;
                (Some(token), Some(body))
            }
            _ => return None,
        })
    }

    /// Leads to the state that an operation needs, and returns its request.
    async fn prepare(&mut self, operation: &Operation) -> Call<'a> {
        if let Some((_, step)) = STEPS.iter().find(|(id, _)| *id == operation.id) {
            Box::pin(self.run(self::operation(step))).await;
        }
        if operation.id == "unsubscribe" {
            // Only mail about a task has this link.
            let member = self.id("mem_", Some("/v1/people")).await;
            let task = json!({"title": "A", "assigneeId": member});
            self.app.call("POST", "/v1/tasks").key(&self.tenant.key).json(&task).send().await.expect(201);
        }
        let needs_token =
            operation.path.contains("{token}") || operation.details["example"].get("token").is_some();
        let token = if needs_token { self.mailed_token().await } else { None };
        let path = self.path_with(operation, token.as_deref()).await;
        let call = self.app.call(&operation.method, &path);
        let (session, body) = match self.ceremony(operation).await {
            Some(begun) => begun,
            None => {
                let body = self.body(operation, token.as_deref()).await;
                let is_own = operation.details.get("x-session").is_some();
                (if is_own { Some(self.app.sign_in(&self.tenant.email).await) } else { None }, body)
            }
        };
        if operation.id == "create_directory_token" {
            self.directory().await;
        }
        let call = match session {
            Some(token) => call.session(&token, &self.tenant.organization),
            None if is_scim(operation) => {
                call.header("authorization", &format!("Bearer {}", self.directory().await))
            }
            None => call.key(&self.tenant.key),
        };
        match (body, Self::table(operation)) {
            (Some(body), _) => call.json(&body),
            (None, Some(table)) => call.raw("text/csv", table),
            (None, None) => call,
        }
    }

    /// Runs an operation and remembers the id of the entity in its response. The mail that it causes is not read yet.
    async fn run(&mut self, operation: &'static Operation) {
        let call = self.prepare(operation).await;
        self.app.mails().await;
        let reply = call.send().await;
        assert!(reply.status.is_success(), "{}: {}", operation.id, reply.text());
        let known = CREATED_BY.iter().find(|(_, id, _)| *id == operation.id);
        let position = known.map_or("/id", |(.., position)| *position);
        let made = if reply.body.is_empty() { Value::Null } else { reply.json() };
        if let Some(id) = made.pointer(position).and_then(Value::as_str) {
            self.ids.insert(&operation.id, id.to_owned());
        }
    }

    /// Returns the token of the link in the mail of the last step: to somebody else, or to the owner.
    async fn mailed_token(&self) -> Option<String> {
        let mails = self.app.mails().await;
        let (own, others): (Vec<_>, Vec<_>) =
            mails.iter().partition(|mail| mail.to_address == self.tenant.email);
        let (_, rest) = others.last().or(own.last())?.text.split_once("token=")?;
        rest.split_whitespace().next().map(str::to_owned)
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

/// True for what an identity provider calls with the token of the directory.
fn is_scim(operation: &Operation) -> bool {
    operation.path.starts_with("/scim/")
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
    let mut theirs = Things::of(app, &other).await;
    // Secrets are set by name, and a portal is public.
    let is_private = |operation: &&Operation| {
        operation.path.contains('{')
            // A sign-in begins before anybody knows who signs in.
            && !operation.path.starts_with("/v1/auth/sso/")
            && operation.id != "set_secret"
            && !operation.path.contains("{friendlyUrl}")
    };
    let mut paths = Vec::new();
    for operation in operations().iter().filter(is_private) {
        paths.push((operation, theirs.path(operation).await));
    }
    app.mails().await;
    let own = Things::of(app, &app.home).await.directory().await;
    let before = app.entries(&other).await;
    for (operation, path) in paths {
        let body = operation
            .details
            .get("example")
            .map(|example| if operation.method == "PATCH" { json!({}) } else { without_user(example) });
        let call = app.call(&operation.method, &path);
        let call = match operation.details.get("x-session") {
            Some(_) => call.session(&app.sign_in(&app.home.email).await, &app.home.organization),
            None if is_scim(operation) => call.header("authorization", &format!("Bearer {own}")),
            None => call.key(&app.home.key),
        };
        let reply = match body {
            Some(body) => call.json(&body).send().await,
            None => call.send().await,
        };
        match is_scim(operation) {
            true => drop(reply.expect(404)),
            false => drop(reply.problem(404, "not_found")),
        }
    }
    assert_eq!(app.entries(&other).await, before, "nothing happened there");
}

async fn each_change_leaves_one_entry(app: &TestApp) {
    // A chat saves nothing, and no provider is configured.
    let changes = |operation: &&Operation| {
        operation.method != "GET"
            && !is_setup(operation)
            && operation.details.get("x-stream").is_none()
            && !ELSEWHERE.contains(&operation.id.as_str())
    };
    let mut wrong = Vec::new();
    for operation in operations().iter().filter(changes) {
        // Each has an organization of its own, so that none needs what another leaves behind.
        let tenant = app.tenant("Analytical Engines", &format!("{}@example.com", operation.id)).await;
        let call = Things::of(app, &tenant).await.prepare(operation).await;
        // A run that has ended cannot be cancelled.
        if operation.id != "cancel_run" {
            app.mails().await;
        }
        let before = sequence(app, &tenant).await;
        let reply = call.send().await;
        if !reply.status.is_success() {
            wrong.push(format!("{}: {}", operation.id, reply.text()));
            continue;
        }
        // Some leave the work, and so the entry, to a job.
        app.mails().await;
        let written = sequence(app, &tenant).await - before;
        let is_expected = match ENTRIES.iter().find(|(id, _)| *id == operation.id) {
            Some((_, Some(expected))) => written == *expected,
            Some((_, None)) => written > 0,
            None => written == i64::from(!operation.id.starts_with("preview_")),
        };
        if !is_expected {
            wrong.push(format!("{} wrote {written} entries", operation.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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

/// Returns the head's sequence without the API, which may be inaccessible.
async fn sequence(app: &TestApp, tenant: &Tenant) -> i64 {
    let id = attestry_domain::id::OrganizationId::read(&tenant.organization).expect("an id");
    let head = app.ctx.db.read(async move |t| attestry_storage::journal::head(t, id).await).await;
    head.expect("a read").expect("a head").head.sequence
}
