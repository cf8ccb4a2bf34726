//! `/v1/context`: facts about the organization.

use attestry_domain::access::grant;
use attestry_domain::registers::context_entries::ContextEntry;
use serde_json::{Value, json};

use crate::registers::{Names, Nothing, RegisterApi};

impl RegisterApi for ContextEntry {
    type Read = grant::ContextRead;
    type ReadAll = grant::ContextRead;
    type Create = grant::ContextCreate;
    type Update = grant::ContextUpdate;
    type Delete = grant::ContextDelete;
    type Extension = Nothing;

    const NAMES: Names = Names {
        schema: "ContextEntry",
        one: "context entry",
        many: "context",
        deleted: Some("deletedContextEntry"),
        parameter: "id",
    };
    const GIVEN: &'static [&'static str] = &["question", "answer", "tags"];

    fn example() -> Value {
        json!({
            "id": "ctx_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "Q-3",
            "question": "Does the company have offices or other premises of its own?",
            "answer": "No. Everybody works from home.", "tags": ["premises"], "assigneeId": null,
            "reviewDate": "2027-11-15", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b",
            "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
        })
    }

    fn change_example() -> Value {
        json!({"answer": "Yes, an office in Lisbon.", "reviewDate": null})
    }
}
