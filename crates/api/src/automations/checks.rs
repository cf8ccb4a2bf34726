//! `/v1/automation-checks`: the checks that ship with the product.

use attestry_domain::access::grant;
use attestry_domain::automations::checks::{CHECKS, Check};
use attestry_http::request::caller::Granted;
use axum::Json;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A check that ships with the product.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AutomationCheck, example = json!(check_example()))]
pub(crate) struct CheckView {
    /// The identifier to use as `check` of an automation.
    check: &'static str,
    title: &'static str,
    description: &'static str,
    /// A JSON Schema of the parameters.
    #[schema(value_type = Object)]
    parameters: Value,
    /// The script that it runs.
    script: &'static str,
}

impl From<&'static Check> for CheckView {
    fn from(check: &'static Check) -> Self {
        let parameters = check.schema();
        Self {
            check: check.name,
            title: check.title,
            description: check.description,
            parameters,
            script: check.script,
        }
    }
}

fn check_example() -> Value {
    json!(CHECKS.first().map(CheckView::from))
}

page_of! {
    pub(crate) CheckList = CheckView, "CheckList", check_example(), HAS_TOTAL = false
}

/// Lists the built-in checks
#[utoipa::path(
    get, path = "/v1/automation-checks", tag = "Automations",
    responses((status = 200, body = CheckList, description = "All checks, with their parameters."))
)]
pub(crate) async fn list_automation_checks(_scope: Granted<grant::AutomationRead>) -> Json<CheckList> {
    Json(CheckList::whole(CHECKS))
}
