//! `Idempotency-Key`: the same request sent twice has one effect and one response.
//!
//! A claim is acquired in its own transaction, marked as applied by [`crate::core::change`] in the transaction of the
//! change, and completed with the response. After a crash in between, a retry is informed that the change was made,
//! and does not repeat it. A request that has lost its claim changes nothing.

use std::sync::Arc;
use std::time::Duration;

use attestry_domain::access::Claim;
use attestry_domain::hash::{Hash, hex};
use attestry_storage::idempotency::{self, Standing};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The time for which a response is stored.
pub(crate) const RESPONSE_RETENTION: Duration = Duration::from_hours(24);
/// The time after which the claim of a running request can be taken over. Requests with a claim end earlier.
pub const CLAIM_TIMEOUT: Duration = Duration::from_mins(2);
const PURPOSE: &str = "idempotent answer";

/// The way to handle a request that carries a key.
#[derive(Debug)]
pub enum Begun {
    /// Run the request, with this claim in its origin.
    Run(Arc<Claim>),
    /// Return this stored response: the request was already handled.
    Replay(Vec<u8>),
}

/// The owner of a key, and the request it is for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub owner: &'a str,
    pub key: &'a str,
    pub operation: &'a str,
    /// The parts of the request that must match on a retry.
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
            let (until, expired) = (now.plus(CLAIM_TIMEOUT), now.minus(RESPONSE_RETENTION));
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

/// Stores the response for retries, encrypted because it may hold any data.
#[boxed]
pub async fn finish(ctx: &Ctx, claim: &Arc<Claim>, answer: &[u8]) -> Result<(), Error> {
    let (claim, sealed) = (Arc::clone(claim), ctx.keys.seal(PURPOSE, answer)?);
    Ok(ctx.db.write(async move |t| idempotency::answer(t, &claim, &sealed).await).await?)
}

/// Releases the key of a request that ended without a response to store. If the request changed nothing, the key may
/// be used again; otherwise a retry gets a conflict immediately.
#[boxed]
pub async fn release(ctx: &Ctx, claim: &Arc<Claim>) -> Result<(), Error> {
    let claim = Arc::clone(claim);
    Ok(ctx.db.write(async move |t| idempotency::release(t, &claim).await).await?)
}
