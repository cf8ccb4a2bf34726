//! Adds the label to pages.

use std::collections::HashMap;

use lopdf::{DecompressError, Dictionary, Document, Error, Object, ObjectId, SaveOptions, Stream};
use memchr::memmem;

use super::content::Balance;
use super::label::Drawing;
use super::load::{self, MAX_OBJECT_NUMBER};
use super::pages::{self, Page};
use super::{Damage, MAX_CONTENT_STREAM_BYTES, Unreadable, actions, geometry, repair};

/// The prefix of the label's resource name. The object number of the label follows, so that a second stamp has another
/// name.
const NAME_PREFIX: &str = "AttestryStamp";

/// The first PDF version with all features used here.
const VERSION: &str = "1.7";

/// The maximum number of filters of a content stream. One or two are normal; more only occur in decompression bombs.
const MAX_FILTERS: usize = 3;
/// The maximum total size of decompressed content streams, which are parsed to see what they leave open.
const MAX_CONTENT_BYTES: usize = 96 << 20;
/// The maximum number of open levels, above what any program leaves open.
const MAX_OPEN_STATES: usize = 1_000;

pub(super) struct Edit {
    document: Document,
    pages: Vec<Page>,
    /// New content streams, by their content.
    added: HashMap<Vec<u8>, ObjectId>,
    balances: HashMap<ObjectId, Option<Balance>>,
    /// The total size of the content streams that were decompressed.
    decompressed: usize,
}

/// The path to a dictionary: an object, and the keys of dictionaries in it.
struct DictPath {
    object: ObjectId,
    keys: Vec<&'static str>,
}

/// Loads the document and finds its pages.
fn read(bytes: &[u8]) -> Result<(Document, Vec<Page>), Unreadable> {
    let mut document = load::load(bytes)?;
    let mut referenced = load::number(&mut document);
    let is_missing =
        |number: &u32| repair::is_listed(&document, *number) && !document.objects.contains_key(&(*number, 0));
    if referenced.iter().any(is_missing) {
        repair::add_missing(&mut document, bytes);
        referenced = load::number(&mut document);
    }
    document.max_id = load::last_number(&document, &referenced)?;
    let pages = pages::pages(&document)?;
    Ok((document, pages))
}

impl Edit {
    pub(super) fn new(bytes: &[u8]) -> Result<Self, Unreadable> {
        let start = memmem::find(bytes.get(..bytes.len().min(1024)).unwrap_or_default(), b"%PDF-");
        let bytes = bytes.get(start.ok_or(Unreadable::NotPdf)?..).unwrap_or_default();
        let (document, pages) = match read(bytes) {
            Err(Unreadable::Damaged(Damage::NoTable | Damage::NoPageTree)) => read(&repair::repaired(bytes))?,
            read => read?,
        };
        pages::must_be_all(&document, &pages)?;
        Ok(Self { document, pages, added: HashMap::new(), balances: HashMap::new(), decompressed: 0 })
    }

    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Fails if the file has scripts, launch actions or embedded files.
    pub(super) fn must_be_passive(&self) -> Result<(), Unreadable> {
        actions::must_be_passive(&self.document)
    }

    /// Writes the file with the label on each page.
    pub(super) fn finish(mut self, label: Drawing) -> Result<Vec<u8>, Unreadable> {
        let pages = std::mem::take(&mut self.pages);
        // A file that says that it uses the highest numbers leaves none for new objects.
        if self.document.max_id as usize + self.document.objects.len() > MAX_OBJECT_NUMBER as usize {
            return Err(Unreadable::TooComplex);
        }
        let size = label.size;
        let form = (self.document.max_id + 1, 0);
        for mut object in label.objects {
            load::for_each_reference(&mut object, &mut |id| id.0 += form.0);
            self.document.add_object(object);
        }
        let name = format!("{NAME_PREFIX}{}", form.0);
        for page in &pages {
            self.add_resource(page.inherited.resources.unwrap_or(page.id), &name, form);
            self.add_content(page, &name, size)?;
        }
        self.write()
    }

    fn write(mut self) -> Result<Vec<u8>, Unreadable> {
        if self.document.version != "2.0" {
            VERSION.clone_into(&mut self.document.version);
        }
        let trailer = std::mem::take(&mut self.document.trailer);
        let kept = trailer.into_iter().filter(|(key, _)| [&b"Root"[..], b"Info", b"ID"].contains(&&**key));
        self.document.trailer = kept.collect();
        let options =
            SaveOptions { use_object_streams: true, use_xref_streams: true, ..SaveOptions::default() };
        let mut out = Vec::new();
        self.document.save_with_options(&mut out, options).map_err(|_| Unreadable::TooComplex)?;
        Ok(out)
    }

    /// Returns the path to the dictionary under a key. If there is none, one can be created there.
    fn below(&self, path: DictPath, key: &'static str) -> DictPath {
        let dict = path.keys.iter().fold(self.document.get_dictionary(path.object).ok(), |dict, key| {
            dict?.get(key.as_bytes()).ok()?.as_dict().ok()
        });
        let value = dict.and_then(|dict| dict.get(key.as_bytes()).ok());
        match value.and_then(|value| self.document.dereference(value).ok()) {
            Some((Some(object), Object::Dictionary(_))) => DictPath { object, keys: Vec::new() },
            _ => {
                let mut keys = path.keys;
                keys.push(key);
                DictPath { keys, ..path }
            }
        }
    }

    /// Returns a dictionary; empty ones are created where there are none.
    fn dict_mut(&mut self, path: &DictPath) -> Option<&mut Dictionary> {
        let mut dict = self.document.get_dictionary_mut(path.object).ok()?;
        for key in &path.keys {
            if !dict.get(key.as_bytes()).is_ok_and(|value| value.as_dict().is_ok()) {
                dict.set(*key, Dictionary::new());
            }
            dict = dict.get_mut(key.as_bytes()).and_then(Object::as_dict_mut).ok()?;
        }
        Some(dict)
    }

    /// Adds the label to the resources of this object.
    fn add_resource(&mut self, object: ObjectId, name: &str, label: ObjectId) {
        let path = DictPath { object, keys: Vec::new() };
        let path = self.below(self.below(path, "Resources"), "XObject");
        if let Some(names) = self.dict_mut(&path) {
            names.set(name, label);
        }
    }

    fn add_content(&mut self, page: &Page, name: &str, label: (f64, f64)) -> Result<(), Unreadable> {
        let (mut balance, mut drawn) = (Balance::default(), Vec::new());
        for id in self.contents(page.id)? {
            if let Some(next) = self.balance(id)? {
                balance = balance.then(&next)?;
                drawn.push(id);
            }
        }
        let (before, after) = around(page, &balance, name, label)?;
        let mut all = vec![self.content(before)];
        for (position, id) in drawn.into_iter().enumerate() {
            // Without a newline, readers differ in whether a token or a comment continues in the next stream.
            if position > 0 {
                all.push(self.content(b"\n".into()));
            }
            all.push(id);
        }
        all.push(self.content(after));
        let Ok(dict) = self.document.get_dictionary_mut(page.id) else { return Ok(()) };
        dict.set("Contents", all.into_iter().map(Object::Reference).collect::<Vec<_>>());
        // Some readers would treat the page as a node of the page tree.
        dict.remove(b"Kids");
        // The page's own resources are null, but some readers would not look for inherited ones.
        if page.inherited.resources.is_some_and(|holder| holder != page.id) {
            dict.remove(b"Resources");
        }
        Ok(())
    }

    /// Adds a content stream. Equal ones share one object.
    fn content(&mut self, content: Vec<u8>) -> ObjectId {
        if let Some(id) = self.added.get(&content) {
            return *id;
        }
        let id = self.document.add_object(Stream::new(Dictionary::new(), content.clone()));
        self.added.insert(content, id);
        id
    }

    /// The content streams of a page, in drawing order.
    fn contents(&self, page: ObjectId) -> Result<Vec<ObjectId>, Unreadable> {
        let page = self.document.get_dictionary(page).ok();
        let mut value = page.and_then(|page| page.get(b"Contents").ok());
        if let Some(Object::Reference(id)) = value {
            match self.object(*id)? {
                Some(Object::Stream(_)) => return Ok(vec![*id]),
                array => value = array,
            }
        }
        let Some(Object::Array(values)) = value else { return Ok(Vec::new()) };
        Ok(values.iter().filter_map(|value| value.as_reference().ok()).collect())
    }

    /// Returns an object that belongs to the content of a page. Fails if it was not read although the cross-reference
    /// table has it, because the page would lack it.
    fn object(&self, id: ObjectId) -> Result<Option<&Object>, Unreadable> {
        let object = self.document.objects.get(&id);
        if object.is_none() && repair::is_listed(&self.document, id.0) {
            return Err(Unreadable::Damaged(Damage::UnreadableContent));
        }
        Ok(object)
    }

    /// Returns the balance of a content stream; `None` if the object is not a stream.
    fn balance(&mut self, id: ObjectId) -> Result<Option<Balance>, Unreadable> {
        if let Some(known) = self.balances.get(&id) {
            return Ok(known.clone());
        }
        let balance = match self.object(id)? {
            Some(Object::Stream(stream)) => {
                let limit = MAX_CONTENT_STREAM_BYTES.min(MAX_CONTENT_BYTES - self.decompressed);
                let content = match self.filters(&stream.dict)? {
                    None if stream.content.len() > limit => Err(Unreadable::LargePage),
                    None => Ok(None),
                    Some(filters) => decoded(filters, &stream.content, limit).map(Some),
                };
                let content = content.map_err(|reason| match reason {
                    Unreadable::LargePage if limit < MAX_CONTENT_STREAM_BYTES => Unreadable::TooComplex,
                    reason => reason,
                })?;
                let content = content.as_deref().unwrap_or(&stream.content);
                let balance = Balance::of(content)?;
                self.decompressed += content.len();
                Some(balance)
            }
            _ => None,
        };
        self.balances.insert(id, balance.clone());
        Ok(balance)
    }

    /// Returns the filters of a content stream and their parameters, without references; `None` if it has no filters.
    /// A stream that cannot be decompressed could leave something open that hides the label.
    fn filters(&self, dict: &Dictionary) -> Result<Option<Dictionary>, Unreadable> {
        let resolved = |value| pages::resolved(&self.document, value).clone();
        let many = |key| match pages::below(&self.document, dict, key) {
            Object::Null => Vec::new(),
            Object::Array(values) => values.iter().map(resolved).collect(),
            one => vec![one.clone()],
        };
        let filters = many(b"Filter");
        if filters.is_empty() {
            return Ok(None);
        }
        let known = |filter: &Object| match filter.as_name().unwrap_or_default() {
            b"FlateDecode" | b"Fl" => Some("FlateDecode".into()),
            b"ASCII85Decode" | b"A85" => Some("ASCII85Decode".into()),
            b"ASCIIHexDecode" | b"AHx" => Some("ASCIIHexDecode".into()),
            b"RunLengthDecode" | b"RL" => Some("RunLengthDecode".into()),
            _ => None,
        };
        let filters = if filters.len() > MAX_FILTERS { None } else { filters.iter().map(known).collect() };
        let filters: Vec<Object> = filters.ok_or(Unreadable::Packed)?;
        let mut parameters = many(b"DecodeParms");
        for (_, value) in parameters.iter_mut().filter_map(|dict| dict.as_dict_mut().ok()).flatten() {
            let direct = pages::resolved(&self.document, value).clone();
            *value = direct;
        }
        Ok(Some(Dictionary::from_iter([("Filter", filters.into()), ("DecodeParms", parameters.into())])))
    }
}

fn decoded(filters: Dictionary, content: &[u8], limit: usize) -> Result<Vec<u8>, Unreadable> {
    let stream = Stream::new(filters, content.to_vec());
    stream.decompressed_content_with_limit(limit).map_err(|error| match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => Unreadable::LargePage,
        _ => Unreadable::Packed,
    })
}

/// Returns the content to draw before and after the content of a page.
fn around(
    page: &Page,
    balance: &Balance,
    name: &str,
    label: (f64, f64),
) -> Result<(Vec<u8>, Vec<u8>), Unreadable> {
    let Balance { states, marks, text, .. } = balance;
    balance.must_be_closed()?;
    let (before, after, marks) = (states.before() + 1, states.after() + 1, marks.after());
    if before.max(after).max(marks) > MAX_OPEN_STATES {
        return Err(Unreadable::TooComplex);
    }
    let mut tail = String::from("\n");
    if *text == Some(true) {
        tail.push_str("ET\n");
    }
    tail.push_str(&"EMC\n".repeat(marks));
    tail.push_str(&"Q\n".repeat(after));
    tail.push_str("/Artifact <</Type /Pagination /Subtype /Watermark>> BDC\n");
    let visible = geometry::visible(page.inherited.media, page.inherited.crop);
    for matrix in geometry::placements(visible, page.inherited.rotate, label) {
        let matrix = matrix.numbers().map(|number| format!("{number:.5}")).join(" ");
        tail.extend(["q ", &matrix, " cm /", name, " Do Q\n"]);
    }
    tail.push_str("EMC\n");
    Ok(("q\n".repeat(before).into(), tail.into()))
}
