//! The label: laid out as a document of one page, which becomes a drawing that pages can use.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

use super::file::{File, Object};
use super::value::{Dict, Id, Value};
use super::{Stamp, Unreadable, pages};
use crate::Failure;
use crate::text::{self, Line, Text};
use crate::world::Template;

/// What can be read across a page.
const MOST_LINES: usize = 6;
const LONGEST_LINE: usize = 300;
const LONGEST_WORD: usize = 30;

#[derive(Debug, Serialize)]
struct LabelInput {
    lines: Vec<Line>,
}

/// Its objects refer to each other by their place among them.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// Width and height, in points.
    pub size: (f64, f64),
    /// The first one is the drawing.
    pub objects: Vec<(Value, Option<Vec<u8>>)>,
}

impl Default for Label {
    fn default() -> Self {
        let drawing = Dict(vec![
            (b"Type".into(), Value::name_of("XObject")),
            (b"Subtype".into(), Value::name_of("Form")),
        ]);
        Self { size: (100.0, 20.0), objects: vec![(Value::Dict(drawing), Some(Vec::new()))] }
    }
}

impl Label {
    pub(super) fn new(stamp: &Stamp) -> Result<Self, Failure> {
        let lines = || stamp.lines.iter().filter(|line| !line.trim().is_empty()).take(MOST_LINES);
        if lines().next().is_none() {
            return Ok(Self::default());
        }
        let input = |text: &mut Text| LabelInput {
            lines: lines()
                .map(|line| text.line(&text::shortened(line.trim(), LONGEST_LINE), LONGEST_WORD))
                .collect(),
        };
        let pdf = crate::print(Template::Label, input)?;
        Self::of(&pdf.bytes)?.ok_or_else(|| Failure::Template("the label is no page".into()))
    }

    fn of(bytes: &[u8]) -> Result<Option<Self>, Failure> {
        let file = File::open(bytes)?;
        let pages = pages::pages(&file)?;
        let Some(page) = pages.first() else { return Ok(None) };
        let Some(Value::Dict(dict)) = file.object(page.id.number)?.map(|object| object.value) else {
            return Ok(None);
        };
        let (Some(size), Some(resources)) =
            (page.inherited.media.map(|page| page.size()), dict.get("Resources"))
        else {
            return Ok(None);
        };
        let Some(Value::Reference(contents)) = dict.get("Contents") else { return Ok(None) };
        let Some(Object { value: Value::Dict(mut drawing), stream: Some(content) }) =
            file.object(contents.number)?
        else {
            return Ok(None);
        };
        drawing.set("Type", Value::name_of("XObject"));
        drawing.set("Subtype", Value::name_of("Form"));
        drawing.set("BBox", Value::Array([0.0, 0.0, size.0, size.1].map(Value::number_of).into()));
        drawing.set("Resources", resources.clone());
        let drawing = (Value::Dict(drawing), Some(content.to_vec()));
        Ok(Some(Self { size, objects: with_references(&file, drawing)? }))
    }
}

/// The object and all to which it leads, each referring to the others by their place among them.
fn with_references(
    file: &File,
    first: (Value, Option<Vec<u8>>),
) -> Result<Vec<(Value, Option<Vec<u8>>)>, Unreadable> {
    let mut places: HashMap<u32, u32> = HashMap::new();
    let (mut open, mut objects) = (VecDeque::from([first]), Vec::new());
    let mut next = 1;
    while let Some((mut value, stream)) = open.pop_front() {
        let mut found = Vec::new();
        value.references_mut(&mut |id| {
            let place = *places.entry(id.number).or_insert_with(|| {
                found.push(id.number);
                next += 1;
                next - 1
            });
            *id = Id::new(place);
        });
        objects.push((value, stream));
        for number in found {
            let object = file.object(number)?;
            let null = || (Value::Null, None);
            open.push_back(
                object.map_or_else(null, |Object { value, stream }| (value, stream.map(Vec::from))),
            );
        }
    }
    Ok(objects)
}
