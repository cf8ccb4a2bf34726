//! The roles that own the parts of a programme.

crate::words! {
    /// A role that owns controls, tasks and policies of a programme.
    OwnerRole {
        Management = "management",
        SecurityLead = "security_lead",
        EngineeringLead = "engineering_lead",
        ItLead = "it_lead",
        PeopleLead = "people_lead",
        PrivacyLead = "privacy_lead",
        OfficeManager = "office_manager",
    }
}
