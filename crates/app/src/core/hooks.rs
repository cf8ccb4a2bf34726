//! Steps that features add to those of the core, of the registers and of each other. The table is filled in
//! [`crate::assembly`]: whoever takes the step knows none of the features.

use std::collections::BTreeSet;

use attestry_domain::Zone;
use attestry_domain::access::Permissions;
use attestry_domain::id::{AttachmentId, MemberId, OrganizationId};
use attestry_domain::registers::attachments::Attachment;
use futures_util::future::BoxFuture;

use crate::core::change::{Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::Error;

/// A step in a transaction.
pub(crate) type Step<'a> = BoxFuture<'a, Result<(), Error>>;

/// A step about something: its arguments are the change and that.
pub(crate) type About<T> = for<'a> fn(&'a Change<'_>, T) -> Step<'a>;

/// The same for something that is borrowed.
pub(crate) type AboutRef<T> = for<'a> fn(&'a Change<'_>, &'a T) -> Step<'a>;

#[derive(Debug)]
pub(crate) struct Hooks {
    /// Tells members what happened, at the end of a change.
    pub(crate) notify: About<Vec<Notification>>,
    /// The journals of these organizations have grown, on disk.
    pub(crate) committed: fn(&Ctx, BTreeSet<OrganizationId>),
    /// Checks the file that a record is to have. The record is named by its id.
    pub(crate) validate: for<'a> fn(&'a Change<'_>, &'a str, AttachmentId) -> Step<'a>,
    /// A record is deleted, and with it whatever belongs to its id.
    pub(crate) deleted: &'static [AboutRef<str>],
    /// A file is detached from a record; an error keeps it there.
    pub(crate) detached: AboutRef<Attachment>,
    /// A member leaves.
    pub(crate) unassigned: &'static [About<MemberId>],
    /// A member lost these permissions.
    pub(crate) demoted: for<'a> fn(&'a Change<'_>, MemberId, Permissions) -> Step<'a>,
    /// The clocks of the organization show another time.
    pub(crate) zone_changed: AboutRef<Zone>,
}

impl Ctx {
    pub(crate) fn hooks(&self) -> &'static Hooks {
        self.part::<&'static Hooks>()
    }
}
