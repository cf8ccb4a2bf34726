//! Links to stored files. Links of the object storage are used where it provides them; otherwise the link points to
//! this server and carries, encrypted, everything it needs: the file, its name and the expiry.

pub mod attachments;
pub mod backups;
pub mod downloads;
pub mod file_checks;
pub(crate) mod removal;
pub mod signatures;
pub(crate) mod sweep;

use std::ops::Range;
use std::time::Duration;

use attestry_blobs::{Error as BlobError, Key, Served};
use attestry_domain::Time;
use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The lifetime of a link.
const LIFETIME: Duration = Duration::from_mins(15);
const PURPOSE: &str = "link to a file";

/// A URL that can be fetched without authentication.
#[derive(Clone)]
pub struct Link(pub String);

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Link(…)")
    }
}

#[derive(Serialize, Deserialize)]
struct Ticket {
    key: String,
    served: Served,
    expires: Time,
}

pub(crate) async fn link(ctx: &Ctx, key: &Key, served: Served) -> Result<(Link, Duration), Error> {
    let url = match ctx.blobs.link(key, &served, LIFETIME).await? {
        Some(url) => url,
        None => {
            let ticket = Ticket { key: key.to_string(), served, expires: ctx.now().plus(LIFETIME) };
            ctx.link(&format!("/v1/files/{}", ctx.keys.ticket(PURPOSE, &ticket)?))
        }
    };
    Ok((Link(url), LIFETIME))
}

/// Stores a complete file. It is unreferenced until a row refers to it.
pub(crate) async fn store(ctx: &Ctx, key: &Key, content: Bytes) -> Result<(), Error> {
    let mut upload = ctx.blobs.create(key);
    if let Err(error) = upload.write(content).await {
        upload.abort().await;
        return Err(error.into());
    }
    Ok(upload.finish().await?)
}

/// Reads a whole file into memory.
pub(crate) async fn whole(ctx: &Ctx, key: &Key) -> Result<Bytes, Error> {
    let mut pieces = ctx.blobs.read(key, None).await?;
    let mut content = BytesMut::new();
    while let Some(piece) = pieces.try_next().await? {
        content.extend_from_slice(&piece);
    }
    Ok(content.freeze())
}

/// Removes an unreferenced file. If that fails, the sweep removes it later.
pub(crate) async fn discard(ctx: &Ctx, key: &Key) {
    if let Err(error) = ctx.blobs.delete(key).await {
        tracing::warn!(%key, %error, "a file that nobody kept stays until the sweep");
    }
}

/// Returns true if a failed transaction certainly changed nothing, so that its files are unreferenced. After a lost
/// connection the outcome is unknown; the sweep then removes the files.
pub(crate) fn is_certain(error: &Error) -> bool {
    !error.is_outage() && !matches!(error, Error::Internal(_))
}

/// Passes a result on, and removes the file if the transaction was rejected.
pub(crate) async fn discard_if_refused<T>(
    ctx: &Ctx,
    key: &Key,
    result: Result<T, Error>,
) -> Result<T, Error> {
    if result.as_ref().is_err_and(is_certain) {
        discard(ctx, key).await;
    }
    result
}

/// Returns the file that a ticket refers to.
pub fn open(ctx: &Ctx, ticket: &str) -> Result<(Key, Served), Error> {
    const NOTHING: Error = Error::NotFound("file");
    let Ticket { key, served, expires } = ctx.keys.read_ticket(PURPOSE, ticket).ok_or(NOTHING)?;
    if expires <= ctx.now() {
        return Err(Error::Gone {
            code: "link_expired",
            message: "This link has expired; ask for a new one where you got it.",
        });
    }
    Ok((Key::read(&key).ok_or(NOTHING)?, served))
}

#[boxed]
pub async fn size(ctx: &Ctx, key: &Key) -> Result<u64, Error> {
    Ok(ctx.blobs.size(key).await?)
}

/// Reads a file, or a range of it.
#[boxed]
pub async fn read(
    ctx: &Ctx,
    key: &Key,
    range: Option<Range<u64>>,
) -> Result<BoxStream<'static, Result<Bytes, BlobError>>, Error> {
    Ok(ctx.blobs.read(key, range).await?)
}

impl From<BlobError> for Error {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Missing => Self::NotFound("file"),
            BlobError::Unavailable(_) => Self::Unavailable(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_rejection_is_certain_to_have_changed_nothing() {
        for (error, expected) in [
            (Error::field("name", "is required"), true),
            (Error::NotFound("risk"), true),
            (Error::PreconditionFailed, true),
            (Error::Unavailable("no connection".to_owned()), false),
            (Error::OutcomeUnknown("the connection was lost".to_owned()), false),
            (Error::internal("a bug"), false),
        ] {
            assert_eq!(is_certain(&error), expected, "{error}");
        }
    }
}
