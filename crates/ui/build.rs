//! Lists the files to embed: the built console, which is optional, the OpenAPI document, and the files of its viewer.

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
use std::io::{Cursor, Read, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

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

/// A line of the list, with its path for sorting.
struct Listed {
    path: String,
    line: String,
}

impl Listed {
    fn new(path: String, bytes: &[u8], content: &str) -> Self {
        let known = TYPES.iter().find(|(extension, _)| path.ends_with(&format!(".{extension}")));
        let (_, kind) = known.unwrap_or_else(|| panic!("{path} has no content type in TYPES"));
        let mut fingerprint = DefaultHasher::new();
        bytes.hash(&mut fingerprint);
        let line = format!(
            "File {{ path: {path:?}, content_type: {kind:?}, fingerprint: \"{:016x}\", content: Content::{content} }},",
            fingerprint.finish(),
        );
        Self { path, line }
    }
}

/// The output of `npm run build`.
fn console(dist: &Path) -> Vec<Listed> {
    let mut all = Vec::new();
    files(dist, &mut all);
    let is_own = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        path.file_name().is_some_and(|name| name != ".gitkeep") && !["br", "gz"].contains(&extension)
    };
    let listed = |path: &PathBuf| {
        let packed = |extension: &str| PathBuf::from(format!("{}.{extension}", path.display()));
        let (gzip, brotli) = (packed("gz"), packed("br"));
        let content = if gzip.exists() && brotli.exists() {
            format!("Packed {{ gzip: include_bytes!({gzip:?}), brotli: Some(include_bytes!({brotli:?})) }}")
        } else {
            format!("Plain(include_bytes!({path:?}))")
        };
        let name = path.strip_prefix(dist).expect("a file of the folder").display();
        Listed::new(format!("/{name}"), &fs::read(path).expect("the file can be read"), &content)
    };
    all.iter().filter(|path| is_own(path)).map(listed).collect()
}

/// Compresses a text and lists it.
fn packed(out: &Path, path: &str, text: &[u8]) -> Listed {
    let name = path.rsplit('/').next().expect("a name");
    let gzip = out.join(format!("{name}.gz"));
    let mut encoder = GzEncoder::new(fs::File::create(&gzip).expect("a file"), Compression::best());
    encoder.write_all(text).and_then(|()| encoder.try_finish()).expect("it is written");
    let content = format!("Packed {{ gzip: include_bytes!({gzip:?}), brotli: None }}");
    Listed::new(path.to_owned(), text, &content)
}

/// The two files of Swagger UI that its page needs.
fn swagger(out: &Path) -> [Listed; 2] {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED)).expect("an archive");
    let names: Vec<String> = archive.file_names().flatten().map(Into::into).collect();
    ["swagger-ui-bundle.js", "swagger-ui.css"].map(|name| {
        let path = names.iter().find(|path| path.ends_with(&format!("/dist/{name}"))).expect("it is there");
        let mut text = Vec::new();
        archive.by_name(path).expect("it is there").read_to_end(&mut text).expect("it can be read");
        packed(out, &format!("/docs/{name}"), &text)
    })
}

fn main() {
    let folder = |name: &str| PathBuf::from(env::var(name).expect("cargo names the folder"));
    let (dist, out) = (folder("CARGO_MANIFEST_DIR").join("dist"), folder("OUT_DIR"));
    println!("cargo:rerun-if-changed={}", dist.display());
    let document = folder("CARGO_MANIFEST_DIR").join("../api/openapi.json");
    println!("cargo:rerun-if-changed={}", document.display());
    println!("cargo:rerun-if-changed=build.rs");
    let mut all = console(&dist);
    all.push(packed(&out, "/v1/openapi.json", &fs::read(document).expect("the document can be read")));
    all.extend(swagger(&out));
    // Sorted for binary search.
    all.sort_by(|a, b| a.path.cmp(&b.path));
    let mut list = String::from("&[\n");
    for file in &all {
        writeln!(list, "{}", file.line).expect("a string takes it");
    }
    list.push(']');
    fs::write(out.join("files.rs"), list).expect("the list is written");
}
