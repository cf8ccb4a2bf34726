//! Role × operation: the document declares which permission an operation needs, the table below which roles have it,
//! and the running server must agree with both.

use attestry_domain::access::{Permission, Roles};
use attestry_domain::text::Parse;
use attestry_tests::{TestApp, both};
use serde_json::{Value, json};

use crate::coverage::{Things, operations};

both! {
    each_operation_is_allowed_to_exactly_the_roles_that_have_its_permission,
    everybody_sees_their_own_entry,
    an_admin_does_not_touch_owners,
    bringing_back_or_replacing_somebody_is_granting_their_role,
    a_limited_key_grants_no_more_than_it_has,
}

const EMPLOYEE: &[&str] = &[
    "profile:read",
    "task:assigned",
    "policy:sign",
    "attachment:read",
    "attachment:create",
    "comment:read",
    "comment:create",
    "comment:update",
    "comment:delete",
];

const ROLES: &[(&str, &[&str])] = &[
    (
        "owner",
        &[
            "organization:read",
            "organization:update",
            "organization:delete",
            "profile:read",
            "member:read",
            "member:create",
            "member:update",
            "member:delete",
            "owner:manage",
            "identity:read",
            "identity:update",
            "api-key:read",
            "api-key:create",
            "api-key:delete",
            "audit-log:read",
            "risk:read",
            "risk:create",
            "risk:update",
            "risk:delete",
            "vendor:read",
            "vendor:create",
            "vendor:update",
            "vendor:delete",
            "task:read",
            "task:create",
            "task:update",
            "task:delete",
            "task:assigned",
            "automation:read",
            "automation:create",
            "automation:update",
            "automation:delete",
            "automation:run",
            "secret:read",
            "secret:update",
            "secret:delete",
            "policy:read",
            "policy:create",
            "policy:update",
            "policy:delete",
            "policy:approve",
            "policy:sign",
            "framework:read",
            "framework:create",
            "framework:delete",
            "control:read",
            "control:create",
            "control:update",
            "control:delete",
            "context:read",
            "context:create",
            "context:update",
            "context:delete",
            "trust-portal:read",
            "trust-portal:update",
            "trust-access:read",
            "trust-access:review",
            "programme:read",
            "programme:update",
            "soa:read",
            "soa:update",
            "soa:approve",
            "attachment:read",
            "attachment:create",
            "attachment:delete",
            "comment:read",
            "comment:create",
            "comment:update",
            "comment:delete",
        ],
    ),
    (
        "admin",
        &[
            "organization:read",
            "organization:update",
            "profile:read",
            "member:read",
            "member:create",
            "member:update",
            "member:delete",
            "identity:read",
            "api-key:read",
            "api-key:create",
            "api-key:delete",
            "audit-log:read",
            "risk:read",
            "risk:create",
            "risk:update",
            "risk:delete",
            "vendor:read",
            "vendor:create",
            "vendor:update",
            "vendor:delete",
            "task:read",
            "task:create",
            "task:update",
            "task:delete",
            "task:assigned",
            "automation:read",
            "automation:create",
            "automation:update",
            "automation:delete",
            "automation:run",
            "secret:read",
            "secret:update",
            "secret:delete",
            "policy:read",
            "policy:create",
            "policy:update",
            "policy:delete",
            "policy:approve",
            "policy:sign",
            "framework:read",
            "framework:create",
            "framework:delete",
            "control:read",
            "control:create",
            "control:update",
            "control:delete",
            "context:read",
            "context:create",
            "context:update",
            "context:delete",
            "trust-portal:read",
            "trust-portal:update",
            "trust-access:read",
            "trust-access:review",
            "programme:read",
            "programme:update",
            "soa:read",
            "soa:update",
            "soa:approve",
            "attachment:read",
            "attachment:create",
            "attachment:delete",
            "comment:read",
            "comment:create",
            "comment:update",
            "comment:delete",
        ],
    ),
    (
        "auditor",
        &[
            "organization:read",
            "profile:read",
            "member:read",
            "identity:read",
            "audit-log:read",
            "risk:read",
            "vendor:read",
            "task:read",
            "automation:read",
            "policy:read",
            "framework:read",
            "control:read",
            "context:read",
            "trust-portal:read",
            "trust-access:read",
            "programme:read",
            "soa:read",
            "attachment:read",
            "comment:read",
            "comment:create",
            "comment:update",
            "comment:delete",
        ],
    ),
    ("employee", EMPLOYEE),
    ("contractor", EMPLOYEE),
    ("anything else", EMPLOYEE),
    (
        "employee,auditor",
        &[
            "task:assigned",
            "policy:sign",
            "attachment:create",
            "organization:read",
            "profile:read",
            "member:read",
            "identity:read",
            "audit-log:read",
            "risk:read",
            "vendor:read",
            "task:read",
            "automation:read",
            "policy:read",
            "framework:read",
            "control:read",
            "context:read",
            "trust-portal:read",
            "trust-access:read",
            "programme:read",
            "soa:read",
            "attachment:read",
            "comment:read",
            "comment:create",
            "comment:update",
            "comment:delete",
        ],
    ),
];

#[test]
fn the_table_is_what_the_roles_have() {
    for (role, words) in ROLES {
        let has: Vec<&str> =
            Roles::parse(role).expect("a role").permissions().iter().map(Permission::as_str).collect();
        let mut wanted: Vec<&str> = words.to_vec();
        wanted.sort_unstable();
        let mut has = has;
        has.sort_unstable();
        assert_eq!(has, wanted, "{role}");
    }
}

async fn each_operation_is_allowed_to_exactly_the_roles_that_have_its_permission(app: &TestApp) {
    let mut things = Things::of(app, &app.home).await;
    let mut paths = Vec::new();
    for operation in operations() {
        paths.push(things.path(operation).await);
    }
    app.mails().await;
    for (number, (role, words)) in ROLES.iter().enumerate() {
        let email = format!("role{number}@example.com");
        app.member(&app.home, &email, role).await;
        let token = app.sign_in(&email).await;
        for (operation, path) in operations().iter().zip(&paths) {
            let Some(permission) = operation.details["x-permission"].as_str() else { continue };
            // An invalid body stops permitted requests before they change anything.
            let call = app.call(&operation.method, path).session(&token, &app.home.organization);
            let call = call.header("if-match", "\"no such version\"").header("last-event-id", "none");
            let reply = match operation.details.get("example") {
                Some(_) => call.json(&json!({"no such field": 1})).send().await,
                None if operation.id == "revoke_api_key" && words.contains(&permission) => continue,
                None => call.send().await,
            };
            let is_others = match operation.id.as_str() {
                "get_member" => !words.contains(&"member:read"),
                // It is attached to a risk, or to a comment on one.
                "get_attachment_link" => !words.contains(&"risk:read"),
                id if id.contains("_comment_attachment") && operation.details.get("example").is_none() => {
                    !words.contains(&"risk:read")
                }
                _ => false,
            };
            let also = operation.details["x-also-permission"].as_array();
            let also = also.is_none_or(|either| {
                either.iter().any(|one| words.contains(&one.as_str().expect("a permission")))
            });
            let or = match &operation.details["x-or-permission"] {
                Value::Array(any) => any.iter().any(|or| words.contains(&or.as_str().expect("a word"))),
                or => or.as_str().is_some_and(|or| words.contains(&or)),
            };
            let allowed = (words.contains(&permission) || or) && also && !is_others;
            // A 403 because the caller is not the author does not count.
            let refused = reply.status.as_u16() == 403 && reply.json()["code"] == "forbidden";
            assert_eq!(refused, !allowed, "{role} {}: {}", operation.id, reply.text());
        }
        // What was allowed may have told somebody.
        app.mails().await;
    }
}

async fn everybody_sees_their_own_entry(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let own = format!("/v1/people/{}", eve["id"].as_str().expect("an id"));
    app.call("GET", &own).session(&token, &app.home.organization).send().await.expect(200);
    let other = format!("/v1/people/{}", app.home.member);
    app.call("GET", &other).session(&token, &app.home.organization).send().await.problem(403, "forbidden");
}

async fn an_admin_does_not_touch_owners(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "admin").await;
    let bob = app.member(&app.home, "bob@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let session = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    let owner = format!("/v1/people/{}", app.home.member);
    let bob = format!("/v1/people/{}", bob["id"].as_str().expect("an id"));
    session("PATCH", &bob).json(&json!({"role": "owner"})).send().await.problem(403, "forbidden");
    session("PATCH", &bob).json(&json!({"role": "admin,owner"})).send().await.problem(403, "forbidden");
    session("PATCH", &bob).json(&json!({"role": "admin"})).send().await.expect(200);
    session("PATCH", &owner).json(&json!({"role": "employee"})).send().await.problem(403, "forbidden");
    session("PATCH", &owner).json(&json!({"isActive": false})).send().await.problem(403, "forbidden");
    session("DELETE", &owner).send().await.problem(403, "forbidden");
    session("PATCH", &owner).json(&json!({"department": "it"})).send().await.expect(200);
    session("POST", "/v1/people/invite")
        .json(&json!({"email": "x@example.com", "role": "owner"}))
        .send()
        .await
        .problem(403, "forbidden");
    let stranger = app.tenant("Other", "carl@example.com").await;
    session("POST", "/v1/people")
        .json(&json!({"userId": stranger.user, "role": "owner"}))
        .send()
        .await
        .problem(403, "forbidden");
    let bulk = json!({"members": [{"userId": stranger.user, "role": "owner"}]});
    assert_eq!(
        session("POST", "/v1/people/bulk").json(&bulk).send().await.expect(201)["summary"]["failed"],
        1
    );
}

async fn bringing_back_or_replacing_somebody_is_granting_their_role(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let stranger = app.tenant("Other", "carl@example.com").await;
    let path = format!("/v1/people/{}", eve["id"].as_str().expect("an id"));
    let limited = app.key(&["member:update"]).await;
    app.patch(&path, &json!({"userId": stranger.user}))
        .key(&limited)
        .send()
        .await
        .problem(403, "role_exceeds_own");
    app.delete(&path).send().await.expect(200);
    app.patch(&path, &json!({"isActive": true})).key(&limited).send().await.problem(403, "role_exceeds_own");
    app.patch(&path, &json!({"isActive": true})).send().await.expect(200);
    // When a member's user is replaced, the new user does not inherit the API keys.
    let token = app.sign_in("eve@example.com").await;
    let made = app
        .call("POST", "/v1/organization/api-keys")
        .session(&token, &app.home.organization)
        .json(&json!({"name": "hers"}))
        .send()
        .await
        .expect(201);
    let key = made["key"].as_str().expect("a key");
    app.call("GET", "/v1/people").key(key).send().await.expect(200);
    app.patch(&path, &json!({"userId": stranger.user})).send().await.expect(200);
    app.call("GET", "/v1/people").key(key).send().await.problem(401, "invalid_api_key");
    app.call("GET", "/v1/people")
        .session(&token, &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    app.work().await;
}

async fn a_limited_key_grants_no_more_than_it_has(app: &TestApp) {
    let key = app.key(&["member:create", "member:update"]).await;
    let stranger = app.tenant("Other", "carl@example.com").await;
    let add = |role: &str| {
        app.call("POST", "/v1/people").key(&key).json(&json!({"userId": stranger.user, "role": role}))
    };
    add("admin").send().await.problem(403, "role_exceeds_own");
    add("auditor").send().await.problem(403, "role_exceeds_own");
    add("employee").send().await.expect(201);
    app.work().await;
}
