//! `attestry backup` and `attestry restore`: one tar archive with every table as lines of JSON, every stored file,
//! and the key file if the secret is in one. The tables are one snapshot, taken while the server runs; an archive can
//! be restored into an empty database of either engine and any object storage.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow, bail};
use attestry_app::Ctx;
use attestry_app::files::backups::Backup;
use attestry_app::identity::{organizations as app_organizations, setup};
use attestry_blobs::{Folder, Key};
use attestry_domain::hash::hex;
use attestry_domain::id::OrganizationId;
use attestry_storage::schema::{MIGRATIONS, TABLES};
use attestry_storage::{Error, archive, organizations};
use aws_lc_rs::digest;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{audit, say};
use crate::config::{Config, make_data_dir};
use crate::start;

const MANIFEST: &str = "manifest.json";
/// Version of the archive format. 1 was the format before the first release.
const FORMAT: u32 = 2;
const KEY: &str = "attestry.key";
/// Prefix of the names of stored files in the archive.
const FILES: &str = "files/";
/// The maximum number of rows in one transaction of a restore.
const ROWS: usize = 2000;

#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    version: String,
    schema: u32,
}

fn newest() -> u32 {
    MIGRATIONS.last().map_or(0, |step| step.number)
}

pub(crate) async fn backup(config: &Config, to: &Path, overwrite: bool) -> Result<ExitCode> {
    let exists = || anyhow!("{} exists already; name another file, or add --overwrite", to.display());
    if to.exists() && !overwrite {
        return Err(exists());
    }
    let ctx = start::current(config).await?;
    // From here on no file is deleted, even if its row is.
    let running = Backup::begin(&ctx).await?;
    let written = write_archive(config, &ctx, to).await;
    running.end().await?;
    let Written { archive, rows, files, missing } = written?;
    let kept = if overwrite { archive.persist(to) } else { archive.persist_noclobber(to) };
    kept.map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => exists(),
        _ => anyhow!("{} cannot be written: {}", to.display(), error.error),
    })?;
    say(format_args!(
        "Wrote {} ({rows} rows, {files} files). Keep it safe: it holds everything, the secret key included.",
        to.display()
    ));
    for (key, flaw) in &missing {
        say(format_args!("INCOMPLETE: {key}: {flaw}"));
    }
    if missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say(format_args!(
        "{} files could not be backed up as they were stored; `attestry audit verify --files` tells more.",
        missing.len()
    ));
    Ok(ExitCode::FAILURE)
}

/// An archive in a temporary file, with its counts.
struct Written {
    archive: NamedTempFile,
    rows: u64,
    files: usize,
    /// Files that rows of the archive refer to and that are missing from it or have another hash.
    missing: Vec<(String, &'static str)>,
}

async fn write_archive(config: &Config, ctx: &Ctx, to: &Path) -> Result<Written> {
    let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = || format!("{} cannot be written", folder.display());
    let work = tempfile::tempdir_in(folder).with_context(cannot)?;
    let rows = dump(ctx, work.path()).await?;
    let archive =
        tempfile::Builder::new().prefix(".attestry-backup").tempfile_in(folder).with_context(cannot)?;
    let mut tar = tar::Builder::new(BufWriter::new(archive.as_file().try_clone()?));
    let manifest =
        Manifest { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), schema: newest() };
    let manifest = serde_json::to_vec_pretty(&manifest)?;
    append(&mut tar, MANIFEST, manifest.len() as u64, manifest.as_slice())?;
    if config.secret_key.is_none() {
        let key = std::fs::read(start::key_file(config))?;
        append(&mut tar, KEY, key.len() as u64, key.as_slice())?;
    }
    for table in TABLES {
        let name = format!("tables/{}.jsonl", table.name);
        tar.append_path_with_name(work.path().join(format!("{}.jsonl", table.name)), name)?;
    }
    let stored = append_files(&mut tar, ctx).await?;
    let mut out = tar.into_inner()?;
    out.flush()?;
    out.get_ref().sync_all()?;
    let missing = missing(work.path(), &stored)?;
    Ok(Written { archive, rows, files: stored.len(), missing })
}

/// Appends every stored file and returns the SHA-256 of each. Every file that the dumped rows refer to is included,
/// because no file is deleted during a backup; a file that no row refers to yet is swept after a restore.
async fn append_files(tar: &mut tar::Builder<BufWriter<File>>, ctx: &Ctx) -> Result<HashMap<String, String>> {
    let mut stored = HashMap::new();
    let mut keys = ctx.blobs.list(None);
    while let Some(key) = keys.try_next().await? {
        // The header of a tar entry holds the size, so the content is spooled to a temporary file first.
        let mut spool = tempfile::tempfile()?;
        let mut content = match ctx.blobs.read(&key, None).await {
            Err(attestry_blobs::Error::Missing) => continue,
            content => content?,
        };
        let (mut size, mut hash) = (0, digest::Context::new(&digest::SHA256));
        while let Some(bytes) = content.try_next().await? {
            spool.write_all(&bytes)?;
            hash.update(&bytes);
            size += bytes.len() as u64;
        }
        spool.rewind()?;
        append(tar, &format!("{FILES}{key}"), size, spool)?;
        stored.insert(key.to_string(), hex(hash.finish().as_ref()));
    }
    Ok(stored)
}

/// Tables whose rows have a file: the table, the folder of the file, and the columns of its id and its SHA-256.
const WITH_FILES: &[(&str, Folder, &str, &str)] = &[
    ("attachments", Folder::Attachments, "id", "sha256"),
    ("certificates", Folder::Certificates, "id", "sha256"),
    ("ndas", Folder::Agreements, "file_id", "file_sha256"),
];

/// Compares the files of an archive with its rows, which are in the folder `rows`.
fn missing(rows: &Path, stored: &HashMap<String, String>) -> Result<Vec<(String, &'static str)>> {
    let mut missing = Vec::new();
    for (table, folder, id, sha256) in WITH_FILES {
        for line in BufReader::new(File::open(rows.join(format!("{table}.jsonl")))?).lines() {
            let row: serde_json::Value = serde_json::from_str(&line?)?;
            let text = |column: &str| row[column].as_str().unwrap_or_default();
            // An agreement has a file only once it is signed.
            let Some(organization) = OrganizationId::read(text("org_id")).filter(|_| !row[id].is_null())
            else {
                continue;
            };
            let key = Key::named(organization, *folder, text(id));
            match stored.get(&key.to_string()) {
                Some(hash) if *hash == text(sha256) => {}
                Some(_) => missing.push((key.to_string(), "the file is not what was stored")),
                None => missing.push((key.to_string(), "the file is missing")),
            }
        }
    }
    Ok(missing)
}

/// Restores one file.
async fn load_file(ctx: &Ctx, name: &str, mut content: impl Read) -> Result<()> {
    let key = Key::read(name).ok_or_else(|| anyhow!("the archive holds a file {name:?} that is nobody's"))?;
    let mut upload = ctx.blobs.create(&key);
    loop {
        let mut piece = Vec::new();
        content.by_ref().take(1 << 20).read_to_end(&mut piece)?;
        if piece.is_empty() {
            return Ok(upload.finish().await?);
        }
        upload.write(piece.into()).await?;
    }
}

fn append(tar: &mut tar::Builder<BufWriter<File>>, name: &str, size: u64, content: impl Read) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    tar.append_data(&mut header, name, content)?;
    Ok(())
}

/// Writes every table to a file of its own, all from one snapshot.
async fn dump(ctx: &Ctx, folder: &Path) -> Result<u64> {
    let engine = ctx.db.engine();
    let mut files = Vec::new();
    for table in TABLES {
        let file = File::create_new(folder.join(format!("{}.jsonl", table.name)))?;
        files.push((table.name, Mutex::new(BufWriter::new(file))));
    }
    let rows = ctx
        .db
        .snapshot(async move |t| {
            let mut rows = 0;
            for (table, file) in &files {
                let columns = archive::columns(t, engine, table).await?;
                let mut lines = Vec::new();
                rows += archive::dump(t, table, &columns, &mut Spill { lines: &mut lines, file }).await?;
                Spill { lines: &mut lines, file }.flush().map_err(|error| Error::Other(error.to_string()))?;
            }
            Ok::<_, Error>(rows)
        })
        .await?;
    Ok(rows)
}

/// Buffers lines and writes them to the file in large chunks, so that its lock is held only briefly.
struct Spill<'a> {
    lines: &'a mut Vec<u8>,
    file: &'a Mutex<BufWriter<File>>,
}

impl Write for Spill<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lines.extend_from_slice(bytes);
        if self.lines.len() > 1 << 20 {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let mut file = self.file.lock().map_err(|_| std::io::Error::other("poisoned"))?;
        file.write_all(self.lines)?;
        self.lines.clear();
        file.flush()
    }
}

/// Restores an archive into an empty database. Creates the archive's version of the schema first and applies the
/// later migrations once the rows are loaded, so that data migrations apply to these rows too.
pub(crate) async fn restore(config: &Config, from: &Path) -> Result<ExitCode> {
    let schema = archived_schema(from)?;
    make_data_dir(&config.data_dir)?;
    let found = archived_key(config, from)?;
    empty(&start::open(config, None)?).await?;
    // The database is empty, so a key created by a first start has encrypted nothing.
    if let Some(key) = found {
        std::fs::remove_file(start::key_file(config))?;
        start::write_private(&start::key_file(config), &key)?;
    }
    let known = MIGRATIONS.iter().take_while(|step| step.number <= schema).count();
    let ctx = start::open(config, None)?;
    ctx.db.migrate(&MIGRATIONS[..known]).await?;
    let engine = ctx.db.engine();
    ctx.db
        .write(async move |t| {
            archive::clear(t, engine).await?;
            setup::begin_restore(t).await
        })
        .await?;
    let (rows, files) = load_all(&ctx, from).await?;
    // Prepared statements refer to the old version of the tables.
    drop(ctx);
    let ctx = start::open(config, None)?;
    ctx.db.migrate(MIGRATIONS).await?;
    setup::bind_secret_key(&ctx, false).await?;
    ctx.db.write(async |t| setup::end_restore(t).await).await?;
    say(format_args!("Restored {rows} rows and {files} files from {}.", from.display()));
    let mut code = ExitCode::SUCCESS;
    for organization in app_organizations::all(&ctx).await? {
        if !audit::inspect(&ctx, &organization).await? {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Drops the tables of a database that holds only the data of a first start or of an interrupted restore.
async fn empty(ctx: &Ctx) -> Result<()> {
    let pending = ctx.db.pending(MIGRATIONS).await.context("the database cannot be reached")?;
    start::must_be_known(&pending).context("the target database is not empty; use an empty one")?;
    if pending.missing.len() == MIGRATIONS.len() {
        return Ok(());
    }
    ctx.db.migrate(MIGRATIONS).await?;
    let is_taken = ctx.db.read(async |t| organizations::any(t).await).await?;
    if is_taken && !setup::is_half_restored(ctx).await? {
        bail!("the database is not empty; restore into a fresh data folder or an empty database");
    }
    Ok(ctx.db.write(async |t| archive::drop_tables(t).await).await?)
}

/// Loads the rows and files of an archive and returns their counts.
async fn load_all(ctx: &Ctx, from: &Path) -> Result<(u64, u64)> {
    let (mut rows, mut files) = (0, 0);
    let mut tar = tar::Archive::new(BufReader::new(open(from)?));
    for entry in tar.entries()? {
        let entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        if let Some(table) = name.strip_prefix("tables/").and_then(|name| name.strip_suffix(".jsonl")) {
            rows += load(ctx, table, BufReader::new(entry)).await?;
        } else if let Some(name) = name.strip_prefix(FILES) {
            load_file(ctx, name, entry).await?;
            files += 1;
        }
    }
    Ok((rows, files))
}

/// Returns the schema version of an archive. Rejects a file that is no archive or of a newer version, before anything
/// is changed.
fn archived_schema(from: &Path) -> Result<u32> {
    let strange = || format!("{} is not an archive of `attestry backup`", from.display());
    let mut tar = tar::Archive::new(BufReader::new(open(from)?));
    let first = tar.entries()?.next().with_context(strange)?.with_context(strange)?;
    if first.path()?.as_ref() != Path::new(MANIFEST) {
        bail!(strange());
    }
    let manifest: Manifest = serde_json::from_reader(first).with_context(strange)?;
    if manifest.format < FORMAT {
        bail!("this archive was written before the first release and cannot be restored by this version");
    }
    if manifest.format > FORMAT || manifest.schema > newest() {
        bail!("the archive was written by version {}; use that version or a newer one", manifest.version);
    }
    Ok(manifest.schema)
}

fn open(from: &Path) -> Result<File> {
    File::open(from).with_context(|| format!("{} cannot be read", from.display()))
}

/// Returns the archived key file, unless the secret key is a setting.
fn archived_key(config: &Config, from: &Path) -> Result<Option<Vec<u8>>> {
    if config.secret_key.is_some() {
        return Ok(None);
    }
    let mut tar = tar::Archive::new(BufReader::new(open(from)?));
    for entry in tar.entries()? {
        let mut entry = entry?;
        if entry.path()?.as_ref() == Path::new(KEY) {
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut content)?;
            return Ok(Some(content));
        }
    }
    bail!("the archive holds no key file; set ATTESTRY_SECRET_KEY to the one it was made with")
}

async fn load(ctx: &Ctx, table: &str, mut lines: impl BufRead) -> Result<u64> {
    let (engine, name) = (ctx.db.engine(), table.to_owned());
    let columns = ctx.db.read(async move |t| archive::columns(t, engine, &name).await).await?;
    // Tables of the engine itself and of its migrations are never archived.
    let is_ours = !["sqlite_", "pg_", "refinery_"].iter().any(|prefix| table.starts_with(prefix));
    if columns.is_empty() || !is_ours {
        bail!("the archive holds a table {table:?} that this version does not know");
    }
    let mut rows = 0;
    loop {
        let mut batch = Vec::new();
        let mut line = String::new();
        while batch.len() < ROWS && lines.read_line(&mut line)? > 0 {
            batch.push(std::mem::take(&mut line));
        }
        if batch.is_empty() {
            return Ok(rows);
        }
        rows += batch.len() as u64;
        let (columns, name) = (columns.clone(), table.to_owned());
        ctx.db.write(async move |t| archive::load(t, &name, &columns, &batch).await).await?;
    }
}
