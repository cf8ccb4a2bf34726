//! The journal: one append-only chain of entries per organization. Each entry holds the whole
//! state of what it changed; its hash covers the previous hash and the hash of that state, so a
//! state can be erased for privacy and the chain still verifies.

pub mod canonical;
pub mod feed;

use serde::Serialize;

use crate::access::{ActorType, AuthType};
use crate::any_of::AnyOf;
use crate::hash::{Hash, hex, sha256};
use crate::id::{EntryId, MemberId, OrganizationId};
use crate::journal::canonical::canonical;
use crate::text::Name;
use crate::time::Time;

/// The hash before the first entry.
pub const GENESIS: Hash = [0; 32];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: EntryId,
    pub organization_id: OrganizationId,
    pub sequence: i64,
    pub at: Time,
    pub actor_type: ActorType,
    pub actor_id: String,
    /// The member who acted, or whose key did.
    pub member_id: Option<MemberId>,
    pub auth_type: Option<AuthType>,
    pub action: String,
    pub entity_type: String,
    pub entity_id: String,
    /// The entity after the change in canonical JSON; `None` when it was deleted.
    pub state: Option<String>,
    /// Preserved when the state is erased.
    pub state_hash: Option<Hash>,
    pub request_id: String,
    pub ip: Option<String>,
    pub hash: Hash,
}

/// The last entry of a chain, as it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub organization_id: OrganizationId,
    pub sequence: i64,
    pub hash: Hash,
    pub at: Time,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sealed<'a> {
    action: &'a str,
    actor: SealedActor<'a>,
    at: Time,
    auth_type: Option<AuthType>,
    entity_id: &'a str,
    entity_type: &'a str,
    id: EntryId,
    ip: Option<&'a str>,
    organization_id: OrganizationId,
    request_id: &'a str,
    sequence: i64,
    state_hash: Option<String>,
}

#[derive(Serialize)]
struct SealedActor<'a> {
    id: &'a str,
    #[serde(rename = "memberId")]
    member_id: Option<MemberId>,
    r#type: ActorType,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SealedHead {
    at: Time,
    hash: String,
    organization_id: OrganizationId,
    sequence: i64,
}

impl Entry {
    /// The hash this entry must have after `previous`.
    pub fn seal(&self, previous: &Hash) -> Result<Hash, serde_json::Error> {
        let sealed = canonical(&Sealed {
            action: &self.action,
            actor: SealedActor { id: &self.actor_id, member_id: self.member_id, r#type: self.actor_type },
            at: self.at,
            auth_type: self.auth_type,
            entity_id: &self.entity_id,
            entity_type: &self.entity_type,
            id: self.id,
            ip: self.ip.as_deref(),
            organization_id: self.organization_id,
            request_id: &self.request_id,
            sequence: self.sequence,
            state_hash: self.state_hash.map(|hash| hex(&hash)),
        })?;
        let mut bytes = Vec::with_capacity(previous.len() + sealed.len());
        bytes.extend_from_slice(previous);
        bytes.extend_from_slice(sealed.as_bytes());
        Ok(sha256(&bytes))
    }

    /// Returns true when the state has the hash that was sealed, or was erased.
    pub fn state_is_intact(&self) -> bool {
        match &self.state {
            Some(state) => self.state_hash == Some(sha256(state.as_bytes())),
            None => true,
        }
    }
}

impl Head {
    /// The bytes that are signed.
    pub fn message(&self) -> Result<String, serde_json::Error> {
        canonical(&SealedHead {
            at: self.at,
            hash: hex(&self.hash),
            organization_id: self.organization_id,
            sequence: self.sequence,
        })
    }
}

/// One field of an entity that an entry changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub field: String,
    pub before: serde_json::Value,
    pub after: serde_json::Value,
}

/// The fields that differ between two states; a missing state counts as empty.
pub fn changes(before: Option<&str>, after: Option<&str>) -> Vec<Change> {
    let read = |state: Option<&str>| -> serde_json::Map<String, serde_json::Value> {
        state.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    };
    let (before, after) = (read(before), read(after));
    let mut fields: Vec<&String> = before.keys().chain(after.keys()).collect();
    fields.sort_unstable();
    fields.dedup();
    let value = |of: &serde_json::Map<_, serde_json::Value>, field: &String| {
        of.get(field).cloned().unwrap_or_default()
    };
    fields
        .into_iter()
        .map(|field| Change {
            field: field.clone(),
            before: value(&before, field),
            after: value(&after, field),
        })
        .filter(|change| change.before != change.after)
        .collect()
}

/// An entry for display, with the state before it and names for the ids.
#[derive(Clone, Debug)]
pub struct ShownEntry {
    pub entry: Entry,
    pub before: Option<String>,
    /// The name of the key that acted.
    pub key_name: Option<String>,
    /// The name of the member who acted, or whose key did.
    pub member_name: Option<String>,
    /// The name of the member it is about.
    pub subject_name: Option<String>,
}

/// The human-readable name of the object that an entry is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryName {
    pub name: Option<String>,
    pub reference: Option<String>,
}

impl ShownEntry {
    /// The object that the entry is about, by its current name or else by the recorded one.
    pub fn subject(&self) -> EntryName {
        const NAMED_BY: &[&str] = &["title", "name", "displayName", "userName", "email"];
        let state = self.entry.state.as_deref().or(self.before.as_deref()).unwrap_or_default();
        let state: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(state).unwrap_or_default();
        let text = |field: &&str| state.get(*field).and_then(|value| value.as_str()).map(str::to_owned);
        let name = self.subject_name.clone().or_else(|| NAMED_BY.iter().find_map(text));
        EntryName { name, reference: text(&"reference").filter(|text| !text.is_empty()) }
    }
}

/// The filter values of a list of entries.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    pub entity_type: Option<AnyOf<Name>>,
    pub entity_id: Option<String>,
    pub actor: Option<String>,
    pub action: Option<AnyOf<Name>>,
    pub from: Option<Time>,
    pub to: Option<Time>,
}
