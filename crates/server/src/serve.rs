//! The server loop: accepts connections, responds, and on SIGTERM finishes open requests and stops.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use attestry_api::{Api, HttpSettings, router, tidy};
use attestry_app::Ctx;
use attestry_app::core::{queue, refusals};
use attestry_app::feed::{self, Feed};
use attestry_app::identity::{principals, setup};
use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tower::Service;

use crate::config::Config;
use crate::start;
use crate::write_timeout::WriteTimeoutStream;

/// The maximum time for open requests to finish after a stop signal.
const DRAIN: Duration = Duration::from_secs(25);
/// The interval of the comments that keep an idle event stream alive through proxies.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The maximum time for a client to send a request head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum size of a connection's buffers: for the request head, and for the response bytes not yet written.
const BUFFER: usize = 128 << 10;

pub(crate) async fn serve(config: &Config) -> Result<ExitCode> {
    let signals = StopSignals::catch()?;
    let listener = TcpListener::bind((config.listen.host.as_str(), config.listen.port))
        .await
        .with_context(|| format!("cannot listen on {}; is another server running there?", config.listen))?;
    let port = Some(listener.local_addr()?.port());
    let ctx = start::migrated(config, port).await?;
    let url = start::public_url(config, port);
    if let Some(token) = setup::offer(&ctx).await? {
        // Without the console there is no setup page.
        match attestry_api::has_console() {
            true => say(&format!("First start: set it up at {url}/setup?token={token}")),
            false => say("First start: set it up with `attestry admin bootstrap` (see --help)"),
        }
    }
    queue::schedule(&ctx).await?;
    note_confinement();
    let api = Api::new(ctx.clone(), http_settings(config, &url));
    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn(queue::work(ctx.clone(), stopped.clone()));
    tokio::spawn(feed::announce(ctx.clone(), stopped.clone()));
    let refusals = tokio::spawn(refusals::keep_writing(ctx.clone(), stopped.clone()));
    tokio::spawn(feed::listen(ctx.clone(), stopped));
    tokio::spawn(principals::write_touches(ctx.clone()));
    tokio::spawn(tidy(api.clone()));
    let router = router(api);
    say(&format!("Attestry is ready at {url}"));
    accept(listener, router, config.read_timeout, signals, ctx.feed()).await;
    stop.send_replace(true);
    let _ = tokio::time::timeout(DRAIN, futures_util::future::join(worker, refusals)).await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

fn http_settings(config: &Config, url: &str) -> HttpSettings {
    HttpSettings {
        body_limit: config.body_limit,
        body_memory: config.body_memory,
        response_memory: config.response_memory,
        request_timeout: config.request_timeout,
        keep_alive: KEEP_ALIVE,
        event_streams: config.event_streams,
        cors_origins: config.cors_origins.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
        rate_per_credential: config.rate_per_credential,
        rate_per_address: config.rate_per_address,
        secure: url.starts_with("https://"),
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Logs the confinement of scripts and uploaded PDFs, as a warning if the system offers none.
fn note_confinement() {
    let confinement = attestry_sandbox::confinement();
    if confinement.is_confined() {
        tracing::debug!(%confinement, "sandbox");
    } else {
        tracing::warn!(%confinement, "sandbox");
    }
}

#[expect(clippy::print_stdout, reason = "the line that a supervisor or a script waits for")]
fn say(line: &str) {
    println!("{line}");
}

/// The stop signals. They are caught from creation on, so this is created before the server reports that it is ready.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn catch() -> Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn told_to_stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

async fn accept(
    listener: TcpListener,
    router: Router,
    write_timeout: Duration,
    mut signals: StopSignals,
    feed: &Feed,
) {
    let graceful = GracefulShutdown::new();
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(BUFFER);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Probably out of file descriptors: wait until some are closed.
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = signals.told_to_stop() => break,
        };
        // Responses are small and written whole, so Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().call(request)
        });
        let connection = graceful.watch(
            server.serve_connection(TokioIo::new(WriteTimeoutStream::new(stream, write_timeout)), service),
        );
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%peer, %error, "a connection broke");
            }
        });
    }
    drop(listener);
    // Event streams would never end by themselves.
    feed.close();
    tracing::info!("shutting down: finishing the open connections");
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(DRAIN) => tracing::warn!("some requests did not end in time"),
    }
}

/// Runs jobs without serving HTTP.
pub(crate) async fn worker(config: &Config) -> Result<ExitCode> {
    let mut signals = StopSignals::catch()?;
    let ctx: Ctx = start::current(config).await?;
    queue::schedule(&ctx).await?;
    note_confinement();
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(feed::announce(ctx.clone(), stopped.clone()));
    let worker = tokio::spawn(queue::work(ctx, stopped));
    say("Attestry's worker is ready");
    signals.told_to_stop().await;
    stop.send_replace(true);
    let _ = tokio::time::timeout(DRAIN, worker).await;
    Ok(ExitCode::SUCCESS)
}
