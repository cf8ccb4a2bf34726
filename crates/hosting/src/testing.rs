//! A real name server, and a fake hosting provider with scripted responses. For tests of this crate and others.

mod name_server;
mod vercel;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use name_server::NameServer;
pub use vercel::{Answers, FakeVercel, PROJECT, Reply, Seen, TEAM, TOKEN};

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
