//! `/v1/controls`: the measures of the organization that meet requirements.

use attestry_app::Ctx;
use attestry_app::frameworks::controls;
use attestry_app::frameworks::readiness;
use attestry_domain::JsonSchema;
use attestry_domain::Time;
use attestry_domain::access::{Scope, grant};
use attestry_domain::frameworks::FrameworkName;
use attestry_domain::frameworks::controls::{
    Control, ControlPatch, ControlReadiness, ControlSort, Missing, Readiness,
};
use attestry_domain::id::{ControlId, kind};
use attestry_domain::page::{Page, PageRequest};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::links::Linking;
use attestry_domain::registers::{Record, Wanted};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{reference, schema};
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query};
use attestry_http::request::wire::{Body, Fields, Valid};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Value, json};
use utoipa::openapi::path::Parameter;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::frameworks::RequirementIds;
use crate::registers::{self, Extension, ExtensionView, Names, RegisterApi, View};

/// The extension of controls with their readiness.
#[derive(Debug, Default)]
pub(crate) struct ReadinessExtension;

impl FromQuery for ReadinessExtension {
    fn read(_: &mut Query) -> Self {
        Self
    }
}

/// The readiness of a control.
#[derive(Debug)]
pub(crate) struct Far(ControlReadiness);

impl ExtensionView for Far {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("readiness", &self.0)
    }

    fn version(&self) -> Option<i64> {
        let ControlReadiness { policies, tasks, .. } = &self.0;
        i64::try_from(policies.in_place * 1000 + tasks.in_place).ok()
    }
}

/// Returns the schema of the readiness of a control.
pub(crate) fn readiness_schema() -> Value {
    let tally = |about: &str| {
        json!({
            "type": "object", "required": ["linked", "inPlace"], "description": about,
            "properties": {
                "linked": {"type": "integer", "minimum": 0}, "inPlace": {"type": "integer", "minimum": 0}
            }
        })
    };
    json!({
        "type": "object", "required": ["status", "policies", "tasks", "missing"],
        "description": "Its state. Ready when it has an owner, at least one policy or task is linked to it, all linked policies are published and all linked tasks are done with fresh evidence.",
        "properties": {
            "status": Readiness::json_schema(),
            "policies": tally("The policies linked to it; in place are those that are published."),
            "tasks": tally("The tasks linked to it; in place are those that are done and have fresh evidence."),
            "missing": {
                "type": "array", "items": Missing::json_schema(),
                "description": "The missing parts: an `owner`, a published `policy`, a `task` or policy at all, fresh `evidence`."
            }
        }
    })
}

pub(crate) fn readiness_example() -> Value {
    json!({"status": "in_progress", "policies": {"linked": 1, "inPlace": 1}, "tasks": {"linked": 2, "inPlace": 1}, "missing": ["evidence"]})
}

impl Extension<Control> for ReadinessExtension {
    type ExtensionView = Far;

    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    fn properties() -> Vec<(&'static str, Value)> {
        vec![("readiness", readiness_schema())]
    }

    async fn find(
        &self,
        api: &Api,
        scope: &Scope,
        records: &mut [Record<Control>],
        at: Option<Time>,
    ) -> Result<Vec<Far>, Problem> {
        let in_place = readiness::in_place(&api.ctx, scope, at).await?;
        Ok(records.iter().map(|control| Far(control.readiness(&in_place))).collect())
    }
}

impl RegisterApi for Control {
    type Read = grant::ControlRead;
    type ReadAll = grant::ControlRead;
    type Create = grant::ControlCreate;
    type Update = grant::ControlUpdate;
    type Delete = grant::ControlDelete;
    type Extension = ReadinessExtension;

    const NAMES: Names = Names {
        schema: "Control",
        one: "control",
        many: "controls",
        deleted: Some("deletedControl"),
        parameter: "id",
    };
    const GIVEN: &'static [&'static str] = &["name", "description", "department"];
    const LINKS: Option<&'static str> = Some("LinkControl");

    async fn page(
        ctx: &Ctx,
        scope: &Scope,
        wanted: &Wanted<Self>,
        page: PageRequest<ControlSort>,
        at: Option<Time>,
    ) -> Result<Page<Record<Self>>, attestry_app::Error> {
        controls::list(ctx, scope, wanted, page, at).await
    }

    fn links_in(fields: &mut Fields) -> Option<ControlPatch> {
        LinkControl::read(fields).map(Into::into)
    }

    fn example() -> Value {
        json!({
            "id": "ctl_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "C-3", "name": "Access is reviewed every quarter",
            "description": "The owner of each system confirms who may use it.", "department": "it",
            "assigneeId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "reviewDate": "2027-11-15",
            "requirementIds": ["frk_rq_01jcqg3v5mefzr7d0a6w3k9x2b"], "policyIds": ["pol_01jcqg3v5mefzr7d0a6w3k9x2b"],
            "taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"], "riskIds": [], "catalogueKey": "access-reviews", "vendorIds": [],
            "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z",
            "updatedAt": "2026-11-15T09:30:00.000Z", "readiness": readiness_example()
        })
    }

    fn change_example() -> Value {
        json!({"name": "Access is reviewed every month", "reviewDate": null})
    }
}

body! {
    /// Links of a control.
    LinkControl (Medium) {
        requirement_ids "requirementIds": optional IdSet<kind::Requirement> = "Requirements of any frameworks.",
        policy_ids "policyIds": optional IdSet<kind::Policy> = "Policies.",
        task_ids "taskIds": optional IdSet<kind::Task> = "Tasks.",
        risk_ids "riskIds": optional IdSet<kind::Risk> = "Risks.",
        vendor_ids "vendorIds": optional IdSet<kind::Vendor> = "Vendors.",
    }
    example json!({"riskIds": ["rsk_01jcqg3v5mefzr7d0a6w3k9x2b"]})
}

impl From<LinkControl> for ControlPatch {
    fn from(links: LinkControl) -> Self {
        let LinkControl { requirement_ids, policy_ids, task_ids, risk_ids, vendor_ids } = links;
        Self { requirement_ids, policy_ids, task_ids, risk_ids, vendor_ids, ..Self::default() }
    }
}

async fn link(
    api: &Api,
    scope: &Scope,
    id: ControlId,
    links: LinkControl,
    linking: Linking,
    conditions: &Conditions,
) -> Result<Response, Problem> {
    let control = controls::link(&api.ctx, scope, id, links.into(), linking, conditions.if_match()).await?;
    let (tag, row) = registers::answer(api, scope, &ReadinessExtension, control, None).await?;
    Ok(with_tag(StatusCode::OK, &tag, row))
}

/// Links a control to requirements, policies, tasks, risks and vendors
///
/// Existing links are not removed. Linking twice changes nothing.
#[utoipa::path(
    post, path = "/v1/controls/{id}/link", tag = "Controls", request_body = LinkControl,
    responses(
        (status = 200, body = ref("#/components/schemas/Control"), description = "The control."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn link_control(
    api: State<Api>,
    scope: Granted<grant::ControlUpdate>,
    id: PathId<kind::Control>,
    conditions: Conditions,
    body: Valid<LinkControl>,
) -> Result<Response, Problem> {
    link(&api, &scope, id.found()?, body.0, Linking::Add, &conditions).await
}

/// Removes links from a control
#[utoipa::path(
    post, path = "/v1/controls/{id}/unlink", tag = "Controls", request_body = LinkControl,
    responses(
        (status = 200, body = ref("#/components/schemas/Control"), description = "The control."),
        (status = 412, description = "`If-Match` does not match."),
    )
)]
pub(crate) async fn unlink_control(
    api: State<Api>,
    scope: Granted<grant::ControlUpdate>,
    id: PathId<kind::Control>,
    conditions: Conditions,
    body: Valid<LinkControl>,
) -> Result<Response, Problem> {
    link(&api, &scope, id.found()?, body.0, Linking::Remove, &conditions).await
}

body! {
    /// The framework to create controls from.
    CreateControlsFromFramework (Large) {
        framework "frameworkId": required FrameworkName = "The framework, by its id or alias.",
        requirement_ids "requirementIds": optional RequirementIds = "Only these; all of them, if it is left out.",
    }
    example json!({"frameworkId": "iso_27001"})
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ControlsFromFramework {
    created: Vec<View<Control, Far>>,
    created_count: usize,
}

impl PartialSchema for ControlsFromFramework {
    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "object", "required": ["created", "createdCount"],
            "properties": {
                "created": {"type": "array", "items": reference("ControlView")},
                "createdCount": {"type": "integer", "minimum": 0}
            },
            "example": {"created": [Control::example()], "createdCount": 1}
        }))
    }
}

impl ToSchema for ControlsFromFramework {}

/// Creates a control for each requirement of a framework that has none yet
///
/// Each control is also linked to the corresponding requirements of the other frameworks. A repeated request creates
/// only the missing controls.
#[utoipa::path(
    post, path = "/v1/controls/from-framework", tag = "Controls", request_body = CreateControlsFromFramework,
    responses((status = 201, body = ControlsFromFramework, description = "The controls that were made."))
)]
pub(crate) async fn create_controls_from_framework(
    api: State<Api>,
    scope: Granted<grant::ControlCreate>,
    body: Valid<CreateControlsFromFramework>,
) -> Result<(StatusCode, Json<ControlsFromFramework>), Problem> {
    let CreateControlsFromFramework { framework, requirement_ids } = body.0;
    let named = requirement_ids.map(|ids| ids.0);
    let made = controls::from_framework(&api.ctx, &scope, framework, named).await?;
    let created = registers::views(&api, &scope, &ReadinessExtension, made, None).await?;
    Ok((StatusCode::CREATED, Json(ControlsFromFramework { created_count: created.len(), created })))
}
