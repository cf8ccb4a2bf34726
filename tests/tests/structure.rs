//! The structure of the source: the imports between modules, read from the `use` lines and paths of each crate.

#![expect(clippy::expect_used, reason = "test code")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of files in an import cycle.
const MAX_FILES_PER_IMPORT_CYCLE: usize = 5;
/// The maximum number of files in a folder, for the folders that have a limit.
const MAX_FILES_PER_FOLDER: usize = 15;

fn crates() -> PathBuf {
    PathBuf::from("../crates")
}

/// A module by its path, such as `core/change`.
type Module = Vec<String>;

fn collect(folder: &Path, prefix: &Module, all: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut module = prefix.clone();
        if path.is_dir() {
            module.push(name);
            collect(&path, &module, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if !matches!(name.as_str(), "lib" | "main" | "mod") {
                module.push(name);
            }
            all.insert(module, fs::read_to_string(&path).expect("text"));
        }
    }
}

/// The modules of a crate with their text, without comments and tests.
fn modules(source: &Path) -> BTreeMap<Module, String> {
    let mut all = BTreeMap::new();
    collect(source, &Vec::new(), &mut all);
    for text in all.values_mut() {
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        *text = product
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
    }
    all
}

/// Parses the paths that follow in a text: `::a::b`, or `::a::{b, c::d}`.
fn paths(mut text: &str) -> Vec<Module> {
    let mut path = Module::new();
    while let Some(rest) = text.strip_prefix("::") {
        if let Some(list) = rest.strip_prefix('{') {
            let mut depth = 1;
            let end = list.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '{') - i32::from(*c == '}');
                depth == 0
            });
            let list = &list[..end.map_or(list.len(), |(at, _)| at)];
            let (mut depth, mut parts) = (0, vec![String::new()]);
            for c in list.chars() {
                depth += i32::from(c == '{') - i32::from(c == '}');
                match c {
                    ',' if depth == 0 => parts.push(String::new()),
                    c => parts.last_mut().expect("one").push(c),
                }
            }
            let within = |part: &String| paths(&format!("::{}", part.trim()));
            return parts
                .iter()
                .flat_map(within)
                .map(|rest| path.iter().cloned().chain(rest).collect())
                .collect();
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        text = &rest[end..];
    }
    vec![path]
}

/// Returns the modules that each module imports.
fn imports(all: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut edges = BTreeMap::new();
    for (module, text) in all {
        let mut imported = BTreeSet::new();
        for (word, base) in
            [("crate", Some(0)), ("super", module.len().checked_sub(1)), ("self", Some(module.len()))]
        {
            let Some(base) = base else { continue };
            let wanted = format!("{word}::");
            let starts = text.match_indices(&wanted).filter(|(at, _)| {
                !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$')
            });
            for (at, _) in starts {
                for path in paths(&text[at + word.len()..]) {
                    let mut target: Module = module[..base].iter().cloned().chain(path).collect();
                    while !target.is_empty() && !all.contains_key(&target) {
                        target.pop();
                    }
                    if !target.is_empty() && target != *module {
                        imported.insert(target);
                    }
                }
            }
        }
        edges.insert(module.clone(), imported);
    }
    edges
}

/// Returns all modules that are reachable from a module.
fn reach(edges: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(module) = next.pop() {
        for target in &edges[&module] {
            if found.insert(target.clone()) {
                next.push(target.clone());
            }
        }
    }
    found
}

#[test]
fn no_import_cycle_is_large() {
    for entry in fs::read_dir(crates()).expect("crates") {
        let source = entry.expect("a crate").path().join("src");
        let edges = imports(&modules(&source));
        let reached: BTreeMap<&Module, BTreeSet<Module>> =
            edges.keys().map(|module| (module, reach(&edges, module))).collect();
        for (module, targets) in &reached {
            let cycle: Vec<String> = targets
                .iter()
                .filter(|target| reached[*target].contains(*module))
                .map(|target| target.join("/"))
                .collect();
            assert!(cycle.len() <= MAX_FILES_PER_IMPORT_CYCLE, "{}: {cycle:?}", source.display());
        }
    }
}

#[test]
fn the_core_and_the_registers_know_no_feature() {
    for (module, imported) in imports(&modules(&crates().join("app/src"))) {
        let allowed: &[&str] = match module.first().map(String::as_str) {
            Some("core") => &["core"],
            Some("registers") => &["core", "registers"],
            _ => continue,
        };
        for target in imported {
            assert!(
                allowed.contains(&target[0].as_str()),
                "{} imports {}",
                module.join("/"),
                target.join("/")
            );
        }
    }
}

/// Calls that only `net` makes, so that all outgoing connections trust, resolve and redirect in the same way.
const ONLY_IN_NET: &[&str] =
    &["Client::builder", "NameServerConfig", "TokioResolver::builder", "load_native_certs"];

#[test]
fn only_net_sets_up_connections() {
    for entry in fs::read_dir(crates()).expect("crates") {
        let path = entry.expect("a crate").path();
        for (module, text) in modules(&path.join("src")) {
            let found = ONLY_IN_NET.iter().find(|call| text.contains(**call));
            assert!(
                path.ends_with("net") || found.is_none(),
                "{}/{}: {found:?} belongs to net",
                path.display(),
                module.join("/")
            );
        }
    }
}

#[test]
fn the_large_crates_are_short_at_the_top() {
    for name in ["app", "api", "domain"] {
        let folder = crates().join(name).join("src");
        let files = fs::read_dir(&folder).expect("a folder").filter(|entry| {
            entry
                .as_ref()
                .is_ok_and(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"))
        });
        let count = files.count();
        assert!(count <= MAX_FILES_PER_FOLDER, "{} has {count} files side by side", folder.display());
    }
}

#[test]
fn paths_are_read_with_their_lists() {
    let read = |text: &str| paths(text).iter().map(|path| path.join("/")).collect::<Vec<_>>();
    assert_eq!(read("::core::change;"), ["core/change"]);
    assert_eq!(
        read("::core::{change::Change, queue::{self, Job}};"),
        ["core/change/Change", "core/queue/self", "core/queue/Job"]
    );
}

/// The licences that `deny.toml` allows.
fn allowed_licences() -> Vec<spdx::Licensee> {
    let text = fs::read_to_string(crates().join("../deny.toml")).expect("deny.toml");
    let list = text.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    let names = list.split('"').skip(1).step_by(2);
    names.map(|name| spdx::Licensee::parse(name).expect("a licence")).collect()
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed = allowed_licences();
    let metadata = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(crates())
        .output()
        .expect("cargo runs");
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in packages {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        let expression = spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX).expect(licence);
        let is_allowed =
            expression.evaluate(|requirement| allowed.iter().any(|licence| licence.satisfies(requirement)));
        assert!(is_allowed, "{name} is under {licence}");
    }
}

/// The codes of errors that end a command, not a request.
const COMMAND_CODES: &[&str] = &["half_restored", "other_secret_key"];

#[test]
fn every_conflict_has_a_code_that_is_documented() {
    let known: BTreeSet<&str> = attestry_api::CODES.iter().map(|(code, ..)| *code).collect();
    let mut found = 0;
    for (module, text) in modules(&crates().join("app/src")) {
        for part in text.split("Error::Conflict").skip(1) {
            let code =
                part.split("code: \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
            let is_literal = part.split("message").next().is_some_and(|head| head.contains("code: \""));
            if is_literal && !COMMAND_CODES.contains(&code) {
                assert!(known.contains(code), "{}: {code} would be answered with 500", module.join("/"));
                found += 1;
            }
        }
    }
    assert!(found > 20, "only {found} codes were found");
}
