//! Stamps files: `cargo run --release -p attestry-pdf --example stamp -- /tmp/stamped one.pdf two.pdf`.
//!
//! Reports for each file its page count and the time that inspection and stamping take in confined processes, or the
//! reason why it was rejected.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use attestry_pdf::{Inspected, Label, Stamp, Stamper, StamperSettings};

/// The number of times that each file is stamped; the median is reported.
const RUNS: usize = 31;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from).peekable();
    if arguments.next_if(|first| first.as_os_str() == "pdf-child").is_some() {
        attestry_pdf::stamping_child();
    }
    let folder = arguments.next().ok_or("a folder for the stamped files is needed")?;
    std::fs::create_dir_all(&folder)?;
    // The fonts are unpacked on first use; print something so that this is not measured.
    attestry_pdf::policy(&attestry_pdf::Document::default())?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let stamper = Stamper::new(StamperSettings::default());
        for path in arguments {
            let bytes = std::fs::read(&path)?;
            let name = path.file_name().unwrap_or_default();
            match measure(&stamper, &bytes).await {
                Ok((Inspected { pages }, stamped, [inspection, stamping])) => {
                    let (name, size, now) = (name.display(), bytes.len(), stamped.len());
                    eprintln!("{name}: {pages} pages, {size} bytes, then {now}, inspected in {inspection:?}, stamped in {stamping:?}");
                    std::fs::write(folder.join(name.to_string()), stamped)?;
                }
                Err(error) => eprintln!("{}: {error}", name.display()),
            }
        }
        Ok(())
    })
}

async fn measure(
    stamper: &Stamper,
    bytes: &[u8],
) -> Result<(Inspected, Vec<u8>, [Duration; 2]), Box<dyn Error>> {
    let stamp = Stamp {
        lines: vec!["Ada Lovelace · ada@example.com".into(), "2026-11-16 10:12 UTC · tcr_01hxyz".into()],
    };
    let inspected = stamper.inspect(bytes).await?;
    let mut stamped = Vec::new();
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        let start = Instant::now();
        stamper.inspect(bytes).await?;
        times[0].push(start.elapsed());
        let start = Instant::now();
        stamped = stamper.stamp(bytes, &Label::print(&stamp)?).await?;
        times[1].push(start.elapsed());
    }
    let medians = times.map(|mut times| {
        times.sort_unstable();
        times.get(RUNS / 2).copied().unwrap_or_default()
    });
    Ok((inspected, stamped, medians))
}
