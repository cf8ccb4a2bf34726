//! The processes that are measured.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::sibling;

fn spawn(mut command: Command) -> Result<(Child, String)> {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().context("the process starts")?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    loop {
        let line = lines.next().context("the process says that it is ready")??;
        if let Some((_, url)) = line.split_once("ready at ") {
            return Ok((child, url.to_owned()));
        }
    }
}

#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    pub(crate) ready_after: Duration,
}

impl Server {
    pub(crate) fn start(data: &Path, database: Option<&str>) -> Result<Self> {
        Self::start_with(data, database, &[])
    }

    /// Starts the server with additional environment variables.
    pub(crate) fn start_with(
        data: &Path,
        database: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Self> {
        let mut command = Command::new(sibling("attestry")?);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .arg("--data-dir")
            .arg(data)
            .env("ATTESTRY_LOG_LEVEL", "warn")
            .envs(variables.iter().copied());
        if let Some(url) = database {
            command.args(["--database-url", url]);
        }
        let began = Instant::now();
        let (child, url) = spawn(command)?;
        Ok(Self { child, url, ready_after: began.elapsed() })
    }

    fn proc(&self, file: &str) -> Result<String> {
        Ok(std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id()))?)
    }

    /// Returns the CPU time of the process in seconds.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let stat = self.proc("stat")?;
        let fields: Vec<&str> = stat.rsplit(')').next().context("fields")?.split_whitespace().collect();
        let ticks: f64 = fields[11].parse::<f64>()? + fields[12].parse::<f64>()?;
        Ok(ticks / 100.0)
    }

    pub(crate) fn resident_mb(&self) -> u64 {
        self.memory_mb("VmRSS:")
    }

    /// Returns the peak resident memory, overall or since [`Server::forget_peak`].
    pub(crate) fn peak_mb(&self) -> u64 {
        self.memory_mb("VmHWM:")
    }

    /// Resets the peak and returns the resident memory.
    pub(crate) fn forget_peak(&self) -> Result<u64> {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")?;
        Ok(self.resident_mb())
    }

    fn memory_mb(&self, what: &str) -> u64 {
        let status = self.proc("status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(what));
        line.and_then(|line| line.split_whitespace().next())
            .and_then(|kb| kb.parse::<u64>().ok())
            .unwrap_or(0)
            / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Bare {
    child: Child,
    pub(crate) url: String,
}

impl Bare {
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let mut command = Command::new(sibling("attestry-bench")?);
        command.arg("bare").arg(folder);
        let (child, url) = spawn(command)?;
        Ok(Self { child, url })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
