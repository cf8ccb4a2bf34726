//! Who is told of what happens. An entry of the journal is about one thing; whoever may read such things is told of it,
//! and nobody else. [`SIGHT`] is the one table that says so.

use crate::access::{Grant, Permission, Permissions};

/// How much of what happens to things of a kind a permission shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    /// What is about oneself.
    Own,
    /// Tasks that are or were assigned to oneself.
    Assigned,
    /// Policies, when what members see of them changes.
    Published,
    /// What hangs on something that one may see.
    OnSubject,
}

/// The kind of thing as the journal names it, a permission that shows it, and how far. Of the rows of one kind, the one
/// that reaches farther comes first. What is not here, or needs `audit-log:read`, is for those alone who read the audit log.
pub const SIGHT: &[(&str, Permission, Reach)] = &[
    ("organization", Permission::OrganizationRead, Reach::All),
    ("member", Permission::MemberRead, Reach::All),
    ("member", Permission::ProfileRead, Reach::Own),
    ("api_key", Permission::ApiKeyRead, Reach::All),
    ("risk", Permission::RiskRead, Reach::All),
    ("vendor", Permission::VendorRead, Reach::All),
    ("task", Permission::TaskRead, Reach::All),
    ("task", Permission::TaskAssigned, Reach::Assigned),
    ("automation", Permission::AutomationRead, Reach::All),
    ("automation-run", Permission::AutomationRead, Reach::All),
    ("automation-hosts", Permission::AutomationRead, Reach::All),
    ("secret", Permission::SecretRead, Reach::All),
    ("policy", Permission::PolicyRead, Reach::All),
    ("policy", Permission::PolicySign, Reach::Published),
    ("policy_version", Permission::PolicyRead, Reach::All),
    ("policy_signature", Permission::PolicyRead, Reach::All),
    ("policy_signature", Permission::PolicySign, Reach::Own),
    ("framework", Permission::FrameworkRead, Reach::All),
    ("control", Permission::ControlRead, Reach::All),
    ("context_entry", Permission::ContextRead, Reach::All),
    ("soa_document", Permission::SoaRead, Reach::All),
    ("soa_answer", Permission::SoaRead, Reach::All),
    ("portal", Permission::PortalRead, Reach::All),
    ("portal_post", Permission::PortalRead, Reach::All),
    ("certificate", Permission::PortalRead, Reach::All),
    ("subscriber", Permission::PortalRead, Reach::All),
    ("access_request", Permission::AccessRead, Reach::All),
    ("nda", Permission::AccessRead, Reach::All),
    ("access_grant", Permission::AccessRead, Reach::All),
    ("visit", Permission::AccessRead, Reach::All),
    ("comment", Permission::CommentRead, Reach::OnSubject),
    ("attachment", Permission::AttachmentRead, Reach::OnSubject),
    ("session", Permission::AuditRead, Reach::All),
    ("user", Permission::AuditRead, Reach::All),
    ("user-notifications", Permission::AuditRead, Reach::All),
    ("operation", Permission::AuditRead, Reach::All),
    ("view", Permission::AuditRead, Reach::All),
    ("export", Permission::AuditRead, Reach::All),
];

/// How much somebody with these permissions is told of things of a kind.
pub fn reach(kind: &str, permissions: Permissions) -> Option<Reach> {
    if permissions.contains(Permission::AuditRead) {
        return Some(Reach::All);
    }
    let row = SIGHT.iter().find(|(known, permission, _)| *known == kind && permissions.contains(*permission));
    row.map(|(_, _, reach)| *reach)
}

/// Following what happens: all of it, or as much as one may read.
#[derive(Debug)]
pub enum Follow {}

impl Follow {
    /// The permissions that show something each.
    pub fn any() -> Permissions {
        SIGHT.iter().map(|(_, permission, _)| *permission).collect()
    }
}

impl Grant for Follow {
    const PERMISSION: Permission = Permission::AuditRead;

    fn admits(permissions: Permissions) -> bool {
        !permissions.intersection(Self::any()).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Role;

    #[test]
    fn an_employee_is_told_of_their_own_and_an_auditor_of_all() {
        let employee = Role::Employee.permissions();
        assert_eq!(reach("task", employee), Some(Reach::Assigned));
        assert_eq!(reach("policy", employee), Some(Reach::Published));
        assert_eq!(reach("member", employee), Some(Reach::Own));
        for hidden in ["risk", "policy_version", "session", "operation", "something new"] {
            assert_eq!(reach(hidden, employee), None, "{hidden}");
            assert_eq!(reach(hidden, Role::Auditor.permissions()), Some(Reach::All), "{hidden}");
        }
    }

    #[test]
    fn what_reaches_farther_comes_first() {
        for (at, (kind, _, reach)) in SIGHT.iter().enumerate() {
            let before = SIGHT[..at].iter().any(|(known, ..)| known == kind);
            assert!(!before || *reach != Reach::All, "{kind}");
        }
    }

    #[test]
    fn whoever_reads_nothing_follows_nothing() {
        let only = |permission| [permission].into_iter().collect::<Permissions>();
        assert!(Follow::admits(only(Permission::RiskRead)));
        assert!(!Follow::admits(only(Permission::RiskCreate)));
    }
}
