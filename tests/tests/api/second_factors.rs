//! Authenticator apps and recovery codes: enrolment, sign-in, confirmation, reset.

use std::time::Duration;

use attestry_domain::clock::{Clock, SystemClock};
use attestry_domain::{Parse, Time};
use attestry_tests::authenticator::{code_at, codes_by_oathtool};
use attestry_tests::two_servers::{OWNER, TwoServers};
use attestry_tests::{Call, PASSWORD, Reply, START, Tenant, TestApp, both, id};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

both! {
    an_app_is_enrolled_and_asked_for,
    an_app_with_codes_of_oathtool_is_enrolled,
    a_code_signs_in_once,
    a_code_of_a_step_before_the_last_is_refused,
    a_code_in_the_first_request_signs_in,
    a_recovery_code_signs_in_once,
    recovery_code_confirms_nothing,
    old_recovery_codes_end_with_new_ones,
    guessing_codes_is_stopped,
    a_challenge_holds_for_its_sign_in_only,
    a_wrong_password_says_nothing_of_the_app,
    a_password_is_confirmed_with_a_code,
    an_enrolment_is_finished_in_time_or_not_at_all,
    enrolment_needs_a_confirmation,
    the_secret_is_encrypted_and_shown_once,
    a_rotated_key_keeps_the_apps,
    an_administrator_resets_what_was_lost,
    an_account_of_two_organizations_is_not_reset_by_one,
    the_operator_resets_anybody,
    removing_the_app_ends_its_codes,
}

/// An account with an authenticator app.
pub(crate) struct Enrolled {
    pub(crate) token: String,
    pub(crate) secret: String,
    pub(crate) recovery_codes: Vec<String>,
}

impl Enrolled {
    /// Lets the time step pass, so that a new code is valid, and returns it.
    pub(crate) fn next_code(&self, app: &TestApp) -> String {
        app.clock.advance(Duration::from_secs(30));
        code_at(&self.secret, app.ctx.now())
    }
}

/// Adds an authenticator app to the account.
pub(crate) async fn enrol(app: &TestApp, tenant: &Tenant, email: &str) -> Enrolled {
    let token = app.sign_in(email).await;
    let call = |path: &str| app.call("POST", path).session(&token, &tenant.organization);
    let started = call("/v1/auth/totp").send().await.expect(201);
    let secret = started["secret"].as_str().expect("a secret").to_owned();
    let code = json!({"code": code_at(&secret, app.ctx.now())});
    let active = call("/v1/auth/totp/activate").json(&code).send().await.expect(200);
    let codes = active["recoveryCodes"].as_array().expect("codes");
    let recovery_codes = codes.iter().map(|code| code.as_str().expect("a code").to_owned()).collect();
    app.mails().await;
    Enrolled { token, secret, recovery_codes }
}

pub(crate) async fn log_in(app: &TestApp, email: &str) -> Reply {
    app.call("POST", "/v1/auth/login").json(&json!({"email": email, "password": PASSWORD})).send().await
}

/// Enters the password and returns the challenge.
pub(crate) async fn challenge(app: &TestApp, email: &str) -> String {
    let asked = log_in(app, email).await.problem(401, "second_factor_required");
    asked["challenge"].as_str().expect("a challenge").to_owned()
}

fn second<'a>(app: &'a TestApp, challenge: &str, code: &str) -> Call<'a> {
    app.call("POST", "/v1/auth/login/second-factor").json(&json!({"challenge": challenge, "code": code}))
}

async fn security(app: &TestApp, token: &str) -> Value {
    let call = app.call("GET", "/v1/auth/security").session(token, &app.home.organization);
    call.send().await.expect(200)
}

async fn an_app_is_enrolled_and_asked_for(app: &TestApp) {
    let home = &app.home;
    let token = app.sign_in(&home.email).await;
    let before = security(app, &token).await;
    assert_eq!(before["totp"], json!({"isActive": false, "since": null}));
    assert_eq!(before["recoveryCodes"]["left"], 0);
    let entries = app.entries(home).await;
    let ada = enrol(app, home, &home.email).await;
    assert_eq!(ada.recovery_codes.len(), 10);
    let after = security(app, &ada.token).await;
    assert_eq!(after["totp"]["isActive"], true);
    assert_eq!(after["recoveryCodes"]["left"], 10);
    assert_eq!(after["password"]["isSet"], true);
    // The sign-in, and the app.
    assert_eq!(app.entries(home).await, entries + 2);
    let log = app.get("/v1/audit-logs?entityType=second_factor").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "totp.activated");
    assert!(!log.to_string().contains(&ada.secret) && !log.to_string().contains(&ada.recovery_codes[0]));
    let asked = log_in(app, &home.email).await;
    assert_eq!(asked.header("set-cookie"), None);
    let asked = asked.problem(401, "second_factor_required");
    assert_eq!(asked["methods"], json!(["totp", "recovery"]));
    let code = ada.next_code(app);
    let session = second(app, asked["challenge"].as_str().expect("one"), &code).send().await.expect(200);
    assert_eq!((&session["method"], &session["secondFactor"]), (&json!("password"), &json!("totp")));
    let person = app.get(&format!("/v1/people/{}", home.member)).send().await.expect(200);
    assert_eq!(person["hasSecondFactor"], true);
    for (filter, count) in [("true", 1), ("false", 0)] {
        let list = app.get(&format!("/v1/people?hasSecondFactor={filter}")).send().await.expect(200);
        assert_eq!(list["count"], count);
    }
}

async fn a_code_signs_in_once(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let first = challenge(app, &app.home.email).await;
    let spent = code_at(&ada.secret, app.ctx.now());
    second(app, &first, &spent).send().await.problem(401, "invalid_second_factor");
    let code = ada.next_code(app);
    let replies = join_all((0..4).map(|_| second(app, &first, &code).send())).await;
    let opened = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(opened, 1, "the code opens one session");
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.problem(401, "invalid_second_factor");
    }
    second(app, &first, &code).send().await.problem(401, "invalid_second_factor");
    app.work().await;
}

async fn a_code_of_a_step_before_the_last_is_refused(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    app.clock.advance(Duration::from_mins(1));
    let asked = challenge(app, &app.home.email).await;
    let now = app.ctx.now();
    let before = code_at(&ada.secret, now.minus(Duration::from_secs(30)));
    let current = code_at(&ada.secret, now);
    let next = code_at(&ada.secret, now.plus(Duration::from_secs(30)));
    // The clock of the device is ahead.
    second(app, &asked, &next).send().await.expect(200);
    for spent in [&before, &current, &next] {
        second(app, &asked, spent).send().await.problem(401, "invalid_second_factor");
    }
    app.clock.advance(Duration::from_secs(30));
    let asked = challenge(app, &app.home.email).await;
    second(app, &asked, &next).send().await.problem(401, "invalid_second_factor");
    second(app, &asked, &ada.next_code(app)).send().await.expect(200);
    app.work().await;
}

async fn an_app_with_codes_of_oathtool_is_enrolled(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let call = |path: &str| app.call("POST", path).session(&token, &app.home.organization);
    let started = call("/v1/auth/totp").send().await.expect(201);
    let secret = started["secret"].as_str().expect("a secret");
    let codes = codes_by_oathtool(secret, app.ctx.now(), 2);
    let code = json!({"code": codes[0]});
    call("/v1/auth/totp/activate").json(&code).send().await.expect(200);
    app.mails().await;
    app.clock.advance(Duration::from_secs(30));
    let asked = challenge(app, &app.home.email).await;
    second(app, &asked, &codes[1]).send().await.expect(200);
    app.work().await;
}

#[test]
fn thousand_codes_are_those_of_oathtool() {
    let start = Time::parse(START).expect("a time");
    for (secret, from) in [
        ("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", start),
        ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", Time::from_millis(59_000)),
    ] {
        let codes = codes_by_oathtool(secret, from, 1000);
        assert_eq!(codes.len(), 1000);
        for (step, code) in (0..).zip(&codes) {
            let time = from.plus(Duration::from_secs(30 * step));
            assert_eq!(code_at(secret, time), *code, "{secret} at {time}");
        }
    }
}

#[tokio::test]
async fn same_code_at_once_from_two_processes_signs_in_once() {
    let two = TwoServers::start().await;
    let here = async |status: u16, session: Option<&str>, path: &str, body: Value| {
        two.expect(status, &two.here, session, Method::POST, path, &body).await
    };
    let login = json!({"email": OWNER, "password": PASSWORD});
    let opened = here(200, None, "/v1/auth/login", login.clone()).await;
    let session = opened["token"].as_str().expect("a token");
    let started = here(201, Some(session), "/v1/auth/totp", Value::Null).await;
    let secret = started["secret"].as_str().expect("a secret");
    let now = SystemClock.now();
    let first = json!({"code": code_at(secret, now)});
    here(200, Some(session), "/v1/auth/totp/activate", first).await;
    // The code of the next step is accepted already.
    let code = code_at(secret, now.plus(Duration::from_secs(30)));
    let mut challenges = Vec::new();
    for _ in 0..6 {
        let asked = here(401, None, "/v1/auth/login", login.clone()).await;
        challenges.push(asked["challenge"].as_str().expect("a challenge").to_owned());
    }
    let replies = join_all(challenges.iter().enumerate().map(async |(number, challenge)| {
        let server = if number % 2 == 0 { &two.here } else { &two.there };
        let body = json!({"challenge": challenge, "code": code});
        two.call(server, None, Method::POST, "/v1/auth/login/second-factor", &body).await
    }));
    let replies = replies.await;
    let opened = replies.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!(opened, 1, "the code opens one session: {replies:?}");
    for (status, reply) in replies.iter().filter(|(status, _)| *status != 200) {
        assert_eq!((*status, &reply["code"]), (401, &json!("invalid_second_factor")), "{reply}");
    }
    let path = "/v1/auth/sessions";
    let sessions = two.expect(200, &two.there, Some(session), Method::GET, path, &Value::Null).await;
    assert_eq!(sessions["count"], 2, "{sessions}");
    two.stop().await;
}

async fn a_code_in_the_first_request_signs_in(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let login = |code: &str| {
        let body = json!({"email": app.home.email, "password": PASSWORD, "code": code});
        app.call("POST", "/v1/auth/login").json(&body)
    };
    login("000000").send().await.problem(401, "invalid_second_factor");
    let problem = login("12345").send().await.problem(400, "validation_failed");
    assert_eq!(problem["errors"][0]["field"], "code");
    let code = ada.next_code(app);
    let spaced = format!("{} {}", &code[..3], &code[3..]);
    assert_eq!(login(&spaced).send().await.expect(200)["secondFactor"], "totp");
    // An account without an app ignores a code.
    app.member(&app.home, "bob@example.com", "admin").await;
    let body = json!({"email": "bob@example.com", "password": PASSWORD, "code": "123456"});
    let session = app.call("POST", "/v1/auth/login").json(&body).send().await.expect(200);
    assert_eq!(session["secondFactor"], Value::Null);
    app.work().await;
}

async fn a_recovery_code_signs_in_once(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let asked = challenge(app, &app.home.email).await;
    let code = ada.recovery_codes[0].to_uppercase();
    let replies = join_all((0..4).map(|_| second(app, &asked, &code).send())).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    let mails = app.mails().await;
    let [mail] = mails.as_slice() else { panic!("one mail, not {}", mails.len()) };
    assert!(mail.text.contains("9 unused codes are left"), "{}", mail.text);
    second(app, &asked, &code).send().await.problem(401, "invalid_second_factor");
    assert_eq!(security(app, &ada.token).await["recoveryCodes"]["left"], 9);
}

async fn recovery_code_confirms_nothing(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let recovered = async |number: usize| {
        let asked = challenge(app, &app.home.email).await;
        let opened = second(app, &asked, &ada.recovery_codes[number]).send().await.expect(200);
        app.mails().await;
        opened["token"].as_str().expect("a token").to_owned()
    };
    let call =
        |token: &str, method: &str, path: &str| app.call(method, path).session(token, &app.home.organization);
    let confirmation = async |token: &str| call(token, "GET", "/v1/auth/confirm").send().await.expect(200);
    let policy = async |token: &str| {
        let call = call(token, "PATCH", "/v1/organization/sign-in-policy");
        call.json(&json!({"maxHours": 24})).send().await
    };
    let token = recovered(0).await;
    let found = confirmation(&token).await;
    assert_eq!((&found["isConfirmed"], &found["confirmedUntil"]), (&json!(false), &Value::Null));
    assert_eq!(found["isAccountConfirmed"], true);
    policy(&token).await.problem(403, "confirmation_required");
    // A code of the app confirms the same session.
    let body = json!({"password": PASSWORD, "code": ada.next_code(app)});
    call(&token, "POST", "/v1/auth/confirm").json(&body).send().await.expect(200);
    assert_eq!(confirmation(&token).await["isConfirmed"], true);
    policy(&token).await.expect(200);
    // It is enough to replace what was lost, for ten minutes.
    let token = recovered(1).await;
    assert_eq!(confirmation(&token).await["isConfirmed"], false);
    app.clock.advance(Duration::from_mins(10));
    assert_eq!(confirmation(&token).await["isAccountConfirmed"], false);
    call(&token, "DELETE", "/v1/auth/totp").send().await.problem(403, "confirmation_required");
    let token = recovered(2).await;
    call(&token, "DELETE", "/v1/auth/totp").send().await.expect(200);
    assert_eq!(confirmation(&token).await["isConfirmed"], false);
    app.mails().await;
}

async fn old_recovery_codes_end_with_new_ones(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let renew = app.call("POST", "/v1/auth/recovery-codes").session(&ada.token, &app.home.organization);
    let new = renew.send().await.expect(201);
    app.mails().await;
    let asked = challenge(app, &app.home.email).await;
    second(app, &asked, &ada.recovery_codes[0]).send().await.problem(401, "invalid_second_factor");
    let code = new["recoveryCodes"][0].as_str().expect("a code");
    assert_eq!(second(app, &asked, code).send().await.expect(200)["secondFactor"], "recovery");
    app.mails().await;
}

async fn guessing_codes_is_stopped(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let asked = challenge(app, &app.home.email).await;
    for _ in 0..10 {
        second(app, &asked, "000000").send().await.problem(401, "invalid_second_factor");
    }
    let mails = app.mails().await;
    let [mail] = mails.as_slice() else { panic!("one mail, not {}", mails.len()) };
    assert!(mail.text.contains("wrong codes"), "{}", mail.text);
    let code = ada.next_code(app);
    let refused = second(app, &asked, &code).send().await;
    refused.problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    // A recovery code is a code, too.
    second(app, &asked, &ada.recovery_codes[0]).send().await.problem(429, "rate_limited");
    app.clock.advance(Duration::from_hours(1));
    let asked = challenge(app, &app.home.email).await;
    second(app, &asked, &ada.next_code(app)).send().await.expect(200);
    app.work().await;
}

async fn a_challenge_holds_for_its_sign_in_only(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let expired = |challenge: String| {
        let code = ada.next_code(app);
        async move { second(app, &challenge, &code).send().await.problem(410, "ceremony_expired") }
    };
    let asked = challenge(app, &app.home.email).await;
    expired(format!("{asked}A")).await;
    expired("nonsense".to_owned()).await;
    let other = app.call("POST", "/v1/auth/passkeys/sign-in-options").send().await.expect(200);
    expired(other["ticket"].as_str().expect("a ticket").to_owned()).await;
    app.clock.advance(Duration::from_mins(5));
    expired(asked).await;
    let asked = challenge(app, &app.home.email).await;
    let body = json!({"currentPassword": PASSWORD, "newPassword": "staple after staple"});
    let change = app.call("POST", "/v1/auth/change-password").session(&ada.token, &app.home.organization);
    change.json(&body).send().await.expect(200);
    app.mails().await;
    expired(asked).await;
}

async fn a_wrong_password_says_nothing_of_the_app(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    for code in [None, Some(ada.next_code(app))] {
        let body = json!({"email": app.home.email, "password": "a wrong password", "code": code});
        let mut body = body;
        if code.is_none() {
            body.as_object_mut().expect("an object").remove("code");
        }
        let reply = app.call("POST", "/v1/auth/login").json(&body).send().await;
        let problem = reply.problem(401, "invalid_credentials");
        assert_eq!(problem.get("methods"), None);
    }
    app.work().await;
}

async fn a_password_is_confirmed_with_a_code(app: &TestApp) {
    let plain = app.sign_in(&app.home.email).await;
    let ada = enrol(app, &app.home, &app.home.email).await;
    let call = |method: &str| app.call(method, "/v1/auth/confirm").session(&plain, &app.home.organization);
    let ways = call("GET").send().await.expect(200);
    assert_eq!(ways["methods"], json!(["password"]));
    assert_eq!((&ways["needsCode"], &ways["isConfirmed"]), (&json!(true), &json!(true)));
    app.clock.advance(Duration::from_mins(11));
    assert_eq!(call("GET").send().await.expect(200)["confirmedUntil"], Value::Null);
    for body in [
        json!({"password": PASSWORD}),
        json!({"password": PASSWORD, "code": "000000"}),
        json!({"password": PASSWORD, "code": ada.recovery_codes[0]}),
    ] {
        let problem = call("POST").json(&body).send().await.problem(400, "validation_failed");
        assert_eq!(problem["errors"][0]["field"], "code", "{body}");
    }
    let code = ada.next_code(app);
    let done = call("POST").json(&json!({"password": PASSWORD, "code": code})).send().await.expect(200);
    assert_eq!(done["confirmedUntil"], (app.ctx.now().plus(Duration::from_mins(10))).to_string());
    let session = app.call("GET", "/v1/auth/session").session(&plain, &app.home.organization);
    assert_eq!(session.send().await.expect(200)["secondFactor"], "totp", "the session has it from now on");
    app.work().await;
}

async fn an_enrolment_is_finished_in_time_or_not_at_all(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let call = |path: &str| app.call("POST", path).session(&token, &app.home.organization);
    let activate = |code: &str| call("/v1/auth/totp/activate").json(&json!({"code": code}));
    activate("123456").send().await.problem(410, "ceremony_expired");
    let first = call("/v1/auth/totp").send().await.expect(201)["secret"].clone();
    let second = call("/v1/auth/totp").send().await.expect(201)["secret"].clone();
    assert_ne!(first, second);
    let old = code_at(first.as_str().expect("a secret"), app.ctx.now());
    let problem = activate(&old).send().await.problem(400, "validation_failed");
    assert_eq!(problem["errors"][0]["field"], "code", "the second secret replaced the first");
    log_in(app, &app.home.email).await.expect(200);
    app.clock.advance(Duration::from_mins(16));
    let late = code_at(second.as_str().expect("a secret"), app.ctx.now());
    activate(&late).send().await.problem(410, "ceremony_expired");
    app.work().await;
    app.housekeeping().await;
}

async fn enrolment_needs_a_confirmation(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let call = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    app.clock.advance(Duration::from_mins(11));
    for (method, path) in [
        ("POST", "/v1/auth/totp"),
        ("DELETE", "/v1/auth/totp"),
        ("POST", "/v1/auth/recovery-codes"),
        ("POST", "/v1/auth/passkeys/registration-options"),
        ("DELETE", "/v1/auth/passkeys/psk_01jcqg3v5mefzr7d0a6w3k9x2b"),
    ] {
        call(method, path).send().await.problem(403, "confirmation_required");
    }
    call("POST", "/v1/auth/confirm").json(&json!({"password": PASSWORD})).send().await.expect(200);
    call("POST", "/v1/auth/recovery-codes").send().await.problem(409, "totp_inactive");
    call("DELETE", "/v1/auth/totp").send().await.problem(404, "not_found");
    let ada = enrol(app, &app.home, &app.home.email).await;
    let again = app.call("POST", "/v1/auth/totp").session(&ada.token, &app.home.organization);
    again.send().await.problem(409, "totp_active");
}

async fn the_secret_is_encrypted_and_shown_once(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let start = || {
        app.call("POST", "/v1/auth/totp")
            .session(&token, &app.home.organization)
            .header("idempotency-key", "k")
    };
    let first = start().send().await.expect(201);
    let uri = first["uri"].as_str().expect("an address");
    let secret = first["secret"].as_str().expect("a secret");
    assert!(uri.starts_with("otpauth://totp/Attestry:") && uri.contains(secret), "{uri}");
    let rows = first["qr"].as_array().expect("rows");
    assert!(rows.len() > 20 && rows.iter().all(|row| row.as_str().map(str::len) == Some(rows.len())));
    let replayed = start().send().await.expect(201);
    assert_eq!(
        (&replayed["secret"], &replayed["uri"], &replayed["qr"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let sql = "SELECT sealed FROM totp_secrets";
    let stored = app.ctx.db.read(async |t| t.one(sql, &[], |row| row.bytes(0)).await).await;
    let stored = stored.map_err(|error: attestry_db::Error| error).expect("a row");
    assert_eq!(stored.len(), 12 + 20 + 16, "a nonce, the secret and a tag");
}

async fn a_rotated_key_keeps_the_apps(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    assert_eq!(attestry_app::core::data_key::rotate(&app.ctx).await.expect("a new key"), 1);
    let asked = challenge(app, &app.home.email).await;
    second(app, &asked, &ada.next_code(app)).send().await.expect(200);
    app.work().await;
}

async fn an_administrator_resets_what_was_lost(app: &TestApp) {
    let member = app.member(&app.home, "bob@example.com", "employee").await;
    app.member(&app.home, "carol@example.com", "admin").await;
    let bob = enrol(app, &app.home, "bob@example.com").await;
    enrol(app, &app.home, &app.home.email).await;
    let carol = app.sign_in("carol@example.com").await;
    let reset = |member: &str, token: &str| {
        let path = format!("/v1/people/{member}/reset-second-factor");
        app.call("POST", &path).session(token, &app.home.organization)
    };
    reset(&app.home.member, &carol).send().await.problem(403, "forbidden");
    reset(id(&member), &bob.token).send().await.problem(403, "forbidden");
    reset(id(&member), &carol).send().await.expect(200);
    let mails = app.mails().await;
    assert!(mails.iter().any(|mail| mail.to_address == "bob@example.com"), "bob is told");
    let call = app.call("GET", "/v1/auth/security").session(&bob.token, &app.home.organization);
    call.send().await.problem(401, "invalid_session");
    assert_eq!(log_in(app, "bob@example.com").await.expect(200)["secondFactor"], Value::Null);
    app.work().await;
    let log = app.get("/v1/audit-logs?action=second_factors.reset").send().await.expect(200);
    assert_eq!(log["data"][0]["actor"]["type"], "member");
    challenge(app, &app.home.email).await;
}

async fn an_account_of_two_organizations_is_not_reset_by_one(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let bob = app.join(&app.home, &other, "employee").await;
    enrol(app, &other, "bob@example.com").await;
    let path = format!("/v1/people/{}/reset-second-factor", id(&bob));
    app.call("POST", &path).key(&app.home.key).send().await.problem(409, "account_not_managed");
    challenge(app, "bob@example.com").await;
}

async fn the_operator_resets_anybody(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let email = attestry_domain::Parse::parse(&app.home.email).expect("an address");
    attestry_app::identity::second_factors::reset_by_operator(&app.ctx, &email).await.expect("reset");
    app.mails().await;
    let call = app.call("GET", "/v1/auth/security").session(&ada.token, &app.home.organization);
    call.send().await.problem(401, "invalid_session");
    log_in(app, &app.home.email).await.expect(200);
    app.work().await;
}

async fn removing_the_app_ends_its_codes(app: &TestApp) {
    let ada = enrol(app, &app.home, &app.home.email).await;
    let asked = challenge(app, &app.home.email).await;
    let remove = || app.call("DELETE", "/v1/auth/totp").session(&ada.token, &app.home.organization);
    remove().send().await.expect(200);
    app.mails().await;
    remove().send().await.problem(404, "not_found");
    second(app, &asked, &ada.next_code(app)).send().await.problem(401, "invalid_second_factor");
    second(app, &asked, &ada.recovery_codes[0]).send().await.problem(401, "invalid_second_factor");
    log_in(app, &app.home.email).await.expect(200);
    app.work().await;
    let person = app.get(&format!("/v1/people/{}", app.home.member)).send().await.expect(200);
    assert_eq!(person["hasSecondFactor"], false);
}
