//! The baseline: an axum server with no logic behind it. It returns the same bytes as the real one; for the list, it
//! serialises the same structs from memory.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use attestry_api::{AuthInfo, List, MemberList, View};
use attestry_domain::access::Roles;
use attestry_domain::date::Date;
use attestry_domain::identity::members::{Member, Person};
use attestry_domain::identity::users::User;
use attestry_domain::registers::Record;
use attestry_domain::registers::risks::Risk;
use attestry_domain::tasks::Task;
use attestry_domain::{Parse, Time};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::{Json, Router};
use bytes::Bytes;
use serde_json::Value;

use crate::seed::Home;

/// Fetches the responses of the bare routes from the real server.
pub(crate) async fn prepare(folder: &Path, url: &str, home: &Home) -> Result<()> {
    let client = reqwest::Client::new();
    for (name, path) in [
        ("one.json", format!("/v1/people/{}", home.members[0])),
        ("list.json", "/v1/people?limit=50".to_owned()),
        ("vendor.json", format!("/v1/vendors/{}", home.vendors[0])),
        ("risks.json", "/v1/risks?limit=50".to_owned()),
        ("risk.json", format!("/v1/risks/{}", home.risk)),
        ("tasks.json", "/v1/tasks".to_owned()),
    ] {
        let reply = client.get(format!("{url}{path}")).header("x-api-key", &home.key).send().await?;
        anyhow::ensure!(reply.status().is_success(), "{path}: {}", reply.status());
        std::fs::write(folder.join(name), reply.bytes().await?)?;
    }
    Ok(())
}

fn text(value: &Value, field: &str) -> Result<String> {
    Ok(value[field].as_str().with_context(|| format!("no {field}"))?.to_owned())
}

fn parse<T: Parse>(value: &Value, field: &str) -> Result<T> {
    T::parse(value[field].as_str().with_context(|| format!("no {field}"))?).map_err(anyhow::Error::msg)
}

fn person(value: &Value) -> Result<Person> {
    let user = &value["user"];
    Ok(Person {
        member: Member {
            id: parse(value, "id")?,
            organization_id: parse(value, "organizationId")?,
            user_id: parse(value, "userId")?,
            role: Roles::stored(text(value, "role")?),
            department: parse(value, "department")?,
            is_active: true,
            device_label_id: value["deviceLabelId"].as_i64(),
            is_exempt: false,
            is_service: false,
            created_at: parse(value, "createdAt")?,
            updated_at: parse(value, "updatedAt")?,
            version: 1,
        },
        user: User {
            id: parse(user, "id")?,
            name: text(user, "name")?,
            email: text(user, "email")?,
            email_verified: true,
            image: None,
            created_at: parse(user, "createdAt")?,
            updated_at: parse(user, "updatedAt")?,
            last_login: parse::<Time>(user, "lastLogin").ok(),
            invited_to: None,
            account_id: None,
            second_factor_since: None,
            own_factors_at: None,
            version: 1,
        },
    })
}

struct Answers {
    one: Bytes,
    vendor: Bytes,
    risk: Bytes,
    risks: Vec<Record<Risk>>,
    tasks: Vec<Record<Task>>,
    next_risk: Option<String>,
    people: Vec<Person>,
    next: Option<String>,
}

pub(crate) async fn serve(folder: &Path) -> Result<()> {
    let list: Value = serde_json::from_slice(&std::fs::read(folder.join("list.json"))?)?;
    let people =
        list["data"].as_array().context("no data")?.iter().map(person).collect::<Result<Vec<_>>>()?;
    anyhow::ensure!(people.len() == 50, "the list has 50 people");
    let risks: Value = serde_json::from_slice(&std::fs::read(folder.join("risks.json"))?)?;
    let tasks: Value = serde_json::from_slice(&std::fs::read(folder.join("tasks.json"))?)?;
    let answers = Arc::new(Answers {
        one: std::fs::read(folder.join("one.json"))?.into(),
        vendor: std::fs::read(folder.join("vendor.json"))?.into(),
        risk: std::fs::read(folder.join("risk.json"))?.into(),
        next_risk: risks["nextCursor"].as_str().map(ToOwned::to_owned),
        risks: risks["data"]
            .as_array()
            .context("no data")?
            .iter()
            .map(|risk| Record::recorded(&risk.to_string()))
            .collect::<Result<_, _>>()?,
        tasks: tasks
            .as_array()
            .context("no tasks")?
            .iter()
            .map(|task| Record::recorded(&task.to_string()))
            .collect::<Result<_, _>>()?,
        people,
        next: list["nextCursor"].as_str().map(ToOwned::to_owned),
    });
    let one = async |State(answers): State<Arc<Answers>>| {
        ([(CONTENT_TYPE, "application/json")], answers.one.clone())
    };
    let patch = async |State(answers): State<Arc<Answers>>, _body: Bytes| {
        ([(CONTENT_TYPE, "application/json")], answers.one.clone())
    };
    let list = async |State(answers): State<Arc<Answers>>| {
        Json(MemberList::new(answers.people.clone(), answers.next.clone(), None))
    };
    let vendor = async |State(answers): State<Arc<Answers>>| {
        ([(CONTENT_TYPE, "application/json")], answers.vendor.clone())
    };
    let create = async |State(answers): State<Arc<Answers>>, _body: Bytes| {
        (StatusCode::CREATED, [(CONTENT_TYPE, "application/json")], answers.risk.clone())
    };
    let risk_list = async |State(answers): State<Arc<Answers>>| {
        let today = Date::of(Time::from_millis(0));
        let rows = answers.risks.iter().map(|risk| View::new(risk.clone(), today)).collect();
        Json(List::new(rows, answers.next_risk.clone(), None, AuthInfo::by_key()))
    };
    let task_list = async |State(answers): State<Arc<Answers>>| {
        let today = Date::of(Time::from_millis(0));
        Json(answers.tasks.iter().map(|task| View::new(task.clone(), today)).collect::<Vec<_>>())
    };
    let router = Router::new()
        .route("/v1/tasks", get(task_list))
        .route("/v1/people", get(list))
        .route("/v1/people/{id}", get(one).patch(patch))
        .route("/v1/vendors/{id}", get(vendor))
        .route("/v1/risks", get(risk_list).post(create))
        .with_state(answers);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("ready at http://{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    axum::serve(listener, router).await?;
    Ok(())
}
