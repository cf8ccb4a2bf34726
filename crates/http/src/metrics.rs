//! Counters for Prometheus.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use http::header::CONTENT_TYPE;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::answer::problem::Problem;
use crate::state::Api;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CauseLabels {
    cause: &'static str,
}

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    routes: RwLock<HashMap<&'static str, HashMap<String, OfRoute>>>,
    broken_answers: Family<CauseLabels, Counter>,
    jobs: Gauge<i64, std::sync::atomic::AtomicI64>,
    failed_jobs: Gauge<i64, std::sync::atomic::AtomicI64>,
    event_streams: Gauge<i64, std::sync::atomic::AtomicI64>,
    body_memory: Gauge<i64, std::sync::atomic::AtomicI64>,
    response_memory: Gauge<i64, std::sync::atomic::AtomicI64>,
    portal_pages: Gauge<i64, std::sync::atomic::AtomicI64>,
    uptime: Gauge<f64, AtomicU64>,
}

/// The metrics of one route: its duration, and a counter for each status.
type OfRoute = (Histogram, Vec<(u16, Counter)>);

fn buckets() -> Histogram {
    Histogram::new([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut own = Self {
            registry: Registry::with_prefix("attestry"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(buckets as fn() -> Histogram),
            routes: RwLock::default(),
            broken_answers: Family::default(),
            jobs: Gauge::default(),
            failed_jobs: Gauge::default(),
            event_streams: Gauge::default(),
            body_memory: Gauge::default(),
            response_memory: Gauge::default(),
            portal_pages: Gauge::default(),
            uptime: Gauge::default(),
        };
        let registry = &mut own.registry;
        registry.register("http_requests", "Requests by method, route and status", own.requests.clone());
        registry.register("http_request_seconds", "Time to answer by method and route", own.seconds.clone());
        registry.register(
            "http_answers_broken",
            "Answers that broke off after they had begun, by cause",
            own.broken_answers.clone(),
        );
        registry.register("jobs", "Jobs in the queue, failed ones included", own.jobs.clone());
        registry.register("jobs_failed", "Jobs that failed for good", own.failed_jobs.clone());
        registry.register("event_streams", "Clients that follow /v1/events", own.event_streams.clone());
        registry.register("body_memory_bytes", "Memory held by request bodies", own.body_memory.clone());
        registry.register(
            "response_memory_bytes",
            "Memory held by lists and large responses",
            own.response_memory.clone(),
        );
        registry.register(
            "portal_pages_rendered",
            "Trust portals that were rendered because something on them had changed",
            own.portal_pages.clone(),
        );
        registry.register("uptime_seconds", "Seconds since the start", own.uptime.clone());
        own
    }
}

impl Metrics {
    /// Counts a response that was interrupted after it had begun.
    pub fn count_broken_answer(&self, cause: &'static str) {
        self.broken_answers.get_or_create(&CauseLabels { cause }).inc();
    }

    /// Counts a request. The counters of a route are looked up by text, to avoid building labels first.
    pub fn count(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let known = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((seconds, counters)) = known.get(method).and_then(|routes| routes.get(route))
            && let Some((_, counter)) = counters.iter().find(|(known, _)| *known == status)
        {
            seconds.observe(took.as_secs_f64());
            counter.inc();
            return;
        }
        drop(known);
        let labels = RouteLabels { method, route: route.to_owned() };
        let seconds = self.seconds.get_or_create(&labels).clone();
        let counter =
            self.requests.get_or_create(&RequestLabels { method, route: route.to_owned(), status }).clone();
        seconds.observe(took.as_secs_f64());
        counter.inc();
        let mut known = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        let of_route =
            known.entry(method).or_default().entry(route.to_owned()).or_insert_with(|| (seconds, Vec::new()));
        if of_route.1.iter().all(|(known, _)| *known != status) {
            of_route.1.push((status, counter));
        }
    }
}

/// Returns the metrics as text. They are not part of the interface under `/v1`, so they are not in its document.
pub async fn metrics(State(api): State<Api>) -> Result<impl IntoResponse, Problem> {
    if let Ok((all, failed)) = attestry_app::core::queue::counts(&api.ctx).await {
        api.metrics.jobs.set(all);
        api.metrics.failed_jobs.set(failed);
    }
    api.metrics.event_streams.set(i64::try_from(api.ctx.feed().streams()).unwrap_or(i64::MAX));
    api.metrics.body_memory.set(i64::try_from(api.bodies.bytes_in_use()).unwrap_or(i64::MAX));
    api.metrics.response_memory.set(i64::try_from(api.responses.bytes_in_use()).unwrap_or(i64::MAX));
    api.metrics.portal_pages.set(i64::try_from(api.ctx.portal_pages().rendered()).unwrap_or(i64::MAX));
    api.metrics.uptime.set(api.ctx.now().since(api.started).as_secs_f64());
    let mut text = String::new();
    encode(&mut text, &api.metrics.registry).map_err(Problem::internal)?;
    Ok(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
}
