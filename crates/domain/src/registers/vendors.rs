//! A vendor that the organization relies on, with its risk rating.

use crate::id::kind;
use crate::plain::Plain;
use crate::registers::risks::follow_treatment;
use crate::registers::scales::{Impact, Likelihood, Rated, follow_rating, score};
use crate::registers::{Actions, Computed, RatingSide, Register, SEARCH_TEXT};
use crate::time::Time;

crate::words! {
    /// The kind of service that a vendor provides.
    #[derive(Default)]
    VendorCategory {
        Cloud = "cloud",
        Infrastructure = "infrastructure",
        SoftwareAsAService = "software_as_a_service",
        Finance = "finance",
        Marketing = "marketing",
        Sales = "sales",
        Hr = "hr",
        #[default]
        Other = "other",
    }
}

crate::words! {
    /// The assessment status of a vendor. Any status may follow any other.
    #[derive(Default)]
    VendorStatus {
        #[default]
        NotAssessed = "not_assessed",
        InProgress = "in_progress",
        Assessed = "assessed",
    }
}

/// Every field of a vendor.
#[macro_export]
macro_rules! vendor_fields {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            name "name" required $crate::text::Name = "The vendor's name.";
            description "description" required $crate::text::LongText = "The services of the vendor.";
            category "category" default $crate::registers::vendors::VendorCategory = "The category of the vendor.";
            status "status" default $crate::registers::vendors::VendorStatus = "The status of the assessment. Any status may follow any other.";
            inherent_probability "inherentProbability" reset $crate::registers::scales::Likelihood = "The likelihood of a failure before treatment.";
            inherent_impact "inherentImpact" reset $crate::registers::scales::Impact = "The impact of a failure before treatment.";
            residual_probability "residualProbability" reset $crate::registers::scales::Likelihood = "The likelihood of a failure after treatment.";
            residual_impact "residualImpact" reset $crate::registers::scales::Impact = "The impact of a failure after treatment.";
            is_assessed "isAssessed" own bool = "True once the rating before treatment was set. Until then, and after null took it back, it is a default.";
            is_residual_assessed "isResidualAssessed" own bool = "True once the rating after treatment was set. Until then, and after null took it back, it is a default.";
            treatment_strategy "treatmentStrategy" reset $crate::registers::risks::TreatmentStrategy = "The treatment of the risk.";
            treatment_strategy_description "treatmentStrategyDescription" nullable $crate::text::LongText = "A description of how it is done.";
            treatment_decided_at "treatmentDecidedAt" noted $crate::time::Time = "When somebody last set or described a strategy; null while it is a default, and after null took it back.";
            is_sub_processor "isSubProcessor" default bool = "True if the vendor processes customers' data on the organization's behalf.";
            website "website" nullable $crate::text::WebAddress = "The vendor's web site; a bare host name gets `https://`.";
            assignee_id "assigneeId" nullable $crate::id::MemberId = "The active member who manages the vendor.";
            review_date "reviewDate" nullable $crate::date::Date = "When the vendor is to be reviewed.";
        }
    };
}

/// The filters of the list of vendors.
#[macro_export]
macro_rules! vendor_filters {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            status "status" AnyOf status $crate::registers::any_of::AnyOf<$crate::registers::vendors::VendorStatus> = "Only vendors with this status.";
            category "category" AnyOf category $crate::registers::any_of::AnyOf<$crate::registers::vendors::VendorCategory> = "Only vendors of this category.";
            assignee_id "assigneeId" AnyOf assignee_id $crate::registers::any_of::AnyOf<$crate::id::MemberId> = "Only vendors this member manages.";
            is_assessed "isAssessed" Is is_assessed bool = "Only vendors that have been rated, or have not.";
            is_residual_assessed "isResidualAssessed" Is is_residual_assessed bool = "Only vendors that have been rated after treatment, or have not.";
            treatment_strategy "treatmentStrategy" AnyOf treatment_strategy $crate::registers::any_of::AnyOf<$crate::registers::risks::TreatmentStrategy> = "Only vendors with this strategy.";
            is_sub_processor "isSubProcessor" Is is_sub_processor bool = "Only sub-processors, or only the others.";
            inherent_probability "inherentProbability" AnyOf inherent_probability $crate::registers::any_of::AnyOf<$crate::registers::scales::Likelihood> = "Only vendors with this likelihood before treatment.";
            inherent_impact "inherentImpact" AnyOf inherent_impact $crate::registers::any_of::AnyOf<$crate::registers::scales::Impact> = "Only vendors with this impact before treatment.";
            residual_probability "residualProbability" AnyOf residual_probability $crate::registers::any_of::AnyOf<$crate::registers::scales::Likelihood> = "Only vendors with this likelihood after treatment.";
            residual_impact "residualImpact" AnyOf residual_impact $crate::registers::any_of::AnyOf<$crate::registers::scales::Impact> = "Only vendors with this impact after treatment.";
            min_score "minScore" AtLeast inherent_score $crate::registers::scales::Score = "Only vendors with at least this inherent score.";
        }
    };
}

use crate::{register_filter, register_structs};

vendor_fields!(register_structs
    /// The fields of a vendor.
    Vendor VendorPatch);

vendor_filters!(register_filter
    /// The filter values of a list of vendors.
    VendorFilter of Vendor);

crate::register_sort! {
    /// The sort keys of the list of vendors.
    VendorSort {
        Name = "name", name_key Text;
        InherentScore = "inherentScore", inherent_score Number;
        ResidualScore = "residualScore", residual_score Number;
        Category = "category", category Words(VendorCategory);
        Status = "status", status Words(VendorStatus);
        TreatmentStrategy = "treatmentStrategy", treatment_strategy Words(crate::registers::risks::TreatmentStrategy);
        Assignee = "assignee", assignee_id Member;
        ReviewDate = "reviewDate", review_date Date;
    }
}

impl Register for Vendor {
    type Kind = kind::Vendor;
    type Filter = VendorFilter;
    type Sort = VendorSort;

    const REFERENCE: &'static str = "V";
    const ENTITY: &'static str = "vendor";
    const ACTIONS: Actions = crate::actions!("vendor");
    const RATINGS: &'static [RatingSide] = &[
        RatingSide {
            likelihood: "inherent_probability",
            impact: "inherent_impact",
            score: "inherent_score",
            is_assessed: "is_assessed",
        },
        RatingSide {
            likelihood: "residual_probability",
            impact: "residual_impact",
            score: "residual_score",
            is_assessed: "is_residual_assessed",
        },
    ];
    const COMPUTED: &'static [Computed<Self>] = &[
        Computed::hidden("name_key", |vendor| Plain::Text(vendor.name.as_str().to_lowercase().into())),
        Computed::hidden(SEARCH_TEXT, |vendor| {
            Plain::Text(format!("{}\n{}", vendor.name, vendor.description).to_lowercase().into())
        }),
        Computed::shown(
            "inherent_score",
            |vendor| Plain::Int(score(vendor.inherent_probability, vendor.inherent_impact)),
            "inherentScore",
            "1 to 25, before treatment.",
        ),
        Computed::shown(
            "residual_score",
            |vendor| Plain::Int(score(vendor.residual_probability, vendor.residual_impact)),
            "residualScore",
            "1 to 25, after treatment.",
        ),
    ];

    crate::register_basics!(name, reviewed);

    fn follow(&mut self, before: Option<&Self>, given: &VendorPatch, now: Time) {
        let is_new = before.is_none();
        follow_rating(
            (&mut self.inherent_probability, &mut self.inherent_impact, &mut self.is_assessed),
            (&given.inherent_probability, &given.inherent_impact),
            is_new,
        );
        follow_rating(
            (&mut self.residual_probability, &mut self.residual_impact, &mut self.is_residual_assessed),
            (&given.residual_probability, &given.residual_impact),
            is_new,
        );
        let treatment =
            |vendor: &Self| (vendor.treatment_strategy, vendor.treatment_strategy_description.clone());
        let is_changed = before.map(treatment) != Some(treatment(self));
        follow_treatment(
            &mut self.treatment_decided_at,
            (&given.treatment_strategy, &given.treatment_strategy_description),
            is_new,
            is_changed,
            now,
        );
    }
}

impl Rated for Vendor {
    fn inherent(&self) -> (Likelihood, Impact) {
        (self.inherent_probability, self.inherent_impact)
    }
}
