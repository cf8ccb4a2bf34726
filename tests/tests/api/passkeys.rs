//! Passkeys: adding them, and signing in and confirming with them. A software authenticator plays the browser.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use attestry_domain::hash::sha256;
use attestry_domain::id::UserId;
use attestry_tests::authenticator::{Authenticator, ed25519_key, rsa_key};
use attestry_tests::{Call, PASSWORD, Tenant, TestApp, both, id};
use serde_json::{Value, json};

both! {
    an_account_with_a_passkey_needs_no_password,
    a_passkey_signs_in,
    user_handle_says_nothing_of_the_account,
    crooked_registrations_are_refused,
    keys_that_cannot_be_trusted_are_not_registered,
    registration_under_a_foreign_top_origin_is_refused,
    crooked_answers_are_refused,
    raw_signatures_are_refused,
    answer_with_the_handle_of_another_account_is_refused,
    answer_of_a_foreign_frame_is_refused,
    answer_under_a_foreign_top_origin_is_refused,
    another_library_verifies_the_same_bytes,
    each_changed_byte_is_refused,
    tickets_hold_once_and_for_their_purpose,
    confirmation_ticket_holds_for_its_session,
    a_counter_that_goes_back_is_refused,
    a_synced_passkey_without_a_counter_signs_in,
    backup_eligibility_does_not_change,
    a_passkey_belongs_to_one_account,
    a_passkey_confirms_its_session,
    a_removed_passkey_signs_nobody_in,
    an_inactive_member_is_refused,
}

const ORIGIN: &str = "https://compliance.example.com";
/// Makes an authenticator misbehave.
type Trick = fn(&mut Authenticator);

const SITE: &str = "compliance.example.com";

pub(crate) fn authenticator(number: usize) -> Authenticator {
    Authenticator::new(ORIGIN, SITE, &sha256(&number.to_be_bytes()))
}

fn session<'a>(app: &'a TestApp, token: &str, tenant: &Tenant, path: &str) -> Call<'a> {
    app.call("POST", path).session(token, &tenant.organization)
}

/// Returns the body that adds the passkey of this authenticator.
pub(crate) async fn registration(
    app: &TestApp,
    tenant: &Tenant,
    token: &str,
    authenticator: &mut Authenticator,
) -> Value {
    let options =
        session(app, token, tenant, "/v1/auth/passkeys/registration-options").send().await.expect(200);
    json!({"ticket": options["ticket"], "credential": authenticator.create(&options["publicKey"]), "name": "Laptop"})
}

/// Adds a passkey and returns it.
pub(crate) async fn add(
    app: &TestApp,
    tenant: &Tenant,
    token: &str,
    authenticator: &mut Authenticator,
) -> Value {
    let body = registration(app, tenant, token, authenticator).await;
    let added = session(app, token, tenant, "/v1/auth/passkeys").json(&body).send().await.expect(201);
    app.mails().await;
    added
}

/// Returns the body that signs in with this authenticator.
pub(crate) async fn answer(app: &TestApp, authenticator: &mut Authenticator) -> Value {
    let options = app.call("POST", "/v1/auth/passkeys/sign-in-options").send().await.expect(200);
    json!({"ticket": options["ticket"], "credential": authenticator.get(&options["publicKey"])})
}

/// Returns the body that confirms a session with this authenticator.
pub(crate) async fn confirmation(
    app: &TestApp,
    tenant: &Tenant,
    token: &str,
    authenticator: &mut Authenticator,
) -> Value {
    let options = session(app, token, tenant, "/v1/auth/passkeys/confirm-options").send().await.expect(200);
    json!({"ticket": options["ticket"], "credential": authenticator.get(&options["publicKey"])})
}

fn sign_in<'a>(app: &'a TestApp, body: &Value) -> Call<'a> {
    app.call("POST", "/v1/auth/passkeys/sign-in").json(body)
}

async fn a_passkey_signs_in(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let options =
        session(app, &token, &app.home, "/v1/auth/passkeys/registration-options").send().await.expect(200);
    let wanted = &options["publicKey"];
    assert_eq!(wanted["rp"]["id"], SITE);
    assert_eq!(wanted["attestation"], "none");
    assert_eq!(wanted["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(wanted["authenticatorSelection"]["userVerification"], "required");
    let mut laptop = authenticator(1);
    let added = add(app, &app.home, &token, &mut laptop).await;
    assert_eq!((&added["name"], &added["isSynced"]), (&json!("Laptop"), &json!(false)));
    let options = app.call("POST", "/v1/auth/passkeys/sign-in-options").send().await.expect(200);
    assert_eq!(options["publicKey"]["allowCredentials"], json!([]), "nobody learns who has a passkey");
    assert_eq!(options["publicKey"]["userVerification"], "required");
    let body = answer(app, &mut laptop).await;
    let reply = sign_in(app, &body).send().await;
    let opened = reply.expect(200);
    assert_eq!((&opened["method"], &opened["secondFactor"]), (&json!("passkey"), &json!("passkey")));
    assert!(reply.header("set-cookie").is_some());
    app.work().await;
    let call = app.call("GET", "/v1/auth/security").session(&token, &app.home.organization);
    let security = call.send().await.expect(200);
    assert_eq!(security["passkeys"][0]["id"], added["id"]);
    assert_ne!(security["passkeys"][0]["lastUsedAt"], Value::Null);
    let log = app.get("/v1/audit-logs?action=passkey.added").send().await.expect(200);
    assert_eq!(log["count"], 1);
}

/// The authenticator knows the account by a random id, the same one for all its passkeys.
async fn user_handle_says_nothing_of_the_account(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let (mut laptop, mut phone, mut other) = (authenticator(1), authenticator(2), authenticator(3));
    add(app, &app.home, &token, &mut laptop).await;
    add(app, &app.home, &token, &mut phone).await;
    assert_eq!(laptop.user_handle, phone.user_handle);
    app.member(&app.home, "bob@example.com", "admin").await;
    let bob = app.sign_in("bob@example.com").await;
    add(app, &app.home, &bob, &mut other).await;
    assert_ne!(laptop.user_handle, other.user_handle);
    let user = UserId::read(&app.home.user).expect("an id");
    for known in [
        user.as_u128().to_be_bytes().to_vec(),
        user.as_u128().to_le_bytes().to_vec(),
        app.home.user.clone().into_bytes(),
        app.home.email.clone().into_bytes(),
        sha256(app.home.user.as_bytes())[..16].to_vec(),
        sha256(app.home.email.as_bytes())[..16].to_vec(),
    ] {
        assert_ne!(laptop.user_handle, known);
    }
    assert_eq!(laptop.user_handle.len(), 16);
    // It does not begin with a time, as ids do: accounts of the same day would look alike.
    assert_ne!(laptop.user_handle[..4], user.as_u128().to_be_bytes()[..4]);
    app.work().await;
}

async fn crooked_registrations_are_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let tricks: [(&str, Trick); 8] = [
        ("wrong origin", |one| one.origin = "https://evil.example.com"),
        ("subdomain", |one| one.origin = "https://a.compliance.example.com"),
        ("plain http", |one| one.origin = "http://compliance.example.com"),
        ("wrong site", |one| one.site = "example.com"),
        ("no user", |one| one.flags = 0b100),
        ("not verified", |one| one.flags = 0b001),
        ("synced though not eligible", |one| one.flags = 0b1_0101),
        ("in a frame of another site", |one| one.cross_origin = true),
    ];
    for (name, trick) in tricks {
        let mut crooked = authenticator(1);
        trick(&mut crooked);
        let body = registration(app, &app.home, &token, &mut crooked).await;
        let reply = session(app, &token, &app.home, "/v1/auth/passkeys").json(&body).send().await;
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
        reply.problem(400, "validation_failed");
    }
    let mut body = registration(app, &app.home, &token, &mut authenticator(1)).await;
    body["credential"]["response"]["attestationObject"] = json!("AAAA");
    session(app, &token, &app.home, "/v1/auth/passkeys")
        .json(&body)
        .send()
        .await
        .problem(400, "validation_failed");
    body["credential"] = json!({"id": 7});
    session(app, &token, &app.home, "/v1/auth/passkeys")
        .json(&body)
        .send()
        .await
        .problem(400, "validation_failed");
}

/// The passkeys of a session's account.
async fn known(app: &TestApp, token: &str) -> Value {
    let call = app.call("GET", "/v1/auth/security").session(token, &app.home.organization);
    call.send().await.expect(200)["passkeys"].clone()
}

async fn keys_that_cannot_be_trusted_are_not_registered(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let options =
        session(app, &token, &app.home, "/v1/auth/passkeys/registration-options").send().await.expect(200);
    let offered = options["publicKey"]["pubKeyCredParams"].as_array().expect("algorithms").iter();
    let offered: Vec<i64> = offered.filter_map(|one| one["alg"].as_i64()).collect();
    assert!(offered.contains(&-7) && offered.contains(&-257) && !offered.contains(&-8), "{offered:?}");
    let tricks: [(&str, Trick); 4] = [
        ("algorithm not offered", |one| one.public_key = Some(ed25519_key())),
        ("point off the curve", Authenticator::leave_the_curve),
        ("RSA with 1024 bits", |one| one.public_key = Some(rsa_key(&[0xc5; 128]))),
        ("bytes after the attestation object", |one| one.trailing_bytes = vec![0]),
    ];
    for (name, trick) in tricks {
        let mut crooked = authenticator(1);
        trick(&mut crooked);
        let body = registration(app, &app.home, &token, &mut crooked).await;
        let reply = session(app, &token, &app.home, "/v1/auth/passkeys").json(&body).send().await;
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
        let problem = reply.problem(400, "validation_failed");
        assert_eq!(problem["errors"][0]["field"], "credential", "{name}");
        assert_eq!(known(app, &token).await, json!([]), "{name}");
    }
    // The same form with a modulus of 2048 bits is fine.
    let mut large = authenticator(2);
    large.public_key = Some(rsa_key(&[0xc5; 256]));
    add(app, &app.home, &token, &mut large).await;
}

/// A page of another site that has this one in a frame registers nothing, whatever the browser says of `crossOrigin`.
async fn registration_under_a_foreign_top_origin_is_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut framed = authenticator(1);
    framed.top_origin = Some("https://evil.example.com");
    let body = registration(app, &app.home, &token, &mut framed).await;
    let reply = session(app, &token, &app.home, "/v1/auth/passkeys").json(&body).send().await;
    reply.problem(400, "validation_failed");
    assert_eq!(known(app, &token).await, json!([]));
    framed.top_origin = None;
    add(app, &app.home, &token, &mut framed).await;
}

async fn raw_signatures_are_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    laptop.has_raw_signatures = true;
    let body = answer(app, &mut laptop).await;
    let reply = sign_in(app, &body).send().await;
    reply.problem(401, "invalid_credentials");
    assert_eq!(reply.header("set-cookie"), None);
    let body = confirmation(app, &app.home, &token, &mut laptop).await;
    let confirm = session(app, &token, &app.home, "/v1/auth/passkeys/confirm").json(&body);
    confirm.send().await.problem(400, "validation_failed");
    laptop.has_raw_signatures = false;
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.expect(200);
    app.work().await;
}

async fn crooked_answers_are_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    let tricks: [(&str, Trick); 8] = [
        ("wrong origin", |one| one.origin = "https://evil.example.com"),
        ("subdomain", |one| one.origin = "https://a.compliance.example.com"),
        ("wrong site", |one| one.site = "example.com"),
        ("no user", |one| one.flags = 0b100),
        ("not verified", |one| one.flags = 0b001),
        ("synced though not eligible", |one| one.flags = 0b1_0101),
        ("unknown account", |one| one.user_handle = vec![7; 16]),
        ("another key", |one| one.credential_id = vec![7; 32]),
    ];
    for (name, trick) in tricks {
        let (origin, site, flags) = (laptop.origin, laptop.site, laptop.flags);
        let (handle, credential_id) = (laptop.user_handle.clone(), laptop.credential_id.clone());
        trick(&mut laptop);
        let body = answer(app, &mut laptop).await;
        let reply = sign_in(app, &body).send().await;
        assert_eq!(reply.status, 401, "{name}: {}", reply.text());
        reply.problem(401, "invalid_credentials");
        assert_eq!(reply.header("set-cookie"), None, "{name}");
        (laptop.origin, laptop.site, laptop.flags) = (origin, site, flags);
        (laptop.user_handle, laptop.credential_id) = (handle, credential_id);
    }
    // The signature of another key under the id of this one.
    let mut impostor = authenticator(1);
    impostor.user_handle.clone_from(&laptop.user_handle);
    let body = answer(app, &mut impostor).await;
    sign_in(app, &body).send().await.problem(401, "invalid_credentials");
    // An answer to another challenge.
    let mut body = answer(app, &mut laptop).await;
    body["ticket"] = answer(app, &mut laptop).await["ticket"].clone();
    sign_in(app, &body).send().await.problem(401, "invalid_credentials");
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.expect(200);
    app.work().await;
}

async fn answer_with_the_handle_of_another_account_is_refused(app: &TestApp) {
    let ada = app.sign_in(&app.home.email).await;
    app.member(&app.home, "bob@example.com", "admin").await;
    let bob = app.sign_in("bob@example.com").await;
    let (mut laptop, mut phone) = (authenticator(1), authenticator(2));
    add(app, &app.home, &ada, &mut laptop).await;
    add(app, &app.home, &bob, &mut phone).await;
    std::mem::swap(&mut laptop.user_handle, &mut phone.user_handle);
    for crooked in [&mut laptop, &mut phone] {
        let body = answer(app, crooked).await;
        let reply = sign_in(app, &body).send().await;
        reply.problem(401, "invalid_credentials");
        assert_eq!(reply.header("set-cookie"), None);
    }
    for (token, crooked) in [(&ada, &mut laptop), (&bob, &mut phone)] {
        let body = confirmation(app, &app.home, token, crooked).await;
        let confirm = session(app, token, &app.home, "/v1/auth/passkeys/confirm").json(&body);
        confirm.send().await.problem(400, "validation_failed");
    }
    std::mem::swap(&mut laptop.user_handle, &mut phone.user_handle);
    for (email, right) in [(app.home.email.as_str(), &mut laptop), ("bob@example.com", &mut phone)] {
        let body = answer(app, right).await;
        assert_eq!(sign_in(app, &body).send().await.expect(200)["user"]["email"], email);
    }
    app.work().await;
}

/// A page of another site that has the sign-in page in a frame gets no sign-in and no confirmation.
async fn answer_of_a_foreign_frame_is_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    laptop.cross_origin = true;
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.problem(401, "invalid_credentials");
    let body = confirmation(app, &app.home, &token, &mut laptop).await;
    let confirm = session(app, &token, &app.home, "/v1/auth/passkeys/confirm").json(&body);
    confirm.send().await.problem(400, "validation_failed");
    laptop.cross_origin = false;
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.expect(200);
    app.work().await;
}

async fn answer_under_a_foreign_top_origin_is_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    laptop.top_origin = Some("https://evil.example.com");
    let body = answer(app, &mut laptop).await;
    let reply = sign_in(app, &body).send().await;
    reply.problem(401, "invalid_credentials");
    assert_eq!(reply.header("set-cookie"), None);
    let body = confirmation(app, &app.home, &token, &mut laptop).await;
    let confirm = session(app, &token, &app.home, "/v1/auth/passkeys/confirm").json(&body);
    confirm.send().await.problem(400, "validation_failed");
    laptop.top_origin = None;
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.expect(200);
    app.work().await;
}

/// The authenticator of these tests is one that other servers accept, too.
async fn another_library_verifies_the_same_bytes(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    let path = "/v1/auth/passkeys/registration-options";
    let options = session(app, &token, &app.home, path).send().await.expect(200);
    let credential = laptop.create(&options["publicKey"]);
    let body = json!({"ticket": options["ticket"], "credential": credential});
    session(app, &token, &app.home, "/v1/auth/passkeys").json(&body).send().await.expect(201);
    let registration = json!({"credential": credential, "challenge": options["publicKey"]["challenge"]});
    let options = app.call("POST", "/v1/auth/passkeys/sign-in-options").send().await.expect(200);
    let credential = laptop.get(&options["publicKey"]);
    sign_in(app, &json!({"ticket": options["ticket"], "credential": credential})).send().await.expect(200);
    let signed_in = json!({"credential": credential, "challenge": options["publicKey"]["challenge"]});
    let input = json!({"origin": ORIGIN, "site": SITE, "registration": registration, "signIn": signed_in});
    let mut child = Command::new("node")
        .arg("node/webauthn.mjs")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Node starts; `make test` sets TEST_NODE");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.to_string().as_bytes()).expect("written");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let verified: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(verified, json!({"registered": true, "authenticated": true}));
    app.mails().await;
}

async fn each_changed_byte_is_refused(app: &TestApp) {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    let good = answer(app, &mut laptop).await;
    for field in ["authenticatorData", "clientDataJSON", "signature", "userHandle"] {
        let text = good["credential"]["response"][field].as_str().expect("a text");
        let bytes = URL_SAFE_NO_PAD.decode(text).expect("base64url");
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            let mut body = good.clone();
            body["credential"]["response"][field] = json!(URL_SAFE_NO_PAD.encode(changed));
            let reply = sign_in(app, &body).send().await;
            assert_eq!(reply.status, 401, "{field} {place}: {}", reply.text());
        }
    }
    sign_in(app, &good).send().await.expect(200);
    app.work().await;
}

async fn tickets_hold_once_and_for_their_purpose(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    let body = registration(app, &app.home, &token, &mut laptop).await;
    let add = |body: &Value, token: &str| session(app, token, &app.home, "/v1/auth/passkeys").json(body);
    // Another session of another user.
    app.member(&app.home, "bob@example.com", "admin").await;
    let bob = app.sign_in("bob@example.com").await;
    add(&body, &bob).send().await.problem(410, "ceremony_expired");
    add(&body, &token).send().await.expect(201);
    add(&body, &token).send().await.problem(410, "ceremony_expired");
    app.mails().await;
    let body = answer(app, &mut laptop).await;
    // A sign-in confirms nothing, and a confirmation signs nobody in.
    let confirm =
        |body: &Value, token: &str| session(app, token, &app.home, "/v1/auth/passkeys/confirm").json(body);
    confirm(&body, &token).send().await.problem(410, "ceremony_expired");
    sign_in(app, &body).send().await.expect(200);
    sign_in(app, &body).send().await.problem(410, "ceremony_expired");
    let body = confirmation(app, &app.home, &token, &mut laptop).await;
    sign_in(app, &body).send().await.problem(410, "ceremony_expired");
    confirm(&body, &bob).send().await.problem(410, "ceremony_expired");
    let late = answer(app, &mut laptop).await;
    app.clock.advance(Duration::from_mins(5));
    sign_in(app, &late).send().await.problem(410, "ceremony_expired");
    confirm(&body, &token).send().await.problem(410, "ceremony_expired");
    app.work().await;
    app.housekeeping().await;
}

async fn confirmation_ticket_holds_for_its_session(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    let (one, two) = (app.sign_in(&app.home.email).await, app.sign_in(&app.home.email).await);
    app.clock.advance(Duration::from_mins(11));
    let body = confirmation(app, &app.home, &one, &mut laptop).await;
    let confirm =
        |token: &str| session(app, token, &app.home, "/v1/auth/passkeys/confirm").json(&body).send();
    confirm(&two).await.problem(410, "ceremony_expired");
    let is_confirmed = async |token: &str| {
        let call = app.call("GET", "/v1/auth/confirm").session(token, &app.home.organization);
        call.send().await.expect(200)["isConfirmed"].clone()
    };
    assert_eq!(is_confirmed(&two).await, false);
    confirm(&one).await.expect(200);
    assert_eq!((is_confirmed(&one).await, is_confirmed(&two).await), (json!(true), json!(false)));
    app.work().await;
}

async fn a_counter_that_goes_back_is_refused(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    laptop.counter = 5;
    add(app, &app.home, &token, &mut laptop).await;
    laptop.counter = 6;
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.expect(200);
    app.mails().await;
    let suspicious = async || {
        let told =
            app.mails().await.into_iter().filter(|mail| mail.subject == "A passkey may have been copied");
        let entries = app.get("/v1/audit-logs?action=passkey.counter_suspicious&total=true").send().await;
        (told.count(), entries.expect(200)["total"].as_i64())
    };
    // The same answer twice is no copy.
    assert!(!sign_in(app, &body).send().await.status.is_success());
    assert_eq!(suspicious().await, (0, Some(0)));
    for (number, counter) in (1..).zip([6, 5, 0]) {
        laptop.counter = counter;
        let body = answer(app, &mut laptop).await;
        sign_in(app, &body).send().await.problem(401, "invalid_credentials");
        assert_eq!(suspicious().await, (1, Some(number)));
    }
    laptop.counter = 7;
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.expect(200);
    // A key without a counter never moves it.
    let mut phone = authenticator(2);
    let added = add(app, &app.home, &token, &mut phone).await;
    for _ in 0..2 {
        let body = answer(app, &mut phone).await;
        sign_in(app, &body).send().await.expect(200);
    }
    let path = format!("/v1/auth/passkeys/{}", id(&added));
    let rename =
        app.call("PATCH", &path).session(&token, &app.home.organization).json(&json!({"name": "Phone"}));
    assert_eq!(rename.send().await.expect(200)["name"], "Phone");
    app.work().await;
}

/// User present and verified.
const DEVICE_BOUND: u8 = 0b101;
/// And eligible for a backup.
const ELIGIBLE: u8 = 0b1101;
/// And backed up.
const SYNCED: u8 = 0b1_1101;

async fn a_synced_passkey_without_a_counter_signs_in(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut phone = authenticator(1);
    phone.flags = SYNCED;
    let added = add(app, &app.home, &token, &mut phone).await;
    assert_eq!(added["isSynced"], true);
    for _ in 0..3 {
        assert_eq!(phone.counter, 0);
        let body = answer(app, &mut phone).await;
        assert_eq!(sign_in(app, &body).send().await.expect(200)["method"], "passkey");
    }
    // It is taken out of the backup, and stays eligible.
    phone.flags = ELIGIBLE;
    let body = answer(app, &mut phone).await;
    sign_in(app, &body).send().await.expect(200);
    assert_eq!(known(app, &token).await[0]["isSynced"], false);
    app.work().await;
}

async fn backup_eligibility_does_not_change(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    for (number, registered, changed) in [
        (1, DEVICE_BOUND, ELIGIBLE),
        (2, DEVICE_BOUND, SYNCED),
        (3, ELIGIBLE, DEVICE_BOUND),
        (4, SYNCED, DEVICE_BOUND),
    ] {
        let mut laptop = authenticator(number);
        laptop.flags = registered;
        add(app, &app.home, &token, &mut laptop).await;
        laptop.flags = changed;
        let body = answer(app, &mut laptop).await;
        let reply = sign_in(app, &body).send().await;
        assert_eq!(reply.status, 401, "{number}: {}", reply.text());
        reply.problem(401, "invalid_credentials");
        assert_eq!(reply.header("set-cookie"), None, "{number}");
        let body = confirmation(app, &app.home, &token, &mut laptop).await;
        let confirm = session(app, &token, &app.home, "/v1/auth/passkeys/confirm").json(&body);
        confirm.send().await.problem(400, "validation_failed");
        laptop.flags = registered;
        let body = answer(app, &mut laptop).await;
        sign_in(app, &body).send().await.expect(200);
    }
    app.work().await;
}

async fn a_passkey_belongs_to_one_account(app: &TestApp) {
    let ada = app.sign_in(&app.home.email).await;
    app.member(&app.home, "bob@example.com", "admin").await;
    let bob = app.sign_in("bob@example.com").await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &ada, &mut laptop).await;
    let body = registration(app, &app.home, &bob, &mut laptop).await;
    let known = session(app, &bob, &app.home, "/v1/auth/passkeys").json(&body);
    known.send().await.problem(409, "passkey_known");
    // Bob does not confirm with Ada's.
    let mut laptop = authenticator(3);
    add(app, &app.home, &ada, &mut laptop).await;
    let body = confirmation(app, &app.home, &bob, &mut laptop).await;
    let confirm = session(app, &bob, &app.home, "/v1/auth/passkeys/confirm").json(&body);
    confirm.send().await.problem(400, "validation_failed");
    let body = answer(app, &mut laptop).await;
    let opened = sign_in(app, &body).send().await.expect(200);
    assert_eq!(opened["user"]["email"], app.home.email);
    app.work().await;
}

async fn a_passkey_confirms_its_session(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    let plain = app.sign_in(&app.home.email).await;
    app.clock.advance(Duration::from_mins(11));
    let ways =
        app.call("GET", "/v1/auth/confirm").session(&plain, &app.home.organization).send().await.expect(200);
    assert_eq!(ways["methods"], json!(["passkey", "password"]));
    assert_eq!(ways["needsCode"], false);
    session(app, &plain, &app.home, "/v1/auth/totp").send().await.problem(403, "confirmation_required");
    let body = confirmation(app, &app.home, &plain, &mut laptop).await;
    let confirm = || session(app, &plain, &app.home, "/v1/auth/passkeys/confirm").json(&body);
    confirm().send().await.expect(200);
    confirm().send().await.problem(410, "ceremony_expired");
    session(app, &plain, &app.home, "/v1/auth/totp").send().await.expect(201);
    let own = app.call("GET", "/v1/auth/session").session(&plain, &app.home.organization);
    assert_eq!(own.send().await.expect(200)["secondFactor"], "passkey");
    app.work().await;
}

async fn a_removed_passkey_signs_nobody_in(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let mut laptop = authenticator(1);
    let added = add(app, &app.home, &token, &mut laptop).await;
    let body = answer(app, &mut laptop).await;
    let path = format!("/v1/auth/passkeys/{}", id(&added));
    let remove = || app.call("DELETE", &path).session(&token, &app.home.organization);
    remove().send().await.expect(200);
    remove().send().await.problem(404, "not_found");
    sign_in(app, &body).send().await.problem(401, "invalid_credentials");
    let mails = app.mails().await;
    assert!(mails.iter().any(|mail| mail.subject.contains("passkey was removed")));
    let log_in =
        app.call("POST", "/v1/auth/login").json(&json!({"email": app.home.email, "password": PASSWORD}));
    log_in.send().await.expect(200);
    app.work().await;
}

async fn an_inactive_member_is_refused(app: &TestApp) {
    let member = app.member(&app.home, "bob@example.com", "employee").await;
    let token = app.sign_in("bob@example.com").await;
    let mut laptop = authenticator(1);
    add(app, &app.home, &token, &mut laptop).await;
    app.patch(&format!("/v1/people/{}", id(&member)), &json!({"isActive": false})).send().await.expect(200);
    let body = answer(app, &mut laptop).await;
    sign_in(app, &body).send().await.problem(403, "no_active_membership");
    app.mails().await;
}

async fn an_account_with_a_passkey_needs_no_password(app: &TestApp) {
    let token = app.sign_in(&app.home.email).await;
    let remove =
        async || app.call("DELETE", "/v1/auth/password").session(&token, &app.home.organization).send().await;
    remove().await.problem(409, "last_method");
    let mut laptop = authenticator(77);
    add(app, &app.home, &token, &mut laptop).await;
    let other = app.sign_in(&app.home.email).await;
    app.clock.advance(Duration::from_mins(11));
    remove().await.problem(403, "confirmation_required");
    let body = confirmation(app, &app.home, &token, &mut laptop).await;
    let call = app.call("POST", "/v1/auth/passkeys/confirm").session(&token, &app.home.organization);
    call.json(&body).send().await.expect(200);
    app.mails().await;
    remove().await.expect(200);
    assert_eq!(app.mails().await[0].subject, "Your password was removed");
    remove().await.problem(404, "not_found");
    let gone = app.call("GET", "/v1/auth/session").session(&other, &app.home.organization).send().await;
    gone.problem(401, "invalid_session");
    let login = json!({"email": app.home.email, "password": attestry_tests::PASSWORD});
    app.call("POST", "/v1/auth/login").json(&login).send().await.problem(401, "invalid_credentials");
    let signed_in = app.call("POST", "/v1/auth/passkeys/sign-in").json(&answer(app, &mut laptop).await);
    signed_in.send().await.expect(200);
    app.mails().await;
}
