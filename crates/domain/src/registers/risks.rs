//! A risk, with its likelihood and impact before and after treatment.

use crate::any_of::AnyOf;
use crate::date::Date;
use crate::id::{MemberId, kind};
use crate::patch::Patch;
use crate::plain::Plain;
use crate::registers::scales::{Impact, Likelihood, Rated, Score, follow_rating, score};
use crate::registers::{
    Actions, Computed, Fields, Filter, Live, RatingSide, Register, SEARCH_TEXT, Visibility,
};
use crate::row::Row;
use crate::text::{LongText, Name};
use crate::time::Time;
use crate::words::Department;

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

/// The fields of a risk.
#[derive(Clone, Debug, PartialEq, Eq, Row, Fields)]
pub struct Risk {
    /// The possible event, in a few words.
    pub title: Name,
    /// The possible event, and its causes.
    pub description: LongText,
    /// The category of the risk.
    pub category: RiskCategory,
    /// The department the risk belongs to.
    pub department: Option<Department>,
    /// Any status may follow any other.
    #[field(default)]
    pub status: RiskStatus,
    /// The likelihood before treatment.
    #[field(reset)]
    pub likelihood: Likelihood,
    /// The impact before treatment.
    #[field(reset)]
    pub impact: Impact,
    /// The likelihood after treatment.
    #[field(reset)]
    pub residual_likelihood: Likelihood,
    /// The impact after treatment.
    #[field(reset)]
    pub residual_impact: Impact,
    /// True once the rating before treatment was set. Until then, and after null took it back, it is a default.
    #[field(own)]
    pub is_assessed: bool,
    /// True once the rating after treatment was set. Until then, and after null took it back, it is a default.
    #[field(own)]
    pub is_residual_assessed: bool,
    /// The treatment.
    #[field(reset)]
    pub treatment_strategy: TreatmentStrategy,
    /// A description of how it is done.
    pub treatment_strategy_description: Option<LongText>,
    /// When a strategy was last set or described; null while it is the default, and after it was reset with null.
    #[field(own)]
    pub treatment_decided_at: Option<Time>,
    /// The active member who is responsible.
    pub assignee_id: Option<MemberId>,
    /// When the risk is to be reviewed.
    pub review_date: Option<Date>,
    /// The owner who accepted the risk as it is rated; null while it is not accepted.
    #[field(own)]
    pub accepted_by_id: Option<MemberId>,
    /// When it was accepted.
    #[field(own)]
    pub accepted_at: Option<Time>,
    /// The last day of the acceptance.
    #[field(own)]
    pub accepted_until: Option<Date>,
    /// The reason for the acceptance.
    #[field(own)]
    pub acceptance_reason: Option<LongText>,
}

/// The filter values of a list of risks.
#[derive(Clone, Debug, Default, Filter)]
pub struct RiskFilter {
    /// Only risks with this status. Archived risks are listed only with `archived`.
    pub status: Option<AnyOf<RiskStatus>>,
    /// Only risks of this category.
    pub category: Option<AnyOf<RiskCategory>>,
    /// Only risks of this department.
    pub department: Option<AnyOf<Department>>,
    /// Only risks this member is responsible for.
    pub assignee_id: Option<AnyOf<MemberId>>,
    /// Only risks with this strategy.
    pub treatment_strategy: Option<AnyOf<TreatmentStrategy>>,
    /// Only risks that have been rated, or have not.
    pub is_assessed: Option<bool>,
    /// Only risks that have been rated after treatment, or have not.
    pub is_residual_assessed: Option<bool>,
    /// Only risks with this likelihood before treatment.
    pub likelihood: Option<AnyOf<Likelihood>>,
    /// Only risks with this impact before treatment.
    pub impact: Option<AnyOf<Impact>>,
    /// Only risks with this likelihood after treatment.
    pub residual_likelihood: Option<AnyOf<Likelihood>>,
    /// Only risks with this impact after treatment.
    pub residual_impact: Option<AnyOf<Impact>>,
    /// Only risks with at least this inherent score.
    #[filter(at_least = "inherent_score")]
    pub min_score: Option<Score>,
    /// Only risks with at least this residual score.
    #[filter(at_least = "residual_score")]
    pub min_residual_score: Option<Score>,
}

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

    fn visibility(filter: &RiskFilter) -> Visibility {
        match &filter.status {
            Some(any) if any.has(&RiskStatus::Archived) => match any.has_others_than(&RiskStatus::Archived) {
                true => Visibility::All,
                false => Visibility::Hidden,
            },
            _ => Visibility::Shown,
        }
    }

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
        // The acceptance was of the former text.
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
