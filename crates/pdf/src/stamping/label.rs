//! The label: laid out as a document of one page and converted to a form XObject.

use std::collections::{HashMap, VecDeque};

use memchr::memmem;
use serde::Serialize;

use super::file::{File, Object};
use super::geometry::Rect;
use super::value::{Dict, Id, Value};
use super::write::Part;
use super::{MAX_UNPACKED_BYTES, Stamp, Unreadable, filters, pages};
use crate::Failure;
use crate::text::{self, Line, Text};
use crate::world::Template;

/// Limits for a label that is legible across a page.
const MAX_LINES: usize = 6;
const MAX_LINE_CHARS: usize = 300;
const MAX_WORD_CHARS: usize = 30;

#[derive(Debug, Serialize)]
struct LabelInput {
    lines: Vec<Line>,
}

/// The label as PDF objects, which refer to each other by index.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// Width and height, in points.
    pub size: (f64, f64),
    /// The objects; the first one is the form XObject.
    pub objects: Vec<Part>,
}

impl Default for Label {
    fn default() -> Self {
        let drawing = Dict(vec![
            (b"Type".into(), Value::name_of("XObject")),
            (b"Subtype".into(), Value::name_of("Form")),
        ]);
        Self {
            size: (100.0, 20.0),
            objects: vec![Part { value: Value::Dict(drawing), stream: Some(Vec::new()) }],
        }
    }
}

impl Label {
    pub(super) fn new(stamp: &Stamp) -> Result<Self, Failure> {
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
        let pdf = crate::print(Template::Label, input)?;
        Self::of(&pdf.bytes, &lines.join(" "))?
            .ok_or_else(|| Failure::Template("the label is no page".into()))
    }

    fn of(bytes: &[u8], text: &str) -> Result<Option<Self>, Failure> {
        let file = File::open(bytes)?;
        let pages = pages::pages(&file)?;
        let Some(page) = pages.first() else { return Ok(None) };
        let Some(Value::Dict(dict)) = file.object(page.id.number)?.map(|object| object.value) else {
            return Ok(None);
        };
        let (Some(size), Some(resources)) = (page.inherited.media.map(Rect::size), dict.get("Resources"))
        else {
            return Ok(None);
        };
        let Some(Value::Reference(contents)) = dict.get("Contents") else { return Ok(None) };
        let Some(Object { value: Value::Dict(mut drawing), stream: Some(content) }) =
            file.object(contents.number)?
        else {
            return Ok(None);
        };
        let Some(content) = filters::unpacked(&drawing, content, MAX_UNPACKED_BYTES)? else {
            return Ok(None);
        };
        drawing.remove("Filter");
        drawing.remove("DecodeParms");
        drawing.set("Type", Value::name_of("XObject"));
        drawing.set("Subtype", Value::name_of("Form"));
        drawing.set("BBox", Value::Array([0.0, 0.0, size.0, size.1].map(Value::number_of).into()));
        drawing.set("Resources", resources.clone());
        let drawing = Part { value: Value::Dict(drawing), stream: Some(saying(text, &content)) };
        Ok(Some(Self { size, objects: with_references(&file, drawing)? }))
    }
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

/// Collects an object and everything it refers to; references become indices into the result.
fn with_references(file: &File, first: Part) -> Result<Vec<Part>, Unreadable> {
    let mut places: HashMap<u32, u32> = HashMap::new();
    let (mut open, mut parts) = (VecDeque::from([first]), Vec::new());
    let mut next = 1;
    while let Some(mut part) = open.pop_front() {
        let mut found = Vec::new();
        part.value.references_mut(&mut |id| {
            let place = *places.entry(id.number).or_insert_with(|| {
                found.push(id.number);
                next += 1;
                next - 1
            });
            *id = Id::new(place);
        });
        parts.push(part);
        for number in found {
            open.push_back(match file.object(number)? {
                Some(Object { value, stream }) => Part { value, stream: stream.map(Vec::from) },
                None => Part { value: Value::Null, stream: None },
            });
        }
    }
    Ok(parts)
}
