//! `…/attachments`, `/v1/attachments`, `/v1/files`, and the attachments of comments.

use std::time::Duration;

use attestry_tests::{Reply, TestApp, both};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::TryStreamExt;
use serde_json::{Value, json};

both! {
    a_file_is_attached_listed_fetched_and_deleted,
    a_form_is_taken_as_well,
    a_wrong_form_stores_nothing,
    a_body_is_read_strictly,
    programs_and_false_types_are_refused,
    a_file_may_have_ten_mebibytes,
    another_things_attachment_is_404,
    a_list_comes_in_pages,
    a_link_expires_and_cannot_be_bent,
    parts_of_a_file_can_be_fetched,
    comments_bring_files_along,
    only_the_author_attaches_to_a_comment,
    a_key_sees_no_attachment_of_what_it_may_not_see,
    a_comment_has_ten_files_at_most,
    files_go_with_the_risk_and_the_organization,
    the_sweep_removes_files_that_nothing_refers_to,
    the_same_upload_sent_twice_is_one,
    files_stay_while_a_backup_runs,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and so on";
const HELLO: &[u8] = b"hello, auditor";

fn id(value: &Value) -> String {
    value["id"].as_str().expect("an id").to_owned()
}

async fn risk(app: &TestApp) -> String {
    let body = json!({"title": "A", "description": "B", "category": "other"});
    id(&app.post("/v1/risks", &body).send().await.expect(201))
}

async fn vendor(app: &TestApp) -> String {
    id(&app.post("/v1/vendors", &json!({"name": "A", "description": "B"})).send().await.expect(201))
}

fn file(name: &str, kind: &str, content: &[u8]) -> Value {
    json!({"fileName": name, "fileType": kind, "fileData": STANDARD.encode(content)})
}

/// Attaches a text file to an entity.
async fn attach(app: &TestApp, to: &str) -> String {
    id(&app.post(&format!("{to}/attachments"), &file("a.txt", "text/plain", HELLO)).send().await.expect(201))
}

/// Builds a form with these parts: name, further header text, content.
fn form(parts: &[(&str, &str, &[u8])]) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (name, more, content) in parts {
        body.extend(
            format!("--frontier\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n").bytes(),
        );
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--frontier--\r\n");
    ("multipart/form-data; boundary=frontier", body)
}

async fn send_form(app: &TestApp, path: &str, parts: &[(&str, &str, &[u8])]) -> Reply {
    let (kind, body) = form(parts);
    app.call("POST", path).key(&app.home.key).raw(kind, body).send().await
}

/// Returns the path of a download link on this server.
async fn link(app: &TestApp, path: &str) -> String {
    let link = app.get(path).send().await.expect(200);
    assert_eq!(link["expiresIn"], 900);
    let url = link["downloadUrl"].as_str().expect("a link");
    url.strip_prefix("https://compliance.example.com").expect("our own").to_owned()
}

/// The keys of all stored files.
async fn stored(app: &TestApp) -> Vec<String> {
    app.ctx.blobs.list(None).map_ok(|key| key.to_string()).try_collect().await.expect("a list")
}

async fn a_file_is_attached_listed_fetched_and_deleted(app: &TestApp) {
    for (path, entity) in [
        (format!("/v1/risks/{}", risk(app).await), "risk"),
        (format!("/v1/vendors/{}", vendor(app).await), "vendor"),
    ] {
        let all = format!("{path}/attachments");
        let mut body = file("../../Prüf\"bericht 1.txt", "text/plain; charset=utf-8", HELLO);
        body["description"] = json!(" What it shows. ");
        let made = app.post(&all, &body).send().await.expect(201);
        let own = id(&made);
        assert_eq!(
            made,
            json!({
                "id": own, "name": "Prüf_bericht 1.txt", "type": "text/plain", "size": 14, "sha256": made["sha256"],
                "description": "What it shows.", "effectiveDate": null, "runId": null, "automationVersion": null,
                "entityType": entity, "entityId": path.rsplit('/').next(),
                "uploadedBy": app.home.member, "createdAt": "2026-11-15T09:30:00.000Z"
            })
        );
        assert_eq!(made["sha256"], sha256(HELLO));
        assert_eq!(
            app.get(&all).send().await.expect(200),
            json!({"data": [made], "count": 1, "nextCursor": null})
        );
        assert_eq!(
            stored(app).await,
            [format!("{}/attachments/{own}", app.home.organization)],
            "under the organization's id"
        );
        for path in [format!("{all}/{own}/download"), format!("/v1/attachments/{own}/download")] {
            let fetched = app.call("GET", &link(app, &path).await).send().await;
            assert_eq!((fetched.status.as_u16(), fetched.body.as_slice()), (200, HELLO));
            assert_eq!(fetched.header("content-type"), Some("text/plain"));
            assert_eq!(
                fetched.header("content-disposition"),
                Some(
                    "attachment; filename=\"Pr_f_bericht 1.txt\"; filename*=UTF-8''Pr%C3%BCf_bericht%201.txt"
                )
            );
            assert_eq!(fetched.header("x-content-type-options"), Some("nosniff"));
        }
        let one = app.get(&format!("{all}/{own}")).send().await;
        assert_eq!(one.expect(200), made);
        let tag = one.header("etag").expect("a tag").to_owned();
        assert_eq!(app.get(&format!("{all}/{own}")).header("if-none-match", &tag).send().await.status, 304);
        app.delete(&format!("{all}/{own}"))
            .header("if-match", "\"9\"")
            .send()
            .await
            .problem(412, "precondition_failed");
        let gone = app.delete(&format!("{all}/{own}")).header("if-match", &tag).send().await.expect(200);
        assert_eq!((&gone["success"], &gone["deletedAttachmentId"]), (&json!(true), &json!(own)));
        app.delete(&format!("{all}/{own}")).send().await.problem(404, "not_found");
        app.get(&format!("/v1/attachments/{own}/download")).send().await.problem(404, "not_found");
        assert_eq!(app.get(&all).send().await.expect(200)["count"], 0);
        app.work().await;
        assert!(stored(app).await.is_empty(), "the stored file is gone");
    }
    let log = app.get("/v1/audit-logs?entityType=attachment").send().await.expect(200);
    let actions: Vec<&Value> =
        log["data"].as_array().expect("entries").iter().map(|e| &e["action"]).collect();
    let each = ["attachment.deleted", "attachment.downloaded", "attachment.downloaded", "attachment.created"];
    assert_eq!(actions, [each, each].concat());
    let download = &log["data"][1];
    assert_eq!((&download["state"]["sha256"], &download["changes"]), (&json!(sha256(HELLO)), &json!([])));
}

async fn a_form_is_taken_as_well(app: &TestApp) {
    let all = format!("/v1/risks/{}/attachments", risk(app).await);
    let named = "; filename=\"shot.png\"\r\nContent-Type: image/png";
    let made =
        send_form(app, &all, &[("file", named, PNG), ("description", "", b"A screen")]).await.expect(201);
    assert_eq!(
        (&made["name"], &made["type"], &made["size"], &made["description"]),
        (&json!("shot.png"), &json!("image/png"), &json!(PNG.len()), &json!("A screen"))
    );
    assert_eq!(made["sha256"], sha256(PNG));
    let large = vec![b'x'; 3 << 20];
    let made = send_form(
        app,
        &all,
        &[
            ("description", "", b"First"),
            ("file", "; filename=\"log.txt\"\r\nContent-Type: text/plain", &large),
        ],
    )
    .await
    .expect(201);
    assert_eq!((&made["size"], &made["sha256"]), (&json!(large.len()), &json!(sha256(&large))));
    let fetched = app
        .call("GET", &link(app, &format!("{all}/{}/download", id(&made))).await)
        .header("accept-encoding", "gzip")
        .send()
        .await;
    assert!(fetched.body == large && fetched.header("content-encoding").is_none(), "sent as it is stored");
    let made = send_form(
        app,
        &all,
        &[("file", "; filename=\"the %22final%22 one.txt\"\r\nContent-Type: text/plain", HELLO)],
    )
    .await
    .expect(201);
    assert_eq!(made["name"], "the _final_ one.txt");
    app.delete(&format!("{all}/{}", id(&made))).send().await.expect(200);
    app.work().await;
    // A file without a media type is treated as binary data.
    let made = send_form(app, &all, &[("file", "; filename=\"a\"", b"\x01\x02")]).await.expect(201);
    assert_eq!(made["type"], "application/octet-stream");
    assert_eq!(stored(app).await.len(), 3);
}

async fn a_wrong_form_stores_nothing(app: &TestApp) {
    let all = format!("/v1/risks/{}/attachments", risk(app).await);
    let named = "; filename=\"shot.png\"\r\nContent-Type: image/png";
    assert_eq!(send_form(app, &all, &[]).await.wrong_fields(), ["file"]);
    assert_eq!(
        send_form(
            app,
            &all,
            &[("file", "", b"no name"), ("fiel", "; filename=\"x\"", b"x"), ("description", "", b" ")]
        )
        .await
        .wrong_fields(),
        ["description", "fiel", "file"]
    );
    assert_eq!(
        send_form(app, &all, &[("file", named, PNG), ("file", named, PNG)]).await.wrong_fields(),
        ["file"]
    );
    assert_eq!(
        send_form(app, &all, &[("file", named, PNG), ("description", "", &vec![b'x'; 100_000])])
            .await
            .wrong_fields(),
        ["description"]
    );
    assert_eq!(
        send_form(app, &all, &[("file", "; filename=\"x.exe\"", b"x")]).await.wrong_fields(),
        ["file"]
    );
    assert_eq!(
        send_form(app, &all, &[("file", "; filename=\"x\"\r\nContent-Type: pdf", b"x")]).await.wrong_fields(),
        ["file"]
    );
    assert_eq!(
        send_form(app, &all, &[("file", named, PNG), ("description", "", b"Pr\xfcfung")])
            .await
            .wrong_fields(),
        ["description"]
    );
    let spaced = format!("a{}b", " ".repeat(70_000));
    assert_eq!(
        send_form(app, &all, &[("file", named, PNG), ("description", "", spaced.as_bytes())])
            .await
            .wrong_fields(),
        ["description"]
    );
    let many: Vec<(&str, &str, &[u8])> = vec![("", "", b"x"); 1000];
    send_form(app, &all, &many).await.problem(400, "malformed_body");
    send_form(app, &all, &[("file", named, b"not a picture")]).await.problem(400, "file_refused");
    send_form(app, &all, &[("file", named, b"")]).await.problem(400, "file_refused");
    let (kind, mut cut) = form(&[("file", named, PNG)]);
    cut.truncate(cut.len() - 20);
    app.call("POST", &all).key(&app.home.key).raw(kind, cut).send().await.problem(400, "malformed_body");
    app.call("POST", &all)
        .key(&app.home.key)
        .raw("multipart/form-data", "x")
        .send()
        .await
        .problem(400, "malformed_body");
    app.call("POST", &all)
        .key(&app.home.key)
        .raw("text/plain", "x")
        .send()
        .await
        .problem(415, "unsupported_media_type");
    app.call("POST", &all).key(&app.home.key).send().await.problem(400, "malformed_body");
    assert_eq!(stored(app).await.len(), 0, "nothing was left behind");
}

async fn a_body_is_read_strictly(app: &TestApp) {
    let all = format!("/v1/risks/{}/attachments", risk(app).await);
    assert_eq!(app.post(&all, &json!({})).send().await.wrong_fields(), ["fileData", "fileName", "fileType"]);
    let wrong =
        json!({"fileName": "..", "fileType": "pdf", "fileData": "####", "description": "", "more": 1});
    assert_eq!(
        app.post(&all, &wrong).send().await.wrong_fields(),
        ["description", "fileData", "fileName", "fileType", "more"]
    );
    // Only standard base64 is accepted.
    for data in [
        json!(""),
        json!("aGk"),
        json!("aGk=\n"),
        json!(" aGk="),
        json!("a-_="),
        json!("aGl="),
        json!("aG=="),
        json!("=aGk"),
        json!("aGk=aGk="),
        json!(5),
        json!(null),
    ] {
        let body = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": data});
        assert_eq!(app.post(&all, &body).send().await.wrong_fields(), ["fileData"], "{data}");
    }
    // JSON encoders may escape any character.
    for data in [r"\/\/8=", r"\u002f/8\u003d", r"\u002F\u002f8="] {
        let body = format!(
            r#"{{"fileName": "a.bin", "fileType": "application/octet-stream", "fileData": "{data}"}}"#
        );
        let made =
            app.call("POST", &all).key(&app.home.key).raw("application/json", body).send().await.expect(201);
        assert_eq!((&made["size"], &made["sha256"]), (&json!(2), &json!(sha256(b"\xff\xff"))));
    }
    let content: Vec<u8> = (0..600_000_u32).map(|n| if n.is_multiple_of(7) { 0xff } else { 0xfb }).collect();
    let body = file("a.bin", "application/octet-stream", &content)
        .to_string()
        .replace('/', r"\/")
        .replace(r"application\/", "application/")
        .replace('+', r"\u002b");
    let made =
        app.call("POST", &all).key(&app.home.key).raw("application/json", body).send().await.expect(201);
    assert_eq!(made["sha256"], sha256(&content));
    for data in [r"aGk\n", r"aGk\u00ff", r"\\aGk", r"\u0000aGk="] {
        let body = format!(
            r#"{{"fileName": "a.bin", "fileType": "application/octet-stream", "fileData": "{data}"}}"#
        );
        let reply = app.call("POST", &all).key(&app.home.key).raw("application/json", body).send().await;
        assert_eq!(reply.wrong_fields(), ["fileData"], "{data}");
    }
}

async fn programs_and_false_types_are_refused(app: &TestApp) {
    let all = format!("/v1/vendors/{}/attachments", vendor(app).await);
    let send = async |name: &str, kind: &str, content: &[u8]| {
        app.post(&all, &file(name, kind, content)).send().await
    };
    for name in ["setup.exe", "run.SH", "x.pdf.js", "macro.vbs", "lib.dll", "a.ps1"] {
        assert_eq!(send(name, "text/plain", HELLO).await.wrong_fields(), ["fileName"], "{name}");
    }
    for kind in
        ["application/x-msdownload", "application/x-sh", "text/javascript", "Application/X-Executable; x=y"]
    {
        assert_eq!(send("a.txt", kind, HELLO).await.wrong_fields(), ["fileType"], "{kind}");
    }
    let elf = b"\x7fELF\x02\x01\x01\0".repeat(10);
    for (kind, content) in [
        ("text/plain", elf.as_slice()),
        ("application/octet-stream", &elf),
        ("text/plain", b"#!/bin/sh\nrm -rf /"),
        ("image/png", HELLO),
        ("application/pdf", PNG),
        ("text/csv", PNG),
    ] {
        send("a.txt", kind, content).await.problem(400, "file_refused");
    }
    assert!(stored(app).await.is_empty());
    assert_eq!(app.get(&all).send().await.expect(200)["count"], 0);
}

async fn a_file_may_have_ten_mebibytes(app: &TestApp) {
    let all = format!("/v1/risks/{}/attachments", risk(app).await);
    let most = vec![b'x'; 10 << 20];
    let more = vec![b'x'; (10 << 20) + 1];
    let named = "; filename=\"a.txt\"\r\nContent-Type: text/plain";
    let made = app.post(&all, &file("a.txt", "text/plain", &most)).send().await.expect(201);
    assert_eq!((&made["size"], &made["sha256"]), (&json!(most.len()), &json!(sha256(&most))));
    send_form(app, &all, &[("file", named, &most)]).await.expect(201);
    app.post(&all, &file("a.txt", "text/plain", &more)).send().await.problem(413, "file_too_large");
    send_form(app, &all, &[("file", named, &more)]).await.problem(413, "file_too_large");
    // Larger than the maximum body size.
    let huge = vec![b'x'; 17 << 20];
    send_form(app, &all, &[("file", named, &huge)]).await.problem(413, "payload_too_large");
    send_form(app, &all, &[("file", named, HELLO), ("description", "", &huge)])
        .await
        .problem(413, "payload_too_large");
    assert_eq!(stored(app).await.len(), 2, "nothing was left behind");
}

async fn another_things_attachment_is_404(app: &TestApp) {
    let (one, other) = (format!("/v1/risks/{}", risk(app).await), format!("/v1/risks/{}", risk(app).await));
    let vendor = format!("/v1/vendors/{}", vendor(app).await);
    let own = attach(app, &one).await;
    for path in [&other, &vendor] {
        app.get(&format!("{path}/attachments/{own}/download")).send().await.problem(404, "not_found");
        app.get(&format!("{path}/attachments/{own}")).send().await.problem(404, "not_found");
        app.delete(&format!("{path}/attachments/{own}")).send().await.problem(404, "not_found");
        assert_eq!(app.get(&format!("{path}/attachments")).send().await.expect(200)["count"], 0);
    }
    let missing = "/v1/risks/rsk_01jcqg3v5mefzr7d0a6w3k9x2b/attachments";
    app.get(missing).send().await.problem(404, "not_found");
    app.get(&format!("{missing}/{own}/download")).send().await.problem(404, "not_found");
    app.post(missing, &file("a.txt", "text/plain", HELLO)).send().await.problem(404, "not_found");
    send_form(app, missing, &[("file", "; filename=\"a\"", HELLO)]).await.problem(404, "not_found");
    assert_eq!(stored(app).await.len(), 1);
    app.get(&format!("{one}/attachments/{own}/download")).send().await.expect(200);
}

async fn a_list_comes_in_pages(app: &TestApp) {
    let path = format!("/v1/risks/{}", risk(app).await);
    let mut all = Vec::new();
    for _ in 0..5 {
        all.insert(0, attach(app, &path).await);
    }
    let mut found = Vec::new();
    let mut next = format!("{path}/attachments?limit=2");
    loop {
        let page = app.get(&next).send().await.expect(200);
        found.extend(page["data"].as_array().expect("items").iter().map(id));
        let Some(cursor) = page["nextCursor"].as_str() else { break };
        next = format!("{path}/attachments?limit=2&cursor={cursor}");
    }
    assert_eq!(found, all);
    assert_eq!(
        app.get(&format!("{path}/attachments?limit=0&sort=name")).send().await.wrong_fields(),
        ["limit", "sort"]
    );
}

async fn a_link_expires_and_cannot_be_bent(app: &TestApp) {
    let own = attach(app, &format!("/v1/risks/{}", risk(app).await)).await;
    let link = link(app, &format!("/v1/attachments/{own}/download")).await;
    app.clock.advance(Duration::from_secs(899));
    assert_eq!(app.call("GET", &link).send().await.status, 200);
    assert_eq!(app.call("HEAD", &link).send().await.header("content-length"), Some("14"));
    let (most, last) = link.split_at(link.len() - 1);
    app.call("GET", &format!("{most}{}", if last == "A" { "B" } else { "A" }))
        .send()
        .await
        .problem(404, "not_found");
    app.call("GET", &format!("{link}?x=1")).send().await.problem(400, "validation_failed");
    app.call("GET", "/v1/files/bm90IGEgbGluaw").send().await.problem(404, "not_found");
    app.clock.advance(Duration::from_secs(1));
    app.call("GET", &link).send().await.problem(410, "link_expired");
}

async fn parts_of_a_file_can_be_fetched(app: &TestApp) {
    let own = attach(app, &format!("/v1/risks/{}", risk(app).await)).await;
    let link = link(app, &format!("/v1/attachments/{own}/download")).await;
    let whole = app.call("GET", &link).send().await;
    assert_eq!((whole.header("accept-ranges"), whole.header("content-length")), (Some("bytes"), Some("14")));
    let tag = whole.header("etag").expect("a tag").to_owned();
    for (range, status, content, said) in [
        ("bytes=0-4", 206, &b"hello"[..], Some("bytes 0-4/14")),
        ("bytes=7-", 206, b"auditor", Some("bytes 7-13/14")),
        ("bytes=-3", 206, b"tor", Some("bytes 11-13/14")),
        ("bytes=0-1,3-4", 200, HELLO, None),
        ("nonsense", 200, HELLO, None),
    ] {
        let part = app.call("GET", &link).header("range", range).send().await;
        assert_eq!(
            (part.status.as_u16(), part.body.as_slice(), part.header("content-range")),
            (status, content, said),
            "{range}"
        );
    }
    let beyond = app.call("GET", &link).header("range", "bytes=14-").send().await;
    beyond.problem(416, "range_not_satisfiable");
    assert_eq!(beyond.header("content-range"), Some("bytes */14"));
    assert_eq!(app.call("HEAD", &link).header("range", "bytes=0-4").send().await.status, 200);
    assert_eq!(
        app.call("GET", &link).header("range", "bytes=0-4").header("if-range", &tag).send().await.status,
        206
    );
    assert_eq!(
        app.call("GET", &link)
            .header("range", "bytes=0-4")
            .header("if-range", "\"other\"")
            .send()
            .await
            .status,
        200
    );
    for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
        assert_eq!(app.call("GET", &link).header("if-none-match", &known).send().await.status, 304);
    }
}

async fn comments_bring_files_along(app: &TestApp) {
    let risk = risk(app).await;
    let mut described = file("b.png", "image/png", PNG);
    described["description"] = json!("A screen");
    let body = json!({"content": "See here.", "entityId": risk, "entityType": "risk", "attachments": [file("a.txt", "text/plain", HELLO), described]});
    let made = app.post("/v1/comments", &body).send().await.expect(201);
    let files = made["attachments"].as_array().expect("files");
    assert_eq!(files.len(), 2);
    assert_eq!(
        files[0],
        json!({"id": files[0]["id"], "name": "a.txt", "type": "text/plain", "size": 14, "createdAt": "2026-11-15T09:30:00.000Z"})
    );
    let second = app
        .post(
            "/v1/comments",
            &json!({"content": "x", "entityId": risk, "entityType": "risk", "attachments": []}),
        )
        .send()
        .await
        .expect(201);
    let third = app.post("/v1/comments", &json!({"content": "y", "entityId": risk, "entityType": "risk", "attachments": [file("c.txt", "text/plain", HELLO)]})).send().await.expect(201);
    let list = app.get(&format!("/v1/comments?entityType=risk&entityId={risk}")).send().await.expect(200);
    assert_eq!(list["data"], json!([third, second, made]));
    let path = format!("/v1/comments/{}", id(&made));
    assert_eq!(
        app.get(&format!("{path}/attachments")).send().await.expect(200)["data"][0]["description"],
        "A screen"
    );
    let link = link(app, &format!("{path}/attachments/{}/download", id(&files[0]))).await;
    assert_eq!(app.call("GET", &link).send().await.body, HELLO);
    let changed = app
        .call("PUT", &path)
        .key(&app.home.key)
        .json(&json!({"content": "See there."}))
        .send()
        .await
        .expect(200);
    assert_eq!(changed["attachments"], made["attachments"]);
    // One invalid file rejects the whole comment.
    let entries = app.entries(&app.home).await;
    for (bad, code) in [
        (file("x.sh", "text/plain", HELLO), "validation_failed"),
        (file("x.txt", "image/png", HELLO), "file_refused"),
        (json!({"fileName": "a"}), "validation_failed"),
    ] {
        let body = json!({"content": "z", "entityId": risk, "entityType": "risk", "attachments": [file("a.txt", "text/plain", HELLO), bad]});
        app.post("/v1/comments", &body).send().await.problem(400, code);
    }
    let many = vec![file("a.txt", "text/plain", HELLO); 11];
    let body = json!({"content": "z", "entityId": risk, "entityType": "risk", "attachments": many});
    assert_eq!(app.post("/v1/comments", &body).send().await.wrong_fields(), ["attachments"]);
    let nowhere = json!({"content": "z", "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "entityType": "risk", "attachments": [file("a.txt", "text/plain", HELLO)]});
    app.post("/v1/comments", &nowhere).send().await.problem(404, "not_found");
    assert_eq!((app.entries(&app.home).await, stored(app).await.len()), (entries, 3));
    app.delete(&path).send().await.expect(200);
    // If the process died here, the next one would run the job.
    assert_eq!(stored(app).await.len(), 3);
    let (waiting, _) =
        app.ctx.db.read(async |t| attestry_storage::jobs::counts(t).await).await.expect("a count");
    assert_eq!(waiting, 1);
    app.work().await;
    assert_eq!(stored(app).await.len(), 1, "the files went with the comment");
    assert_eq!(
        app.call("GET", &link).header("if-none-match", "*").send().await.status,
        404,
        "and their links with them"
    );
}

async fn only_the_author_attaches_to_a_comment(app: &TestApp) {
    app.member(&app.home, "eve@example.com", "auditor").await;
    let eve = app.sign_in("eve@example.com").await;
    let body = json!({"content": "Hm.", "entityId": risk(app).await, "entityType": "risk", "attachments": [file("a.txt", "text/plain", HELLO)]});
    let made = app
        .call("POST", "/v1/comments")
        .session(&eve, &app.home.organization)
        .json(&body)
        .send()
        .await
        .expect(201);
    let all = format!("/v1/comments/{}/attachments", id(&made));
    let own = id(&made["attachments"][0]);
    let more = file("b.txt", "text/plain", HELLO);
    app.post(&all, &more).send().await.problem(403, "not_the_author");
    app.delete(&format!("{all}/{own}")).send().await.problem(403, "not_the_author");
    app.get(&format!("{all}/{own}/download")).send().await.expect(200);
    app.call("POST", &all).session(&eve, &app.home.organization).json(&more).send().await.expect(201);
    app.call("DELETE", &format!("{all}/{own}"))
        .session(&eve, &app.home.organization)
        .send()
        .await
        .expect(200);
    // An auditor can read attachments elsewhere, but not add any.
    let elsewhere = format!("/v1/risks/{}/attachments", risk(app).await);
    app.call("GET", &elsewhere).session(&eve, &app.home.organization).send().await.expect(200);
    app.call("POST", &elsewhere)
        .session(&eve, &app.home.organization)
        .json(&more)
        .send()
        .await
        .problem(403, "forbidden");
    app.work().await;
    assert_eq!(stored(app).await.len(), 1);
}

async fn a_key_sees_no_attachment_of_what_it_may_not_see(app: &TestApp) {
    let own = attach(app, &format!("/v1/risks/{}", risk(app).await)).await;
    let key = app.key(&["attachment:read", "vendor:read"]).await;
    app.get(&format!("/v1/attachments/{own}/download")).key(&key).send().await.problem(403, "forbidden");
    let risk = risk(app).await;
    let body = json!({"content": "Hm.", "entityId": risk, "entityType": "risk", "attachments": [file("a.txt", "text/plain", HELLO)]});
    let comment = app.post("/v1/comments", &body).send().await.expect(201);
    let key = app.key(&["attachment:read", "risk:read"]).await;
    app.get(&format!("/v1/attachments/{own}/download")).key(&key).send().await.expect(200);
    app.get(&format!("/v1/attachments/{}/download", id(&comment["attachments"][0])))
        .key(&key)
        .send()
        .await
        .problem(403, "forbidden");
    // A missing permission is reported before the body is parsed.
    let key = app.key(&["attachment:create", "vendor:read"]).await;
    app.post(&format!("/v1/risks/{risk}/attachments"), &json!({}))
        .key(&key)
        .send()
        .await
        .problem(403, "forbidden");
}

async fn a_comment_has_ten_files_at_most(app: &TestApp) {
    let body = json!({"content": "Hm.", "entityId": risk(app).await, "entityType": "risk", "attachments": vec![file("a.txt", "text/plain", HELLO); 10]});
    let comment = app.post("/v1/comments", &body).send().await.expect(201);
    let all = format!("/v1/comments/{}/attachments", id(&comment));
    app.post(&all, &file("b.txt", "text/plain", HELLO)).send().await.problem(409, "too_many_attachments");
    app.delete(&format!("{all}/{}", id(&comment["attachments"][3]))).send().await.expect(200);
    app.post(&all, &file("b.txt", "text/plain", HELLO)).send().await.expect(201);
    app.work().await;
    assert_eq!(stored(app).await.len(), 10);
}

async fn files_go_with_the_risk_and_the_organization(app: &TestApp) {
    let risk = risk(app).await;
    attach(app, &format!("/v1/risks/{risk}")).await;
    let body = json!({"content": "Hm.", "entityId": risk, "entityType": "risk", "attachments": [file("a.txt", "text/plain", HELLO)]});
    app.post("/v1/comments", &body).send().await.expect(201);
    attach(app, &format!("/v1/vendors/{}", vendor(app).await)).await;
    let other = app.tenant("Other", "bob@example.com").await;
    let theirs = app
        .call("POST", "/v1/vendors")
        .key(&other.key)
        .json(&json!({"name": "A", "description": "B"}))
        .send()
        .await
        .expect(201);
    app.post(&format!("/v1/vendors/{}/attachments", id(&theirs)), &file("a.txt", "text/plain", HELLO))
        .key(&other.key)
        .send()
        .await
        .expect(201);
    assert_eq!(stored(app).await.len(), 4);
    app.delete(&format!("/v1/risks/{risk}")).send().await.expect(200);
    app.work().await;
    assert_eq!(stored(app).await.len(), 2);
    app.delete("/v1/organization").json(&json!({"name": "Home"})).send().await.expect(200);
    app.work().await;
    assert_eq!(stored(app).await.len(), 2, "it can be brought back");
    app.clock.advance(attestry_app::identity::organizations::GRACE + std::time::Duration::from_secs(1));
    app.housekeeping().await;
    let left = stored(app).await;
    assert!(left.len() == 1 && left[0].starts_with(&other.organization), "{left:?}");
}

async fn the_sweep_removes_files_that_nothing_refers_to(app: &TestApp) {
    let kept = attach(app, &format!("/v1/risks/{}", risk(app).await)).await;
    // As if the process had died between storing the file and writing its row.
    let lost: attestry_domain::id::AttachmentId = app.ctx.ids.next();
    let organization = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
    let key = attestry_blobs::Key::new(organization, attestry_blobs::Folder::Attachments, lost);
    // As if the files belonged to another database.
    let strange = attestry_blobs::Key::new(
        attestry_domain::id::OrganizationId::from_u128(7),
        attestry_blobs::Folder::Attachments,
        lost,
    );
    for key in [&key, &strange] {
        let mut upload = app.ctx.blobs.create(key);
        upload.write(HELLO.into()).await.expect("written");
        upload.finish().await.expect("stored");
    }
    attestry_app::core::queue::schedule(&app.ctx).await.expect("scheduled");
    app.work().await;
    assert_eq!(stored(app).await.len(), 3, "its row may still come");
    app.clock.advance(Duration::from_hours(25));
    app.work().await;
    let mut left = stored(app).await;
    left.retain(|key| *key != strange.to_string());
    assert!(left.len() == 1 && left[0].ends_with(&kept), "{left:?}");
    app.ctx.db.write(async |t| t.execute("DELETE FROM jobs", &[]).await).await.expect("emptied");
}

async fn the_same_upload_sent_twice_is_one(app: &TestApp) {
    let all = format!("/v1/risks/{}/attachments", risk(app).await);
    let body = file("a.txt", "text/plain", HELLO);
    let first = app.post(&all, &body).header("idempotency-key", "k").send().await.expect(201);
    let again = app.post(&all, &body).header("idempotency-key", "k").send().await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.expect(201), first);
    assert_eq!(stored(app).await.len(), 1);
    // A form with another boundary counts as the same request; one with another file does not.
    let send = async |boundary: &str, content: &[u8]| {
        let (_, body) = form(&[("file", "; filename=\"a.txt\"\r\nContent-Type: text/plain", content)]);
        let body = String::from_utf8(body).expect("text").replace("frontier", boundary);
        let kind = format!("multipart/form-data; boundary={boundary}");
        app.call("POST", &all).key(&app.home.key).header("idempotency-key", "f").raw(&kind, body).send().await
    };
    let large = b"all is well\n".repeat(20_000);
    let first = send("one", &large).await.expect(201);
    assert_eq!(first["sha256"], sha256(&large));
    assert_eq!(send("two-and-longer", &large).await.expect(201), first);
    send("one", b"another").await.problem(422, "idempotency_mismatch");
    assert_eq!(stored(app).await.len(), 2);
}

fn sha256(bytes: &[u8]) -> String {
    attestry_domain::hash::hex(&attestry_domain::hash::sha256(bytes))
}

async fn files_stay_while_a_backup_runs(app: &TestApp) {
    let risk = format!("/v1/risks/{}", risk(app).await);
    attach(app, &risk).await;
    let backup = attestry_app::files::backups::Backup::begin(&app.ctx).await.expect("begun");
    app.delete(&risk).send().await.expect(200);
    app.work().await;
    app.clock.advance(std::time::Duration::from_mins(1));
    app.work().await;
    assert_eq!(stored(app).await.len(), 1, "the rows of the backup name it");
    // A backup that died protects the files only for a limited time.
    let died = attestry_app::files::backups::Backup::begin(&app.ctx).await.expect("begun");
    backup.end().await.expect("ended");
    app.clock.advance(std::time::Duration::from_mins(1));
    app.work().await;
    assert_eq!(stored(app).await.len(), 1);
    drop(died);
    app.clock.advance(std::time::Duration::from_mins(10));
    app.work().await;
    assert_eq!(stored(app).await.len(), 0);
}
