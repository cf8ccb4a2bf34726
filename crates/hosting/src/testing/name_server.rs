//! Knot DNS on a free port of this machine, with zones that can be changed while it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use attestry_net::dns;
use hickory_resolver::TokioResolver;
use hickory_resolver::proto::rr::{RData, RecordType};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::held;
use crate::DnsSettings;

/// The number of ports to try, in case another process takes one first.
const ATTEMPTS: usize = 5;
/// The startup timeout.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(20);

/// A name server that runs until it is stopped or dropped. Needs Knot: `make nameserver`.
#[derive(Debug)]
pub struct NameServer {
    folder: TempDir,
    address: SocketAddr,
    process: Child,
    /// The zones and their serial numbers.
    zones: Mutex<BTreeMap<String, u32>>,
}

impl NameServer {
    /// Starts a server with zones such as `example.com`, each with only its SOA and NS records. It refuses all other
    /// queries.
    pub async fn start(zones: &[&str]) -> io::Result<Self> {
        let mut failure = io::Error::other("no port is free");
        for _ in 0..ATTEMPTS {
            let folder = tempfile::tempdir()?;
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
            std::fs::write(folder.path().join("knot.conf"), configuration(folder.path(), address, zones)?)?;
            let mut serials = BTreeMap::new();
            for zone in zones {
                serials.insert((*zone).to_owned(), write_zone(folder.path(), zone, "")?);
            }
            let process = Self::serve(folder.path())?;
            let mut server = Self { folder, address, process, zones: Mutex::new(serials) };
            match server.ready().await {
                Ok(()) => return Ok(server),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Settings that use this server only.
    pub fn settings(&self, target: &str) -> DnsSettings {
        DnsSettings { servers: vec![self.address], ..DnsSettings::new(target) }
    }

    /// Replaces the records of a zone, one per line in zone file syntax: `www 60 CNAME portal`. Names without a final
    /// dot are relative to the zone, `@` is the zone itself, and the default TTL is 0. The new records are served
    /// once this returns.
    pub async fn set(&self, zone: &str, records: &str) -> io::Result<()> {
        let serial = write_zone(self.folder.path(), zone, records)?;
        held(&self.zones).insert(zone.to_owned(), serial);
        let mut reload = tokio::process::Command::new(program("knotc"));
        reload.arg("--config").arg(self.folder.path().join("knot.conf"));
        let output = reload.args(["--blocking", "zone-reload", zone]).output().await?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(io::Error::other(format!("the zone {zone} cannot be loaded: {said}")))
    }

    /// Stops the server. The port is closed once this returns.
    pub fn stop(&mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(drop)
    }

    /// Starts the server again, at the same address.
    pub async fn restart(&mut self) -> io::Result<()> {
        self.stop()?;
        self.process = Self::serve(self.folder.path())?;
        self.ready().await
    }

    fn serve(folder: &Path) -> io::Result<Child> {
        let log = std::fs::File::create(folder.join("log"))?;
        let mut command = Command::new(program("knotd"));
        command.arg("--config").arg(folder.join("knot.conf"));
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("knotd cannot be started: {error}; run `make nameserver`"))
        })
    }

    /// Waits until the server responds for all zones with their current serial numbers.
    async fn ready(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + STARTUP_TIMEOUT;
        let resolver = resolver(self.address)?;
        let zones = held(&self.zones).clone();
        for (zone, serial) in zones {
            while answered_serial(&resolver, &zone).await != Some(serial) {
                if let Some(status) = self.process.try_wait()? {
                    return Err(self.ended(status));
                }
                if Instant::now() > deadline {
                    return Err(io::Error::other(format!("the name server does not answer for {zone}")));
                }
                sleep(Duration::from_millis(5)).await;
            }
        }
        Ok(())
    }

    fn ended(&self, status: ExitStatus) -> io::Error {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        io::Error::other(format!("the name server ended ({status}): {log}"))
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        // An error cannot be reported or handled here.
        let _ = self.stop();
    }
}

/// Finds a port that is free for both protocols and was not assigned to another server of this process.
fn free_port() -> io::Result<u16> {
    static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = tcp.local_addr()?;
        let free = UdpSocket::bind(address).is_ok();
        if free && held(&TAKEN).insert(address.port()) {
            return Ok(address.port());
        }
    }
}

fn configuration(folder: &Path, address: SocketAddr, zones: &[&str]) -> io::Result<String> {
    // Knot would warn that its database folder does not exist.
    std::fs::create_dir_all(folder.join("database"))?;
    let (here, ip, port) = (folder.display(), address.ip(), address.port());
    let mut text = format!(
        "server:\n    rundir: \"{here}\"\n    listen: {ip}@{port}\n    udp-workers: 1\n    tcp-workers: 1\n    \
         background-workers: 1\nlog:\n  - target: stderr\n    any: warning\ndatabase:\n    storage: \
         \"{here}/database\"\ntemplate:\n  - id: default\n    storage: \"{here}\"\n    file: \"%s.zone\"\n    \
         journal-content: none\n    zonefile-load: whole\n    zonefile-sync: -1\nzone:\n"
    );
    for zone in zones {
        let _ = writeln!(text, "  - domain: {zone}");
    }
    Ok(text)
}

/// Writes a zone file with a unique serial number, also across processes of this machine, so that a response shows
/// which file it comes from.
fn write_zone(folder: &Path, zone: &str, records: &str) -> io::Result<u32> {
    static WRITTEN: AtomicU32 = AtomicU32::new(1);
    let serial = std::process::id().wrapping_mul(1000).wrapping_add(WRITTEN.fetch_add(1, Ordering::Relaxed));
    let text = format!(
        "$ORIGIN {zone}.\n$TTL 0\n@ 3600 SOA ns admin {serial} 3600 600 86400 3600\n@ 3600 NS ns\n\
         ns 3600 A 127.0.0.1\n{records}\n"
    );
    std::fs::write(folder.join(format!("{zone}.zone")), text)?;
    Ok(serial)
}

fn resolver(address: SocketAddr) -> io::Result<TokioResolver> {
    dns::resolver(&[address], |options| {
        options.cache_size = 0;
        options.attempts = 0;
        options.timeout = Duration::from_millis(500);
    })
    .map_err(io::Error::other)
}

async fn answered_serial(resolver: &TokioResolver, zone: &str) -> Option<u32> {
    let found = resolver.lookup(format!("{zone}."), RecordType::SOA).await.ok()?;
    found.answers().iter().find_map(|record| match &record.data {
        RData::SOA(soa) => Some(soa.serial),
        _ => None,
    })
}

/// The path of a Knot program. Debian installs it in a folder that is only in root's `PATH`.
fn program(name: &str) -> PathBuf {
    let path = Path::new("/usr/sbin").join(name);
    if path.exists() { path } else { PathBuf::from(name) }
}
