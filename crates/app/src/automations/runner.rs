//! Runs the scripts of automations: the sandbox that isolates them, and the egress through which they reach other
//! hosts.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use attestry_domain::access::Scope;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::automations::masking::{Mask, Patterns};
use attestry_domain::automations::secrets::SecretName;
use attestry_domain::text::Parse;
use attestry_egress::Egress;
use attestry_sandbox::{Failure, Host, Mistake, Outcome, Sandbox, Script, Verdict};
use futures_util::future::{BoxFuture, FutureExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Semaphore;

use crate::automations::secrets;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};

#[derive(Clone, Debug, Default)]
pub struct RunnerSettings {
    pub sandbox: attestry_sandbox::Settings,
    pub egress: attestry_egress::Settings,
    /// Replaces the network when no traffic may leave the machine.
    pub answers: Option<Arc<dyn Answers>>,
}

/// Stub for the network calls of scripts (`fetch`, `dns` and `tls`); its responses have the form of real ones.
pub trait Answers: std::fmt::Debug + Send + Sync {
    fn answer(&self, operation: &str, argument: Value) -> Result<Value, String>;
}

/// Runs scripts. The sandbox and the egress are created on first use, because most commands run no script.
#[derive(Debug)]
pub struct Runner {
    settings: RunnerSettings,
    sandbox: OnceLock<Sandbox>,
    egress: OnceLock<Result<Egress, String>>,
    /// Limits concurrent checks, because each takes a process.
    checking: Semaphore,
}

impl Ctx {
    pub fn runner(&self) -> &Runner {
        self.part()
    }
}

impl Runner {
    pub(crate) fn new(settings: RunnerSettings) -> Self {
        Self { settings, sandbox: OnceLock::new(), egress: OnceLock::new(), checking: Semaphore::new(4) }
    }

    /// The sandbox; creating it starts its first child processes.
    pub fn sandbox(&self) -> &Sandbox {
        self.sandbox.get_or_init(|| Sandbox::new(self.settings.sandbox.clone()))
    }

    /// The egress, or the reason why it is unavailable.
    pub fn egress(&self) -> Result<&Egress, String> {
        let made = self.egress.get_or_init(|| {
            Egress::new(self.settings.egress.clone()).map_err(|error| {
                tracing::error!(%error, "automations cannot reach anything outside");
                "The server cannot reach anything outside; its operator finds the reason in the log."
                    .to_owned()
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Checks that a source is a valid script; errors refer to `field`.
    pub(crate) async fn check(&self, field: &str, source: &str) -> Result<(), Error> {
        let _place = self.checking.acquire().await.map_err(Error::internal)?;
        match self.sandbox().check(source).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(mistake)) => {
                Err(Error::Invalid(vec![FieldError { field: field.to_owned(), message: told(&mistake) }]))
            }
            Err(failure) if failure.code == attestry_sandbox::Code::Unavailable => {
                Err(Error::Unavailable(failure.message))
            }
            Err(failure) => {
                Err(Error::Invalid(vec![FieldError { field: field.to_owned(), message: failure.message }]))
            }
        }
    }
}

fn told(Mistake { message, line, column }: &Mistake) -> String {
    let message = message.trim_end_matches('.');
    match (line, column) {
        (Some(line), Some(column)) => {
            format!("is not a valid script: {message} (line {line}, column {column})")
        }
        (Some(line), None) => format!("is not a valid script: {message} (line {line})"),
        _ => format!("is not a valid script: {message}"),
    }
}

/// The log of a running script, and the secrets it has read.
#[derive(Clone, Default)]
pub(crate) struct Output(Arc<Recorded>);

#[derive(Default)]
struct Recorded {
    entries: Mutex<Vec<String>>,
    /// Locked while an automaton is built, so by threads of the `masking` permits only.
    secrets: Mutex<Secrets>,
}

#[derive(Default)]
struct Secrets {
    patterns: Patterns,
    /// Built on first use, dropped when a secret is added.
    mask: Option<Mask>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Output {
    /// The number of log entries so far.
    pub(crate) fn len(&self) -> usize {
        lock(&self.0.entries).len()
    }

    /// The lines logged so far, masked.
    pub(crate) async fn lines(&self, ctx: &Ctx, scope: &Scope) -> Result<Vec<String>, Error> {
        let output = self.clone();
        ctx.masking.work(scope.organization(), move || Ok(output.masked_lines(&output.mask()?))).await?
    }

    /// Adds a secret that the script is about to read.
    fn add_secret(&self, secret: &str) -> Result<(), String> {
        let mut secrets = lock(&self.0.secrets);
        secrets.mask = None;
        secrets.patterns.add(secret).map_err(|error| error.to_string())
    }

    fn mask(&self) -> Result<Mask, Error> {
        let Secrets { patterns, mask } = &mut *lock(&self.0.secrets);
        if mask.is_none() {
            *mask = Some(patterns.mask().map_err(Error::internal)?);
        }
        Ok(mask.clone().unwrap_or_default())
    }

    fn masked_lines(&self, mask: &Mask) -> Vec<String> {
        let entries = lock(&self.0.entries).clone();
        // Masked before the split into lines, because a secret can span several lines.
        let entries = entries.iter().map(|entry| clean(mask, entry));
        entries.flat_map(|entry| entry.lines().map(ToOwned::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// The result of a script, without the secrets it has read.
pub(crate) struct Ran {
    pub(crate) result: Result<Returned, Failure>,
    pub(crate) logs: Vec<String>,
}

/// The value that a script returned.
pub(crate) struct Returned {
    pub(crate) verdict: Verdict,
    pub(crate) summary: String,
    pub(crate) evidence: Option<Box<RawValue>>,
}

/// Runs a script on behalf of an organization.
pub(crate) async fn run(
    ctx: &Ctx,
    scope: &Scope,
    hosts: AllowedHosts,
    script: Script,
    output: &Output,
) -> Result<Ran, Error> {
    let outside =
        Arc::new(ScriptHost { ctx: ctx.clone(), scope: scope.clone(), hosts, output: output.clone() });
    let result = ctx.runner().sandbox().run(script, outside).await;
    let output = output.clone();
    let masked = ctx.masking.work(scope.organization(), move || {
        let mask = output.mask()?;
        let logs = output.masked_lines(&mask);
        let result = match result {
            Ok(outcome) => Ok(masked(&mask, outcome)?),
            Err(Failure { code, message }) => Err(Failure { code, message: clean(&mask, &message) }),
        };
        Ok(Ran { result, logs })
    });
    masked.await?
}

fn masked(mask: &Mask, Outcome { verdict, summary, evidence }: Outcome) -> Result<Returned, Error> {
    let evidence = evidence.map(|raw| serde_json::from_str(raw.get())).transpose()?;
    let evidence = evidence.map(|value: Value| to_raw_value(&mask.json(value))).transpose()?;
    Ok(Returned { verdict, summary: clean(mask, &summary), evidence })
}

/// Masks a text that is stored and shown.
fn clean(mask: &Mask, text: &str) -> String {
    mask.text(text).replace('\0', "\u{fffd}")
}

/// Handles the host calls of a script.
struct ScriptHost {
    ctx: Ctx,
    scope: Scope,
    hosts: AllowedHosts,
    output: Output,
}

impl ScriptHost {
    async fn answer(&self, operation: &str, argument: &RawValue) -> Result<Box<RawValue>, String> {
        let answers = self.ctx.runner().settings.answers.as_ref().filter(|_| operation != "secret");
        if let Some(answers) = answers {
            return told_back(answers.answer(operation, read(argument)?));
        }
        match operation {
            "fetch" => {
                let egress = self.ctx.runner().egress()?;
                told_back(egress.fetch(&self.hosts, read(argument)?).await)
            }
            "dns" => told_back(self.ctx.runner().egress()?.dns(&self.hosts, read(argument)?).await),
            "tls" => told_back(self.ctx.runner().egress()?.tls(&self.hosts, read(argument)?).await),
            "secret" => {
                let value = self.secret(&read::<String>(argument)?).await?;
                to_raw_value(&value).map_err(|error| error.to_string())
            }
            other => Err(format!("There is no call {other}.")),
        }
    }

    async fn secret(&self, name: &str) -> Result<String, String> {
        let name = SecretName::parse(name).map_err(|message| format!("The name of a secret {message}."))?;
        let value = secrets::value(&self.ctx, &self.scope, &name).await.map_err(|error| {
            tracing::error!(%error, "a secret could not be read");
            "The secret could not be read.".to_owned()
        })?;
        let Some(value) = value else {
            let name = name.as_str();
            return Err(format!(
                "There is no secret {name}; set it with PUT /v1/organization/secrets/{name}."
            ));
        };
        let output = self.output.clone();
        let add = move || output.add_secret(&value).map(|()| value);
        let added = self.ctx.masking.work(self.scope.organization(), add).await;
        added.map_err(|error| {
            tracing::error!(%error, "a secret could not be added to the mask");
            "The secret could not be read.".to_owned()
        })?
    }
}

fn read<T: DeserializeOwned>(argument: &RawValue) -> Result<T, String> {
    serde_json::from_str(argument.get()).map_err(|error| format!("The call cannot be understood: {error}."))
}

fn told_back<T: Serialize, E: std::fmt::Display>(result: Result<T, E>) -> Result<Box<RawValue>, String> {
    let value = result.map_err(|refusal| refusal.to_string())?;
    to_raw_value(&value).map_err(|error| error.to_string())
}

impl Host for ScriptHost {
    fn call(
        &self,
        operation: String,
        argument: Box<RawValue>,
    ) -> BoxFuture<'_, Result<Box<RawValue>, String>> {
        async move { self.answer(&operation, &argument).await }.boxed()
    }

    fn log(&self, line: String) {
        lock(&self.output.0.entries).push(line);
    }
}
