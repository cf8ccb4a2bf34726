//! Work that is done once for all bodies that share a commit. A body defers commit records; the committing task
//! passes all of them to the [`Seal`], which writes the result in the same transaction. A body that fails leaves
//! none.

use std::any::Any;

use futures_util::future::BoxFuture;

use crate::batch::Statement;
use crate::error::Error;
use crate::tx::Tx;

/// A commit record: data that a body defers to the commit and to the bodies after it.
pub type CommitRecord = Box<dyn Any + Send + Sync>;
/// The lock state that a lane carries from its first statement to its commit.
pub type LaneLock = Box<dyn Any + Send + Sync>;

pub trait Seal: Send + Sync + std::fmt::Debug {
    /// Takes the lock that all writers of a lane need. Called before anything else is touched, so that two processes
    /// never deadlock.
    fn hold<'t>(&'t self, t: &'t Tx<'t>, lane: u128) -> BoxFuture<'t, Result<LaneLock, Error>>;

    /// Returns the statements to run with the commit for these commit records, which are in the order in which their
    /// bodies ended. `held` is the lock state, if the transaction has it already.
    fn seal<'t>(
        &'t self,
        t: &'t Tx<'t>,
        held: Option<LaneLock>,
        notes: Vec<CommitRecord>,
    ) -> BoxFuture<'t, Result<Vec<Statement>, Error>>;
}
