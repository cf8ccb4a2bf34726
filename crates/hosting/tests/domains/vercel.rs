//! Checks through Vercel.

use std::time::Duration;

use attestry_hosting::testing::{Answers, FakeVercel, PROJECT, Reply, TEAM, TOKEN};
use attestry_hosting::{Challenge, Error, Failure, Hosting, Settings, Status, VercelSettings};
use attestry_net::Secret;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::record;

const DOMAIN: &str = "trust.customer.com";
const CNAME: &str = "0123456789abcdef.vercel-dns-017.com";

async fn meet() -> (FakeVercel, Hosting) {
    meet_with(|_| {}).await
}

async fn meet_with(change: impl FnOnce(&mut VercelSettings)) -> (FakeVercel, Hosting) {
    let fake = FakeVercel::start().await.expect("a free port");
    let mut settings = fake.settings().expect("settings");
    change(&mut settings);
    (fake, Hosting::new(Settings::Vercel(settings)).expect("a hosting provider"))
}

async fn ask(hosting: &Hosting, domain: &str) -> Result<Status, Failure> {
    hosting.status(&Challenge { domain, value: "not asked for" }).await
}

fn well() -> Status {
    Status {
        verified: true,
        verification: Vec::new(),
        cname_target: Some(CNAME.to_owned()),
        misconfigured: false,
    }
}

/// The message of a failure, which never contains the token.
async fn down(hosting: &Hosting) -> String {
    match ask(hosting, DOMAIN).await {
        Err(Failure::Down(message) | Failure::Busy { message, .. }) => {
            assert!(!message.contains(TOKEN), "{message}");
            message
        }
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test]
async fn a_domain_that_vercel_is_content_with_is_well() {
    let (fake, hosting) = meet().await;
    fake.set(DOMAIN, Answers::verified(DOMAIN));
    assert_eq!(ask(&hosting, DOMAIN).await, Ok(well()));
    let mut requests = fake.requests();
    requests.sort_by(|one, other| one.line.cmp(&other.line));
    let lines: Vec<_> = requests.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(
        lines,
        [
            format!("GET /v6/domains/{DOMAIN}/config?teamId={TEAM}"),
            format!("GET /v9/projects/{PROJECT}/domains/{DOMAIN}?teamId={TEAM}"),
        ]
    );
    for request in requests {
        assert_eq!(request.authorization, Some(format!("Bearer {TOKEN}")));
    }
}

#[tokio::test]
async fn a_domain_that_is_not_verified_comes_with_vercels_records() {
    let (fake, hosting) = meet().await;
    let value = "vc-domain-verify=trust.customer.com,98022079fd5a62255618";
    fake.set(DOMAIN, Answers::verified(DOMAIN).unverified(DOMAIN, value));
    let verification = vec![record("TXT", "_vercel.customer.com", value, "pending_domain_verification")];
    assert_eq!(ask(&hosting, DOMAIN).await, Ok(Status { verified: false, verification, ..well() }));
}

#[tokio::test]
async fn a_domain_that_leads_elsewhere_is_misconfigured() {
    let (fake, hosting) = meet().await;
    for (domain, addresses, to_make) in [
        (DOMAIN, &["192.0.2.99"][..], ("CNAME", CNAME, "trust.customer.com has the address 192.0.2.99.")),
        (DOMAIN, &[][..], ("CNAME", CNAME, "trust.customer.com does not lead to the hosting provider.")),
        (
            "customer.com",
            &["192.0.2.98", "192.0.2.99"][..],
            ("A", "216.198.79.1", "customer.com has the addresses 192.0.2.98 and 192.0.2.99."),
        ),
    ] {
        fake.set(domain, Answers::verified(domain).misconfigured(addresses));
        let verification = vec![record(to_make.0, domain, to_make.1, to_make.2)];
        assert_eq!(ask(&hosting, domain).await, Ok(Status { misconfigured: true, verification, ..well() }));
    }
    let mut answers = Answers::verified(DOMAIN).misconfigured(&[]).unverified(DOMAIN, "v");
    if let Reply::Json(_, config) = &mut answers.config {
        config["cnames"] = json!(["old.example.net."]);
    }
    fake.set(DOMAIN, answers);
    let status = ask(&hosting, DOMAIN).await.expect("a status");
    let kinds: Vec<_> = status.verification.iter().map(|record| record.kind.as_str()).collect();
    assert_eq!(kinds, ["TXT", "CNAME"]);
    assert_eq!(status.verification[1].reason, "trust.customer.com is a CNAME of old.example.net.");
}

#[tokio::test]
async fn fields_may_come_and_go() {
    let (fake, hosting) = meet().await;
    let bare = |project: Value, config: Value| Answers {
        project: Reply::Json(200, project),
        config: Reply::Json(200, config),
    };
    for (project, config) in [
        (json!({ "verified": true }), json!({ "misconfigured": false })),
        (
            json!({ "verified": true, "verification": null, "apexName": 7, "new": { "a": [1] } }),
            json!({ "misconfigured": false, "recommendedCNAME": "x", "recommendedIPv4": [{}], "cnames": null }),
        ),
        (
            json!({ "verified": true, "verification": [{ "type": "TXT" }] }),
            json!({ "misconfigured": false, "recommendedCNAME": [{ "rank": 1 }, 7, null] }),
        ),
    ] {
        fake.set(DOMAIN, bare(project, config));
        assert_eq!(ask(&hosting, DOMAIN).await, Ok(Status { cname_target: None, ..well() }));
    }
    fake.set(
        DOMAIN,
        bare(
            json!({ "verified": false, "verification": [7, { "type": "TXT", "value": "v" }] }),
            json!({ "misconfigured": true }),
        ),
    );
    let verification = vec![record("TXT", DOMAIN, "v", "trust.customer.com is not verified.")];
    let status = Status { verified: false, verification, misconfigured: true, cname_target: None };
    assert_eq!(ask(&hosting, DOMAIN).await, Ok(status));
    // Without these fields, the check fails.
    for (project, config) in [
        (json!({}), json!({ "misconfigured": false })),
        (json!({ "verified": true }), json!({ "misconfigured": "no" })),
        (json!([]), json!(null)),
    ] {
        fake.set(DOMAIN, bare(project, config));
        assert!(down(&hosting).await.contains("it lacks what the API documents"));
    }
}

#[tokio::test]
async fn a_domain_that_the_project_does_not_have_is_unknown() {
    let (fake, hosting) = meet().await;
    assert_eq!(ask(&hosting, DOMAIN).await, Err(Failure::Unknown));
    // The other response does not matter, even if there is none.
    let missing = Reply::Json(404, json!({ "error": { "code": "not_found" } }));
    let forbidden = Reply::Json(403, json!({ "error": { "code": "forbidden" } }));
    for config in [forbidden, Reply::Silence, Reply::NoAnswer, missing.clone()] {
        fake.set(DOMAIN, Answers { project: missing.clone(), config });
        assert_eq!(ask(&hosting, DOMAIN).await, Err(Failure::Unknown));
    }
    fake.set(DOMAIN, Answers::verified(DOMAIN));
    assert_eq!(ask(&hosting, DOMAIN).await, Ok(well()));
    fake.remove(DOMAIN);
    assert_eq!(ask(&hosting, DOMAIN).await, Err(Failure::Unknown));
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_told_to_the_operator() {
    let (fake, hosting) = meet().await;
    for status in [401, 403] {
        let body = json!({ "error": { "code": "forbidden", "message": format!("Bad token {TOKEN}") } });
        fake.always(Reply::Json(status, body));
        let Err(Failure::Refused(message)) = ask(&hosting, DOMAIN).await else { unreachable!("not refused") };
        let host = fake.base_url().replace("http://", "");
        assert_eq!(
            message,
            format!(
                "The hosting provider at {host} does not accept the token ({status}). Check the Vercel token, and the project and the team it may be used for."
            )
        );
    }
    let (fake, hosting) = meet_with(|settings| settings.token = Secret::new("wrong-token")).await;
    fake.set(DOMAIN, Answers::verified(DOMAIN));
    assert!(matches!(ask(&hosting, DOMAIN).await, Err(Failure::Refused(_))));
    let (fake, hosting) = meet_with(|settings| settings.team = None).await;
    fake.set(DOMAIN, Answers::verified(DOMAIN));
    assert!(matches!(ask(&hosting, DOMAIN).await, Err(Failure::Refused(_))));
}

#[tokio::test]
async fn whatever_else_goes_wrong_means_that_vercel_is_down() {
    let (fake, hosting) = meet().await;
    let elsewhere = format!("{}/elsewhere", fake.base_url());
    let deep = "[".repeat(100_000);
    for (reply, part) in [
        (Reply::Json(429, json!({})), "takes no more requests for now (429)"),
        (Reply::Json(500, json!({ "error": TOKEN })), "is failing (500)"),
        (Reply::Raw(503, b"<html>".to_vec()), "is failing (503)"),
        (Reply::Json(400, json!({})), "refused the request (400)"),
        (Reply::Raw(204, Vec::new()), "refused the request (204)"),
        (Reply::Redirect(elsewhere), "refused the request (307)"),
        (Reply::Raw(200, b"<html>Welcome</html>".to_vec()), "it is not JSON"),
        (Reply::Raw(200, Vec::new()), "it is not JSON"),
        (Reply::Raw(200, deep.into_bytes()), "it is not JSON"),
        (Reply::Raw(200, vec![b' '; 256 * 1024 + 1]), "it is too long"),
        (Reply::NoAnswer, "cannot be reached"),
    ] {
        fake.always(reply);
        let message = down(&hosting).await;
        assert!(
            message.starts_with("The hosting provider at 127.0.0.1:") && message.contains(part),
            "{message}"
        );
    }
    assert!(
        fake.requests().iter().all(|request| !request.line.contains("elsewhere")),
        "redirects are not followed"
    );
    fake.always(None);
    fake.set(DOMAIN, Answers::verified(DOMAIN));
    assert_eq!(ask(&hosting, DOMAIN).await, Ok(well()), "it is up again");
}

#[tokio::test]
async fn silence_ends_with_the_time() {
    let (fake, hosting) = meet_with(|settings| settings.timeout = Duration::from_millis(200)).await;
    let said = Answers::verified(DOMAIN);
    for answers in [
        Answers { project: Reply::Silence, config: Reply::Silence },
        Answers { config: Reply::Silence, ..said.clone() },
        Answers { project: Reply::Silence, ..said },
    ] {
        fake.set(DOMAIN, answers);
        assert!(down(&hosting).await.contains("did not answer within 0.2 s"));
    }
}

#[tokio::test]
async fn nobody_there_is_down() {
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let (_fake, hosting) =
        meet_with(|settings| settings.base_url = format!("http://{gone}").parse().expect("a URL")).await;
    assert!(down(&hosting).await.contains("cannot be reached: "));
}

#[tokio::test]
async fn odd_names_stay_within_their_part_of_the_path() {
    let (fake, hosting) = meet_with(|settings| settings.team = Some("a&b=c d".to_owned())).await;
    fake.always(Reply::Json(404, json!({})));
    assert_eq!(ask(&hosting, "a/../b?c#d%2f é").await, Err(Failure::Unknown));
    let lines: Vec<_> = fake.requests().into_iter().map(|request| request.line).collect();
    assert!(
        lines.contains(&format!(
            "GET /v9/projects/{PROJECT}/domains/a%2F..%2Fb%3Fc%23d%252f%20%C3%A9?teamId=a%26b%3Dc+d"
        )),
        "{lines:?}"
    );
    let before = fake.requests().len();
    for domain in ["", ".", ".."] {
        assert_eq!(ask(&hosting, domain).await, Err(Failure::Unknown));
    }
    assert_eq!(fake.requests().len(), before, "nothing is asked about what cannot be a domain");
    let (fake, hosting) = meet_with(|settings| {
        settings.base_url = settings.base_url.join("proxy/vercel/").expect("a URL");
        settings.team = None;
    })
    .await;
    fake.always(Reply::Json(404, json!({})));
    assert_eq!(ask(&hosting, DOMAIN).await, Err(Failure::Unknown));
    assert!(fake.requests().iter().all(|request| request.line.starts_with("GET /proxy/vercel/v")));
}

#[tokio::test]
async fn the_token_is_printed_by_nothing() {
    let (fake, hosting) = meet().await;
    let settings = Settings::Vercel(fake.settings().expect("settings"));
    assert!(!format!("{hosting:?} {settings:?}").contains(TOKEN));
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused() {
    let fake = FakeVercel::start().await.expect("a free port");
    let settings = || fake.settings().expect("settings");
    let with_url = |url: &str| VercelSettings { base_url: url.parse().expect("a URL"), ..settings() };
    for (settings, error) in [
        (with_url("ftp://vercel.example.com"), Error::BaseUrl),
        (with_url("mailto:someone@example.com"), Error::BaseUrl),
        (with_url("https://vercel.example.com/?x=y"), Error::BaseUrl),
        (with_url("https://me@vercel.example.com"), Error::Credentials),
        (VercelSettings { project: " ".to_owned(), ..settings() }, Error::Project),
        (VercelSettings { project: "..".to_owned(), ..settings() }, Error::Project),
        (VercelSettings { token: Secret::new("two words"), ..settings() }, Error::Token),
    ] {
        assert_eq!(Hosting::new(Settings::Vercel(settings)).expect_err("an error"), error);
    }
}
