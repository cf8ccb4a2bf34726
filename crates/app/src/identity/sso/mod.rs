//! Single sign-on: the connections of an organization to identity providers.

pub mod accounts;
pub mod flow;
pub mod sign_out;

use std::sync::OnceLock;

use attestry_domain::Time;
use attestry_domain::access::{Roles, Scope};
use attestry_domain::id::{OrganizationId, SsoConnectionId};
use attestry_domain::identity::mail_domains::domain_of;
use attestry_domain::identity::sign_in::SsoDemand;
use attestry_domain::identity::sso::{
    ClaimName, ClientId, ConnectionName, GroupRole, MAX_CONNECTIONS, ProviderFacts, RoleSync, SsoConnection,
    SsoSignIn,
};
use attestry_domain::patch::Patch;
use attestry_domain::text::Email;
use attestry_oidc::{Client, Failure, Oidc, Provider};
pub use attestry_storage::sso_connections::SealedConnection;
use attestry_storage::{
    mail_domains, organizations, secrets, session_grants, sign_in_policies, sso_connections, ways_in,
};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::credentials::Invalidate;
use crate::core::data_key;
use crate::core::error::Error;
use crate::core::precondition::Precondition;
use crate::identity::members::may_map;
use crate::identity::sign_in_policy::not_tested;

/// The entity type in the journal.
pub(crate) const CONNECTION: &str = "sso_connection";
pub(crate) const MISSING: Error = Error::NotFound("connection");

/// The relying party. It is created on first use, because most commands sign nobody in.
#[derive(Debug)]
pub struct SingleSignOn {
    settings: attestry_oidc::Settings,
    oidc: OnceLock<Result<Oidc, String>>,
}

impl SingleSignOn {
    pub(crate) fn new(settings: attestry_oidc::Settings) -> Self {
        Self { settings, oidc: OnceLock::new() }
    }
}

/// Returns the relying party, or the failure that prevents all requests to providers.
pub(crate) fn oidc(ctx: &Ctx) -> Result<&Oidc, Failure> {
    let part = ctx.part::<SingleSignOn>();
    let made = part.oidc.get_or_init(|| {
        Oidc::new(part.settings.clone()).map_err(|error| {
            tracing::error!(%error, "identity providers cannot be reached");
            "The server cannot reach anything outside; its operator finds the reason in the log.".to_owned()
        })
    });
    made.as_ref().map_err(|message| Failure::Unreachable(message.clone()))
}

/// The path at which a sign-in with a connection starts.
pub fn start_path(connection: SsoConnectionId) -> String {
    format!("/v1/auth/sso/{connection}/start")
}

/// The addresses to register at the provider.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub redirect_uri: String,
    pub start_url: String,
    pub post_logout_redirect_uri: String,
    pub back_channel_logout_uri: String,
}

pub fn addresses(ctx: &Ctx, connection: SsoConnectionId) -> Addresses {
    Addresses {
        redirect_uri: redirect_uri(ctx, connection),
        start_url: ctx.link(&start_path(connection)),
        post_logout_redirect_uri: ctx.link("/sign-in"),
        back_channel_logout_uri: ctx.link(&format!("/v1/auth/sso/{connection}/logout-token")),
    }
}

/// The redirect address of one connection alone, so that a provider's answer cannot be passed to another connection.
pub(crate) fn redirect_uri(ctx: &Ctx, connection: SsoConnectionId) -> String {
    ctx.link(&format!("/v1/auth/sso/{connection}/callback"))
}

#[expect(clippy::struct_excessive_bools, reason = "the switches of a connection")]
#[derive(Clone, Debug)]
pub struct NewConnection {
    pub name: ConnectionName,
    pub is_enabled: bool,
    pub issuer: String,
    pub client_id: ClientId,
    pub client_secret: Option<String>,
    pub client_secret_expires_at: Option<Time>,
    pub scopes: Vec<String>,
    pub email_claim: ClaimName,
    pub groups_claim: ClaimName,
    pub adds_members: bool,
    pub default_role: Roles,
    pub role_sync: RoleSync,
    pub group_roles: Vec<GroupRole>,
    pub requires_group: bool,
    pub signs_out_at_provider: bool,
}

#[derive(Clone, Debug, Default)]
pub struct ConnectionPatch {
    pub name: Option<ConnectionName>,
    pub is_enabled: Option<bool>,
    pub issuer: Option<String>,
    pub client_id: Option<ClientId>,
    pub client_secret: Patch<String>,
    pub client_secret_expires_at: Patch<Time>,
    pub scopes: Option<Vec<String>>,
    pub email_claim: Option<ClaimName>,
    pub groups_claim: Option<ClaimName>,
    pub adds_members: Option<bool>,
    pub default_role: Option<Roles>,
    pub role_sync: Option<RoleSync>,
    pub group_roles: Option<Vec<GroupRole>>,
    pub requires_group: Option<bool>,
    pub signs_out_at_provider: Option<bool>,
}

#[boxed]
pub async fn list(ctx: &Ctx, scope: &Scope) -> Result<Vec<SealedConnection>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| sso_connections::list(t, &scope).await).await?)
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, id: SsoConnectionId) -> Result<SealedConnection, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| sso_connections::get(t, &scope, id).await).await?.ok_or(MISSING)
}

/// The client secret of a connection.
pub(crate) async fn client_secret(ctx: &Ctx, sealed: &SealedConnection) -> Result<Option<String>, Error> {
    let Some(secret) = &sealed.client_secret else { return Ok(None) };
    let key = ctx.db.read(async |t| secrets::key(t).await).await?;
    let key = key.ok_or_else(|| Error::internal("no key for secrets"))?;
    let plain = data_key::read(ctx, &key)?.open(&data_key::client_secret(sealed.connection.id), secret)?;
    String::from_utf8(plain).map(Some).map_err(Error::internal)
}

fn as_field(failure: &Failure) -> Error {
    match failure {
        Failure::Unreachable(_) => unreachable_provider(failure),
        other => Error::field("issuer", format!("cannot be used: {other}")),
    }
}

fn unreachable_provider(failure: &Failure) -> Error {
    Error::Outside {
        code: "provider_unreachable",
        message: format!("The identity provider cannot be asked: {failure}"),
        cause: None,
        retry_after: Some(10),
    }
}

fn facts_of(provider: &Provider, is_client_known: Option<bool>, now: Time) -> ProviderFacts {
    ProviderFacts {
        is_client_known,
        sends_issuer: provider.sends_issuer(),
        end_session_endpoint: provider.end_session_endpoint().map(ToString::to_string),
        has_back_channel_logout: provider.has_back_channel_logout(),
        algorithms: provider.algorithms(),
        checked_at: now,
    }
}

/// Asks the provider about an issuer and a client.
async fn ask(
    ctx: &Ctx,
    connection: SsoConnectionId,
    issuer: &str,
    client_id: &ClientId,
    secret: Option<&str>,
) -> Result<(Provider, ProviderFacts), Error> {
    let oidc = oidc(ctx).map_err(|failure| unreachable_provider(&failure))?;
    let provider = oidc.discover(issuer).await.map_err(|failure| as_field(&failure))?;
    let redirect_uri = redirect_uri(ctx, connection);
    let client = Client { id: client_id.as_str(), secret, redirect_uri: &redirect_uri };
    let known =
        oidc.knows_client(&provider, &client).await.map_err(|failure| unreachable_provider(&failure))?;
    if known == Some(false) {
        let field = if secret.is_some() { "clientSecret" } else { "clientId" };
        return Err(Error::field(field, "is refused by the provider (invalid_client)"));
    }
    let facts = facts_of(&provider, known, ctx.now());
    Ok((provider, facts))
}

/// Checks the roles that a connection gives: none beyond the caller's own, and never `owner`.
fn must_be_grantable(scope: &Scope, default_role: &Roles, group_roles: &[GroupRole]) -> Result<(), Error> {
    may_map(scope, "defaultRole", default_role)?;
    group_roles.iter().try_for_each(|one| may_map(scope, "groupRoles", &one.role))
}

async fn sealed_secret(
    c: &Change<'_>,
    id: SsoConnectionId,
    secret: Option<&str>,
) -> Result<Option<Vec<u8>>, Error> {
    let Some(secret) = secret else { return Ok(None) };
    data_key::lock(c).await?.seal(&data_key::client_secret(id), secret.as_bytes()).map(Some)
}

#[boxed]
pub async fn create(ctx: &Ctx, scope: &Scope, new: NewConnection) -> Result<SealedConnection, Error> {
    must_be_grantable(scope, &new.default_role, &new.group_roles)?;
    let id: SsoConnectionId = ctx.ids.next();
    let (provider, facts) = ask(ctx, id, &new.issuer, &new.client_id, new.client_secret.as_deref()).await?;
    let issuer = provider.issuer().to_owned();
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        if sso_connections::list(c.t, c.scope).await?.len() >= MAX_CONNECTIONS {
            return Err(Error::Conflict {
                code: "too_many_connections",
                message: format!("An organization has at most {MAX_CONNECTIONS} connections."),
            });
        }
        let new = new.clone();
        let connection = SsoConnection {
            id,
            organization_id: c.organization(),
            name: new.name,
            is_enabled: new.is_enabled,
            issuer: issuer.clone(),
            client_id: new.client_id,
            client_secret_expires_at: new.client_secret_expires_at,
            scopes: new.scopes,
            email_claim: new.email_claim,
            groups_claim: new.groups_claim,
            adds_members: new.adds_members,
            default_role: new.default_role,
            role_sync: new.role_sync,
            group_roles: new.group_roles,
            requires_group: new.requires_group,
            signs_out_at_provider: new.signs_out_at_provider,
            provider: Some(facts.clone()),
            tested_at: None,
            config_version: 1,
            created_at: c.now,
            updated_at: c.now,
            version: 1,
        };
        let client_secret = sealed_secret(c, id, new.client_secret.as_deref()).await?;
        let sealed = SealedConnection { connection, client_secret };
        sso_connections::put(c.t, c.scope, &sealed).await?;
        c.record("sso_connection.created", CONNECTION, id, &sealed.connection)?;
        Ok(sealed)
    })
    .await
}

/// Checks that people can sign in without a connection: with another one while single sign-on is required, and otherwise
/// with any credentials, at least the acting owner.
async fn must_have_another(c: &Change<'_>, id: SsoConnectionId) -> Result<(), Error> {
    if sign_in_policies::get(c.t, c.scope).await?.sso == SsoDemand::Optional {
        let owners = ways_in::owners_without(c.t, c.scope, id).await?;
        if owners.is_empty() || c.scope.member().is_some_and(|own| !owners.contains(&own)) {
            return Err(Error::Conflict {
                code: "would_lock_you_out",
                message: "You sign in with this connection only. Add a passkey to your account, or set a password with “Forgot your password?”, first."
                    .to_owned(),
            });
        }
        return Ok(());
    }
    let is_usable = |one: &SsoConnection| one.id != id && one.tested_at.is_some();
    if sso_connections::enabled(c.t, c.organization()).await?.iter().any(is_usable) {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "sso_in_use",
        message: "Single sign-on is required, and no other tested connection is enabled.".to_owned(),
    })
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    id: SsoConnectionId,
    patch: ConnectionPatch,
    precondition: Precondition,
) -> Result<SealedConnection, Error> {
    let known = get(ctx, scope, id).await?;
    let before = &known.connection;
    let default_role = patch.default_role.as_ref().unwrap_or(&before.default_role);
    let group_roles = patch.group_roles.as_ref().unwrap_or(&before.group_roles);
    if patch.default_role.is_some() || patch.group_roles.is_some() {
        must_be_grantable(scope, default_role, group_roles)?;
    }
    let has_new_secret = !matches!(patch.client_secret, Patch::Absent);
    let is_elsewhere = patch
        .issuer
        .as_ref()
        .is_some_and(|issuer| issuer.trim_end_matches('/') != before.issuer.trim_end_matches('/'));
    if is_elsewhere && known.client_secret.is_some() && !has_new_secret {
        return Err(Error::field(
            "clientSecret",
            "is required: the secret of another issuer is not sent to this one",
        ));
    }
    let moves = is_elsewhere || patch.client_id.as_ref().is_some_and(|client| *client != before.client_id);
    let asked = if moves || has_new_secret {
        let own = client_secret(ctx, &known).await?;
        let secret = patch.client_secret.clone().apply(own);
        let issuer = patch.issuer.as_deref().unwrap_or(&before.issuer);
        let client_id = patch.client_id.as_ref().unwrap_or(&before.client_id);
        let (provider, facts) = ask(ctx, id, issuer, client_id, secret.as_deref()).await?;
        Some((provider.issuer().to_owned(), facts, secret))
    } else {
        None
    };
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = sso_connections::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.connection.version])?;
        let mut after = apply(&before, patch.clone());
        if let Some((issuer, facts, secret)) = &asked {
            after.connection.issuer.clone_from(issuer);
            after.connection.provider = Some(facts.clone());
            if has_new_secret {
                after.client_secret = sealed_secret(c, id, secret.as_deref()).await?;
            }
        }
        if after.connection == before.connection && after.client_secret == before.client_secret {
            return Ok(before);
        }
        let has_moved = after.connection.issuer != before.connection.issuer
            || after.connection.client_id != before.connection.client_id;
        let is_required = sign_in_policies::get(c.t, c.scope).await?.sso == SsoDemand::Required;
        if is_required && has_moved {
            return Err(Error::Conflict {
                code: "sso_enforced",
                message: "Single sign-on is required: the issuer and the client cannot change. Make it optional first."
                    .to_owned(),
            });
        }
        let is_known = after.connection.provider.as_ref().is_some_and(|facts| facts.is_client_known == Some(true));
        if is_required && has_new_secret && !is_known {
            return Err(not_tested("The provider does not confirm this secret, and single sign-on is required."));
        }
        if before.connection.is_enabled && !after.connection.is_enabled {
            must_have_another(c, id).await?;
            session_grants::revoke(c.t, c.scope, id).await?;
            c.invalidate(Invalidate::Organization(c.organization()));
        }
        if has_moved {
            after.connection.tested_at = None;
        }
        if has_moved || has_new_secret {
            after.connection.config_version += 1;
        }
        after.connection.updated_at = c.now;
        after.connection.version += 1;
        sso_connections::put(c.t, c.scope, &after).await?;
        c.record("sso_connection.updated", CONNECTION, id, &after.connection)?;
        Ok(after)
    })
    .await
}

/// Applies what the patch says, without the secret.
fn apply(before: &SealedConnection, patch: ConnectionPatch) -> SealedConnection {
    let own = before.connection.clone();
    let connection = SsoConnection {
        name: patch.name.unwrap_or(own.name),
        is_enabled: patch.is_enabled.unwrap_or(own.is_enabled),
        client_id: patch.client_id.unwrap_or(own.client_id),
        client_secret_expires_at: patch.client_secret_expires_at.apply(own.client_secret_expires_at),
        scopes: patch.scopes.unwrap_or(own.scopes),
        email_claim: patch.email_claim.unwrap_or(own.email_claim),
        groups_claim: patch.groups_claim.unwrap_or(own.groups_claim),
        adds_members: patch.adds_members.unwrap_or(own.adds_members),
        default_role: patch.default_role.unwrap_or(own.default_role),
        role_sync: patch.role_sync.unwrap_or(own.role_sync),
        group_roles: patch.group_roles.unwrap_or(own.group_roles),
        requires_group: patch.requires_group.unwrap_or(own.requires_group),
        signs_out_at_provider: patch.signs_out_at_provider.unwrap_or(own.signs_out_at_provider),
        ..own
    };
    SealedConnection { connection, client_secret: before.client_secret.clone() }
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    id: SsoConnectionId,
    precondition: Precondition,
) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        organizations::lock(c.t, c.scope).await?;
        let before = sso_connections::lock(c.t, c.scope, id).await?.ok_or(MISSING)?;
        precondition.check(&[before.connection.version])?;
        must_have_another(c, id).await?;
        sso_connections::delete(c.t, c.scope, id).await?;
        c.invalidate(Invalidate::Organization(c.organization()));
        c.record_gone("sso_connection.deleted", CONNECTION, id);
        Ok(())
    })
    .await
}

/// A step of a check.
#[derive(Clone, Debug)]
pub struct Step {
    pub name: &'static str,
    pub is_ok: bool,
    pub detail: String,
}

/// The result of a check: its steps, up to the first that failed.
#[derive(Clone, Debug)]
pub struct Checked {
    pub steps: Vec<Step>,
}

impl Checked {
    pub fn is_ok(&self) -> bool {
        self.steps.iter().all(|step| step.is_ok)
    }
}

/// Asks the provider of a connection: its document, its keys, and if it knows the client.
#[boxed]
pub async fn check(ctx: &Ctx, scope: &Scope, id: SsoConnectionId) -> Result<Checked, Error> {
    let known = get(ctx, scope, id).await?;
    let (steps, facts) = look(ctx, &known).await?;
    if let Some(facts) = facts {
        let own = scope.clone();
        ctx.db
            .write(async move |t| {
                let Some(mut sealed) = sso_connections::lock(t, &own, id).await? else { return Ok(()) };
                sealed.connection.provider = Some(facts.clone());
                sealed.connection.version += 1;
                sso_connections::put(t, &own, &sealed).await
            })
            .await?;
    }
    Ok(Checked { steps })
}

async fn look(ctx: &Ctx, known: &SealedConnection) -> Result<(Vec<Step>, Option<ProviderFacts>), Error> {
    let connection = &known.connection;
    let failed = |name, failure: &Failure| Step { name, is_ok: false, detail: failure.to_string() };
    let good = |name, detail: String| Step { name, is_ok: true, detail };
    let mut steps = Vec::new();
    let oidc = match oidc(ctx) {
        Ok(oidc) => oidc,
        Err(failure) => return Ok((vec![failed("discovery", &failure)], None)),
    };
    oidc.forget(&connection.issuer);
    let provider = match oidc.provider(&connection.issuer, ctx.now()).await {
        Ok(provider) => provider,
        Err(failure @ Failure::Issuer(_)) => return Ok((vec![failed("issuer", &failure)], None)),
        Err(failure) => return Ok((vec![failed("discovery", &failure)], None)),
    };
    steps.push(good("discovery", "The provider's document was read.".to_owned()));
    steps.push(good("issuer", format!("It names the issuer {}.", provider.issuer())));
    let keys = provider.key_count();
    let algorithms = provider.algorithms().join(", ");
    steps.push(Step {
        name: "keys",
        is_ok: keys > 0,
        detail: format!("The provider publishes {keys} usable keys, and signs with {algorithms}."),
    });
    let secret = client_secret(ctx, known).await?;
    let redirect_uri = redirect_uri(ctx, connection.id);
    let client =
        Client { id: connection.client_id.as_str(), secret: secret.as_deref(), redirect_uri: &redirect_uri };
    let is_known = match oidc.knows_client(&provider, &client).await {
        Ok(is_known) => is_known,
        Err(failure) => {
            steps.push(failed("client", &failure));
            return Ok((steps, None));
        }
    };
    steps.push(Step {
        name: "client",
        is_ok: is_known != Some(false),
        detail: match is_known {
            Some(true) => "The token endpoint knows the client.",
            Some(false) => "The token endpoint refuses the client: its id or its secret is wrong.",
            None => "The token endpoint does not say if it knows the client; a test will tell.",
        }
        .to_owned(),
    });
    Ok((steps, Some(facts_of(&provider, is_known, ctx.now()))))
}

/// Checks a connection for the operator, who changes nothing.
#[boxed]
pub async fn examine(ctx: &Ctx, organization: OrganizationId, id: SsoConnectionId) -> Result<Checked, Error> {
    let scope = Scope::system(organization, "attestry doctor");
    let known = get(ctx, &scope, id).await?;
    Ok(Checked { steps: look(ctx, &known).await?.0 })
}

/// The enabled connections of an organization, for the operator.
#[boxed]
pub async fn enabled(ctx: &Ctx, organization: OrganizationId) -> Result<Vec<SsoConnection>, Error> {
    Ok(ctx.db.read(async move |t| sso_connections::enabled(t, organization).await).await?)
}

/// Returns true if an organization requires single sign-on and has no exempt owner who could sign in without it.
#[boxed]
pub async fn lacks_way_in(ctx: &Ctx, organization: OrganizationId) -> Result<bool, Error> {
    let scope = Scope::system(organization, "attestry doctor");
    ctx.db
        .read(async move |t| {
            let is_required = sign_in_policies::get(t, &scope).await?.sso == SsoDemand::Required;
            Ok(is_required && ways_in::exempt_owners(t, &scope).await?.is_empty())
        })
        .await
}

/// The last attempts to sign in with a connection.
#[boxed]
pub async fn sign_ins(ctx: &Ctx, scope: &Scope, id: SsoConnectionId) -> Result<Vec<SsoSignIn>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            sso_connections::get(t, &scope, id).await?.ok_or(MISSING)?;
            Ok(sso_connections::recent_sign_ins(t, &scope, id).await?)
        })
        .await
}

/// The connection by which people of a domain sign in, which does not depend on any account.
#[derive(Clone, Debug)]
pub struct Offered {
    pub connection: SsoConnectionId,
    pub name: String,
    pub is_required: bool,
}

/// Returns the connection that serves the domain of an address.
#[boxed]
pub async fn offered(ctx: &Ctx, email: &Email) -> Result<Option<Offered>, Error> {
    let Some(domain) = domain_of(email.as_str()) else {
        return Ok(None);
    };
    ctx.db
        .read(async move |t| {
            let Some(proved) = mail_domains::verified(t, &domain).await? else {
                return Ok(None);
            };
            let enabled = sso_connections::enabled(t, proved.organization_id).await?;
            let chosen = match (proved.connection_id, enabled.as_slice()) {
                (Some(id), all) => all.iter().find(|one| one.id == id),
                (None, [only]) => Some(only),
                (None, _) => None,
            };
            let Some(connection) = chosen else { return Ok(None) };
            let scope = Scope::system(proved.organization_id, "sign-in methods");
            let policy = sign_in_policies::get(t, &scope).await?;
            Ok(Some(Offered {
                connection: connection.id,
                name: connection.name.to_string(),
                is_required: policy.sso == SsoDemand::Required,
            }))
        })
        .await
}
