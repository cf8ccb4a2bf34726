//! A statement of applicability from its creation to its PDF, eight people who answer concurrently, and the readiness
//! of an organization.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::report::at;
use crate::{Cli, process, seed};

/// The sizes of a framework and of the entities linked to it.
const REQUIREMENTS: usize = 100;
const CONTROLS: usize = 300;
const TASKS: usize = 500;
const POLICIES: usize = 40;
const PEOPLE: usize = 8;
const READS: usize = 200;

/// An organization in use by a client.
struct Desk<'a> {
    client: &'a Client,
    url: &'a str,
    key: &'a str,
    organization: String,
    member: String,
}

impl Desk<'_> {
    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Vec<u8>> {
        let mut call =
            self.client.request(method, format!("{}{path}", self.url)).header("x-api-key", self.key);
        if let Some(body) = body {
            call = call.json(body);
        }
        let reply = call.send().await?;
        let status = reply.status();
        let bytes = reply.bytes().await?.to_vec();
        ensure!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&bytes));
        Ok(bytes)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(Method::POST, path, Some(body)).await?)?)
    }

    async fn get(&self, path: &str) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send(Method::GET, path, None).await?)?)
    }

    async fn made(&self, path: &str, body: Value) -> Result<String> {
        let made = self.post(path, &body).await?;
        Ok(made["id"].as_str().context("an id")?.to_owned())
    }

    fn answer(&self, document: &str, question: &str) -> Value {
        json!({
            "organizationId": self.organization, "documentId": document, "questionId": question,
            "isApplicable": true, "justification": "Customers ask for it.", "implementationStatus": "implemented"
        })
    }

    /// Creates a new version; returns its id and its questions.
    async fn begin(&self) -> Result<(String, Vec<String>)> {
        let body = json!({"organizationId": self.organization, "frameworkId": "iso_27001"});
        let made = self.post("/v1/soa/create-document", &body).await?;
        let setup = self.post("/v1/soa/ensure-setup", &body).await?;
        let questions = setup["configuration"]["questions"].as_array().context("questions")?;
        let questions = questions.iter().filter_map(|one| one["id"].as_str().map(ToOwned::to_owned));
        Ok((made["data"]["id"].as_str().context("an id")?.to_owned(), questions.collect()))
    }

    async fn journey(&self) -> Result<(Duration, usize)> {
        let began = Instant::now();
        let (document, questions) = self.begin().await?;
        for question in &questions {
            self.post("/v1/soa/save-answer", &self.answer(&document, question)).await?;
        }
        let mut body = json!({"organizationId": self.organization, "documentId": document});
        let mut ask = body.clone();
        ask["approverId"] = json!(self.member);
        self.post("/v1/soa/submit-for-approval", &ask).await?;
        body = self.post("/v1/soa/approve", &body).await?;
        ensure!(body["data"]["status"] == "approved", "{body}");
        let pdf =
            self.send(Method::GET, &format!("/v1/soa/documents/{document}/export?format=pdf"), None).await?;
        ensure!(pdf.starts_with(b"%PDF"), "a PDF");
        Ok((began.elapsed(), pdf.len()))
    }

    async fn together(&self) -> Result<Duration> {
        let (document, questions) = self.begin().await?;
        let began = Instant::now();
        let people = (0..PEOPLE).map(|person| {
            let own = questions.iter().skip(person).step_by(PEOPLE);
            let document = &document;
            async move {
                for question in own {
                    self.post("/v1/soa/save-answer", &self.answer(document, question)).await?;
                }
                Ok::<_, anyhow::Error>(())
            }
        });
        try_join_all(people).await?;
        let took = began.elapsed();
        let all = self.get(&format!("/v1/soa/documents/{document}")).await?;
        ensure!(
            all["answeredQuestions"] == all["totalQuestions"],
            "no answer is lost: {}",
            all["answeredQuestions"]
        );
        Ok(took)
    }

    /// Creates a framework and the entities linked to it.
    async fn furnish(&self) -> Result<()> {
        let requirements: Vec<Value> = (0..REQUIREMENTS)
            .map(|n| json!({"code": format!("{n}"), "title": format!("Requirement {n}")}))
            .collect();
        self.post("/v1/frameworks", &json!({"name": "Bench", "requirements": requirements})).await?;
        let list = self.get("/v1/frameworks/bench/requirements?limit=1000").await?;
        let ids = |list: &Value| -> Vec<Value> {
            list["data"].as_array().into_iter().flatten().map(|one| one["id"].clone()).collect()
        };
        let requirements = ids(&list);
        let (mut policies, mut tasks) = (Vec::new(), Vec::new());
        for n in 0..POLICIES {
            let policy = json!({"name": format!("Policy {n}"), "contentMarkdown": "Text. ".repeat(2000)});
            let id = self.made("/v1/policies", policy).await?;
            let ask = json!({"approverId": self.member});
            self.post(&format!("/v1/policies/{id}/submit-for-approval"), &ask).await?;
            self.send(Method::POST, &format!("/v1/policies/{id}/approve"), None).await?;
            policies.push(id);
        }
        let file = json!({"fileName": "a.txt", "fileType": "text/plain", "fileData": "aGVsbG8="});
        for n in 0..TASKS {
            let task = json!({"title": format!("Task {n}"), "status": "done", "frequency": "yearly"});
            let id = self.made("/v1/tasks", task).await?;
            if n % 2 == 0 {
                self.post(&format!("/v1/tasks/{id}/attachments"), &file).await?;
            }
            tasks.push(id);
        }
        for n in 0..CONTROLS {
            let control = json!({
                "name": format!("Control {n}"), "requirementIds": [requirements[n % REQUIREMENTS]],
                "policyIds": [policies[n % POLICIES]], "taskIds": [tasks[n % TASKS], tasks[(n * 7 + 1) % TASKS]]
            });
            self.made("/v1/controls", control).await?;
        }
        Ok(())
    }
}

pub(crate) async fn run(cli: &Cli, engine: &str) -> Result<()> {
    let data = tempfile::tempdir()?;
    let database = if engine == "postgres" { Some(seed::fresh_postgres().await?) } else { None };
    let home = seed::seed(data.path(), database.as_deref(), 1, 1).await?.pop().context("an organization")?;
    let server = process::Server::start(data.path(), database.as_deref())?;
    let client = Client::builder().no_proxy().build()?;
    let mut desk = Desk {
        client: &client,
        url: &server.url,
        key: &home.key,
        organization: home.organization.to_string(),
        member: String::new(),
    };
    let owners = desk.get("/v1/people?role=owner&limit=1").await?;
    owners["data"][0]["id"].as_str().context("an owner")?.clone_into(&mut desk.member);
    for number in 0..=cli.windows {
        let (took, bytes) = desk.journey().await?;
        let which = if number == 0 { "the first" } else { "another" };
        println!(
            "{engine}: create, 93 answers, submit, approve, PDF of {} KB: {:.0} ms ({which})",
            bytes >> 10,
            took.as_secs_f64() * 1000.0
        );
    }
    println!(
        "{engine}: {PEOPLE} people answer 93 questions at once: {:.0} ms, none is lost",
        desk.together().await?.as_secs_f64() * 1000.0
    );
    desk.furnish().await?;
    let mut times = Vec::new();
    for _ in 0..READS {
        let began = Instant::now();
        desk.send(Method::GET, "/v1/frameworks/bench/readiness", None).await?;
        times.push(began.elapsed());
    }
    println!(
        "{engine}: readiness of {REQUIREMENTS} requirements, {CONTROLS} controls, {TASKS} tasks, {POLICIES} policies: p50 \
         {:.1} ms, p99 {:.1} ms",
        at(&mut times, 50),
        at(&mut times, 99)
    );
    Ok(())
}
