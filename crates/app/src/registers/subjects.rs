//! The records that comments and files belong to: they must exist in this organization and be visible to the caller.

use attestry_domain::access::Scope;
use attestry_domain::id::{CommentId, Id, kind};
use attestry_domain::registers::Register;
use attestry_domain::registers::comments::Comment;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::subjects;
use attestry_storage::{Tx, comments, registers};

use crate::core::error::Error;

/// The kind of access to a subject's comments and files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Selects whether a subject is locked until the transaction ends, so that it is not deleted meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    No,
    Yes,
}

/// Checks that the subject exists and that the caller has this access to it. Returns its label.
pub(crate) async fn admit(
    t: &Tx<'_>,
    scope: &Scope,
    subject: Subject,
    id: &str,
    access: Access,
    hold: Hold,
) -> Result<String, Error> {
    subject.must_be_seen(scope)?;
    let missing = Error::NotFound(subject.as_str());
    macro_rules! admit_each {
        ([] $($name:ident $word:literal $many:literal $parameter:literal $see:ty, $what:ident $type:ty;)*) => {
            match subject {
                $(Subject::$name => {
                    let id = Id::<kind::$name>::read(id).ok_or(missing.clone())?;
                    admit_each!(@$what $type, id)
                })*
            }
        };
        (@register $type:ty, $id:ident) => {{
            let found = match hold {
                Hold::Yes => registers::lock::<$type>(t, scope, $id).await?,
                Hold::No => registers::get::<$type>(t, scope, $id).await?,
            };
            found.filter(|record| record.is_visible(scope)).map(|record| record.label()).ok_or(missing)
        }};
        (@comment $type:ty, $id:ident) => {{
            let comment = visible_comment(t, scope, $id, hold).await?;
            if access == Access::Write {
                must_be_author(scope, &comment)?;
            }
            Ok(comment.id.to_string())
        }};
    }
    subjects!(admit_each)
}

/// Returns a comment on a subject that the caller may see, locked if requested.
async fn visible_comment(
    t: &Tx<'_>,
    scope: &Scope,
    comment: CommentId,
    hold: Hold,
) -> Result<Comment, Error> {
    let found = match hold {
        Hold::Yes => comments::lock(t, scope, comment).await?.map(|found| found.comment),
        Hold::No => comments::get(t, scope, comment).await?,
    };
    let comment = found.ok_or(Error::NotFound("comment"))?;
    let subject = comment.entity_type.subject();
    match Box::pin(admit(t, scope, subject, &comment.entity_id, Access::Read, Hold::No)).await {
        Ok(_) => Ok(comment),
        Err(Error::NotFound(_)) => Err(Error::NotFound("comment")),
        Err(error) => Err(error),
    }
}

pub(crate) fn must_be_author(scope: &Scope, comment: &Comment) -> Result<(), Error> {
    if scope.member() == Some(comment.author_id) {
        return Ok(());
    }
    Err(Error::Forbidden {
        code: "not_the_author",
        message: "Only the author of a comment can change or delete it.".to_owned(),
    })
}
