//! A body with its types erased, to be sent to a database thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use futures_util::FutureExt;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::Error;
use crate::seal::CommitRecord;
use crate::sqlite::panic_text;
use crate::tx::{Inner, Tx};

/// A body that waits for a connection.
pub(crate) trait Work: Send {
    /// Returns true when the caller has stopped waiting.
    fn is_abandoned(&self) -> bool;
    /// Runs the body and stores its result; `true` when its changes are to be committed.
    fn run(&mut self, connection: &Mutex<Connection>, earlier: &[CommitRecord]) -> bool;
    /// Takes the body's commit records.
    fn take_commit_records(&mut self) -> Vec<CommitRecord>;
    /// Sends the body's result to the caller: its changes are on disk, or it made none.
    fn answer(self: Box<Self>);
    /// Sends an error to the caller: nothing was committed.
    fn fail(self: Box<Self>, error: Error);
}

pub(crate) struct Body<T, E, F> {
    body: F,
    result: Option<Result<T, E>>,
    notes: Vec<CommitRecord>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Body<T, E, F> {
    /// Returns the body and the receiver of its result.
    pub(crate) fn new(body: F) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (reply, answer) = oneshot::channel();
        (Self { body, result: None, notes: Vec::new(), reply }, answer)
    }

    /// Takes the result of a run.
    pub(crate) fn take_result(&mut self) -> Option<Result<T, E>> {
        self.result.take()
    }
}

impl<T, E, F> Work for Body<T, E, F>
where
    F: AsyncFn(&Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<Error> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// Polls the body once: on SQLite every statement is ready immediately, so a body that is pending has awaited
    /// something else.
    fn run(&mut self, connection: &Mutex<Connection>, earlier: &[CommitRecord]) -> bool {
        let tx = Tx::after(Inner::Sqlite(connection), earlier);
        let result = match catch_unwind(AssertUnwindSafe(|| (self.body)(&tx).now_or_never())) {
            Ok(Some(result)) => result,
            Ok(None) => Err(Error::ForeignAwait.into()),
            Err(panic) => Err(Error::Panic(panic_text(panic.as_ref())).into()),
        };
        // A body that continued after a failed statement must not return success.
        let result = match tx.failed() {
            Some(error) if result.is_ok() => Err(error.into()),
            _ => result,
        };
        let keep = result.is_ok();
        self.notes = if keep { tx.into_commit_records() } else { Vec::new() };
        self.result = Some(result);
        keep
    }

    fn take_commit_records(&mut self) -> Vec<CommitRecord> {
        std::mem::take(&mut self.notes)
    }

    fn answer(self: Box<Self>) {
        if let Some(result) = self.result {
            let _ = self.reply.send(result);
        }
    }

    fn fail(self: Box<Self>, error: Error) {
        // A body that failed by itself returns its own error.
        let result = match self.result {
            Some(Err(own)) => Err(own),
            _ => Err(error.into()),
        };
        let _ = self.reply.send(result);
    }
}
