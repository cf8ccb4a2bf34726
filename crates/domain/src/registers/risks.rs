//! A risk, with its likelihood and impact before and after treatment.

use crate::date::Date;
use crate::id::kind;
use crate::patch::Patch;
use crate::plain::Plain;
use crate::registers::scales::{Impact, Likelihood, Rated, score, sets_rating};
use crate::registers::{Actions, Computed, Live, RatingSide, Register, SEARCH_TEXT, Visibility};
use crate::text::LongText;
use crate::time::Time;

crate::words! {
    RiskCategory {
        Customer = "customer",
        Fraud = "fraud",
        Governance = "governance",
        Operations = "operations",
        Other = "other",
        People = "people",
        Regulatory = "regulatory",
        Reporting = "reporting",
        Resilience = "resilience",
        Technology = "technology",
        VendorManagement = "vendor_management",
    }
}

crate::words! {
    /// The status of a risk. Any status may follow any other.
    #[derive(Default)]
    RiskStatus {
        #[default]
        Open = "open",
        Pending = "pending",
        Closed = "closed",
        Archived = "archived",
    }
}

crate::words! {
    /// The treatment of a risk.
    #[derive(Default)]
    TreatmentStrategy {
        #[default]
        Accept = "accept",
        Avoid = "avoid",
        Mitigate = "mitigate",
        Transfer = "transfer",
    }
}

crate::words! {
    /// The state of the acceptance of a risk.
    AcceptanceStatus {
        None = "none",
        Accepted = "accepted",
        /// Its last day has passed.
        Ended = "ended",
    }
}

/// Returns true when the input sets the treatment. On creation the default does not count.
pub(crate) fn sets_treatment(
    is_new: bool,
    strategy: Option<TreatmentStrategy>,
    description: &Patch<LongText>,
) -> bool {
    let is_set = strategy.is_some_and(|strategy| !is_new || strategy != TreatmentStrategy::default());
    is_set || matches!(description, Patch::Value(_))
}

/// Every field of a risk.
#[macro_export]
macro_rules! risk_fields {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            title "title" required $crate::text::Name = "The possible event, in a few words.";
            description "description" required $crate::text::LongText = "The possible event, and its causes.";
            category "category" required $crate::registers::risks::RiskCategory = "The category of the risk.";
            department "department" nullable $crate::words::Department = "The department the risk belongs to.";
            status "status" default $crate::registers::risks::RiskStatus = "Any status may follow any other.";
            likelihood "likelihood" default $crate::registers::scales::Likelihood = "The likelihood before treatment.";
            impact "impact" default $crate::registers::scales::Impact = "The impact before treatment.";
            residual_likelihood "residualLikelihood" default $crate::registers::scales::Likelihood = "The likelihood after treatment.";
            residual_impact "residualImpact" default $crate::registers::scales::Impact = "The impact after treatment.";
            is_assessed "isAssessed" own bool = "True once the rating before treatment was set; until then it is a default.";
            is_residual_assessed "isResidualAssessed" own bool = "True once the rating after treatment was set; until then it is a default.";
            treatment_strategy "treatmentStrategy" default $crate::registers::risks::TreatmentStrategy = "The treatment.";
            treatment_strategy_description "treatmentStrategyDescription" nullable $crate::text::LongText = "A description of how it is done.";
            treatment_decided_at "treatmentDecidedAt" noted $crate::time::Time = "When somebody last set or described a strategy; null while it is a default.";
            assignee_id "assigneeId" nullable $crate::id::MemberId = "The active member who is responsible.";
            review_date "reviewDate" nullable $crate::date::Date = "When the risk is to be reviewed.";
            accepted_by_id "acceptedById" noted $crate::id::MemberId = "The owner who accepted the risk as it is rated; null while it is not accepted.";
            accepted_at "acceptedAt" noted $crate::time::Time = "When it was accepted.";
            accepted_until "acceptedUntil" noted $crate::date::Date = "The last day of the acceptance.";
            acceptance_reason "acceptanceReason" noted $crate::text::LongText = "The reason for the acceptance.";
        }
    };
}

/// The filters of the list of risks.
#[macro_export]
macro_rules! risk_filters {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            status "status" AnyOf status $crate::registers::any_of::AnyOf<$crate::registers::risks::RiskStatus> = "Only risks with this status. Archived risks are listed only with `archived`.";
            category "category" AnyOf category $crate::registers::any_of::AnyOf<$crate::registers::risks::RiskCategory> = "Only risks of this category.";
            department "department" AnyOf department $crate::registers::any_of::AnyOf<$crate::words::Department> = "Only risks of this department.";
            assignee_id "assigneeId" AnyOf assignee_id $crate::registers::any_of::AnyOf<$crate::id::MemberId> = "Only risks this member is responsible for.";
            treatment_strategy "treatmentStrategy" AnyOf treatment_strategy $crate::registers::any_of::AnyOf<$crate::registers::risks::TreatmentStrategy> = "Only risks with this strategy.";
            is_assessed "isAssessed" Is is_assessed bool = "Only risks that have been rated, or have not.";
            is_residual_assessed "isResidualAssessed" Is is_residual_assessed bool = "Only risks that have been rated after treatment, or have not.";
            likelihood "likelihood" AnyOf likelihood $crate::registers::any_of::AnyOf<$crate::registers::scales::Likelihood> = "Only risks with this likelihood before treatment.";
            impact "impact" AnyOf impact $crate::registers::any_of::AnyOf<$crate::registers::scales::Impact> = "Only risks with this impact before treatment.";
            residual_likelihood "residualLikelihood" AnyOf residual_likelihood $crate::registers::any_of::AnyOf<$crate::registers::scales::Likelihood> = "Only risks with this likelihood after treatment.";
            residual_impact "residualImpact" AnyOf residual_impact $crate::registers::any_of::AnyOf<$crate::registers::scales::Impact> = "Only risks with this impact after treatment.";
            min_score "minScore" AtLeast inherent_score $crate::registers::scales::Score = "Only risks with at least this inherent score.";
            min_residual_score "minResidualScore" AtLeast residual_score $crate::registers::scales::Score = "Only risks with at least this residual score.";
        }
    };
}

use crate::{register_filter, register_structs};

risk_fields!(register_structs
    /// The fields of a risk.
    Risk RiskPatch);

risk_filters!(register_filter
/// The filter values of a list of risks.
RiskFilter of Risk lists |filter| match &filter.status {
    Some(any) if any.has(&RiskStatus::Archived) && any.has_others_than(&RiskStatus::Archived) => Visibility::All,
    Some(any) if any.has(&RiskStatus::Archived) => Visibility::Hidden,
    _ => Visibility::Shown,
});

crate::register_sort! {
    /// The sort keys of the list of risks.
    RiskSort {
        Title = "title", title_key Text;
        InherentScore = "inherentScore", inherent_score Number;
        ResidualScore = "residualScore", residual_score Number;
        Category = "category", category Words(RiskCategory);
        Department = "department", department Words(crate::words::Department);
        Status = "status", status Words(RiskStatus);
        TreatmentStrategy = "treatmentStrategy", treatment_strategy Words(TreatmentStrategy);
        Assignee = "assignee", assignee_id Member;
        ReviewDate = "reviewDate", review_date Date;
        AcceptedUntil = "acceptedUntil", accepted_until Date;
    }
}

impl Register for Risk {
    type Kind = kind::Risk;
    type Filter = RiskFilter;
    type Sort = RiskSort;

    const REFERENCE: &'static str = "R";
    const ENTITY: &'static str = "risk";
    const ACTIONS: Actions = crate::actions!("risk");
    const HIDDEN: Option<&'static str> = Some("archived");
    const RATINGS: &'static [RatingSide] = &[
        RatingSide {
            likelihood: "likelihood",
            impact: "impact",
            score: "inherent_score",
            is_assessed: "is_assessed",
        },
        RatingSide {
            likelihood: "residual_likelihood",
            impact: "residual_impact",
            score: "residual_score",
            is_assessed: "is_residual_assessed",
        },
    ];
    const COMPUTED: &'static [Computed<Self>] = &[
        Computed::hidden("title_key", |risk| Plain::Text(risk.title.as_str().to_lowercase().into())),
        Computed::hidden(SEARCH_TEXT, |risk| {
            Plain::Text(format!("{}\n{}", risk.title, risk.description).to_lowercase().into())
        }),
        Computed::hidden("archived", |risk| Plain::Bool(risk.status == RiskStatus::Archived)),
        Computed::shown(
            "inherent_score",
            |risk| Plain::Int(score(risk.likelihood, risk.impact)),
            "inherentScore",
            "1 to 25, before treatment.",
        ),
        Computed::shown(
            "residual_score",
            |risk| Plain::Int(score(risk.residual_likelihood, risk.residual_impact)),
            "residualScore",
            "1 to 25, after treatment.",
        ),
    ];

    const LIVE: &'static [Live<Self>] = &[Live {
        wire: "acceptanceStatus",
        about: "Accepted until `acceptedUntil` has passed.",
        words: AcceptanceStatus::WORDS,
        of: |risk, today| risk.acceptance_status(today).as_str(),
    }];

    crate::register_basics!(title, reviewed);

    fn follow(&mut self, before: Option<&Self>, given: &RiskPatch, now: Time) {
        let is_new = before.is_none();
        self.is_assessed |= sets_rating(is_new, given.likelihood, given.impact);
        self.is_residual_assessed |= sets_rating(is_new, given.residual_likelihood, given.residual_impact);
        let treatment = |risk: &Self| (risk.treatment_strategy, risk.treatment_strategy_description.clone());
        if sets_treatment(is_new, given.treatment_strategy, &given.treatment_strategy_description)
            && (self.treatment_decided_at.is_none() || before.map(treatment) != Some(treatment(self)))
        {
            self.treatment_decided_at = Some(now);
        }
        // What was accepted is no longer what is there.
        if before.is_some_and(|before| before.accepted_terms() != self.accepted_terms()) {
            self.end_acceptance();
        }
    }
}

impl Risk {
    /// The fields that an acceptance is about.
    fn accepted_terms(&self) -> impl PartialEq + '_ {
        (
            (&self.title, &self.description, self.likelihood, self.impact),
            (self.residual_likelihood, self.residual_impact),
            (self.treatment_strategy, &self.treatment_strategy_description),
        )
    }

    pub fn acceptance_status(&self, today: Date) -> AcceptanceStatus {
        match self.accepted_until {
            None => AcceptanceStatus::None,
            Some(until) if until < today => AcceptanceStatus::Ended,
            Some(_) => AcceptanceStatus::Accepted,
        }
    }

    /// Ends the acceptance.
    pub fn end_acceptance(&mut self) {
        self.accepted_by_id = None;
        self.accepted_at = None;
        self.accepted_until = None;
        self.acceptance_reason = None;
    }
}

impl Rated for Risk {
    fn inherent(&self) -> (Likelihood, Impact) {
        (self.likelihood, self.impact)
    }
}
