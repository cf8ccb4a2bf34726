//! Passkeys: adding them, and signing in and confirming with them. The protocol is `webauthn-rs`; the state of a ceremony
//! travels in an encrypted ticket that works once.

use std::net::IpAddr;

use attestry_domain::Time;
use attestry_domain::access::{Origin, Scope};
use attestry_domain::id::{PasskeyId, UserId};
use attestry_domain::identity::passkeys::{MAX_PASSKEYS, Passkey, PasskeyName};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::{SecondFactor, SignInMethod};
use attestry_storage::members::Membership;
use attestry_storage::passkeys::{self, StoredPasskey};
use attestry_storage::{sessions, users};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use webauthn_rs::prelude::{
    Credential, DiscoverableAuthentication, Passkey as PublicKey, PasskeyRegistration, PublicKeyCredential,
    RegisterPublicKeyCredential, Url, Uuid, Webauthn, WebauthnBuilder, WebauthnError,
};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::{Error, passkey_known};
use crate::core::queue::Mail;
use crate::identity::confirmation::{must_be_fresh, own_scope};
use crate::identity::principals::bad_session;
use crate::identity::second_factors::{changed, must_have_another, record};
use crate::identity::sessions::{Proven, SignedIn, bad_credentials, confirmed, open};
use crate::identity::tickets::{self, Ticket};
use crate::notices::mail_templates::{self, Topic};

const REGISTRATION: &str = "passkey registration";
const SIGN_IN: &str = "passkey sign-in";
const CONFIRMATION: &str = "passkey confirmation";

/// The site to which passkeys are bound. `Err`: the reason for which its address can have none.
pub(crate) struct RelyingParty(Result<Webauthn, String>);

impl std::fmt::Debug for RelyingParty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RelyingParty({:?})", self.0.as_ref().map(|_| "available"))
    }
}

impl RelyingParty {
    /// Browsers offer passkeys on sites with a name and TLS, and on `localhost`.
    pub(crate) fn new(public_url: &str) -> Self {
        let instead = format!("Passkeys are bound to the name of a site, and {public_url} has none");
        let Some((origin, host)) = Url::parse(public_url)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned).map(|host| (url, host)))
        else {
            return Self(Err(format!("{instead}.")));
        };
        if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
            return Self(Err(format!("{instead}: open the server by its name, or as http://localhost.")));
        }
        let is_local = host == "localhost" || host.ends_with(".localhost");
        if origin.scheme() != "https" && !is_local {
            return Self(Err(format!("Passkeys need https, and {public_url} is served without it.")));
        }
        let built = WebauthnBuilder::new(&host, &origin)
            .and_then(|builder| builder.rp_name("Attestry").build())
            .map_err(|error| format!("Passkeys cannot be used at {public_url}: {error}."));
        Self(built)
    }

    fn webauthn(&self) -> Result<&Webauthn, Error> {
        let unavailable =
            |reason: &String| Error::Conflict { code: "passkeys_unavailable", message: reason.clone() };
        self.0.as_ref().map_err(unavailable)
    }
}

/// Returns why the installation cannot have passkeys, if it cannot.
pub fn unavailable(ctx: &Ctx) -> Option<&str> {
    ctx.part::<RelyingParty>().0.as_ref().err().map(String::as_str)
}

fn webauthn(ctx: &Ctx) -> Result<&Webauthn, Error> {
    ctx.part::<RelyingParty>().webauthn()
}

/// A ceremony that the browser carries out with an authenticator.
#[derive(Clone, Debug)]
pub struct Ceremony {
    pub ticket: Ticket,
    /// The options for the browser, as JSON.
    pub public_key: Value,
}

#[derive(Serialize, Deserialize)]
struct Registration {
    user: UserId,
    /// The id under which the authenticator knows the account.
    handle: Uuid,
    state: PasskeyRegistration,
}

#[derive(Serialize, Deserialize)]
struct Authentication {
    /// The session to confirm.
    session: Option<attestry_domain::id::SessionId>,
    state: DiscoverableAuthentication,
}

fn handle_of(stored: &[StoredPasskey], ctx: &Ctx) -> Uuid {
    let known = stored.first().and_then(|one| Uuid::from_slice(&one.user_handle).ok());
    known.unwrap_or_else(|| Uuid::from_bytes(ctx.keys.random()))
}

/// Starts to add a passkey to the caller's account.
#[boxed]
pub async fn start_registration(ctx: &Ctx, session: &Session) -> Result<Ceremony, Error> {
    let webauthn = webauthn(ctx)?;
    let own = must_be_fresh(ctx, session).await?.user_id;
    let (user, known) = ctx
        .db
        .read(async move |t| {
            Ok::<_, Error>((users::get(t, own).await?, passkeys::stored_of_user(t, own).await?))
        })
        .await?;
    let user = user.ok_or_else(bad_session)?;
    must_have_room(known.len())?;
    let handle = handle_of(&known, ctx);
    let exclude = known.into_iter().map(|one| one.credential_id).collect();
    let (options, state) = webauthn
        .start_passkey_registration(handle, &user.email, &user.name, Some(exclude))
        .map_err(Error::internal)?;
    let mut public_key = serde_json::to_value(options.public_key)?;
    // The account is not named at sign-in, so the authenticator must remember it.
    if let Some(Value::Object(selection)) = public_key.get_mut("authenticatorSelection") {
        selection.insert("residentKey".to_owned(), json!("required"));
        selection.insert("requireResidentKey".to_owned(), json!(true));
    }
    let ticket = tickets::issue(ctx, REGISTRATION, Registration { user: user.id, handle, state })?;
    Ok(Ceremony { ticket, public_key })
}

fn must_have_room(count: usize) -> Result<(), Error> {
    if count < MAX_PASSKEYS {
        return Ok(());
    }
    Err(Error::Conflict {
        code: "too_many_passkeys",
        message: format!("An account has at most {MAX_PASSKEYS} passkeys; remove one that is not used."),
    })
}

fn is_synced(key: &PublicKey) -> bool {
    Credential::from(key.clone()).backup_state
}

/// Adds the passkey that the browser made; the session counts as signed in with it.
#[boxed]
pub async fn register(
    ctx: &Ctx,
    session: &Session,
    ticket: String,
    credential: Value,
    name: Option<PasskeyName>,
    origin: Origin,
) -> Result<Passkey, Error> {
    let webauthn = webauthn(ctx)?;
    let own = must_be_fresh(ctx, session).await?;
    let Registration { user, handle, state } = tickets::read(ctx, REGISTRATION, &ticket)?;
    if user != own.user_id {
        return Err(tickets::expired());
    }
    let refused = |error: &dyn std::fmt::Display| {
        Error::field("credential", format!("is not the passkey that was asked for: {error}"))
    };
    let credential: RegisterPublicKeyCredential =
        serde_json::from_value(credential).map_err(|error| refused(&error))?;
    if is_from_a_frame(&credential.response.client_data_json) {
        return Err(refused(&"a page in a frame asked for it"));
    }
    let key = webauthn.finish_passkey_registration(&credential, &state).map_err(|error| refused(&error))?;
    let stored = serde_json::to_string(&key)?;
    let from = origin.clone();
    ctx.change_account(user, &origin, async move |a| {
        tickets::redeem(a.t, &ticket, a.now).await?;
        let user = users::get(a.t, user).await?.ok_or_else(bad_session)?;
        let known = passkeys::of_user(a.t, user.id).await?;
        must_have_room(known.len())?;
        let credential_id = key.cred_id().clone();
        if passkeys::by_credential(a.t, &credential_id).await?.is_some() {
            return Err(passkey_known());
        }
        let passkey = Passkey {
            id: a.next_id(),
            user_id: user.id,
            name: name
                .as_ref()
                .map_or_else(|| format!("Passkey {}", known.len() + 1), |name| name.as_str().to_owned()),
            is_synced: is_synced(&key),
            created_at: a.now,
            last_used_at: None,
        };
        let stored = StoredPasskey {
            passkey: passkey.clone(),
            credential_id,
            user_handle: handle.as_bytes().to_vec(),
            credential: stored.clone(),
        };
        passkeys::insert(a.t, &stored).await?;
        if !sessions::confirm(a.t, own.id, Some(SecondFactor::Passkey), a.now).await? {
            return Err(bad_session());
        }
        users::proved(a.t, user.id, a.now).await?;
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        changed(a, &user, "passkey.added", "A passkey was added", scope).await?;
        Ok(passkey)
    })
    .await
}

#[boxed]
pub async fn rename(
    ctx: &Ctx,
    session: &Session,
    id: PasskeyId,
    name: Option<PasskeyName>,
    origin: Origin,
) -> Result<Passkey, Error> {
    let (own, from) = (session.clone(), origin.clone());
    ctx.change_account(session.user_id, &origin, async move |a| {
        let all = passkeys::of_user(a.t, own.user_id).await?;
        let before = all.into_iter().find(|one| one.id == id).ok_or(Error::NotFound("passkey"))?;
        let Some(name) = name.as_ref().filter(|name| name.as_str() != before.name) else { return Ok(before) };
        passkeys::rename(a.t, own.user_id, id, name.as_str()).await?;
        let user = users::get(a.t, own.user_id).await?.ok_or_else(bad_session)?;
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        record(a, user.id, "passkey.renamed", scope).await?;
        Ok(Passkey { name: name.as_str().to_owned(), ..before })
    })
    .await
}

#[boxed]
pub async fn remove(ctx: &Ctx, session: &Session, id: PasskeyId, origin: Origin) -> Result<(), Error> {
    let own = must_be_fresh(ctx, session).await?;
    let from = origin.clone();
    ctx.change_account(own.user_id, &origin, async move |a| {
        if !passkeys::delete(a.t, own.user_id, id).await? {
            return Err(Error::NotFound("passkey"));
        }
        must_have_another(a, own.user_id).await?;
        let user = users::get(a.t, own.user_id).await?.ok_or_else(bad_session)?;
        let scope = |membership: &Membership| own_scope(membership, &user, own.id, &from);
        changed(a, &user, "passkey.removed", "A passkey was removed", scope).await
    })
    .await
}

/// Starts a sign-in. The options name no account, so they reveal none.
#[boxed]
pub async fn start_sign_in(ctx: &Ctx) -> Result<Ceremony, Error> {
    start(ctx, SIGN_IN, None)
}

/// Starts to confirm a session.
#[boxed]
pub async fn start_confirmation(ctx: &Ctx, session: &Session) -> Result<Ceremony, Error> {
    start(ctx, CONFIRMATION, Some(session))
}

fn start(ctx: &Ctx, purpose: &str, session: Option<&Session>) -> Result<Ceremony, Error> {
    let (options, state) = webauthn(ctx)?.start_discoverable_authentication().map_err(Error::internal)?;
    let content = Authentication { session: session.map(|session| session.id), state };
    Ok(Ceremony {
        ticket: tickets::issue(ctx, purpose, content)?,
        public_key: serde_json::to_value(options.public_key)?,
    })
}

/// True if the page of another origin had the authenticator sign, in a frame. The library does not look at all of that.
fn is_from_a_frame(client_data: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ClientData {
        #[serde(default)]
        cross_origin: bool,
        top_origin: Option<String>,
    }
    let data = serde_json::from_slice::<ClientData>(client_data);
    data.is_ok_and(|data| data.cross_origin || data.top_origin.is_some())
}

/// A passkey that signed a challenge, with its counter and flags as they are now.
struct Asserted {
    passkey: Passkey,
    credential: String,
    is_synced: bool,
}

/// Verifies the answer of an authenticator. `None`: it is wrong, or of an unknown key.
async fn assert(
    ctx: &Ctx,
    purpose: &str,
    ticket: &str,
    session: Option<&Session>,
    credential: Value,
    origin: &Origin,
) -> Result<Option<Asserted>, Error> {
    let webauthn = webauthn(ctx)?;
    let Authentication { session: bound, state } = tickets::read(ctx, purpose, ticket)?;
    if bound != session.map(|session| session.id) {
        return Err(tickets::expired());
    }
    let Ok(credential) = serde_json::from_value::<PublicKeyCredential>(credential) else { return Ok(None) };
    if is_from_a_frame(&credential.response.client_data_json) {
        return Ok(None);
    }
    let Ok((handle, credential_id)) = webauthn.identify_discoverable_authentication(&credential) else {
        return Ok(None);
    };
    let wanted = credential_id.to_vec();
    let found = ctx.db.read(async move |t| passkeys::by_credential(t, &wanted).await).await?;
    let Some(found) = found.filter(|one| one.user_handle == handle.as_bytes()) else { return Ok(None) };
    if session.is_some_and(|session| session.user_id != found.passkey.user_id) {
        return Ok(None);
    }
    let mut key: PublicKey = serde_json::from_str(&found.credential)?;
    let result = match webauthn.finish_discoverable_authentication_v2(&credential, state, &key) {
        Ok(result) => result,
        Err(WebauthnError::CredentialPossibleCompromise) => {
            report_copy(ctx, &found.passkey, ticket, origin).await?;
            return Ok(None);
        }
        Err(_) => return Ok(None),
    };
    key.update_credential(&result);
    Ok(Some(Asserted {
        passkey: found.passkey,
        credential: serde_json::to_string(&key)?,
        is_synced: result.backup_state(),
    }))
}

/// Records that the counter of a passkey went back, and tells its user: a copy of the key may be in use. A response that is
/// sent again has the same counter, too, but its ticket was redeemed.
async fn report_copy(ctx: &Ctx, passkey: &Passkey, ticket: &str, origin: &Origin) -> Result<(), Error> {
    let (owner, name, ticket, from) =
        (passkey.user_id, passkey.name.clone(), ticket.to_owned(), origin.clone());
    let reported = ctx
        .change_account(owner, origin, async move |a| {
            tickets::redeem(a.t, &ticket, a.now).await?;
            let user = users::get(a.t, owner).await?.ok_or_else(wrong_passkey)?;
            let scope = |membership: &Membership| {
                Scope::visitor(membership.organization, Some(owner), from.clone())
            };
            record(a, owner, "passkey.counter_suspicious", scope).await?;
            let message = format!(
                "The passkey “{name}” was refused: it counts its uses, and the count went back. Somebody may use a copy of it. If it is not a device that you have restored, remove the passkey."
            );
            let subject = "A passkey may have been copied";
            a.enqueue(&Mail(mail_templates::tell(a.ctx, &user, Topic::Account, subject, &message))).await
        })
        .await;
    match reported {
        Ok(()) | Err(Error::Gone { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Asserted {
    /// Records the use in the transaction that it authorizes; fails if the passkey was removed in the meantime.
    async fn used(&self, t: &attestry_storage::Tx<'_>, now: Time) -> Result<(), Error> {
        match passkeys::used(t, self.passkey.id, &self.credential, self.is_synced, now).await? {
            true => Ok(()),
            false => Err(bad_credentials()),
        }
    }
}

/// Signs in with a passkey, which is both factors at once.
#[boxed]
pub async fn sign_in(
    ctx: &Ctx,
    ticket: String,
    credential: Value,
    user_agent: Option<String>,
    origin: Origin,
) -> Result<SignedIn, Error> {
    let asserted =
        assert(ctx, SIGN_IN, &ticket, None, credential, &origin).await?.ok_or_else(wrong_passkey)?;
    let own = asserted.passkey.user_id;
    let user = ctx.db.read(async move |t| users::get(t, own).await).await?.ok_or_else(wrong_passkey)?;
    let proven = Proven { user, method: SignInMethod::Passkey, password: None, code: None };
    open(ctx, proven, user_agent, origin, async move |a| {
        tickets::redeem(a.t, &ticket, a.now).await?;
        asserted.used(a.t, a.now).await
    })
    .await
}

fn wrong_passkey() -> Error {
    Error::Unauthenticated {
        code: "invalid_credentials",
        message: "This passkey does not sign in here: it may have been removed from the account.",
    }
}

/// Confirms a session with a passkey of its user; returns the time until which that counts.
#[boxed]
pub async fn confirm(
    ctx: &Ctx,
    session: &Session,
    ticket: String,
    credential: Value,
    origin: Origin,
) -> Result<Time, Error> {
    let asserted = assert(ctx, CONFIRMATION, &ticket, Some(session), credential, &origin)
        .await?
        .ok_or_else(|| Error::field("credential", "is not a passkey of this account"))?;
    confirmed(ctx, session, Some(SecondFactor::Passkey), origin, async move |a| {
        tickets::redeem(a.t, &ticket, a.now).await?;
        asserted.used(a.t, a.now).await
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passkeys_need_a_name_and_tls() {
        let reason = |url: &str| RelyingParty::new(url).0.err();
        for url in ["https://attestry.example", "https://attestry.example:8443", "http://localhost:8080"] {
            assert_eq!(reason(url), None, "{url}");
        }
        for url in [
            "http://127.0.0.1:8080",
            "https://192.0.2.1",
            "http://[::1]:8080",
            "http://attestry.example",
            "nonsense",
        ] {
            assert!(reason(url).is_some(), "{url}");
        }
    }
}
