//! Journal verification: walks a chain, entry by entry, to its signed head.

use attestry_domain::hash::Hash;
use attestry_domain::id::OrganizationId;
use attestry_domain::journal::{Entry, GENESIS};
use attestry_storage::journal::SignedHead;
use attestry_storage::{Tx, journal};

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// The result of verifying a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Intact {
        entries: i64,
    },
    /// The first invalid entry, and the reason.
    Broken {
        sequence: i64,
        reason: String,
    },
}

/// Verifies an organization's chain from its first entry to its signed head, in one snapshot. `known` are heads that
/// were exported earlier; the chain must still contain them.
#[boxed]
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
            format!("the chain ends at entry {sequence}, but the signed head is at entry {}", head.sequence),
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

/// Returns the reason why an entry is invalid at position `expected`.
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
        Some(format!("entry {} does not match the exported head", entry.id))
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use attestry_domain::Time;
    use attestry_domain::access::ActorType;
    use attestry_domain::hash::sha256;
    use attestry_domain::id::EntryId;

    use super::*;

    fn entry() -> Entry {
        let mut entry = Entry {
            id: EntryId::from_u128(1),
            organization_id: OrganizationId::from_u128(2),
            sequence: 7,
            at: Time::from_millis(0),
            actor_type: ActorType::System,
            actor_id: "test".to_owned(),
            member_id: None,
            auth_type: None,
            action: "risk.updated".to_owned(),
            entity_type: "risk".to_owned(),
            entity_id: "rsk_1".to_owned(),
            state: Some("{}".to_owned()),
            state_hash: Some(sha256(b"{}")),
            request_id: "request".to_owned(),
            ip: None,
            hash: GENESIS,
        };
        entry.hash = entry.seal(&GENESIS).unwrap();
        entry
    }

    fn flaw_of(entry: &Entry, expected: i64, previous: &Hash, known: &[(i64, Hash)]) -> String {
        flaw(entry, expected, previous, known).unwrap().unwrap_or_default()
    }

    #[test]
    fn entry_is_intact_with_its_state_or_without() {
        let entry = entry();
        let known = [(7, entry.hash), (8, [1; 32])];
        assert_eq!(flaw_of(&entry, 7, &GENESIS, &known), "");
        let erased = Entry { state: None, ..entry };
        assert_eq!(flaw_of(&erased, 7, &GENESIS, &known), "", "its hash stays");
    }

    #[test]
    fn each_flaw_has_its_own_reason() {
        let intact = entry();
        let other_state = Entry { state: Some("[]".to_owned()), ..intact.clone() };
        let other_hash = Entry { state_hash: None, ..other_state.clone() };
        let renamed = Entry { action: "risk.deleted".to_owned(), ..intact.clone() };
        for (entry, expected, previous, known, reason) in [
            (&intact, 6, GENESIS, &[][..], "entry 6 is missing"),
            (&other_state, 7, GENESIS, &[][..], "the state in entry"),
            (&other_hash, 7, GENESIS, &[][..], "the state in entry"),
            (&renamed, 7, GENESIS, &[][..], "was changed, or an entry before it was replaced"),
            (&intact, 7, [1; 32], &[][..], "was changed, or an entry before it was replaced"),
            (&intact, 7, GENESIS, &[(7, [1; 32])][..], "does not match the exported head"),
        ] {
            let found = flaw_of(entry, expected, &previous, known);
            assert!(found.contains(reason), "{found:?}, not {reason:?}");
        }
    }
}
