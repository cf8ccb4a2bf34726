//! The load: `wrk`, one thread and 16 connections, with a script that varies ids and bodies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{Bare, Server};
use crate::report::Measured;
use crate::seed::Home;

/// The request body for creating a risk.
const RISK: &str = r#"{"title":"Laptops are lost","description":"With customer data on them.","category":"technology","likelihood":"likely","impact":"major"}"#;

fn quoted(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("{id:?}")).collect();
    quoted.join(",")
}

pub(crate) fn script(folder: &Path, route: &str, home: &Home) -> Result<PathBuf> {
    let (method, path) = route.split_once(' ').context("a route")?;
    let request = match (method, path) {
        ("GET", "/v1/people/{id}") => "return wrk.format('GET', '/v1/people/' .. ids[n % #ids + 1])".to_owned(),
        ("GET", "/v1/vendors/{id}") => "return wrk.format('GET', '/v1/vendors/' .. vendors[n % #vendors + 1])".to_owned(),
        ("POST", path) => format!("return wrk.format('POST', '{path}', nil, '{RISK}')"),
        ("GET", path) => format!("return wrk.format('GET', '{path}')"),
        ("PATCH", _) => "return wrk.format('PATCH', '/v1/people/' .. ids[n % #ids + 1], nil, '{\"deviceLabelId\":' .. n .. '}')".to_owned(),
        _ => bail!("no script for {route}"),
    };
    let text = format!(
        "local ids = {{{}}}\nlocal vendors = {{{}}}\nlocal n = os.time() * 1000 % 1000000000\n\
         wrk.headers['X-API-Key'] = '{}'\nwrk.headers['Content-Type'] = 'application/json'\n\
         function request()\n  n = n + 1\n  {request}\nend\n",
        quoted(&home.members),
        quoted(&home.vendors),
        home.key
    );
    let path = folder.join("load.lua");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Writes a script that creates risks with all these keys in turn.
pub(crate) fn by_all(folder: &Path, homes: &[Home]) -> Result<PathBuf> {
    let keys: Vec<String> = homes.iter().map(|home| home.key.clone()).collect();
    let text = format!(
        "local keys = {{{}}}\nlocal n = 0\n\
         function request()\n  n = n + 1\n  local headers = {{['X-API-Key'] = keys[n % #keys + 1], ['Content-Type'] = 'application/json'}}\n\
         \x20 return wrk.format('POST', '/v1/risks', headers, '{RISK}')\nend\n",
        quoted(&keys)
    );
    let path = folder.join("by-all.lua");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Runs one window of load.
pub(crate) fn drive(url: &str, script: &Path, seconds: u32, server: Option<&Server>) -> Result<Measured> {
    let before = server.map(Server::cpu_seconds).transpose()?;
    let output = Command::new("wrk")
        .args(["-t1", "-c16", "--latency", &format!("-d{seconds}s"), "-s"])
        .arg(script)
        .arg(url)
        .output()
        .context("wrk runs")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.contains("Non-2xx") || text.contains("Socket errors") {
        bail!("the load met failures:\n{text}");
    }
    let word = |label: &str| -> Result<String> {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(label))
            .with_context(|| format!("no {label} in {text}"))?;
        Ok(line.trim_start()[label.len()..].trim().to_owned())
    };
    let cpu = match (before, server) {
        (Some(before), Some(server)) => (server.cpu_seconds()? - before) / f64::from(seconds) * 100.0,
        _ => 0.0,
    };
    Ok(Measured {
        per_second: word("Requests/sec:")?.parse()?,
        p50_ms: millis(&word("50%")?)?,
        p99_ms: millis(&word("99%")?)?,
        cpu_percent: cpu,
        resident_mb: server.map_or(0, Server::resident_mb),
    })
}

/// Returns the best of several windows of load, on the bare server and on the real one, measured alternately.
pub(crate) fn compare(
    bare: &Bare,
    server: &Server,
    script: &Path,
    windows: u32,
    seconds: u32,
) -> Result<(Measured, Measured)> {
    let (mut best_bare, mut best) = (Measured::default(), Measured::default());
    for _ in 0..windows {
        best_bare = best_bare.better(drive(&bare.url, script, seconds, None)?);
        best = best.better(drive(&server.url, script, seconds, Some(server))?);
    }
    Ok((best_bare, best))
}

fn millis(text: &str) -> Result<f64> {
    let (number, factor) = if let Some(number) = text.strip_suffix("us") {
        (number, 0.001)
    } else if let Some(number) = text.strip_suffix("ms") {
        (number, 1.0)
    } else {
        (text.strip_suffix('s').context("a time")?, 1000.0)
    };
    Ok(number.parse::<f64>()? * factor)
}
