//! Whether every stored file is still what came: held against the journal, not against its row.

use attestry_blobs::{Folder, Key};
use attestry_domain::access::Scope;
use attestry_domain::id::{AttachmentId, Kind, OrganizationId, kind};
use attestry_domain::journal::hex;
use attestry_domain::page::Order;
use attestry_storage::journal::{StatesAt, state_at, states_at};
use attestry_storage::{Tx, attachments, portals, trust_access};
use aws_lc_rs::digest;
use futures_util::StreamExt;
use serde_json::Value;

use crate::core::context::Ctx;
use crate::core::error::Error;

/// What a look at all stored files of an organization found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    pub files: usize,
    /// What has a file that is not what was stored, and why.
    pub broken: Vec<(String, String)>,
}

/// What has a file: what its ids begin with, where the file lies, and where its entry says the file's id and SHA-256.
const WITH_FILES: &[(&str, Folder, &str, &str)] = &[
    (kind::Attachment::PREFIX, Folder::Attachments, "/id", "/sha256"),
    (kind::Certificate::PREFIX, Folder::Certificates, "/id", "/sha256"),
    (kind::Nda::PREFIX, Folder::Agreements, "/signature/fileId", "/signature/fileSha256"),
];

/// What the journal says of a file.
struct Recorded {
    /// What has the file.
    owner: String,
    key: Key,
    sha256: String,
}

/// Reads every stored file and holds it against the journal: whoever changes a file and its row, or removes both, would
/// have to change the chain as well.
pub async fn inspect(ctx: &Ctx, organization: OrganizationId) -> Result<Inspection, Error> {
    let scope = Scope::system(organization, "inspect");
    let mut found = Inspection::default();
    for (prefix, folder, id, sha256) in WITH_FILES {
        let mut wanted = StatesAt { prefix, at: ctx.now(), order: Order::Ascending, after: None, most: 500 };
        loop {
            let (own, asked) = (scope.clone(), wanted.clone());
            let states = ctx.db.read(async move |t| states_at(t, &own, &asked).await).await?;
            let Some((last, _)) = states.last() else { break };
            wanted.after = Some(last.clone());
            for (owner, state) in &states {
                let state: Value = serde_json::from_str(state)?;
                let text = |at: &str| state.pointer(at).and_then(Value::as_str);
                // An agreement has a file once it is signed.
                let Some((file, sha256)) = text(id).zip(text(sha256)) else { continue };
                let key = Key::named(organization, *folder, file);
                let recorded = Recorded { owner: owner.clone(), key, sha256: sha256.to_owned() };
                found.files += 1;
                if let Some(flaw) = flaw(ctx, &scope, &recorded).await? {
                    found.broken.push((recorded.owner, flaw));
                }
            }
        }
    }
    Ok(found)
}

async fn flaw(ctx: &Ctx, scope: &Scope, recorded: &Recorded) -> Result<Option<String>, Error> {
    let content = match content_hash(ctx, &recorded.key).await? {
        None => Some("its file is missing"),
        Some(hash) if hash != recorded.sha256 => Some("its file was changed"),
        Some(_) => None,
    };
    // It may have been deleted since it was looked up: then nothing is wrong.
    let (own, owner, key, now) = (scope.clone(), recorded.owner.clone(), recorded.key.clone(), ctx.now());
    let (exists, row) = ctx
        .db
        .read(async move |t| {
            let exists = state_at(t, &own, &owner, now).await?.is_some();
            Ok::<_, Error>((exists, is_known(t, &key).await?))
        })
        .await?;
    let flaw = content.or_else(|| (!row).then_some("its row is missing"));
    Ok(flaw.filter(|_| exists).map(ToOwned::to_owned))
}

/// Whether a row knows a file. A preview has none: it is there for a day.
pub(crate) async fn is_known(t: &Tx<'_>, key: &Key) -> Result<bool, attestry_storage::Error> {
    let scope = Scope::system(key.organization(), "files");
    match key.folder() {
        Folder::Attachments => match AttachmentId::read(key.id()) {
            Some(id) => Ok(attachments::get(t, &scope, id).await?.is_some()),
            None => Ok(false),
        },
        Folder::Certificates => portals::has_certificate(t, &scope, key.id()).await,
        Folder::Agreements => trust_access::has_file(t, &scope, key.id()).await,
        Folder::Previews => Ok(false),
    }
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
