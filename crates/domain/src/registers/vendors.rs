//! A vendor that the organization relies on, with its risk rating.

use crate::any_of::AnyOf;
use crate::date::Date;
use crate::id::{MemberId, kind};
use crate::plain::Plain;
use crate::registers::risks::{TreatmentStrategy, follow_treatment};
use crate::registers::scales::{Impact, Likelihood, Rated, Score, follow_rating, score};
use crate::registers::{Actions, Computed, Fields, Filter, RatingSide, Register, SEARCH_TEXT};
use crate::row::Row;
use crate::text::{LongText, Name, WebAddress};
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

/// The fields of a vendor.
#[derive(Clone, Debug, PartialEq, Eq, Row, Fields)]
pub struct Vendor {
    /// The vendor's name.
    pub name: Name,
    /// The services of the vendor.
    pub description: LongText,
    /// The category of the vendor.
    #[field(default)]
    pub category: VendorCategory,
    /// The status of the assessment. Any status may follow any other.
    #[field(default)]
    pub status: VendorStatus,
    /// The likelihood of a failure before treatment.
    #[field(reset)]
    pub inherent_probability: Likelihood,
    /// The impact of a failure before treatment.
    #[field(reset)]
    pub inherent_impact: Impact,
    /// The likelihood of a failure after treatment.
    #[field(reset)]
    pub residual_probability: Likelihood,
    /// The impact of a failure after treatment.
    #[field(reset)]
    pub residual_impact: Impact,
    /// True once the rating before treatment was set. Until then, and after null took it back, it is a default.
    #[field(own)]
    pub is_assessed: bool,
    /// True once the rating after treatment was set. Until then, and after null took it back, it is a default.
    #[field(own)]
    pub is_residual_assessed: bool,
    /// The treatment of the risk.
    #[field(reset)]
    pub treatment_strategy: TreatmentStrategy,
    /// A description of how it is done.
    pub treatment_strategy_description: Option<LongText>,
    /// When a strategy was last set or described; null while it is the default, and after it was reset with null.
    #[field(own)]
    pub treatment_decided_at: Option<Time>,
    /// True if the vendor processes customers' data on the organization's behalf.
    #[field(default)]
    pub is_sub_processor: bool,
    /// The vendor's web site; a bare host name gets `https://`.
    pub website: Option<WebAddress>,
    /// The active member who manages the vendor.
    pub assignee_id: Option<MemberId>,
    /// When the vendor is to be reviewed.
    pub review_date: Option<Date>,
}

/// The filter values of a list of vendors.
#[derive(Clone, Debug, Default, Filter)]
pub struct VendorFilter {
    /// Only vendors with this status.
    pub status: Option<AnyOf<VendorStatus>>,
    /// Only vendors of this category.
    pub category: Option<AnyOf<VendorCategory>>,
    /// Only vendors this member manages.
    pub assignee_id: Option<AnyOf<MemberId>>,
    /// Only vendors that have been rated, or have not.
    pub is_assessed: Option<bool>,
    /// Only vendors that have been rated after treatment, or have not.
    pub is_residual_assessed: Option<bool>,
    /// Only vendors with this strategy.
    pub treatment_strategy: Option<AnyOf<TreatmentStrategy>>,
    /// Only sub-processors, or only the others.
    pub is_sub_processor: Option<bool>,
    /// Only vendors with this likelihood before treatment.
    pub inherent_probability: Option<AnyOf<Likelihood>>,
    /// Only vendors with this impact before treatment.
    pub inherent_impact: Option<AnyOf<Impact>>,
    /// Only vendors with this likelihood after treatment.
    pub residual_probability: Option<AnyOf<Likelihood>>,
    /// Only vendors with this impact after treatment.
    pub residual_impact: Option<AnyOf<Impact>>,
    /// Only vendors with at least this inherent score.
    #[filter(at_least = "inherent_score")]
    pub min_score: Option<Score>,
}

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
