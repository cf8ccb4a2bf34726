//! Hooks by which features extend the core, the registers and each other. [`crate::assembly`] fills the table, so
//! that the callers of a hook depend on no feature.

use std::collections::BTreeSet;

use attestry_domain::Zone;
use attestry_domain::access::Permissions;
use attestry_domain::id::{AttachmentId, MemberId, OrganizationId};
use attestry_domain::registers::attachments::Attachment;
use futures_util::future::BoxFuture;

use crate::core::change::{Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The future of a hook in a transaction.
pub(crate) type Step<'a> = BoxFuture<'a, Result<(), Error>>;

/// A hook with an argument.
pub(crate) type About<T> = for<'a> fn(&'a Change<'_>, T) -> Step<'a>;

/// A hook with a borrowed argument.
pub(crate) type AboutRef<T> = for<'a> fn(&'a Change<'_>, &'a T) -> Step<'a>;

#[derive(Debug)]
pub(crate) struct Hooks {
    /// Sends the notifications at the end of a change.
    pub(crate) notify: About<Vec<Notification>>,
    /// Runs after a commit that appended to the journals of these organizations.
    pub(crate) committed: fn(&Ctx, BTreeSet<OrganizationId>),
    /// Validates the file that a record refers to. The record is identified by its id.
    pub(crate) validate: for<'a> fn(&'a Change<'_>, &'a str, AttachmentId) -> Step<'a>,
    /// Runs when a record is deleted, to delete everything that belongs to its id.
    pub(crate) deleted: &'static [AboutRef<str>],
    /// Runs when a file is detached from a record; an error prevents it.
    pub(crate) detached: AboutRef<Attachment>,
    /// Runs when a member leaves.
    pub(crate) unassigned: &'static [About<MemberId>],
    /// Runs when a member loses these permissions.
    pub(crate) demoted: for<'a> fn(&'a Change<'_>, MemberId, Permissions) -> Step<'a>,
    /// Runs when the time zone of the organization changes.
    pub(crate) zone_changed: AboutRef<Zone>,
}

impl Ctx {
    pub(crate) fn hooks(&self) -> &'static Hooks {
        self.part::<&'static Hooks>()
    }
}
