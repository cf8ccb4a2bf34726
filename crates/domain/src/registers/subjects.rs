//! The subjects of comments and attachments, in one table.

use serde_json::{Value, json};

use crate::access::{Denied, Scope};
use crate::json::JsonSchema;
use crate::text::Parse;

/// Every kind of subject: its name (also the name of its id's kind), its word, the plural, its path parameter, the
/// grant needed to see it, and its category: a register, or a comment.
#[macro_export]
macro_rules! subjects {
    ($then:ident $($with:tt)*) => {
        $then! {
            [$($with)*]
            Risk "risk" "risks" "id" $crate::access::grant::RiskRead, register $crate::registers::risks::Risk;
            Vendor "vendor" "vendors" "id" $crate::access::grant::VendorRead, register $crate::registers::vendors::Vendor;
            Task "task" "tasks" "taskId" $crate::access::SeeTasks, register $crate::tasks::Task;
            Policy "policy" "policies" "id" $crate::access::grant::PolicyRead, register $crate::policies::Policy;
            Comment "comment" "comments" "commentId" $crate::access::grant::CommentRead, comment $crate::registers::comments::Comment;
        }
    };
}

macro_rules! subject_enum {
    ([] $($name:ident $word:literal $many:literal $parameter:literal $see:ty, $what:ident $type:ty;)*) => {
        crate::words! {
            /// The subject that a file is attached to.
            Subject { $($name = $word,)* }
        }

        impl Subject {
            /// Checks that the actor may see such subjects.
            pub fn must_be_seen(self, scope: &Scope) -> Result<(), Denied> {
                match self {
                    $(Self::$name => scope.require_grant::<$see>(),)*
                }
            }

            /// Returns true when it can be commented on.
            pub fn takes_comments(self) -> bool {
                match self {
                    $(Self::$name => stringify!($what) != "comment",)*
                }
            }
        }
    };
}

subjects!(subject_enum);

/// A subject that can be commented on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commentable(Subject);

impl Commentable {
    pub fn of(subject: Subject) -> Option<Self> {
        subject.takes_comments().then_some(Self(subject))
    }

    pub fn subject(self) -> Subject {
        self.0
    }

    pub fn as_str(self) -> &'static str {
        self.0.as_str()
    }

    fn words() -> impl Iterator<Item = &'static str> {
        Subject::ALL.iter().filter(|subject| subject.takes_comments()).map(|subject| subject.as_str())
    }
}

impl Parse for Commentable {
    fn parse(text: &str) -> Result<Self, String> {
        match Subject::parse(text) {
            Ok(subject) if subject.takes_comments() => Ok(Self(subject)),
            _ => Err(format!("must be one of: {}", Self::words().collect::<Vec<_>>().join(", "))),
        }
    }
}

crate::kept_as_text!(Commentable);

impl serde::Serialize for Commentable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Commentable {
    fn json_schema() -> Value {
        json!({"type": "string", "enum": Self::words().collect::<Vec<_>>()})
    }
}

crate::given_as_text!(Commentable);
