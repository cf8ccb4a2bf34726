//! The pages of a PDF, with their inherited attributes.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::geometry::Rect;
use super::{Damage, MAX_PAGES, Unreadable};

const NO_TREE: Unreadable = Unreadable::Damaged(Damage::NoPageTree);
const MAX_NODES: usize = 4 * MAX_PAGES;

#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub id: ObjectId,
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
    pub resources: Option<ObjectId>,
}

impl Inherited {
    fn below(self, id: ObjectId, dict: &Dictionary, document: &Document) -> Result<Self, Unreadable> {
        let rotate = number(document, below(document, dict, b"Rotate"));
        Ok(Self {
            media: rect(below(document, dict, b"MediaBox"), document)?.or(self.media),
            crop: rect(below(document, dict, b"CropBox"), document)?.or(self.crop),
            rotate: rotate.map_or(self.rotate, degrees),
            resources: match below(document, dict, b"Resources") {
                Object::Null => self.resources,
                _ => Some(id),
            },
        })
    }
}

/// Rounds an angle to degrees; some programs write integers with decimals.
#[expect(clippy::cast_possible_truncation, reason = "no page is turned that often")]
fn degrees(degrees: f64) -> i64 {
    degrees.round() as i64
}

#[expect(clippy::cast_precision_loss, reason = "the sizes of pages are small")]
fn number(document: &Document, value: &Object) -> Option<f64> {
    match resolved(document, value) {
        Object::Integer(number) => Some(*number as f64),
        Object::Real(number) => Some((*number).into()),
        _ => None,
    }
}

fn rect(value: &Object, document: &Document) -> Result<Option<Rect>, Unreadable> {
    let Object::Array(corners) = value else { return Ok(None) };
    let mut numbers = [0.0; 4];
    for (number, corner) in numbers.iter_mut().zip(corners.get(..4).unwrap_or_default()) {
        match self::number(document, corner) {
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
pub(super) fn pages(document: &Document) -> Result<Vec<Page>, Unreadable> {
    let Object::Dictionary(root) = below(document, &document.trailer, b"Root") else { return Err(NO_TREE) };
    let Ok(Object::Reference(top)) = root.get(b"Pages") else { return Err(NO_TREE) };
    let (mut pages, mut seen, mut listed) = (Vec::new(), HashMap::new(), 0);
    let mut open = vec![(*top, Inherited::default())];
    while let Some((id, above)) = open.pop() {
        match seen.get(&id) {
            // A page may occur twice, but a tree node must not contain itself.
            Some(Node::Page) => continue,
            Some(Node::Tree) => return Err(Unreadable::Damaged(Damage::PageTreeLoop)),
            None => {}
        }
        let Some(Object::Dictionary(dict)) = document.objects.get(&id) else { return Err(NO_TREE) };
        let inherited = above.below(id, dict, document)?;
        let is_page = below(document, dict, b"Type").as_name().is_ok_and(|name| name == b"Page");
        let Some(kids) = dict.get(b"Kids").ok().filter(|_| !is_page) else {
            seen.insert(id, Node::Page);
            pages.push(Page { id, inherited });
            if pages.len() > MAX_PAGES {
                return Err(Unreadable::TooManyPages);
            }
            continue;
        };
        seen.insert(id, Node::Tree);
        let Object::Array(kids) = resolved(document, kids) else { return Err(NO_TREE) };
        listed += kids.len();
        if listed > MAX_NODES {
            return Err(Unreadable::TooManyPages);
        }
        for kid in kids.iter().rev() {
            match kid {
                Object::Reference(id) => open.push((*id, inherited)),
                Object::Null => {}
                _ => return Err(NO_TREE),
            }
        }
    }
    if pages.is_empty() { Err(Unreadable::NoPages) } else { Ok(pages) }
}

/// Follows references; null if they lead nowhere.
pub(super) fn resolved<'a>(document: &'a Document, value: &'a Object) -> &'a Object {
    document.dereference(value).map_or(&Object::Null, |(_, value)| value)
}

/// Returns the value under this key, following references.
pub(super) fn below<'a>(document: &'a Document, dict: &'a Dictionary, key: &[u8]) -> &'a Object {
    dict.get(key).map_or(&Object::Null, |value| resolved(document, value))
}

/// Returns the value under a path of keys, following references.
fn under<'a>(document: &'a Document, value: &'a Object, keys: &[&[u8]]) -> &'a Object {
    let mut value = resolved(document, value);
    for key in keys {
        value = value.as_dict().map_or(&Object::Null, |dict| below(document, dict, key));
    }
    value
}

/// Fails if there is more to see than the pages: attached files, or a form that draws its own pages.
pub(super) fn must_be_all(document: &Document, pages: &[Page]) -> Result<(), Unreadable> {
    let in_root = |keys: &[&[u8]]| match document.trailer.get(b"Root") {
        Ok(root) => under(document, root, keys),
        Err(_) => &Object::Null,
    };
    if *in_root(&[b"AcroForm", b"XFA"]) != Object::Null {
        return Err(Unreadable::DrawsItself);
    }
    let has = |value: &Object| value.as_dict().is_ok() || value.as_array().is_ok_and(|all| !all.is_empty());
    if has(in_root(&[b"Names", b"EmbeddedFiles"])) || has(in_root(&[b"AF"])) || has(in_root(&[b"Collection"]))
    {
        return Err(Unreadable::Attachments);
    }
    for page in pages {
        let Some(page) = document.objects.get(&page.id) else { continue };
        let notes = under(document, page, &[b"Annots"]).as_array();
        let is_attachment = |note: &Object| {
            under(document, note, &[b"Subtype"]).as_name().is_ok_and(|name| name == b"FileAttachment")
        };
        if notes.is_ok_and(|notes| notes.iter().any(is_attachment)) {
            return Err(Unreadable::Attachments);
        }
    }
    Ok(())
}
