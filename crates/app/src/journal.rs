//! The journal. [`append`] is the only way an entry is made, always in the transaction of the change
//! it tells of; it also settles the request's idempotency claim, because it is the one thing that
//! every change does.

use attestry_domain::access::{Actor, Scope};
use attestry_domain::id::{Id, Kind, OrganizationId};
use attestry_domain::journal::{Entry, EntryFilter, GENESIS, Hash, Head, canonical, sha256};
use attestry_domain::page::Page;
use attestry_storage::journal::SignedHead;
use attestry_storage::{Tx, idempotency, journal};
use futures_util::future::try_join;
use serde::Serialize;

use crate::context::Ctx;
use crate::error::Error;

/// What happened to what.
#[derive(Clone, Debug)]
pub struct Record {
    pub action: &'static str,
    pub entity_type: &'static str,
    pub entity_id: String,
    pub state: Option<String>,
}

impl Record {
    /// An entity as it is after the change.
    pub fn of<K: Kind, T: Serialize>(
        action: &'static str,
        entity_type: &'static str,
        id: Id<K>,
        state: &T,
    ) -> Result<Self, Error> {
        Ok(Self { action, entity_type, entity_id: id.to_string(), state: Some(canonical(state)?) })
    }

    /// An entity that is gone.
    pub fn gone<K: Kind>(action: &'static str, entity_type: &'static str, id: Id<K>) -> Self {
        Self { action, entity_type, entity_id: id.to_string(), state: None }
    }
}

fn signed(ctx: &Ctx, head: Head) -> Result<SignedHead, Error> {
    let signature = ctx.keys.sign(head.message()?.as_bytes());
    Ok(SignedHead { head, signing_key: ctx.keys.signer_id().to_owned(), signature })
}

/// Starts the chain of a new organization.
pub(crate) async fn begin(ctx: &Ctx, t: &Tx<'_>, scope: &Scope) -> Result<(), Error> {
    let head = Head { organization_id: scope.organization(), sequence: 0, hash: GENESIS, at: ctx.now() };
    journal::new_head(t, scope, &signed(ctx, head)?).await?;
    Ok(())
}

/// The end of a chain, held for whoever writes the next entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    last: i64,
    previous: Hash,
}

/// Waits for the end of the organization's chain. A use case that loads something first asks for both
/// at once, and writes both at once ([`append_at`]): on PostgreSQL they travel together.
pub(crate) async fn turn(t: &Tx<'_>, scope: &Scope) -> Result<Turn, Error> {
    let (last, previous) = journal::lock_head(t, scope)
        .await?
        .ok_or_else(|| Error::internal(format!("{} has no journal", scope.organization())))?;
    Ok(Turn { last, previous })
}

/// Writes the next entry of the organization's chain.
pub(crate) async fn append(ctx: &Ctx, t: &Tx<'_>, scope: &Scope, record: Record) -> Result<(), Error> {
    append_at(ctx, t, scope, turn(t, scope).await?, record).await
}

/// Writes the entry whose turn it is.
pub(crate) async fn append_at(
    ctx: &Ctx,
    t: &Tx<'_>,
    scope: &Scope,
    Turn { last, previous }: Turn,
    record: Record,
) -> Result<(), Error> {
    let Record { action, entity_type, entity_id, state } = record;
    let (actor_type, actor_id) = scope.actor();
    let origin = scope.origin();
    let mut entry = Entry {
        id: ctx.ids.next(),
        organization_id: scope.organization(),
        sequence: last + 1,
        at: ctx.now(),
        actor_type,
        actor_id,
        member_id: scope.member(),
        auth_type: scope.auth_type(),
        action: action.to_owned(),
        entity_type: entity_type.to_owned(),
        entity_id,
        state_hash: state.as_ref().map(|state| sha256(state.as_bytes())),
        state,
        request_id: origin.request_id.to_string(),
        ip: origin.ip.map(|ip| ip.to_string()),
        hash: GENESIS,
    };
    entry.hash = entry.seal(&previous)?;
    let head = Head {
        organization_id: entry.organization_id,
        sequence: entry.sequence,
        hash: entry.hash,
        at: entry.at,
    };
    let head = signed(ctx, head)?;
    try_join(journal::insert(t, scope, &entry), journal::set_head(t, scope, &head)).await?;
    if let Some(claim) = &origin.claim {
        idempotency::apply(t, claim).await?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Refusal<'a> {
    code: &'a str,
    operation: &'a str,
    target: &'a str,
}

/// Records that somebody known was refused.
pub async fn refused(
    ctx: &Ctx,
    actor: &Actor,
    operation: &str,
    target: &str,
    code: &str,
) -> Result<(), Error> {
    let scope = actor.for_the_record();
    let record = Record {
        action: "access.refused",
        entity_type: "operation",
        entity_id: operation.to_owned(),
        state: Some(canonical(&Refusal { code, operation, target })?),
    };
    let own = ctx.clone();
    ctx.write(scope.organization(), async move |t| append(&own, t, &scope, record.clone()).await).await
}

/// Entries, newest first, each with the state before it.
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    filter: EntryFilter,
    limit: u16,
    before: Option<i64>,
) -> Result<Page<(Entry, Option<String>)>, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| journal::list(t, &scope, &filter, limit, before).await).await?)
}

/// The signed end of the organization's chain, to be kept elsewhere.
pub async fn head(ctx: &Ctx, scope: &Scope) -> Result<SignedHead, Error> {
    let organization = scope.organization();
    ctx.db
        .read(async move |t| journal::head(t, organization).await)
        .await?
        .ok_or_else(|| Error::internal("no journal"))
}

/// What a walk along a chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Intact {
        entries: i64,
    },
    /// The first entry that does not hold, and why.
    Broken {
        sequence: i64,
        reason: String,
    },
}

/// Walks an organization's chain from its first entry to its signed head, as they stand at one moment.
/// `known` are heads that were exported earlier: the chain must still contain them.
pub async fn verify(
    ctx: &Ctx,
    organization: OrganizationId,
    known: &[(i64, Hash)],
) -> Result<Verdict, Error> {
    let (own, known) = (ctx.clone(), known.to_vec());
    ctx.db.snapshot(async move |t| verify_at(&own, t, organization, &known).await).await
}

async fn verify_at(
    ctx: &Ctx,
    t: &Tx<'_>,
    organization: OrganizationId,
    known: &[(i64, Hash)],
) -> Result<Verdict, Error> {
    const STEP: i64 = 1000;
    let (mut sequence, mut previous) = (0, GENESIS);
    let broken = |sequence: i64, reason: String| Ok(Verdict::Broken { sequence, reason });
    loop {
        let entries = journal::walk(t, organization, sequence, STEP).await?;
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            let expected = sequence + 1;
            if let Some(reason) = flaw(&entry, expected, &previous, known)? {
                return broken(expected, reason);
            }
            (sequence, previous) = (entry.sequence, entry.hash);
        }
    }
    if let Some((lost, _)) = known.iter().filter(|(at, _)| *at > sequence).min() {
        return broken(sequence + 1, format!("the chain ends before entry {lost}, whose head was exported"));
    }
    let Some(SignedHead { head, signing_key, signature }) = journal::head(t, organization).await? else {
        return broken(sequence, "the head is missing".to_owned());
    };
    if head.sequence != sequence || head.hash != previous {
        return broken(
            sequence.min(head.sequence) + 1,
            format!(
                "the chain ends at entry {sequence}, but the signed head stands at entry {}",
                head.sequence
            ),
        );
    }
    if signing_key != ctx.keys.signer_id() {
        return broken(
            sequence,
            format!("the head was signed with the key {signing_key}, which is not here"),
        );
    }
    if !ctx.keys.is_signed(head.message()?.as_bytes(), &signature) {
        return broken(sequence, "the signature of the head is wrong".to_owned());
    }
    Ok(Verdict::Intact { entries: sequence })
}

/// What is wrong with the entry that should be number `expected`.
fn flaw(
    entry: &Entry,
    expected: i64,
    previous: &Hash,
    known: &[(i64, Hash)],
) -> Result<Option<String>, Error> {
    Ok(if entry.sequence != expected {
        Some(format!("entry {expected} is missing; the next one there is {}", entry.sequence))
    } else if !entry.state_is_intact() {
        Some(format!("the state in entry {} was changed", entry.id))
    } else if entry.seal(previous)? != entry.hash {
        Some(format!("entry {} was changed, or an entry before it was replaced", entry.id))
    } else if known.iter().any(|(at, hash)| *at == expected && *hash != entry.hash) {
        Some(format!("entry {} is not the one of the head that was exported", entry.id))
    } else {
        None
    })
}
