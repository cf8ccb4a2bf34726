//! `/v1/people`.

use attestry_tests::{PASSWORD, TestApp, both, id, token_in};
use serde_json::{Value, json};

both! {
    a_user_is_added_with_the_fields_of_the_interface,
    an_account_of_another_organization_is_invited_and_not_shown,
    an_account_with_a_password_is_joined_by_its_user_alone,
    a_link_that_was_shown_does_not_verify_an_address,
    an_account_with_an_unverified_address_gets_another_password,
    defaults_hold_when_fields_are_left_out,
    an_unknown_user_is_404_and_a_member_409,
    a_deactivated_member_is_brought_back_as_the_same_member,
    all_wrong_fields_are_named_at_once,
    nothing_is_coerced,
    patch_has_three_states,
    a_member_can_become_another_user,
    deactivation_is_one_act,
    sessions_elsewhere_survive_a_deactivation,
    delete_answers_who_was_deactivated,
    the_last_owner_stays,
    bulk_takes_the_good_and_names_the_bad,
    an_invitation_leads_to_an_active_member,
    an_invitation_expires_and_a_new_one_voids_the_old,
    a_withdrawn_invitation_admits_nobody,
    an_invitation_does_not_admit_another_user,
    an_invitation_shows_nothing_of_an_account,
    whoever_is_only_invited_cannot_be_made_active,
    many_organizations_invite_the_same_address_at_once,
    an_invitation_says_what_it_is_to,
    names_are_single_lines,
    the_list_is_filtered_sorted_and_paged_without_gaps,
    bad_list_parameters_are_named,
    an_odd_id_names_nothing,
    versions_guard_against_lost_updates,
    concurrent_patches_lose_nothing,
    the_same_user_added_twice_at_once_is_one_member,
}

fn names(list: &Value) -> Vec<String> {
    let data = list["data"].as_array().expect("data");
    data.iter().map(|person| person["user"]["name"].as_str().expect("a name").to_owned()).collect()
}

async fn a_user_is_added_with_the_fields_of_the_interface(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let joined = app.join(&app.home, &other, "auditor").await;
    app.delete(&format!("/v1/people/{}", id(&joined))).send().await.expect(200);
    let body = json!({"userId": other.user, "role": "employee", "department": "hr", "isActive": true, "deviceLabelId": 7});
    let made = app.post("/v1/people", &body).send().await.expect(201);
    assert_eq!(made["organizationId"], app.home.organization.as_str());
    assert_eq!(made["userId"], other.user.as_str());
    assert_eq!(
        (&made["role"], &made["department"], &made["isActive"]),
        (&json!("employee"), &json!("hr"), &json!(true))
    );
    assert_eq!(made["deviceLabelId"], 7);
    assert_eq!(made["createdAt"], "2026-11-15T09:30:00.000Z");
    assert_eq!(made["user"]["email"], "bob@example.com");
    assert_eq!((&made["user"]["image"], &made["user"]["lastLogin"]), (&Value::Null, &Value::Null));
    let path = format!("/v1/people/{}", made["id"].as_str().expect("an id"));
    assert_eq!(app.get(&path).send().await.expect(200), made);
}

async fn defaults_hold_when_fields_are_left_out(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let made = app.join(&app.home, &other, "wizard").await;
    assert_eq!(
        (&made["department"], &made["isActive"], &made["deviceLabelId"]),
        (&json!("none"), &json!(true), &Value::Null)
    );
}

async fn an_unknown_user_is_404_and_a_member_409(app: &TestApp) {
    let unknown = json!({"userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "employee"});
    app.post("/v1/people", &unknown).send().await.problem(404, "not_found");
    let own = json!({"userId": app.home.user, "role": "employee"});
    app.post("/v1/people", &own).send().await.problem(409, "already_member");
}

async fn a_deactivated_member_is_brought_back_as_the_same_member(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let made = app.join(&app.home, &other, "employee").await;
    let path = format!("/v1/people/{}", made["id"].as_str().expect("an id"));
    app.delete(&path).send().await.expect(200);
    let body = json!({"userId": other.user, "role": "auditor"});
    let back = app.post("/v1/people", &body).send().await.expect(201);
    assert_eq!(
        (&back["id"], &back["role"], &back["isActive"]),
        (&made["id"], &json!("auditor"), &json!(true))
    );
}

async fn all_wrong_fields_are_named_at_once(app: &TestApp) {
    let body = json!({"userId": "mem_x", "role": 5, "department": "cellar", "isActive": "false", "deviceLabelId": -1, "extra": null});
    let reply = app.post("/v1/people", &body).send().await;
    assert_eq!(reply.wrong_fields(), ["department", "deviceLabelId", "extra", "isActive", "role", "userId"]);
    assert_eq!(app.post("/v1/people", &json!({})).send().await.wrong_fields(), ["role", "userId"]);
}

async fn nothing_is_coerced(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    for (body, field) in [
        (json!({"isActive": "false"}), "isActive"),
        (json!({"isActive": 0}), "isActive"),
        (json!({"isActive": null}), "isActive"),
        (json!({"deviceLabelId": "5"}), "deviceLabelId"),
        (json!({"deviceLabelId": 1.5}), "deviceLabelId"),
        (json!({"deviceLabelId": 9_007_199_254_740_992_i64}), "deviceLabelId"),
        (json!({"department": null}), "department"),
        (json!({"department": "HR"}), "department"),
        (json!({"role": null}), "role"),
        (json!({"role": ""}), "role"),
        (json!({"role": " , "}), "role"),
        (json!({"role": ["owner"]}), "role"),
        (json!({"role": "a\u{0}b"}), "role"),
        (json!({"role": "x".repeat(256)}), "role"),
        (json!({"userId": null}), "userId"),
        (json!({"userId": "usr_short"}), "userId"),
        (json!({"userId": app.home.member}), "userId"),
        (json!({"organizationId": app.home.organization}), "organizationId"),
    ] {
        assert_eq!(app.patch(&path, &body).send().await.wrong_fields(), [field], "{body}");
    }
    let after = app.get(&path).send().await.expect(200);
    assert_eq!((&after["role"], &after["isActive"]), (&json!("owner"), &json!(true)));
}

async fn patch_has_three_states(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    let set = app.patch(&path, &json!({"deviceLabelId": 3, "department": "gov"})).send().await.expect(200);
    assert_eq!((&set["deviceLabelId"], &set["department"]), (&json!(3), &json!("gov")));
    app.clock.advance(std::time::Duration::from_secs(5));
    let entries = app.entries(&app.home).await;
    let same = app.patch(&path, &json!({})).send().await.expect(200);
    assert_eq!(same, set, "an empty patch changes nothing, updatedAt included");
    let same = app.patch(&path, &json!({"department": "gov"})).send().await.expect(200);
    assert_eq!(same, set, "a patch to what is there changes nothing");
    assert_eq!(app.entries(&app.home).await, entries, "nothing changed, nothing recorded");
    let cleared = app.patch(&path, &json!({"deviceLabelId": null})).send().await.expect(200);
    assert_eq!((&cleared["deviceLabelId"], &cleared["department"]), (&Value::Null, &json!("gov")));
    assert_eq!(cleared["updatedAt"], "2026-11-15T09:30:05.000Z");
}

async fn a_member_can_become_another_user(app: &TestApp) {
    let bob = app.tenant("Other", "bob@example.com").await;
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let path = format!("/v1/people/{}", eve["id"].as_str().expect("an id"));
    let moved = app.patch(&path, &json!({"userId": bob.user})).send().await.expect(200);
    assert_eq!((&moved["id"], &moved["userId"]), (&eve["id"], &json!(bob.user)));
    assert_eq!(moved["isActive"], false, "until they accept");
    assert!(!moved.to_string().contains("bob@"), "{moved}");
    let body = json!({"email": "eve@example.com", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&body).send().await.problem(403, "no_active_membership");
    app.accept(&token_in(&app.mails().await)).await.expect(200);
    let moved = app.get(&path).send().await.expect(200);
    assert_eq!((&moved["id"], &moved["user"]["email"]), (&eve["id"], &json!("bob@example.com")));
    assert_eq!(moved["isActive"], true);
    app.patch(&path, &json!({"userId": app.home.user})).send().await.problem(409, "already_member");
    app.patch(&path, &json!({"userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b"}))
        .send()
        .await
        .problem(404, "not_found");
}

async fn deactivation_is_one_act(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "admin").await;
    let token = app.sign_in("eve@example.com").await;
    let made = app
        .call("POST", "/v1/organization/api-keys")
        .session(&token, &app.home.organization)
        .json(&json!({"name": "hers"}))
        .send()
        .await
        .expect(201);
    let key = made["key"].as_str().expect("a key").to_owned();
    app.call("GET", "/v1/people").key(&key).send().await.expect(200);
    let path = format!("/v1/people/{}", eve["id"].as_str().expect("an id"));
    let gone = app.patch(&path, &json!({"isActive": false})).send().await.expect(200);
    assert_eq!(gone["isActive"], false);
    app.call("GET", "/v1/people").key(&key).send().await.problem(401, "invalid_api_key");
    app.call("GET", "/v1/people")
        .session(&token, &app.home.organization)
        .send()
        .await
        .problem(401, "invalid_session");
    let body = json!({"email": "eve@example.com", "password": PASSWORD});
    app.call("POST", "/v1/auth/login").json(&body).send().await.problem(403, "no_active_membership");
    assert_eq!(names(&app.get("/v1/people").send().await.expect(200)), ["Ada Byron"]);
    assert_eq!(names(&app.get("/v1/people?isActive=false").send().await.expect(200)), ["eve"]);
    assert_eq!(app.get(&path).send().await.expect(200)["isActive"], false);
    let back = app.patch(&path, &json!({"isActive": true})).send().await.expect(200);
    assert_eq!(back["isActive"], true);
    app.sign_in("eve@example.com").await;
}

async fn sessions_elsewhere_survive_a_deactivation(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let bob = app.join(&app.home, &other, "admin").await;
    let token = app.sign_in("bob@example.com").await;
    app.call("GET", "/v1/people").session(&token, &app.home.organization).send().await.expect(200);
    app.delete(&format!("/v1/people/{}", bob["id"].as_str().expect("an id"))).send().await.expect(200);
    app.call("GET", "/v1/people")
        .session(&token, &app.home.organization)
        .send()
        .await
        .problem(403, "not_a_member");
    app.call("GET", "/v1/people").session(&token, &other.organization).send().await.expect(200);
}

async fn delete_answers_who_was_deactivated(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let path = format!("/v1/people/{}", eve["id"].as_str().expect("an id"));
    let gone = app.delete(&path).send().await.expect(200);
    assert_eq!(
        gone,
        json!({"success": true, "deletedMember": {"id": eve["id"], "name": "eve", "email": "eve@example.com"}})
    );
    app.delete(&path).send().await.expect(200);
}

async fn the_last_owner_stays(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    for body in [json!({"isActive": false}), json!({"role": "admin"})] {
        app.patch(&path, &body).send().await.problem(409, "last_owner");
    }
    app.delete(&path).send().await.problem(409, "last_owner");
    // A role that only resembles the owner's does not count.
    app.member(&app.home, "eve@example.com", "co-owner").await;
    app.patch(&path, &json!({"role": "admin"})).send().await.problem(409, "last_owner");
    app.member(&app.home, "bob@example.com", "owner,admin").await;
    app.patch(&path, &json!({"role": "admin"})).send().await.expect(200);
}

async fn bulk_takes_the_good_and_names_the_bad(app: &TestApp) {
    let bob = app.tenant("Other", "bob@example.com").await;
    let body = json!({"members": [
        {"userId": bob.user, "role": "employee"},
        {"userId": bob.user, "role": "employee"},
        {"userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "employee"},
        {"userId": app.home.user, "role": 5, "what": 1},
        7,
    ]});
    let entries = app.entries(&app.home).await;
    let result = app.post("/v1/people/bulk", &body).send().await.expect(201);
    assert_eq!(result["summary"], json!({"total": 5, "successful": 1, "failed": 4}));
    assert_eq!(result["created"][0]["userId"], bob.user.as_str());
    let errors: Vec<u64> = result["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|e| e["index"].as_u64().expect("an index"))
        .collect();
    assert_eq!(errors, [1, 2, 3, 4]);
    assert_eq!(app.entries(&app.home).await, entries + 1);
    assert_eq!(app.mails().await.len(), 1, "one was invited");
    for body in
        [json!({}), json!({"members": []}), json!({"members": {}}), json!({"members": vec![json!({}); 1001]})]
    {
        assert_eq!(app.post("/v1/people/bulk", &body).send().await.wrong_fields(), ["members"]);
    }
}

async fn an_invitation_leads_to_an_active_member(app: &TestApp) {
    let body = json!({"email": "Grace@Example.com", "name": "Grace", "role": "auditor", "department": "it"});
    let invited = app.post("/v1/people/invite", &body).send().await.expect(201);
    assert_eq!(invited["isActive"], false);
    assert_eq!(invited["invitationExpiresAt"], "2026-11-22T09:30:00.000Z");
    let mails = app.mails().await;
    assert_eq!(mails[0].to_address, "Grace@Example.com");
    assert!(
        mails[0].text.contains("https://compliance.example.com/accept-invitation?token="),
        "{}",
        mails[0].text
    );
    assert!(mails[0].html.contains("Accept the invitation"));
    let token = token_in(&mails);
    let without = app.call("POST", "/v1/auth/accept-invitation").json(&json!({"token": token})).send().await;
    assert_eq!(without.wrong_fields(), ["password"]);
    let accept = json!({"token": token, "name": "Grace Hopper", "password": PASSWORD});
    app.call("POST", "/v1/auth/accept-invitation").json(&accept).send().await.expect(200);
    app.call("POST", "/v1/auth/accept-invitation")
        .json(&accept)
        .send()
        .await
        .problem(410, "invitation_expired");
    let session = app.sign_in("grace@example.com").await;
    let people = app
        .call("GET", "/v1/people?q=hopper")
        .session(&session, &app.home.organization)
        .send()
        .await
        .expect(200);
    assert_eq!(people["data"][0]["user"]["emailVerified"], true);
    app.post("/v1/people/invite", &body).send().await.problem(409, "already_member");
}

async fn an_invitation_expires_and_a_new_one_voids_the_old(app: &TestApp) {
    let body = json!({"email": "grace@example.com", "role": "employee"});
    app.post("/v1/people/invite", &body).send().await.expect(201);
    let first = token_in(&app.mails().await);
    app.post("/v1/people/invite", &body).send().await.expect(201);
    let second = token_in(&app.mails().await);
    let accept = |token: &str| json!({"token": token, "password": PASSWORD});
    app.call("POST", "/v1/auth/accept-invitation")
        .json(&accept(&first))
        .send()
        .await
        .problem(410, "invitation_expired");
    app.clock.advance(std::time::Duration::from_hours(24 * 8));
    app.call("POST", "/v1/auth/accept-invitation")
        .json(&accept(&second))
        .send()
        .await
        .problem(410, "invitation_expired");
}

async fn the_list_is_filtered_sorted_and_paged_without_gaps(app: &TestApp) {
    for name in ["zoe", "Yan", "xu", "walt", "v_1"] {
        app.clock.advance(std::time::Duration::from_millis(1));
        app.member(
            &app.home,
            &format!("{name}@example.com"),
            if name == "xu" { "auditor,employee" } else { "employee" },
        )
        .await;
    }
    assert_eq!(
        names(&app.get("/v1/people").send().await.expect(200)),
        ["v_1", "walt", "xu", "Yan", "zoe", "Ada Byron"]
    );
    for (query, all) in [
        ("", vec!["v_1", "walt", "xu", "Yan", "zoe", "Ada Byron"]),
        ("&order=asc", vec!["Ada Byron", "zoe", "Yan", "xu", "walt", "v_1"]),
        ("&sort=name&order=asc", vec!["Ada Byron", "v_1", "walt", "xu", "Yan", "zoe"]),
        ("&sort=email&order=desc", vec!["zoe", "Yan", "xu", "walt", "v_1", "Ada Byron"]),
        ("&sort=role&order=asc", vec!["xu", "zoe", "Yan", "walt", "v_1", "Ada Byron"]),
        ("&sort=department&order=desc", vec!["v_1", "walt", "xu", "Yan", "zoe", "Ada Byron"]),
        ("&sort=status&order=asc", vec!["Ada Byron", "zoe", "Yan", "xu", "walt", "v_1"]),
        ("&sort=lastLogin&order=asc", vec!["Ada Byron", "zoe", "Yan", "xu", "walt", "v_1"]),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = app.get(&format!("/v1/people?limit=2{query}{cursor}")).send().await.expect(200);
            assert_eq!(page["count"], page["data"].as_array().expect("data").len());
            seen.extend(names(&page));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, all, "{query}");
    }
    let found = async |query: &str| names(&app.get(&format!("/v1/people?{query}")).send().await.expect(200));
    assert_eq!(found("q=YAN").await, ["Yan"]);
    assert_eq!(found("q=v_1").await, ["v_1"], "the pattern's own characters are taken literally");
    assert_eq!(found("q=%25").await, Vec::<String>::new());
    assert_eq!(found("role=auditor").await, ["xu"]);
    assert_eq!(found("role=audit").await, Vec::<String>::new());
    assert_eq!(
        found("role=Auditor").await,
        Vec::<String>::new(),
        "roles are told apart by case on both databases"
    );
    assert_eq!(found("department=hr").await, Vec::<String>::new());
    assert_eq!(
        found("role=auditor,nobody").await,
        ["xu"],
        "any of several roles, one of which no member has"
    );
    let both = found("sort=name&order=asc&role=auditor,owner").await;
    assert_eq!(both, ["Ada Byron", "xu"]);
    assert_eq!(both, found("sort=name&order=asc&role=auditor&role=owner").await);
    let counted = app.get("/v1/people?role=auditor,owner&total=true").send().await.expect(200);
    assert_eq!(counted["total"], 2);
    assert_eq!(found("role=x%25,_").await, Vec::<String>::new());
    let all = app.get("/v1/people").send().await.expect(200);
    assert_eq!(names(&all), found("department=none,it,gov,admin,itsm,qms").await);
}

async fn bad_list_parameters_are_named(app: &TestApp) {
    for (query, field) in [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
        ("cursor=xx", "cursor"),
        ("sort=age", "sort"),
        ("order=up", "order"),
        ("isActive=yes", "isActive"),
        ("department=x", "department"),
        ("department=hr,x", "department"),
        ("role=auditor,", "role"),
        ("offset=3", "offset"),
        ("q=a&q=b", "q"),
    ] {
        assert_eq!(app.get(&format!("/v1/people?{query}")).send().await.wrong_fields(), [field], "{query}");
    }
    for odd in [
        json!(["name desc", null, "x"]),
        json!(["createdAt desc", "a", "x"]),
        json!(["name desc", 5, "x"]),
        json!(["name desc", "a\u{0}b", "x"]),
        json!(["createdAt desc", null, "\u{0}"]),
    ] {
        let cursor =
            base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, odd.to_string());
        let sort = odd[0].as_str().expect("a sort").split(' ').next().expect("a word");
        assert_eq!(
            app.get(&format!("/v1/people?sort={sort}&cursor={cursor}")).send().await.wrong_fields(),
            ["cursor"],
            "{odd}"
        );
    }
    app.member(&app.home, "bob@example.com", "employee").await;
    let page = app.get("/v1/people?limit=1").send().await.expect(200);
    let cursor = page["nextCursor"].as_str().expect("a cursor");
    assert_eq!(
        app.get(&format!("/v1/people?sort=name&cursor={cursor}")).send().await.wrong_fields(),
        ["cursor"]
    );
}

async fn an_odd_id_names_nothing(app: &TestApp) {
    for id in
        ["x", "mem_x", "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "%00", "..%2f"]
    {
        let path = format!("/v1/people/{id}");
        app.get(&path).send().await.problem(404, "not_found");
        app.patch(&path, &json!({})).send().await.problem(404, "not_found");
        app.delete(&path).send().await.problem(404, "not_found");
    }
}

async fn versions_guard_against_lost_updates(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    let reply = app.get(&path).send().await;
    let tag = reply.header("etag").expect("a tag").to_owned();
    let unchanged = app.get(&path).header("if-none-match", &tag).send().await;
    assert_eq!((unchanged.status.as_u16(), unchanged.body.len()), (304, 0));
    assert_eq!(unchanged.header("etag"), Some(tag.as_str()));
    let changed = app.patch(&path, &json!({"department": "it"})).header("if-match", &tag).send().await;
    changed.expect(200);
    let newer = changed.header("etag").expect("a tag").to_owned();
    assert_ne!(newer, tag);
    app.patch(&path, &json!({"department": "hr"}))
        .header("if-match", &tag)
        .send()
        .await
        .problem(412, "precondition_failed");
    app.delete(&path).header("if-match", "\"other\"").send().await.problem(412, "precondition_failed");
    app.get(&path).header("if-none-match", &tag).send().await.expect(200);
    app.patch(&path, &json!({"department": "hr"}))
        .header("if-match", &format!("\"0.0\", {newer}"))
        .send()
        .await
        .expect(200);
    app.patch(&path, &json!({"department": "gov"})).header("if-match", "*").send().await.expect(200);
}

async fn concurrent_patches_lose_nothing(app: &TestApp) {
    let path = format!("/v1/people/{}", app.home.member);
    let bodies = [json!({"department": "it"}), json!({"deviceLabelId": 5}), json!({"role": "owner,admin"})];
    let calls = bodies.iter().map(|body| app.patch(&path, body).send());
    for reply in futures_util::future::join_all(calls).await {
        reply.expect(200);
    }
    let after = app.get(&path).send().await.expect(200);
    assert_eq!(
        (&after["department"], &after["deviceLabelId"], &after["role"]),
        (&json!("it"), &json!(5), &json!("owner,admin"))
    );
}

async fn the_same_user_added_twice_at_once_is_one_member(app: &TestApp) {
    let bob = app.tenant("Other", "bob@example.com").await;
    let body = json!({"userId": bob.user, "role": "employee"});
    let calls = (0..4).map(|_| app.post("/v1/people", &body).send());
    let replies = futures_util::future::join_all(calls).await;
    let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409]);
    assert_eq!(app.mails().await.len(), 1);
}

async fn an_account_of_another_organization_is_invited_and_not_shown(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let body = json!({"userId": other.user, "role": "employee", "deviceLabelId": 7});
    let reply = app.post("/v1/people", &body).header("idempotency-key", "one").send().await;
    let made = reply.expect(201);
    assert_eq!((&made["userId"], &made["isActive"]), (&json!(other.user), &json!(false)));
    assert_eq!((&made["user"]["id"], &made["deviceLabelId"]), (&json!(other.user), &json!(7)));
    assert_eq!(made["invitationExpiresAt"], "2026-11-22T09:30:00.000Z");
    let mails = app.mails().await;
    assert_eq!(mails[0].to_address, "bob@example.com");
    // They have no access yet, and nothing reveals their identity: not the member, a search, the audit log, or the
    // link.
    let session = app.sign_in("bob@example.com").await;
    let call = || app.call("GET", "/v1/people").session(&session, &app.home.organization);
    call().send().await.problem(403, "not_a_member");
    let path = format!("/v1/people/{}", id(&made));
    let token = token_in(&mails);
    let texts = [
        made.to_string(),
        app.get(&path).send().await.text(),
        app.get("/v1/people?isActive=false").send().await.text(),
        app.get("/v1/audit-logs").send().await.text(),
        app.call("GET", &format!("/v1/auth/invitation?token={token}")).send().await.text(),
    ];
    for text in texts {
        assert!(!text.contains("bob@example.com"), "{text}");
    }
    let found = app.get("/v1/people?isActive=false&q=bob").send().await.expect(200);
    assert_eq!(found["count"], 0);
    app.post("/v1/people", &body).send().await.problem(409, "invitation_pending");
    app.patch(&path, &json!({"isActive": true})).send().await.problem(409, "invitation_pending");
    // Inviting the address invites the same member again.
    let invite = json!({"email": "bob@example.com", "role": "auditor"});
    let again = app.post("/v1/people/invite", &invite).send().await.expect(201);
    assert_eq!((&again["id"], &again["role"]), (&made["id"], &json!("auditor")));
    assert!(!again["user"].to_string().contains("bob@"), "{again}");
    app.accept(&token).await.problem(410, "invitation_expired");
    app.accept(&token_in(&app.mails().await)).await.expect(200);
    let joined = app.get(&path).send().await.expect(200);
    assert_eq!(
        (&joined["userId"], &joined["user"]["email"]),
        (&json!(other.user), &json!("bob@example.com"))
    );
    call().send().await.expect(200);
}

/// Accepts an invitation with this body.
async fn accept_with(app: &TestApp, body: Value) -> attestry_tests::Reply {
    app.call("POST", "/v1/auth/accept-invitation").json(&body).send().await
}

async fn an_account_with_a_password_is_joined_by_its_user_alone(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let stranger = app.tenant("Third", "eve@example.com").await;
    let (invited, token) = invite(app, "bob@example.com").await;
    for body in [json!({"token": token}), json!({"token": token, "name": "Mallory"})] {
        assert_eq!(accept_with(app, body).await.wrong_fields(), ["password"]);
    }
    let wrong = json!({"token": token, "password": "not the password of bob"});
    for _ in 0..5 {
        assert_eq!(accept_with(app, wrong.clone()).await.wrong_fields(), ["password"]);
    }
    accept_with(app, wrong).await.problem(429, "rate_limited");
    // Another user's session is no proof, and neither is a cookie sent by another site.
    let accept = json!({"token": token, "name": "Mallory"});
    let theirs = app.sign_in(&stranger.email).await;
    let call = || app.call("POST", "/v1/auth/accept-invitation").json(&accept);
    let reply = call().session(&theirs, &stranger.organization).send().await;
    assert_eq!(reply.wrong_fields(), ["password"]);
    app.clock.advance(std::time::Duration::from_mins(16));
    let own = app.sign_in("bob@example.com").await;
    let reply = call().header("cookie", &format!("attestry_session={own}")).send().await;
    assert_eq!(reply.wrong_fields(), ["password"]);
    call().session(&own, &other.organization).send().await.expect(200);
    let joined = app.get(&format!("/v1/people/{}", id(&invited))).send().await.expect(200);
    assert_eq!((&joined["userId"], &joined["isActive"]), (&json!(other.user), &json!(true)));
    assert_eq!(joined["user"]["name"], "Ada Byron", "an invitation renames nobody");
}

async fn invite(app: &TestApp, email: &str) -> (Value, String) {
    let body = json!({"email": email, "role": "admin"});
    let invited = app.post("/v1/people/invite", &body).send().await.expect(201);
    (invited, token_in(&app.mails().await))
}

async fn a_withdrawn_invitation_admits_nobody(app: &TestApp) {
    for (email, withdraw) in [("grace@example.com", true), ("hedy@example.com", false)] {
        let (invited, token) = invite(app, email).await;
        let path = format!("/v1/people/{}", id(&invited));
        let entries = app.entries(&app.home).await;
        let reply = match withdraw {
            true => app.delete(&path).send().await,
            false => app.patch(&path, &json!({"isActive": false})).send().await,
        };
        reply.expect(200);
        assert_eq!(app.entries(&app.home).await, entries + 1);
        let log = app.get("/v1/audit-logs?limit=1").send().await.expect(200);
        assert_eq!(log["data"][0]["action"], "member.invitation_withdrawn");
        app.accept(&token).await.problem(410, "invitation_expired");
        let login = json!({"email": email, "password": PASSWORD});
        app.call("POST", "/v1/auth/login").json(&login).send().await.problem(401, "invalid_credentials");
        assert_eq!(app.get(&path).send().await.expect(200)["isActive"], false);
        // Nothing is left to withdraw, and a new invitation works.
        app.delete(&path).send().await.expect(200);
        assert_eq!(app.entries(&app.home).await, entries + 1);
        let (again, token) = invite(app, email).await;
        assert_eq!(again["id"], invited["id"]);
        app.accept(&token).await.expect(200);
        app.work().await;
    }
    // Other changes do not withdraw the invitation.
    let (invited, token) = invite(app, "joan@example.com").await;
    app.patch(&format!("/v1/people/{}", id(&invited)), &json!({"department": "it"})).send().await.expect(200);
    app.accept(&token).await.expect(200);
}

async fn an_invitation_does_not_admit_another_user(app: &TestApp) {
    let bob = app.tenant("Other", "bob@example.com").await;
    let (invited, token) = invite(app, "grace@example.com").await;
    let path = format!("/v1/people/{}", id(&invited));
    app.patch(&path, &json!({"userId": bob.user})).send().await.expect(200);
    app.accept(&token).await.problem(410, "invitation_expired");
    assert_eq!(app.get(&path).send().await.expect(200)["isActive"], false);
    assert_eq!(app.mails().await.len(), 1, "the other user is invited");
}

async fn an_invitation_shows_nothing_of_an_account(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    app.sign_in("bob@example.com").await;
    let (known, token) = invite(app, "bob@example.com").await;
    let (unknown, _) = invite(app, "bot@example.com").await;
    let plain = |value: &Value| {
        let mut text = value.to_string();
        for id in [&value["id"], &value["userId"]] {
            text = text.replace(id.as_str().expect("an id"), "…");
        }
        text.replace("bot", "bob")
    };
    assert_eq!(plain(&known), plain(&unknown), "the answer does not tell");
    assert_ne!(known["userId"], other.user.as_str());
    assert_eq!((&known["user"]["name"], &known["user"]["lastLogin"]), (&json!("bob"), &Value::Null));
    let path = format!("/v1/people/{}", id(&known));
    let mut shown = app.get(&path).send().await.expect(200);
    for field in ["invitationExpiresAt", "invitationLink"] {
        shown[field] = known[field].clone();
    }
    assert_eq!(shown, known);
    let entries = app.entries(&app.home).await;
    app.sign_in("bob@example.com").await;
    assert_eq!(app.entries(&app.home).await, entries, "what they do elsewhere is not ours to know");
    // The invited user proves their identity and retains their password.
    let accept = json!({"token": token, "name": "Bobby", "password": PASSWORD});
    app.call("POST", "/v1/auth/accept-invitation").json(&accept).send().await.expect(200);
    let joined = app.get(&path).send().await.expect(200);
    assert_eq!((&joined["id"], &joined["userId"]), (&known["id"], &json!(other.user)));
    assert_eq!((&joined["user"]["name"], &joined["isActive"]), (&json!("Ada Byron"), &json!(true)));
    let session = app.sign_in("bob@example.com").await;
    app.call("GET", "/v1/people").session(&session, &app.home.organization).send().await.expect(200);
    let log = app.get("/v1/audit-logs?action=member.invited").send().await.expect(200);
    assert_eq!(log["data"][1]["state"]["email"], "bob@example.com");
}

async fn whoever_is_only_invited_cannot_be_made_active(app: &TestApp) {
    let other = app.tenant("Other", "bob@example.com").await;
    let (invited, _) = invite(app, "grace@example.com").await;
    let path = format!("/v1/people/{}", id(&invited));
    app.patch(&path, &json!({"isActive": true})).send().await.problem(409, "invitation_pending");
    let add = json!({"userId": invited["userId"], "role": "employee"});
    app.post("/v1/people", &add).send().await.problem(409, "invitation_pending");
    app.call("POST", "/v1/people").key(&other.key).json(&add).send().await.problem(404, "not_found");
    let exchange = json!({"userId": invited["userId"]});
    let theirs = format!("/v1/people/{}", other.member);
    app.call("PATCH", &theirs).key(&other.key).json(&exchange).send().await.problem(404, "not_found");
    assert_eq!(names(&app.get("/v1/people?isActive=false&q=GRACE@").send().await.expect(200)), ["grace"]);
}

async fn many_organizations_invite_the_same_address_at_once(app: &TestApp) {
    let mut tenants = Vec::new();
    for number in 0..8 {
        tenants.push(app.tenant(&format!("T{number}"), &format!("owner{number}@example.com")).await);
    }
    let body = json!({"email": "grace@example.com", "role": "employee"});
    let calls = tenants
        .iter()
        .map(|tenant| app.call("POST", "/v1/people/invite").key(&tenant.key).json(&body).send());
    for reply in futures_util::future::join_all(calls).await {
        reply.expect(201);
    }
    let mails = app.mails().await;
    let tokens: Vec<String> = mails.iter().map(|mail| token_in(std::slice::from_ref(mail))).collect();
    assert_eq!(tokens.len(), 8);
    for reply in futures_util::future::join_all(tokens.iter().map(|token| app.accept(token))).await {
        reply.expect(200);
    }
    let token = app.sign_in("grace@example.com").await;
    let session =
        app.call("GET", "/v1/auth/session").header("authorization", &format!("Bearer {token}")).send().await;
    assert_eq!(
        session.expect(200)["organizations"].as_array().expect("organizations").len(),
        8,
        "one account"
    );
}

async fn an_invitation_says_what_it_is_to(app: &TestApp) {
    app.tenant("Other", "bob@example.com").await;
    for (email, needs_password) in [("grace@example.com", true), ("bob@example.com", false)] {
        let (_, token) = invite(app, email).await;
        let look = || app.call("GET", &format!("/v1/auth/invitation?token={token}"));
        let offer = look().send().await.expect(200);
        assert_eq!(
            offer,
            json!({
                "organization": "Home", "email": email, "needsPassword": needs_password,
                "needsCurrentPassword": !needs_password, "needsNewPassword": false,
                "expiresAt": "2026-11-22T09:30:00.000Z"
            })
        );
        app.accept(&token).await.expect(200);
        look().send().await.problem(410, "invitation_expired");
    }
    app.call("GET", "/v1/auth/invitation?token=x").send().await.problem(410, "invitation_expired");
    assert_eq!(app.call("GET", "/v1/auth/invitation").send().await.wrong_fields(), ["token"]);
}

async fn names_are_single_lines(app: &TestApp) {
    for odd in ["a\nb", "a\r\nBcc: x@example.com", "a\u{7}b", "a\tb"] {
        let invite = json!({"email": "grace@example.com", "name": odd, "role": odd});
        assert_eq!(
            app.post("/v1/people/invite", &invite).send().await.wrong_fields(),
            ["name", "role"],
            "{odd:?}"
        );
        assert_eq!(
            app.patch("/v1/organization", &json!({"name": odd})).send().await.wrong_fields(),
            ["name"]
        );
        let risk = json!({"title": odd, "description": "a\nb", "category": "other"});
        assert_eq!(app.post("/v1/risks", &risk).send().await.wrong_fields(), ["title"]);
    }
    // A name that predates the rule does not prevent the mail.
    app.ctx
        .db
        .write(async |t| {
            t.execute(
                "UPDATE organizations SET name = 'a' || CAST($1 AS TEXT) || 'b'",
                &[attestry_db::Value::from("\r\n")],
            )
            .await
        })
        .await
        .expect("a statement");
    invite(app, "grace@example.com").await;
}

/// Marks all open links as shown to the inviting member, as when mail is written to files.
async fn show_links(app: &TestApp) {
    for sql in ["UPDATE invitations SET by_mail = FALSE", "UPDATE password_resets SET by_mail = FALSE"] {
        app.ctx.db.write(async move |t| t.execute(sql, &[]).await).await.expect("a statement");
    }
}

/// Returns true when the address of a member's account is verified.
async fn is_verified(app: &TestApp, member: &Value) -> bool {
    let person = app.get(&format!("/v1/people/{}", id(member))).send().await.expect(200);
    person["user"]["emailVerified"].as_bool().expect("a flag")
}

async fn a_link_that_was_shown_does_not_verify_an_address(app: &TestApp) {
    let (invited, token) = invite(app, "grace@example.com").await;
    show_links(app).await;
    app.accept(&token).await.expect(200);
    assert!(!is_verified(app, &invited).await);
    let forgot = json!({"email": "grace@example.com"});
    let reset = async |is_shown: bool| {
        app.call("POST", "/v1/auth/forgot-password").json(&forgot).send().await.expect(200);
        let token = token_in(&app.mails().await);
        if is_shown {
            show_links(app).await;
        }
        let body = json!({"token": token, "newPassword": PASSWORD});
        app.call("POST", "/v1/auth/reset-password").json(&body).send().await.expect(200);
        app.work().await;
    };
    reset(true).await;
    assert!(!is_verified(app, &invited).await);
    reset(false).await;
    assert!(is_verified(app, &invited).await);
    reset(true).await;
    assert!(is_verified(app, &invited).await, "it stays so");
}

async fn an_account_with_an_unverified_address_gets_another_password(app: &TestApp) {
    const NEW: &str = "a password of my own";
    for is_shown in [true, false] {
        let email = format!("grace{is_shown}@example.com");
        // A person in another organization created the account and knows its password.
        let other = app.tenant("Other", &format!("bob{is_shown}@example.com")).await;
        let invite_there = json!({"email": email, "role": "employee"});
        let call = app.call("POST", "/v1/people/invite").key(&other.key).json(&invite_there);
        call.send().await.expect(201);
        let token = token_in(&app.mails().await);
        show_links(app).await;
        app.accept(&token).await.expect(200);
        let theirs = app.sign_in(&email).await;
        // Home invites the same address.
        let (invited, token) = invite(app, &email).await;
        if is_shown {
            show_links(app).await;
        }
        let offer = app.call("GET", &format!("/v1/auth/invitation?token={token}")).send().await.expect(200);
        assert_eq!(
            (&offer["needsPassword"], &offer["needsCurrentPassword"], &offer["needsNewPassword"]),
            (&json!(false), &json!(is_shown), &json!(true))
        );
        let refused = |body: Value| async move { accept_with(app, body).await.wrong_fields() };
        // The password that others know is not accepted; without it, a link that was shown cannot take over an
        // account.
        assert_eq!(refused(json!({"token": token, "password": PASSWORD})).await, ["newPassword"]);
        let same = json!({"token": token, "password": PASSWORD, "newPassword": PASSWORD});
        assert_eq!(refused(same).await, ["newPassword"]);
        if is_shown {
            assert_eq!(refused(json!({"token": token})).await, ["password"]);
            assert_eq!(refused(json!({"token": token, "newPassword": NEW})).await, ["password"]);
        }
        let accept = match is_shown {
            true => json!({"token": token, "password": PASSWORD, "newPassword": NEW}),
            false => json!({"token": token, "newPassword": NEW}),
        };
        accept_with(app, accept).await.expect(200);
        app.work().await;
        // Anyone who knew the old password is signed out, in both organizations.
        for organization in [&app.home.organization, &other.organization] {
            let call = app.call("GET", "/v1/risks").session(&theirs, organization);
            call.send().await.problem(401, "invalid_session");
        }
        let login = json!({"email": email, "password": PASSWORD});
        app.call("POST", "/v1/auth/login").json(&login).send().await.problem(401, "invalid_credentials");
        app.work().await;
        let login = json!({"email": email, "password": NEW});
        app.call("POST", "/v1/auth/login").json(&login).send().await.expect(200);
        assert_eq!(is_verified(app, &invited).await, !is_shown);
        for tenant in [&app.home, &other] {
            let path = "/v1/audit-logs?action=user.password_changed";
            let log = app.call("GET", path).key(&tenant.key).send().await.expect(200);
            assert_eq!(log["data"][0]["entityId"], json!(log["data"][0]["state"]["id"]), "{log}");
        }
        app.work().await;
    }
}
