//! `/v1/auth`: signing in and out, passwords, invitations.

use attestry_app::identity::invitations::{Acceptance, Needs, Offer};
use attestry_app::identity::sessions::Membership;
use attestry_app::identity::sso::sign_out;
use attestry_app::identity::{invitations, passwords, sessions};
use attestry_app::notices;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::{AuthType, Permission, Roles};
use attestry_domain::id::{MemberId, OrganizationId};
use attestry_domain::identity::notices::{Notices, NoticesPatch};
use attestry_domain::identity::sign_in::{SecondFactor, SignInMethod, Unmet};
use attestry_domain::text::{Email, Line, Name, Password};
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::{SESSION_COOKIE, SignedIn, Visitor, session_cookie};
use attestry_http::request::json::Secret;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use cookie::{Cookie, SameSite};
use http::HeaderMap;
use http::header::{SET_COOKIE, USER_AGENT};
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, ToSchema};

use crate::identity::members::{UserView, user_example};
use crate::identity::second_factors::CodeText;

/// The maximum stored length of a `User-Agent` header, in characters.
const MAX_USER_AGENT_CHARS: usize = 300;

body! {
    /// The credentials of an account.
    Login {
        email "email": required Email = "The account's address.",
        password "password": required Secret = "The account's password.",
        code "code": optional CodeText = "The code of the authenticator app, or a recovery code, if the account has an app. Without it, the answer says what is missing.",
    }
    example json!({"email": "ada@example.com", "password": "correct horse battery"})
}

body! {
    /// The second factor of a sign-in.
    LoginCode {
        challenge "challenge": required Secret = "The challenge of the answer to the password.",
        code "code": required CodeText = "The code of the authenticator app, or a recovery code.",
    }
    example json!({"challenge": "b3BhcXVl", "code": "123456"})
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "token": "9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0", "expiresAt": "2026-12-15T09:30:00.000Z", "user": user_example(),
    "method": "password", "secondFactor": "totp"
}))]
pub(crate) struct LoggedIn {
    /// The token for `Authorization: Bearer`; browsers get the same one as a cookie.
    token: String,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
    user: UserView,
    #[schema(schema_with = schema_of::<SignInMethod>)]
    method: SignInMethod,
    /// Null if the account was signed in without one.
    #[schema(required, schema_with = second_factor)]
    second_factor: Option<SecondFactor>,
}

pub(crate) fn second_factor() -> RefOr<Schema> {
    schema_of::<Option<SecondFactor>>()
}

/// The cookie of a new session.
pub(crate) fn session_cookie_of(api: &Api, token: &str) -> String {
    cookie(api, token, lifetime(api))
}

fn cookie(api: &Api, value: &str, seconds: i64) -> String {
    Cookie::build((SESSION_COOKIE, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(api.http.secure)
        .max_age(cookie::time::Duration::seconds(seconds))
        .to_string()
}

/// Returns the `User-Agent` header, cut to the maximum length.
pub(crate) fn user_agent(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(USER_AGENT)?.to_str().ok()?;
    Some(text.chars().take(MAX_USER_AGENT_CHARS).collect())
}

fn lifetime(api: &Api) -> i64 {
    i64::try_from(api.ctx.settings.session_lifetime.as_secs()).unwrap_or(i64::MAX)
}

/// Signs in
#[utoipa::path(
    post, path = "/v1/auth/login", tag = "Sign-in", request_body = Login,
    responses(
        (status = 200, body = LoggedIn, description = "A session, in a cookie and as a token."),
        (status = 401, description = "The e-mail address, the password or the code is wrong, or the code is missing."),
        (status = 403, description = "The account is not active in any organization."),
    )
)]
pub(crate) async fn login(
    api: State<Api>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Valid<Login>,
) -> Result<Response, Problem> {
    let Login { email, password, code } = body.0;
    let code = code.map(|CodeText(code)| code);
    let opened =
        sessions::sign_in(&api.ctx, &email, &password.0, code, user_agent(&headers), visitor.0).await?;
    Ok(signed_in(&api, opened))
}

/// Builds the response with a new session.
pub(crate) fn signed_in(api: &Api, opened: sessions::SignedIn) -> Response {
    let cookie = session_cookie_of(api, &opened.token.text);
    let view = LoggedIn {
        token: opened.token.text,
        expires_at: opened.session.expires_at,
        user: opened.user.into(),
        method: opened.session.method,
        second_factor: opened.session.second_factor,
    };
    ([(SET_COOKIE, cookie)], Json(view)).into_response()
}

/// Signs in with the second factor
///
/// Finishes a sign-in whose password was right (`second_factor_required`).
#[utoipa::path(
    post, path = "/v1/auth/login/second-factor", tag = "Sign-in", request_body = LoginCode,
    responses(
        (status = 200, body = LoggedIn, description = "A session, in a cookie and as a token."),
        (status = 401, description = "The code is wrong, has expired or was used before."),
        (status = 403, description = "The account is not active in any organization."),
        (status = 410, description = "The challenge has expired; enter the password again."),
    )
)]
pub(crate) async fn login_with_code(
    api: State<Api>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Valid<LoginCode>,
) -> Result<Response, Problem> {
    let LoginCode { challenge, code: CodeText(code) } = body.0;
    let opened =
        sessions::sign_in_with_code(&api.ctx, &challenge.0, code, user_agent(&headers), visitor.0).await?;
    Ok(signed_in(&api, opened))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
pub(crate) struct Done {
    success: bool,
}

impl Done {
    pub(crate) const DONE: Self = Self { success: true };
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "logoutUrl": null}))]
pub(crate) struct LoggedOut {
    success: bool,
    /// Where the browser signs out at the identity provider, if the connection of the session wants that.
    #[schema(required)]
    logout_url: Option<String>,
}

/// Signs out
#[utoipa::path(
    post, path = "/v1/auth/logout", tag = "Sign-in",
    responses((status = 200, body = LoggedOut, description = "The session has ended."))
)]
pub(crate) async fn logout(api: State<Api>, caller: SignedIn) -> Result<Response, Problem> {
    let session = &caller.session.session;
    let logout_url = sign_out::sign_out_url(&api.ctx, session).await?;
    sessions::sign_out(&api.ctx, session, caller.origin).await?;
    let view = LoggedOut { success: true, logout_url };
    Ok(([(SET_COOKIE, cookie(&api, "", 0))], Json(view)).into_response())
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Analytical Engines",
    "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "owner", "permissions": ["member:read"], "unmet": null
}))]
pub(crate) struct MembershipView {
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: OrganizationId,
    name: String,
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    member_id: MemberId,
    #[schema(value_type = String, example = "owner")]
    role: Roles,
    permissions: Vec<&'static str>,
    /// The demand of the organization that the session does not meet; null if it meets all.
    #[schema(required, schema_with = unmet)]
    unmet: Option<Unmet>,
}

fn unmet() -> RefOr<Schema> {
    schema_of::<Option<Unmet>>()
}

impl From<(Membership, Option<Unmet>)> for MembershipView {
    fn from((membership, unmet): (Membership, Option<Unmet>)) -> Self {
        let Membership { member, organization, organization_name, role } = membership;
        let permissions = role.permissions().iter().map(Permission::as_str).collect();
        Self { id: organization, name: organization_name, member_id: member, role, permissions, unmet }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "authType": "session", "user": user_example(), "expiresAt": "2026-12-15T09:30:00.000Z",
    "organizations": [{
        "id": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Analytical Engines",
        "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "role": "owner", "permissions": ["member:read"], "unmet": null
    }],
    "method": "password", "secondFactor": "totp"
}))]
pub(crate) struct CurrentSession {
    #[schema(schema_with = schema_of::<AuthType>)]
    auth_type: AuthType,
    user: UserView,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
    /// The organizations in which the user is active, with their roles.
    organizations: Vec<MembershipView>,
    #[schema(schema_with = schema_of::<SignInMethod>)]
    method: SignInMethod,
    #[schema(required, schema_with = second_factor)]
    second_factor: Option<SecondFactor>,
}

/// Shows who is signed in
#[utoipa::path(
    get, path = "/v1/auth/session", tag = "Sign-in",
    responses((status = 200, body = CurrentSession, description = "The user and their organizations."))
)]
pub(crate) async fn get_session(
    api: State<Api>,
    caller: SignedIn,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let session = &caller.session.session;
    let (user, memberships) = sessions::current(&api.ctx, session).await?;
    let view = CurrentSession {
        auth_type: AuthType::Session,
        user: user.into(),
        expires_at: session.expires_at,
        organizations: memberships.into_iter().map(Into::into).collect(),
        method: session.method,
        second_factor: session.second_factor,
    };
    // The session is extended while in use, so its cookie must be extended too.
    Ok(match session_cookie(&headers).filter(|_| caller.by_cookie) {
        Some(token) => ([(SET_COOKIE, cookie(&api, &token, lifetime(&api)))], Json(view)).into_response(),
        None => Json(view).into_response(),
    })
}

body! {
    /// A new password for your account.
    ChangePassword {
        current_password "currentPassword": required Secret = "The current password.",
        new_password "newPassword": required Password = "The new password.",
    }
    example json!({"currentPassword": "correct horse battery", "newPassword": "staple after staple"})
}

/// Changes your password and ends your other sessions
#[utoipa::path(
    post, path = "/v1/auth/change-password", tag = "Sign-in", request_body = ChangePassword,
    responses((status = 200, body = Done, description = "The password is changed."))
)]
pub(crate) async fn change_password(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<ChangePassword>,
) -> Result<Json<Done>, Problem> {
    let ChangePassword { current_password, new_password } = body.0;
    let session = &caller.session.session;
    passwords::change(&api.ctx, session, &current_password.0, &new_password, caller.origin).await?;
    Ok(Json(Done::DONE))
}

/// Removes your password
///
/// The account needs a passkey, and the session must have been confirmed within the last ten minutes. Other sessions end.
#[utoipa::path(
    delete, path = "/v1/auth/password", tag = "Sign-in",
    responses(
        (status = 200, body = Done, description = "The account has no password."),
        (status = 404, description = "It has none."),
        (status = 409, description = "The password is the only way to sign in."),
    )
)]
pub(crate) async fn remove_password(api: State<Api>, caller: SignedIn) -> Result<Json<Done>, Problem> {
    passwords::remove(&api.ctx, &caller.session.session, caller.origin).await?;
    Ok(Json(Done::DONE))
}

body! {
    /// Your profile, as other members see it.
    UpdateProfile {
        name "name": required Name = "Your name.",
    }
    example json!({"name": "Ada Lovelace"})
}

/// Changes your own name
#[utoipa::path(
    patch, path = "/v1/auth/profile", tag = "Sign-in", request_body = UpdateProfile,
    responses((status = 200, body = UserView, description = "The account as it is now."))
)]
pub(crate) async fn update_profile(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<UpdateProfile>,
) -> Result<Json<UserView>, Problem> {
    let session = &caller.session.session;
    Ok(Json(sessions::rename(&api.ctx, session, body.0.name, caller.origin).await?.into()))
}

/// The kinds of notices that the user receives by mail.
#[expect(clippy::struct_excessive_bools, reason = "a switch for each kind")]
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Notices)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notifications, example = json!({"assigned": true, "dueSoon": true, "overdue": true, "automations": false, "policies": true, "portal": true, "mentioned": true}))]
pub(crate) struct NotificationsView {
    /// A task was assigned to them.
    assigned: bool,
    /// Tasks of theirs are due within seven days; in one digest a day.
    due_soon: bool,
    /// Tasks of theirs are overdue; in the same digest.
    overdue: bool,
    /// An automation of theirs began to fail, or recovered.
    automations: bool,
    /// A policy waits to be approved, revised, reviewed or signed by them.
    policies: bool,
    /// A visitor requested access to the trust portal, or its domain stopped working; for members who review
    /// requests.
    portal: bool,
    /// A comment mentioned them.
    mentioned: bool,
}

body! {
    /// The kinds of notices to receive. Fields that are left out stay as they are.
    UpdateNotifications {
        assigned "assigned": optional bool = "A task was assigned to you.",
        due_soon "dueSoon": optional bool = "Tasks of yours are due within seven days.",
        overdue "overdue": optional bool = "Tasks of yours are overdue.",
        automations "automations": optional bool = "An automation of yours began to fail, or recovered.",
        policies "policies": optional bool = "A policy waits to be approved, revised, reviewed or signed by you.",
        portal "portal": optional bool = "A visitor asked for access to the trust portal, or its domain stopped working.",
        mentioned "mentioned": optional bool = "A comment mentions you.",
    }
    example json!({"automations": false})
}

/// Shows which notices you get by mail
#[utoipa::path(
    get, path = "/v1/auth/notifications", tag = "Sign-in",
    responses((status = 200, body = NotificationsView, description = "The notices."))
)]
pub(crate) async fn get_notifications(
    api: State<Api>,
    caller: SignedIn,
) -> Result<Json<NotificationsView>, Problem> {
    Ok(Json(notices::get(&api.ctx, caller.session.session.user_id).await?.into()))
}

/// Changes which notices you get by mail
#[utoipa::path(
    patch, path = "/v1/auth/notifications", tag = "Sign-in", request_body = UpdateNotifications,
    responses((status = 200, body = NotificationsView, description = "The notices as they are now."))
)]
pub(crate) async fn update_notifications(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<UpdateNotifications>,
) -> Result<Json<NotificationsView>, Problem> {
    let UpdateNotifications { assigned, due_soon, overdue, automations, policies, portal, mentioned } =
        body.0;
    let patch = NoticesPatch { assigned, due_soon, overdue, automations, policies, portal, mentioned };
    Ok(Json(notices::update(&api.ctx, &caller.session.session, patch, caller.origin).await?.into()))
}

body! {
    /// The token from a link in a mail.
    Unsubscribe {
        token "token": required Secret = "The token of the link.",
    }
    example json!({"token": "nonsense"})
}

/// Unsubscribes from the kind of mail that contained the link
#[utoipa::path(
    post, path = "/v1/auth/unsubscribe", tag = "Sign-in", request_body = Unsubscribe,
    responses(
        (status = 200, body = NotificationsView, description = "The notifications that are still sent."),
        (status = 410, description = "The link is damaged."),
    )
)]
pub(crate) async fn unsubscribe(
    api: State<Api>,
    Visitor(origin): Visitor,
    body: Valid<Unsubscribe>,
) -> Result<Json<NotificationsView>, Problem> {
    Ok(Json(notices::unsubscribe(&api.ctx, &body.0.token.0, origin).await?.into()))
}

/// The token in the query of a link.
#[derive(Debug)]
pub(crate) struct LinkToken(pub(crate) String);

impl FromQuery for LinkToken {
    fn read(query: &mut Query) -> Self {
        Self(query.raw("token").unwrap_or_default())
    }
}

/// Unsubscribes a user for a mail program, which posts only `List-Unsubscribe=One-Click` (RFC 8058).
pub(crate) async fn unsubscribe_by_mail(
    api: State<Api>,
    Visitor(origin): Visitor,
    ValidQuery(LinkToken(token)): ValidQuery<LinkToken>,
) -> Result<&'static str, Problem> {
    notices::unsubscribe(&api.ctx, &token, origin).await?;
    Ok("You will not get messages of this kind any more.\n")
}

body! {
    /// The account whose password was forgotten.
    ForgotPassword {
        email "email": required Email = "The account's address.",
    }
    example json!({"email": "ada@example.com"})
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "If there is an account with this address, a link is on its way to it."}))]
pub(crate) struct Message {
    success: bool,
    message: &'static str,
}

/// Sends a link to choose a new password
#[utoipa::path(
    post, path = "/v1/auth/forgot-password", tag = "Sign-in", request_body = ForgotPassword,
    responses((status = 200, body = Message, description = "The answer is the same whether or not the account exists."))
)]
pub(crate) async fn forgot_password(
    api: State<Api>,
    visitor: Visitor,
    body: Valid<ForgotPassword>,
) -> Result<Json<Message>, Problem> {
    passwords::request_reset(&api.ctx, &body.0.email, visitor.0).await?;
    let message = "If there is an account with this address, a link is on its way to it.";
    Ok(Json(Message { success: true, message }))
}

body! {
    /// A new password, set with the link from the e-mail.
    ResetPassword {
        token "token": required Secret = "The token in the link.",
        new_password "newPassword": required Password = "The new password.",
    }
    example json!({"token": "9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0", "newPassword": "staple after staple"})
}

/// Sets a new password with the link, and ends all sessions
#[utoipa::path(
    post, path = "/v1/auth/reset-password", tag = "Sign-in", request_body = ResetPassword,
    responses(
        (status = 200, body = Done, description = "The password is changed."),
        (status = 410, description = "The link has been used or has expired."),
    )
)]
pub(crate) async fn reset_password(
    api: State<Api>,
    visitor: Visitor,
    body: Valid<ResetPassword>,
) -> Result<Json<Done>, Problem> {
    let ResetPassword { token, new_password } = body.0;
    passwords::reset(&api.ctx, &token.0, &new_password, visitor.0).await?;
    Ok(Json(Done::DONE))
}

/// The token in the link.
#[derive(Debug)]
pub(crate) struct LookUpInvitation(Option<Line<1, 1000>>);

impl FromQuery for LookUpInvitation {
    fn read(query: &mut Query) -> Self {
        Self(query.required("token"))
    }
}

impl IntoParams for LookUpInvitation {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![lists::required("token", lists::text(), "The token in the link.")]
    }
}

/// The invitation, and the input that is needed to accept it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "organization": "Analytical Engines", "email": "ada@example.com", "needsPassword": true,
    "needsCurrentPassword": false, "needsNewPassword": false, "expiresAt": "2026-11-22T09:30:00.000Z"
}))]
pub(crate) struct InvitationOffer {
    /// The organization's name.
    organization: String,
    /// The invited address, which is also the one to sign in with; null if an account was invited by its id.
    #[schema(required)]
    email: Option<String>,
    /// A password has to be chosen (`password`), because there is no account yet.
    needs_password: bool,
    /// The account's password is needed (`password`), unless its user is signed in.
    needs_current_password: bool,
    /// Another password has to be chosen (`newPassword`), because the account's address was never verified.
    needs_new_password: bool,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
}

/// Shows an invitation
#[utoipa::path(
    get, path = "/v1/auth/invitation", tag = "Sign-in", params(LookUpInvitation),
    responses(
        (status = 200, body = InvitationOffer, description = "The invitation can be accepted."),
        (status = 410, description = "The invitation has been used or withdrawn, or has expired."),
    )
)]
pub(crate) async fn look_up_invitation(
    api: State<Api>,
    _visitor: Visitor,
    query: ValidQuery<LookUpInvitation>,
) -> Result<Json<InvitationOffer>, Problem> {
    let token = query.0.0.ok_or_else(|| Problem::internal("a query without its token"))?;
    let Offer { organization, email, needs, expires_at } =
        invitations::look(&api.ctx, token.as_str()).await?;
    let Needs { password, current_password, new_password } = needs;
    Ok(Json(InvitationOffer {
        organization,
        email,
        needs_password: password,
        needs_current_password: current_password,
        needs_new_password: new_password,
        expires_at,
    }))
}

body! {
    /// The acceptance of an invitation.
    AcceptInvitation {
        token "token": required Secret = "The token in the link.",
        name "name": optional Name = "Your name, if you have no account yet.",
        password "password": optional Secret = "The password of your account, unless you are signed in; if you have no account yet, the password it gets.",
        new_password "newPassword": optional Password = "Another password, if the address of your account was never verified: others may know the one it has.",
    }
    example json!({"token": "9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0", "name": "Ada Byron", "password": "correct horse battery"})
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "success": true, "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b",
    "email": "ada@example.com"
}))]
pub(crate) struct AcceptedInvitation {
    success: bool,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    member_id: MemberId,
    /// The address to sign in with.
    email: String,
}

/// Accepts an invitation
///
/// The owner of an existing account confirms it by its password or a session. `GET /v1/auth/invitation` returns which
/// of them is needed.
#[utoipa::path(
    post, path = "/v1/auth/accept-invitation", tag = "Sign-in", request_body = AcceptInvitation,
    responses(
        (status = 200, body = AcceptedInvitation, description = "The member is active and can sign in."),
        (status = 410, description = "The invitation has been used or withdrawn, or has expired."),
    )
)]
pub(crate) async fn accept_invitation(
    api: State<Api>,
    visitor: Visitor,
    session: Option<SignedIn>,
    body: Valid<AcceptInvitation>,
) -> Result<Json<AcceptedInvitation>, Problem> {
    let AcceptInvitation { token, name, password, new_password } = body.0;
    // Another organization's provider does not accept for an account.
    let own = session.filter(|caller| caller.session.session.method != SignInMethod::Sso);
    let session = own.map(|caller| caller.session.session.user_id);
    let acceptance =
        Acceptance { name, password: password.map(|password| password.0), new_password, session };
    let person = invitations::accept(&api.ctx, &token.0, acceptance, visitor.0).await?;
    Ok(Json(AcceptedInvitation {
        success: true,
        organization_id: person.member.organization_id,
        member_id: person.member.id,
        email: person.user.email,
    }))
}
