//! Typed ids: a prefix that names the kind and a TypeID suffix (Crockford base32 of a UUIDv7),
//! so that an id sorts by creation and a member's id can never be passed for an organization's.
//! Every prefix of the product is in one table at the end of this file.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::hash::sha256;
use crate::json::{Given, GivenJson, JsonSchema};
use crate::text::Parse;
use crate::time::Time;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SUFFIX: usize = 26;
/// Room for the longest prefix, the separator and the suffix.
const MAX_ID_LEN: usize = 40;

/// The kind of object that an id names.
pub trait Kind: 'static {
    const PREFIX: &'static str;
    /// The word for it in a message: "member", "API key".
    const NOUN: &'static str;
}

/// The id of an object of kind `K`.
pub struct Id<K> {
    value: u128,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Id<K> {
    pub fn from_u128(value: u128) -> Self {
        Self { value, kind: PhantomData }
    }

    pub fn as_u128(self) -> u128 {
        self.value
    }

    /// An id derived from a time and bytes; the same input gives the same id.
    pub fn derived(at: Time, of: &[u8]) -> Self {
        let millis = u64::try_from(at.as_millis()).unwrap_or(0);
        let mut tail = [0_u8; 10];
        tail.copy_from_slice(&sha256(of)[..10]);
        Self::from_u128(uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid().as_u128())
    }

    /// The creation time: the first 48 bits of a UUIDv7.
    pub fn made_at(self) -> Time {
        Time::from_millis(i64::try_from(self.value >> 80).unwrap_or(i64::MAX))
    }

    /// Parses `prefix_suffix`; `None` for another prefix, another length or another alphabet.
    pub fn read(text: &str) -> Option<Self> {
        let suffix = text.strip_prefix(K::PREFIX)?.strip_prefix('_')?.as_bytes();
        if suffix.len() != SUFFIX || suffix[0] > b'7' {
            return None;
        }
        let mut value: u128 = 0;
        for byte in suffix {
            value = (value << 5) | u128::from(digit(*byte)?);
        }
        Some(Self::from_u128(value))
    }

    /// Writes the id into a buffer on the stack and hands the text to `f`: no allocation.
    fn with_str<R>(self, f: impl FnOnce(&str) -> R) -> R {
        let mut buffer = [0_u8; MAX_ID_LEN];
        let prefix = K::PREFIX.as_bytes();
        buffer[..prefix.len()].copy_from_slice(prefix);
        buffer[prefix.len()] = b'_';
        let start = prefix.len() + 1;
        for (place, slot) in buffer[start..start + SUFFIX].iter_mut().enumerate() {
            let shift = 5 * (SUFFIX - 1 - place);
            *slot = ALPHABET[((self.value >> shift) & 31) as usize];
        }
        f(std::str::from_utf8(&buffer[..start + SUFFIX]).unwrap_or_default())
    }
}

fn digit(byte: u8) -> Option<u8> {
    const NONE: u8 = 0xff;
    const TABLE: [u8; 256] = {
        let mut table = [NONE; 256];
        let mut i: u8 = 0;
        while i < 32 {
            table[ALPHABET[i as usize] as usize] = i;
            i += 1;
        }
        table
    };
    match TABLE[byte as usize] {
        NONE => None,
        value => Some(value),
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Id<K> {}

impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<K> Eq for Id<K> {}

impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_str(|text| f.pad(text))
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_str(|text| serializer.serialize_str(text))
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::read(&text).ok_or_else(|| serde::de::Error::custom(format!("not the id of {}", a::<K>())))
    }
}

/// The noun with its article.
fn a<K: Kind>() -> String {
    let vowel = K::NOUN.starts_with(['a', 'e', 'i', 'o', 'A']);
    format!("{} {}", if vowel { "an" } else { "a" }, K::NOUN)
}

impl<K: Kind> Parse for Id<K> {
    fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!("must be the id of {}, such as {}_01h455vb4pex5vsknk084sn02q", a::<K>(), K::PREFIX)
        })
    }
}

impl<K: Kind> JsonSchema for Id<K> {
    fn json_schema() -> Value {
        let example = Self::from_u128(0x0192_f3a4_5b6c_7d8e_9fa0_b1c2_d3e4_f506);
        let pattern = format!("^{}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$", K::PREFIX);
        json!({"type": "string", "pattern": pattern, "examples": [example]})
    }
}

macro_rules! kinds {
    ($($name:ident $id:ident $prefix:literal $noun:literal)*) => {
        /// The kinds of objects that have an id.
        pub mod kind {
            $(
                #[doc = concat!("A ", $noun, ".")]
                #[derive(Debug)]
                pub enum $name {}
                impl super::Kind for $name {
                    const PREFIX: &'static str = $prefix;
                    const NOUN: &'static str = $noun;
                }
            )*
        }
        $(
            #[doc = concat!("The id of a ", $noun, ".")]
            pub type $id = Id<kind::$name>;
        )*
        /// Every prefix, for the tests and the documentation.
        pub const PREFIXES: &[(&str, &str)] = &[$(($prefix, $noun)),*];
    };
}

kinds! {
    Organization OrganizationId "org" "organization"
    User UserId "usr" "user"
    Member MemberId "mem" "member"
    ApiKey ApiKeyId "apk" "API key"
    ServiceAccount ServiceAccountId "sva" "service account"
    Session SessionId "ses" "session"
    Passkey PasskeyId "psk" "passkey"
    Invitation InvitationId "inv" "invitation"
    MailDomain MailDomainId "dom" "domain"
    SsoConnection SsoConnectionId "idc" "connection"
    SsoIdentity SsoIdentityId "idn" "identity"
    SsoSignIn SsoSignInId "sgn" "sign-in"
    DirectoryToken DirectoryTokenId "dtk" "token"
    DirectoryGroup DirectoryGroupId "dgr" "group"
    DirectoryRequest DirectoryRequestId "drq" "request"
    Release ReleaseId "rel" "release"
    Risk RiskId "rsk" "risk"
    Vendor VendorId "vnd" "vendor"
    Task TaskId "tsk" "task"
    TaskTemplate TaskTemplateId "frk_tt" "task template"
    Policy PolicyId "pol" "policy"
    PolicyVersion PolicyVersionId "pv" "policy version"
    PolicySignature PolicySignatureId "psg" "policy signature"
    PolicyTemplate PolicyTemplateId "frk_pt" "policy template"
    Framework FrameworkId "frk" "framework"
    Requirement RequirementId "frk_rq" "requirement"
    Control ControlId "ctl" "control"
    ContextEntry ContextEntryId "ctx" "context entry"
    SoaDocument SoaDocumentId "soa_doc" "statement of applicability"
    SoaAnswer SoaAnswerId "soa_ans" "answer"
    SoaApproval SoaApprovalId "soa_apv" "approval"
    SoaConfiguration SoaConfigurationId "soa_cfg" "configuration"
    Certificate CertificateId "tcr" "certificate"
    AccessRequest AccessRequestId "tar" "access request"
    Nda NdaId "tna" "agreement"
    NdaFile NdaFileId "tnf" "signed agreement"
    NdaPreview NdaPreviewId "tnp" "preview"
    AccessGrant AccessGrantId "tag" "grant"
    Visit VisitId "tvs" "visit"
    PortalPost PortalPostId "tpp" "post"
    Subscriber SubscriberId "tsb" "subscriber"
    Automation AutomationId "auto" "automation"
    AutomationVersion AutomationVersionId "eav" "automation version"
    Run RunId "ear" "automation run"
    Comment CommentId "cmt" "comment"
    Attachment AttachmentId "att" "attachment"
    Entry EntryId "aud" "audit entry"
    Job JobId "job" "job"
    Lease LeaseId "lse" "lease"
    Request RequestId "req" "request"
    Message MessageId "msg" "message"
    Backup BackupId "bak" "backup"
    View ViewId "view" "view"
    BulkChange BulkChangeId "blk" "bulk change"
    Programme ProgrammeId "prg" "programme"
    ProgrammeRun ProgrammeRunId "prr" "programme run"
    InboxItem InboxItemId "inb" "inbox item"
    ChatChannel ChatChannelId "chn" "chat channel"
}

impl<K: Kind> Given for Id<K> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        Self::parse(&json.text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_what_it_writes() {
        let id = MemberId::from_u128(0x0192_f3a4_5b6c_7d8e_9fa0_b1c2_d3e4_f506);
        let text = id.to_string();
        assert_eq!(text.len(), 4 + SUFFIX);
        assert_eq!(MemberId::read(&text), Some(id));
        assert_eq!(
            MemberId::read(&MemberId::from_u128(u128::MAX).to_string()).map(Id::as_u128),
            Some(u128::MAX)
        );
    }

    #[test]
    fn the_published_example_of_the_format_holds() {
        // The TypeID specification's own pair of UUID and suffix.
        let id = UserId::from_u128(0x0188_bac7_4afa_78aa_bc3b_bd1e_ef28_d881);
        assert_eq!(id.to_string(), "usr_01h2xcejqtf2nbrexx3vqjhp41");
    }

    #[test]
    fn another_shape_is_refused() {
        let good = MemberId::from_u128(7).to_string();
        for bad in [
            "",
            "mem",
            "mem_",
            "usr_01h2xcejqtf2nbrexx3vqjhp41",
            "mem_81h2xcejqtf2nbrexx3vqjhp41",
            "mem_01H2XCEJQTF2NBREXX3VQJHP41",
            "mem_01h2xcejqtf2nbrexx3vqjhp4",
            "mem_01h2xcejqtf2nbrexx3vqjhp411",
            "mem_01h2xcejqtf2nbrexx3vqjhpu1",
            " mem_01h2xcejqtf2nbrexx3vqjhp41",
        ] {
            assert_eq!(MemberId::read(bad), None, "{bad}");
        }
        assert!(MemberId::read(&good).is_some());
    }

    #[test]
    fn order_of_text_is_order_of_value() {
        let (a, b) = (MemberId::from_u128(1 << 80), MemberId::from_u128((1 << 80) + 1));
        assert!(a.to_string() < b.to_string());
        assert!(a < b);
    }
}
