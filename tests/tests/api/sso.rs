//! Single sign-on against an identity provider that is honest, and one that is not.

use std::collections::BTreeSet;
use std::time::Duration;

use attestry_app::identity::{mail_domains, passwords, sign_in_policy};
use attestry_domain::access::Scope;
use attestry_domain::id::OrganizationId;
use attestry_domain::identity::sign_in::SsoDemand;
use attestry_domain::portals::DomainName;
use attestry_domain::text::{Email, Parse, Password};
use attestry_mail::Message;
use attestry_tests::authenticator::{Authenticator, code_at};
use attestry_tests::certified::CertifiedProvider;
use attestry_tests::provider::{CLIENT, Draft, IdentityProvider, SECRET};
use attestry_tests::{PASSWORD, Reply, Tenant, TestApp, both, id, merged};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use crate::auth::dump;
use crate::events::{EVENTS, Stream};
use crate::passkeys;
use crate::second_factors::enrol;

both! {
    a_person_of_a_verified_domain_joins_and_comes_back,
    crooked_tokens_are_refused,
    jwk_in_the_header_is_ignored,
    crooked_answers_are_refused,
    code_is_accepted_once,
    state_of_another_connection_is_refused,
    keys_are_fetched_again_when_they_change,
    a_provider_that_is_down_is_told_apart,
    provider_without_a_server_is_unavailable,
    redirects_stay_on_this_server,
    start_from_the_provider_leads_to_no_foreign_page,
    start_for_another_issuer_is_refused,
    accounts_are_linked_by_proved_addresses_only,
    exempt_owner_is_not_linked,
    members_are_linked_and_invited_people_join,
    an_account_that_nobody_proved_loses_its_password,
    groups_give_roles,
    mapping_beyond_own_permissions_is_refused,
    a_session_counts_in_its_organization_only,
    another_person_is_not_replaced_without_a_click,
    a_fresh_sign_in_confirms,
    confirmation_needs_the_time_of_authentication,
    confirmation_by_sso_counts_in_its_organization,
    an_identity_is_linked_and_removed_by_its_user,
    the_provider_signs_out,
    logout_token_ends_event_streams,
    signing_out_leads_to_the_provider,
    id_token_hint_is_not_shown_to_others,
    connections_are_checked_when_they_are_saved,
    changed_client_must_be_tested_again,
    owners_set_connections_and_others_read_them,
    a_test_shows_claims_and_signs_nobody_in,
    a_test_rehearses_the_sign_in,
    required_single_sign_on_needs_a_way_back,
    an_exempt_owner_has_signed_in_lately,
    required_single_sign_on_shuts_out_passwords,
    exempt_owner_gets_in_without_the_provider,
    any_order_of_switches_leaves_a_way_in,
    a_rotated_key_keeps_client_secrets,
    methods_depend_on_the_domain_alone,
    owners_are_told_before_a_secret_expires,
    a_certified_provider_signs_in,
}

/// An organization with a verified domain and an enabled connection.
pub(crate) struct SignOn<'a> {
    app: &'a TestApp,
    pub(crate) idp: IdentityProvider,
    pub(crate) organization: String,
    /// The owner's session.
    pub(crate) owner: String,
    pub(crate) connection: String,
}

/// A browser that comes back from the provider.
pub(crate) struct Back {
    reply: Reply,
    /// The session that was opened.
    session: Option<String>,
}

impl Back {
    pub(crate) fn location(&self) -> &str {
        assert_eq!(self.reply.status, 303, "{}", self.reply.text());
        self.reply.header("location").expect("a location")
    }

    /// Checks that the sign-in was refused with this code, and opened no session.
    #[track_caller]
    pub(crate) fn refused(&self, code: &str) {
        let location = self.location();
        assert!(location.starts_with(&format!("/sign-in?error={code}&reference=")), "{code}: {location}");
        assert_eq!(self.session, None, "{code}");
    }

    #[track_caller]
    pub(crate) fn opened(&self) -> String {
        assert!(
            self.location().starts_with('/') && !self.location().starts_with("/sign-in"),
            "{}",
            self.location()
        );
        self.session.clone().expect("a session")
    }
}

/// The value of a cookie that a reply sets.
fn cookie(reply: &Reply, name: &str) -> Option<String> {
    let all = reply.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let mut own = all.filter_map(|text| text.strip_prefix(&format!("{name}=")));
    own.next().map(|text| text.split(';').next().unwrap_or_default().to_owned())
}

/// The value of a parameter, which must be in the query of an address once.
#[track_caller]
fn parameter(address: &str, name: &str) -> String {
    let url = reqwest::Url::parse(address).expect("an address");
    let values: Vec<String> =
        url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect();
    let [value] = values.as_slice() else { panic!("{} values of {name}: {address}", values.len()) };
    value.clone()
}

/// Counts the accounts, those of invited people included.
pub(crate) const USERS: &str = "SELECT COUNT(*) FROM users";
pub(crate) const IDENTITIES: &str = "SELECT COUNT(*) FROM sso_identities";

pub(crate) async fn count(app: &TestApp, sql: &'static str) -> i64 {
    let found = app.ctx.db.read(async move |t| t.one(sql, &[], |row| row.int(0)).await).await;
    found.expect("a count")
}

fn organization_id(text: &str) -> OrganizationId {
    OrganizationId::read(text).expect("an id")
}

async fn verify(app: &TestApp, organization: &str, domain: &str) {
    let name = DomainName::parse(domain).expect("a domain");
    mail_domains::verify_by_operator(&app.ctx, organization_id(organization), &name).await.expect("verified");
}

pub(crate) async fn set_up(app: &TestApp) -> SignOn<'_> {
    set_up_with(app, &app.home, json!({})).await
}

async fn set_up_with<'a>(app: &'a TestApp, tenant: &Tenant, fields: Value) -> SignOn<'a> {
    let idp = IdentityProvider::start().await;
    let owner = app.sign_in(&tenant.email).await;
    verify(app, &tenant.organization, "acme.example").await;
    let body = merged(
        json!({
            "name": "Acme", "issuer": idp.issuer, "clientId": CLIENT, "clientSecret": SECRET, "isEnabled": true,
            "addsMembers": true
        }),
        fields,
    );
    let call = app.call("POST", "/v1/organization/sso-connections").session(&owner, &tenant.organization);
    let made = call.json(&body).send().await.expect(201);
    app.mails().await;
    SignOn { app, idp, organization: tenant.organization.clone(), owner, connection: id(&made).to_owned() }
}

/// The claims of a person with this address.
pub(crate) fn ada(email: &str) -> Value {
    json!({"sub": format!("sub of {email}"), "email": email, "name": "Ada"})
}

/// Signs a person of a verified domain in by a connection.
pub(crate) async fn sign_in(
    app: &TestApp,
    tenant: &Tenant,
    idp: &IdentityProvider,
    connection: &str,
    email: &str,
) {
    // Other organizations of the same test may have proved the domain before.
    let (domain, own) =
        (email.split_once('@').expect("an address").1.to_owned(), tenant.organization.clone());
    let sql = "DELETE FROM mail_domains WHERE name = $1 AND org_id <> $2";
    let others = [domain.clone(), own];
    let deleted =
        app.ctx.db.write(async move |t| t.execute(sql, &others.each_ref().map(Into::into)).await).await;
    deleted.expect("deleted");
    verify(app, &tenant.organization, &domain).await;
    let reply = app.call("GET", &format!("/v1/auth/sso/{connection}/start")).send().await;
    let browser = cookie(&reply, "attestry_sso").expect("a cookie");
    let location = reply.header("location").expect("a location");
    let back = idp.authorize(location, ada(email), app.ctx.now());
    let cookies = format!("attestry_sso={browser}");
    let reply = app.call("GET", &back).header("cookie", &cookies).send().await;
    assert!(cookie(&reply, "attestry_session").is_some(), "{:?}", reply.header("location"));
}

impl SignOn<'_> {
    pub(crate) fn path(&self, step: &str) -> String {
        format!("/v1/auth/sso/{}/{step}", self.connection)
    }

    /// Calls as the owner.
    pub(crate) async fn own(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let call = self.app.call(method, path).session(&self.owner, &self.organization);
        match body {
            Some(body) => call.json(&body).send().await,
            None => call.send().await,
        }
    }

    async fn change(&self, body: Value) -> Reply {
        self.own("PATCH", &format!("/v1/organization/sso-connections/{}", self.connection), Some(body)).await
    }

    async fn policy(&self, body: Value) -> Reply {
        self.own("PATCH", "/v1/organization/sign-in-policy", Some(body)).await
    }

    /// Starts; returns the address at the provider and the cookie of the browser.
    pub(crate) async fn start(&self, query: &str) -> (String, String) {
        let reply = self.app.call("GET", &format!("{}{query}", self.path("start"))).send().await;
        assert_eq!(reply.status, 303, "{}", reply.text());
        (
            reply.header("location").expect("a location").to_owned(),
            cookie(&reply, "attestry_sso").expect("a cookie"),
        )
    }

    pub(crate) async fn come_back(&self, path: &str, browser: &str, session: Option<&str>) -> Back {
        let mut cookies = format!("attestry_sso={browser}");
        if let Some(session) = session {
            cookies = format!("{cookies}; attestry_session={session}");
        }
        let reply = self.app.call("GET", path).header("cookie", &cookies).send().await;
        Back { session: cookie(&reply, "attestry_session"), reply }
    }

    /// Signs a person in, and lets the browser come back.
    pub(crate) async fn sign_in(&self, claims: Value) -> Back {
        let (location, browser) = self.start("").await;
        let back = self.idp.authorize(&location, claims, self.app.ctx.now());
        self.come_back(&back, &browser, None).await
    }

    /// A request that any member may send.
    pub(crate) async fn people(&self, token: &str) -> Reply {
        self.app.call("GET", "/v1/tasks").session(token, &self.organization).send().await
    }

    /// The round trip of a signed-in user.
    pub(crate) async fn round(&self, token: &str, start: &str, claims: Value) -> Back {
        let path = start.split_once("/v1/").map(|(_, path)| format!("/v1/{path}")).expect("a path");
        let cookies = format!("attestry_session={token}");
        let reply = self.app.call("GET", &path).header("cookie", &cookies).send().await;
        assert_eq!(reply.status, 303, "{}", reply.text());
        let location = reply.header("location").expect("a location").to_owned();
        if location.starts_with('/') {
            return Back { session: None, reply };
        }
        let browser = cookie(&reply, "attestry_sso").expect("a cookie");
        let back = self.idp.authorize(&location, claims, self.app.ctx.now());
        self.come_back(&back, &browser, Some(token)).await
    }

    pub(crate) async fn ticket(&self, token: &str, purpose: &str) -> Reply {
        let call = self.app.call("POST", &self.path("start-ticket")).session(token, &self.organization);
        call.json(&json!({"purpose": purpose, "next": "/policies"})).send().await
    }

    async fn member(&self, email: &str) -> Option<Value> {
        let all = self.app.call("GET", "/v1/people?includeDeactivated=true").key(&self.app.home.key);
        let all = all.send().await.expect(200);
        let mut found = all["data"].as_array().expect("people").iter();
        found.find(|one| one["user"]["email"] == email).cloned()
    }

    /// The last attempt, as the owner sees it.
    async fn last(&self) -> Value {
        let path = format!("/v1/organization/sso-connections/{}/sign-ins", self.connection);
        self.own("GET", &path, None).await.expect(200)["data"][0].clone()
    }
}

async fn a_person_of_a_verified_domain_joins_and_comes_back(app: &TestApp) {
    let on = set_up(app).await;
    let before = app.entries(&app.home).await;
    let first = on.sign_in(ada("eve@acme.example")).await;
    assert_eq!(first.location(), "/");
    let token = first.opened();
    // The member, the link and the session.
    assert_eq!(app.entries(&app.home).await, before + 3);
    let session =
        app.call("GET", "/v1/auth/session").session(&token, &on.organization).send().await.expect(200);
    assert_eq!((&session["method"], &session["secondFactor"]), (&json!("sso"), &Value::Null));
    assert_eq!(session["user"]["email"], "eve@acme.example");
    assert_eq!(session["organizations"][0]["unmet"], Value::Null);
    on.people(&token).await.expect(200);
    let eve = on.member("eve@acme.example").await.expect("a member");
    assert_eq!(eve["role"], "employee");
    let identities = on.own("GET", &format!("/v1/people/{}/identities", id(&eve)), None).await.expect(200);
    assert_eq!(identities["data"][0]["email"], "eve@acme.example");
    let log = app.get("/v1/audit-logs?entityType=sso_identity").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "sso_identity.linked");
    let mails = app.mails().await;
    assert!(mails.iter().any(|mail| mail.to_address == "eve@acme.example"), "they are told of the link");
    // The subject is what counts, not the address.
    app.clock.advance(Duration::from_mins(5));
    let again =
        on.sign_in(json!({"sub": "sub of eve@acme.example", "email": "other@elsewhere.example"})).await;
    let session = app.call("GET", "/v1/auth/session").session(&again.opened(), &on.organization).send().await;
    assert_eq!(session.expect(200)["user"]["email"], "eve@acme.example");
    assert_eq!(on.last().await["result"], "signed_in");
    // It ends after twelve hours, unless it is renewed.
    app.clock.advance(Duration::from_hours(11));
    on.people(&token).await.expect(200);
    app.clock.advance(Duration::from_hours(1));
    let problem = on.people(&again.opened()).await.problem(403, "reauthentication_required");
    assert_eq!(problem["reason"], "too_old");
    assert_eq!(problem["startUrl"], on.path("start"));
    app.work().await;
}

/// The name of an attack, a phrase of the reason for which it is refused, and what it changes.
type Attack = (&'static str, &'static str, fn(&mut Draft));

const ATTACKS: &[Attack] = &[
    ("alg_none", "No signature found", |token| {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        let claims = URL_SAFE_NO_PAD.encode(Value::Object(token.claims.clone()).to_string());
        token.text = Some(format!("{header}.{claims}."));
    }),
    ("key_of_another_type", "a key that the provider does not publish", |token| {
        token.header.insert("alg".to_owned(), json!("RS256"));
    }),
    ("unknown_kid_after_refetch", "a key that the provider does not publish", |token| {
        token.header.insert("kid".to_owned(), json!("nobody's"));
    }),
    ("crit_header", "critical JWT header fields", |token| {
        token.header.insert("crit".to_owned(), json!(["exp"]));
    }),
    ("wrong_issuer", "Invalid issuer: expected", |token| token.set("iss", json!("https://evil.example"))),
    ("issuer_with_another_slash", "Invalid issuer: expected", |token| {
        let issuer = format!("{}/", token.claims["iss"].as_str().expect("an issuer"));
        token.set("iss", json!(issuer));
    }),
    ("wrong_audience", "Invalid audiences: must contain `attestry`", |token| {
        token.set("aud", json!("another"));
    }),
    ("second_audience", "`another` is not a trusted audience", |token| {
        token.set("aud", json!([CLIENT, "another"]));
    }),
    ("wrong_azp", "issued to another client (azp)", |token| token.set("azp", json!("another"))),
    ("expired", "Expired: ID token expired at", |token| {
        let issued = token.claims["iat"].as_i64().expect("a time");
        token.set("exp", json!(issued - 61));
    }),
    ("issued_in_the_future", "the token was issued in the future", |token| {
        let issued = token.claims["iat"].as_i64().expect("a time");
        token.set("iat", json!(issued + 120));
    }),
    ("issued_long_ago", "the token was issued more than ten minutes ago", |token| {
        let issued = token.claims["iat"].as_i64().expect("a time");
        token.set("iat", json!(issued - 700));
    }),
    ("not_valid_yet", "The ID token is not valid yet", |token| {
        let issued = token.claims["iat"].as_i64().expect("a time");
        token.set("nbf", json!(issued + 120));
    }),
    ("no_nonce", "Invalid nonce: missing nonce claim", |token| token.remove("nonce")),
    ("wrong_nonce", "Invalid nonce: nonce mismatch", |token| token.set("nonce", json!("another"))),
    ("wrong_at_hash", "belongs to another access token", |token| {
        token.set("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA"));
    }),
    ("empty_sub", "The subject must have 1 to 255 characters", |token| token.set("sub", json!(""))),
    ("sub_with_control_characters", "and no control characters", |token| token.set("sub", json!("a\u{0}b"))),
    ("no_sub", "missing field `sub`", |token| token.remove("sub")),
    ("long_sub", "The subject must have 1 to 255 characters", |token| {
        token.set("sub", json!("x".repeat(256)));
    }),
    ("token_of_64_kib", "more than 64 KiB", |token| token.set("padding", json!("x".repeat(70_000)))),
    ("no_token_at_all", "found 1 parts (expected 3)", |token| token.text = Some("nonsense".to_owned())),
    ("changed_payload", "EC Signature was wrong", |token| {
        // Signed, and then changed: the header's key fits, the signature does not.
        let header = URL_SAFE_NO_PAD.encode(Value::Object(token.header.clone()).to_string());
        let claims = URL_SAFE_NO_PAD.encode(Value::Object(token.claims.clone()).to_string());
        token.text = Some(format!("{header}.{claims}.{}", URL_SAFE_NO_PAD.encode([7; 64])));
    }),
];

async fn crooked_tokens_are_refused(app: &TestApp) {
    let on = set_up(app).await;
    let users = count(app, USERS).await;
    for (name, phrase, attack) in ATTACKS {
        on.idp.craft(*attack);
        let back = on.sign_in(ada("eve@acme.example")).await;
        back.refused("sso_token_invalid");
        let last = on.last().await;
        assert_eq!(last["result"], "sso_token_invalid", "{name}");
        assert!(last["reason"].as_str().is_some_and(|reason| reason.contains(phrase)), "{name}: {last}");
        assert_eq!(count(app, USERS).await, users, "no account after {name}");
        // A minute passes, so that keys may be fetched again.
        app.clock.advance(Duration::from_mins(2));
    }
    // The public key as the secret of an HMAC.
    let public = on.idp.public_key();
    on.idp.craft(move |token| {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","kid":"key0"}"#);
        let claims = URL_SAFE_NO_PAD.encode(Value::Object(token.claims.clone()).to_string());
        let message = format!("{header}.{claims}");
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), message.as_bytes());
        token.text = Some(format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref())));
    });
    on.sign_in(ada("eve@acme.example")).await.refused("sso_token_invalid");
    let reason = on.last().await["reason"].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains("algorithm `HS256`")), "{reason}");
    assert_eq!(count(app, USERS).await, users);
    assert_eq!(on.member("eve@acme.example").await, None);
    // A small difference of clocks is tolerated.
    on.idp.craft(|token| {
        let issued = token.claims["iat"].as_i64().expect("a time");
        token.set("iat", json!(issued + 50));
    });
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(count(app, USERS).await, users + 1);
    app.mails().await;
}

/// Signs a token with a key of the attacker, whose public part is in the header.
fn sign_with_own_key(token: &mut Draft, kid: Option<&str>) {
    let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
    let point = key.public_key().as_ref();
    let jwk = json!({
        "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256",
        "x": URL_SAFE_NO_PAD.encode(&point[1..33]), "y": URL_SAFE_NO_PAD.encode(&point[33..])
    });
    token.header.insert("jwk".to_owned(), jwk);
    token.header.remove("kid");
    if let Some(kid) = kid {
        token.header.insert("kid".to_owned(), json!(kid));
    }
    let encoded = |part: &Map<String, Value>| URL_SAFE_NO_PAD.encode(Value::Object(part.clone()).to_string());
    let message = format!("{}.{}", encoded(&token.header), encoded(&token.claims));
    let signature = key.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
    token.text = Some(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref())));
}

async fn jwk_in_the_header_is_ignored(app: &TestApp) {
    let on = set_up(app).await;
    let users = count(app, USERS).await;
    for (kid, phrase) in [
        (Some("key0"), "EC Signature was wrong"),
        (None, "EC Signature was wrong"),
        (Some("the attacker's"), "a key that the provider does not publish"),
    ] {
        on.idp.craft(move |token| sign_with_own_key(token, kid));
        on.sign_in(ada("eve@acme.example")).await.refused("sso_token_invalid");
        let last = on.last().await;
        assert!(last["reason"].as_str().is_some_and(|reason| reason.contains(phrase)), "{kid:?}: {last}");
        assert_eq!(count(app, USERS).await, users, "{kid:?}");
    }
    on.sign_in(ada("eve@acme.example")).await.opened();
    app.mails().await;
}

async fn crooked_answers_are_refused(app: &TestApp) {
    let on = set_up(app).await;
    let now = || app.ctx.now();
    // A code or a state works once.
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
    on.come_back(&back, &browser, None).await.opened();
    on.come_back(&back, &browser, None).await.refused("sso_replayed");
    // The state is bound to the browser, the connection and the time.
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
    on.come_back(&back, &"x".repeat(43), None).await.refused("sso_wrong_browser");
    let without = app.call("GET", &back).send().await;
    Back { session: cookie(&without, "attestry_session"), reply: without }.refused("sso_wrong_browser");
    let other = back.replace(&on.connection, "idc_01jcqg3v5mefzr7d0a6w3k9x2b");
    on.come_back(&other, &browser, None).await.refused("sso_expired");
    app.clock.advance(Duration::from_mins(10));
    on.come_back(&back, &browser, None).await.refused("sso_expired");
    on.come_back(&on.path("callback"), &browser, None).await.refused("sso_expired");
    on.come_back(&format!("{}?state=nonsense&code=x", on.path("callback")), &browser, None)
        .await
        .refused("sso_expired");
    // The connection changes meanwhile.
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
    let owner = app.sign_in(&app.home.email).await;
    let path = format!("/v1/organization/sso-connections/{}", on.connection);
    let call = app.call("PATCH", &path).session(&owner, &on.organization);
    call.json(&json!({"clientSecret": SECRET})).send().await.expect(200);
    on.come_back(&back, &browser, None).await.refused("sso_expired");
    // Errors of the provider; its description is shown to nobody.
    for (error, code) in [("access_denied", "sso_denied"), ("server_error", "sso_provider_error")] {
        let (location, browser) = on.start("").await;
        let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
        let back = back.replace("code=", &format!("error={error}&error_description=%3Cscript%3E&x="));
        let back = on.come_back(&back, &browser, None).await;
        back.refused(code);
        assert!(!back.location().contains("script"));
    }
    // The issuer in the answer.
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
    let named = format!("{back}&iss=https%3A%2F%2Fevil.example");
    on.come_back(&named, &browser, None).await.refused("sso_token_invalid");
    on.idp.describe(json!({"authorization_response_iss_parameter_supported": true}));
    app.clock.advance(Duration::from_mins(61));
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
    on.come_back(&back, &browser, None).await.refused("sso_token_invalid");
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), now());
    let named = format!("{back}&iss={}", on.idp.issuer.replace(':', "%3A").replace('/', "%2F"));
    on.come_back(&named, &browser, None).await.opened();
    // The userinfo of somebody else.
    on.idp.describe(json!({}));
    app.clock.advance(Duration::from_mins(61));
    on.idp.inform(json!({"sub": "somebody else", "groups": ["admins"]}));
    on.sign_in(ada("eve@acme.example")).await.refused("sso_provider_error");
    // A disabled or unknown connection.
    let unknown = app.call("GET", "/v1/auth/sso/idc_01jcqg3v5mefzr7d0a6w3k9x2b/start").send().await;
    Back { session: None, reply: unknown }.refused("sso_disabled");
    let nonsense = app.call("GET", "/v1/auth/sso/nonsense/start").send().await;
    Back { session: None, reply: nonsense }.refused("sso_disabled");
    app.mails().await;
}

async fn code_is_accepted_once(app: &TestApp) {
    let on = set_up(app).await;
    let code = |path: &str| parameter(&format!("{}{path}", on.idp.issuer), "code");
    let (location, browser) = on.start("").await;
    let first = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    on.come_back(&first, &browser, None).await.opened();
    let asked = on.idp.token_requests();
    // The used code, with the state of another sign-in.
    let (location, browser) = on.start("").await;
    let second = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    let swapped = second.replace(&format!("code={}", code(&second)), &format!("code={}", code(&first)));
    assert_ne!(swapped, second);
    on.come_back(&swapped, &browser, None).await.refused("sso_provider_error");
    assert_eq!(on.idp.token_requests(), asked + 1, "the provider refuses it");
    let last = on.last().await;
    assert_eq!(last["result"], "sso_provider_error");
    assert!(last["reason"].as_str().is_some_and(|reason| reason.contains("invalid_grant")), "{last}");
    // The state was spent by that.
    on.come_back(&second, &browser, None).await.refused("sso_replayed");
    app.mails().await;
}

async fn state_of_another_connection_is_refused(app: &TestApp) {
    let on = set_up(app).await;
    let other = app.tenant("Other", "bob@other.example").await;
    let body = json!({
        "name": "Second", "issuer": on.idp.issuer, "clientId": CLIENT, "clientSecret": SECRET, "isEnabled": true,
        "addsMembers": true
    });
    let path = "/v1/organization/sso-connections";
    let second = on.own("POST", path, Some(body.clone())).await.expect(201);
    let theirs = app.call("POST", path).key(&other.key).json(&body).send().await.expect(201);
    let (users, asked) = (count(app, USERS).await, on.idp.token_requests());
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    for connection in [id(&second), id(&theirs)] {
        let elsewhere = back.replace(&on.connection, connection);
        assert_ne!(elsewhere, back);
        on.come_back(&elsewhere, &browser, None).await.refused("sso_expired");
    }
    assert_eq!((count(app, USERS).await, on.idp.token_requests()), (users, asked));
    // Neither the state nor the code was spent.
    on.come_back(&back, &browser, None).await.opened();
    app.mails().await;
}

async fn keys_are_fetched_again_when_they_change(app: &TestApp) {
    let on = set_up(app).await;
    on.sign_in(ada("eve@acme.example")).await.opened();
    let asked = on.idp.key_requests();
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(on.idp.key_requests(), asked, "the keys are known");
    on.idp.rotate();
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(on.idp.key_requests(), asked + 1);
    // A token with a key that nobody publishes asks once a minute, and no more.
    for _ in 0..3 {
        on.idp.craft(|token| {
            token.header.insert("kid".to_owned(), json!("unknown"));
        });
        on.sign_in(ada("eve@acme.example")).await.refused("sso_token_invalid");
    }
    assert_eq!(on.idp.key_requests(), asked + 1);
    app.clock.advance(Duration::from_mins(2));
    on.idp.rotate();
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(on.idp.key_requests(), asked + 2);
    app.mails().await;
}

async fn a_provider_that_is_down_is_told_apart(app: &TestApp) {
    let on = set_up(app).await;
    on.sign_in(ada("eve@acme.example")).await.opened();
    on.idp.set_down(true);
    // What is known of the provider serves for a day.
    app.clock.advance(Duration::from_hours(2));
    on.sign_in(ada("eve@acme.example")).await.opened();
    app.clock.advance(Duration::from_hours(30));
    let reply = app.call("GET", &on.path("start")).send().await;
    Back { session: None, reply }.refused("sso_provider_error");
    app.mails().await;
    app.take_warnings();
}

async fn provider_without_a_server_is_unavailable(app: &TestApp) {
    let on = set_up(app).await;
    let start = async || Back { session: None, reply: app.call("GET", &on.path("start")).send().await };
    // It answers, but not as it should.
    app.clock.advance(Duration::from_hours(25));
    on.idp.set_down(true);
    start().await.refused("sso_provider_error");
    app.clock.advance(Duration::from_secs(5));
    on.idp.set_down(false);
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    // Its port is closed: first between the start and the answer, then before the start.
    let _port = on.idp.stop().await;
    on.come_back(&back, &browser, None).await.refused("sso_unavailable");
    let path = format!("/v1/organization/sso-connections/{}/sign-ins", on.connection);
    let attempts = app.get(&path).send().await.expect(200);
    let last = &attempts["data"][0];
    assert_eq!(last["result"], "sso_unavailable");
    assert!(last["reason"].as_str().is_some_and(|reason| reason.contains("cannot be reached")), "{last}");
    app.clock.advance(Duration::from_hours(25));
    start().await.refused("sso_unavailable");
    app.take_warnings();
}

async fn redirects_stay_on_this_server(app: &TestApp) {
    let on = set_up(app).await;
    let redirect_uri = format!("https://compliance.example.com{}", on.path("callback"));
    for (next, expected) in [
        ("/policies", "/policies"),
        ("/policies%3Fx%3D1", "/policies?x=1"),
        ("//evil.example", "/"),
        ("/%5Cevil.example", "/"),
        ("https%3A%2F%2Fevil.example", "/"),
        ("/%09/evil.example", "/"),
    ] {
        let (location, browser) = on.start(&format!("?next={next}")).await;
        let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
        assert_eq!(on.come_back(&back, &browser, None).await.location(), expected, "{next}");
    }
    let hinted = on.start("?login_hint=eve%40acme.example").await.0;
    assert!(hinted.contains("login_hint=eve%40acme.example"), "{hinted}");
    assert_eq!(parameter(&hinted, "redirect_uri"), redirect_uri);
    // The redirect address is made of the public URL, whatever the request says.
    for (name, value) in [
        ("host", "evil.example"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("forwarded", "host=evil.example;proto=http"),
    ] {
        let reply = app.call("GET", &on.path("start")).header(name, value).send().await;
        let location = reply.header("location").expect("a location");
        assert_eq!(parameter(location, "redirect_uri"), redirect_uri, "{name}");
        assert!(!location.contains("evil.example"), "{name}: {location}");
    }
    app.mails().await;
}

/// The page of applications at the provider says where to go on, in a parameter that anybody can write.
async fn start_from_the_provider_leads_to_no_foreign_page(app: &TestApp) {
    let on = set_up(app).await;
    let arrive = async |query: &str| {
        let (location, browser) = on.start(query).await;
        let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
        on.come_back(&back, &browser, None).await
    };
    for (query, expected) in [
        ("?target_link_uri=%2Frisks", "/risks"),
        ("?target_link_uri=https%3A%2F%2Fevil.example%2F", "/"),
        ("?target_link_uri=https%3Aevil.example", "/"),
        ("?target_link_uri=%2F%2Fevil.example", "/"),
        ("?target_link_uri=%2F%5Cevil.example", "/"),
        ("?target_link_uri=javascript%3Aalert", "/"),
        ("?next=%2Ftasks&target_link_uri=https%3A%2F%2Fevil.example", "/tasks"),
        // Once decoded, these begin with three slashes.
        ("?next=/%2f%2fevil.example", "/"),
        ("?target_link_uri=/%2f%2fevil.example", "/"),
    ] {
        assert_eq!(arrive(query).await.location(), expected, "{query}");
    }
    // A browser does not decode the path of an address: encoded slashes stay on this server.
    let back = arrive("?next=%2F%252f%252fevil.example").await;
    let sign_in = reqwest::Url::parse("https://compliance.example.com/sign-in").expect("an address");
    let page = sign_in.join(back.location()).expect("an address");
    assert_eq!(page.origin(), sign_in.origin(), "{page}");
    app.mails().await;
}

async fn start_for_another_issuer_is_refused(app: &TestApp) {
    let on = set_up(app).await;
    let issuer = on.idp.issuer.replace(':', "%3A").replace('/', "%2F");
    for other in ["https%3A%2F%2Fevil.example", &format!("{issuer}%2F"), &format!("{issuer}.evil.example")] {
        let path = format!("{}?iss={other}&target_link_uri=%2Frisks", on.path("start"));
        let reply = app.call("GET", &path).send().await;
        assert_eq!(cookie(&reply, "attestry_sso"), None, "{other}");
        Back { session: cookie(&reply, "attestry_session"), reply }.refused("sso_disabled");
    }
    let (location, browser) = on.start(&format!("?iss={issuer}&target_link_uri=%2Frisks")).await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    assert_eq!(on.come_back(&back, &browser, None).await.location(), "/risks");
    app.mails().await;
}

async fn accounts_are_linked_by_proved_addresses_only(app: &TestApp) {
    let on = set_up(app).await;
    let other = app.tenant("Other", "bob@other.example").await;
    verify(app, &other.organization, "other.example").await;
    let users = count(app, USERS).await;
    for (claims, code) in [
        (json!({"sub": "1"}), "sso_email_missing"),
        (json!({"sub": "1", "email": "nonsense"}), "sso_email_missing"),
        (json!({"sub": "1", "email": "eve@acme.example", "email_verified": false}), "sso_email_unverified"),
        (json!({"sub": "1", "email": "eve@acme.example", "email_verified": "false"}), "sso_email_unverified"),
        (json!({"sub": "1", "email": "eve@elsewhere.example"}), "sso_domain_not_verified"),
        (json!({"sub": "1", "email": "eve@sub.acme.example"}), "sso_domain_not_verified"),
        (json!({"sub": "1", "email": "bob@other.example"}), "sso_domain_not_verified"),
        (json!({"sub": "1", "email": "eve@xn--acm-dma.example"}), "sso_domain_not_verified"),
    ] {
        on.sign_in(claims.clone()).await.refused(code);
        assert_eq!(on.last().await["result"], code, "{claims}");
        assert_eq!(count(app, USERS).await, users, "no account after a refusal: {claims}");
    }
    // Nobody is added unless the connection does that.
    on.change(json!({"addsMembers": false})).await.expect(200);
    on.sign_in(ada("eve@acme.example")).await.refused("sso_not_a_member");
    assert_eq!(count(app, USERS).await, users);
    // A domain that leads to another connection.
    on.change(json!({"addsMembers": true})).await.expect(200);
    let domains = on.own("GET", "/v1/organization/domains", None).await.expect(200);
    let domain = id(&domains["data"][0]);
    let second = on.own(
        "POST",
        "/v1/organization/sso-connections",
        Some(json!({
            "name": "Second", "issuer": on.idp.issuer, "clientId": CLIENT, "clientSecret": SECRET
        })),
    );
    let second = second.await.expect(201);
    let second = id(&second);
    let path = format!("/v1/organization/domains/{domain}");
    on.own("PATCH", &path, Some(json!({"connectionId": second}))).await.expect(200);
    on.sign_in(ada("eve@acme.example")).await.refused("sso_domain_not_verified");
    on.own("PATCH", &path, Some(json!({"connectionId": on.connection}))).await.expect(200);
    on.sign_in(ada("eve@acme.example")).await.opened();
    // The address was given to another person.
    let recycled = json!({"sub": "the next eve", "email": "eve@acme.example"});
    on.sign_in(recycled.clone()).await.refused("sso_identity_conflict");
    let eve = on.member("eve@acme.example").await.expect("a member");
    let identities = format!("/v1/people/{}/identities", id(&eve));
    let known = on.own("GET", &identities, None).await.expect(200);
    on.own("DELETE", &format!("{identities}/{}", id(&known["data"][0])), None).await.expect(200);
    on.sign_in(recycled).await.opened();
    // Signing in brings nobody back.
    app.delete(&format!("/v1/people/{}", id(&eve))).send().await.expect(200);
    on.sign_in(json!({"sub": "the next eve", "email": "eve@acme.example"}))
        .await
        .refused("sso_member_inactive");
    app.mails().await;
}

async fn exempt_owner_is_not_linked(app: &TestApp) {
    let mut on = set_up(app).await;
    verify(app, &app.home.organization, "example.com").await;
    exempt(&mut on).await;
    on.sign_in(ada(&app.home.email)).await.refused("sso_exempt");
    assert_eq!(on.last().await["result"], "sso_exempt");
    assert_eq!(count(app, IDENTITIES).await, 0);
    // They link it themselves.
    let start = on.ticket(&on.owner, "link").await.expect(200);
    let done =
        on.round(&on.owner, start["startUrl"].as_str().expect("an address"), ada(&app.home.email)).await;
    assert_eq!(done.location(), "/policies");
    on.sign_in(ada(&app.home.email)).await.opened();
    assert_eq!(count(app, IDENTITIES).await, 1);
    app.mails().await;
}

async fn members_are_linked_and_invited_people_join(app: &TestApp) {
    let on = set_up(app).await;
    app.member(&app.home, "bob@acme.example", "auditor").await;
    let token = on.sign_in(ada("bob@acme.example")).await.opened();
    on.people(&token).await.expect(200);
    assert_eq!(on.member("bob@acme.example").await.expect("a member")["role"], "auditor");
    app.mails().await;
    // An invited person accepts by signing in, with the role of the invitation; the link ends.
    let invited = app.post("/v1/people/invite", &json!({"email": "carol@acme.example", "role": "admin"}));
    invited.send().await.expect(201);
    let link = attestry_tests::token_in(&app.mails().await);
    let token = on.sign_in(ada("carol@acme.example")).await.opened();
    on.people(&token).await.expect(200);
    let carol = on.member("carol@acme.example").await.expect("a member");
    assert_eq!(
        (&carol["role"], &carol["isActive"], &carol["isInvited"]),
        (&json!("admin"), &json!(true), &json!(false))
    );
    app.accept(&link).await.problem(410, "invitation_expired");
    // An account of another organization that is invited here by its id.
    let other = app.tenant("Other", "dora@acme.example").await;
    app.post("/v1/people", &json!({"userId": other.user, "role": "auditor"})).send().await.expect(201);
    app.mails().await;
    let token = on.sign_in(ada("dora@acme.example")).await.opened();
    on.people(&token).await.expect(200);
    assert_eq!(on.member("dora@acme.example").await.expect("a member")["role"], "auditor");
    // Their own organization learns nothing.
    let problem = app.call("GET", "/v1/tasks").session(&token, &other.organization).send().await;
    problem.problem(403, "not_a_member");
    app.mails().await;
}

async fn an_account_that_nobody_proved_loses_its_password(app: &TestApp) {
    let on = set_up(app).await;
    app.member(&app.home, "bob@acme.example", "admin").await;
    let own = app.sign_in("bob@acme.example").await;
    // As after an invitation whose link the inviter saw.
    app.ctx
        .db
        .write(async |t| {
            t.execute("UPDATE users SET email_verified = FALSE WHERE email_key = 'bob@acme.example'", &[])
                .await
        })
        .await
        .expect("changed");
    let token = on.sign_in(ada("bob@acme.example")).await.opened();
    on.people(&token).await.expect(200);
    app.call("GET", "/v1/auth/session")
        .session(&own, &on.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    let login = json!({"email": "bob@acme.example", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&login).send().await.problem(401, "invalid_credentials");
    app.mails().await;
}

async fn groups_give_roles(app: &TestApp) {
    let roles = json!([{"group": "Compliance", "role": "admin"}, {"group": "Audit", "role": "auditor"}]);
    let on = set_up_with(app, &app.home, json!({"groupRoles": roles, "roleSync": "always"})).await;
    let with = |groups: Value| merged(ada("eve@acme.example"), json!({"groups": groups}));
    let role = async || on.member("eve@acme.example").await.expect("a member")["role"].clone();
    on.sign_in(with(json!(["Compliance", "Others"]))).await.opened();
    assert_eq!(role().await, "admin");
    on.sign_in(with(json!(["Audit", "Compliance"]))).await.opened();
    assert_eq!(role().await, "admin,auditor");
    on.sign_in(with(json!(["Others"]))).await.opened();
    assert_eq!(role().await, "employee");
    on.sign_in(with(json!("Audit"))).await.opened();
    assert_eq!(role().await, "auditor");
    // Groups that the provider does not tell change nothing.
    let many = merged(ada("eve@acme.example"), json!({"_claim_names": {"groups": "src1"}}));
    on.sign_in(many.clone()).await.opened();
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(role().await, "auditor");
    on.change(json!({"requiresGroup": true})).await.expect(200);
    on.sign_in(with(json!(["Others"]))).await.refused("sso_no_role");
    on.sign_in(many).await.refused("sso_no_role");
    assert!(on.last().await["reason"].as_str().expect("a reason").contains("too many"));
    // Groups from the userinfo endpoint, by a path.
    on.change(json!({"groupsClaim": "realm_access.roles"})).await.expect(200);
    on.idp.inform(json!({"sub": "sub of eve@acme.example", "realm_access": {"roles": ["Compliance"]}}));
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(role().await, "admin");
    // An owner is made by people, and stays one.
    for body in
        [json!({"defaultRole": "owner"}), json!({"groupRoles": [{"group": "x", "role": "admin,owner"}]})]
    {
        on.change(body).await.problem(400, "validation_failed");
    }
    let path = format!("/v1/people/{}", id(&on.member("eve@acme.example").await.expect("a member")));
    app.patch(&path, &json!({"role": "owner"})).send().await.expect(200);
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(role().await, "owner");
    // Only when they are added.
    on.change(json!({"roleSync": "first"})).await.expect(200);
    app.patch(&path, &json!({"role": "employee"})).send().await.expect(200);
    on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(role().await, "employee");
    app.mails().await;
}

async fn mapping_beyond_own_permissions_is_refused(app: &TestApp) {
    const CONNECTIONS: &str = "SELECT COUNT(*) FROM sso_connections";
    let on = set_up(app).await;
    // The key acts as the owner, with less.
    let key = app.key(&["identity:update"]).await;
    let path = "/v1/organization/sso-connections";
    let own = format!("{path}/{}", on.connection);
    let call = async |method: &str, path: &str, body: &Value| {
        app.call(method, path).key(&key).json(body).send().await
    };
    let new = json!({"name": "Second", "issuer": on.idp.issuer, "clientId": CLIENT, "clientSecret": SECRET});
    let group = |role: &str| json!({"groupRoles": [{"group": "Compliance", "role": role}]});
    for beyond in [
        json!({"defaultRole": "admin"}),
        json!({"defaultRole": "employee,auditor"}),
        group("admin"),
        group("auditor"),
        merged(group("employee"), json!({"defaultRole": "admin"})),
    ] {
        let body = merged(new.clone(), beyond.clone());
        call("POST", path, &body).await.problem(403, "role_exceeds_own");
        call("PATCH", &own, &beyond).await.problem(403, "role_exceeds_own");
    }
    assert_eq!(count(app, CONNECTIONS).await, 1);
    let known = app.get(&own).send().await.expect(200);
    assert_eq!((&known["defaultRole"], &known["groupRoles"]), (&json!("employee"), &json!([])));
    let body = merged(new, group("employee"));
    call("POST", path, &body).await.expect(201);
    assert_eq!(count(app, CONNECTIONS).await, 2);
    app.mails().await;
}

async fn a_session_counts_in_its_organization_only(app: &TestApp) {
    let on = set_up(app).await;
    let other = app.tenant("Other", "bob@acme.example").await;
    app.join(&app.home, &other, "admin").await;
    let token = on.sign_in(ada("bob@acme.example")).await.opened();
    on.people(&token).await.expect(200);
    app.call("GET", "/v1/tasks")
        .session(&token, &other.organization)
        .send()
        .await
        .problem(403, "not_a_member");
    let session =
        app.call("GET", "/v1/auth/session").session(&token, &on.organization).send().await.expect(200);
    let names: Vec<&Value> =
        session["organizations"].as_array().expect("some").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, [&json!("Home")]);
    let own = app.sign_in("bob@acme.example").await;
    let sessions =
        app.call("GET", "/v1/auth/sessions").session(&token, &on.organization).send().await.expect(200);
    assert_eq!(sessions["count"], 1, "it sees itself alone");
    let all = app.call("GET", "/v1/auth/sessions").session(&own, &on.organization).send().await.expect(200);
    assert_eq!(all["count"], 2);
    let theirs = all["data"].as_array().expect("sessions").iter().find(|one| one["isCurrent"] == true);
    let path = format!("/v1/auth/sessions/{}", id(theirs.expect("the own one")));
    app.call("DELETE", &path).session(&token, &on.organization).send().await.problem(404, "not_found");
    let security =
        app.call("GET", "/v1/auth/security").session(&token, &on.organization).send().await.expect(200);
    assert_eq!(security["demands"].as_array().expect("demands").len(), 1);
    // It makes nothing of an account that has credentials of its own.
    let call = |method: &str, path: &str| app.call(method, path).session(&token, &on.organization);
    call("POST", "/v1/auth/totp").send().await.problem(403, "confirmation_required");
    call("POST", "/v1/auth/passkeys/registration-options").send().await.problem(403, "confirmation_required");
    app.mails().await;
    // It does not accept an invitation for the account.
    let third = app.tenant("Third", "carol@third.example").await;
    let invited = app.call("POST", "/v1/people/invite").key(&third.key);
    invited.json(&json!({"email": "bob@acme.example", "role": "admin"})).send().await.expect(201);
    let link = attestry_tests::token_in(&app.mails().await);
    let accept = call("POST", "/v1/auth/accept-invitation").json(&json!({"token": link}));
    accept.send().await.problem(400, "validation_failed");
    // With the password it is a session of their own there, too.
    let own = app.sign_in("bob@acme.example").await;
    app.call("GET", "/v1/tasks").session(&own, &other.organization).send().await.expect(200);
    app.mails().await;
}

async fn another_person_is_not_replaced_without_a_click(app: &TestApp) {
    let on = set_up(app).await;
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("eve@acme.example"), app.ctx.now());
    let back = on.come_back(&back, &browser, Some(&on.owner)).await;
    assert_eq!(back.session, None);
    let ticket = back.location().strip_prefix("/sign-in?switch=").expect("a ticket").to_owned();
    on.people(&on.owner).await.expect(200);
    let stranger = app.call("POST", "/v1/auth/sso/switch").json(&json!({"ticket": ticket})).send().await;
    stranger.problem(410, "ceremony_expired");
    let cookies = format!("attestry_sso={browser}");
    let switch = || {
        let call = app.call("POST", "/v1/auth/sso/switch").header("cookie", &cookies);
        call.json(&json!({"ticket": ticket})).send()
    };
    let opened = switch().await.expect(200);
    assert_eq!(opened["user"]["email"], "eve@acme.example");
    on.people(opened["token"].as_str().expect("a token")).await.expect(200);
    switch().await.problem(410, "ceremony_expired");
    app.mails().await;
    // The same person gets a grant, and keeps the session.
    app.member(&app.home, "bob@acme.example", "admin").await;
    let bob = app.sign_in("bob@acme.example").await;
    let (location, browser) = on.start("?next=/risks").await;
    let back = on.idp.authorize(&location, ada("bob@acme.example"), app.ctx.now());
    let back = on.come_back(&back, &browser, Some(&bob)).await;
    assert_eq!((back.location(), &back.session), ("/risks", &None));
    app.mails().await;
}

async fn a_fresh_sign_in_confirms(app: &TestApp) {
    let on = set_up(app).await;
    let token = on.sign_in(ada("eve@acme.example")).await.opened();
    let confirmation = async || {
        app.call("GET", "/v1/auth/confirm").session(&token, &on.organization).send().await.expect(200)
    };
    let before = confirmation().await;
    assert_eq!((&before["isConfirmed"], &before["methods"]), (&json!(false), &json!(["sso"])));
    assert_eq!(before["connections"][0]["id"], on.connection);
    let start = on.ticket(&token, "confirm").await.expect(200);
    let start = start["startUrl"].as_str().expect("an address");
    // The provider must have asked the person again.
    let stale =
        merged(ada("eve@acme.example"), json!({"auth_time": app.ctx.now().as_millis() / 1000 - 3600}));
    on.round(&token, start, stale).await.refused("sso_not_fresh");
    on.round(&token, start, ada("eve@acme.example")).await.refused("sso_expired");
    let again = on.ticket(&token, "confirm").await.expect(200);
    let done =
        on.round(&token, again["startUrl"].as_str().expect("an address"), ada("eve@acme.example")).await;
    assert_eq!(done.location(), "/policies");
    assert_eq!(confirmation().await["isConfirmed"], true);
    // An account without credentials of its own may now have some.
    passkeys::add(app, &app.home, &token, &mut passkeys::authenticator(3)).await;
    app.clock.advance(Duration::from_mins(11));
    assert_eq!(confirmation().await["isConfirmed"], false);
    // Another account at the provider confirms nothing.
    let again = on.ticket(&token, "confirm").await.expect(200);
    let other =
        on.round(&token, again["startUrl"].as_str().expect("an address"), ada("mallory@acme.example")).await;
    other.refused("sso_wrong_account");
    // The start is of the session that asked for it.
    let again = on.ticket(&token, "confirm").await.expect(200);
    let start = again["startUrl"].as_str().expect("an address");
    on.round(&on.owner, start, ada("eve@acme.example")).await.refused("sso_expired");
    app.mails().await;
}

async fn confirmation_needs_the_time_of_authentication(app: &TestApp) {
    let on = set_up(app).await;
    let token = on.sign_in(ada("eve@acme.example")).await.opened();
    let start = on.ticket(&token, "confirm").await.expect(200);
    on.idp.craft(|token| token.remove("auth_time"));
    let start = start["startUrl"].as_str().expect("an address");
    on.round(&token, start, ada("eve@acme.example")).await.refused("sso_not_fresh");
    let last = on.last().await;
    assert_eq!(last["reason"], "The provider did not authenticate the user again: auth_time is missing.");
    let call = app.call("GET", "/v1/auth/confirm").session(&token, &on.organization);
    assert_eq!(call.send().await.expect(200)["isConfirmed"], false);
    app.mails().await;
}

async fn confirmation_by_sso_counts_in_its_organization(app: &TestApp) {
    let on = set_up(app).await;
    let other = app.tenant("Other", "bob@acme.example").await;
    app.join(&app.home, &other, "owner").await;
    let bob = app.sign_in("bob@acme.example").await;
    let (here, there) = (on.organization.as_str(), other.organization.as_str());
    let call =
        |organization: &str, method: &str, path: &str| app.call(method, path).session(&bob, organization);
    let confirmation =
        async |organization: &str| call(organization, "GET", "/v1/auth/confirm").send().await.expect(200);
    let policy = async |organization: &str, hours: i64| {
        let call = call(organization, "PATCH", "/v1/organization/sign-in-policy");
        call.json(&json!({"maxHours": hours})).send().await
    };
    // The confirmation by the password is over.
    app.clock.advance(Duration::from_mins(11));
    for organization in [here, there] {
        let found = confirmation(organization).await;
        assert_eq!((&found["isConfirmed"], &found["isAccountConfirmed"]), (&json!(false), &json!(false)));
        policy(organization, 20).await.problem(403, "confirmation_required");
    }
    let start = on.ticket(&bob, "confirm").await.expect(200);
    let start = start["startUrl"].as_str().expect("an address");
    let done = on.round(&bob, start, ada("bob@acme.example")).await;
    assert_eq!(done.location(), "/policies");
    let found = confirmation(here).await;
    assert_eq!((&found["isConfirmed"], &found["isAccountConfirmed"]), (&json!(true), &json!(false)));
    assert_eq!(found["confirmedUntil"], app.ctx.now().plus(Duration::from_mins(10)).to_string());
    let found = confirmation(there).await;
    assert_eq!((&found["isConfirmed"], &found["confirmedUntil"]), (&json!(false), &Value::Null));
    assert_eq!(found["isAccountConfirmed"], false);
    assert_eq!(policy(here, 21).await.expect(200)["maxHours"], 21);
    policy(there, 21).await.problem(403, "confirmation_required");
    // The account has a password: a provider changes nothing about its sign-in.
    for (method, path) in [
        ("POST", "/v1/auth/totp"),
        ("POST", "/v1/auth/passkeys/registration-options"),
        ("POST", "/v1/auth/recovery-codes"),
    ] {
        call(here, method, path).send().await.problem(403, "confirmation_required");
    }
    app.clock.advance(Duration::from_mins(10));
    assert_eq!(confirmation(here).await["isConfirmed"], false);
    policy(here, 22).await.problem(403, "confirmation_required");
    app.mails().await;
}

async fn an_identity_is_linked_and_removed_by_its_user(app: &TestApp) {
    let on = set_up(app).await;
    // The owner's address is of no verified domain; they link it themselves.
    on.sign_in(ada("ada@example.com")).await.refused("sso_domain_not_verified");
    let start = on.ticket(&on.owner, "link").await.expect(200);
    let done =
        on.round(&on.owner, start["startUrl"].as_str().expect("an address"), ada("ada@example.com")).await;
    assert_eq!(done.location(), "/policies");
    on.sign_in(ada("ada@example.com")).await.opened();
    let security = on.own("GET", "/v1/auth/security", None).await.expect(200);
    let identity = &security["identities"][0];
    assert_eq!(
        (&identity["connectionName"], &identity["email"]),
        (&json!("Acme"), &json!("ada@example.com"))
    );
    let path = format!("/v1/auth/identities/{}", id(identity));
    on.own("DELETE", &path, None).await.expect(200);
    on.own("DELETE", &path, None).await.problem(404, "not_found");
    on.sign_in(ada("ada@example.com")).await.refused("sso_domain_not_verified");
    app.clock.advance(Duration::from_mins(11));
    on.ticket(&on.owner, "link").await.problem(403, "confirmation_required");
    // The only way in stays.
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    let start = on.ticket(&eve, "confirm").await.expect(200);
    on.round(&eve, start["startUrl"].as_str().expect("an address"), ada("eve@acme.example")).await;
    let call = |method: &str, path: &str| app.call(method, path).session(&eve, &on.organization);
    let security = call("GET", "/v1/auth/security").send().await.expect(200);
    let path = format!("/v1/auth/identities/{}", id(&security["identities"][0]));
    call("DELETE", &path).send().await.problem(409, "last_method");
    app.mails().await;
}

async fn the_provider_signs_out(app: &TestApp) {
    let on = set_up(app).await;
    let eve = on.sign_in(merged(ada("eve@acme.example"), json!({"sid": "one"}))).await.opened();
    let bob = on.sign_in(merged(ada("bob@acme.example"), json!({"sid": "two"}))).await.opened();
    let seconds = || app.ctx.now().as_millis() / 1000;
    let event = json!({"http://schemas.openid.net/event/backchannel-logout": {}});
    let right = |number: u8| {
        json!({
            "iss": on.idp.issuer, "aud": CLIENT, "iat": seconds(), "exp": seconds() + 60, "jti": format!("id {number}"),
            "events": event, "sid": "one"
        })
    };
    let send = async |token: String| {
        let call = app.call("POST", &on.path("logout-token"));
        call.raw("application/x-www-form-urlencoded", format!("logout_token={token}")).send().await
    };
    for (number, change) in [
        json!({"nonce": "x"}),
        json!({"aud": "another"}),
        json!({"iss": "https://evil.example"}),
        json!({"events": {}}),
        json!({"iat": seconds() - 200}),
        json!({"sid": null}),
        json!({"jti": null}),
    ]
    .into_iter()
    .enumerate()
    {
        let token = on.idp.sign(merged(right(u8::try_from(number).expect("small")), change.clone()));
        assert_eq!(send(token).await.status, 400, "{change}");
    }
    send("nonsense".to_owned()).await.problem(400, "logout_token_invalid");
    let token = on.idp.sign(right(100));
    let forged = format!("{}x", &token[..token.len() - 1]);
    send(forged).await.problem(400, "logout_token_invalid");
    on.people(&eve).await.expect(200);
    send(token.clone()).await.expect(200);
    let problem = on.people(&eve).await.problem(403, "reauthentication_required");
    assert_eq!((&problem["reason"], &problem["startUrl"]), (&json!("too_old"), &json!(on.path("start"))));
    on.people(&bob).await.expect(200);
    send(token).await.problem(400, "logout_token_invalid");
    let by_subject = merged(right(101), json!({"sid": null, "sub": "sub of bob@acme.example"}));
    let by_subject = on.idp.sign(without_nulls(by_subject));
    send(by_subject).await.expect(200);
    on.people(&bob).await.problem(403, "reauthentication_required");
    let log = app.get("/v1/audit-logs?action=sso_identity.signed_out").send().await.expect(200);
    assert_eq!(log["count"], 2);
    app.mails().await;
}

async fn logout_token_ends_event_streams(app: &TestApp) {
    let on = set_up(app).await;
    let eve = on.sign_in(merged(ada("eve@acme.example"), json!({"sid": "one"}))).await.opened();
    app.mails().await;
    let mut stream = Stream::open(app.call("GET", EVENTS).session(&eve, &on.organization)).await;
    let seconds = app.ctx.now().as_millis() / 1000;
    let token = on.idp.sign(json!({
        "iss": on.idp.issuer, "aud": CLIENT, "iat": seconds, "exp": seconds + 60, "jti": "id 1", "sid": "one",
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}}
    }));
    let call = app.call("POST", &on.path("logout-token"));
    let call = call.raw("application/x-www-form-urlencoded", format!("logout_token={token}"));
    call.send().await.expect(200);
    assert_eq!(stream.next().await, None);
    app.work().await;
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(map.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        other => other,
    }
}

async fn signing_out_leads_to_the_provider(app: &TestApp) {
    let on = set_up(app).await;
    let sign_out = async |token: &str| {
        app.call("POST", "/v1/auth/logout").session(token, &on.organization).send().await.expect(200)
    };
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    assert_eq!(sign_out(&eve).await["logoutUrl"], Value::Null);
    on.change(json!({"signsOutAtProvider": true})).await.expect(200);
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    let url = sign_out(&eve).await["logoutUrl"].as_str().expect("an address").to_owned();
    assert!(url.starts_with(&format!("{}/logout?client_id=attestry&", on.idp.issuer)), "{url}");
    assert!(url.contains("id_token_hint=ey") && url.contains("post_logout_redirect_uri="), "{url}");
    app.call("GET", "/v1/auth/session")
        .session(&eve, &on.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    app.mails().await;
}

/// The ID token of a session is in the answer of its own sign-out, and nowhere else.
async fn id_token_hint_is_not_shown_to_others(app: &TestApp) {
    let on = set_up_with(app, &app.home, json!({"signsOutAtProvider": true})).await;
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    let laptop = on.sign_in(ada("eve@acme.example")).await.opened();
    let bob = on.sign_in(ada("bob@acme.example")).await.opened();
    let sign_out = async |token: &str| {
        let call = app.call("POST", "/v1/auth/logout").session(token, &on.organization);
        call.header("idempotency-key", "k").send().await
    };
    let member = on.member("eve@acme.example").await.expect("a member");
    let read = async || {
        let mut all = String::new();
        for token in [&on.owner, &laptop] {
            for path in ["/v1/auth/session", "/v1/auth/sessions", "/v1/auth/security", "/v1/auth/confirm"] {
                let reply = app.call("GET", path).session(token, &on.organization).send().await;
                reply.expect(200);
                all.push_str(&reply.text());
            }
        }
        for path in [
            "/v1/people?includeDeactivated=true",
            &format!("/v1/people/{}", id(&member)),
            &format!("/v1/people/{}/identities", id(&member)),
            "/v1/organization/access-review",
            "/v1/audit-logs?limit=200",
            &format!("/v1/organization/sso-connections/{}", on.connection),
            &format!("/v1/organization/sso-connections/{}/sign-ins", on.connection),
        ] {
            let reply = app.get(path).send().await;
            reply.expect(200);
            all.push_str(&reply.text());
        }
        all.push_str(&dump(app).await);
        all
    };
    let before = read().await;
    let url = sign_out(&eve).await.expect(200)["logoutUrl"].as_str().expect("an address").to_owned();
    let hint = parameter(&url, "id_token_hint");
    let parts: Vec<&str> = hint.split('.').collect();
    assert_eq!(parts.len(), 3);
    app.work().await;
    let after = read().await;
    // The same request again, and the same key of others.
    let again = sign_out(&eve).await;
    again.problem(401, "invalid_session");
    let others = [sign_out(&laptop).await, sign_out(&bob).await];
    for other in &others {
        let url = other.expect(200)["logoutUrl"].as_str().expect("an address").to_owned();
        assert_ne!(parameter(&url, "id_token_hint"), hint);
    }
    // The header is the same in all tokens; the claims and the signature are not.
    for part in &parts[1..] {
        for shown in [&before, &after, &again.text(), &others[0].text(), &others[1].text()] {
            assert!(!shown.contains(part), "{part} is in {shown}");
        }
    }
    app.mails().await;
}

async fn connections_are_checked_when_they_are_saved(app: &TestApp) {
    let on = set_up(app).await;
    let add = async |body: Value| {
        let usual =
            json!({"name": "Other", "issuer": on.idp.issuer, "clientId": CLIENT, "clientSecret": SECRET});
        on.own("POST", "/v1/organization/sso-connections", Some(merged(usual, body))).await
    };
    for (body, field) in [
        (json!({"issuer": "login.acme.example"}), "issuer"),
        (json!({"issuer": "https://login.microsoftonline.com/common/v2.0"}), "issuer"),
        (json!({"issuer": format!("{}/?x=1", on.idp.issuer)}), "issuer"),
        (json!({"issuer": format!("{}/nowhere", on.idp.issuer)}), "issuer"),
        (json!({"clientSecret": "wrong"}), "clientSecret"),
        (json!({"scopes": ["email"]}), "scopes"),
        (json!({"defaultRole": "owner"}), "defaultRole"),
        (json!({"groupRoles": [{"group": "a", "role": "owner"}]}), "groupRoles"),
        (
            json!({"groupRoles": [{"group": "a", "role": "admin"}, {"group": "a", "role": "auditor"}]}),
            "groupRoles",
        ),
        (json!({"roleSync": "sometimes"}), "roleSync"),
    ] {
        let problem = add(body.clone()).await.problem(400, "validation_failed");
        assert_eq!(problem["errors"][0]["field"], field, "{body}: {problem}");
    }
    let nobody = add(json!({"issuer": "http://127.0.0.1:9"})).await;
    nobody.problem(502, "provider_unreachable");
    // A slash at the end of the issuer is forgiven, and the provider's own spelling kept.
    let made = add(json!({"issuer": format!("{}/", on.idp.issuer)})).await.expect(201);
    assert_eq!(made["issuer"], on.idp.issuer);
    assert_eq!(made["provider"]["isClientKnown"], true);
    assert_eq!(made["hasClientSecret"], true);
    assert!(!made.to_string().contains(SECRET));
    for number in 3..=5 {
        add(json!({"name": format!("Number {number}")})).await.expect(201);
    }
    add(json!({})).await.problem(409, "too_many_connections");
    let check =
        on.own("POST", &format!("/v1/organization/sso-connections/{}/check", on.connection), None).await;
    let check = check.expect(200);
    assert_eq!(check["isOk"], true);
    let names: Vec<&str> =
        check["steps"].as_array().expect("steps").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["discovery", "issuer", "keys", "client"]);
    on.idp.set_down(true);
    let check =
        on.own("POST", &format!("/v1/organization/sso-connections/{}/check", on.connection), None).await;
    assert_eq!(check.expect(200)["isOk"], false);
    on.idp.set_down(false);
    // A new client ends sign-ins that are under way, and must be tested again.
    let changed = on.change(json!({"name": "Renamed", "scopes": ["openid", "email"]})).await.expect(200);
    assert_eq!((&changed["name"], &changed["scopes"]), (&json!("Renamed"), &json!(["openid", "email"])));
    on.change(json!({"clientSecret": "wrong"})).await.problem(400, "validation_failed");
    // The secret of one provider is not sent to another.
    let other = IdentityProvider::start().await;
    let moved = on.change(json!({"issuer": other.issuer})).await.problem(400, "validation_failed");
    assert_eq!(moved["errors"][0]["field"], "clientSecret");
    assert_eq!(other.token_requests(), 0);
    on.change(json!({"issuer": other.issuer, "clientSecret": SECRET})).await.expect(200);
    on.change(json!({"issuer": on.idp.issuer, "clientSecret": SECRET})).await.expect(200);
    // An address to sign out at must be one.
    on.idp.describe(json!({"end_session_endpoint": "javascript:alert(1)"}));
    let check =
        on.own("POST", &format!("/v1/organization/sso-connections/{}/check", on.connection), None).await;
    check.expect(200);
    let path = format!("/v1/organization/sso-connections/{}", on.connection);
    assert_eq!(app.get(&path).send().await.expect(200)["provider"]["hasSignOut"], false);
    on.idp.describe(json!({"authorization_endpoint": "javascript:alert(1)"}));
    let bad = add(json!({"name": "Script"})).await.problem(400, "validation_failed");
    assert_eq!(bad["errors"][0]["field"], "issuer");
    let log = app.get("/v1/audit-logs?entityType=sso_connection").send().await.expect(200);
    assert!(!log.to_string().contains(SECRET));
    app.mails().await;
}

async fn changed_client_must_be_tested_again(app: &TestApp) {
    let on = set_up(app).await;
    let path = format!("/v1/organization/sso-connections/{}", on.connection);
    let tested_at = async || app.get(&path).send().await.expect(200)["testedAt"].clone();
    let test = async || {
        assert_eq!(test_connection(&on, ada("eve@acme.example")).await["result"], "signed_in");
        assert_ne!(tested_at().await, Value::Null);
    };
    test().await;
    on.change(json!({"name": "Renamed", "clientId": CLIENT, "issuer": on.idp.issuer})).await.expect(200);
    assert_ne!(tested_at().await, Value::Null, "the issuer and the client are as before");
    on.idp.register("another");
    assert_eq!(on.change(json!({"clientId": "another"})).await.expect(200)["testedAt"], Value::Null);
    assert_eq!(on.change(json!({"clientId": CLIENT})).await.expect(200)["testedAt"], Value::Null);
    test().await;
    let other = IdentityProvider::start().await;
    let moved = on.change(json!({"issuer": other.issuer, "clientSecret": SECRET})).await.expect(200);
    assert_eq!((&moved["issuer"], &moved["testedAt"]), (&json!(other.issuer), &Value::Null));
    on.policy(json!({"sso": "required"})).await.problem(409, "sso_not_tested");
    app.mails().await;
}

async fn owners_set_connections_and_others_read_them(app: &TestApp) {
    let on = set_up(app).await;
    let other = app.tenant("Other", "bob@other.example").await;
    let path = format!("/v1/organization/sso-connections/{}", on.connection);
    app.call("GET", &path).key(&other.key).send().await.problem(404, "not_found");
    for (email, role, reads) in [
        ("admin@example.com", "admin", true),
        ("auditor@example.com", "auditor", true),
        ("employee@example.com", "employee", false),
    ] {
        app.member(&app.home, email, role).await;
        let token = app.sign_in(email).await;
        let call = |method: &str| app.call(method, &path).session(&token, &on.organization);
        let reply = call("GET").send().await;
        match reads {
            true => reply.expect(200),
            false => reply.problem(403, "forbidden"),
        };
        call("PATCH").json(&json!({"name": "x"})).send().await.problem(403, "forbidden");
        call("DELETE").send().await.problem(403, "forbidden");
    }
    let read = app.get(&path).send().await;
    let tag = read.header("etag").expect("a tag").to_owned();
    on.change(json!({"name": "Changed"})).await.expect(200);
    let stale = app.call("PATCH", &path).session(&on.owner, &on.organization).header("if-match", &tag);
    stale.json(&json!({"name": "Stale"})).send().await.problem(412, "precondition_failed");
    app.clock.advance(Duration::from_mins(11));
    on.change(json!({"name": "Late"})).await.problem(403, "confirmation_required");
    let confirm = app.call("POST", "/v1/auth/confirm").session(&on.owner, &on.organization);
    confirm.json(&json!({"password": PASSWORD})).send().await.expect(200);
    // What was granted ends with the connection.
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    on.people(&eve).await.expect(200);
    on.change(json!({"isEnabled": false})).await.expect(200);
    on.people(&eve).await.problem(403, "reauthentication_required");
    let reply = app.call("GET", &on.path("start")).send().await;
    Back { session: None, reply }.refused("sso_disabled");
    on.change(json!({"isEnabled": true})).await.expect(200);
    let eve = on.sign_in(ada("eve@acme.example")).await.opened();
    on.own("DELETE", &path, None).await.expect(200);
    on.people(&eve).await.problem(403, "not_a_member");
    app.mails().await;
}

async fn test_connection(on: &SignOn<'_>, claims: Value) -> Value {
    let path = format!("/v1/organization/sso-connections/{}/test", on.connection);
    let start = on.own("POST", &path, None).await.expect(200);
    let back = on.round(&on.owner, start["startUrl"].as_str().expect("an address"), claims).await;
    assert!(
        back.location().starts_with(&format!("/settings/security?connection={}&tested=sgn_", on.connection))
    );
    on.last().await
}

async fn a_test_shows_claims_and_signs_nobody_in(app: &TestApp) {
    let on = set_up_with(app, &app.home, json!({"isEnabled": false})).await;
    let entries = app.entries(&app.home).await;
    let path = format!("/v1/organization/sso-connections/{}", on.connection);
    let failed = test_connection(&on, ada("eve@elsewhere.example")).await;
    assert_eq!((&failed["result"], &failed["isTest"]), (&json!("sso_domain_not_verified"), &json!(true)));
    assert_eq!(app.get(&path).send().await.expect(200)["testedAt"], Value::Null);
    let claims = merged(ada("eve@acme.example"), json!({"groups": ["Compliance"], "department": "IT"}));
    let tested = test_connection(&on, claims).await;
    assert_eq!(tested["result"], "signed_in");
    assert_eq!((&tested["claims"]["department"], &tested["groupCount"]), (&json!("IT"), &json!(1)));
    assert_eq!(on.member("eve@acme.example").await, None);
    assert_eq!(app.entries(&app.home).await, entries + 1, "that it was tested");
    assert_ne!(app.get(&path).send().await.expect(200)["testedAt"], Value::Null);
    // Of a real sign-in only the names are kept.
    on.change(json!({"isEnabled": true})).await.expect(200);
    on.sign_in(merged(ada("eve@acme.example"), json!({"department": "IT"}))).await.opened();
    assert_eq!(on.last().await["claims"]["department"], Value::Null);
    app.mails().await;
}

async fn a_test_rehearses_the_sign_in(app: &TestApp) {
    let on = set_up_with(app, &app.home, json!({"isEnabled": false, "addsMembers": false})).await;
    let bob = app.member(&app.home, "bob@acme.example", "admin").await;
    app.delete(&format!("/v1/people/{}", id(&bob))).send().await.expect(200);
    app.mails().await;
    let carol = app.post("/v1/people/invite", &json!({"email": "carol@acme.example", "role": "admin"}));
    let carol = carol.send().await.expect(201);
    let link = attestry_tests::token_in(&app.mails().await);
    let path = format!("/v1/organization/sso-connections/{}", on.connection);
    let state =
        async || (count(app, USERS).await, count(app, IDENTITIES).await, app.entries(&app.home).await);
    let before = state().await;
    for (email, code) in
        [("bob@acme.example", "sso_member_inactive"), ("eve@acme.example", "sso_not_a_member")]
    {
        let tested = test_connection(&on, ada(email)).await;
        assert_eq!((&tested["result"], &tested["isTest"]), (&json!(code), &json!(true)), "{email}");
        assert_eq!(tested["claims"]["email"], email);
        assert_eq!(state().await, before, "{email}");
        assert_eq!(app.get(&path).send().await.expect(200)["testedAt"], Value::Null);
    }
    // An invited person would be let in, and stays invited.
    let tested = test_connection(&on, ada("carol@acme.example")).await;
    assert_eq!(tested["result"], "signed_in", "{tested}");
    let (users, identities, entries) = before;
    assert_eq!(state().await, (users, identities, entries + 1), "only the test is recorded");
    assert_eq!(app.mails().await.len(), 0, "no mail says that an identity was linked");
    let carol = app.get(&format!("/v1/people/{}", id(&carol))).send().await.expect(200);
    assert_eq!((&carol["isInvited"], &carol["isActive"]), (&json!(true), &json!(false)));
    app.accept(&link).await.expect(200);
    app.mails().await;
}

/// Makes the owner of the home organization exempt, with a session of both factors; returns the secret of their app.
async fn exempt(on: &mut SignOn<'_>) -> String {
    let app = on.app;
    let owner = enrol(app, &app.home, &app.home.email).await;
    on.owner = owner.token;
    let path = format!("/v1/people/{}", app.home.member);
    on.own("PATCH", &path, Some(json!({"isExempt": true}))).await.expect(200);
    owner.secret
}

async fn required_single_sign_on_needs_a_way_back(app: &TestApp) {
    let mut on = set_up(app).await;
    let require = json!({"sso": "required"});
    on.policy(require.clone()).await.problem(409, "sso_not_tested");
    test_connection(&on, ada("eve@acme.example")).await;
    on.policy(require.clone()).await.problem(409, "break_glass_required");
    let own = format!("/v1/people/{}", app.home.member);
    on.own("PATCH", &own, Some(json!({"isExempt": true}))).await.problem(409, "second_factor_mandatory");
    let owner_secret = exempt(&mut on).await;
    let policy = on.policy(require.clone()).await.expect(200);
    assert_eq!((&policy["sso"], &policy["exemptMembers"]), (&json!("required"), &json!([app.home.member])));
    let mails = app.mails().await;
    assert!(mails.iter().any(|mail| mail.subject.contains("Single sign-on is required")), "owners are told");
    // What would take away the way back.
    let connection = format!("/v1/organization/sso-connections/{}", on.connection);
    let other = IdentityProvider::start().await;
    let moved = json!({"issuer": other.issuer, "clientSecret": SECRET});
    on.own("PATCH", &own, Some(json!({"isExempt": false}))).await.problem(409, "break_glass_required");
    app.member(&app.home, "dora@acme.example", "owner").await;
    for (method, path, body, code) in [
        ("PATCH", own.as_str(), Some(json!({"role": "admin"})), "break_glass_required"),
        ("DELETE", own.as_str(), None, "break_glass_required"),
        ("PATCH", connection.as_str(), Some(json!({"isEnabled": false})), "sso_in_use"),
        ("PATCH", connection.as_str(), Some(moved), "sso_enforced"),
        ("DELETE", connection.as_str(), None, "sso_in_use"),
        ("DELETE", "/v1/auth/totp", None, "second_factor_mandatory"),
    ] {
        on.own(method, path, body).await.problem(409, code);
    }
    assert_eq!(app.get(&connection).send().await.expect(200)["issuer"], on.idp.issuer);
    let domains = on.own("GET", "/v1/organization/domains", None).await.expect(200);
    let domain = format!("/v1/organization/domains/{}", id(&domains["data"][0]));
    on.own("DELETE", &domain, None).await.problem(409, "domain_in_use");
    // Their sign-in is told to all owners.
    app.mails().await;
    app.clock.advance(Duration::from_secs(30));
    let code = code_at(&owner_secret, app.ctx.now());
    let login = json!({"email": app.home.email, "password": PASSWORD, "code": code});
    app.call("POST", "/v1/auth/login").json(&login).send().await.expect(200);
    let told = app.mails().await;
    for owner in [app.home.email.as_str(), "dora@acme.example"] {
        let is_told =
            |mail: &Message| mail.to_address == owner && mail.subject == "An exempt owner signed in";
        assert!(told.iter().any(is_told), "{owner}");
    }
    // The command line is the last way back.
    let organization = organization_id(&on.organization);
    assert!(sign_in_policy::disable_sso_by_operator(&app.ctx, organization).await.expect("disabled"));
    assert!(!sign_in_policy::disable_sso_by_operator(&app.ctx, organization).await.expect("nothing to do"));
    on.own("PATCH", &own, Some(json!({"isExempt": false}))).await.expect(200);
    app.mails().await;
}

/// The credentials of an exempt owner are known to work.
async fn an_exempt_owner_has_signed_in_lately(app: &TestApp) {
    let mut on = set_up(app).await;
    test_connection(&on, ada("eve@acme.example")).await;
    let secret = exempt(&mut on).await;
    app.member(&app.home, "dora@example.com", "owner").await;
    app.clock.advance(Duration::from_hours(31 * 24));
    let require = json!({"sso": "required"});
    on.owner = app.sign_in("dora@example.com").await;
    let refused = on.policy(require.clone()).await.problem(409, "break_glass_required");
    assert!(refused["detail"].as_str().is_some_and(|text| text.contains("30 days")), "{refused}");
    let login =
        json!({"email": app.home.email, "password": PASSWORD, "code": code_at(&secret, app.ctx.now())});
    let signed_in = app.call("POST", "/v1/auth/login").json(&login).send().await.expect(200);
    signed_in["token"].as_str().expect("a token").clone_into(&mut on.owner);
    on.policy(require).await.expect(200);
    app.mails().await;
}

async fn required_single_sign_on_shuts_out_passwords(app: &TestApp) {
    let mut on = set_up(app).await;
    app.member(&app.home, "bob@acme.example", "admin").await;
    let bob = app.sign_in("bob@acme.example").await;
    let key = app.call("POST", "/v1/organization/api-keys").session(&bob, &on.organization);
    let key = key.json(&json!({"name": "nightly"})).send().await.expect(201);
    test_connection(&on, ada("eve@acme.example")).await;
    exempt(&mut on).await;
    on.people(&bob).await.expect(200);
    on.policy(json!({"sso": "required"})).await.expect(200);
    let problem = on.people(&bob).await.problem(403, "reauthentication_required");
    assert_eq!(
        (&problem["reason"], &problem["startUrl"]),
        (&json!("sso_required"), &json!(on.path("start")))
    );
    let again = app.sign_in("bob@acme.example").await;
    on.people(&again).await.problem(403, "reauthentication_required");
    app.call("GET", "/v1/tasks").key(key["key"].as_str().expect("a key")).send().await.expect(200);
    // The same session, once the provider has vouched for it.
    let (location, browser) = on.start("").await;
    let back = on.idp.authorize(&location, ada("bob@acme.example"), app.ctx.now());
    on.come_back(&back, &browser, Some(&bob)).await;
    on.people(&bob).await.expect(200);
    // The exempt owner needs both factors, and their sign-in is told to the owners.
    on.people(&on.owner).await.expect(200);
    app.mails().await;
    on.idp.set_down(true);
    app.clock.advance(Duration::from_mins(1));
    let plain = json!({"email": app.home.email, "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&plain).send().await.problem(401, "second_factor_required");
    // As a second factor.
    on.idp.set_down(false);
    on.policy(json!({"mfa": "required", "graceDays": 0, "ssoMfa": "claimed"})).await.expect(200);
    on.people(&bob).await.problem(403, "reauthentication_required");
    let (location, browser) = on.start("").await;
    let claims = merged(ada("bob@acme.example"), json!({"amr": ["pwd", "otp"]}));
    let back = on.idp.authorize(&location, claims, app.ctx.now());
    on.come_back(&back, &browser, Some(&bob)).await;
    on.people(&bob).await.expect(200);
    app.mails().await;
}

async fn exempt_owner_gets_in_without_the_provider(app: &TestApp) {
    let mut on = set_up(app).await;
    app.member(&app.home, "bob@acme.example", "admin").await;
    test_connection(&on, ada("eve@acme.example")).await;
    let secret = exempt(&mut on).await;
    on.policy(json!({"sso": "required"})).await.expect(200);
    app.mails().await;
    let _port = on.idp.stop().await;
    // Nothing that is known of the provider serves any longer.
    app.clock.advance(Duration::from_hours(25));
    let reply = app.call("GET", &on.path("start")).send().await;
    Back { session: None, reply }.refused("sso_unavailable");
    let bob = app.sign_in("bob@acme.example").await;
    let problem = on.people(&bob).await.problem(403, "reauthentication_required");
    assert_eq!(problem["reason"], "sso_required");
    let code = code_at(&secret, app.ctx.now());
    let login = json!({"email": app.home.email, "password": PASSWORD, "code": code});
    let opened = app.call("POST", "/v1/auth/login").json(&login).send().await.expect(200);
    let token = opened["token"].as_str().expect("a token");
    on.people(token).await.expect(200);
    let policy =
        |method: &str| app.call(method, "/v1/organization/sign-in-policy").session(token, &on.organization);
    assert_eq!(policy("GET").send().await.expect(200)["sso"], "required");
    let changed = policy("PATCH").json(&json!({"sso": "optional"})).send().await.expect(200);
    assert_eq!(changed["sso"], "optional");
    on.people(&bob).await.expect(200);
    app.mails().await;
}

/// The only owner, who switches things on and off.
struct Owner<'a> {
    on: SignOn<'a>,
    /// The session that changes the account.
    own: String,
    app: Option<String>,
    passkey: Option<Authenticator>,
    has_password: bool,
    passkeys_made: usize,
}

impl Owner<'_> {
    /// Signs in anew with the credentials of the account; `None` if it has none.
    async fn own_session(&mut self) -> Option<String> {
        let app = self.on.app;
        let reply = match &mut self.passkey {
            Some(passkey) => {
                let body = passkeys::answer(app, passkey).await;
                app.call("POST", "/v1/auth/passkeys/sign-in").json(&body).send().await.expect(200)
            }
            None if self.has_password => {
                let mut login = json!({"email": app.home.email, "password": PASSWORD});
                if let Some(secret) = &self.app {
                    app.clock.advance(Duration::from_secs(30));
                    login["code"] = json!(code_at(secret, app.ctx.now()));
                }
                app.call("POST", "/v1/auth/login").json(&login).send().await.expect(200)
            }
            None => return None,
        };
        Some(reply["token"].as_str().expect("a token").to_owned())
    }

    /// Signs in anew by any way that the organization accepts, and confirms the session.
    async fn sign_in(&mut self, needs_no_provider: bool) {
        let app = self.on.app;
        let own = self.own_session().await;
        if let Some(token) = &own {
            self.own.clone_from(token);
            self.on.owner.clone_from(token);
            if self.on.people(token).await.status == 200 {
                return;
            }
        }
        assert!(!needs_no_provider, "nobody gets in without the provider");
        let token = self.on.sign_in(ada(&app.home.email)).await.opened();
        self.on.people(&token).await.expect(200);
        let start = self.on.ticket(&token, "confirm").await.expect(200);
        let start = start["startUrl"].as_str().expect("an address");
        assert_eq!(self.on.round(&token, start, ada(&app.home.email)).await.location(), "/policies");
        if own.is_none() {
            self.own.clone_from(&token);
        }
        self.on.owner = token;
    }

    /// Calls with the session that changes the account.
    async fn account(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let call = self.on.app.call(method, path).session(&self.own, &self.on.organization);
        match body {
            Some(body) => call.json(&body).send().await,
            None => call.send().await,
        }
    }

    /// Does one of the things that the console offers; refused is fine.
    async fn switch(&mut self, number: usize) -> Reply {
        let app = self.on.app;
        let own = format!("/v1/people/{}", app.home.member);
        let connection = format!("/v1/organization/sso-connections/{}", self.on.connection);
        let policy = "/v1/organization/sign-in-policy";
        let tokens = "/v1/organization/directory/tokens";
        let (method, path, body) = match number {
            0 => ("PATCH", own, Some(json!({"isExempt": true}))),
            1 => ("PATCH", own, Some(json!({"isExempt": false}))),
            2 => ("PATCH", own, Some(json!({"role": "admin"}))),
            3 => ("DELETE", own, None),
            4 => ("PATCH", policy.to_owned(), Some(json!({"sso": "required"}))),
            5 => ("PATCH", policy.to_owned(), Some(json!({"sso": "optional"}))),
            6 => ("PATCH", policy.to_owned(), Some(json!({"mfa": "required", "graceDays": 0}))),
            7 => ("PATCH", policy.to_owned(), Some(json!({"mfa": "optional"}))),
            8 => ("PATCH", connection, Some(json!({"isEnabled": false}))),
            9 => ("PATCH", connection, Some(json!({"isEnabled": true}))),
            10 => ("POST", tokens.to_owned(), Some(json!({"name": "Directory"}))),
            11 => {
                let all = self.on.own("GET", tokens, None).await.expect(200);
                let first = all["data"].as_array().and_then(|all| all.first()).map_or("sct_none", id);
                ("DELETE", format!("{tokens}/{first}"), None)
            }
            12 => ("DELETE", "/v1/auth/totp".to_owned(), None),
            13 => {
                let started = self.account("POST", "/v1/auth/totp", None).await;
                if started.status != 201 {
                    return started;
                }
                let secret = started.json()["secret"].as_str().expect("a secret").to_owned();
                let code = json!({"code": code_at(&secret, app.ctx.now())});
                let active = self.account("POST", "/v1/auth/totp/activate", Some(code)).await;
                if active.status == 200 {
                    self.app = Some(secret);
                }
                return active;
            }
            14 => {
                let security = self.account("GET", "/v1/auth/security", None).await.expect(200);
                let all = security["passkeys"].as_array().expect("passkeys");
                let first = all.first().map_or("psk_none", id);
                ("DELETE", format!("/v1/auth/passkeys/{first}"), None)
            }
            15 if self.passkey.is_none() => {
                self.passkeys_made += 1;
                let mut passkey = passkeys::authenticator(self.passkeys_made);
                let body = passkeys::registration(app, &app.home, &self.own, &mut passkey).await;
                self.passkey = Some(passkey);
                ("POST", "/v1/auth/passkeys".to_owned(), Some(body))
            }
            16 => ("DELETE", "/v1/auth/password".to_owned(), None),
            17 => {
                let security = self.account("GET", "/v1/auth/security", None).await.expect(200);
                let all = security["identities"].as_array().expect("identities");
                let first = all.first().map_or("sid_none", id);
                ("DELETE", format!("/v1/auth/identities/{first}"), None)
            }
            _ => {
                let ticket = self.on.ticket(&self.own, "link").await;
                if ticket.status == 200 {
                    let start = ticket.json()["startUrl"].as_str().expect("an address").to_owned();
                    self.on.round(&self.own, &start, ada(&app.home.email)).await;
                }
                return ticket;
            }
        };
        let reply = match path.starts_with("/v1/auth/") {
            true => self.account(method, &path, body).await,
            false => self.on.own(method, &path, body).await,
        };
        match (number, reply.status.is_success()) {
            (12, true) => self.app = None,
            (14, true) | (15, false) => self.passkey = None,
            (16, true) => self.has_password = false,
            _ => {}
        }
        reply
    }
}

/// Whatever an owner switches on and off in the console, in any order: after each step they sign in anew and go on, and
/// without the provider while single sign-on is required or a directory has a token.
async fn any_order_of_switches_leaves_a_way_in(app: &TestApp) {
    const SWITCHES: usize = 19;
    let on = set_up(app).await;
    test_connection(&on, ada("eve@acme.example")).await;
    let own = on.owner.clone();
    let mut owner = Owner { on, own, app: None, passkey: None, has_password: true, passkeys_made: 0 };
    let (mut steps, mut done, mut refused) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let scope = Scope::system(organization_id(&app.home.organization), "test");
    // A walk in an order that is the same in every run.
    let mut state: u64 = 20;
    for _ in 0..400 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = usize::try_from(state >> 33).expect("31 bits") % SWITCHES;
        steps.push(number);
        let reply = owner.switch(number).await;
        let is_refused = reply.status == 409 || reply.status == 404;
        assert!(reply.status.is_success() || is_refused, "{steps:?}: {}", reply.text());
        if is_refused {
            refused.insert(number)
        } else {
            done.insert(number)
        };
        let policy = sign_in_policy::get(&app.ctx, &scope).await.expect("a policy").policy;
        let directory = "SELECT COUNT(*) FROM directory_tokens";
        let needs_no_provider = policy.sso == SsoDemand::Required || count(app, directory).await > 0;
        owner.sign_in(needs_no_provider).await;
        // Without a password, the walk would have few ways to go on.
        if !owner.has_password && state >> 60 == 0 {
            let email = Email::parse(&app.home.email).expect("an address");
            let password = Password::parse(PASSWORD).expect("a password");
            passwords::reset_by_operator(&app.ctx, &email, &password).await.expect("set");
            owner.has_password = true;
            owner.sign_in(needs_no_provider).await;
        }
        app.mails().await;
    }
    // The last owner is never demoted or deactivated; everything else was possible at some time.
    let never: Vec<usize> = (0..SWITCHES).filter(|number| !done.contains(number)).collect();
    assert_eq!(never, [2, 3]);
    for number in [0, 1, 4, 8, 10, 12, 14, 16, 17] {
        assert!(refused.contains(&number), "{number} was never refused");
    }
}

async fn a_rotated_key_keeps_client_secrets(app: &TestApp) {
    let on = set_up(app).await;
    attestry_app::core::data_key::rotate(&app.ctx).await.expect("rotated");
    on.sign_in(ada("eve@acme.example")).await.opened();
    app.mails().await;
}

async fn methods_depend_on_the_domain_alone(app: &TestApp) {
    let on = set_up(app).await;
    let ask = async |email: &str| {
        let call = app.call("POST", "/v1/auth/sign-in-methods").json(&json!({"email": email}));
        call.send().await.expect(200)
    };
    let nobody = ask("nobody@acme.example").await;
    app.member(&app.home, "bob@acme.example", "admin").await;
    assert_eq!(ask("bob@acme.example").await, nobody);
    assert_eq!(nobody["sso"]["startUrl"], on.path("start"));
    assert_eq!(nobody["sso"]["isRequired"], false);
    assert_eq!(ask("bob@elsewhere.example").await["sso"], Value::Null);
    on.change(json!({"isEnabled": false})).await.expect(200);
    assert_eq!(ask("bob@acme.example").await["sso"], Value::Null);
}

async fn owners_are_told_before_a_secret_expires(app: &TestApp) {
    let expires_at = app.ctx.now().plus(Duration::from_hours(31 * 24)).to_string();
    let _on = set_up_with(app, &app.home, json!({"clientSecretExpiresAt": expires_at})).await;
    let mut told = Vec::new();
    for day in 0..33 {
        app.housekeeping().await;
        let mails = app.mail.take();
        if mails.iter().any(|mail| mail.subject.contains("secret") && mail.to_address == app.home.email) {
            told.push(31 - day);
        }
        app.clock.advance(Duration::from_hours(24));
    }
    assert_eq!(told, [30, 7, 1]);
}

async fn a_certified_provider_signs_in(app: &TestApp) {
    let provider = CertifiedProvider::start();
    let owner = app.sign_in(&app.home.email).await;
    verify(app, &app.home.organization, "acme.example").await;
    let call = app.call("POST", "/v1/organization/sso-connections").session(&owner, &app.home.organization);
    let made = call.json(&json!({
        "name": "Certified", "issuer": provider.issuer, "clientId": CLIENT, "clientSecret": SECRET, "isEnabled": true,
        "addsMembers": true, "roleSync": "always", "groupRoles": [{"group": "Compliance", "role": "auditor"}],
        "signsOutAtProvider": true
    }));
    let made = made.send().await.expect(201);
    assert_eq!(made["provider"]["isClientKnown"], true);
    assert_eq!(
        (&made["provider"]["sendsIssuer"], &made["provider"]["hasSignOut"]),
        (&json!(true), &json!(true))
    );
    let path = format!("/v1/auth/sso/{}/start", id(&made));
    // The certified provider reads the real clock.
    app.clock.set(attestry_domain::clock::Clock::now(&attestry_domain::clock::SystemClock));
    let reply = app.call("GET", &path).send().await;
    let browser = cookie(&reply, "attestry_sso").expect("a cookie");
    let back = provider.sign_in(reply.header("location").expect("a location"), "eve").await;
    let at = back.find("/v1/").expect("a path of this server");
    let cookies = format!("attestry_sso={browser}");
    let reply = app.call("GET", &back[at..]).header("cookie", &cookies).send().await;
    assert_eq!(reply.header("location"), Some("/"), "{:?}", app.take_warnings());
    let token = cookie(&reply, "attestry_session").expect("a session");
    let session =
        app.call("GET", "/v1/auth/session").session(&token, &app.home.organization).send().await.expect(200);
    assert_eq!(session["user"]["email"], "eve@acme.example");
    assert_eq!(session["organizations"][0]["role"], "auditor");
    let out =
        app.call("POST", "/v1/auth/logout").session(&token, &app.home.organization).send().await.expect(200);
    assert!(out["logoutUrl"].as_str().expect("an address").starts_with(&provider.issuer));
    app.mails().await;
}
