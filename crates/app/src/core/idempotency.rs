//! `Idempotency-Key`: the same request sent twice has one effect and one answer.
//!
//! A claim is taken in a transaction of its own, settled by [`crate::core::change`] in the transaction of
//! the change, and completed with the answer. So after a crash in between, a repetition learns that
//! the change was made, and makes no second one. A request that has lost its claim changes nothing.

use std::sync::Arc;
use std::time::Duration;

use attestry_domain::access::Claim;
use attestry_domain::journal::{Hash, hex};
use attestry_storage::idempotency::{self, Standing};

use crate::core::context::Ctx;
use crate::core::error::Error;

/// How long an answer is remembered.
pub(crate) const REMEMBERED: Duration = Duration::from_hours(24);
/// How long a request may run before its claim can be taken over. No request with a claim lives as long.
pub const LOCKED: Duration = Duration::from_mins(2);
const PURPOSE: &str = "idempotent answer";

/// What to do with a request that carries a key.
#[derive(Debug)]
pub enum Begun {
    /// Do the work, with this claim in its origin.
    Run(Arc<Claim>),
    /// Somebody did: this was the answer.
    Replay(Vec<u8>),
}

/// Whose key it is, which request it is for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub owner: &'a str,
    pub key: &'a str,
    pub operation: &'a str,
    /// What makes it the same request, in pieces.
    pub body: &'a [&'a [u8]],
}

pub async fn begin(ctx: &Ctx, request: Request<'_>) -> Result<Begun, Error> {
    let Request { owner, key, operation, body } = request;
    let name = hex(&ctx.keys.mac(&[b"claim", owner.as_bytes(), key.as_bytes()]));
    let claim = Arc::new(Claim { name, holder: ctx.keys.token().text });
    let fingerprint: Hash = ctx.keys.mac(&[&[b"request", operation.as_bytes()], body].concat());
    let (now, wanted) = (ctx.now(), Arc::clone(&claim));
    let (taken, existing) = ctx
        .db
        .write(async move |t| {
            let (until, expired) = (now.plus(LOCKED), now.minus(REMEMBERED));
            let taken = idempotency::take(t, &wanted, &fingerprint, now, until, expired).await?;
            let existing = if taken { None } else { idempotency::get(t, &wanted.name).await? };
            Ok::<_, Error>((taken, existing))
        })
        .await?;
    if taken {
        return Ok(Begun::Run(claim));
    }
    match existing {
        Some((stored, _)) if stored != fingerprint => Err(Error::IdempotencyMismatch),
        Some((_, Standing::Answered(answer))) => Ok(Begun::Replay(ctx.keys.open(PURPOSE, &answer)?)),
        Some((_, Standing::Applied { locked_until })) if locked_until < now => Err(Error::Conflict {
            code: "idempotency_answer_lost",
            message: "The first request with this Idempotency-Key was carried out, but its answer is not at hand; read \
                      the resource instead of sending it again."
                .to_owned(),
        }),
        Some((_, Standing::Running | Standing::Applied { .. })) | None => Err(Error::Conflict {
            code: "idempotency_in_progress",
            message: "The first request with this Idempotency-Key is still running; try again in a moment.".to_owned(),
        }),
    }
}

/// Keeps the answer for repetitions, encrypted: it may be about anything.
pub async fn finish(ctx: &Ctx, claim: &Arc<Claim>, answer: &[u8]) -> Result<(), Error> {
    let (claim, sealed) = (Arc::clone(claim), ctx.keys.seal(PURPOSE, answer)?);
    Ok(ctx.db.write(async move |t| idempotency::answer(t, &claim, &sealed).await).await?)
}

/// Releases the key of a request that ended without a response to store. If the request changed nothing, the key may be
/// used again; if it did, a retry gets a conflict at once.
pub async fn release(ctx: &Ctx, claim: &Arc<Claim>) -> Result<(), Error> {
    let claim = Arc::clone(claim);
    Ok(ctx.db.write(async move |t| idempotency::release(t, &claim).await).await?)
}
