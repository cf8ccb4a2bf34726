//! File uploads: JSON with base64, or `multipart/form-data`. The first is decoded piece by piece from the buffered
//! body, the second is streamed from the connection into the store.

use attestry_app::comments::Enclosure;
use attestry_app::files::attachments::{self, NewFile, Stored, Target};
use attestry_domain::access::Scope;
use attestry_domain::date::Date;
use attestry_domain::files::{FileName, MediaType};
use attestry_domain::id::UserId;
use attestry_domain::registers::attachments::{FILE_LIMIT, MAX_ATTACHMENTS_PER_COMMENT};
use attestry_domain::text::{LongText, Parse};
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Buf, Bytes};
use futures_util::stream::{BoxStream, StreamExt, TryStreamExt};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::answer::problem::{FieldProblem, Problem};
use crate::request::bodies::{JSON, MULTIPART, MediaType as BodyType, broken_off, media_type, too_large};
use crate::request::caller::{must_be_own, request_context};
use crate::request::facts::{Argument, BodyLimit, Facts};
use crate::request::json::{FromJson, Json};
use crate::request::wire::Valid;
use crate::state::Api;

/// A file in base64: the standard alphabet with padding, and nothing else. The text is a slice of the body, not a
/// copy.
#[derive(Clone, Debug)]
pub struct FileData {
    text: Bytes,
    size: u64,
}

/// A file in base64 that has not been validated yet.
#[derive(Clone, Debug)]
pub struct RawFile(Bytes);

impl RawFile {
    pub fn read(self) -> Result<FileData, String> {
        if self.0.is_empty() {
            return Err("must not be empty".to_owned());
        }
        FileData::read(self.0).ok_or_else(|| {
            "must be a file in base64: the standard alphabet with padding, no line breaks and nothing before it".to_owned()
        })
    }
}

impl FromJson for RawFile {
    fn from_json(json: &Json) -> Result<Self, String> {
        json.quoted().map(Self)
    }

    fn schema() -> RefOr<Schema> {
        FileData::schema()
    }
}

/// The size of a piece that is decoded at a time; a multiple of four digits.
const PIECE: usize = 256 << 10;

impl FileData {
    /// Validates the whole text, so that errors are found before anything is stored.
    fn read(text: Bytes) -> Option<Self> {
        let (mut rest, mut size, mut padded) = (text.clone(), 0, false);
        loop {
            let digits = take_digits(&mut rest)?;
            if digits.is_empty() {
                break;
            }
            let bytes = STANDARD.decode(&digits).ok()?;
            // Padding is allowed only at the very end.
            if padded {
                return None;
            }
            padded = digits.ends_with(b"=");
            size += bytes.len() as u64;
        }
        (size > 0).then_some(Self { text, size })
    }

    /// Returns the size of the decoded file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the whole decoded file.
    pub fn whole(mut self) -> Result<Bytes, attestry_app::Error> {
        let mut content = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0));
        while let Some(digits) = take_digits(&mut self.text).filter(|digits| !digits.is_empty()) {
            STANDARD.decode_vec(&digits, &mut content).map_err(attestry_app::Error::internal)?;
        }
        Ok(content.into())
    }

    /// Returns the decoded file as a stream, or an error if it is too large.
    fn content(self) -> Result<BoxStream<'static, Result<Bytes, attestry_app::Error>>, attestry_app::Error> {
        if self.size > FILE_LIMIT {
            return Err(attachments::too_large());
        }
        let pieces = futures_util::stream::unfold(self.text, async |mut text| {
            let digits = take_digits(&mut text).filter(|digits| !digits.is_empty())?;
            let bytes = STANDARD.decode(&digits).map(Bytes::from).map_err(attestry_app::Error::internal);
            Some((bytes, text))
        });
        Ok(pieces.fuse().boxed())
    }
}

/// Returns the next base64 digits from the raw content of a JSON string. Some serializers escape `/`, `+` and `=`, so
/// these escapes are decoded; no other escape can be a digit.
fn take_digits(text: &mut Bytes) -> Option<Bytes> {
    let piece = &text[..text.len().min(PIECE)];
    if !piece.contains(&b'\\') {
        let length = piece.len();
        return Some(text.split_to(length));
    }
    let mut digits = Vec::with_capacity(PIECE);
    let mut used = 0;
    while digits.len() < PIECE
        && let Some(byte) = text.get(used)
    {
        let (digit, length) = match (byte, text.get(used + 1)) {
            (b'\\', Some(b'/')) => (b'/', 2),
            (b'\\', Some(b'u')) => {
                let code = std::str::from_utf8(text.get(used + 2..used + 6)?).ok()?;
                (u8::from_str_radix(code, 16).ok()?, 6)
            }
            (b'\\', _) => return None,
            (byte, _) => (*byte, 1),
        };
        digits.push(digit);
        used += length;
    }
    text.advance(used);
    Some(digits.into())
}

impl FromJson for FileData {
    fn from_json(json: &Json) -> Result<Self, String> {
        RawFile(json.quoted()?).read()
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .content_encoding("base64")
            .min_length(Some(4))
            .examples(["aGVsbG8="])
            .into()
    }
}

body! {
    /// A file to attach.
    CreateAttachment {
        file_name "fileName": required FileName = "The file name; any path is removed.",
        file_type "fileType": required MediaType = "The media type. The content must match it; programs and scripts are refused.",
        file_data "fileData": required FileData = "The file in base64; at most 10 MiB when decoded.",
        description "description": optional LongText = "The subject of the file.",
        effective_date "effectiveDate": optional Date = "The day it is evidence of; on a task, today if it is left out.",
        user_id "userId": optional UserId = "Your own user id; optional.",
    }
    example serde_json::json!({"fileName": "access-review.txt", "fileType": "text/plain", "fileData": "UmV2aWV3ZWQu", "description": "Who may sign in, as of October."})
}

/// The files in the body of a comment.
#[derive(Clone, Debug)]
pub struct Enclosures(Vec<CreateAttachment>);

impl FromJson for Enclosures {
    fn from_json(json: &Json) -> Result<Self, String> {
        json.each_body(MAX_ATTACHMENTS_PER_COMMENT).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .items(CreateAttachment::schema())
            .max_items(Some(MAX_ATTACHMENTS_PER_COMMENT))
            .into()
    }
}

impl Enclosures {
    pub fn open(self, scope: &Scope) -> Result<Vec<Enclosure>, Problem> {
        let open =
            |CreateAttachment { file_name, file_type, file_data, description, effective_date, user_id }| {
                must_be_own(scope, user_id)?;
                let file = NewFile { name: file_name, media_type: file_type };
                Ok(Enclosure { file, description, effective_date, content: file_data.content()? })
            };
        self.0.into_iter().map(open).collect()
    }
}

/// A file to attach, as a form.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase", example = json!({"file": "(binary)", "description": "Who may sign in, as of October."}))]
#[expect(dead_code, reason = "describes what Sent reads")]
pub struct AttachmentForm {
    /// The file, with its name and its content type; at most 10 MiB.
    #[schema(value_type = String, content_media_type = "application/octet-stream")]
    file: Vec<u8>,
    /// A description of the file.
    #[schema(min_length = 1, max_length = 10_000, nullable = false)]
    description: Option<String>,
    /// The day that it is evidence for; on a task, today if it is left out.
    #[schema(nullable = false, format = Date)]
    effective_date: Option<String>,
    /// Your own user id; optional.
    #[schema(nullable = false)]
    user_id: Option<String>,
}

/// An uploaded file in either encoding.
#[derive(Debug)]
pub enum Sent {
    Json(Box<CreateAttachment>),
    Form(Multipart),
}

impl FromRequest<Api> for Sent {
    type Rejection = Problem;

    async fn from_request(mut request: Request, api: &Api) -> Result<Self, Problem> {
        if boundary(request.headers())?.is_some() {
            let context = request_context(request.extensions())?;
            context.memory.take(api.ctx.blobs.piece())?;
            DefaultBodyLimit::max(context.body_limit).apply(&mut request);
            let form = Multipart::from_request(request, api)
                .await
                .map_err(|error| Problem::new("malformed_body", format!("{}.", error.body_text())))?;
            return Ok(Self::Form(form));
        }
        let headers = request.headers();
        if headers.contains_key(CONTENT_TYPE) && media_type(headers, JSON) == BodyType::Other {
            return Err(Problem::new(
                "unsupported_media_type",
                "Send the file as application/json with base64, or as multipart/form-data.",
            ));
        }
        Valid::from_request(request, api).await.map(|Valid(body)| Self::Json(Box::new(body)))
    }
}

impl Argument for Sent {
    fn describe(facts: &mut Facts) {
        facts.body_limit = BodyLimit::Large;
        facts.takes_form = true;
    }
}

impl Sent {
    /// Stores the file.
    pub async fn store(self, api: &Api, scope: &Scope, target: Target) -> Result<Stored, Problem> {
        match self {
            Self::Json(body) => {
                let CreateAttachment {
                    file_name,
                    file_type,
                    file_data,
                    description,
                    effective_date,
                    user_id,
                } = *body;
                must_be_own(scope, user_id)?;
                let file = NewFile { name: file_name, media_type: file_type };
                let stored = attachments::store(&api.ctx, scope, target, file, file_data.content()?).await?;
                Ok(stored.with_description(description).with_effective_date(effective_date))
            }
            Self::Form(form) => store_form(api, scope, target, form).await,
        }
    }
}

/// Returns the boundary of a form; `None` if the body is not a form.
pub fn boundary(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    // The maximum that RFC 2046 allows.
    const MAX_BOUNDARY_BYTES: usize = 70;
    if media_type(headers, MULTIPART) == BodyType::Other {
        return Ok(None);
    }
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match multer::parse_boundary(text) {
        Ok(boundary) if (1..=MAX_BOUNDARY_BYTES).contains(&boundary.len()) => Ok(Some(boundary)),
        _ => Err(Problem::new(
            "malformed_body",
            "The form's Content-Type must name a boundary of 1 to 70 characters.",
        )),
    }
}

/// The parts of a form read so far.
#[derive(Default)]
struct Found {
    stored: Option<Stored>,
    description: Option<LongText>,
    effective_date: Option<Date>,
    errors: Vec<FieldProblem>,
}

async fn store_form(
    api: &Api,
    scope: &Scope,
    target: Target,
    mut form: Multipart,
) -> Result<Stored, Problem> {
    let mut found = Found::default();
    let mut read = read_form(api, scope, &target, &mut form, &mut found).await;
    if found.stored.is_none() && read.is_ok() && found.errors.is_empty() {
        found.errors.push(FieldProblem::new(FILE, "is required"));
    }
    if read.is_ok() && !found.errors.is_empty() {
        read = Err(Problem::invalid(found.errors));
    }
    match (read, found.stored) {
        (Ok(()), Some(stored)) => {
            Ok(stored.with_description(found.description).with_effective_date(found.effective_date))
        }
        (Ok(()), None) => Err(Problem::internal("a form without a file")),
        (Err(problem), stored) => {
            if let Some(stored) = stored {
                stored.discard(&api.ctx).await;
            }
            // Read the rest of the form, because a client that is still sending does not read the response.
            while let Ok(Some(_)) = form.next_field().await {}
            Err(problem)
        }
    }
}

/// The maximum number of parts: enough to report mistakes, few enough to hold their names in memory.
const MAX_PARTS: usize = 10;
const FILE: &str = "file";
const DESCRIPTION: &str = "description";
const USER_ID: &str = "userId";
const EFFECTIVE_DATE: &str = "effectiveDate";
const PARTS: &str = "file, description, effectiveDate and userId";

async fn read_form(
    api: &Api,
    scope: &Scope,
    target: &Target,
    form: &mut Multipart,
    found: &mut Found,
) -> Result<(), Problem> {
    let limit = api.http.body_limit;
    let broken = move |error: MultipartError| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(limit),
        _ => broken_off(&error),
    };
    let mut seen: Vec<String> = Vec::new();
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        let wrong = |message: String| FieldProblem::new(name.clone(), message);
        if seen.len() == MAX_PARTS {
            let detail = format!("The form has too many parts: it takes {PARTS}.");
            return Err(Problem::new("malformed_body", detail));
        }
        let is_known = seen.contains(&name);
        seen.push(name.clone());
        if is_known {
            found.errors.push(wrong("is given more than once".to_owned()));
            continue;
        }
        match name.as_str() {
            FILE => match new_file(&field) {
                Ok(file) => {
                    let content = field.map_err(broken);
                    let content = std::pin::pin!(content);
                    let stored = attachments::store(&api.ctx, scope, target.clone(), file, content).await?;
                    found.stored = Some(stored);
                }
                Err(message) => found.errors.push(wrong(message)),
            },
            DESCRIPTION => {
                let text = short_text(field).await.map_err(broken)?;
                match text.and_then(|text| LongText::parse(&text)) {
                    Ok(text) => found.description = Some(text),
                    Err(message) => found.errors.push(wrong(message)),
                }
            }
            USER_ID => {
                let text = short_text(field).await.map_err(broken)?;
                match text.and_then(|text| UserId::parse(&text)) {
                    Ok(user) => must_be_own(scope, Some(user))?,
                    Err(message) => found.errors.push(wrong(message)),
                }
            }
            EFFECTIVE_DATE => {
                let text = short_text(field).await.map_err(broken)?;
                match text.and_then(|text| Date::parse(&text)) {
                    Ok(date) => found.effective_date = Some(date),
                    Err(message) => found.errors.push(wrong(message)),
                }
            }
            _ => found.errors.push(wrong(format!("is not a part of this form, which has {PARTS}"))),
        }
    }
    Ok(())
}

fn new_file(field: &Field<'_>) -> Result<NewFile, String> {
    // Browsers percent-encode the characters that would end the name.
    let name = field.file_name().ok_or("must be a file with a name")?;
    let name = name.replace("%22", "\"").replace("%0D", "").replace("%0A", "");
    let kind = match field.headers().get(CONTENT_TYPE) {
        Some(kind) => kind.to_str().unwrap_or_default(),
        None => MediaType::ANY,
    };
    Ok(NewFile { name: FileName::parse(&name)?, media_type: MediaType::parse(kind)? })
}

/// Returns the text of a part, or an error if it is not valid text.
async fn short_text(mut field: Field<'_>) -> Result<Result<String, String>, MultipartError> {
    const MAX_FIELD_BYTES: usize = 64 << 10;
    let (mut text, mut too_long) = (Vec::new(), false);
    while let Some(chunk) = field.chunk().await? {
        too_long |= text.len() + chunk.len() > MAX_FIELD_BYTES;
        if !too_long {
            text.extend_from_slice(&chunk);
        }
    }
    Ok(match String::from_utf8(text) {
        _ if too_long => Err("is too long".to_owned()),
        Ok(text) => Ok(text),
        Err(_) => Err("must be text in UTF-8".to_owned()),
    })
}
