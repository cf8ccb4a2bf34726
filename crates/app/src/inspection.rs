//! Whether every stored file is still what came: held against the journal, not against its row.

use attestry_blobs::Key;
use attestry_domain::access::Scope;
use attestry_domain::id::{AttachmentId, Kind, OrganizationId, kind};
use attestry_domain::journal::hex;
use attestry_domain::page::Order;
use attestry_storage::attachments;
use attestry_storage::journal::{StatesAt, state_at, states_at};
use aws_lc_rs::digest;
use futures_util::StreamExt;
use serde::Deserialize;

use crate::attachments::key;
use crate::context::Ctx;
use crate::error::Error;

/// What a look at all stored files of an organization found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    pub files: usize,
    /// The attachments whose file is not what was stored, and why.
    pub broken: Vec<(AttachmentId, String)>,
}

/// What the journal says of a file.
#[derive(Deserialize)]
struct Recorded {
    id: AttachmentId,
    sha256: String,
}

/// Reads every stored file and holds it against the journal: whoever changes a file and its row, or removes both, would
/// have to change the chain as well.
pub async fn inspect(ctx: &Ctx, organization: OrganizationId) -> Result<Inspection, Error> {
    let scope = Scope::system(organization, "inspect");
    let mut found = Inspection::default();
    let mut wanted = StatesAt {
        prefix: kind::Attachment::PREFIX,
        at: ctx.now(),
        order: Order::Ascending,
        after: None,
        most: 500,
    };
    loop {
        let (own, asked) = (scope.clone(), wanted.clone());
        let states = ctx.db.read(async move |t| states_at(t, &own, &asked).await).await?;
        let Some((last, _)) = states.last() else { return Ok(found) };
        wanted.after = Some(last.clone());
        for (_, state) in &states {
            let recorded: Recorded = serde_json::from_str(state)?;
            found.files += 1;
            if let Some(flaw) = flaw(ctx, &scope, &recorded).await? {
                found.broken.push((recorded.id, flaw));
            }
        }
    }
}

async fn flaw(ctx: &Ctx, scope: &Scope, recorded: &Recorded) -> Result<Option<String>, Error> {
    let content = match content_hash(ctx, &key(scope.organization(), recorded.id)).await? {
        None => Some("its file is missing"),
        Some(hash) if hash != recorded.sha256 => Some("its file was changed"),
        Some(_) => None,
    };
    // It may have been deleted since it was looked up: then nothing is wrong.
    let (own, id, now) = (scope.clone(), recorded.id, ctx.now());
    let (exists, row) = ctx
        .db
        .read(async move |t| {
            let exists = state_at(t, &own, &id.to_string(), now).await?.is_some();
            Ok::<_, Error>((exists, attachments::get(t, &own, id).await?.is_some()))
        })
        .await?;
    let flaw = content.or_else(|| (!row).then_some("its row is missing"));
    Ok(flaw.filter(|_| exists).map(ToOwned::to_owned))
}

async fn content_hash(ctx: &Ctx, key: &Key) -> Result<Option<String>, Error> {
    let mut content = match ctx.blobs.read(key, None).await {
        Err(attestry_blobs::Error::Missing) => return Ok(None),
        content => content?,
    };
    let mut hash = digest::Context::new(&digest::SHA256);
    while let Some(bytes) = content.next().await {
        hash.update(&bytes?);
    }
    Ok(Some(hex(hash.finish().as_ref())))
}
