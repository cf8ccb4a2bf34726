//! The commands beside `serve` and `worker`.

pub(crate) mod admin;
pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod doctor;
pub(crate) mod migrate;
pub(crate) mod settings;

/// Says something to whoever runs the command.
#[expect(clippy::print_stdout, reason = "a command answers on standard output")]
pub(crate) fn say(line: impl std::fmt::Display) {
    println!("{line}");
}
