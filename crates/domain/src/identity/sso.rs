//! Connections to identity providers, and the identities of people there.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::access::Roles;
use crate::id::{OrganizationId, SsoConnectionId, SsoIdentityId, SsoSignInId, UserId};
use crate::row::Row;
use crate::text::{Line, Name};
use crate::time::Time;

/// The maximum number of connections of an organization.
pub const MAX_CONNECTIONS: usize = 5;
/// The maximum number of groups that a connection gives roles to.
pub const MAX_GROUP_ROLES: usize = 200;

pub type ConnectionName = Line<1, 100>;
pub type ClientId = Line<1, 500>;
pub type ClaimName = Line<1, 200>;

crate::words! {
    /// When the groups of a person set their roles.
    #[derive(Default)]
    RoleSync {
        #[default]
        Off = "off",
        /// When they are added.
        First = "first",
        /// At each sign-in.
        Always = "always",
    }
}

/// The role that the members of a group get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRole {
    pub group: Name,
    pub role: Roles,
}

/// What a provider said of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderFacts {
    /// True if the token endpoint knows the client; `None` if it does not say.
    pub is_client_known: Option<bool>,
    pub sends_issuer: bool,
    /// The address at which a browser signs out.
    pub end_session_endpoint: Option<String>,
    pub has_back_channel_logout: bool,
    pub algorithms: Vec<String>,
    pub checked_at: Time,
}

#[expect(clippy::struct_excessive_bools, reason = "the switches of a connection")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct SsoConnection {
    pub id: SsoConnectionId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub name: ConnectionName,
    pub is_enabled: bool,
    /// The issuer, as the provider's own document has it.
    pub issuer: String,
    pub client_id: ClientId,
    pub client_secret_expires_at: Option<Time>,
    #[row(json)]
    pub scopes: Vec<String>,
    pub email_claim: ClaimName,
    pub groups_claim: ClaimName,
    /// True if unknown people of a verified domain become members.
    pub adds_members: bool,
    /// The role of people who are added without a group that has one.
    pub default_role: Roles,
    pub role_sync: RoleSync,
    #[row(json)]
    pub group_roles: Vec<GroupRole>,
    /// True if people without a group that has a role are not let in.
    pub requires_group: bool,
    pub signs_out_at_provider: bool,
    #[serde(skip)]
    #[row(json)]
    pub provider: Option<ProviderFacts>,
    /// When a test succeeded with this issuer and client.
    pub tested_at: Option<Time>,
    #[serde(skip)]
    pub config_version: i64,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// The address that serves all Google accounts, also private ones.
const GOOGLE: &str = "https://accounts.google.com";

impl SsoConnection {
    /// True if the provider serves people of any organization, so that its word on an address is not enough.
    pub fn serves_everybody(&self) -> bool {
        self.issuer == GOOGLE
    }

    /// The roles of a person in these groups; `None` if none of the groups has one.
    pub fn roles_of(&self, groups: &[String]) -> Option<Roles> {
        let matching =
            self.group_roles.iter().filter(|one| groups.iter().any(|group| group == one.group.as_str()));
        Roles::joined(matching.map(|one| &one.role))
    }
}

/// A person at an identity provider, who is linked to an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct SsoIdentity {
    pub id: SsoIdentityId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub connection_id: SsoConnectionId,
    pub user_id: UserId,
    pub subject: String,
    /// The address that the provider last gave.
    pub email: Option<String>,
    pub created_at: Time,
    #[serde(skip)]
    pub last_used_at: Time,
}

/// An attempt to sign in with a connection.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct SsoSignIn {
    pub id: SsoSignInId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub connection_id: SsoConnectionId,
    pub at: Time,
    pub is_test: bool,
    /// `signed_in`, or the code of the error.
    pub result: String,
    /// The cause of an error.
    pub reason: Option<String>,
    pub request_id: String,
    pub subject: Option<String>,
    pub email: Option<String>,
    /// The claims that came, with their values only in a test.
    #[row(json)]
    pub claims: Option<Value>,
    pub group_count: Option<i64>,
    /// The roles that the groups give.
    pub role: Option<String>,
}

/// Returns the value at a path of claims: the claim with this very name, or nested ones, joined by dots.
pub fn claim<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    // The names may contain dots, too.
    path.match_indices('.').find_map(|(at, _)| {
        let nested = claims.get(&path[..at])?.as_object()?;
        claim(nested, &path[at + 1..])
    })
}

/// The groups of a person, as far as the provider tells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Groups {
    Named(Vec<String>),
    /// The provider left them out because there are too many.
    TooMany,
    /// There is no such claim.
    Missing,
}

/// Reads the groups at the path of a claim.
pub fn groups_of(claims: &Map<String, Value>, path: &str) -> Groups {
    match claim(claims, path) {
        Some(Value::Array(all)) => {
            Groups::Named(all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        Some(Value::String(one)) => Groups::Named(vec![one.clone()]),
        _ => {
            let is_elsewhere = claims.get("_claim_names").is_some_and(|names| names.get(path).is_some());
            let has_more = claims.get("hasgroups").is_some_and(|flag| flag != &Value::Bool(false));
            if is_elsewhere || has_more { Groups::TooMany } else { Groups::Missing }
        }
    }
}

/// The methods of authentication by kind (RFC 8176): what the user knows, has and is.
const KINDS: [&[&str]; 3] = [
    &["pwd", "pin", "kba"],
    &["otp", "hwk", "swk", "sms", "tel", "pop", "sc"],
    &["fpt", "face", "iris", "retina", "vbm"],
];

/// True if the methods are several factors: `mfa`, or methods of two kinds.
pub fn has_several_factors(methods: &[String]) -> bool {
    let has = |word: &str| methods.iter().any(|method| method == word);
    has("mfa") || KINDS.iter().filter(|kind| kind.iter().any(|word| has(word))).count() > 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::Parse;

    fn claims(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn connection(issuer: &str) -> SsoConnection {
        SsoConnection {
            id: SsoConnectionId::from_u128(1),
            organization_id: OrganizationId::from_u128(2),
            name: Parse::parse("Acme").expect("a name"),
            is_enabled: true,
            issuer: issuer.to_owned(),
            client_id: Parse::parse("attestry").expect("an id"),
            client_secret_expires_at: None,
            scopes: Vec::new(),
            email_claim: Parse::parse("email").expect("a claim"),
            groups_claim: Parse::parse("groups").expect("a claim"),
            adds_members: true,
            default_role: Roles::stored("employee".to_owned()),
            role_sync: RoleSync::Off,
            group_roles: Vec::new(),
            requires_group: false,
            signs_out_at_provider: false,
            provider: None,
            tested_at: None,
            config_version: 1,
            created_at: Time::from_millis(0),
            updated_at: Time::from_millis(0),
            version: 1,
        }
    }

    #[test]
    fn google_serves_everybody() {
        assert!(connection("https://accounts.google.com").serves_everybody());
        for own in ["https://login.acme.example", "https://accounts.google.com.acme.example"] {
            assert!(!connection(own).serves_everybody(), "{own}");
        }
    }

    #[test]
    fn claims_are_found_by_name_and_by_path() {
        let all = claims(&json!({
            "groups": ["a"], "realm_access": {"roles": ["b"]}, "https://acme.example/groups": ["c"],
            "https://acme.example": {"x": ["d"]}
        }));
        for (path, expected) in [
            ("groups", json!(["a"])),
            ("realm_access.roles", json!(["b"])),
            ("https://acme.example/groups", json!(["c"])),
            ("https://acme.example.x", json!(["d"])),
        ] {
            assert_eq!(claim(&all, path), Some(&expected), "{path}");
        }
        assert_eq!(claim(&all, "realm_access.groups"), None);
        assert_eq!(claim(&all, "."), None);
    }

    #[test]
    fn groups_that_are_left_out_are_not_no_groups() {
        let read = |value: Value| groups_of(&claims(&value), "groups");
        assert_eq!(read(json!({"groups": ["a", 1]})), Groups::Named(vec!["a".to_owned()]));
        assert_eq!(read(json!({"groups": "a"})), Groups::Named(vec!["a".to_owned()]));
        assert_eq!(read(json!({"groups": []})), Groups::Named(Vec::new()));
        assert_eq!(read(json!({"_claim_names": {"groups": "src1"}})), Groups::TooMany);
        assert_eq!(read(json!({"hasgroups": true})), Groups::TooMany);
        assert_eq!(read(json!({})), Groups::Missing);
    }

    #[test]
    fn two_kinds_of_methods_are_two_factors() {
        let has = |methods: &[&str]| {
            has_several_factors(&methods.iter().map(|method| (*method).to_owned()).collect::<Vec<_>>())
        };
        for several in [&["mfa"][..], &["pwd", "otp"], &["hwk", "face"], &["pwd", "mfa"]] {
            assert!(has(several), "{several:?}");
        }
        for one in [&[][..], &["pwd"], &["pwd", "pin"], &["otp", "sms"], &["wia", "pwd"]] {
            assert!(!has(one), "{one:?}");
        }
    }
}
