//! Mail notifications and the users' preferences for them.

use serde::{Deserialize, Serialize};

use crate::row::Row;
crate::words! {
    /// A kind of mail notification.
    Notice {
        /// An item was assigned to the recipient.
        Assigned = "assigned",
        /// A task of the recipient is due within seven days.
        DueSoon = "dueSoon",
        /// A task of the recipient is overdue.
        Overdue = "overdue",
        /// An automation of the recipient began to fail, or recovered.
        Automations = "automations",
        /// A policy needs the recipient's approval, revision, review or signature.
        Policies = "policies",
        /// Access to the trust portal was requested, or the portal's domain broke.
        Portal = "portal",
        /// A comment mentioned the recipient.
        Mentioned = "mentioned",
    }
}

/// The notification preferences of a user.
#[expect(clippy::struct_excessive_bools, reason = "a switch for each kind")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Notices {
    pub assigned: bool,
    pub due_soon: bool,
    pub overdue: bool,
    pub automations: bool,
    pub policies: bool,
    pub portal: bool,
    pub mentioned: bool,
}

/// A change of notification preferences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoticesPatch {
    pub assigned: Option<bool>,
    pub due_soon: Option<bool>,
    pub overdue: Option<bool>,
    pub automations: Option<bool>,
    pub policies: Option<bool>,
    pub portal: Option<bool>,
    pub mentioned: Option<bool>,
}

impl Notices {
    pub fn wants(self, notice: Notice) -> bool {
        match notice {
            Notice::Assigned => self.assigned,
            Notice::DueSoon => self.due_soon,
            Notice::Overdue => self.overdue,
            Notice::Automations => self.automations,
            Notice::Policies => self.policies,
            Notice::Portal => self.portal,
            Notice::Mentioned => self.mentioned,
        }
    }

    #[must_use]
    pub fn patched(self, patch: NoticesPatch) -> Self {
        Self {
            assigned: patch.assigned.unwrap_or(self.assigned),
            due_soon: patch.due_soon.unwrap_or(self.due_soon),
            overdue: patch.overdue.unwrap_or(self.overdue),
            automations: patch.automations.unwrap_or(self.automations),
            policies: patch.policies.unwrap_or(self.policies),
            portal: patch.portal.unwrap_or(self.portal),
            mentioned: patch.mentioned.unwrap_or(self.mentioned),
        }
    }

    /// The preferences with some kinds switched off.
    #[must_use]
    pub fn without(self, kinds: &[Notice]) -> Self {
        let keep = |notice, wanted| wanted && !kinds.contains(&notice);
        Self {
            assigned: keep(Notice::Assigned, self.assigned),
            due_soon: keep(Notice::DueSoon, self.due_soon),
            overdue: keep(Notice::Overdue, self.overdue),
            automations: keep(Notice::Automations, self.automations),
            policies: keep(Notice::Policies, self.policies),
            portal: keep(Notice::Portal, self.portal),
            mentioned: keep(Notice::Mentioned, self.mentioned),
        }
    }
}
