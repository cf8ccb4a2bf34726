//! `/v1/vendors`: the vendor register.

use attestry_domain::access::grant;
use attestry_domain::registers::vendors::Vendor;
use serde_json::{Value, json};

use crate::registers::{Names, Nothing, RegisterApi};

impl RegisterApi for Vendor {
    type Read = grant::VendorRead;
    type ReadAll = grant::VendorRead;
    type Create = grant::VendorCreate;
    type Update = grant::VendorUpdate;
    type Delete = grant::VendorDelete;
    type Extension = Nothing;

    const NAMES: Names = Names {
        schema: "Vendor",
        one: "vendor",
        many: "vendors",
        deleted: Some("deletedVendor"),
        parameter: "id",
    };
    const GIVEN: &'static [&'static str] = &["name", "description", "category", "website"];

    fn example() -> Value {
        json!({
            "id": "vnd_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "V-3", "name": "Cloudy",
            "description": "Hosts our servers.", "category": "cloud", "status": "assessed",
            "inherentProbability": "possible", "inherentImpact": "severe", "residualProbability": "unlikely",
            "residualImpact": "major", "isAssessed": true, "isResidualAssessed": true,
            "treatmentStrategy": "transfer", "treatmentStrategyDescription": "Insured by contract.",
            "treatmentDecidedAt": "2026-11-15T09:30:00.000Z", "isSubProcessor": true,
            "website": "https://cloudy.example", "assigneeId": null, "reviewDate": null,
            "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z",
            "updatedAt": "2026-11-15T09:30:00.000Z", "inherentScore": 15, "residualScore": 8
        })
    }

    fn change_example() -> Value {
        json!({"status": "assessed", "residualProbability": "unlikely", "assigneeId": null})
    }
}
