//! Puts the label on pages: which objects change, and which are new.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::balance::Balance;
use super::file::{File, LARGEST_NUMBER, MOST_HOPS, Object};
use super::label::Label;
use super::pages::{self, Page};
use super::value::{Dict, Id, Value};
use super::write::Part;
use super::{LARGEST_CONTENT, Unreadable, actions, filters, geometry, write};

/// Other programs may be able to read it, and it could hide the label there.
const UNREAD: Unreadable = Unreadable::Damaged("the content of a page cannot be read");

/// What the label is called on a page; a number follows if that has been taken.
const NAME: &str = "AttestryStamp";

/// The most values in all changed objects, contents of all pages, and bytes of the new contents.
const MOST_VALUES: usize = 1_500_000;
const MOST_CONTENTS: usize = 500_000;
const MOST_ADDED: usize = 16 << 20;
/// Contents are unpacked to see what they leave open. This is the most for all of them.
const MOST_CONTENT: usize = 96 << 20;
/// No program leaves more than this open.
const MOST_OPEN: usize = 1_000;

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

/// What an object is to a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    Holder,
    Resources,
    Names,
}

impl Role {
    /// The key with which it is found.
    const fn key(self) -> &'static str {
        match self {
            Self::Holder => "",
            Self::Resources => "Resources",
            Self::Names => "XObject",
        }
    }
}

type Seen = HashSet<(Role, u32)>;

/// Each dictionary with its number, if it is an object of its own.
struct Names {
    holder: (u32, Dict),
    resources: (Option<u32>, Dict),
    names: (Option<u32>, Dict),
}

/// New objects. Equal contents are one object.
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
        if self.size > MOST_ADDED {
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

    /// It runs nothing and carries nothing but its pages.
    pub(super) fn must_be_passive(&self) -> Result<(), Unreadable> {
        actions::must_be_passive(&self.file)
    }

    /// The file with the label on each page.
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
        // The next one is that of the table.
        if self.added.next > LARGEST_NUMBER {
            return Err(Unreadable::TooComplex);
        }
        write::write(&self.file, &self.changed, &self.added.objects)
    }

    /// The object as it is now, or that to which it leads, with its number. Nothing, if it is no dictionary.
    fn dict(&self, number: u32) -> Result<Option<(u32, Dict)>, Unreadable> {
        let mut number = number;
        for _ in 0..MOST_HOPS {
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
        if self.values > MOST_VALUES {
            return Err(Unreadable::TooComplex);
        }
        self.changed.insert(number, value);
        Ok(())
    }

    /// The dictionary with this key in another, and its number if it is an object of its own. Nothing, if that
    /// was seen before.
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
                // It leads nowhere, so there is nothing to be shared.
                seen.remove(&(role, id.number));
                Some((None, Dict::default()))
            }
        })
    }

    /// The names of drawings in the resources that are in this object, and the way to them. Nothing, if the same
    /// were had before.
    fn names(&self, holder: Id, seen: &mut Seen) -> Result<Option<Names>, Unreadable> {
        if !seen.insert((Role::Holder, holder.number)) {
            return Ok(None);
        }
        let Some(holder) = self.dict(holder.number)? else { return Ok(None) };
        let Some(resources) = self.inner(&holder.1, Role::Resources, seen)? else { return Ok(None) };
        let Some(names) = self.inner(&resources.1, Role::Names, seen)? else { return Ok(None) };
        Ok(Some(Names { holder, resources, names }))
    }

    /// A name that no page has for anything else.
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

    /// Adds the label to the resources that are in this object, wherever they lead, once.
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
        if self.contents > MOST_CONTENTS {
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
        // Some programs would take it for a part of the tree.
        dict.remove("Kids");
        // Its own resources are null, but some programs would look no further.
        if page.inherited.resources.is_some_and(|holder| holder != page.id) {
            dict.remove("Resources");
        }
        self.change(number, dict)
    }

    /// The contents with a new line between them. Without it, programs differ in whether a word or a comment goes on
    /// in the next content.
    fn parted(&mut self, contents: Vec<Id>) -> Result<Vec<Id>, Unreadable> {
        if contents.len() < 2 {
            return Ok(contents);
        }
        let line = Id::new(self.added.content(b"\n".into())?);
        let all = contents.into_iter().flat_map(|id| [line, id]);
        Ok(all.skip(1).collect())
    }

    /// What is drawn on a page, in order.
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

    /// Of a content. Nothing, if it is none.
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
        // Data may be long and yet unpack to nothing.
        self.file.pay(data.len())?;
        let left = MOST_CONTENT - self.unpacked;
        let unpacked = filters::unpacked(&dict, data, LARGEST_CONTENT.min(left));
        let content = match unpacked {
            // What is left open could hide the label.
            Ok(content) => content.ok_or(Unreadable::Packed)?,
            Err(Unreadable::Unpacks) if left >= LARGEST_CONTENT => return Err(Unreadable::LargePage),
            Err(Unreadable::Unpacks) => return Err(Unreadable::TooComplex),
            Err(other) => return Err(other),
        };
        self.unpacked += content.len();
        Balance::of(&content)
    }
}

/// What is drawn before and after the content of a page.
fn around(
    page: &Page,
    balance: &Balance,
    name: &str,
    label: &Label,
) -> Result<(Vec<u8>, Vec<u8>), Unreadable> {
    let Balance { states, marks, text, .. } = balance;
    balance.must_be_closed()?;
    let (before, after, marks) = (states.before() + 1, states.after() + 1, marks.after());
    if before.max(after).max(marks) > MOST_OPEN {
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
