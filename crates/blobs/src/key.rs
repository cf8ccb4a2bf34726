//! The key of a file: `organization/folder/name`. A key can only be built from an organization's id, one of our
//! folders and an id, so a key of one organization cannot reach the files of another.

use std::fmt;

use attestry_domain::id::{Id, Kind, OrganizationId};

/// The kind of a file, which determines its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Folder {
    Attachments,
    Certificates,
    /// Agreements that were signed.
    Agreements,
    /// Previews of agreements.
    Previews,
}

impl Folder {
    const ALL: &[Self] = &[Self::Attachments, Self::Certificates, Self::Agreements, Self::Previews];

    /// Returns the folder name, and the prefix and suffix around a file's id.
    fn shape(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Attachments => ("attachments", "", ""),
            Self::Certificates => ("trust-certificates", "", ".pdf"),
            Self::Agreements => ("trust-nda", "signed-", ".pdf"),
            Self::Previews => ("trust-nda", "preview-", ".pdf"),
        }
    }

    /// Parses the id from a file name.
    fn id_of(self, folder: &str, name: &str) -> Option<String> {
        let (own, before, behind) = self.shape();
        let id = name.strip_prefix(before)?.strip_suffix(behind)?;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        (own == folder && !id.is_empty() && id.chars().all(is_plain)).then(|| id.to_owned())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    organization: OrganizationId,
    folder: Folder,
    id: String,
}

impl Key {
    pub fn new<K: Kind>(organization: OrganizationId, folder: Folder, id: Id<K>) -> Self {
        Self { organization, folder, id: id.to_string() }
    }

    /// Creates the key of a file whose id is text.
    pub fn named(organization: OrganizationId, folder: Folder, id: &str) -> Self {
        Self { organization, folder, id: id.to_owned() }
    }

    /// Parses the text form of a [`Key`]; `None` for any other file in a store.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (organization, folder, name) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let organization = OrganizationId::read(organization)?;
        let find =
            |known: &Folder| known.id_of(folder, name).map(|id| Self { organization, folder: *known, id });
        Folder::ALL.iter().find_map(find)
    }

    pub fn organization(&self) -> OrganizationId {
        self.organization
    }

    pub fn folder(&self) -> Folder {
        self.folder
    }

    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { organization, folder, id } = self;
        let (folder, before, behind) = folder.shape();
        write!(f, "{organization}/{folder}/{before}{id}{behind}")
    }
}

#[cfg(test)]
mod tests {
    use attestry_domain::id::RiskId;

    use super::*;

    #[test]
    fn a_key_reads_what_it_writes_and_nothing_else() {
        let of = |folder| Key::new(OrganizationId::from_u128(7), folder, RiskId::from_u128(8));
        for folder in Folder::ALL {
            assert_eq!(Key::read(&of(*folder).to_string()), Some(of(*folder)));
        }
        let key = of(Folder::Attachments).to_string();
        let preview = of(Folder::Previews).to_string();
        assert!(preview.contains("/trust-nda/preview-rsk_"), "{preview}");
        let bad = [
            "",
            "x",
            "attestry-probe",
            &key[1..],
            &format!("{key}/x"),
            &format!("/{key}"),
            &key.replace("attachments", "secrets"),
            &key.replace("attachments", "trust-nda"),
            &preview.replace("preview-", "other-"),
            &preview.replace(".pdf", ""),
            &format!("{}/attachments/..", OrganizationId::from_u128(7)),
            &format!("{}/attachments/", OrganizationId::from_u128(7)),
        ];
        for bad in bad {
            assert_eq!(Key::read(bad), None, "{bad}");
        }
    }
}
