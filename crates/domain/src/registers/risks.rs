//! A risk, with its likelihood and impact before and after treatment.

use crate::date::Date;
use crate::id::kind;
use crate::patch::Patch;
use crate::plain::Plain;
use crate::registers::scales::{Impact, Likelihood, Rated, follow_rating, score};
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

/// Updates the time of the decision about the treatment after the input is applied. On creation the default does not
/// count as one. Null for the strategy without a description takes the decision back.
pub(crate) fn follow_treatment(
    decided_at: &mut Option<Time>,
    (strategy, description): (&Patch<TreatmentStrategy>, &Patch<LongText>),
    is_new: bool,
    is_changed: bool,
    now: Time,
) {
    let is_set = strategy.value().is_some_and(|one| !is_new || *one != TreatmentStrategy::default());
    if is_set || description.value().is_some() {
        if decided_at.is_none() || is_changed {
            *decided_at = Some(now);
        }
    } else if *strategy == Patch::Null {
        *decided_at = None;
    }
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
            likelihood "likelihood" reset $crate::registers::scales::Likelihood = "The likelihood before treatment.";
            impact "impact" reset $crate::registers::scales::Impact = "The impact before treatment.";
            residual_likelihood "residualLikelihood" reset $crate::registers::scales::Likelihood = "The likelihood after treatment.";
            residual_impact "residualImpact" reset $crate::registers::scales::Impact = "The impact after treatment.";
            is_assessed "isAssessed" own bool = "True once the rating before treatment was set. Until then, and after null took it back, it is a default.";
            is_residual_assessed "isResidualAssessed" own bool = "True once the rating after treatment was set. Until then, and after null took it back, it is a default.";
            treatment_strategy "treatmentStrategy" reset $crate::registers::risks::TreatmentStrategy = "The treatment.";
            treatment_strategy_description "treatmentStrategyDescription" nullable $crate::text::LongText = "A description of how it is done.";
            treatment_decided_at "treatmentDecidedAt" noted $crate::time::Time = "When somebody last set or described a strategy; null while it is a default, and after null took it back.";
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
        follow_rating(
            (&mut self.likelihood, &mut self.impact, &mut self.is_assessed),
            (&given.likelihood, &given.impact),
            is_new,
        );
        follow_rating(
            (&mut self.residual_likelihood, &mut self.residual_impact, &mut self.is_residual_assessed),
            (&given.residual_likelihood, &given.residual_impact),
            is_new,
        );
        let treatment = |risk: &Self| (risk.treatment_strategy, risk.treatment_strategy_description.clone());
        let is_changed = before.map(treatment) != Some(treatment(self));
        follow_treatment(
            &mut self.treatment_decided_at,
            (&given.treatment_strategy, &given.treatment_strategy_description),
            is_new,
            is_changed,
            now,
        );
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
