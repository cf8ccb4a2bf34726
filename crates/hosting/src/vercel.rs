//! Queries Vercel: whether its project has the domain, whether it is verified, and whether it points to Vercel.

use std::pin::pin;
use std::time::Duration;

use attestry_net::http::{self, root_cause};
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::settings::bounded;
use crate::words::{has_addresses, listed};
use crate::{Error, Failure, Record, Status, VercelSettings};

/// The maximum number of bytes of a response that are read.
const BODY: usize = 256 * 1024;
/// The maximum number of records of each kind that are passed on.
const RECORDS: usize = 20;

#[derive(Debug)]
pub(crate) struct Vercel {
    client: Client,
    authorization: HeaderValue,
    settings: VercelSettings,
}

impl Vercel {
    pub(crate) fn new(mut settings: VercelSettings) -> Result<Self, Error> {
        let base_url = &settings.base_url;
        if !matches!(base_url.scheme(), "http" | "https")
            || base_url.query().is_some()
            || base_url.fragment().is_some()
        {
            return Err(Error::BaseUrl);
        }
        if !base_url.username().is_empty() || base_url.password().is_some() {
            return Err(Error::Credentials);
        }
        if !is_segment(settings.project.trim()) {
            return Err(Error::Project);
        }
        settings.timeout = bounded(settings.timeout);
        let authorization = settings.token.header("Bearer ").ok_or(Error::Token)?;
        let client = http::client(base_url)
            .pool_idle_timeout(Duration::from_secs(30))
            .build()
            .map_err(|error| Error::Client(root_cause(error).unwrap_or_default()))?;
        Ok(Self { client, authorization, settings })
    }

    pub(crate) async fn status(&self, domain: &str) -> Result<Status, Failure> {
        if !is_segment(domain) {
            return Err(Failure::Unknown);
        }
        let both = self.ask_both(domain);
        let (project, config) = timeout(self.settings.timeout, both).await.map_err(|_| self.late())??;
        let (Some(verified), Some(misconfigured)) =
            (flag(&project, "verified"), flag(&config, "misconfigured"))
        else {
            return Err(self.unreadable("it lacks what the API documents"));
        };
        let mut verification = Vec::new();
        if !verified {
            verification.extend(challenges(&project, domain));
        }
        let cname_target = best(&config, "recommendedCNAME").and_then(Value::as_str).map(without_dot);
        if misconfigured {
            verification.extend(ways(&project, &config, domain, cname_target.as_deref()));
        }
        Ok(Status { verified, verification, cname_target, misconfigured })
    }

    /// Requests the project domain and the configuration of a domain concurrently. The project's response takes
    /// precedence: a domain that it does not have is unknown, even if the other request fails.
    async fn ask_both(&self, domain: &str) -> Result<(Value, Value), Failure> {
        let project = self.url(&["v9", "projects", self.settings.project.trim(), "domains", domain])?;
        let config = self.url(&["v6", "domains", domain, "config"])?;
        let (mut project, mut config) = (pin!(self.get(project)), pin!(self.get(config)));
        tokio::select! {
            project = &mut project => Ok((project?, config.await?)),
            config = &mut config => Ok((project.await?, config?)),
        }
    }

    async fn get(&self, url: Url) -> Result<Value, Failure> {
        let request = self
            .client
            .get(url)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        match status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Err(Failure::Unknown),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(self.refused(status)),
            StatusCode::TOO_MANY_REQUESTS => {
                let message =
                    format!("The hosting provider at {} takes no more requests for now (429).", self.host());
                let seconds = |value: &HeaderValue| value.to_str().ok()?.trim().parse().ok();
                let retry_after = response.headers().get(RETRY_AFTER).and_then(seconds);
                return Err(Failure::Busy { message, retry_after });
            }
            status if status.is_server_error() => {
                let status = status.as_u16();
                return Err(self.down(&format!("is failing ({status}). Try again in a moment.")));
            }
            status => {
                let status = status.as_u16();
                return Err(self.down(&format!("refused the request ({status}). Check the Vercel base URL.")));
            }
        }
        let body = self.read(response).await?;
        serde_json::from_slice(&body).map_err(|_| self.unreadable("it is not JSON"))
    }

    fn url(&self, path: &[&str]) -> Result<Url, Failure> {
        let mut url = self.settings.base_url.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => drop(segments.pop_if_empty().extend(path)),
            Err(()) => return Err(self.down("cannot be asked. Check the Vercel base URL.")),
        }
        if let Some(team) = self.settings.team.as_deref().map(str::trim).filter(|team| !team.is_empty()) {
            url.query_pairs_mut().append_pair("teamId", team);
        }
        Ok(url)
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| self.unreachable(error))? {
            if body.len() + bytes.len() > BODY {
                return Err(self.unreadable("it is too long"));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(body)
    }

    fn down(&self, what: &str) -> Failure {
        Failure::Down(format!("The hosting provider at {} {what}", self.host()))
    }

    fn refused(&self, status: StatusCode) -> Failure {
        let (host, status) = (self.host(), status.as_u16());
        Failure::Refused(format!(
            "The hosting provider at {host} does not accept the token ({status}). Check the Vercel token, and the \
             project and the team it may be used for."
        ))
    }

    fn unreachable(&self, error: reqwest::Error) -> Failure {
        let reason = root_cause(error).map(|reason| format!(": {reason}")).unwrap_or_default();
        self.down(&format!("cannot be reached{reason}. Check the Vercel base URL and the network."))
    }

    fn unreadable(&self, why: &str) -> Failure {
        self.down(&format!("gave an answer that cannot be read: {why}. Check the Vercel base URL."))
    }

    fn late(&self) -> Failure {
        self.down(&format!("did not answer within {} s. Try again.", self.settings.timeout.as_secs_f64()))
    }

    fn host(&self) -> String {
        http::host(&self.settings.base_url)
    }
}

/// Returns true if the text can be a path segment: URL parsers resolve `.` and `..`.
fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..")
}

fn flag(answer: &Value, name: &str) -> Option<bool> {
    answer.get(name)?.as_bool()
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn without_dot(name: &str) -> String {
    name.trim_end_matches('.').to_owned()
}

/// The records by which Vercel verifies ownership of the domain.
fn challenges(project: &Value, domain: &str) -> Vec<Record> {
    let text = |record: &Value, name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let read = |record: &Value| {
        Some(Record {
            kind: text(record, "type")?,
            domain: text(record, "domain").unwrap_or_else(|| domain.to_owned()),
            value: text(record, "value")?,
            reason: text(record, "reason").unwrap_or_else(|| format!("{domain} is not verified.")),
        })
    };
    list(project, "verification").iter().filter_map(read).take(RECORDS).collect()
}

/// The records of which one would make the domain point to Vercel.
fn ways(project: &Value, config: &Value, domain: &str, cname_target: Option<&str>) -> Vec<Record> {
    let texts =
        |name| list(config, name).iter().filter_map(Value::as_str).map(without_dot).collect::<Vec<_>>();
    let (cnames, addresses) = (texts("cnames"), texts("aValues"));
    let reason = if !cnames.is_empty() {
        format!("{domain} is a CNAME of {}.", listed(&cnames))
    } else if !addresses.is_empty() {
        has_addresses(domain, &addresses)
    } else {
        format!("{domain} does not lead to the hosting provider.")
    };
    let record = |kind: &str, value: &str| Record {
        kind: kind.to_owned(),
        domain: domain.to_owned(),
        value: value.to_owned(),
        reason: reason.clone(),
    };
    let is_apex = project.get("apexName").and_then(Value::as_str).is_some_and(|apex| apex == domain);
    let recommended =
        best(config, "recommendedIPv4").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let addresses: Vec<_> =
        recommended.iter().filter_map(Value::as_str).map(|value| record("A", value)).take(RECORDS).collect();
    match cname_target {
        // The apex of a zone cannot be a CNAME.
        Some(target) if !is_apex || addresses.is_empty() => vec![record("CNAME", target)],
        _ => addresses,
    }
}

/// The value with the best rank in Vercel's recommendations: `[{"rank": 1, "value": …}, …]`.
fn best<'a>(config: &'a Value, name: &str) -> Option<&'a Value> {
    let rank = |choice: &&Value| choice.get("rank").and_then(Value::as_u64).unwrap_or(u64::MAX);
    list(config, name).iter().min_by_key(rank)?.get("value")
}
