//! The label: laid out as a document of one page, and converted to a form XObject.

use std::collections::{HashMap, VecDeque};

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};
use memchr::memmem;
use serde::Serialize;

use super::geometry::Rect;
use super::{Damage, MAX_UNPACKED_BYTES, Stamp, Unreadable, load, pages};
use crate::Failure;
use crate::text::{self, Line, Text};
use crate::world::Template;

/// Limits for a label that is legible across a page.
const MAX_LINES: usize = 6;
const MAX_LINE_CHARS: usize = 300;
const MAX_WORD_CHARS: usize = 30;

/// The size of a label without text, in points.
const EMPTY_SIZE: (f64, f64) = (100.0, 20.0);

#[derive(Debug, Serialize)]
struct LabelInput {
    lines: Vec<Line>,
}

/// The printed label of a stamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    pub(super) text: String,
    /// A PDF with one page, unless there is no text.
    pub(super) pdf: Vec<u8>,
}

impl Label {
    /// Lays out the label. CPU-bound: call it on a thread for blocking work.
    pub fn print(stamp: &Stamp) -> Result<Self, Failure> {
        let lines: Vec<_> = stamp
            .lines
            .iter()
            .map(|line| text::shortened(line.trim(), MAX_LINE_CHARS))
            .filter(|line| !line.is_empty())
            .take(MAX_LINES)
            .collect();
        if lines.is_empty() {
            return Ok(Self::default());
        }
        let input = |text: &mut Text| LabelInput {
            lines: lines.iter().map(|line| text.line(line, MAX_WORD_CHARS)).collect(),
        };
        let pdf = crate::print(Template::Label, input)?.bytes;
        Ok(Self { text: lines.join(" "), pdf })
    }
}

/// The label as PDF objects, which refer to each other by index.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    /// Width and height, in points.
    pub size: (f64, f64),
    /// The objects; the first one is the form XObject.
    pub objects: Vec<Object>,
}

impl Default for Drawing {
    fn default() -> Self {
        let form = Dictionary::from_iter([
            ("Type", Object::from("XObject")),
            ("Subtype", "Form".into()),
            ("BBox", Object::Array([0, 0, 100, 20].map(Object::Integer).into())),
        ]);
        Self { size: EMPTY_SIZE, objects: vec![Stream::new(form, Vec::new()).into()] }
    }
}

impl Drawing {
    pub(super) fn of(label: &Label) -> Result<Self, Unreadable> {
        if label.pdf.is_empty() {
            return Ok(Self::default());
        }
        Self::read(label)?.ok_or(Unreadable::Damaged(Damage::NoPageTree))
    }

    fn read(Label { text, pdf }: &Label) -> Result<Option<Self>, Unreadable> {
        let mut document = load::load(pdf)?;
        let pages = pages::pages(&document)?;
        let Some(page) = pages.first() else { return Ok(None) };
        let Ok(dict) = document.get_dictionary(page.id) else { return Ok(None) };
        let (Some(media), Ok(resources), Ok(contents)) = (
            page.inherited.media,
            dict.get(b"Resources").cloned(),
            dict.get(b"Contents").and_then(Object::as_reference),
        ) else {
            return Ok(None);
        };
        let Some(Object::Stream(mut form)) = document.objects.remove(&contents) else { return Ok(None) };
        let Ok(content) = form.get_plain_content_with_limit(MAX_UNPACKED_BYTES) else { return Ok(None) };
        form.set_plain_content(saying(text, &content));
        form.dict.set("Type", "XObject");
        form.dict.set("Subtype", "Form");
        form.dict.set("BBox", bounds(media));
        form.dict.set("Resources", resources);
        Ok(Some(Self { size: media.size(), objects: with_references(&mut document, form.into()) }))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the size of a label is small")]
fn bounds(media: Rect) -> Vec<Object> {
    let (width, height) = media.size();
    [0.0, 0.0, width as f32, height as f32].map(Object::Real).into()
}

/// Wraps the content in `ActualText`, because text extraction would split diagonal text into single letters. Removes
/// the `ActualText` that the layout adds for some letters, because it must not be nested.
fn saying(text: &str, content: &[u8]) -> Vec<u8> {
    const START: &[u8] = b"/Span<</ActualText<";
    const END: &[u8] = b">>>BDC";
    let mut out = b"/Span <</ActualText <FEFF".to_vec();
    for unit in text.encode_utf16() {
        out.extend(format!("{unit:04X}").into_bytes());
    }
    out.extend(b">>> BDC\n");
    let mut rest = content;
    while let Some(start) = memmem::find(rest, START)
        && let Some(end) = memmem::find(rest.get(start..).unwrap_or_default(), END)
    {
        out.extend(rest.get(..start).unwrap_or_default());
        out.extend(b"/Span BMC");
        rest = rest.get(start + end + END.len()..).unwrap_or_default();
    }
    out.extend(rest);
    out.extend(b"\nEMC\n");
    out
}

/// Moves an object and everything it refers to out of the document; references become indices into the result.
fn with_references(document: &mut Document, first: Object) -> Vec<Object> {
    let mut indices: HashMap<ObjectId, u32> = HashMap::new();
    let (mut open, mut objects) = (VecDeque::from([first]), Vec::new());
    let mut next = 1;
    while let Some(mut object) = open.pop_front() {
        load::for_each_reference(&mut object, &mut |id| {
            let index = *indices.entry(*id).or_insert_with(|| {
                open.push_back(document.objects.remove(id).unwrap_or(Object::Null));
                next += 1;
                next - 1
            });
            *id = (index, 0);
        });
        objects.push(object);
    }
    objects
}
