//! A member: a user in one organization, with a role and a department.

use serde::Serialize;

use crate::access::Roles;
use crate::any_of::AnyOf;
use crate::id::{MemberId, OrganizationId, UserId};
use crate::identity::users::User;
use crate::page::{After, Key, Sort};
use crate::patch::Patch;
use crate::row::Row;
use crate::text::Name;
use crate::time::Time;
use crate::words::Department;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub id: MemberId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub user_id: UserId,
    pub role: Roles,
    pub department: Department,
    pub is_active: bool,
    pub device_label_id: Option<i64>,
    /// True if they sign in with their own credentials where single sign-on is required.
    pub is_exempt: bool,
    /// True for the member of a service account, which is no person.
    #[serde(skip)]
    pub is_service: bool,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// A member together with its user, as in responses.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Person {
    #[row(flatten, prefix = "m.")]
    pub member: Member,
    #[row(flatten, prefix = "u.")]
    pub user: User,
}

/// The state of a member that the journal records.
#[derive(Clone, Debug, Serialize)]
pub struct MemberState<'a> {
    #[serde(flatten)]
    member: &'a Member,
    email: &'a str,
}

impl<'a> MemberState<'a> {
    pub fn new(member: &'a Member, user: &'a User) -> Self {
        Self { member, email: &user.email }
    }
}

#[derive(Clone, Debug)]
pub struct NewMember {
    pub user_id: UserId,
    pub role: Roles,
    pub department: Department,
    pub is_active: bool,
    pub device_label_id: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub struct MemberPatch {
    pub user_id: Option<UserId>,
    pub role: Option<Roles>,
    pub department: Option<Department>,
    pub is_active: Option<bool>,
    pub device_label_id: Patch<i64>,
    pub is_exempt: Option<bool>,
}

impl Member {
    pub fn new(id: MemberId, organization_id: OrganizationId, new: NewMember, now: Time) -> Self {
        let NewMember { user_id, role, department, is_active, device_label_id } = new;
        Self {
            id,
            organization_id,
            user_id,
            role,
            department,
            is_active,
            device_label_id,
            is_exempt: false,
            is_service: false,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The member after the patch; equal to `self` when the patch changes nothing.
    #[must_use]
    pub fn patched(&self, patch: MemberPatch) -> Self {
        let MemberPatch { user_id, role, department, is_active, device_label_id, is_exempt } = patch;
        Self {
            user_id: user_id.unwrap_or(self.user_id),
            role: role.unwrap_or_else(|| self.role.clone()),
            department: department.unwrap_or(self.department),
            is_active: is_active.unwrap_or(self.is_active),
            device_label_id: device_label_id.apply(self.device_label_id),
            is_exempt: is_exempt.unwrap_or(self.is_exempt),
            ..self.clone()
        }
    }

    /// Returns true for an active owner, of whom every organization needs at least one.
    pub fn is_active_owner(&self) -> bool {
        self.is_active && self.role.is_owner()
    }
}

crate::words! {
    /// The sort keys of the list of people.
    #[derive(Default)]
    MemberSort {
        #[default]
        CreatedAt = "createdAt",
        Name = "name",
        Email = "email",
        /// The text of the roles.
        Role = "role",
        Department = "department",
        /// Active members, then those who are invited, then those who were deactivated.
        Status = "status",
        /// Members who never signed in come first.
        LastLogin = "lastLogin",
    }
}

impl Sort for MemberSort {
    fn takes(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt => matches!(key, Key::Id),
            Self::Name | Self::Email | Self::Role | Self::Department => matches!(key, Key::Text(_)),
            Self::Status | Self::LastLogin => matches!(key, Key::Number(_)),
        }
    }
}

/// The filter values of a list of people. Inactive members are left out by default.
#[derive(Clone, Debug, Default)]
pub struct MemberFilter {
    /// Only active or only inactive members; active members by default.
    pub is_active: Option<bool>,
    /// Lists active and inactive members unless `is_active` is set.
    pub includes_inactive: bool,
    pub role: Option<AnyOf<Name>>,
    pub department: Option<AnyOf<Department>>,
    pub has_second_factor: Option<bool>,
    pub q: Option<String>,
}

impl Person {
    /// The cursor of the person in a list sorted by `sort`.
    pub fn place(&self, sort: MemberSort) -> After {
        let key = match sort {
            MemberSort::CreatedAt => Key::Id,
            MemberSort::Name => Key::Text(self.user.name.to_lowercase()),
            MemberSort::Email => Key::Text(self.user.email_key()),
            MemberSort::Role => Key::Text(self.member.role.as_str().to_owned()),
            MemberSort::Department => Key::Text(self.member.department.as_str().to_owned()),
            MemberSort::Status => Key::Number(match (self.member.is_active, &self.user.invited_to) {
                (true, _) => 1,
                (false, Some(_)) => 2,
                (false, None) => 3,
            }),
            MemberSort::LastLogin => Key::Number(self.user.last_login.map_or(0, Time::as_millis)),
        };
        After { key, id: self.member.id.to_string() }
    }
}
