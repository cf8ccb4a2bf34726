//! What is done once for all bodies that share a commit. A body leaves notes; whoever commits hands all of them to the
//! [`Seal`], which writes what they come to in the same transaction. A body that fails leaves none.

use std::any::Any;

use futures_util::future::BoxFuture;

use crate::batch::Statement;
use crate::error::Error;
use crate::tx::Tx;

/// What a body leaves for whoever commits, and for the bodies after it.
pub type Note = Box<dyn Any + Send + Sync>;
/// What a lane holds from its first statement to its commit.
pub type Held = Box<dyn Any + Send>;

pub trait Seal: Send + Sync + std::fmt::Debug {
    /// Holds what the writers of a lane would wait for sooner or later. Asked before anything else is touched, so that
    /// two processes never wait for each other.
    fn hold<'t>(&'t self, t: &'t Tx<'t>, lane: u128) -> BoxFuture<'t, Result<Held, Error>>;

    /// What is to be written for what the bodies left, in the order of their ends: it is run together with the commit.
    /// `held`: what this transaction holds already.
    fn seal<'t>(
        &'t self,
        t: &'t Tx<'t>,
        held: Option<Held>,
        notes: Vec<Note>,
    ) -> BoxFuture<'t, Result<Vec<Statement>, Error>>;
}
