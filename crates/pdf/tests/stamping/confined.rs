//! The processes that read uploaded files.

use std::time::Duration;

use attestry_pdf::{Inspected, Label, Stamper, StamperError, StamperSettings, Unreadable};
use tokio::runtime::Runtime;

use crate::build::{self, Sample};
use crate::hostile;

pub(crate) fn settings() -> StamperSettings {
    let mut settings = StamperSettings::default();
    settings.0.program = env!("CARGO_BIN_EXE_pdf-child").into();
    settings.0.arguments.clear();
    settings.0.limits.cpu = Duration::from_secs(5);
    settings
}

/// Runs the work with a stamper.
pub(crate) fn run<T>(work: impl AsyncFnOnce(&Stamper) -> T) -> T {
    Runtime::new().unwrap().block_on(async { work(&Stamper::new(settings())).await })
}

const ONE_PAGE: Result<Inspected, StamperError> = Ok(Inspected { pages: 1 });
const TOO_COMPLEX: Result<Inspected, StamperError> = Err(StamperError::Unreadable(Unreadable::TooComplex));

/// Stamps a small file after a call whose process ended badly.
async fn goes_on(stamper: &Stamper) {
    let label = Label::print(&build::stamp()).unwrap();
    let file = stamper.stamp(&Sample::hello().bytes(), &label).await.unwrap();
    assert_eq!(stamper.inspect(&file).await, ONE_PAGE);
}

#[test]
fn a_process_has_limited_time() {
    let mut settings = settings();
    settings.0.limits.cpu = Duration::from_secs(1);
    Runtime::new().unwrap().block_on(async {
        let stamper = Stamper::new(settings);
        assert_eq!(stamper.inspect(&hostile::takes_long()).await, TOO_COMPLEX);
        goes_on(&stamper).await;
    });
}

#[test]
fn a_process_has_limited_memory() {
    let mut settings = settings();
    settings.0.limits.memory = 32 << 20;
    Runtime::new().unwrap().block_on(async {
        let stamper = Stamper::new(settings);
        assert_eq!(stamper.inspect(&many_values()).await, TOO_COMPLEX);
        goes_on(&stamper).await;
    });
    assert_eq!(run(async |stamper| stamper.inspect(&many_values()).await), ONE_PAGE);
}

fn many_values() -> Vec<u8> {
    let mut sample = Sample::hello();
    sample.set(9, &format!("[{}]", "0 ".repeat(1_000_000)));
    sample.bytes()
}

/// The process of a function is confined before it reads its input; `attestry-sandbox` tests what it cannot do.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_waits_is_confined() {
    run(async |stamper| {
        assert_eq!(stamper.inspect(&Sample::hello().bytes()).await, ONE_PAGE);
        let started = std::time::Instant::now();
        while !waiting().iter().any(|status| is_confined(status)) {
            assert!(started.elapsed() < Duration::from_secs(20), "{:?}", waiting());
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

/// The status of the processes that were forked from a template of this process.
#[cfg(target_os = "linux")]
fn waiting() -> Vec<String> {
    let status_of = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/status")).ok();
    let parent = |status: &str| Some(status.split_once("PPid:\t")?.1.lines().next()?.to_owned());
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| status_of(entry.file_name().to_str()?))
        .filter(|status| {
            parent(status).and_then(|template| parent(&status_of(&template)?)).as_ref() == Some(&own)
        })
        .collect()
}

#[cfg(target_os = "linux")]
fn is_confined(status: &str) -> bool {
    ["NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t2", "Threads:\t1"]
        .iter()
        .all(|line| status.lines().any(|found| found == *line))
}

#[test]
fn without_a_process_nothing_is_read() {
    let mut settings = settings();
    settings.0.program = "/bin/true".into();
    Runtime::new().unwrap().block_on(async {
        let stamper = Stamper::new(settings);
        let inspected = stamper.inspect(&Sample::hello().bytes()).await;
        assert_eq!(inspected, Err(StamperError::Unavailable));
    });
}
