//! `/v1/organization/service-accounts`.

use attestry_app::identity::service_accounts::{self, versions};
use attestry_domain::Time;
use attestry_domain::access::{Roles, grant};
use attestry_domain::id::{MemberId, ServiceAccountId, kind};
use attestry_domain::identity::service_accounts::{
    NamedAccount, NewServiceAccount, Purpose, ServiceAccount, ServiceAccountPatch,
};
use attestry_domain::text::Name;
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::{ParentId, PathId};
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::identity::api_keys::{ApiKeyList, ApiKeyRevocation, CreateApiKey, CreatedApiKey, created};
use crate::identity::auth::Done;

/// A member without a person, as which API keys act.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ServiceAccount, example = json!(account_example()))]
pub(crate) struct AccountView {
    #[schema(value_type = String, example = "sva_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: ServiceAccountId,
    name: String,
    #[schema(required)]
    description: Option<String>,
    role: String,
    /// The member as which its keys act, as the audit log and records name it.
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    member_id: MemberId,
    /// The member who answers for it.
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2c")]
    owner_id: MemberId,
    /// The owner has left, and nobody has taken it over.
    is_orphaned: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn account_example() -> Value {
    json!({
        "id": "sva_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Nightly import", "description": "Imports the asset list.",
        "role": "employee", "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "ownerId": "mem_01jcqg3v5mefzr7d0a6w3k9x2c",
        "isOrphaned": false, "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<NamedAccount> for AccountView {
    fn from(NamedAccount { account, person }: NamedAccount) -> Self {
        let ServiceAccount { id, member_id, description, owner_id, created_at, updated_at, .. } = account;
        Self {
            id,
            name: person.user.name,
            description,
            role: person.member.role.as_str().to_owned(),
            member_id,
            owner_id,
            is_orphaned: account.orphaned_since.is_some(),
            created_at,
            updated_at,
        }
    }
}

page_of! {
    pub(crate) AccountList = AccountView, "ServiceAccountList", account_example(), HAS_TOTAL = false
}

/// Lists the service accounts
#[utoipa::path(
    get, path = "/v1/organization/service-accounts", tag = "API keys",
    responses((status = 200, body = AccountList, description = "Those without an owner first, then by their names; at most 100."))
)]
pub(crate) async fn list_service_accounts(
    api: State<Api>,
    scope: Granted<grant::ApiKeyRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<AccountList>, Problem> {
    Ok(Json(PageView::new(service_accounts::list(&api.ctx, &scope).await?, None, None)))
}

body! {
    /// A new service account.
    CreateServiceAccount {
        name "name": required Name = "The name, as the audit log and records show it.",
        description "description": nullable Purpose = "The purpose.",
        role "role": required Roles = "The role of the account: never owner, and no permissions that you lack.",
        owner_id "ownerId": required MemberId = "The active member who answers for it.",
    }
    example json!({
        "name": "Nightly import", "description": "Imports the asset list.", "role": "employee",
        "ownerId": "mem_01jcqg3v5mefzr7d0a6w3k9x2c"
    })
}

/// Creates a service account
///
/// It never signs in, gets no mail, and is nobody's assignee or approver. Its keys work on when people leave.
#[utoipa::path(
    post, path = "/v1/organization/service-accounts", tag = "API keys", request_body = CreateServiceAccount,
    responses(
        (status = 201, body = AccountView, description = "The service account."),
        (status = 409, description = "There are 100 already."),
    )
)]
pub(crate) async fn create_service_account(
    api: State<Api>,
    scope: Granted<grant::MemberCreate>,
    body: Valid<CreateServiceAccount>,
) -> Result<Response, Problem> {
    let CreateServiceAccount { name, description, role, owner_id } = body.0;
    let new = NewServiceAccount { name, description: description.into_option(), role, owner: owner_id };
    let made = service_accounts::create(&api.ctx, &scope, new).await?;
    let tag = versions(&made);
    Ok(with_tag(StatusCode::CREATED, &tag, AccountView::from(made)))
}

/// Returns a service account
#[utoipa::path(
    get, path = "/v1/organization/service-accounts/{id}", tag = "API keys",
    responses((status = 200, body = AccountView, description = "The service account."))
)]
pub(crate) async fn get_service_account(
    api: State<Api>,
    scope: Granted<grant::ApiKeyRead>,
    id: PathId<kind::ServiceAccount>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let found = service_accounts::get(&api.ctx, &scope, id.found()?).await?;
    let tag = versions(&found);
    Ok(conditions.respond(&tag, AccountView::from(found)))
}

body! {
    /// The fields to change. Fields that are left out stay as they are.
    UpdateServiceAccount {
        name "name": optional Name = "The name.",
        description "description": nullable Purpose = "The purpose.",
        role "role": optional Roles = "The role: never owner, and no permissions that you lack.",
        owner_id "ownerId": optional MemberId = "The active member who answers for it from now on.",
    }
    example json!({"name": "Asset import", "ownerId": "mem_01jcqg3v5mefzr7d0a6w3k9x2c"})
}

/// Changes a service account
#[utoipa::path(
    patch, path = "/v1/organization/service-accounts/{id}", tag = "API keys", request_body = UpdateServiceAccount,
    responses((status = 200, body = AccountView, description = "The service account."))
)]
pub(crate) async fn update_service_account(
    api: State<Api>,
    scope: Granted<grant::MemberUpdate>,
    id: PathId<kind::ServiceAccount>,
    conditions: Conditions,
    body: Valid<UpdateServiceAccount>,
) -> Result<Response, Problem> {
    let UpdateServiceAccount { name, description, role, owner_id } = body.0;
    let patch = ServiceAccountPatch { name, description, role, owner: owner_id };
    let changed =
        service_accounts::update(&api.ctx, &scope, id.found()?, patch, conditions.if_match()).await?;
    let tag = versions(&changed);
    Ok(with_tag(StatusCode::OK, &tag, AccountView::from(changed)))
}

/// Deletes a service account
///
/// Its keys end at once. The audit log and records still name it.
#[utoipa::path(
    delete, path = "/v1/organization/service-accounts/{id}", tag = "API keys",
    responses((status = 200, body = Done, description = "It is gone."))
)]
pub(crate) async fn delete_service_account(
    api: State<Api>,
    scope: Granted<grant::MemberDelete>,
    id: PathId<kind::ServiceAccount>,
    conditions: Conditions,
) -> Result<Json<Done>, Problem> {
    service_accounts::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(Done::DONE))
}

/// Lists the API keys of a service account
#[utoipa::path(
    get, path = "/v1/organization/service-accounts/{id}/api-keys", tag = "API keys",
    responses((status = 200, body = ApiKeyList, description = "The keys, newest first; never their secrets."))
)]
pub(crate) async fn list_service_account_keys(
    api: State<Api>,
    scope: Granted<grant::ApiKeyRead>,
    id: PathId<kind::ServiceAccount>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<ApiKeyList>, Problem> {
    let keys = service_accounts::list_keys(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(PageView::new(keys, None, None)))
}

/// Creates an API key of a service account
///
/// It acts as the service account, with no permissions that you lack.
#[utoipa::path(
    post, path = "/v1/organization/service-accounts/{id}/api-keys", tag = "API keys", request_body = CreateApiKey,
    responses((status = 201, body = CreatedApiKey, description = "The key. Store it safely: it is not shown again."))
)]
pub(crate) async fn create_service_account_key(
    api: State<Api>,
    scope: Granted<grant::ApiKeyCreate>,
    id: PathId<kind::ServiceAccount>,
    body: Valid<CreateApiKey>,
) -> Result<Response, Problem> {
    created(service_accounts::create_key(&api.ctx, &scope, id.found()?, body.0.into()).await?)
}

/// Revokes an API key of a service account
#[utoipa::path(
    delete, path = "/v1/organization/service-accounts/{id}/api-keys/{keyId}", tag = "API keys",
    responses((status = 200, body = ApiKeyRevocation, description = "The key no longer works."))
)]
pub(crate) async fn revoke_service_account_key(
    api: State<Api>,
    scope: Granted<grant::ApiKeyDelete>,
    account: ParentId<kind::ServiceAccount>,
    key: PathId<kind::ApiKey>,
) -> Result<Json<ApiKeyRevocation>, Problem> {
    let (account, key) = (account.found()?, key.found()?);
    Ok(Json(service_accounts::revoke_key(&api.ctx, &scope, account, key).await?.into()))
}
