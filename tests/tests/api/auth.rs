//! `/v1/auth`: sessions, passwords, credentials.

use std::time::Duration;

use attestry_tests::{Call, PASSWORD, TestApp, both, token_in};
use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::audit_logs::tamper;

both! {
    too_many_passwords_at_once_are_refused_at_once,
    no_password_is_checked_for_a_client_that_has_gone,
    a_link_is_looked_at_before_a_password_is_hashed,
    signing_in_gives_a_cookie_and_the_same_token,
    the_session_shows_the_user_and_their_organizations,
    the_organization_header_rules_hold,
    the_key_wins_and_a_bad_key_is_401_beside_a_good_session,
    a_cookie_without_the_header_changes_nothing,
    signing_out_ends_the_session,
    a_key_cannot_touch_an_account,
    sessions_slide_and_end_when_idle,
    wrong_sign_ins_are_counted_and_refused,
    right_passwords_never_count,
    failed_sign_ins_of_known_users_are_entries,
    asking_for_a_link_is_the_same_work_for_everybody,
    many_wrong_sign_ins_at_once_are_counted_too,
    a_cookie_in_use_is_renewed,
    an_account_is_not_flooded_with_links,
    changing_the_password_ends_other_sessions,
    sessions_are_listed_and_ended_one_by_one,
    signing_and_approving_need_the_password_again,
    people_change_their_own_name,
    a_forgotten_password_is_reset_by_a_link_once,
    a_demotion_takes_effect_at_once,
    secrets_are_stored_as_hashes_only,
}

async fn signing_in_gives_a_cookie_and_the_same_token(app: &TestApp) {
    let body = json!({"email": "ADA@example.com", "password": PASSWORD});
    let reply = app.call("POST", "/v1/auth/login").json(&body).send().await;
    let session = reply.expect(200);
    let cookie = reply.header("set-cookie").expect("a cookie");
    let token = session["token"].as_str().expect("a token");
    assert!(cookie.starts_with(&format!("attestry_session={token};")), "{cookie}");
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "not on http");
    assert_eq!(session["expiresAt"], "2026-12-15T09:30:00.000Z");
    assert_eq!(session["user"]["lastLogin"], "2026-11-15T09:30:00.000Z");
    let by_cookie = app
        .call("GET", "/v1/people")
        .header("cookie", &format!("a=b; attestry_session={token}"))
        .header("x-organization-id", &app.home.organization);
    by_cookie.send().await.expect(200);
    app.call("GET", "/v1/people").session(token, &app.home.organization).send().await.expect(200);
}

/// Signs in with an invalid password.
fn guess(app: &TestApp, number: usize) -> Call<'_> {
    let body = json!({"email": format!("nobody{number}@example.com"), "password": "a wrong password"});
    app.call("POST", "/v1/auth/login").json(&body)
}

async fn too_many_passwords_at_once_are_refused_at_once(app: &TestApp) {
    let replies = join_all((0..60).map(|number| guess(app, number).send())).await;
    let (mut checked, mut refused) = (0, 0);
    for reply in replies {
        match reply.status.as_u16() {
            401 => checked += 1,
            _ => {
                assert_eq!(reply.problem(503, "unavailable")["status"], 503);
                assert_eq!(reply.header("retry-after"), Some("2"));
                refused += 1;
            }
        }
    }
    assert!(checked >= 8 && refused >= 30, "{checked} were checked, {refused} refused");
    app.work().await;
    app.sign_in(&app.home.email).await;
}

async fn no_password_is_checked_for_a_client_that_has_gone(app: &TestApp) {
    let mut calls: Vec<_> = (0..6).map(|number| Box::pin(guess(app, number).send())).collect();
    for call in &mut calls {
        assert!(call.as_mut().now_or_never().is_none(), "it waits");
    }
    drop(calls);
    // These are queued behind the dropped calls.
    for number in 6..8 {
        guess(app, number).send().await.problem(401, "invalid_credentials");
    }
    let sql = "SELECT COUNT(*) FROM sign_in_failures";
    let failures = app.ctx.db.read(async move |t| t.one(sql, &[], |row| row.int(0)).await).await;
    let failures = failures.expect("a number");
    // Up to two may have been checked before their clients disconnected.
    assert!((2..=4).contains(&failures), "{failures}");
    app.work().await;
}

async fn a_link_is_looked_at_before_a_password_is_hashed(app: &TestApp) {
    let token = "9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0";
    guess(app, 0).send().await.problem(401, "invalid_credentials");
    assert!(app.ctx.hashing.computed() > 0);
    let before = app.ctx.hashing.computed();
    for (path, body) in [
        ("/v1/auth/reset-password", json!({"token": token, "newPassword": PASSWORD})),
        ("/v1/auth/accept-invitation", json!({"token": token, "password": PASSWORD})),
        (
            "/v1/setup",
            json!({"token": token, "organization": "A", "email": "a@example.com", "password": PASSWORD}),
        ),
    ] {
        let reply = app.call("POST", path).json(&body).send().await;
        assert!(reply.status.is_client_error(), "{}", reply.text());
    }
    assert_eq!(app.ctx.hashing.computed(), before);
    app.work().await;
}

async fn the_session_shows_the_user_and_their_organizations(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    app.join(&app.home, &other, "auditor").await;
    let token = app.sign_in("bob@example.com").await;
    let session = app
        .call("GET", "/v1/auth/session")
        .header("authorization", &format!("Bearer {token}"))
        .send()
        .await
        .expect(200);
    let organizations = session["organizations"].as_array().expect("organizations");
    let roles: Vec<(&Value, &Value)> = organizations.iter().map(|o| (&o["name"], &o["role"])).collect();
    assert_eq!(roles, [(&json!("Other"), &json!("owner")), (&json!("Home"), &json!("auditor"))]);
}

async fn the_organization_header_rules_hold(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let token = app.sign_in("ada@example.com").await;
    let bearer = format!("Bearer {token}");
    app.call("GET", "/v1/people")
        .header("authorization", &bearer)
        .send()
        .await
        .problem(400, "organization_required");
    app.call("GET", "/v1/people")
        .session(&token, &other.organization)
        .send()
        .await
        .problem(403, "not_a_member");
    app.call("GET", "/v1/people").session(&token, "org_x").send().await.problem(403, "not_a_member");
    app.get("/v1/people").header("x-organization-id", &app.home.organization).send().await.expect(200);
    app.get("/v1/people")
        .header("x-organization-id", &other.organization)
        .send()
        .await
        .problem(403, "organization_mismatch");
}

async fn the_key_wins_and_a_bad_key_is_401_beside_a_good_session(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let call = || app.call("GET", "/v1/people").session(&token, &app.home.organization);
    call().key("atk_aaaaaaaa_bad").send().await.problem(401, "invalid_api_key");
    call().key(&app.home.key).send().await.expect(200);
    for bad in [
        "",
        "x",
        "atk_",
        "atk_12345678_",
        &app.home.key[..app.home.key.len() - 1],
        &format!("{}x", app.home.key),
        &app.home.key.to_uppercase(),
    ] {
        app.call("GET", "/v1/people").key(bad).send().await.problem(401, "invalid_api_key");
    }
    app.call("GET", "/v1/people")
        .header("authorization", "Basic YTpi")
        .send()
        .await
        .problem(401, "missing_credentials");
    app.call("GET", "/v1/people")
        .header("authorization", "Bearer nonsense")
        .header("x-organization-id", &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
}

async fn a_cookie_without_the_header_changes_nothing(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let cookie = format!("attestry_session={token}");
    let entries = app.entries(&app.home).await;
    let body = json!({"currentPassword": PASSWORD, "newPassword": "another one, longer"});
    app.call("POST", "/v1/auth/logout")
        .header("cookie", &cookie)
        .send()
        .await
        .problem(400, "organization_required");
    app.call("POST", "/v1/auth/change-password")
        .header("cookie", &cookie)
        .json(&body)
        .send()
        .await
        .problem(400, "organization_required");
    app.call("POST", "/v1/people/invite")
        .header("cookie", &cookie)
        .json(&json!({"email": "x@example.com", "role": "owner"}))
        .send()
        .await
        .problem(400, "organization_required");
    assert_eq!(app.entries(&app.home).await, entries);
    app.call("GET", "/v1/auth/session").header("cookie", &cookie).send().await.expect(200);
    app.call("POST", "/v1/auth/logout")
        .header("cookie", &cookie)
        .header("x-organization-id", &app.home.organization)
        .send()
        .await
        .expect(200);
}

async fn signing_out_ends_the_session(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let reply = app.call("POST", "/v1/auth/logout").session(&token, &app.home.organization).send().await;
    reply.expect(200);
    assert!(reply.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")));
    app.call("GET", "/v1/people")
        .session(&token, &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
}

async fn a_key_cannot_touch_an_account(app: &TestApp) {
    app.get("/v1/auth/session").send().await.problem(403, "session_required");
}

async fn sessions_slide_and_end_when_idle(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let call = || app.call("GET", "/v1/people").session(&token, &app.home.organization);
    app.write_touches();
    for _ in 0..4 {
        app.clock.advance(Duration::from_hours(11));
        call().send().await.expect(200);
        app.used(&token).await;
    }
    app.clock.advance(Duration::from_hours(13));
    call().send().await.problem(401, "invalid_session");
}

async fn wrong_sign_ins_are_counted_and_refused(app: &TestApp) {
    let wrong = json!({"email": "ada@example.com", "password": "wrong"});
    for _ in 0..5 {
        app.call("POST", "/v1/auth/login").json(&wrong).send().await.problem(401, "invalid_credentials");
    }
    let right = json!({"email": "ada@example.com", "password": PASSWORD});
    let refused = app.call("POST", "/v1/auth/login").json(&right).send().await;
    refused.problem(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("900"));
    let unknown = json!({"email": "nobody@example.com", "password": "wrong"});
    app.call("POST", "/v1/auth/login").json(&unknown).send().await.problem(401, "invalid_credentials");
    app.clock.advance(Duration::from_mins(16));
    app.call("POST", "/v1/auth/login").json(&right).send().await.expect(200);
    app.work().await;
}

async fn right_passwords_never_count(app: &TestApp) {
    let right = json!({"email": "ada@example.com", "password": PASSWORD});
    let calls = (0..12).map(|_| app.call("POST", "/v1/auth/login").json(&right).send());
    for reply in futures_util::future::join_all(calls).await {
        reply.expect(200);
    }
    let wrong = json!({"email": "ada@example.com", "password": "wrong"});
    for _ in 0..3 {
        for _ in 0..4 {
            app.call("POST", "/v1/auth/login").json(&wrong).send().await.problem(401, "invalid_credentials");
        }
        app.call("POST", "/v1/auth/login").json(&right).send().await.expect(200);
    }
    app.work().await;
}

async fn failed_sign_ins_of_known_users_are_entries(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let before = app.entries(&other).await;
    for email in ["ada@example.com", "nobody@example.com"] {
        let wrong = json!({"email": email, "password": "wrong"});
        let call = app.call("POST", "/v1/auth/login").header("x-request-id", "try-1").json(&wrong);
        call.send().await.problem(401, "invalid_credentials");
        // Both cases enqueue the same job, so that the response time reveals nothing.
        let (waiting, _) =
            app.ctx.db.read(async |t| attestry_storage::jobs::counts(t).await).await.expect("counted");
        assert_eq!(waiting, 1, "{email}");
        app.work().await;
    }
    let log = app.get("/v1/audit-logs?action=user.sign_in_failed").send().await.expect(200);
    assert_eq!(log["count"], 1);
    let entry = &log["data"][0];
    assert_eq!((&entry["entityId"], &entry["requestId"]), (&json!(app.home.user), &json!("try-1")));
    assert_eq!(app.entries(&other).await, before, "nobody else's business");
}

async fn asking_for_a_link_is_the_same_work_for_everybody(app: &TestApp) {
    for email in ["ada@example.com", "nobody@example.com"] {
        app.call("POST", "/v1/auth/forgot-password").json(&json!({"email": email})).send().await.expect(200);
        let (waiting, _) =
            app.ctx.db.read(async |t| attestry_storage::jobs::counts(t).await).await.expect("counted");
        assert_eq!(waiting, 1, "{email}");
        app.work().await;
    }
    assert_eq!(app.mail.take().len(), 1);
}

async fn many_wrong_sign_ins_at_once_are_counted_too(app: &TestApp) {
    let wrong = json!({"email": "ada@example.com", "password": "wrong"});
    let calls = (0..12).map(|_| app.call("POST", "/v1/auth/login").json(&wrong).send());
    let replies = futures_util::future::join_all(calls).await;
    assert_eq!(replies.iter().filter(|reply| reply.status.as_u16() == 401).count(), 5);
    assert_eq!(replies.iter().filter(|reply| reply.status.as_u16() == 429).count(), 7);
    app.work().await;
}

async fn a_cookie_in_use_is_renewed(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let reply = app
        .call("GET", "/v1/auth/session")
        .header("cookie", &format!("attestry_session={token}"))
        .send()
        .await;
    assert!(reply.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=2592000")));
    let reply =
        app.call("GET", "/v1/auth/session").header("authorization", &format!("Bearer {token}")).send().await;
    assert_eq!(reply.header("set-cookie"), None);
}

async fn an_account_is_not_flooded_with_links(app: &TestApp) {
    for _ in 0..6 {
        app.call("POST", "/v1/auth/forgot-password")
            .json(&json!({"email": "ada@example.com"}))
            .send()
            .await
            .expect(200);
    }
    assert_eq!(app.mails().await.len(), 3);
}

async fn sessions_are_listed_and_ended_one_by_one(app: &TestApp) {
    let body = json!({"email": "ada@example.com", "password": PASSWORD});
    let login = app.call("POST", "/v1/auth/login").header("user-agent", "Firefox").json(&body);
    let phone = login.send().await.expect(200)["token"].as_str().expect("a token").to_owned();
    app.clock.advance(Duration::from_mins(5));
    let own = app.sign_in("ada@example.com").await;
    app.tenant("Other", "bob@example.com").await;
    let theirs = app.sign_in("bob@example.com").await;
    let call = |method: &str, path: &str| app.call(method, path).session(&own, &app.home.organization);

    let list = call("GET", "/v1/auth/sessions").send().await.expect(200);
    assert_eq!(list["count"], 2);
    let of = |at: usize, field: &str| list["data"][at][field].clone();
    assert_eq!((of(0, "isCurrent"), of(1, "isCurrent")), (json!(true), json!(false)));
    assert_eq!(of(1, "userAgent"), "Firefox");
    assert!(of(0, "createdAt").as_str() > of(1, "createdAt").as_str(), "{list}");
    assert!(!list.to_string().contains(&own), "a token is not shown again");

    let path = format!("/v1/auth/sessions/{}", of(1, "id").as_str().expect("an id"));
    app.call("DELETE", &path).session(&theirs, &app.home.organization).send().await.problem(404, "not_found");
    call("DELETE", &path).send().await.expect(200);
    call("DELETE", &path).send().await.problem(404, "not_found");
    app.call("GET", "/v1/people")
        .session(&phone, &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    app.work().await;
    let log = app.get("/v1/audit-logs?action=session.ended").send().await.expect(200);
    assert_eq!(log["count"], 1);
}

async fn signing_and_approving_need_the_password_again(app: &TestApp) {
    let policy = app.post("/v1/policies", &json!({"name": "A", "contentMarkdown": "B"})).send().await;
    let path = format!("/v1/policies/{}", policy.expect(201)["id"].as_str().expect("an id"));
    let ask = json!({"approverId": app.home.member});
    app.post(&format!("{path}/submit-for-approval"), &ask).send().await.expect(200);
    let token = app.sign_in("ada@example.com").await;
    let call = |path: &str| app.call("POST", path).session(&token, &app.home.organization);
    let confirm = |password: &str| call("/v1/auth/confirm").json(&json!({"password": password}));
    let (approve, sign) = (format!("{path}/approve"), format!("{path}/sign"));

    app.clock.advance(Duration::from_mins(11));
    call(&approve).send().await.problem(403, "confirmation_required");
    assert_eq!(confirm("wrong").send().await.wrong_fields(), ["password"]);
    call(&approve).send().await.problem(403, "confirmation_required");
    confirm(PASSWORD).send().await.expect(200);
    call(&approve).send().await.expect(200);
    app.clock.advance(Duration::from_mins(11));
    call(&sign).send().await.problem(403, "confirmation_required");
    confirm(PASSWORD).send().await.expect(200);
    call(&sign).send().await.expect(200);
    app.work().await;
    // Ended by another process, but still cached by this one.
    tamper(app, "DELETE FROM sessions").await;
    confirm(PASSWORD).send().await.problem(401, "invalid_session");
}

async fn people_change_their_own_name(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    let call = |method: &str, path: &str| app.call(method, path).session(&token, &app.home.organization);
    let rename = |name: &str| call("PATCH", "/v1/auth/profile").json(&json!({"name": name}));
    assert_eq!(rename(" ").send().await.wrong_fields(), ["name"]);
    assert_eq!(rename("Ada King").send().await.expect(200)["name"], "Ada King");
    let session = call("GET", "/v1/auth/session").send().await.expect(200);
    assert_eq!(session["user"]["name"], "Ada King");
    app.work().await;
    let log = app.get("/v1/audit-logs?action=user.updated").send().await.expect(200);
    assert_eq!(log["count"], 1);
}

async fn changing_the_password_ends_other_sessions(app: &TestApp) {
    let (mine, other) = (app.sign_in("ada@example.com").await, app.sign_in("ada@example.com").await);
    let change = |current: &str, new: &str| json!({"currentPassword": current, "newPassword": new});
    let call = |body: &Value| {
        app.call("POST", "/v1/auth/change-password").session(&mine, &app.home.organization).json(body)
    };
    assert_eq!(
        call(&change("wrong", "another one, longer")).send().await.wrong_fields(),
        ["currentPassword"]
    );
    assert_eq!(call(&change(PASSWORD, "short")).send().await.wrong_fields(), ["newPassword"]);
    call(&change(PASSWORD, "another one, longer")).send().await.expect(200);
    app.call("GET", "/v1/people").session(&mine, &app.home.organization).send().await.expect(200);
    app.call("GET", "/v1/people")
        .session(&other, &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    let old = json!({"email": "ada@example.com", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&old).send().await.problem(401, "invalid_credentials");
    app.work().await;
}

async fn a_forgotten_password_is_reset_by_a_link_once(app: &TestApp) {
    let session = app.sign_in("ada@example.com").await;
    let ask = |email: &str| app.call("POST", "/v1/auth/forgot-password").json(&json!({"email": email}));
    let known = ask("ada@example.com").send().await.expect(200);
    let token = token_in(&app.mails().await);
    assert_eq!(ask("nobody@example.com").send().await.expect(200), known, "the answer does not tell");
    assert!(app.mails().await.is_empty());
    let reset = json!({"token": token, "newPassword": "another one, longer"});
    app.call("POST", "/v1/auth/reset-password").json(&reset).send().await.expect(200);
    app.call("POST", "/v1/auth/reset-password").json(&reset).send().await.problem(410, "link_expired");
    app.call("GET", "/v1/people")
        .session(&session, &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    let login = json!({"email": "ada@example.com", "password": "another one, longer"});
    app.call("POST", "/v1/auth/login").json(&login).send().await.expect(200);
    ask("ada@example.com").send().await.expect(200);
    let token = token_in(&app.mails().await);
    app.clock.advance(Duration::from_mins(61));
    let reset = json!({"token": token, "newPassword": "yet another one"});
    app.call("POST", "/v1/auth/reset-password").json(&reset).send().await.problem(410, "link_expired");
}

async fn a_demotion_takes_effect_at_once(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let call = || app.call("GET", "/v1/people").session(&token, &app.home.organization);
    call().send().await.expect(200);
    app.patch(&format!("/v1/people/{}", eve["id"].as_str().expect("an id")), &json!({"role": "employee"}))
        .send()
        .await
        .expect(200);
    call().send().await.problem(403, "forbidden");
}

async fn secrets_are_stored_as_hashes_only(app: &TestApp) {
    let token = app.sign_in("ada@example.com").await;
    app.post("/v1/people/invite", &json!({"email": "grace@example.com", "role": "employee"}))
        .send()
        .await
        .expect(201);
    let waiting = dump(app).await;
    let invitation = token_in(&app.mails().await);
    for secret in [token.as_str(), app.home.key.as_str(), &app.home.key[13..], invitation.as_str(), PASSWORD]
    {
        assert!(!waiting.contains(secret), "{secret} is in the database");
    }
    assert!(waiting.contains("ada@example.com"), "the dump holds the database");
}

/// Every table as text, bytes decoded.
pub(crate) async fn dump(app: &attestry_tests::TestApp) -> String {
    use base64::Engine;
    let engine = app.ctx.db.engine();
    let text = app
        .ctx
        .db
        .snapshot(async move |t| {
            let mut out = Vec::new();
            for table in attestry_storage::schema::TABLES {
                let columns = attestry_storage::archive::columns(t, engine, table.name).await?;
                attestry_storage::archive::dump(t, table.name, &columns, &mut out).await?;
            }
            Ok::<_, attestry_storage::Error>(String::from_utf8_lossy(&out).into_owned())
        })
        .await
        .expect("a dump");
    let decoded: Vec<String> = text
        .split('"')
        .filter_map(|word| base64::engine::general_purpose::STANDARD.decode(word).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    format!("{text}{}", decoded.join(" "))
}
