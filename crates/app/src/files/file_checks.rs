//! Data checks of stored files: each is compared with the journal, not with its row.

use attestry_blobs::{Folder, Key};
use attestry_domain::access::Scope;
use attestry_domain::hash::hex;
use attestry_domain::id::{AttachmentId, Kind, OrganizationId, kind};
use attestry_domain::page::Order;
use attestry_storage::journal::{StatesAt, state_at, states_at};
use attestry_storage::{Tx, attachments, portals, trust_access};
use aws_lc_rs::digest;
use futures_util::StreamExt;
use serde_json::Value;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The result of checking all stored files of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    pub files: usize,
    /// The ids of entities with a flawed file, each with the reason.
    pub broken: Vec<(String, String)>,
}

/// The entities with files: their id prefix, the folder of the file, and the JSON pointers to the file's id and
/// SHA-256 in the recorded state.
const WITH_FILES: &[(&str, Folder, &str, &str)] = &[
    (kind::Attachment::PREFIX, Folder::Attachments, "/id", "/sha256"),
    (kind::Certificate::PREFIX, Folder::Certificates, "/id", "/sha256"),
    (kind::Nda::PREFIX, Folder::Agreements, "/signature/fileId", "/signature/fileSha256"),
];

/// A file as recorded in the journal.
struct Recorded {
    /// The id of the entity that has the file.
    owner: String,
    key: Key,
    sha256: String,
}

/// Reads every stored file and compares it with the journal: to change a file and its row, or to remove both,
/// unnoticed, an attacker would have to change the chain as well.
#[boxed]
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
                // An agreement has no file until it is signed.
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
    // The entity may have been deleted since the look-up; then there is no flaw.
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

/// Returns true if a row refers to a file. Previews have no rows; they last for a day.
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
