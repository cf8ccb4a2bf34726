//! `/v1/people`: the members of the organization.

use attestry_app::identity::invitations::{Invited, NewInvitation, Sent};
use attestry_app::identity::members::{Changed, versions};
use attestry_app::identity::{confirmation, invitations, members};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::{Roles, grant};
use attestry_domain::any_of::AnyOf;
use attestry_domain::id::{MemberId, OrganizationId, UserId, kind};
use attestry_domain::identity::members::{Member, MemberFilter, MemberPatch, MemberSort, NewMember, Person};
use attestry_domain::identity::users::User;
use attestry_domain::page::PageRequest;
use attestry_domain::text::{Email, Name};
use attestry_domain::words::Department;
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists;
use attestry_http::answer::problem::{Problem, in_one_line};
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::idempotency::WithoutSecret;
use attestry_http::request::json::{Count, Items};
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::{Fields, Valid};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// The user behind a member.
#[derive(Clone, Debug, Serialize, ToSchema, View)]
#[view(User)]
#[serde(rename_all = "camelCase")]
#[schema(as = User, example = json!(user_example()))]
pub struct UserView {
    #[schema(value_type = String, example = "usr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    #[view(one.shown_id())]
    id: UserId,
    name: String,
    #[schema(format = Email)]
    email: String,
    email_verified: bool,
    /// The URL of a picture.
    #[schema(required)]
    image: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
    #[schema(value_type = Option<String>, format = DateTime, required)]
    last_login: Option<Time>,
}

/// A user in the organization.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Member, example = json!(member_example()))]
pub struct MemberView {
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: MemberId,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    #[schema(value_type = String, example = "usr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    user_id: UserId,
    /// One or more roles joined by commas.
    #[schema(value_type = String, example = "employee")]
    role: Roles,
    #[schema(schema_with = schema_of::<Department>)]
    department: Department,
    is_active: bool,
    /// The member was invited and has not accepted yet.
    is_invited: bool,
    /// The account has an authenticator app or a passkey.
    has_second_factor: bool,
    /// The owner signs in with their own credentials where single sign-on is required.
    is_exempt: bool,
    /// The label of the member's devices in a device-management system.
    #[schema(required)]
    device_label_id: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
    user: UserView,
    /// When the link of the invitation expires; only in the response of the request that sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime, required = false)]
    invitation_expires_at: Option<Time>,
    /// The link of the invitation, if mail is only written to files; only in the response of the request that sent it.
    #[serde(skip_serializing_if = "Option::is_none")]
    invitation_link: Option<String>,
}

impl From<Person> for MemberView {
    fn from(Person { member, user }: Person) -> Self {
        let Member {
            id,
            organization_id,
            user_id,
            role,
            department,
            is_active,
            device_label_id,
            is_exempt,
            is_service: _,
            created_at,
            updated_at,
            version: _,
        } = member;
        Self {
            id,
            organization_id,
            user_id: user.account_id.unwrap_or(user_id),
            role,
            department,
            is_active,
            is_invited: user.invited_to.is_some(),
            has_second_factor: user.second_factor_since.is_some(),
            is_exempt,
            device_label_id,
            created_at,
            updated_at,
            user: user.into(),
            invitation_expires_at: None,
            invitation_link: None,
        }
    }
}

impl From<Changed> for MemberView {
    fn from(Changed { person, sent }: Changed) -> Self {
        let (invitation_expires_at, invitation_link) =
            sent.map_or((None, None), |Sent { expires_at, link }| (Some(expires_at), link));
        Self { invitation_expires_at, invitation_link, ..person.into() }
    }
}

/// Builds the response with a member. The copy stored for repeated requests omits the invitation link.
fn shown(status: StatusCode, changed: Changed) -> Result<Response, Problem> {
    let tag = versions(&changed.person);
    let view = MemberView::from(changed);
    let mut response = with_tag(status, &tag, view.clone());
    if view.invitation_link.is_some() {
        let view = MemberView { invitation_link: None, ..view };
        response.extensions_mut().insert(WithoutSecret::of(&view)?);
    }
    Ok(response)
}

pub(crate) fn user_example() -> Value {
    json!({
        "id": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Byron", "email": "ada@example.com",
        "emailVerified": true, "image": null, "createdAt": "2026-11-15T09:30:00.000Z",
        "updatedAt": "2026-11-15T09:30:00.000Z", "lastLogin": null
    })
}

fn member_example() -> Value {
    json!({
        "id": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b",
        "userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "employee", "department": "it", "isActive": true, "isInvited": false,
        "hasSecondFactor": true, "isExempt": false,
        "deviceLabelId": 12, "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z",
        "user": user_example()
    })
}

page_of! {
    /// One page of the people.
    pub MemberList = MemberView, "MemberList", member_example()
}

body! {
    /// A user to add to the organization.
    CreateMember {
        user_id "userId": required UserId = "The user to add. A deactivated member is reactivated; anybody else is invited.",
        role "role": required Roles = "The member's roles.",
        department "department": optional Department = "The member's department; `none` by default.",
        is_active "isActive": optional bool = "True if the member is active, the default. An invited person becomes active by accepting.",
        device_label_id "deviceLabelId": nullable Count = "The label of the member's devices in a device-management system.",
    }
    example json!({"userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "employee", "department": "it"})
}

impl From<CreateMember> for NewMember {
    fn from(body: CreateMember) -> Self {
        let CreateMember { user_id, role, department, is_active, device_label_id } = body;
        Self {
            user_id,
            role,
            department: department.unwrap_or_default(),
            is_active: is_active.unwrap_or(true),
            device_label_id: device_label_id.into_option().map(|Count(number)| number),
        }
    }
}

body! {
    /// The fields of a member to change. Fields that are left out stay as they are.
    UpdateMember {
        user_id "userId": optional UserId = "Another user who replaces this member's user. They are invited, and the member is inactive until they accept.",
        role "role": optional Roles = "The member's roles.",
        department "department": optional Department = "The member's department.",
        is_active "isActive": optional bool = "false deactivates the member, true reactivates them.",
        device_label_id "deviceLabelId": nullable Count = "The label of the member's devices; null clears it.",
        is_exempt "isExempt": optional bool = "true exempts an owner with a second factor from single sign-on. Needs `owner:manage`, and a session confirmed within the last ten minutes.",
    }
    example json!({"department": "gov", "deviceLabelId": null})
}

impl From<UpdateMember> for MemberPatch {
    fn from(body: UpdateMember) -> Self {
        let UpdateMember { user_id, role, department, is_active, device_label_id, is_exempt } = body;
        let device_label_id = device_label_id.map(|Count(number)| number);
        Self { user_id, role, department, is_active, device_label_id, is_exempt }
    }
}

body! {
    /// Users to add, up to 1000. If some cannot be added, the others still are.
    CreateMembers (Large) {
        members "members": required Items<CreateMember> = "The users to add.",
    }
    example json!({"members": [{"userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "employee"}]})
}

body! {
    /// A person to invite by e-mail.
    InviteMember {
        email "email": required Email = "The address to invite.",
        name "name": optional Name = "The person's name, used if the address is new.",
        role "role": required Roles = "The member's roles once the invitation is accepted.",
        department "department": optional Department = "The member's department; `none` by default.",
    }
    example json!({"email": "charles@example.com", "name": "Charles Babbage", "role": "employee"})
}

#[derive(Debug)]
pub(crate) struct ListMembers {
    filter: MemberFilter,
    page: PageRequest<MemberSort>,
    total: bool,
}

impl FromQuery for ListMembers {
    fn read(query: &mut Query) -> Self {
        Self {
            filter: MemberFilter {
                is_active: query.get("isActive"),
                includes_inactive: lists::flag_or_empty(query, "includeDeactivated").unwrap_or(false),
                role: query.any_of("role"),
                department: query.any_of("department"),
                has_second_factor: query.get("hasSecondFactor"),
                q: lists::search(query),
            },
            page: lists::page(query),
            total: lists::total(query),
        }
    }
}

impl IntoParams for ListMembers {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = vec![
            lists::parameter(
                "isActive",
                lists::flag(),
                "false lists members who were deactivated or have not accepted their invitation yet.",
            ),
            lists::parameter(
                "includeDeactivated",
                lists::flag(),
                "true lists active and inactive members. `isActive` counts more.",
            ),
            lists::parameter("role", schema_of::<AnyOf<Name>>(), "Only members with this role."),
            lists::parameter(
                "department",
                schema_of::<AnyOf<Department>>(),
                "Only members of this department.",
            ),
            lists::parameter(
                "hasSecondFactor",
                lists::flag(),
                "Only members whose account has a second factor, or has none.",
            ),
        ];
        all.extend(lists::search_parameters("Part of a name or an e-mail address, case-insensitive."));
        all.push(lists::total_parameter());
        all.extend(lists::parameters::<MemberSort>());
        all
    }
}

/// Lists the people
#[utoipa::path(
    get, path = "/v1/people", tag = "People", params(ListMembers),
    responses((status = 200, body = MemberList, description = "A page of the people, newest first."))
)]
pub(crate) async fn list_members(
    api: State<Api>,
    scope: Granted<grant::MemberRead>,
    query: ValidQuery<ListMembers>,
) -> Result<Json<MemberList>, Problem> {
    let ValidQuery(ListMembers { filter, page, total }) = query;
    let (sort, order) = (page.sort, page.order);
    let mut found = members::list(&api.ctx, &scope, filter.clone(), page).await?;
    let total = if total { Some(members::count(&api.ctx, &scope, filter).await?) } else { None };
    let next_cursor = lists::next_of(sort, order, &mut found);
    Ok(Json(MemberList::new(found.items, next_cursor, total)))
}

/// Adds a user to the organization
///
/// A user who was never a member is invited: until they accept, the member is inactive and shows neither the name nor
/// the address of the account.
#[utoipa::path(
    post, path = "/v1/people", tag = "People", request_body = CreateMember,
    responses(
        (status = 201, body = MemberView, description = "The member."),
        (status = 404, description = "There is no such user."),
        (status = 409, description = "The user is a member already, or has been invited."),
    )
)]
pub(crate) async fn create_member(
    api: State<Api>,
    scope: Granted<grant::MemberCreate>,
    body: Valid<CreateMember>,
) -> Result<Response, Problem> {
    shown(StatusCode::CREATED, members::create(&api.ctx, &scope, body.0.into()).await?)
}

/// A user who could not be added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"index": 3, "userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "error": "there is no such user"}))]
pub(crate) struct BulkError {
    /// The index of the item in the request, from 0.
    index: usize,
    #[schema(required)]
    user_id: Option<String>,
    error: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"total": 2, "successful": 1, "failed": 1}))]
pub(crate) struct BulkSummary {
    total: usize,
    successful: usize,
    failed: usize,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "created": [member_example()],
    "errors": [{"index": 1, "userId": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "error": "there is no such user"}],
    "summary": {"total": 2, "successful": 1, "failed": 1}
}))]
pub(crate) struct BulkResult {
    created: Vec<MemberView>,
    errors: Vec<BulkError>,
    summary: BulkSummary,
}

/// Adds many users to the organization
#[utoipa::path(
    post, path = "/v1/people/bulk", tag = "People", request_body = CreateMembers,
    responses((status = 201, body = BulkResult, description = "The members that were added, and the others with the reason."))
)]
pub(crate) async fn create_members(
    api: State<Api>,
    scope: Granted<grant::MemberCreate>,
    body: Valid<CreateMembers>,
) -> Result<Response, Problem> {
    let values = body.0.members.values;
    let total = values.len();
    let (mut items, mut errors) = (Vec::new(), Vec::new());
    for (index, value) in values.iter().enumerate() {
        let fields = Fields::of(value);
        let user_id = fields.as_ref().ok().and_then(|fields| fields.peek("userId"));
        let read =
            fields.and_then(|fields| fields.read::<CreateMember>().map_err(|errors| in_one_line(&errors)));
        match read {
            Ok(body) => items.push((index, body.into())),
            Err(error) => errors.push(BulkError { index, user_id, error }),
        }
    }
    let (created, refused) = members::create_many(&api.ctx, &scope, items).await?;
    errors.extend(refused.into_iter().map(|members::Refused { index, user_id, error }| BulkError {
        index,
        user_id,
        error,
    }));
    errors.sort_by_key(|error| error.index);
    let created: Vec<MemberView> = created.into_iter().map(Into::into).collect();
    let summary = BulkSummary { total, successful: created.len(), failed: errors.len() };
    let mut result = BulkResult { created, errors, summary };
    let mut response = (StatusCode::CREATED, Json(&result)).into_response();
    result.created.iter_mut().for_each(|member| member.invitation_link = None);
    response.extensions_mut().insert(WithoutSecret::of(&result)?);
    Ok(response)
}

/// The member, inactive until the invitation is accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(invited_example()))]
pub(crate) struct InvitedMember {
    #[serde(flatten)]
    member: MemberView,
    /// When the link expires.
    #[schema(value_type = String, format = DateTime)]
    invitation_expires_at: Time,
    /// The link, if mail is only written to files, so that you can pass it on; null if it was sent. A repeated request
    /// with the same `Idempotency-Key` gets null.
    #[schema(required)]
    invitation_link: Option<String>,
}

fn invited_example() -> Value {
    let mut example = member_example();
    example["isActive"] = json!(false);
    example["isInvited"] = json!(true);
    example["invitationExpiresAt"] = json!("2026-11-22T09:30:00.000Z");
    example["invitationLink"] = Value::Null;
    example
}

/// Invites a person by e-mail
///
/// Until they accept, `user` is a placeholder: it shows nothing of an account they may have, and its id changes if
/// they have one.
#[utoipa::path(
    post, path = "/v1/people/invite", tag = "People", request_body = InviteMember,
    responses(
        (status = 201, body = InvitedMember, description = "The invitation will be sent."),
        (status = 409, description = "The person is a member already."),
    )
)]
pub(crate) async fn invite_member(
    api: State<Api>,
    scope: Granted<grant::MemberCreate>,
    body: Valid<InviteMember>,
) -> Result<Response, Problem> {
    let InviteMember { email, name, role, department } = body.0;
    let new = NewInvitation { email, name, role, department: department.unwrap_or_default() };
    let Invited { person, sent: Sent { expires_at, link } } =
        invitations::invite(&api.ctx, &scope, new).await?;
    let mut view =
        InvitedMember { member: person.into(), invitation_expires_at: expires_at, invitation_link: link };
    let mut response = (StatusCode::CREATED, Json(&view)).into_response();
    if view.invitation_link.take().is_some() {
        response.extensions_mut().insert(WithoutSecret::of(&view)?);
    }
    Ok(response)
}

/// Shows one member
///
/// Members without the permission `member:read` can see their own entry.
#[utoipa::path(
    get, path = "/v1/people/{id}", tag = "People",
    responses((status = 200, body = MemberView, description = "The member."))
)]
pub(crate) async fn get_member(
    api: State<Api>,
    scope: Granted<grant::ProfileRead>,
    id: PathId<kind::Member>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let person = members::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&versions(&person), MemberView::from(person)))
}

/// Changes a member
///
/// `isActive: false` deactivates the member: sessions and keys stop working and open assignments are cleared, but the
/// member is not deleted.
#[utoipa::path(
    patch, path = "/v1/people/{id}", tag = "People", request_body = UpdateMember,
    responses(
        (status = 200, body = MemberView, description = "The member as it is now."),
        (status = 409, description = "The last active owner, or the other user is a member already."),
    )
)]
pub(crate) async fn update_member(
    api: State<Api>,
    scope: Granted<grant::MemberUpdate>,
    id: PathId<kind::Member>,
    conditions: Conditions,
    body: Valid<UpdateMember>,
) -> Result<Response, Problem> {
    if body.0.is_exempt.is_some() {
        confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    }
    let changed =
        members::update(&api.ctx, &scope, id.found()?, body.0.into(), conditions.if_match()).await?;
    shown(StatusCode::OK, changed)
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Byron", "email": "ada@example.com"}))]
pub(crate) struct DeletedMember {
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: MemberId,
    name: String,
    email: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedMember": {"id": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Byron", "email": "ada@example.com"}}))]
pub(crate) struct MemberDeletion {
    success: bool,
    deleted_member: DeletedMember,
}

/// The `skipOffboarding` parameter: accepted for clients of products that have an offboarding checklist, and ignored.
#[derive(Debug)]
pub(crate) struct DeleteMember;

impl FromQuery for DeleteMember {
    fn read(query: &mut Query) -> Self {
        lists::flag_or_empty(query, "skipOffboarding");
        Self
    }
}

impl IntoParams for DeleteMember {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let about = "Accepted for clients that send it. There is no checklist to skip: what the member was responsible \
                     for is released in any case.";
        vec![lists::parameter("skipOffboarding", lists::flag(), about)]
    }
}

/// Deactivates a member
#[utoipa::path(
    delete, path = "/v1/people/{id}", tag = "People", params(DeleteMember),
    responses(
        (status = 200, body = MemberDeletion, description = "The member is inactive and stays on record."),
        (status = 409, description = "The last active owner."),
    )
)]
pub(crate) async fn delete_member(
    api: State<Api>,
    scope: Granted<grant::MemberDelete>,
    id: PathId<kind::Member>,
    ValidQuery(DeleteMember): ValidQuery<DeleteMember>,
    conditions: Conditions,
) -> Result<Json<MemberDeletion>, Problem> {
    let Person { member, user } =
        members::deactivate(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    let deleted_member = DeletedMember { id: member.id, name: user.name, email: user.email };
    Ok(Json(MemberDeletion { success: true, deleted_member }))
}
