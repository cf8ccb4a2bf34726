//! Where a file lies: `organization/folder/name`. A key can only be made of an organization's id, one of
//! our folders and an id, so no file of one organization can be reached by the key of another.

use std::fmt;

use attestry_domain::id::{Id, Kind, OrganizationId};

/// What kind of files lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Folder {
    Attachments,
}

impl Folder {
    const ALL: &[Self] = &[Self::Attachments];

    fn as_str(self) -> &'static str {
        match self {
            Self::Attachments => "attachments",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    organization: OrganizationId,
    folder: Folder,
    name: String,
}

impl Key {
    pub fn new<K: Kind>(organization: OrganizationId, folder: Folder, id: Id<K>) -> Self {
        Self { organization, folder, name: id.to_string() }
    }

    /// Reads what [`Key`] writes; `None` for anything else that may lie in a store.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (organization, folder, name) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if parts.next().is_some() || name.is_empty() || !name.chars().all(plain) {
            return None;
        }
        Some(Self {
            organization: OrganizationId::read(organization)?,
            folder: Folder::ALL.iter().copied().find(|known| known.as_str() == folder)?,
            name: name.to_owned(),
        })
    }

    pub fn organization(&self) -> OrganizationId {
        self.organization
    }

    pub fn folder(&self) -> Folder {
        self.folder
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { organization, folder, name } = self;
        write!(f, "{organization}/{}/{name}", folder.as_str())
    }
}

#[cfg(test)]
mod tests {
    use attestry_domain::id::RiskId;

    use super::*;

    #[test]
    fn a_key_reads_what_it_writes_and_nothing_else() {
        let key =
            Key::new(OrganizationId::from_u128(7), Folder::Attachments, RiskId::from_u128(8)).to_string();
        assert_eq!(Key::read(&key).map(|key| key.to_string()), Some(key.clone()));
        let bad = [
            "",
            "x",
            "attestry-probe",
            &key[1..],
            &format!("{key}/x"),
            &format!("/{key}"),
            &key.replace("attachments", "secrets"),
            &format!("{}/attachments/..", OrganizationId::from_u128(7)),
            &format!("{}/attachments/", OrganizationId::from_u128(7)),
        ];
        for bad in bad {
            assert_eq!(Key::read(bad), None, "{bad}");
        }
    }
}
