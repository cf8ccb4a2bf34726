//! The pages of a PDF, with their inherited attributes.

use std::collections::HashMap;

use super::file::File;
use super::geometry::Rect;
use super::value::{Dict, Id, Value};
use super::{MAX_PAGES, Unreadable};

const NO_TREE: Unreadable = Unreadable::Damaged("its pages are missing");
const LOOP: Unreadable = Unreadable::Damaged("its pages are in a circle");
const MAX_NODES: usize = 4 * MAX_PAGES;

#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub id: Id,
    pub inherited: Inherited,
}

/// Attributes of a page, its own or inherited.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inherited {
    pub media: Option<Rect>,
    pub crop: Option<Rect>,
    /// In degrees.
    pub rotate: i64,
    /// The object that contains the resources.
    pub resources: Option<Id>,
}

impl Inherited {
    fn below(self, id: Id, dict: &Dict, file: &File) -> Result<Self, Unreadable> {
        let own = |key| dict.get(key).map(|value| file.resolve(value)).transpose();
        Ok(Self {
            media: rect(own("MediaBox")?, file)?.or(self.media),
            crop: rect(own("CropBox")?, file)?.or(self.crop),
            rotate: own("Rotate")?.and_then(|rotate| degrees(&rotate)).unwrap_or(self.rotate),
            resources: match dict.get("Resources") {
                Some(resources) if !file.is_null(resources)? => Some(id),
                _ => self.resources,
            },
        })
    }
}

/// Parses an angle in degrees; some programs write integers with decimals.
#[expect(clippy::cast_possible_truncation, reason = "no page is turned that often")]
fn degrees(value: &Value) -> Option<i64> {
    value.number().map(|degrees: f64| degrees.round() as i64)
}

fn rect(value: Option<Value>, file: &File) -> Result<Option<Rect>, Unreadable> {
    let Some(Value::Array(corners)) = value else { return Ok(None) };
    let mut numbers = [0.0; 4];
    for (number, corner) in numbers.iter_mut().zip(corners.get(..4).unwrap_or_default()) {
        match file.resolve(corner)?.number() {
            Some(corner) => *number = corner,
            None => return Ok(None),
        }
    }
    Rect::new(numbers)
}

enum Node {
    Page,
    Tree,
}

/// Returns all pages, each once. Iterates instead of recursing, because a tree may be deep.
pub(super) fn pages(file: &File) -> Result<Vec<Page>, Unreadable> {
    let root = file.trailer.get("Root").map(|root| file.resolve(root)).transpose()?;
    let Some(Value::Reference(top)) = root.as_ref().and_then(Value::dict).and_then(|root| root.get("Pages"))
    else {
        return Err(NO_TREE);
    };
    let (mut pages, mut seen, mut listed) = (Vec::new(), HashMap::new(), 0);
    let mut open = vec![(*top, Inherited::default())];
    while let Some((id, above)) = open.pop() {
        match seen.get(&id.number) {
            // A page may occur twice, but a tree node must not contain itself.
            Some(Node::Page) => continue,
            Some(Node::Tree) => return Err(LOOP),
            None => {}
        }
        let Some(Value::Dict(dict)) =
            file.object(id.number)?.filter(|object| object.stream.is_none()).map(|object| object.value)
        else {
            return Err(NO_TREE);
        };
        let inherited = above.below(id, &dict, file)?;
        let is_page = below(file, &dict, "Type")? == Value::name_of("Page");
        let Some(kids) = dict.get("Kids").filter(|_| !is_page) else {
            seen.insert(id.number, Node::Page);
            pages.push(Page { id, inherited });
            if pages.len() > MAX_PAGES {
                return Err(Unreadable::TooManyPages);
            }
            continue;
        };
        seen.insert(id.number, Node::Tree);
        let kids = file.resolve(kids)?;
        let kids = kids.array().ok_or(NO_TREE)?;
        listed += kids.len();
        if listed > MAX_NODES {
            return Err(Unreadable::TooManyPages);
        }
        for kid in kids.iter().rev() {
            match kid {
                Value::Reference(id) => open.push((*id, inherited)),
                Value::Null => {}
                _ => return Err(NO_TREE),
            }
        }
    }
    if pages.is_empty() { Err(Unreadable::NoPages) } else { Ok(pages) }
}

/// Returns the value under this key, following references.
fn below(file: &File, dict: &Dict, key: &str) -> Result<Value, Unreadable> {
    dict.get(key).map_or(Ok(Value::Null), |value| file.resolve(value))
}

/// Fails if there is more to see than the pages: attached files, or a form that draws its own pages.
pub(super) fn must_be_all(file: &File, pages: &[Page]) -> Result<(), Unreadable> {
    let below =
        |value: &Value, key: &str| value.dict().map_or(Ok(Value::Null), |dict| below(file, dict, key));
    let root = match file.trailer.get("Root") {
        Some(root) => file.resolve(root)?,
        None => Value::Null,
    };
    // The value of `XFA` is not resolved: it is usually a stream, and streams resolve to null.
    let form = below(&root, "AcroForm")?;
    match form.dict().and_then(|form| form.get("XFA")) {
        None | Some(Value::Null) => {}
        Some(_) => return Err(Unreadable::DrawsItself),
    }
    let has = |value: &Value| value.dict().is_some() || value.array().is_some_and(|all| !all.is_empty());
    if has(&below(&below(&root, "Names")?, "EmbeddedFiles")?)
        || has(&below(&root, "AF")?)
        || has(&below(&root, "Collection")?)
    {
        return Err(Unreadable::Attachments);
    }
    for page in pages {
        let Some(page) = file.object(page.id.number)? else { continue };
        let notes = below(&page.value, "Annots")?;
        for note in notes.array().unwrap_or_default() {
            let note = file.resolve(note)?;
            if note.dict().and_then(|note| note.name("Subtype")) == Some(b"FileAttachment") {
                return Err(Unreadable::Attachments);
            }
        }
    }
    Ok(())
}
