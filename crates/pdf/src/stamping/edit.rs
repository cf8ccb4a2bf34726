//! Adds the label to pages: determines which objects change and which are new.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::balance::Balance;
use super::file::{File, LARGEST_NUMBER, MAX_HOPS, Object};
use super::label::Label;
use super::pages::{self, Page};
use super::value::{Dict, Id, Value};
use super::write::Part;
use super::{LARGEST_CONTENT, Unreadable, actions, filters, geometry, write};

/// Rejected because other readers may be able to parse the content, which could hide the label there.
const UNREAD: Unreadable = Unreadable::Damaged("the content of a page cannot be read");

/// The resource name of the label; a number is appended if the name is in use.
const NAME: &str = "AttestryStamp";

/// The maximum number of values in all changed objects, of content streams of all pages, and of bytes in the new
/// content streams.
const MAX_VALUES: usize = 1_500_000;
const MAX_CONTENT_STREAMS: usize = 500_000;
const MAX_ADDED_BYTES: usize = 16 << 20;
/// The maximum total size of decompressed content streams, which are parsed to see what they leave open.
const MAX_CONTENT_BYTES: usize = 96 << 20;
/// The maximum number of open levels, above what any program leaves open.
const MAX_OPEN_STATES: usize = 1_000;

pub(super) struct Edit<'a> {
    file: File<'a>,
    pages: Vec<Page>,
    changed: BTreeMap<u32, Value>,
    values: usize,
    contents: usize,
    added: Added,
    balances: HashMap<u32, Option<Balance>>,
    unpacked: usize,
}

/// The role of an object for a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    Holder,
    Resources,
    Names,
}

impl Role {
    /// The key that refers to the object.
    const fn key(self) -> &'static str {
        match self {
            Self::Holder => "",
            Self::Resources => "Resources",
            Self::Names => "XObject",
        }
    }
}

type Seen = HashSet<(Role, u32)>;

/// Dictionaries on the path to the XObject names, each with its object number unless it is a direct object.
struct Names {
    holder: (u32, Dict),
    resources: (Option<u32>, Dict),
    names: (Option<u32>, Dict),
}

/// New objects. Equal content streams share one object.
#[derive(Default)]
pub(super) struct Added {
    next: u32,
    pub objects: Vec<(u32, Part)>,
    contents: HashMap<Vec<u8>, u32>,
    size: usize,
}

impl Added {
    fn content(&mut self, content: Vec<u8>) -> Result<u32, Unreadable> {
        if let Some(number) = self.contents.get(&content) {
            return Ok(*number);
        }
        self.size += content.len();
        if self.size > MAX_ADDED_BYTES {
            return Err(Unreadable::TooComplex);
        }
        let number = self.next;
        self.next += 1;
        let part = Part { value: Value::Dict(Dict::default()), stream: Some(content.clone()) };
        self.objects.push((number, part));
        self.contents.insert(content, number);
        Ok(number)
    }
}

impl<'a> Edit<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let mut file = File::open(bytes)?;
        let pages = match pages::pages(&file) {
            Err(Unreadable::Damaged(_)) => {
                file.rebuild()?;
                pages::pages(&file)?
            }
            pages => pages?,
        };
        pages::must_be_all(&file, &pages)?;
        Ok(Self {
            file,
            pages,
            changed: BTreeMap::new(),
            values: 0,
            contents: 0,
            added: Added::default(),
            balances: HashMap::new(),
            unpacked: 0,
        })
    }

    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Fails if the file has scripts, launch actions or embedded files.
    pub(super) fn must_be_passive(&self) -> Result<(), Unreadable> {
        actions::must_be_passive(&self.file)
    }

    /// Writes the file with the label on each page.
    pub(super) fn finish(mut self, label: &Label) -> Result<Vec<u8>, Unreadable> {
        let pages = std::mem::take(&mut self.pages);
        let name = self.free_name(&pages)?;
        let first = self.file.next_number()?;
        let mut number = first;
        for part in &label.objects {
            let mut part = part.clone();
            part.value.references_mut(&mut |id| id.number += first);
            self.added.objects.push((number, part));
            number += 1;
        }
        self.added.next = number;
        let mut done = Seen::new();
        for page in &pages {
            self.give_resource(page.inherited.resources.unwrap_or(page.id), &name, first, &mut done)?;
            self.give_content(page, &name, label)?;
        }
        // The next number is that of the cross-reference stream.
        if self.added.next > LARGEST_NUMBER {
            return Err(Unreadable::TooComplex);
        }
        write::write(&self.file, &self.changed, &self.added.objects)
    }

    /// Returns the current dictionary of an object, following references, with its number; `None` if it is not a
    /// dictionary.
    fn dict(&self, number: u32) -> Result<Option<(u32, Dict)>, Unreadable> {
        let mut number = number;
        for _ in 0..MAX_HOPS {
            let value = match self.changed.get(&number) {
                Some(value) => Some(value.clone()),
                None => self
                    .file
                    .object(number)?
                    .filter(|object| object.stream.is_none())
                    .map(|object| object.value),
            };
            match value {
                Some(Value::Dict(dict)) => return Ok(Some((number, dict))),
                Some(Value::Reference(id)) => number = id.number,
                _ => break,
            }
        }
        Ok(None)
    }

    fn change(&mut self, number: u32, dict: Dict) -> Result<(), Unreadable> {
        let value = Value::Dict(dict);
        self.values += value.count();
        if self.values > MAX_VALUES {
            return Err(Unreadable::TooComplex);
        }
        self.changed.insert(number, value);
        Ok(())
    }

    /// Returns the dictionary under the role's key, with its number if it is an indirect object; `None` if it was
    /// already visited.
    fn inner(
        &self,
        dict: &Dict,
        role: Role,
        seen: &mut Seen,
    ) -> Result<Option<(Option<u32>, Dict)>, Unreadable> {
        let id = match dict.get(role.key()) {
            Some(Value::Dict(inner)) => return Ok(Some((None, inner.clone()))),
            Some(Value::Reference(id)) => id,
            _ => return Ok(Some((None, Dict::default()))),
        };
        if !seen.insert((role, id.number)) {
            return Ok(None);
        }
        Ok(match self.dict(id.number)? {
            Some((number, _)) if number != id.number && !seen.insert((role, number)) => None,
            Some((number, inner)) => Some((Some(number), inner)),
            None => {
                // The reference is dangling, so there is nothing to share.
                seen.remove(&(role, id.number));
                Some((None, Dict::default()))
            }
        })
    }

    /// Returns the XObject names in the resources of this object, and the path to them; `None` if they were already
    /// visited.
    fn names(&self, holder: Id, seen: &mut Seen) -> Result<Option<Names>, Unreadable> {
        if !seen.insert((Role::Holder, holder.number)) {
            return Ok(None);
        }
        let Some(holder) = self.dict(holder.number)? else { return Ok(None) };
        let Some(resources) = self.inner(&holder.1, Role::Resources, seen)? else { return Ok(None) };
        let Some(names) = self.inner(&resources.1, Role::Names, seen)? else { return Ok(None) };
        Ok(Some(Names { holder, resources, names }))
    }

    /// Finds a resource name that no page uses.
    fn free_name(&self, pages: &[Page]) -> Result<String, Unreadable> {
        let (mut seen, mut taken) = (Seen::new(), HashSet::new());
        for holder in pages.iter().filter_map(|page| page.inherited.resources) {
            if let Some(Names { names: (_, names), .. }) = self.names(holder, &mut seen)? {
                let names = names.0.into_iter().map(|(name, _)| name);
                taken.extend(names.filter(|name| name.starts_with(NAME.as_bytes())));
            }
        }
        let names = std::iter::once(NAME.to_owned()).chain((1..).map(|number| format!("{NAME}{number}")));
        let mut free = names.filter(|name| !taken.contains(name.as_bytes()));
        free.next().ok_or(Unreadable::TooComplex)
    }

    /// Adds the label once to the resources of this object, following references.
    fn give_resource(
        &mut self,
        holder: Id,
        name: &str,
        label: u32,
        done: &mut Seen,
    ) -> Result<(), Unreadable> {
        let Some(Names { holder, mut resources, mut names }) = self.names(holder, done)? else {
            return Ok(());
        };
        names.1.set(name, Value::Reference(Id::new(label)));
        if let Some(number) = names.0 {
            return self.change(number, names.1);
        }
        resources.1.set("XObject", Value::Dict(names.1));
        if let Some(number) = resources.0 {
            return self.change(number, resources.1);
        }
        let (number, mut dict) = holder;
        dict.set("Resources", Value::Dict(resources.1));
        self.change(number, dict)
    }

    fn give_content(&mut self, page: &Page, name: &str, label: &Label) -> Result<(), Unreadable> {
        let Some((number, mut dict)) = self.dict(page.id.number)? else { return Ok(()) };
        let contents = self.contents(&dict)?;
        self.contents += contents.len();
        if self.contents > MAX_CONTENT_STREAMS {
            return Err(Unreadable::TooComplex);
        }
        let (mut balance, mut drawn) = (Balance::default(), Vec::new());
        for id in contents {
            if let Some(next) = self.balance(id.number)? {
                balance = balance.then(&next)?;
                drawn.push(id);
            }
        }
        let (before, after) = around(page, &balance, name, label)?;
        let (before, after) = (self.added.content(before)?, self.added.content(after)?);
        let all = [Id::new(before)].into_iter().chain(self.parted(drawn)?).chain([Id::new(after)]);
        dict.set("Contents", Value::Array(all.map(Value::Reference).collect()));
        // Some readers would treat the page as a node of the page tree.
        dict.remove("Kids");
        // The page's own resources are null, but some readers would not look for inherited ones.
        if page.inherited.resources.is_some_and(|holder| holder != page.id) {
            dict.remove("Resources");
        }
        self.change(number, dict)
    }

    /// Separates the content streams with a newline. Without it, readers differ in whether a token or a comment
    /// continues in the next stream.
    fn parted(&mut self, contents: Vec<Id>) -> Result<Vec<Id>, Unreadable> {
        if contents.len() < 2 {
            return Ok(contents);
        }
        let line = Id::new(self.added.content(b"\n".into())?);
        let all = contents.into_iter().flat_map(|id| [line, id]);
        Ok(all.skip(1).collect())
    }

    /// The content streams of a page, in drawing order.
    fn contents(&self, page: &Dict) -> Result<Vec<Id>, Unreadable> {
        let many = |values: &[Value]| {
            values
                .iter()
                .filter_map(|value| match value {
                    Value::Reference(id) => Some(*id),
                    _ => None,
                })
                .collect()
        };
        Ok(match page.get("Contents") {
            Some(Value::Array(values)) => many(values),
            Some(Value::Reference(id)) => match self.file.object(id.number)? {
                Some(Object { stream: Some(_), .. }) => vec![*id],
                Some(Object { value: Value::Array(values), .. }) => many(&values),
                None if self.file.places.contains_key(&id.number) => return Err(UNREAD),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        })
    }

    /// Returns the balance of a content stream; `None` if the object is not a stream.
    fn balance(&mut self, number: u32) -> Result<Option<Balance>, Unreadable> {
        if let Some(known) = self.balances.get(&number) {
            return Ok(known.clone());
        }
        let balance = match self.file.object(number)? {
            Some(Object { value: Value::Dict(dict), stream: Some(data) }) => {
                Some(self.balance_of(dict, data)?)
            }
            None if self.file.places.contains_key(&number) => return Err(UNREAD),
            _ => None,
        };
        self.balances.insert(number, balance.clone());
        Ok(balance)
    }

    fn balance_of(&mut self, mut dict: Dict, data: &[u8]) -> Result<Balance, Unreadable> {
        for key in ["Filter", "DecodeParms"] {
            if let Some(value @ Value::Reference(_)) = dict.get(key) {
                let value = self.file.resolve(value)?;
                dict.set(key, value);
            }
        }
        // Long data may decompress to nothing, so its compressed length counts as well.
        self.file.pay(data.len())?;
        let left = MAX_CONTENT_BYTES - self.unpacked;
        let unpacked = filters::unpacked(&dict, data, LARGEST_CONTENT.min(left));
        let content = match unpacked {
            // A stream that cannot be decompressed could leave something open that hides the label.
            Ok(content) => content.ok_or(Unreadable::Packed)?,
            Err(Unreadable::Unpacks) if left >= LARGEST_CONTENT => return Err(Unreadable::LargePage),
            Err(Unreadable::Unpacks) => return Err(Unreadable::TooComplex),
            Err(other) => return Err(other),
        };
        self.unpacked += content.len();
        Balance::of(&content)
    }
}

/// Returns the content to draw before and after the content of a page.
fn around(
    page: &Page,
    balance: &Balance,
    name: &str,
    label: &Label,
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
    for matrix in geometry::placements(visible, page.inherited.rotate, label.size) {
        let matrix = matrix.numbers().map(|number| format!("{number:.5}")).join(" ");
        tail.extend(["q ", &matrix, " cm /", name, " Do Q\n"]);
    }
    tail.push_str("EMC\n");
    Ok(("q\n".repeat(before).into(), tail.into()))
}
