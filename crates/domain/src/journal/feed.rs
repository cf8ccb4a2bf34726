//! Visibility of journal entries. An entry is about one object; it is delivered only to actors who may read such
//! objects. [`VISIBILITY_RULES`] is the only table of these rules.

use crate::access::{Grant, Permission, Permissions};

/// The extent to which a permission makes entries about one kind of object visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    /// Entries about the reader.
    Own,
    /// Entries about tasks that are or were assigned to the reader.
    Assigned,
    /// Entries about policies that change the part members see.
    Published,
    /// Entries about something attached to a subject that the reader may see.
    OnSubject,
}

/// The kind of object in the journal, a permission that makes it visible, and the reach. Among the rows of one kind,
/// the farthest reach comes first. Kinds that are not listed, or need `audit-log:read`, are visible only to readers
/// of the audit log.
pub const VISIBILITY_RULES: &[(&str, Permission, Reach)] = &[
    ("organization", Permission::OrganizationRead, Reach::All),
    ("chat_channel", Permission::OrganizationRead, Reach::All),
    ("member", Permission::MemberRead, Reach::All),
    ("member", Permission::ProfileRead, Reach::Own),
    ("second_factor", Permission::IdentityRead, Reach::All),
    ("sign_in_policy", Permission::IdentityRead, Reach::All),
    ("mail_domain", Permission::IdentityRead, Reach::All),
    ("sso_connection", Permission::IdentityRead, Reach::All),
    ("sso_identity", Permission::IdentityRead, Reach::All),
    ("directory", Permission::IdentityRead, Reach::All),
    ("directory_token", Permission::IdentityRead, Reach::All),
    ("directory_user", Permission::MemberRead, Reach::All),
    ("directory_group", Permission::MemberRead, Reach::All),
    ("api_key", Permission::ApiKeyRead, Reach::All),
    ("service_account", Permission::ApiKeyRead, Reach::All),
    ("risk", Permission::RiskRead, Reach::All),
    ("risk_criteria", Permission::RiskRead, Reach::All),
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
    ("programme", Permission::ProgrammeRead, Reach::All),
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

/// The reach of these permissions for one kind of object.
pub fn reach(kind: &str, permissions: Permissions) -> Option<Reach> {
    if permissions.contains(Permission::AuditRead) {
        return Some(Reach::All);
    }
    let row = VISIBILITY_RULES
        .iter()
        .find(|(known, permission, _)| *known == kind && permissions.contains(*permission));
    row.map(|(_, _, reach)| *reach)
}

/// Access to the event feed: all of it, or the part that the actor may read.
#[derive(Debug)]
pub enum Follow {}

impl Follow {
    /// The permissions that each make a part of the feed visible.
    pub fn any() -> Permissions {
        VISIBILITY_RULES.iter().map(|(_, permission, _)| *permission).collect()
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
        for (at, (kind, _, reach)) in VISIBILITY_RULES.iter().enumerate() {
            let before = VISIBILITY_RULES[..at].iter().any(|(known, ..)| known == kind);
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
