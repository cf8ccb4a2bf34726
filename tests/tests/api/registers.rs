//! Features of every register, tested on risks and vendors.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::time::Duration;

use attestry_tests::{Reply, TestApp, both, id};
use calamine::{Data, Reader, Xlsx};
use futures_util::future::join_all;
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use serde_json::{Value, json};

both! {
    a_sheet_of_a_workbook_is_chosen,
    rows_have_references_that_are_never_reused,
    rows_made_at_once_are_numbered_without_gaps,
    a_rating_is_somebodys_or_a_default,
    a_treatment_is_decided_or_a_default,
    pages_have_numbers_for_those_who_want_them,
    reviews_fall_due,
    sub_processors_are_told_apart,
    lists_count_when_asked,
    the_past_is_asked_by_time_or_day_and_not_the_future,
    spreadsheets_hold_numbers_and_dates,
    an_excel_file_is_imported_like_csv,
    a_workbook_that_is_none_or_too_large_is_refused,
    a_hostile_workbook_is_refused_in_little_memory,
    a_wide_table_is_refused,
    early_dates_and_odd_texts_survive_a_round_trip,
    what_nobody_rated_stays_unrated,
    a_version_is_written_in_quotes,
    tables_are_read_with_patience,
    tables_are_read_as_people_write_them,
    errors_of_a_table_are_counted_and_capped,
    exports_are_entries_with_names,
    the_log_is_a_table_too,
}

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

async fn import(app: &TestApp, register: &str, kind: &str, table: impl Into<Vec<u8>>) -> Reply {
    app.call("POST", &format!("/v1/{register}/import")).key(&app.home.key).raw(kind, table).send().await
}

/// One field of each row of a list, oldest first.
async fn each(app: &TestApp, register: &str, query: &str, field: &str) -> Vec<String> {
    let list = app.get(&format!("/v1/{register}?order=asc&{query}")).send().await.expect(200);
    let rows = list["data"].as_array().expect("rows").iter();
    rows.map(|row| row[field].as_str().expect(field).to_owned()).collect()
}

async fn rows_have_references_that_are_never_reused(app: &TestApp) {
    let first = app.risk(json!({})).await;
    let second = app.risk(json!({})).await;
    assert_eq!((&first["reference"], &second["reference"]), (&json!("R-1"), &json!("R-2")));
    assert_eq!(app.vendor(json!({})).await["reference"], "V-1");
    app.delete(&format!("/v1/risks/{}", id(&second))).send().await.expect(200);
    assert_eq!(app.risk(json!({})).await["reference"], "R-3");
    let table = "title,description,category\na,b,other\nc,d,other\n";
    import(app, "risks", "text/csv", table).await.expect(200);
    assert_eq!(each(app, "risks", "", "reference").await, ["R-1", "R-3", "R-4", "R-5"]);
    assert_eq!(each(app, "risks", "q=r-4", "reference").await, ["R-4"]);
    assert!(each(app, "risks", "q=R-44", "reference").await.is_empty());
    let other = app.tenant("Other", "other@example.com").await;
    let body = json!({"title": "a", "description": "b", "category": "other"});
    let theirs = app.call("POST", "/v1/risks").key(&other.key).json(&body).send().await.expect(201);
    assert_eq!(theirs["reference"], "R-1", "each organization counts for itself");
    let log = app.get(&format!("/v1/risks/{}/history", id(&second))).send().await.expect(200);
    assert_eq!(
        (&log["data"][0]["action"], &log["data"][0]["reference"]),
        (&json!("risk.deleted"), &json!("R-2"))
    );
    assert_eq!(each(app, "risks", "asOf=2026-11-15", "reference").await, ["R-1", "R-3", "R-4", "R-5"]);
}

async fn rows_made_at_once_are_numbered_without_gaps(app: &TestApp) {
    let gone = app.member(&app.home, "gone@example.com", "employee").await;
    app.delete(&format!("/v1/people/{}", id(&gone))).send().await.expect(200);
    let body = |number: usize| {
        let mut body = json!({"title": format!("Risk {number}"), "description": "b", "category": "other"});
        if number.is_multiple_of(5) {
            body["assigneeId"] = gone["id"].clone();
        }
        body
    };
    let table = "title,description,category\na,b,other\nc,d,other\ne,f,other\n";
    let made = async |number: usize| match number % 11 {
        7 => {
            import(app, "risks", "text/csv", table).await.expect(200);
            3
        }
        8 => {
            app.vendor(json!({"name": format!("Vendor {number}")})).await;
            0
        }
        _ => {
            let status = app.post("/v1/risks", &body(number)).send().await.status;
            assert_eq!(status, if number.is_multiple_of(5) { 400 } else { 201 });
            usize::from(status == 201)
        }
    };
    let count: usize = join_all((0..66).map(made)).await.into_iter().sum();
    let references = each(app, "risks", "limit=100", "reference").await;
    let number = |one: &String| one.strip_prefix("R-").and_then(|number| number.parse::<usize>().ok());
    let mut numbers: Vec<_> = references.iter().filter_map(number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
    assert_eq!(app.risk(json!({})).await["reference"], format!("R-{}", count + 1));
    let mut vendors = each(app, "vendors", "", "reference").await;
    vendors.sort();
    assert_eq!(vendors, ["V-1", "V-2", "V-3", "V-4", "V-5", "V-6"]);
}

async fn a_rating_is_somebodys_or_a_default(app: &TestApp) {
    let plain = app.risk(json!({})).await;
    assert_eq!((&plain["isAssessed"], &plain["likelihood"]), (&json!(false), &json!("very_unlikely")));
    // Many clients always send the defaults, which does not count as an assessment.
    let defaults = json!({
        "title": "Sent", "status": "open", "likelihood": "very_unlikely", "impact": "insignificant",
        "residualLikelihood": "very_unlikely", "residualImpact": "insignificant", "treatmentStrategy": "accept"
    });
    let sent = app.risk(defaults).await;
    let flags = |row: &Value| ["isAssessed", "isResidualAssessed"].map(|name| row[name].as_bool());
    assert_eq!((flags(&sent), &sent["treatmentDecidedAt"]), ([Some(false); 2], &Value::Null));
    let rated = app.risk(json!({"title": "Rated", "likelihood": "very_unlikely", "impact": "minor"})).await;
    assert_eq!(flags(&rated), [Some(true), Some(false)]);
    let residual = app.risk(json!({"title": "After", "residualImpact": "minor"})).await;
    assert_eq!(flags(&residual), [Some(false), Some(true)]);
    let vendor = app.vendor(json!({"inherentProbability": "likely"})).await;
    assert_eq!(flags(&vendor), [Some(true), Some(false)]);
    let matrix = app.get("/v1/risks/matrix").send().await.expect(200);
    let counted = |side: &str| -> i64 {
        matrix[side].as_array().expect("cells").iter().filter_map(|cell| cell["count"].as_i64()).sum()
    };
    assert_eq!((counted("inherent"), &matrix["notAssessed"]), (1, &json!(3)));
    assert_eq!((counted("residual"), &matrix["residualNotAssessed"]), (1, &json!(3)));
    assert_eq!(each(app, "risks", "isAssessed=true", "title").await, ["Rated"]);
    assert_eq!(each(app, "risks", "isResidualAssessed=true", "title").await, ["After"]);
    let path = format!("/v1/risks/{}", id(&plain));
    let renamed = app.patch(&path, &json!({"title": "Renamed"})).send().await.expect(200);
    assert_eq!(flags(&renamed), [Some(false); 2]);
    let set = app.patch(&path, &json!({"impact": "insignificant"})).send().await.expect(200);
    assert_eq!(flags(&set), [Some(true), Some(false)], "somebody has said so");
    let set = app.patch(&path, &json!({"residualLikelihood": "very_unlikely"})).send().await.expect(200);
    assert_eq!(flags(&set), [Some(true); 2]);
    // Null takes a rating back: its halves are defaults again.
    let path_of = |row: &Value, kind: &str| format!("/v1/{kind}/{}", id(row));
    for (row, kind, halves) in [
        (&plain, "risks", [["likelihood", "impact"], ["residualLikelihood", "residualImpact"]]),
        (
            &vendor,
            "vendors",
            [["inherentProbability", "inherentImpact"], ["residualProbability", "residualImpact"]],
        ),
    ] {
        let change = async |body: Value| app.patch(&path_of(row, kind), &body).send().await.expect(200);
        for (side, [likelihood, impact]) in halves.into_iter().enumerate() {
            let before = flags(&change(json!({})).await)[1 - side];
            let set = change(json!({likelihood: "likely", impact: "major"})).await;
            assert_eq!(flags(&set)[side], Some(true));
            let back = change(json!({likelihood: null})).await;
            assert_eq!((flags(&back)[side], flags(&back)[1 - side]), (Some(false), before), "{kind}");
            assert_eq!(
                (&back[likelihood], &back[impact]),
                (&json!("very_unlikely"), &json!("insignificant"))
            );
            let half = change(json!({likelihood: "likely", impact: null})).await;
            assert_eq!((flags(&half)[side], &half[impact]), (Some(true), &json!("insignificant")));
            change(json!({likelihood: null, impact: null})).await;
        }
    }
    let nothing = json!({
        "title": "Null", "description": "D", "category": "other", "likelihood": null, "treatmentStrategy": null
    });
    let refused = app.post("/v1/risks", &nothing).send().await.problem(400, "validation_failed");
    assert_eq!(refused["errors"].as_array().map(Vec::len), Some(2), "there is nothing to take back");
    let set = json!({"impact": "insignificant", "residualLikelihood": "very_unlikely"});
    app.patch(&path, &set).send().await.expect(200);
    for flag in ["isAssessed", "isResidualAssessed", "treatmentDecidedAt"] {
        let own = app.patch(&path, &json!({flag: false})).send().await;
        assert_eq!(own.wrong_fields(), [flag], "nobody sets it by hand");
    }
    // A missing residual rating is empty in a table.
    let table = app.get("/v1/risks/export?order=asc").send().await.text();
    let column = |name: &str| {
        let place = table.lines().next().expect("a header").split(',').position(|one| one == name);
        let place = place.expect("a column");
        table.lines().skip(1).map(move |line| line.split(',').nth(place).unwrap_or_default().to_owned())
    };
    assert_eq!(column("isResidualAssessed").collect::<Vec<_>>(), ["true", "false", "false", "true"]);
    for name in ["residualLikelihood", "residualImpact", "residualScore"] {
        let is_empty: Vec<bool> = column(name).map(|cell| cell.is_empty()).collect();
        assert_eq!(is_empty, [false, true, true, false], "{name}");
    }
    assert!(column("likelihood").all(|cell| !cell.is_empty()));
}

async fn a_treatment_is_decided_or_a_default(app: &TestApp) {
    let (risk, vendor) = (app.risk(json!({})).await, app.vendor(json!({})).await);
    for (kind, row) in [("risks", risk), ("vendors", vendor)] {
        assert_eq!((&row["treatmentStrategy"], &row["treatmentDecidedAt"]), (&json!("accept"), &Value::Null));
        let path = format!("/v1/{kind}/{}", id(&row));
        let change = async |body: Value| {
            app.patch(&path, &body).send().await.expect(200)["treatmentDecidedAt"].clone()
        };
        assert_eq!(change(json!({"description": "Other."})).await, Value::Null);
        assert_eq!(change(json!({"treatmentStrategyDescription": null})).await, Value::Null);
        let first = change(json!({"treatmentStrategy": "accept"})).await;
        assert_ne!(first, Value::Null, "somebody accepts it");
        app.clock.advance(std::time::Duration::from_mins(1));
        assert_eq!(change(json!({"treatmentStrategy": "accept"})).await, first, "it is decided already");
        let second = change(json!({"treatmentStrategyDescription": "Insured."})).await;
        assert!(second.as_str() > first.as_str(), "{second}");
        assert_eq!(change(json!({"reviewDate": "2030-01-01"})).await, second);
        assert_eq!(change(json!({"treatmentStrategy": null})).await, Value::Null, "it is taken back");
        let both = json!({"treatmentStrategy": null, "treatmentStrategyDescription": "Insured."});
        assert_ne!(change(both).await, Value::Null, "a description is a decision");
        let neither = json!({"treatmentStrategy": null, "treatmentStrategyDescription": null});
        assert_eq!(change(neither).await, Value::Null);
    }
    let described = app.vendor(json!({"name": "X", "treatmentStrategyDescription": "By contract."})).await;
    assert_ne!(described["treatmentDecidedAt"], Value::Null);
    let decided = app.vendor(json!({"name": "Y", "treatmentStrategy": "transfer"})).await;
    assert_ne!(decided["treatmentDecidedAt"], Value::Null);
    assert_eq!(each(app, "vendors", "treatmentStrategy=transfer", "name").await, ["Y"]);
    // Exporting and importing a default does not turn it into a decision.
    let table = app.get("/v1/vendors/export?order=asc").send().await;
    app.vendor(json!({"name": "Undecided"})).await;
    import(app, "vendors", "text/csv", table.body).await.expect(200);
    let table = app.get("/v1/vendors/export?q=Undecided").send().await;
    let done = import(app, "vendors", "text/csv", table.body).await.expect(200);
    let path = format!("/v1/vendors/{}", done["ids"][0].as_str().expect("an id"));
    assert_eq!(app.get(&path).send().await.expect(200)["treatmentDecidedAt"], Value::Null);
}

async fn pages_have_numbers_for_those_who_want_them(app: &TestApp) {
    for number in 0..7 {
        app.risk(json!({"title": format!("Risk {number}")})).await;
        app.vendor(json!({"name": format!("Vendor {number}")})).await;
    }
    let page =
        app.get("/v1/risks?page=2&perPage=3&sort=createdAt&sortDirection=asc").send().await.expect(200);
    let titles: Vec<&str> =
        page["data"].as_array().expect("rows").iter().filter_map(|row| row["title"].as_str()).collect();
    assert_eq!(titles, ["Risk 3", "Risk 4", "Risk 5"]);
    assert_eq!([&page["total"], &page["page"], &page["pageCount"], &page["count"]], [7, 2, 3, 3]);
    let last = app.get("/v1/vendors?page=3&perPage=3").send().await.expect(200);
    assert_eq!(
        (&last["count"], &last["data"][0]["name"], &last["nextCursor"]),
        (&json!(1), &json!("Vendor 0"), &Value::Null)
    );
    let beyond = app.get("/v1/vendors?page=4000000000&perPage=1000").send().await.expect(200);
    assert_eq!([&beyond["total"], &beyond["pageCount"], &beyond["count"]], [7, 1, 0]);
    let usual =
        app.get("/v1/risks?page=1&perPage=50&sort=createdAt&sortDirection=desc").send().await.expect(200);
    assert_eq!((&usual["count"], &usual["data"][0]["title"]), (&json!(7), &json!("Risk 6")));
    let found = app.get("/v1/risks?search=risk%203&page=1").send().await.expect(200);
    assert_eq!((&found["total"], &found["data"][0]["title"]), (&json!(1), &json!("Risk 3")));
    let plain = app.get("/v1/risks").send().await.expect(200);
    assert_eq!((plain.get("page"), plain.get("pageCount"), plain.get("total")), (None, None, None));
    for (query, wrong) in [
        ("page=0", "page"),
        ("page=x", "page"),
        ("perPage=0", "perPage"),
        ("perPage=1001", "perPage"),
        ("page=1&limit=2", "limit"),
        ("page=1&cursor=x", "cursor"),
        ("q=a&search=b", "search"),
        ("order=asc&sortDirection=asc", "sortDirection"),
        ("sortDirection=up", "sortDirection"),
        ("offset=1", "offset"),
    ] {
        let wrong_fields = app.get(&format!("/v1/risks?{query}")).send().await.wrong_fields();
        assert!(wrong_fields.contains(&wrong.to_owned()), "{query}: {wrong_fields:?}");
    }
}

async fn reviews_fall_due(app: &TestApp) {
    for (title, date) in [
        ("past", json!("2026-11-14")),
        ("today", json!("2026-11-15")),
        ("later", json!("2026-11-16")),
        ("never", Value::Null),
    ] {
        app.risk(json!({"title": title, "reviewDate": date})).await;
    }
    assert_eq!(each(app, "risks", "reviewDue=true", "title").await, ["past", "today"]);
    assert_eq!(each(app, "risks", "reviewDue=false", "title").await.len(), 4);
    assert_eq!(each(app, "risks", "reviewDue=true&asOf=2026-11-15", "title").await, ["past", "today"]);
    let zone =
        async |name: &str| app.patch("/v1/organization", &json!({"timeZone": name})).send().await.expect(200);
    zone("Pacific/Kiritimati").await;
    app.clock.advance(Duration::from_hours(2));
    assert_eq!(
        each(app, "risks", "reviewDue=true", "title").await,
        ["past", "today", "later"],
        "it is the 16th there"
    );
    assert_eq!(each(app, "risks", "reviewDue=true&asOf=2026-11-15", "title").await, ["past", "today"]);
    zone("UTC").await;
    app.clock.advance(Duration::from_hours(22));
    assert_eq!(each(app, "risks", "reviewDue=true", "title").await, ["past", "today", "later"]);
    let then = "reviewDue=true&asOf=2026-11-15";
    assert_eq!(each(app, "risks", then, "title").await, ["past", "today"], "what was due then");
    zone("Pacific/Kiritimati").await;
    assert_eq!(each(app, "risks", then, "title").await, ["past", "today"], "a date is that day everywhere");
    for wrong in ["2026-02-30", "15.11.2026", "2026-11-15T00:00:00Z", ""] {
        let body = json!({"title": "a", "description": "b", "category": "other", "reviewDate": wrong});
        assert_eq!(app.post("/v1/risks", &body).send().await.wrong_fields(), ["reviewDate"], "{wrong}");
    }
}

async fn sub_processors_are_told_apart(app: &TestApp) {
    assert_eq!(app.vendor(json!({"name": "Plain"})).await["isSubProcessor"], false);
    app.vendor(json!({"name": "Cloudy", "isSubProcessor": true})).await;
    assert_eq!(each(app, "vendors", "isSubProcessor=true", "name").await, ["Cloudy"]);
    assert_eq!(each(app, "vendors", "isSubProcessor=false", "name").await, ["Plain"]);
    assert_eq!(app.get("/v1/vendors?isSubProcessor=yes").send().await.wrong_fields(), ["isSubProcessor"]);
}

async fn lists_count_when_asked(app: &TestApp) {
    let made = app.risk(json!({"title": "one"})).await;
    app.risk(json!({"title": "two"})).await;
    app.risk(json!({"title": "gone", "status": "archived"})).await;
    let about = json!({"content": "c", "entityType": "risk", "entityId": made["id"]});
    app.post("/v1/comments", &about).send().await.expect(201);
    for (path, total) in [
        ("/v1/risks?limit=1", 2),
        ("/v1/risks?limit=1&q=one", 1),
        ("/v1/risks?status=archived", 1),
        ("/v1/risks?limit=1&asOf=2026-11-15", 2),
        ("/v1/vendors?", 0),
        ("/v1/people?limit=1", 1),
        ("/v1/people?isActive=false", 0),
        ("/v1/organization/api-keys?", 1),
        (&format!("/v1/comments?entityType=risk&entityId={}", id(&made)), 1),
        (&format!("/v1/risks/{}/attachments?", id(&made)), 0),
        ("/v1/audit-logs?limit=1&entityType=risk", 3),
    ] {
        let counted = app.get(&format!("{path}&total=true")).send().await.expect(200);
        assert_eq!(counted["total"], total, "{path}");
        assert!(
            app.get(path).send().await.expect(200).get("total").is_none(),
            "{path} counts only when asked"
        );
    }
}

async fn the_past_is_asked_by_time_or_day_and_not_the_future(app: &TestApp) {
    app.risk(json!({"title": "today"})).await;
    app.clock.advance(Duration::from_hours(24));
    app.risk(json!({"title": "tomorrow"})).await;
    for (moment, count) in
        [("2026-11-14", 0), ("2026-11-15", 1), ("2026-11-16", 2), ("2026-11-16T09:29:59Z", 1)]
    {
        let found = app.get(&format!("/v1/risks?asOf={moment}")).send().await.expect(200);
        assert_eq!(found["count"], count, "{moment}: the end of the day, and today means now");
    }
    for path in ["/v1/risks?asOf=", "/v1/vendors/export?asOf="] {
        for future in ["2026-11-17", "2026-11-16T09:30:01Z", "9999-12-31"] {
            let reply = app.get(&format!("{path}{future}")).send().await;
            assert_eq!(reply.wrong_fields(), ["asOf"], "{future}");
            assert!(reply.text().contains("future"), "{}", reply.text());
        }
        assert_eq!(app.get(&format!("{path}yesterday")).send().await.wrong_fields(), ["asOf"]);
    }
    for (range, count) in [
        ("from=2026-11-16", 1),
        ("to=2026-11-15", 1),
        ("from=2026-11-15&to=2026-11-16", 2),
        ("to=2026-11-14", 0),
    ] {
        let log = app.get(&format!("/v1/audit-logs?action=risk.created&{range}")).send().await.expect(200);
        assert_eq!(log["count"], count, "{range}");
    }
}

/// The first sheet of a workbook: its name, and its rows by the names of their columns.
fn sheet(bytes: &[u8]) -> (String, Vec<BTreeMap<String, Data>>) {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.to_vec())).expect("a workbook");
    let name = book.sheet_names()[0].clone();
    let range = book.worksheet_range(&name).expect("a sheet");
    let mut rows = range.rows();
    let header: Vec<String> = rows.next().expect("a header").iter().map(ToString::to_string).collect();
    (name, rows.map(|row| header.iter().cloned().zip(row.iter().cloned()).collect()).collect())
}

fn part(bytes: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes.to_vec())).expect("an archive");
    std::io::read_to_string(archive.by_name(name).expect("a part")).expect("text")
}

async fn spreadsheets_hold_numbers_and_dates(app: &TestApp) {
    app.risk(json!({
        "title": "=1+1", "likelihood": "likely", "impact": "major", "reviewDate": "2027-01-31",
        "assigneeId": app.home.member
    }))
    .await;
    let reply = app.get("/v1/risks/export?format=xlsx").send().await;
    let (name, rows) = sheet(&reply.body);
    assert_eq!((name.as_str(), rows.len()), ("Risks", 1));
    let row = &rows[0];
    assert_eq!(row["inherentScore"], Data::Float(16.0));
    assert_eq!(row["isAssessed"], Data::Bool(true));
    assert_eq!(row["title"], Data::String("=1+1".to_owned()), "text, and no formula");
    assert_eq!(row["reference"], Data::String("R-1".to_owned()));
    assert!(matches!(row["reviewDate"], Data::DateTime(day) if day.to_ymd_hms_milli().0 == 2027), "{row:?}");
    assert!(matches!(row["createdAt"], Data::DateTime(time) if time.to_ymd_hms_milli().3 == 9), "{row:?}");
    let owner = app.get(&format!("/v1/people/{}", app.home.member)).send().await.expect(200);
    assert_eq!(row["assigneeName"].to_string(), owner["user"]["name"].as_str().expect("a name"));
    let xml = part(&reply.body, "xl/worksheets/sheet1.xml");
    for wanted in ["<pane ", "state=\"frozen\"", "<autoFilter ref=\"A1:", "<col min=\"1\""] {
        assert!(xml.contains(wanted), "{wanted} is missing");
    }
    let csv = app.get("/v1/risks/export?bom=true").send().await;
    assert!(csv.body.starts_with("\u{feff}id,reference,".as_bytes()));
    assert!(!app.get("/v1/risks/export").send().await.text().starts_with('\u{feff}'));
}

async fn an_excel_file_is_imported_like_csv(app: &TestApp) {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let names = ["Name", "DESCRIPTION", "isSubProcessor", "reviewDate", "assigneeId", "assigneeName"];
    for (column, name) in (0_u16..).zip(names) {
        sheet.write(0, column, name).expect("a header");
    }
    let day = ExcelDateTime::from_ymd(2027, 1, 31).expect("a day");
    sheet.write(1, 0, "Cloudy").expect("a cell");
    sheet.write(1, 1, 42).expect("a cell");
    sheet.write(1, 2, true).expect("a cell");
    sheet.write_with_format(1, 3, &day, &Format::new().set_num_format("yyyy-mm-dd")).expect("a cell");
    sheet.write(1, 4, &app.home.member).expect("a cell");
    // A blank line between rows.
    sheet.write(3, 0, "Plain").expect("a cell");
    sheet.write(3, 1, "Text").expect("a cell");
    let done = import(app, "vendors", XLSX, book.save_to_buffer().expect("a workbook")).await.expect(200);
    assert_eq!((&done["total"], &done["imported"]), (&json!(2), &json!(2)), "{done}");
    let first = done["ids"][0].as_str().expect("an id");
    let made = app.get(&format!("/v1/vendors/{first}")).send().await.expect(200);
    for (field, value) in [
        ("name", json!("Cloudy")),
        ("description", json!("42")),
        ("isSubProcessor", json!(true)),
        ("reviewDate", json!("2027-01-31")),
        ("assigneeId", json!(app.home.member)),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    let exported = app.get("/v1/vendors/export?format=xlsx").send().await;
    let again = import(app, "vendors", XLSX, exported.body).await.expect(200);
    assert_eq!(again["imported"], 2, "what was exported can be imported: {again}");
}

async fn a_workbook_that_is_none_or_too_large_is_refused(app: &TestApp) {
    import(app, "risks", XLSX, "title,description,category\n").await.problem(400, "malformed_body");
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.write(0, 0, "title").expect("a cell");
    sheet.write(1_000_000, 16_000, "far away").expect("a cell");
    let far = book.save_to_buffer().expect("a workbook");
    let refused = import(app, "risks", XLSX, far).await.problem(400, "malformed_body");
    assert!(refused.to_string().contains("rows"), "{refused}");
    let mut bomb = zip::ZipWriter::new(Cursor::new(Vec::new()));
    bomb.start_file("xl/sharedStrings.xml", zip::write::SimpleFileOptions::default()).expect("a part");
    for _ in 0..80 {
        std::io::Write::write_all(&mut bomb, &vec![b' '; 1 << 20]).expect("blanks");
    }
    let bomb = bomb.finish().expect("an archive").into_inner();
    assert!(bomb.len() < 200_000);
    let refused = import(app, "risks", XLSX, bomb).await.problem(400, "malformed_body");
    assert!(refused.to_string().contains("not an Excel workbook"), "{refused}");
    assert_eq!(app.get("/v1/risks").send().await.expect(200)["count"], 0);
}

/// Builds a workbook with this XML as the rows of its first sheet, and these shared strings.
fn workbook(rows: &str, strings: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    workbook_of(rows, &format!(r#"<sst xmlns="{main}">{strings}</sst>"#), "")
}

/// A workbook with these parts.
fn workbook_of(rows: &str, strings: &str, styles: &str) -> Vec<u8> {
    let mut book = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let parts = [
        ("[Content_Types].xml", r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"></Types>"#.to_owned()),
                (
            "_rels/.rels",
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#.to_owned(),
        ),
("xl/_rels/workbook.xml.rels", r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#.to_owned()),
        ("xl/workbook.xml", r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>"#.to_owned()),
        ("xl/sharedStrings.xml", strings.to_owned()),
        ("xl/styles.xml", styles.to_owned()),
        ("xl/worksheets/sheet1.xml", format!(r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#)),
    ];
    for (name, text) in parts {
        book.start_file(name, zip::write::SimpleFileOptions::default()).expect("a part");
        std::io::Write::write_all(&mut book, text.as_bytes()).expect("text");
    }
    book.finish().expect("an archive").into_inner()
}

async fn a_hostile_workbook_is_refused_in_little_memory(app: &TestApp) {
    let header = r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>"#;
    // One long text in many cells.
    let strings = format!("<si><t>title</t></si><si><t>{}</t></si>", "x".repeat(100_000));
    let row = |row: usize| format!(r#"<row r="{row}"><c r="A{row}" t="s"><v>1</v></c></row>"#);
    let rows = (2..2000).map(row).collect::<Vec<_>>().concat();
    let refused = import(app, "risks", XLSX, workbook(&format!("{header}{rows}"), &strings)).await;
    let problem = refused.problem(400, "malformed_body");
    assert!(problem.to_string().contains("MiB of text"), "{problem}");
    // Cells without a column header are not read.
    let unnamed = r#"<row r="2"><c r="A2" t="s"><v>0</v></c><c r="Z2" t="e"><v>#REF!</v></c></row>"#;
    let refused = import(app, "risks", XLSX, workbook(&format!("{header}{unnamed}"), &strings)).await;
    assert_eq!(refused.wrong_fields(), ["category", "description"]);
    let error = r#"<row r="3"><c r="A3" t="e"><v>#REF!</v></c></row>"#;
    let refused = import(app, "risks", XLSX, workbook(&format!("{header}{error}"), &strings)).await;
    assert_eq!(refused.problem(400, "validation_failed")["errors"][0]["row"], 2, "as the sheet counts");
    for strange in [
        "<row r=\"2\"><c r=\"ZZZZZZZZZZZZ2\"><v>1</v></c></row>",
        "<row r=\"4294967296\"><c r=\"A99999999999999\"><v>1</v></c></row>",
    ] {
        let reply = import(app, "risks", XLSX, workbook(&format!("{header}{strange}"), &strings)).await;
        assert_eq!(reply.status.as_u16(), 400, "{}", reply.text());
    }
    // Memory is not reserved by a count in the file, and repeated small elements count toward the limits.
    let promised = r#"<sst xmlns="x" uniqueCount="9999999999"><si><t>title</t></si></sst>"#;
    let refused = import(app, "risks", XLSX, workbook_of(header, promised, "")).await;
    assert!(refused.problem(400, "malformed_body").to_string().contains("no rows"));
    let empty = format!("<sst>{}</sst>", "<si/>".repeat(1_100_000));
    let formats = format!("<styleSheet><cellXfs>{}</cellXfs></styleSheet>", "<xf/>".repeat(100_001));
    let token = format!("<sst><si a=\"{}\"/></sst>", "x".repeat(2 << 20));
    for (strings, styles) in [(empty.as_str(), ""), ("<sst/>", formats.as_str()), (token.as_str(), "")] {
        let bytes = workbook_of(header, strings, styles);
        assert!(bytes.len() < 100_000, "it is small on the wire");
        let refused = import(app, "risks", XLSX, bytes).await.problem(400, "malformed_body");
        assert!(refused.to_string().contains("too large when it is unpacked"), "{refused}");
    }
    for broken in ["<sst><si><t>&bad;</t></si></sst>", "<sst><si><t>&#0;</t></si></sst>", "<sst><si"] {
        let refused = import(app, "risks", XLSX, workbook_of(header, broken, "")).await;
        assert!(refused.problem(400, "malformed_body").to_string().contains("damaged"), "{broken}");
    }
    assert_eq!(app.get("/v1/risks").send().await.expect(200)["count"], 0);
}

async fn a_wide_table_is_refused(app: &TestApp) {
    let wide: Vec<String> = (0..20_000).map(|number| format!("c{number}")).collect();
    let reply = import(app, "risks", "text/csv", format!("{}\n", wide.join(","))).await;
    assert!(reply.problem(400, "malformed_body").to_string().contains("200 columns"));
    let known: Vec<String> = (0..150).map(|number| format!("c{number}")).collect();
    let reply = import(app, "risks", "text/csv", format!("{}\n", known.join(","))).await;
    assert_eq!(reply.problem(400, "validation_failed")["errors"].as_array().expect("errors").len(), 100);
    for table in
        ["sep=;\ntitle;description;category\na;b;other\n", "title;\"description\";category\ra;b, c;other\r"]
    {
        import(app, "risks", "text/csv", table).await.expect(200);
    }
    let ragged = import(app, "risks", "text/csv", "title,description,category\na,b\n").await;
    assert!(ragged.problem(400, "malformed_body").to_string().contains("has 2 cells; the header has 3"));
}

async fn early_dates_and_odd_texts_survive_a_round_trip(app: &TestApp) {
    for (title, date) in [
        ("'=1+1", "1850-01-01"),
        ("'", "0001-01-01"),
        ("-x", "9999-12-31"),
        ("＝1+1", "2000-01-01"),
        ("＠x", "2000-01-02"),
    ] {
        app.risk(json!({"title": title, "reviewDate": date})).await;
    }
    let titles = each(app, "risks", "", "title").await;
    let (_, rows) = sheet(&app.get("/v1/risks/export?format=xlsx&order=asc").send().await.body);
    assert_eq!(rows[0]["reviewDate"], Data::String("1850-01-01".to_owned()));
    let csv = app.get("/v1/risks/export?order=asc").send().await;
    import(app, "risks", "text/csv", csv.body).await.expect(200);
    assert_eq!(each(app, "risks", "", "title").await, [titles.clone(), titles].concat());
    let before = app.entries(&app.home).await;
    app.call("HEAD", "/v1/risks/export").key(&app.home.key).send().await;
    assert_eq!(app.entries(&app.home).await, before, "nothing was taken along");
    for _ in 0..2 {
        app.get("/v1/risks/export").send().await;
    }
    let log = app.get("/v1/audit-logs?action=risk.exported&limit=1").send().await.expect(200);
    assert_eq!(log["data"][0]["changes"].as_array().expect("changes").len(), 2, "what was exported: {log}");
}

async fn what_nobody_rated_stays_unrated(app: &TestApp) {
    app.risk(json!({"title": "insignificant", "description": "very_unlikely"})).await;
    let rated = app.risk(json!({"title": "Rated"})).await;
    let path = format!("/v1/risks/{}", id(&rated));
    app.patch(&path, &json!({"likelihood": "very_unlikely"})).send().await.expect(200);
    for format in ["csv", "xlsx"] {
        let exported = app.get(&format!("/v1/risks/export?format={format}&order=asc")).send().await;
        let kind = if format == "csv" { "text/csv" } else { XLSX };
        let done = import(app, "risks", kind, exported.body).await.expect(200);
        let first = app
            .get(&format!("/v1/risks/{}", done["ids"][0].as_str().expect("an id")))
            .send()
            .await
            .expect(200);
        let second = app
            .get(&format!("/v1/risks/{}", done["ids"][1].as_str().expect("an id")))
            .send()
            .await
            .expect(200);
        assert_eq!((&first["isAssessed"], &second["isAssessed"]), (&json!(false), &json!(true)), "{format}");
    }
}

async fn a_version_is_written_in_quotes(app: &TestApp) {
    let path = format!("/v1/risks/{}", id(&app.risk(json!({})).await));
    let body = json!({"title": "Renamed"});
    let bare = app.patch(&path, &body).header("if-match", "1").send().await;
    assert_eq!(bare.wrong_fields(), ["If-Match"]);
    app.patch(&path, &body).header("if-match", "W/\"1\"").send().await.problem(412, "precondition_failed");
    app.patch(&path, &body).header("if-match", "\"another server\", \"1\"").send().await.expect(200);
}

async fn tables_are_read_as_people_write_them(app: &TestApp) {
    let zoe = app.member(&app.home, "zoe@example.com", "admin").await;
    let table = "Risk name,Details,Type,Owner,Chance,Severity,Treatment,Next review\n\
        Laptops are lost,With data,Vendor management,Zoe,Very likely,Major,Mitigate,31.12.2026\n\
        Office burns,All of it,operations,ZOE@example.com,possible,severe,accept,4 Mar 2027\n";
    import(app, "risks", "text/csv", table).await.expect(200);
    let rows = app.get("/v1/risks?order=asc").send().await.expect(200);
    let (first, second) = (&rows["data"][0], &rows["data"][1]);
    assert_eq!(
        (&first["title"], &first["category"]),
        (&json!("Laptops are lost"), &json!("vendor_management"))
    );
    assert_eq!((&first["likelihood"], &first["impact"]), (&json!("very_likely"), &json!("major")));
    assert_eq!((&first["assigneeId"], &first["reviewDate"]), (&zoe["id"], &json!("2026-12-31")));
    assert_eq!((&second["assigneeId"], &second["reviewDate"]), (&zoe["id"], &json!("2027-03-04")));
    // An export with the names alone can be imported.
    let export = app.get("/v1/risks/export").send().await.text();
    let named = export.replacen("assigneeId", "x", 1).replacen("assigneeName", "Risk owner", 1);
    assert!(named.contains(",x,Risk owner,"), "{named}");
    let wrong =
        "title,description,category,owner,reviewDate\na,b,other,Nobody,03/04/2026\nc,d,Weather,zoe,soon\n";
    let reply = import(app, "risks", "text/csv", wrong).await;
    let problem = reply.problem(400, "validation_failed");
    let told: Vec<String> =
        problem["errors"].as_array().expect("errors").iter().map(Value::to_string).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("nobody in this organization") && told[1].contains("two ways"), "{told:?}");
    // An alias of a column does not replace a column that is present.
    let both = "title,name,description,category\na,b,c,other\n";
    import(app, "risks", "text/csv", both).await.problem(400, "validation_failed");
    let vendors =
        "Vendor,Description,Sub-processor,URL,Probability\nCloudy,Hosts,yes,cloudy.example,Unlikely\n";
    import(app, "vendors", "text/csv", vendors).await.expect(200);
    let vendor = app.get("/v1/vendors").send().await.expect(200)["data"][0].clone();
    assert_eq!(
        (&vendor["isSubProcessor"], &vendor["inherentProbability"]),
        (&json!(true), &json!("unlikely"))
    );
}

async fn tables_are_read_with_patience(app: &TestApp) {
    let done = import(app, "risks", "text/csv", "TITLE,Description,category\na,b,other\n").await.expect(200);
    assert_eq!(done["imported"], 1, "names in any case");
    let twice = import(app, "risks", "text/csv", "title,description,Title,category\na,b,c,other\n").await;
    assert_eq!(twice.wrong_fields(), ["Title"]);
    assert!(twice.text().contains("more than once"));
    let form = import(app, "risks", "application/x-www-form-urlencoded", "title,description").await;
    assert!(form.problem(415, "unsupported_media_type").to_string().contains("--data-binary"));
    let joined = import(app, "risks", "text/csv", "title,description,categorya,b,other").await;
    assert_eq!(joined.wrong_fields(), ["b", "categorya", "other"]);
    let lost = import(app, "risks", "text/csv", "title,description,category").await;
    assert!(lost.problem(400, "malformed_body").to_string().contains("--data-binary"));
}

async fn errors_of_a_table_are_counted_and_capped(app: &TestApp) {
    let table = format!("title,description,category,reviewDate\n{}", "a,b,weather,soon\n".repeat(150));
    let refused = import(app, "risks", "text/csv", table.clone()).await.problem(400, "validation_failed");
    assert_eq!(refused["errors"].as_array().expect("errors").len(), 100);
    assert!(refused["detail"].as_str().expect("a detail").contains("300 errors"), "{refused}");
    let dry = app.call("POST", "/v1/risks/import?dryRun=true").key(&app.home.key).raw("text/csv", table);
    let dry = dry.send().await.expect(200);
    assert_eq!((&dry["errorCount"], dry["errors"].as_array().map(Vec::len)), (&json!(300), Some(300)));
    assert_eq!(dry["errors"][99], refused["errors"][99]);
    let message = "must be a date such as 2026-11-15";
    assert_eq!(dry["errors"][1], json!({"row": 1, "field": "reviewDate", "message": message}));
}

async fn exports_are_entries_with_names(app: &TestApp) {
    let made = app.risk(json!({"title": "Laptops are lost"})).await;
    app.get("/v1/risks/export?status=open").send().await;
    let log = app.get("/v1/audit-logs").send().await.expect(200);
    let (export, created) = (&log["data"][0], &log["data"][1]);
    assert_eq!((&export["action"], &export["entityId"]), (&json!("risk.exported"), &json!("risk")));
    assert_eq!(export["state"], json!({"format": "csv", "query": "status=open"}));
    assert_eq!(
        (&created["entityName"], &created["reference"]),
        (&json!("Laptops are lost"), &made["reference"])
    );
    let owner = app.get(&format!("/v1/people/{}", app.home.member)).send().await.expect(200);
    assert_eq!(created["actor"]["memberName"], owner["user"]["name"]);
    assert!(created["actor"]["name"].is_string(), "the key's name: {created}");
    let session = app.sign_in(&app.home.email).await;
    let path = format!("/v1/risks/{}", id(&made));
    app.call("DELETE", &path).session(&session, &app.home.organization).send().await.expect(200);
    let log = app.get("/v1/audit-logs").send().await.expect(200);
    let gone = &log["data"][0];
    assert_eq!((&gone["action"], &gone["entityName"]), (&json!("risk.deleted"), &json!("Laptops are lost")));
    assert_eq!(gone["actor"]["name"], owner["user"]["name"]);
    let auditor = app.member(&app.home, "auditor@example.com", "auditor").await;
    let log = app.get(&format!("/v1/audit-logs?entityId={}", id(&auditor))).send().await.expect(200);
    assert_eq!(log["data"][0]["entityName"], auditor["user"]["name"], "{log}");
}

async fn the_log_is_a_table_too(app: &TestApp) {
    app.risk(json!({"title": "One, two"})).await;
    let reply = app.get("/v1/audit-logs/export?entityType=risk").send().await;
    assert_eq!(
        reply.header("content-disposition"),
        Some("attachment; filename=\"audit-log-2026-11-15.csv\"")
    );
    let text = reply.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("sequence,at,action,entityType,entityId,entityName,reference,"), "{text}");
    assert!(lines.len() == 2 && lines[1].contains("risk.created"), "{text}");
    assert!(lines[1].contains("\"One, two\",R-1,"), "{text}");
    let log = app.get("/v1/audit-logs?limit=1").send().await.expect(200);
    assert_eq!(log["data"][0]["action"], "audit_log.exported");
    let (name, rows) = sheet(&app.get("/v1/audit-logs/export?format=xlsx").send().await.body);
    assert_eq!(name, "Audit-log");
    let head = app.get("/v1/audit-logs/head").send().await.expect(200)["sequence"].to_string();
    assert_eq!((rows[0]["sequence"].to_string(), rows.len().to_string()), (head.clone(), head), "all of it");
}

async fn a_sheet_of_a_workbook_is_chosen(app: &TestApp) {
    let mut book = Workbook::new();
    book.add_worksheet().set_name("Read me").expect("a name").write(0, 0, "Notes").expect("a cell");
    let risks = book.add_worksheet().set_name("Our risks").expect("a name");
    for (column, name) in (0..).zip(["Risk name", "Description", "Category"]) {
        risks.write(0, column, name).expect("a cell");
    }
    for (column, cell) in (0..).zip(["Laptop stolen", "It is.", "technology"]) {
        risks.write(3, column, cell).expect("a cell");
    }
    let book = book.save_to_buffer().expect("a workbook");
    let send = |path: &str| {
        let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
        app.call("POST", path).key(&app.home.key).raw(kind, book.clone()).send()
    };
    let first = send("/v1/risks/import/preview").await.expect(200);
    assert_eq!(first, json!({"sheets": ["Read me", "Our risks"], "columns": ["Notes"], "rows": []}));
    let second = send("/v1/risks/import/preview?sheet=Our%20risks").await.expect(200);
    assert_eq!(second["columns"], json!(["Risk name", "Description", "Category"]));
    assert_eq!(second["rows"], json!([{"row": 3, "cells": ["Laptop stolen", "It is.", "technology"]}]));
    let unknown = send("/v1/risks/import?sheet=Theirs").await.problem(400, "malformed_body");
    assert!(unknown["detail"].as_str().expect("a detail").contains("Read me, Our risks"), "{unknown}");
    send("/v1/risks/import/preview?sheets=x").await.problem(400, "validation_failed");
    let made = send("/v1/risks/import?sheet=Our%20risks").await.expect(200);
    assert_eq!(made["imported"], 1);
    let csv = app.call("POST", "/v1/risks/import/preview").key(&app.home.key).raw("text/csv", "title\nA\n");
    assert_eq!(csv.send().await.expect(200)["sheets"], json!([]));
    app.member(&app.home, "eve@example.com", "employee").await;
    let eve = app.sign_in("eve@example.com").await;
    let refused = app.call("POST", "/v1/risks/import/preview").session(&eve, &app.home.organization);
    refused.raw("text/csv", "title\nA\n").send().await.problem(403, "forbidden");
}
