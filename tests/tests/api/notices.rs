//! Notifications by mail: assignments, automations, one digest a day, and unsubscribing.

use std::time::Duration;

use attestry_tests::{TestApp, both, id, token_in};
use serde_json::json;

both! {
    an_assignee_is_told_once_a_change,
    a_digest_is_sent_in_the_morning_of_the_organization,
    the_first_failure_and_the_recovery_are_told,
    notices_can_be_stopped,
}

async fn an_assignee_is_told_once_a_change(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let task = app.task(json!({"title": "Review access", "assigneeId": eve["id"]})).await;
    let mails = app.mails().await;
    assert_eq!(mails.len(), 1);
    assert_eq!(
        (mails[0].to_address.as_str(), mails[0].subject.as_str()),
        ("eve@example.com", "Assigned to you: T-1 Review access")
    );
    assert!(mails[0].text.contains("T-1") && mails[0].text.contains("/unsubscribe?token="));
    // An unchanged assignment and one to oneself send no notification.
    app.patch(&format!("/v1/tasks/{}", id(&task)), &json!({"title": "x", "assigneeId": eve["id"]}))
        .send()
        .await
        .expect(200);
    app.task(json!({"assigneeId": app.home.member})).await;
    assert_eq!(app.mails().await.len(), 0);
    let (a, b) = (app.task(json!({"title": "a"})).await, app.task(json!({"title": "b"})).await);
    let both = json!({"taskIds": [id(&a), id(&b)], "assigneeId": eve["id"]});
    app.patch("/v1/tasks/bulk/assignee", &both).send().await.expect(200);
    let mails = app.mails().await;
    assert_eq!((mails.len(), mails[0].subject.as_str()), (1, "2 things were assigned to you"));
    // A failed change sends no notification.
    let other = app.tenant("Other", "bob@example.com").await;
    let wrong = json!({"taskIds": [id(&a), other.member.replace("mem_", "tsk_")], "assigneeId": eve["id"]});
    app.patch("/v1/tasks/bulk/assignee", &wrong).send().await.problem(400, "validation_failed");
    assert_eq!(app.mails().await.len(), 0);
}

async fn a_digest_is_sent_in_the_morning_of_the_organization(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    for (title, due, status) in [
        ("late", "2026-11-01", "todo"),
        ("soon", "2026-11-20", "todo"),
        ("later", "2026-12-24", "todo"),
        ("done", "2026-11-01", "done"),
    ] {
        app.task(json!({"title": title, "dueDate": due, "status": status, "assigneeId": eve["id"]})).await;
    }
    app.mails().await;
    // 09:30 in London is 04:30 in New York.
    app.patch("/v1/organization", &json!({"timeZone": "America/New_York"})).send().await.expect(200);
    app.housekeeping().await;
    assert_eq!(app.mail.take().len(), 0, "it is night there");
    app.clock.advance(Duration::from_hours(4));
    app.housekeeping().await;
    let mails = app.mail.take();
    assert_eq!(mails.len(), 1, "and only to whom it concerns");
    assert_eq!(mails[0].subject, "2 things are due or overdue");
    let text = &mails[0].text;
    assert!(text.contains("Overdue:\nT-1 late (due 2026-11-01)"), "{text}");
    assert!(text.contains("Due soon:\nT-2 soon (due 2026-11-20)"), "{text}");
    assert!(!text.contains("later") && !text.contains("done"));
    app.clock.advance(Duration::from_hours(5));
    app.housekeeping().await;
    assert_eq!(app.mail.take().len(), 0, "one a day");
    app.clock.advance(Duration::from_hours(19));
    app.housekeeping().await;
    assert_eq!(app.mail.take().len(), 1);
    app.delete(&format!("/v1/people/{}", id(&eve))).send().await.expect(200);
    assert_eq!(app.mails().await.len(), 1, "the owner hears of what eve had");
    app.clock.advance(Duration::from_hours(24));
    app.housekeeping().await;
    assert_eq!(app.mail.take().len(), 0, "nothing is assigned to anybody");
}

async fn the_first_failure_and_the_recovery_are_told(app: &TestApp) {
    let task = app.task(json!({"title": "Certificates"})).await;
    let script = "export default (ctx) => ({ status: ctx.task.title === 'Fixed' ? 'pass' : 'fail', summary: 'It is old.' })";
    let automations = format!("/v1/tasks/{}/automations", id(&task));
    let made = app.post(&automations, &json!({"name": "Check", "script": script})).send().await.expect(201);
    let run = async || {
        app.call("POST", &format!("{automations}/{}/runs", id(&made)))
            .key(&app.home.key)
            .send()
            .await
            .expect(201);
        app.mails().await
    };
    let mails = run().await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].subject, "“Check” (T-1 Certificates) failed: It is old.");
    assert_eq!(mails[0].to_address, app.home.email, "who made it, if nobody does the task");
    assert_eq!(run().await.len(), 0, "not every run");
    app.patch(&format!("/v1/tasks/{}", id(&task)), &json!({"title": "Fixed"})).send().await.expect(200);
    assert_eq!(run().await[0].subject, "“Check” (T-1 Fixed) passes again");
    assert_eq!(run().await.len(), 0);
}

async fn notices_can_be_stopped(app: &TestApp) {
    let eve = app.member(&app.home, "eve@example.com", "employee").await;
    let token = app.sign_in("eve@example.com").await;
    let session =
        |method: &str| app.call(method, "/v1/auth/notifications").session(&token, &app.home.organization);
    let all = json!({"assigned": true, "dueSoon": true, "overdue": true, "automations": true, "policies": true, "portal": true, "mentioned": true});
    assert_eq!(session("GET").send().await.expect(200), all);
    assert_eq!(
        session("PATCH").json(&json!({"assigned": "no", "x": 1})).send().await.wrong_fields(),
        ["assigned", "x"]
    );
    let off = session("PATCH").json(&json!({"assigned": false})).send().await.expect(200);
    assert_eq!((&off["assigned"], &off["overdue"]), (&json!(false), &json!(true)));
    app.work().await;
    let assign = async || app.task(json!({"assigneeId": eve["id"], "dueDate": "2026-11-01"})).await;
    assign().await;
    assert_eq!(app.mails().await.len(), 0);
    session("PATCH").json(&json!({"assigned": true})).send().await.expect(200);
    app.work().await;
    assign().await;
    let token = token_in(&app.mails().await);
    let stop = |token: &str| app.call("POST", "/v1/auth/unsubscribe").json(&json!({"token": token}));
    assert_eq!(stop(&token).send().await.expect(200)["assigned"], false);
    assert_eq!(stop(&token).send().await.expect(200)["assigned"], false, "twice is the same");
    app.work().await;
    assign().await;
    assert_eq!(app.mails().await.len(), 0);
    for bad in ["nonsense", "AAAA", &token[..token.len() - 3]] {
        stop(bad).send().await.problem(410, "link_expired");
    }
    app.housekeeping().await;
    let [digest] = &app.mail.take()[..] else { panic!("one digest") };
    let token = token_in(std::slice::from_ref(digest));
    let left = stop(&token).send().await.expect(200);
    assert_eq!(
        left,
        json!({"assigned": false, "dueSoon": false, "overdue": false, "automations": true, "policies": true, "portal": true, "mentioned": true})
    );
    app.work().await;
    let log = app.get("/v1/audit-logs?action=user.notifications_changed").send().await.expect(200);
    assert_eq!(log["data"].as_array().map(Vec::len), Some(4));
    app.clock.advance(Duration::from_hours(24));
    app.housekeeping().await;
    assert_eq!(app.mail.take().len(), 0);
    app.call("GET", "/unsubscribe").send().await.status.is_success().then_some(()).expect("a page");
}
