//! Lists the files of the built console, so that the binary carries them. Without them it still builds.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unnecessary_debug_formatting,
    reason = "a build that fails says why; paths are quoted as Rust does"
)]

use std::env;
use std::fmt::Write;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

const TYPES: &[(&str, &str)] = &[
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("woff2", "font/woff2"),
    ("json", "application/json"),
];

fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { files(&path, all) } else { all.push(path) }
    }
}

fn main() {
    let dist = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo names the folder")).join("dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut all = Vec::new();
    files(&dist, &mut all);
    // The order in which they are looked up.
    all.sort_by_key(|path| path.display().to_string());
    let mut list = String::from("&[\n");
    for path in &all {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.file_name().is_some_and(|name| name == ".gitkeep") || ["br", "gz"].contains(&extension) {
            continue;
        }
        let known = TYPES.iter().find(|(known, _)| *known == extension);
        let (_, kind) = known.unwrap_or_else(|| panic!("{} has no content type in TYPES", path.display()));
        let packed = |extension: &str| PathBuf::from(format!("{}.{extension}", path.display()));
        let (gzip, brotli) = (packed("gz"), packed("br"));
        let content = if gzip.exists() && brotli.exists() {
            format!("Packed {{ gzip: include_bytes!({gzip:?}), brotli: include_bytes!({brotli:?}) }}")
        } else {
            format!("Plain(include_bytes!({path:?}))")
        };
        let mut fingerprint = DefaultHasher::new();
        fs::read(path).expect("the file can be read").hash(&mut fingerprint);
        let name = path.strip_prefix(&dist).expect("a file of the folder").display();
        writeln!(
            list,
            "File {{ path: \"/{name}\", content_type: {kind:?}, fingerprint: \"{:016x}\", content: Content::{content} }},",
            fingerprint.finish(),
        )
        .expect("a string takes it");
    }
    list.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo names the folder")).join("files.rs");
    fs::write(out, list).expect("the list is written");
}
