//! Stamps files: `cargo run -p attestry-pdf --example stamp -- /tmp/stamped one.pdf two.pdf`.
//!
//! Reports for each file its page count, the time and the peak memory of the process, or the reason why it was
//! rejected.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use attestry_pdf::{Inspected, Stamp};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("where shall the stamped files go?")?;
    std::fs::create_dir_all(&folder)?;
    let stamp = Stamp {
        lines: vec!["Ada Lovelace · ada@example.com".into(), "2026-11-16 10:12 UTC · tcr_01hxyz".into()],
    };
    // The fonts are unpacked on first use; print something so that this is not measured.
    attestry_pdf::policy(&attestry_pdf::Document::default())?;
    for path in arguments {
        let bytes = std::fs::read(&path)?;
        let before = memory("VmRSS");
        let start = Instant::now();
        let inspected = attestry_pdf::inspect(&bytes);
        let inspection = start.elapsed();
        let start = Instant::now();
        let stamped = attestry_pdf::stamp(&bytes, &stamp);
        let time = start.elapsed();
        let name = path.file_name().unwrap_or_default();
        let size = bytes.len();
        match (inspected, stamped) {
            (Ok(Inspected { pages }), Ok(stamped)) => {
                let (now, peak) = (stamped.len(), memory("VmHWM"));
                eprintln!(
                    "{}: {pages} pages, {size} bytes, then {now}, inspected in {inspection:?}, stamped in {time:?}, memory {before} then at most {peak} kB",
                    name.display()
                );
                std::fs::write(folder.join(Path::new(name)), stamped)?;
            }
            (_, stamped) => {
                let why = stamped.err().map(|failure| failure.to_string()).unwrap_or_default();
                let peak = memory("VmHWM");
                eprintln!("{}: {why} In {time:?}, memory {before} then at most {peak} kB", name.display());
            }
        }
    }
    Ok(())
}

/// Reads a memory field of `/proc/self/status`, in kB.
fn memory(what: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
