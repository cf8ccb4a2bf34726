//! API keys. A key acts as the member who created it, with that member's permissions at most.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::access::{Permission, Permissions};
use crate::id::{ApiKeyId, MemberId, OrganizationId};
use crate::identity::sign_in::{SignInPolicy, days_of};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::plain::{Keep, Plain, PlainKind, text_of};
use crate::row::Row;
use crate::text::Parse;
use crate::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    pub id: ApiKeyId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub member_id: MemberId,
    pub name: String,
    /// The public part, which identifies the key but does not help to guess the rest.
    pub prefix: String,
    pub scopes: Scopes,
    pub expires_at: Option<Time>,
    pub created_at: Time,
    #[serde(skip)]
    pub last_used_at: Option<Time>,
    #[serde(skip)]
    pub last_used_ip: Option<String>,
    pub revoked_at: Option<Time>,
}

crate::words! {
    /// The kind of member as which a key acts.
    KeyKind {
        Personal = "personal",
        Service = "service",
    }
}

impl ApiKey {
    /// True if the policy allows no such key any more.
    pub fn is_beyond(&self, policy: &SignInPolicy) -> bool {
        let is_too_old = policy.api_key_max_days.is_some_and(|days| {
            let longest = self.created_at.plus(days_of(days));
            self.expires_at.is_none_or(|at| at > longest)
        });
        is_too_old || (policy.api_key_scopes_required && self.scopes == Scopes::All)
    }
}

/// The permissions of a key: a list, or all permissions of its creator (`*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scopes {
    All,
    Only(Permissions),
}

impl Scopes {
    pub const ALL_WORD: &'static str = "*";

    pub fn words(&self) -> Vec<&'static str> {
        match self {
            Self::All => vec![Self::ALL_WORD],
            Self::Only(set) => set.iter().map(Permission::as_str).collect(),
        }
    }

    /// Parses a list of scopes. The error names the first invalid one.
    pub fn read<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut set = Permissions::NONE;
        for word in words {
            if word == Self::ALL_WORD {
                return Ok(Self::All);
            }
            set = set.union([Permission::parse(word)?].into_iter().collect());
        }
        Ok(Self::Only(set))
    }

    /// The effective permissions of the key: those of its scopes that its creator has now.
    pub fn within(&self, maker: Permissions) -> Permissions {
        match self {
            Self::All => maker,
            Self::Only(set) => set.intersection(maker),
        }
    }
}

/// Stored with a space between the words. A word that this version does not know grants nothing.
impl Keep for Scopes {
    const KIND: PlainKind = PlainKind::Words;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.words().join(" ").into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        let text = text_of(value)?;
        if text.split(' ').any(|word| word == Self::ALL_WORD) {
            return Ok(Self::All);
        }
        Ok(Self::Only(text.split(' ').filter_map(|word| Permission::parse(word).ok()).collect()))
    }
}

impl Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.words().serialize(serializer)
    }
}

impl JsonSchema for Scopes {
    fn json_schema() -> Value {
        let words: Vec<&str> = Permission::ALL.iter().map(|p| p.as_str()).chain([Self::ALL_WORD]).collect();
        json!({
            "type": "array", "items": {"type": "string", "enum": words}, "minItems": 1,
            "examples": [["member:read"]]
        })
    }
}

impl Given for Scopes {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        let words = json.each(2 * Permission::ALL.len(), |word| word.text().map(Cow::into_owned))?;
        if words.is_empty() {
            return Err("must hold at least one scope".to_owned());
        }
        Self::read(words.iter().map(String::as_str))
    }
}

#[derive(Clone, Debug)]
pub struct NewApiKey {
    pub name: String,
    pub scopes: Scopes,
    pub expires_at: Option<Time>,
}
