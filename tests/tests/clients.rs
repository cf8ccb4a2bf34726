//! Clients that are generated from the OpenAPI document: TypeScript is compiled, Python is type-checked.

#![expect(clippy::expect_used, reason = "test code")]

use std::path::PathBuf;
use std::process::Command;

fn variable(name: &str) -> PathBuf {
    std::env::var(name).expect("TEST_NODE or TEST_PYTHON is not set: run `make test`").into()
}

fn here(path: &str) -> PathBuf {
    std::path::absolute(path).expect("the folder of the tests")
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("it runs");
    let told = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{command:?}\n{}", told.concat());
}

#[test]
fn a_generated_typescript_client_compiles() {
    let packages = variable("TEST_NODE").join("node_modules");
    let folder = tempfile::tempdir().expect("a folder");
    let within = |name: &str| folder.path().join(name);
    let tool = |name: &str| {
        let mut command = Command::new(packages.join(".bin").join(name));
        command.current_dir(folder.path());
        command
    };
    std::os::unix::fs::symlink(&packages, within("node_modules")).expect("a link");
    std::fs::copy(here("openapi/client.ts"), within("use.ts")).expect("a copy");
    let document = here("../crates/api/openapi.json");
    succeed(tool("openapi-ts").arg("-i").arg(document).args(["-o", "client"]));
    let strictly = ["--noEmit", "--strict", "--target", "es2022", "--module", "esnext"];
    let found = ["--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable", "use.ts"];
    succeed(tool("tsc").args(strictly).args(found));
}

#[test]
fn a_generated_python_client_is_well_typed() {
    let python = variable("TEST_PYTHON");
    let folder = tempfile::tempdir().expect("a folder");
    let run = |module: &str| {
        let mut command = Command::new(&python);
        command.current_dir(folder.path()).args(["-m", module]);
        command
    };
    let settings = folder.path().join("settings.yaml");
    std::fs::write(&settings, "post_hooks: []\n").expect("a file");
    std::fs::copy(here("openapi/client.py"), folder.path().join("use.py")).expect("a copy");
    let mut generate = run("openapi_python_client");
    generate.args(["generate", "--meta", "none", "--output-path", "attestry_client"]);
    succeed(generate.arg("--config").arg(&settings).arg("--path").arg(here("../crates/api/openapi.json")));
    succeed(run("mypy").args(["--no-incremental", "attestry_client", "use.py"]));
}
