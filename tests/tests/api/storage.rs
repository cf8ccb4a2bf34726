//! Behaviour below the API: statements, schemas, transactions.

use std::collections::BTreeMap;

use attestry_app::Error;
use attestry_db::{Config, Db, Error as DbError, RowChange, Tx, Value};
use attestry_domain::id::OrganizationId;
use attestry_domain::registers::risks::{RiskCategory, RiskStatus, TreatmentStrategy};
use attestry_domain::registers::subjects::Subject;
use attestry_domain::registers::vendors::{VendorCategory, VendorStatus};
use attestry_domain::words::Department;
use attestry_storage::schema::{Belongs, MIGRATIONS, TABLES};
use attestry_storage::{archive, instance, jobs, statements};
use attestry_tests::{Engine, TestApp, both, run};
use futures_util::FutureExt;
use futures_util::future::{Either, join_all, select};
use tempfile::TempDir;

/// Limits a claim in total, but not per organization.
fn most(in_all: i64) -> jobs::ClaimLimits {
    jobs::ClaimLimits { in_all, of_one: i64::MAX }
}

both! {
    every_statement_is_understood,
    each_table_belongs_to_an_organization_or_is_known_not_to,
    an_error_rolls_back_its_own_transaction_alone,
    a_swallowed_error_is_not_told_as_success,
    a_cancelled_write_leaves_the_connection_usable,
    writers_of_a_lane_do_not_harm_each_other,
    what_a_failed_body_noted_is_gone,
    what_is_found_is_the_newest_and_complete,
    jobs_are_claimed_once,
    organizations_take_turns_in_the_queue,
    an_end_is_written_by_the_holder_of_the_lease,
    a_unique_job_waits_once,
    housekeeping_removes_what_expired,
    a_dump_can_be_loaded_again,
}

async fn schema(app: &TestApp) -> BTreeMap<String, Vec<(String, String, bool)>> {
    let sql = match app.engine() {
        Engine::Sqlite => {
            "SELECT m.name, p.name, lower(p.type), p.\"notnull\" FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'"
        }
        Engine::Postgres => {
            "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT), CAST(data_type AS TEXT), CAST(CASE WHEN is_nullable = 'NO' THEN 1 ELSE 0 END AS BIGINT) FROM information_schema.columns WHERE table_schema = 'public'"
        }
    };
    let rows = app
        .ctx
        .db
        .read(async move |t| {
            t.all(sql, &[], |row| Ok((row.text(0)?, row.text(1)?, row.text(2)?, row.int(3)? != 0))).await
        })
        .await;
    let mut tables: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (table, column, kind, not_null) in rows.expect("a schema") {
        let kind = if kind == "blob" { "bytea".to_owned() } else { kind };
        tables.entry(table).or_default().push((column, kind, not_null));
    }
    tables.retain(|name, _| TABLES.iter().any(|table| table.name == name));
    for columns in tables.values_mut() {
        columns.sort();
    }
    tables
}

/// Returns the indexes and keys with their columns and uniqueness.
async fn indexes(app: &TestApp) -> Vec<(String, String, bool)> {
    let sql = match app.engine() {
        Engine::Sqlite => {
            "SELECT m.name, (SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)), i.\"unique\" FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table'"
        }
        Engine::Postgres => {
            "SELECT CAST(c.relname AS TEXT), (SELECT string_agg(CAST(a.attname AS TEXT), ',' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY k(col, n) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.col), CAST(CASE WHEN i.indisunique THEN 1 ELSE 0 END AS BIGINT) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = 'public'"
        }
    };
    let rows = app
        .ctx
        .db
        .read(async move |t| t.all(sql, &[], |row| Ok((row.text(0)?, row.text(1)?, row.int(2)? != 0))).await)
        .await;
    let mut rows: Vec<_> = rows
        .expect("indexes")
        .into_iter()
        .filter(|(table, ..)| TABLES.iter().any(|known| known.name == *table))
        .collect();
    rows.sort();
    rows
}

/// Returns the foreign keys as table, column, referenced table.
async fn references(app: &TestApp) -> Vec<(String, String, String)> {
    let sql = match app.engine() {
        Engine::Sqlite => {
            "SELECT m.name, f.\"from\", f.\"table\" FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'"
        }
        Engine::Postgres => {
            "SELECT CAST(c.relname AS TEXT), CAST(a.attname AS TEXT), CAST(r.relname AS TEXT) FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class r ON r.oid = f.confrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = f.conkey[1] WHERE f.contype = 'f'"
        }
    };
    let rows = app
        .ctx
        .db
        .read(async move |t| t.all(sql, &[], |row| Ok((row.text(0)?, row.text(1)?, row.text(2)?))).await)
        .await;
    let mut rows = rows.expect("foreign keys");
    rows.sort();
    rows
}

#[test]
fn both_databases_have_the_same_schema() {
    let collect = |engine| {
        let mut out = None;
        run(engine, async |app| out = Some((schema(app).await, indexes(app).await, references(app).await)));
        out.expect("a schema")
    };
    let (sqlite, postgres) = (collect(Engine::Sqlite), collect(Engine::Postgres));
    assert_eq!(sqlite.0, postgres.0);
    assert_eq!(sqlite.1, postgres.1);
    assert_eq!(sqlite.2, postgres.2);
    assert_eq!(sqlite.0.len(), TABLES.len());
}

/// Returns the words that the schema's checks allow, by table and column.
fn allowed_words() -> BTreeMap<(String, String), Vec<String>> {
    let mut found = BTreeMap::new();
    for step in MIGRATIONS {
        let mut table = String::new();
        for line in step.sql.lines() {
            if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
                rest.trim_end_matches(" (").clone_into(&mut table);
            }
            let Some((_, check)) = line.split_once("CHECK (") else { continue };
            let Some((column, words)) = check.split_once(" IN (") else { continue };
            let words = words.split(')').next().expect("words").split(", ");
            let words = words.map(|word| word.trim_matches('\'').to_owned()).collect();
            found.insert((table.clone(), column.to_owned()), words);
        }
    }
    found
}

#[test]
fn the_databases_allow_the_words_of_the_program() {
    macro_rules! words {
        ($($table:literal $column:literal $type:ty;)*) => {
            [$(($table, $column, <$type>::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>())),*]
        };
    }
    let known = words! {
        "members" "department" Department;
        "risks" "category" RiskCategory;
        "risks" "department" Department;
        "risks" "status" RiskStatus;
        "risks" "treatment_strategy" TreatmentStrategy;
        "vendors" "category" VendorCategory;
        "vendors" "status" VendorStatus;
        "attachments" "entity_type" Subject;
        "comments" "entity_type" Subject;
    };
    let all = allowed_words();
    for (table, column, mut words) in known {
        let allowed = &all[&(table.to_owned(), column.to_owned())];
        if table == "comments" {
            words.retain(|word| *word != "comment");
        }
        // The schema may allow more entity types for comments and files than are in use.
        let is_open = column == "entity_type";
        assert!(words.iter().all(|word| allowed.iter().any(|known| known == word)), "{table}.{column}");
        assert!(is_open || allowed.len() == words.len(), "{table}.{column}: {allowed:?}");
    }
}

async fn every_statement_is_understood(app: &TestApp) {
    for (file, statements) in statements() {
        for sql in statements {
            let prepared = app.ctx.db.read(async move |t| t.prepare(sql).await).await;
            assert!(prepared.is_ok(), "{file}: {sql}: {prepared:?}");
        }
    }
}

async fn each_table_belongs_to_an_organization_or_is_known_not_to(app: &TestApp) {
    for (table, columns) in schema(app).await {
        let has = columns.iter().any(|(column, ..)| column == "org_id");
        let known = TABLES.iter().find(|known| known.name == table).expect("a known table");
        assert_eq!(has, known.belongs != Belongs::ToNone, "{table}");
    }
}

async fn an_error_rolls_back_its_own_transaction_alone(app: &TestApp) {
    let db = &app.ctx.db;
    let good =
        |name: &'static str| db.write(async move |t| instance::put(t, name, "1").await.map_err(Error::from));
    let bad = db.write(async |t| {
        instance::put(t, "bad", "1").await?;
        Err::<(), _>(Error::NotFound("reason"))
    });
    let panics = db.write(async |t| {
        instance::put(t, "panics", "1").await?;
        assert!(!app_is_there(), "on purpose");
        Ok::<_, Error>(())
    });
    // On PostgreSQL a body runs in its caller's task, so its panic reaches the caller.
    let panics = std::panic::AssertUnwindSafe(panics).catch_unwind();
    let (first, bad, panicked, second) = futures_util::join!(good("first"), bad, panics, good("second"));
    let reason = match panicked {
        Ok(result) => result.expect_err("it panicked").to_string(),
        Err(panic) => panic.downcast_ref::<&str>().expect("a text").to_string(),
    };
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    assert!(matches!(bad, Err(Error::NotFound("reason"))));
    assert!(reason.contains("on purpose"), "{reason}");
    for (name, there) in [("first", true), ("second", true), ("bad", false), ("panics", false)] {
        let found = db.read(async move |t| instance::get(t, name).await).await.expect("a read");
        assert_eq!(found.is_some(), there, "{name}");
    }
}

async fn a_swallowed_error_is_not_told_as_success(app: &TestApp) {
    let swallowed = app.ctx.db.write(async |t| {
        instance::put(t, "swallowed", "1").await?;
        // A body that continues after a failed statement.
        let _ = t.execute("INSERT INTO organizations (id) VALUES (NULL)", &[]).await;
        Ok::<_, DbError>(())
    });
    let good = app.ctx.db.write(async |t| instance::put(t, "neighbour", "1").await);
    let (swallowed, good) = futures_util::join!(swallowed, good);
    assert!(swallowed.is_err() && good.is_ok(), "{swallowed:?} {good:?}");
    for (name, there) in [("neighbour", true), ("swallowed", false)] {
        let found = app.ctx.db.read(async move |t| instance::get(t, name).await).await.expect("a read");
        assert_eq!(found.is_some(), there, "{name}");
    }
}

async fn a_cancelled_write_leaves_the_connection_usable(app: &TestApp) {
    for _ in 0..10 {
        let write = app.ctx.db.write(async |t| instance::put(t, "x", "1").await);
        let _ = futures_util::future::select(Box::pin(write), Box::pin(tokio::task::yield_now())).await;
    }
    app.ctx.db.write(async |t| instance::put(t, "y", "1").await).await.expect("still works");
}

const SET: RowChange = RowChange::Single("UPDATE instance SET value = $2 WHERE name = $1");

/// Reads a counter and then writes it, immediately or queued: two concurrent ones would lose a count.
async fn count_up(t: &Tx<'_>, counter: &'static str, later: bool) -> Result<(), Error> {
    let found = instance::get(t, counter).await?;
    let now = found.as_ref().map_or(0, |count| count.parse::<i64>().expect("a number")) + 1;
    match later && found.is_some() {
        true => t.execute_later(SET, vec![Value::from(counter), Value::from(now.to_string())]).await?,
        false => instance::put(t, counter, &now.to_string()).await?,
    }
    Ok(())
}

const BREAKS: &str = "INSERT INTO organizations (id) VALUES (NULL)";

async fn writers_of_a_lane_do_not_harm_each_other(app: &TestApp) {
    const COUNTERS: [&str; 4] = ["counter 0", "counter 1", "counter 2", "counter 3"];
    let db = &app.ctx.db;
    let write = async |number: usize| {
        let counter = COUNTERS[number % COUNTERS.len()];
        let written = db.write_in(7, async move |t| {
            match number % 9 {
                // Nothing was changed yet.
                1 => {
                    instance::get(t, counter).await?;
                    return Err(Error::NotFound("reason"));
                }
                _ => count_up(t, counter, number.is_multiple_of(2)).await?,
            }
            match number % 9 {
                2 => return Err(Error::NotFound("reason")),
                5 => drop(t.execute(BREAKS, &[]).await?),
                7 => t.execute_later(RowChange::Single(BREAKS), Vec::new()).await?,
                _ => {}
            }
            Ok(())
        });
        if number % 13 == 6 {
            // The caller stops waiting.
            let some = async {
                for _ in 0..number {
                    tokio::task::yield_now().await;
                }
            };
            return match select(Box::pin(written), Box::pin(some)).await {
                Either::Left((written, _)) => written.is_ok().then_some(counter),
                Either::Right(_) => None,
            };
        }
        match (number % 9, written.await) {
            (1 | 2, Err(Error::NotFound("reason"))) | (5 | 7, Err(_)) => None,
            (_, Ok(())) => Some(counter),
            (_, unexpected) => panic!("{number}: {unexpected:?}"),
        }
    };
    let mut told: BTreeMap<&str, i64> = BTreeMap::new();
    for counter in join_all((0..200).map(write)).await.into_iter().flatten() {
        *told.entry(counter).or_default() += 1;
    }
    assert_eq!(told.len(), COUNTERS.len());
    for (counter, told) in told {
        let found = db.read(async move |t| instance::get(t, counter).await).await.expect("a read");
        let kept: i64 = found.expect("a count").parse().expect("a number");
        // Cancelled writes may have been committed; there are at most four for each counter.
        assert!((told..=told + 4).contains(&kept), "{counter}: {told} were told, {kept} are kept");
    }
    // Alone, followed only by the commit.
    let breaks = db.write_in(7, async |t| {
        count_up(t, "counter 4", false).await?;
        t.execute_later(RowChange::Single(BREAKS), Vec::new()).await?;
        Ok::<_, Error>(())
    });
    breaks.await.expect_err("a change that failed is not told as success");
    db.write_in(7, async |t| count_up(t, "counter 4", false).await).await.expect("the lane goes on");
    let kept = db.read(async |t| instance::get(t, "counter 4").await).await.expect("a read");
    assert_eq!(kept.as_deref(), Some("1"));
}

/// The count so far of bodies that share a transaction.
struct Counted(i64);

async fn what_a_failed_body_noted_is_gone(app: &TestApp) {
    let db = &app.ctx.db;
    let write = |number: usize| {
        db.write_in(7, async move |t| {
            let noted = t.last_commit_record(|counted: &Counted| Some(counted.0));
            let before = match noted {
                Some(counted) => counted,
                None => {
                    instance::get(t, "counted").await?.map_or(0, |count| count.parse().expect("a number"))
                }
            };
            let now = before + 1;
            t.defer_to_commit(Counted(now));
            let value = now.to_string();
            match before {
                0 => instance::put(t, "counted", &value).await?,
                _ => t.execute_later(SET, vec![Value::from("counted"), Value::from(value)]).await?,
            }
            match number % 7 {
                3 => Err(Error::NotFound("reason")),
                _ => Ok(now),
            }
        })
    };
    let mut counted: Vec<_> =
        join_all((0..150).map(write)).await.into_iter().filter_map(Result::ok).collect();
    counted.sort_unstable();
    assert_eq!(counted, (1..=129).collect::<Vec<_>>());
    let kept = db.read(async |t| instance::get(t, "counted").await).await.expect("a read");
    assert_eq!(kept.as_deref(), Some("129"));
}

async fn what_is_found_is_the_newest_and_complete(app: &TestApp) {
    // Longer than the limit of inline reads.
    const SLOW: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT COUNT(*) FROM n";
    let db = &app.ctx.db;
    for round in 0..20 {
        let value = round.to_string();
        db.write(async move |t| instance::put(t, "found", &value).await).await.expect("a write");
        let found = (0..4).map(|_| db.find(async |t| instance::get(t, "found").await));
        for found in join_all(found).await {
            assert_eq!(found.expect("a read"), Some(round.to_string()));
        }
    }
    let slow = (0..4).map(|_| db.find(async |t| t.one(SLOW, &[], |row| row.int(0)).await));
    for counted in join_all(slow).await {
        assert_eq!(counted.expect("a read"), 300_000);
    }
    let refused = db.find(async |t| {
        t.one("SELECT id FROM organizations WHERE id = 'none'", &[], |row| row.text(0)).await
    });
    assert!(matches!(refused.await, Err(DbError::Other(_))));
    if app.engine() == Engine::Sqlite {
        let changed = db.find(async |t| instance::put(t, "found", "by a read").await);
        assert!(changed.await.is_err(), "its connection only reads");
    }
}

async fn jobs_are_claimed_once(app: &TestApp) {
    let ctx = &app.ctx;
    for _ in 0..20 {
        let own = ctx.clone();
        let id = ctx.ids.next();
        ctx.db
            .write(async move |t| {
                let job = jobs::NewJob {
                    id,
                    kind: "test",
                    organization: None,
                    payload: b"",
                    unique_key: None,
                    run_at: own.now(),
                    created_at: own.now(),
                };
                jobs::enqueue(t, &job).await
            })
            .await
            .expect("enqueued");
    }
    let now = ctx.now();
    let claims = (0..4).map(|worker| {
        ctx.db.write(async move |t| {
            let until = now.plus(std::time::Duration::from_mins(1));
            jobs::claim(t, "test", &format!("w{worker}"), now, until, most(8)).await
        })
    });
    let mut ids: Vec<String> = futures_util::future::join_all(claims)
        .await
        .into_iter()
        .flat_map(|jobs| jobs.expect("claimed"))
        .map(|job| job.id.to_string())
        .collect();
    ids.sort();
    let total = ids.len();
    ids.dedup();
    assert_eq!((ids.len(), total), (20, 20));
    // An expired lease can be claimed again.
    let later = now.plus(std::time::Duration::from_secs(61));
    let again = ctx
        .db
        .write(async move |t| jobs::claim(t, "test", "w9", later, later, most(100)).await)
        .await
        .expect("claimed");
    assert_eq!((again.len(), again[0].attempts), (20, 2));
    ctx.db.write(async |t| t.execute("DELETE FROM jobs", &[]).await).await.expect("emptied");
}

async fn put_job(app: &TestApp, organization: Option<OrganizationId>) {
    let (id, now) = (app.ctx.ids.next(), app.ctx.now());
    let put = app.ctx.db.write(async move |t| {
        let (kind, payload, unique_key) = ("test", b"".as_slice(), None);
        let job = jobs::NewJob { id, kind, organization, payload, unique_key, run_at: now, created_at: now };
        jobs::enqueue(t, &job).await
    });
    put.await.expect("enqueued");
}

async fn organizations_take_turns_in_the_queue(app: &TestApp) {
    let (one, two) = (OrganizationId::from_u128(1), OrganizationId::from_u128(2));
    for organization in [one, one, one, one, two] {
        put_job(app, Some(organization)).await;
    }
    let now = app.ctx.now();
    let claim = async |lease: &'static str| {
        let until = now.plus(std::time::Duration::from_mins(1));
        let claimed =
            app.ctx.db.write(async move |t| jobs::claim(t, "test", lease, now, until, most(2)).await).await;
        claimed.expect("claimed").into_iter().filter_map(|job| job.organization).collect::<Vec<_>>()
    };
    let mut first = claim("first").await;
    first.sort();
    assert_eq!(first, [one, two], "one of each before a second of any");
    assert_eq!(claim("second").await, [one, one]);
    // Three are leased, which is the limit per organization.
    let until = now.plus(std::time::Duration::from_mins(1));
    let capped = jobs::ClaimLimits { in_all: 10, of_one: 3 };
    let claimed = app.ctx.db.write(async move |t| jobs::claim(t, "test", "third", now, until, capped).await);
    assert_eq!(claimed.await.expect("claimed").len(), 0);
    assert_eq!(claim("fourth").await, [one]);
    app.ctx.db.write(async |t| t.execute("DELETE FROM jobs", &[]).await).await.expect("emptied");
}

async fn an_end_is_written_by_the_holder_of_the_lease(app: &TestApp) {
    put_job(app, None).await;
    let now = app.ctx.now();
    let claim = async |lease: &'static str, at: attestry_domain::Time| {
        let until = at.plus(std::time::Duration::from_mins(1));
        let claimed =
            app.ctx.db.write(async move |t| jobs::claim(t, "test", lease, at, until, most(2)).await).await;
        claimed.expect("claimed").pop()
    };
    let lost = claim("lost", now).await.expect("the job");
    let later = now.plus(std::time::Duration::from_secs(61));
    let held = claim("held", later).await.expect("the job again");
    assert_eq!((held.id, held.attempts), (lost.id, 2));
    let id = held.id;
    let ends = app.ctx.db.write(async move |t| {
        Ok::<_, DbError>([
            jobs::extend(t, id, "lost", later).await?,
            jobs::complete(t, id, "lost").await?,
            jobs::retry(t, id, "lost", later, "error").await?,
            jobs::fail(t, id, "lost", "error").await?,
            jobs::again(t, id, "lost", later).await?,
        ])
    });
    assert_eq!(ends.await.expect("nothing changed"), [false; 5]);
    let again = app.ctx.db.write(async move |t| jobs::again(t, id, "held", later).await).await;
    assert!(again.expect("put back"), "it is the holder's");
    assert_eq!(claim("afresh", later).await.expect("the job").attempts, 1, "a recurring job starts afresh");
    app.ctx.db.write(async |t| t.execute("DELETE FROM jobs", &[]).await).await.expect("emptied");
}

async fn a_unique_job_waits_once(app: &TestApp) {
    attestry_app::core::queue::schedule(&app.ctx).await.expect("scheduled");
    attestry_app::core::queue::schedule(&app.ctx).await.expect("scheduled");
    let recurring = attestry_app::core::queue::drain(&app.ctx).await.expect("run");
    assert_eq!(
        recurring, 8,
        "housekeeping, the sweep, recurrence, reviews, schedules, digests, identity and domains"
    );
    assert_eq!(attestry_app::core::queue::drain(&app.ctx).await.expect("run"), 0);
    app.clock.advance(std::time::Duration::from_mins(61));
    assert_eq!(attestry_app::core::queue::drain(&app.ctx).await.expect("run"), 6, "all but the sweep");
    app.ctx.db.write(async |t| t.execute("DELETE FROM jobs", &[]).await).await.expect("emptied");
}

async fn housekeeping_removes_what_expired(app: &TestApp) {
    app.sign_in("ada@example.com").await;
    app.post("/v1/organization/api-keys", &serde_json::json!({"name": "x"}))
        .header("idempotency-key", "k")
        .send()
        .await
        .expect(201);
    app.clock.advance(std::time::Duration::from_hours(25));
    attestry_app::core::queue::schedule(&app.ctx).await.expect("scheduled");
    attestry_app::core::queue::drain(&app.ctx).await.expect("run");
    for table in ["SELECT COUNT(*) FROM sessions", "SELECT COUNT(*) FROM idempotency_keys"] {
        let left =
            app.ctx.db.read(async move |t| t.one(table, &[], |row| row.int(0)).await).await.expect("a count");
        assert_eq!(left, 0, "{table}");
    }
    app.ctx.db.write(async |t| t.execute("DELETE FROM jobs", &[]).await).await.expect("emptied");
}

async fn a_dump_can_be_loaded_again(app: &TestApp) {
    let engine = app.ctx.db.engine();
    let text = app
        .ctx
        .db
        .snapshot(async move |t| {
            let columns = archive::columns(t, engine, "journal").await?;
            let mut out = Vec::new();
            archive::dump(t, "journal", &columns, &mut out).await?;
            Ok::<_, DbError>((columns, String::from_utf8_lossy(&out).into_owned()))
        })
        .await
        .expect("a dump");
    let (columns, text) = text;
    let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    assert_eq!(lines.len(), 3);
    app.ctx
        .db
        .write(async move |t| {
            t.execute("DELETE FROM journal", &[]).await?;
            archive::load(t, "journal", &columns, &lines).await
        })
        .await
        .expect("loaded");
    let id = attestry_domain::id::OrganizationId::read(&app.home.organization).expect("an id");
    let verdict = attestry_app::core::verification::verify(&app.ctx, id, &[]).await.expect("a verdict");
    assert_eq!(verdict, attestry_app::core::verification::Verdict::Intact { entries: 3 });
}

fn app_is_there() -> bool {
    true
}

#[test]
fn a_body_that_awaits_something_else_is_refused_on_sqlite() {
    run(Engine::Sqlite, async |app| {
        let result: Result<(), DbError> = app
            .ctx
            .db
            .write(async |t| {
                instance::put(t, "foreign", "1").await?;
                tokio::task::yield_now().await;
                Ok(())
            })
            .await;
        assert!(matches!(result, Err(DbError::ForeignAwait)), "{result:?}");
        let found = app.ctx.db.read(async |t| instance::get(t, "foreign").await).await.expect("a read");
        assert!(found.is_none());
    });
}

#[test]
fn a_transaction_that_sqlite_gives_up_does_not_take_its_neighbours_with_it() {
    run(Engine::Sqlite, async |app| {
        let good = |name: &'static str| app.ctx.db.write(async move |t| instance::put(t, name, "1").await);
        // The body ends the transaction around it, as a full disk would.
        let breaks = app.ctx.db.write(async |t| t.execute("ROLLBACK", &[]).await);
        let (first, broken, second) = futures_util::join!(good("first"), breaks, good("second"));
        assert!(broken.is_err());
        assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
        for name in ["first", "second"] {
            assert!(
                app.ctx.db.read(async move |t| instance::get(t, name).await).await.expect("a read").is_some(),
                "{name}"
            );
        }
    });
}

#[tokio::test]
async fn a_reader_that_cannot_open_the_file_says_so_and_tries_again() {
    let folder = TempDir::new().expect("a folder");
    let (path, away) = (folder.path().join("attestry.db"), folder.path().join("away.db"));
    let db = Db::open(&Config::Sqlite { path: path.clone(), readers: 1, queue: 8 }).expect("a database");
    db.migrate(MIGRATIONS).await.expect("migrated");
    // Nothing was read yet, so no reader has opened it.
    std::fs::rename(&path, &away).expect("moved");
    db.read(async |t| instance::get(t, "x").await).await.expect_err("there is no file");
    db.find(async |t| instance::get(t, "x").await).await.expect_err("there is no file");
    std::fs::rename(&away, &path).expect("moved back");
    db.read(async |t| instance::get(t, "x").await).await.expect("it is there again");
    db.find(async |t| instance::get(t, "x").await).await.expect("it is there again");
}

#[test]
fn values_survive_the_journey() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        run(engine, async |app| {
            let text = "tab\t newline\n quote' \u{1f600} \u{fffd}";
            app.ctx.db.write(async move |t| instance::put(t, "odd", text).await).await.expect("written");
            let back = app.ctx.db.read(async |t| instance::get(t, "odd").await).await.expect("read");
            assert_eq!(back.as_deref(), Some(text));
            assert_eq!(Value::from(Some("x")).into_owned(), Value::from("x"));
        });
    }
}
