//! Tests of printed documents: the text of finished files is extracted and compared.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test code")]

mod agreements;
mod build;
mod collections;
mod hostile;
mod policies;
mod read;
mod scripts;
mod statements;
mod tables;
