//! The sign-in policy of an organization: a required second factor, idle time, age, and signing members out.

use std::cell::Cell;
use std::time::{Duration, Instant};

use attestry_domain::clock::{Clock, SystemClock};
use attestry_tests::authenticator::code_at;
use attestry_tests::binary::wait_until;
use attestry_tests::two_servers::{OWNER, TwoServers};
use attestry_tests::{PASSWORD, Reply, Tenant, TestApp, both, id};
use reqwest::Method;
use serde_json::{Value, json};

use crate::passkeys;
use crate::second_factors::{Enrolled, challenge, enrol, log_in};

both! {
    the_policy_is_read_and_set_by_the_right_people,
    nobody_locks_themselves_out,
    a_second_factor_is_enforced_after_its_grace,
    members_without_one_enrol_and_go_on,
    the_last_second_factor_stays_while_one_is_required,
    a_confirmation_with_a_code_is_enough,
    an_api_key_is_not_affected,
    idle_here_and_not_there,
    old_sessions_end_here_and_not_there,
    a_member_is_signed_out_of_one_organization,
    a_session_ends_at_its_maximum_age,
    any_order_of_switches_leaves_a_way_in,
}

const PATH: &str = "/v1/organization/sign-in-policy";

async fn set(app: &TestApp, tenant: &Tenant, token: &str, body: Value) -> Reply {
    app.call("PATCH", PATH).session(token, &tenant.organization).json(&body).send().await
}

async fn people(app: &TestApp, tenant: &Tenant, token: &str) -> Reply {
    app.call("GET", "/v1/people").session(token, &tenant.organization).send().await
}

fn must_reauthenticate(reply: &Reply, tenant: &Tenant, reason: &str) {
    let problem = reply.problem(403, "reauthentication_required");
    assert_eq!(problem["reason"], reason);
    assert_eq!(problem["organizationId"], tenant.organization);
}

/// Requires a second factor at once; the owner has one.
async fn require(app: &TestApp, tenant: &Tenant) -> Enrolled {
    let owner = enrol(app, tenant, &tenant.email).await;
    let set = set(app, tenant, &owner.token, json!({"mfa": "required", "graceDays": 0})).await;
    set.expect(200);
    app.mails().await;
    owner
}

async fn the_policy_is_read_and_set_by_the_right_people(app: &TestApp) {
    let read = app.get(PATH).send().await;
    let policy = read.expect(200);
    assert_eq!(
        policy,
        json!({
            "mfa": "optional", "graceDays": 14, "mfaFrom": null, "idleMinutes": null, "maxHours": null,
            "sso": "optional", "ssoMfa": "trusted", "ssoMaxHours": 12, "exemptMembers": [],
            "apiKeyMaxDays": null, "apiKeyScopesRequired": false, "apiKeysBeyondPolicy": 0,
            "membersWithoutSecondFactor": 1, "updatedAt": null
        })
    );
    for (email, role, reads) in [
        ("admin@example.com", "admin", true),
        ("auditor@example.com", "auditor", true),
        ("employee@example.com", "employee", false),
    ] {
        app.member(&app.home, email, role).await;
        let token = app.sign_in(email).await;
        let reply = app.call("GET", PATH).session(&token, &app.home.organization).send().await;
        match reads {
            true => reply.expect(200),
            false => reply.problem(403, "forbidden"),
        };
        set(app, &app.home, &token, json!({"idleMinutes": 60})).await.problem(403, "forbidden");
    }
    let token = app.sign_in(&app.home.email).await;
    for (body, field) in [
        (json!({"mfa": "always"}), "mfa"),
        (json!({"graceDays": 91}), "graceDays"),
        (json!({"idleMinutes": 4}), "idleMinutes"),
        (json!({"maxHours": 0}), "maxHours"),
        (json!({"maxDays": 1}), "maxDays"),
    ] {
        let problem = set(app, &app.home, &token, body).await.problem(400, "validation_failed");
        assert_eq!(problem["errors"][0]["field"], field);
    }
    let before = app.entries(&app.home).await;
    let changed = set(app, &app.home, &token, json!({"idleMinutes": 60, "maxHours": 24})).await;
    assert_eq!(changed.expect(200)["idleMinutes"], 60);
    set(app, &app.home, &token, json!({"idleMinutes": 60})).await.expect(200);
    assert_eq!(app.entries(&app.home).await, before + 1, "the same policy again is no change");
    let stale =
        app.call("PATCH", PATH).session(&token, &app.home.organization).json(&json!({"maxHours": null}));
    stale
        .header("if-match", read.header("etag").expect("a tag"))
        .send()
        .await
        .problem(412, "precondition_failed");
    let log = app.get("/v1/audit-logs?action=sign_in_policy.updated").send().await.expect(200);
    assert_eq!(log["count"], 1);
    app.clock.advance(Duration::from_mins(11));
    set(app, &app.home, &token, json!({"maxHours": null})).await.problem(403, "confirmation_required");
}

async fn nobody_locks_themselves_out(app: &TestApp) {
    let plain = app.sign_in(&app.home.email).await;
    let required = json!({"mfa": "required", "graceDays": 30});
    let problem = set(app, &app.home, &plain, required.clone()).await.problem(409, "would_lock_you_out");
    assert!(problem["detail"].as_str().expect("a text").contains("no second factor"), "{problem}");
    let by_key = app.patch(PATH, &required).send().await;
    by_key.problem(409, "would_lock_you_out");
    let ada = enrol(app, &app.home, &app.home.email).await;
    // This session was started before, without a code.
    let problem = set(app, &app.home, &plain, required.clone()).await.problem(409, "would_lock_you_out");
    assert!(problem["detail"].as_str().expect("a text").contains("without your second factor"), "{problem}");
    set(app, &app.home, &ada.token, required).await.expect(200);
    app.mails().await;
}

async fn a_second_factor_is_enforced_after_its_grace(app: &TestApp) {
    app.member(&app.home, "bob@example.com", "admin").await;
    let owner = enrol(app, &app.home, &app.home.email).await;
    let plain = app.sign_in("bob@example.com").await;
    let policy =
        set(app, &app.home, &owner.token, json!({"mfa": "required", "graceDays": 3})).await.expect(200);
    assert_eq!(policy["membersWithoutSecondFactor"], 1);
    assert_eq!(policy["mfaFrom"], app.ctx.now().plus(Duration::from_hours(72)).to_string());
    let mails = app.mails().await;
    let [mail] = mails.as_slice() else { panic!("one mail, not {}", mails.len()) };
    assert_eq!(mail.to_address, "bob@example.com");
    assert!(mail.text.contains("2026-11-18"), "{}", mail.text);
    people(app, &app.home, &plain).await.expect(200);
    // Used now and then, it does not become idle.
    app.write_touches();
    for _ in 0..7 {
        app.clock.advance(Duration::from_hours(10));
        app.call("GET", "/v1/auth/session").session(&plain, &app.home.organization).send().await.expect(200);
        app.used(&plain).await;
    }
    people(app, &app.home, &plain).await.expect(200);
    app.clock.advance(Duration::from_hours(3));
    must_reauthenticate(&people(app, &app.home, &plain).await, &app.home, "mfa_enrolment");
    let own = app.call("GET", "/v1/auth/session").session(&plain, &app.home.organization);
    assert_eq!(own.send().await.expect(200)["organizations"][0]["unmet"], "mfa_enrolment");
    // It is no refusal that the journal should record.
    let log = app.get("/v1/audit-logs?action=operation.refused").send().await.expect(200);
    assert_eq!(log["count"], 0);
}

async fn members_without_one_enrol_and_go_on(app: &TestApp) {
    app.member(&app.home, "bob@example.com", "admin").await;
    require(app, &app.home).await;
    let token = app.sign_in("bob@example.com").await;
    must_reauthenticate(&people(app, &app.home, &token).await, &app.home, "mfa_enrolment");
    let bob = enrol(app, &app.home, "bob@example.com").await;
    people(app, &app.home, &bob.token).await.expect(200);
    must_reauthenticate(&people(app, &app.home, &token).await, &app.home, "mfa_required");
    // A passkey is as good.
    app.member(&app.home, "carol@example.com", "admin").await;
    let token = app.sign_in("carol@example.com").await;
    must_reauthenticate(&people(app, &app.home, &token).await, &app.home, "mfa_enrolment");
    passkeys::add(app, &app.home, &token, &mut passkeys::authenticator(9)).await;
    people(app, &app.home, &token).await.expect(200);
    app.work().await;
}

async fn the_last_second_factor_stays_while_one_is_required(app: &TestApp) {
    let owner = require(app, &app.home).await;
    let call =
        |method: &str, path: &str| app.call(method, path).session(&owner.token, &app.home.organization);
    call("DELETE", "/v1/auth/totp").send().await.problem(409, "second_factor_mandatory");
    challenge(app, &app.home.email).await;
    let added = passkeys::add(app, &app.home, &owner.token, &mut passkeys::authenticator(1)).await;
    call("DELETE", "/v1/auth/totp").send().await.expect(200);
    let path = format!("/v1/auth/passkeys/{}", id(&added));
    call("DELETE", &path).send().await.problem(409, "second_factor_mandatory");
    set(app, &app.home, &owner.token, json!({"mfa": "optional"})).await.expect(200);
    call("DELETE", &path).send().await.expect(200);
    app.mails().await;
}

async fn a_confirmation_with_a_code_is_enough(app: &TestApp) {
    let plain = app.sign_in(&app.home.email).await;
    let owner = require(app, &app.home).await;
    must_reauthenticate(&people(app, &app.home, &plain).await, &app.home, "mfa_required");
    let body = json!({"password": PASSWORD, "code": owner.next_code(app)});
    let confirm = app.call("POST", "/v1/auth/confirm").session(&plain, &app.home.organization);
    confirm.json(&body).send().await.expect(200);
    people(app, &app.home, &plain).await.expect(200);
    app.work().await;
}

async fn an_api_key_is_not_affected(app: &TestApp) {
    app.member(&app.home, "bob@example.com", "admin").await;
    let token = app.sign_in("bob@example.com").await;
    let made = app.call("POST", "/v1/organization/api-keys").session(&token, &app.home.organization);
    let made = made.json(&json!({"name": "nightly"})).send().await.expect(201);
    require(app, &app.home).await;
    must_reauthenticate(&people(app, &app.home, &token).await, &app.home, "mfa_enrolment");
    app.call("GET", "/v1/people").key(made["key"].as_str().expect("a key")).send().await.expect(200);
}

async fn idle_here_and_not_there(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    app.join(&app.home, &other, "admin").await;
    let ada = app.sign_in(&app.home.email).await;
    set(app, &app.home, &ada, json!({"idleMinutes": 5})).await.expect(200);
    let bob = app.sign_in("bob@example.com").await;
    app.write_touches();
    app.clock.advance(Duration::from_mins(5));
    people(app, &app.home, &bob).await.expect(200);
    app.used(&bob).await;
    app.clock.advance(Duration::from_mins(8));
    people(app, &other, &bob).await.expect(200);
    app.used(&bob).await;
    app.clock.advance(Duration::from_secs(30));
    must_reauthenticate(&people(app, &app.home, &bob).await, &app.home, "idle");
    app.clock.advance(Duration::from_secs(30));
    must_reauthenticate(&people(app, &app.home, &bob).await, &app.home, "idle");
    let confirm = app.call("POST", "/v1/auth/confirm").session(&bob, &app.home.organization);
    confirm.json(&json!({"password": PASSWORD})).send().await.expect(200);
    people(app, &app.home, &bob).await.expect(200);
    app.work().await;
}

async fn old_sessions_end_here_and_not_there(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    app.join(&app.home, &other, "admin").await;
    let ada = app.sign_in(&app.home.email).await;
    set(app, &app.home, &ada, json!({"maxHours": 1})).await.expect(200);
    let bob = app.sign_in("bob@example.com").await;
    app.clock.advance(Duration::from_mins(59));
    people(app, &app.home, &bob).await.expect(200);
    app.clock.advance(Duration::from_mins(2));
    must_reauthenticate(&people(app, &app.home, &bob).await, &app.home, "too_old");
    people(app, &other, &bob).await.expect(200);
    // Confirming makes a session no younger.
    let confirm = app.call("POST", "/v1/auth/confirm").session(&bob, &app.home.organization);
    confirm.json(&json!({"password": PASSWORD})).send().await.expect(200);
    must_reauthenticate(&people(app, &app.home, &bob).await, &app.home, "too_old");
    let again = app.sign_in("bob@example.com").await;
    people(app, &app.home, &again).await.expect(200);
}

async fn a_member_is_signed_out_of_one_organization(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let member = app.join(&app.home, &other, "employee").await;
    let bob = app.sign_in("bob@example.com").await;
    let own = || app.call("GET", "/v1/auth/session").session(&bob, &app.home.organization).send();
    let path = format!("/v1/people/{}/sign-out", id(&member));
    app.call("POST", &path).key(&app.home.key).send().await.expect(200);
    let session = own().await.expect(200);
    let unmet = |session: &Value| -> Vec<Value> {
        let all = session["organizations"].as_array().expect("organizations").iter();
        all.map(|one| one["unmet"].clone()).collect()
    };
    assert!(unmet(&session).contains(&json!("too_old")), "{session}");
    people(app, &other, &bob).await.expect(200);
    let tasks = || app.call("GET", "/v1/tasks").session(&bob, &app.home.organization).send();
    must_reauthenticate(&tasks().await, &app.home, "too_old");
    app.clock.advance(Duration::from_secs(1));
    let again = app.sign_in("bob@example.com").await;
    app.call("GET", "/v1/tasks").session(&again, &app.home.organization).send().await.expect(200);
    // An owner signs out everybody, themselves included.
    let owner = app.sign_in(&app.home.email).await;
    let everybody = "/v1/organization/sign-out-everybody";
    let out = |token: &str| app.call("POST", everybody).session(token, &app.home.organization).send();
    out(&again).await.problem(403, "forbidden");
    app.clock.advance(Duration::from_secs(1));
    out(&owner).await.expect(200);
    for token in [&again, &owner] {
        let tasks = app.call("GET", "/v1/tasks").session(token, &app.home.organization).send().await;
        must_reauthenticate(&tasks, &app.home, "too_old");
    }
    app.get("/v1/tasks").send().await.expect(200);
    app.clock.advance(Duration::from_secs(1));
    let owner = app.sign_in(&app.home.email).await;
    app.call("GET", "/v1/tasks").session(&owner, &app.home.organization).send().await.expect(200);
    // An admin does not sign out an owner.
    app.member(&app.home, "carol@example.com", "admin").await;
    let carol = app.sign_in("carol@example.com").await;
    let path = format!("/v1/people/{}/sign-out", app.home.member);
    let call = app.call("POST", &path).session(&carol, &app.home.organization);
    call.send().await.problem(403, "forbidden");
}

async fn a_session_ends_at_its_maximum_age(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    app.write_touches();
    for _ in 0..90 * 24 / 11 {
        app.clock.advance(Duration::from_hours(11));
        people(app, &app.home, &token).await.expect(200);
        app.used(&token).await;
    }
    app.clock.advance(Duration::from_hours(11));
    people(app, &app.home, &token).await.problem(401, "invalid_session");
}

/// The other process caches what it knows of a session, but not for long.
#[tokio::test]
async fn policy_of_one_process_holds_in_another_within_five_seconds() {
    let two = TwoServers::start().await;
    let (here, there) = (&two.here, &two.there);
    let invite = two.client.post(format!("{}/v1/people/invite", there.url)).header("x-api-key", &two.key);
    let invite = invite.json(&json!({"email": "bob@example.com", "role": "admin"}));
    let invited: Value = invite.send().await.expect("an answer").json().await.expect("JSON");
    let link = invited["invitationLink"].as_str().expect("a link");
    let token = link.split_once("token=").expect("a token").1;
    let accept = json!({"token": token, "password": PASSWORD});
    two.expect(200, there, None, Method::POST, "/v1/auth/accept-invitation", &accept).await;
    let sign_in = async |email: &str| {
        let login = json!({"email": email, "password": PASSWORD});
        let opened = two.expect(200, here, None, Method::POST, "/v1/auth/login", &login).await;
        opened["token"].as_str().expect("a token").to_owned()
    };
    let (ada, bob) = (sign_in(OWNER).await, sign_in("bob@example.com").await);
    let own = async |path: &str, body: Value| {
        two.expect(if body.is_null() { 201 } else { 200 }, there, Some(&ada), Method::POST, path, &body).await
    };
    let started = own("/v1/auth/totp", Value::Null).await;
    let code = code_at(started["secret"].as_str().expect("a secret"), SystemClock.now());
    own("/v1/auth/totp/activate", json!({"code": code})).await;
    let tasks = "/v1/tasks";
    for server in [here, there] {
        two.expect(200, server, Some(&bob), Method::GET, tasks, &Value::Null).await;
    }
    let required = json!({"mfa": "required", "graceDays": 0});
    two.expect(200, there, Some(&ada), Method::PATCH, PATH, &required).await;
    let began = Instant::now();
    let refused = two.expect(403, there, Some(&bob), Method::GET, tasks, &Value::Null).await;
    assert_eq!(refused["code"], "reauthentication_required");
    // The time at which the last request that was let in was sent.
    let last_admitted = Cell::new(Duration::ZERO);
    wait_until(async || {
        let sent = began.elapsed();
        let (status, reply) = two.call(here, Some(&bob), Method::GET, tasks, &Value::Null).await;
        if status == 200 {
            last_admitted.set(sent);
            return false;
        }
        assert_eq!(
            (status, &reply["code"], &reply["reason"]),
            (403, &json!("reauthentication_required"), &json!("mfa_enrolment"))
        );
        true
    })
    .await;
    assert!(last_admitted.get() < Duration::from_secs(5), "{:?}", last_admitted.get());
    // The owner has a second factor.
    two.expect(200, here, Some(&ada), Method::GET, tasks, &Value::Null).await;
    two.stop().await;
}

/// Whatever the owner switches on and off, in any order, they can still sign in and change the policy.
async fn any_order_of_switches_leaves_a_way_in(app: &TestApp) {
    let steps = [
        ("PATCH", PATH, json!({"mfa": "required", "graceDays": 0})),
        ("DELETE", "/v1/auth/totp", Value::Null),
        ("PATCH", PATH, json!({"maxHours": 1, "idleMinutes": 5})),
        ("PATCH", PATH, json!({"mfa": "optional"})),
    ];
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..steps.len() {
        orders = orders
            .into_iter()
            .flat_map(|order| {
                let left = (0..steps.len()).filter(|step| !order.contains(step)).collect::<Vec<_>>();
                left.into_iter().map(move |step| [order.clone(), vec![step]].concat())
            })
            .collect();
    }
    assert_eq!(orders.len(), 24);
    for (number, order) in orders.into_iter().enumerate() {
        let tenant = app.tenant("Switches", &format!("owner{number}@example.com")).await;
        let owner = enrol(app, &tenant, &tenant.email).await;
        for step in &order {
            let (method, path, body) = &steps[*step];
            let call = app.call(method, path).session(&owner.token, &tenant.organization);
            let call = if body.is_null() { call } else { call.json(body) };
            let reply = call.send().await;
            assert!(reply.status.is_success() || reply.status == 409, "{order:?}: {}", reply.text());
        }
        app.mails().await;
        let reply = log_in(app, &tenant.email).await;
        let token = match reply.status.as_u16() {
            200 => reply.expect(200)["token"].as_str().expect("a token").to_owned(),
            _ => {
                let challenge = reply.problem(401, "second_factor_required")["challenge"].clone();
                let body = json!({"challenge": challenge, "code": owner.next_code(app)});
                let opened =
                    app.call("POST", "/v1/auth/login/second-factor").json(&body).send().await.expect(200);
                opened["token"].as_str().expect("a token").to_owned()
            }
        };
        set(app, &tenant, &token, json!({"mfa": "optional", "maxHours": null, "idleMinutes": null}))
            .await
            .expect(200);
        people(app, &tenant, &token).await.expect(200);
        app.work().await;
    }
}
