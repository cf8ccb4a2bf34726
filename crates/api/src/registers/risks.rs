//! `/v1/risks`: the risk register.

use attestry_domain::access::grant;
use attestry_domain::registers::risks::Risk;
use serde_json::{Value, json};

use crate::registers::{Names, Nothing, RegisterApi};

impl RegisterApi for Risk {
    type Read = grant::RiskRead;
    type ReadAll = grant::RiskRead;
    type Create = grant::RiskCreate;
    type Update = grant::RiskUpdate;
    type Delete = grant::RiskDelete;
    type Extension = Nothing;

    const NAMES: Names =
        Names { schema: "Risk", one: "risk", many: "risks", deleted: Some("deletedRisk"), parameter: "id" };
    const GIVEN: &'static [&'static str] = &[
        "title",
        "description",
        "category",
        "likelihood",
        "impact",
        "residualLikelihood",
        "residualImpact",
        "treatmentStrategy",
        "assigneeId",
    ];

    fn example() -> Value {
        json!({
            "id": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "R-14", "title": "Laptops are lost",
            "description": "With customer data on them.", "category": "technology", "department": "it",
            "status": "open", "likelihood": "likely", "impact": "major", "residualLikelihood": "unlikely",
            "residualImpact": "minor", "isAssessed": true, "isResidualAssessed": true,
            "treatmentStrategy": "mitigate", "treatmentStrategyDescription": "Encrypt every disk.",
            "treatmentDecidedAt": "2026-11-15T09:30:00.000Z", "assigneeId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "reviewDate": "2027-05-15",
            "acceptedById": null, "acceptedAt": null, "acceptedUntil": null, "acceptanceReason": null,
            "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z",
            "updatedAt": "2026-11-15T09:30:00.000Z", "inherentScore": 16, "residualScore": 4, "acceptanceStatus": "none"
        })
    }

    fn change_example() -> Value {
        json!({"status": "closed", "residualLikelihood": "unlikely", "assigneeId": null})
    }
}
