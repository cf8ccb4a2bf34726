//! The results, as a table and as JSON.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Measured {
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) cpu_percent: f64,
    pub(crate) resident_mb: u64,
}

impl Measured {
    pub(crate) fn better(self, other: Self) -> Self {
        if other.per_second > self.per_second { other } else { self }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Case {
    pub(crate) engine: String,
    /// Organizations in the database.
    pub(crate) size: usize,
    pub(crate) route: String,
    pub(crate) measured: Measured,
    pub(crate) bare: Measured,
    pub(crate) target: f64,
    pub(crate) idle_mb: u64,
    pub(crate) ready_ms: u64,
}

impl Case {
    pub(crate) fn ratio(&self) -> f64 {
        self.measured.per_second / self.bare.per_second
    }
}

pub(crate) fn print(cases: &[Case]) {
    println!(
        "\n{:<9} {:>5}  {:<26} {:>9} {:>8} {:>8} {:>9} {:>6} {:>7} {:>6} {:>7}",
        "database",
        "orgs",
        "route",
        "req/s",
        "p50 ms",
        "p99 ms",
        "bare",
        "ratio",
        "target",
        "CPU %",
        "RSS MB"
    );
    for case in cases {
        let Case { engine, size, route, measured, bare, target, .. } = case;
        let mark = if case.ratio() < *target { " ✗" } else { "" };
        println!(
            "{engine:<9} {size:>5}  {route:<26} {:>9.0} {:>8.2} {:>8.2} {:>9.0} {:>6.3} {target:>7.2} {:>6.0} {:>7}{mark}",
            measured.per_second,
            measured.p50_ms,
            measured.p99_ms,
            bare.per_second,
            case.ratio(),
            measured.cpu_percent,
            measured.resident_mb,
        );
    }
    for case in cases.iter().filter(|case| case.route == cases[0].route) {
        println!(
            "{} with {} organizations: ready after {} ms, idle {} MB",
            case.engine, case.size, case.ready_ms, case.idle_mb
        );
    }
}

pub(crate) fn write(cases: &[Case]) -> Result<PathBuf> {
    let folder = PathBuf::from("bench/results");
    std::fs::create_dir_all(&folder)?;
    let number = std::fs::read_dir(&folder)?.count();
    let path = folder.join(format!("{number:04}.json"));
    let rows: Vec<serde_json::Value> = cases
        .iter()
        .map(|case| {
            let mut row = serde_json::to_value(case)?;
            row["ratio"] = case.ratio().into();
            Ok(row)
        })
        .collect::<Result<_>>()?;
    std::fs::write(&path, serde_json::to_string_pretty(&rows)?)?;
    Ok(path)
}

/// Returns a percentile in milliseconds.
pub(crate) fn at(times: &mut [Duration], share: usize) -> f64 {
    times.sort_unstable();
    times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1000.0
}
