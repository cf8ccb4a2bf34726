//! An uploaded PDF: the locations of its objects, and their values.
//!
//! Objects are parsed on demand. All work is charged to a fixed budget, so no file can take long, however its objects
//! refer to each other.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use memchr::memmem;

use super::lexer::{Lexer, Token, is_keyword, is_space};
use super::value::{Dict, Id, Value, unescaped};
use super::{MAX_UNPACKED_BYTES, Unreadable, filters, scan, xref};

/// The average number of times that each byte of a file, and each decompressed byte, may be read. `BASE_READ_BUDGET_BYTES` bytes are
/// added to the budget, so that small files are not rejected.
const MAX_READS_PER_BYTE: usize = 10;
const UNPACKED_READINGS: usize = 6;
const BASE_READ_BUDGET_BYTES: usize = 64 << 20;
/// The cost of parsing a value, in bytes read.
const VALUE: usize = 16;

/// The maximum object number; readers reject objects with higher ones.
pub(super) const LARGEST_NUMBER: u32 = (1 << 23) - 1;

/// The maximum length of a chain of references.
pub(super) const MAX_HOPS: usize = 8;

/// The location of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectLocation {
    Free,
    At {
        offset: usize,
        generation: u16,
    },
    /// In an object stream.
    In {
        container: u32,
        index: u32,
    },
}

pub(super) type ObjectLocations = BTreeMap<u32, ObjectLocation>;

pub(super) struct File<'a> {
    pub bytes: &'a [u8],
    pub places: ObjectLocations,
    pub trailer: Dict,
    work: Work,
    containers: RefCell<HashMap<u32, Option<Rc<Container>>>>,
    /// True while an object stream is opened. No other one is opened meanwhile, since they might refer to each other
    /// in a cycle.
    is_opening: Cell<bool>,
    /// The highest object number that was looked up but not found.
    missing: Cell<u32>,
    /// Cached results of `is_null`, by object number.
    nulls: RefCell<HashMap<u32, bool>>,
}

/// The remaining work budget.
struct Work {
    bytes: Cell<usize>,
    unpacked: Cell<usize>,
}

/// A decompressed object stream.
struct Container {
    data: Vec<u8>,
    /// The number and the offset of each object, in the order of the stream.
    objects: Vec<(u32, usize)>,
}

impl Container {
    /// Returns the offset of the object, if it has this index.
    fn offset(&self, number: u32, index: u32) -> Option<usize> {
        let (found, offset) = self.objects.get(usize::try_from(index).ok()?)?;
        (*found == number).then_some(*offset)
    }
}

pub(super) struct Object<'a> {
    pub value: Value,
    /// The data after a dictionary, still compressed.
    pub stream: Option<&'a [u8]>,
}

/// The outline of an object, parsed without its values.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    pub id: Id,
    /// The offset behind its last token.
    pub end: usize,
    /// The value of its `Type` key.
    pub kind: Option<Vec<u8>>,
    /// True for a linearization dictionary, which is no longer valid once the file is rewritten.
    pub is_linearization: bool,
    pub stream: Option<&'a [u8]>,
}

impl<'a> File<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let start = memmem::find(bytes.get(..bytes.len().min(1024)).unwrap_or_default(), b"%PDF-");
        let bytes = bytes.get(start.ok_or(Unreadable::NotPdf)?..).unwrap_or_default();
        let mut file = Self {
            bytes,
            places: ObjectLocations::new(),
            trailer: Dict::default(),
            work: Work {
                bytes: Cell::new(
                    bytes.len().saturating_mul(MAX_READS_PER_BYTE).saturating_add(BASE_READ_BUDGET_BYTES),
                ),
                unpacked: Cell::new(MAX_UNPACKED_BYTES),
            },
            containers: RefCell::default(),
            is_opening: Cell::default(),
            missing: Cell::default(),
            nulls: RefCell::default(),
        };
        match xref::read(&file)? {
            Some((places, trailer)) => {
                (file.places, file.trailer) = (places, trailer);
                scan::mend(&mut file)?;
            }
            None => file.rebuild()?,
        }
        if file.trailer.get("Encrypt").is_some_and(|value| *value != Value::Null) {
            return Err(Unreadable::Protected);
        }
        Ok(file)
    }

    /// Finds the objects again by scanning the file, ignoring its cross-reference table.
    pub(super) fn rebuild(&mut self) -> Result<(), Unreadable> {
        scan::rebuild(self)?;
        self.places.retain(|number, _| *number <= LARGEST_NUMBER);
        Ok(())
    }

    /// The highest object number in use.
    pub(super) fn last_number(&self) -> u32 {
        self.places.last_key_value().map_or(0, |(number, _)| *number)
    }

    /// The first number for new objects. No object has it, and nothing parsed so far refers to it.
    pub(super) fn next_number(&self) -> Result<u32, Unreadable> {
        let size = self.trailer.number::<u64>("Size").unwrap_or_default();
        let known = u64::from(self.last_number().max(self.missing.get())) + 1;
        let next = u32::try_from(known.max(size)).ok().filter(|next| *next <= LARGEST_NUMBER);
        next.ok_or(Unreadable::TooComplex)
    }

    pub(super) fn forget(&mut self) {
        self.places.clear();
        self.containers.get_mut().clear();
        self.nulls.get_mut().clear();
        self.missing.set(0);
    }

    /// Charges work on this many bytes to the budget.
    pub(super) fn pay(&self, bytes: usize) -> Result<(), Unreadable> {
        let left = self.work.bytes.get().checked_sub(bytes).ok_or(Unreadable::TooComplex)?;
        self.work.bytes.set(left);
        Ok(())
    }

    /// Decompresses a stream and charges the result to the budget for decompressed bytes.
    pub(super) fn unpacked(&self, dict: &Dict, data: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.pay(data.len())?;
        let left = self.work.unpacked.get();
        let Some(unpacked) = filters::unpacked(dict, data, left)? else { return Ok(None) };
        self.work.unpacked.set(left.saturating_sub(unpacked.len()));
        self.work.bytes.set(self.work.bytes.get().saturating_add(unpacked.len() * UNPACKED_READINGS));
        Ok(Some(unpacked.into_owned()))
    }

    /// Parses the next value.
    pub(super) fn value(&self, lexer: &mut Lexer) -> Result<Option<Value>, Unreadable> {
        let (value, count) = Value::read(lexer);
        self.pay(lexer.take_work().saturating_add(count.saturating_mul(VALUE)))?;
        Ok(value)
    }

    /// Parses the dictionary of the object at this offset, regardless of its number.
    pub(super) fn dict_at(&self, offset: usize) -> Result<Option<Dict>, Unreadable> {
        let mut lexer = Lexer::new(self.bytes, offset);
        let is_object = header(&mut lexer).is_some();
        self.pay(lexer.take_work())?;
        if !is_object {
            return Ok(None);
        }
        Ok(match self.value(&mut lexer)? {
            Some(Value::Dict(dict)) => Some(dict),
            _ => None,
        })
    }

    /// Resolves a value, following references.
    pub(super) fn resolve(&self, value: &Value) -> Result<Value, Unreadable> {
        let mut value = value.clone();
        for _ in 0..MAX_HOPS {
            let Value::Reference(id) = value else { return Ok(value) };
            value = self.object(id.number)?.map_or(Value::Null, |object| match object.stream {
                Some(_) => Value::Null,
                None => object.value,
            });
        }
        Ok(Value::Null)
    }

    /// Returns true if the value is null or a dangling reference. An unreadable object is not null, since other
    /// readers may be able to parse it.
    pub(super) fn is_null(&self, value: &Value) -> Result<bool, Unreadable> {
        let Value::Reference(id) = value else { return Ok(*value == Value::Null) };
        if let Some(known) = self.nulls.borrow().get(&id.number) {
            return Ok(*known);
        }
        let (mut number, mut is_null) = (id.number, false);
        for _ in 0..MAX_HOPS {
            match self.object(number)?.map(|object| object.value) {
                Some(Value::Reference(next)) => number = next.number,
                Some(value) => {
                    is_null = value == Value::Null;
                    break;
                }
                None => {
                    is_null = !self.places.contains_key(&number);
                    break;
                }
            }
        }
        self.nulls.borrow_mut().insert(id.number, is_null);
        Ok(is_null)
    }

    /// Parses an object; `None` if it does not exist or cannot be parsed.
    pub(super) fn object(&self, number: u32) -> Result<Option<Object<'a>>, Unreadable> {
        match self.places.get(&number) {
            Some(ObjectLocation::At { offset, .. }) => self.object_at(number, *offset),
            Some(ObjectLocation::In { container, index }) => {
                let Some(container) = self.container(*container)? else { return Ok(None) };
                let Some(offset) = container.offset(number, *index) else { return Ok(None) };
                let value = self.value(&mut Lexer::new(&container.data, offset))?;
                Ok(value.map(|value| Object { value, stream: None }))
            }
            Some(ObjectLocation::Free) | None => {
                // Higher numbers are never assigned to new objects.
                if number <= LARGEST_NUMBER {
                    self.missing.set(self.missing.get().max(number));
                }
                Ok(None)
            }
        }
    }

    fn object_at(&self, number: u32, offset: usize) -> Result<Option<Object<'a>>, Unreadable> {
        let mut lexer = Lexer::new(self.bytes, offset);
        let is_right = header(&mut lexer).is_some_and(|id| id.number == number);
        self.pay(lexer.take_work())?;
        if !is_right {
            return Ok(None);
        }
        let Some(value) = self.value(&mut lexer)? else { return Ok(None) };
        let Value::Dict(dict) = &value else { return Ok(Some(Object { value, stream: None })) };
        let is_stream = lexer.takes(b"stream");
        self.pay(lexer.take_work())?;
        if !is_stream {
            return Ok(Some(Object { value, stream: None }));
        }
        let data = self.data(lexer.at, dict.get("Length"))?;
        Ok(data.map(|(data, _)| Object { value, stream: Some(data) }))
    }

    /// Returns the data of a stream after its `stream` keyword, and the offset of its end.
    fn data(&self, at: usize, length: Option<&Value>) -> Result<Option<(&'a [u8], usize)>, Unreadable> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let start = at
            + match rest {
                [b'\r', b'\n', ..] => 2,
                [b'\r' | b'\n', ..] => 1,
                _ => 0,
            };
        if let Some(length) = self.length(length)? {
            let end = start.saturating_add(length);
            let mut lexer = Lexer::new(self.bytes, end);
            let is_end = lexer.takes(b"endstream");
            self.pay(lexer.take_work())?;
            if let Some(data) = self.bytes.get(start..end).filter(|_| is_end) {
                return Ok(Some((data, lexer.at)));
            }
        }
        // The length is invalid, so the data ends at the next `endstream`.
        let rest = self.bytes.get(start..).unwrap_or_default();
        let found = memmem::find(rest, b"endstream");
        self.pay(found.unwrap_or(rest.len()))?;
        let Some(end) = found else { return Ok(None) };
        let data = rest.get(..end).unwrap_or_default();
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        let data = data.strip_suffix(b"\r").unwrap_or(data);
        Ok(Some((data, start + end + b"endstream".len())))
    }

    /// Returns the length of a stream, which may be an indirect object.
    fn length(&self, value: Option<&Value>) -> Result<Option<usize>, Unreadable> {
        let Some(Value::Reference(id)) = value else { return Ok(value.and_then(Value::number)) };
        match self.places.get(&id.number) {
            Some(ObjectLocation::At { offset, .. }) => {
                let mut lexer = Lexer::new(self.bytes, *offset);
                let header = header(&mut lexer).filter(|header| header.number == id.number);
                let length = header.and_then(|_| lexer.number());
                self.pay(lexer.take_work())?;
                Ok(length)
            }
            Some(ObjectLocation::In { container, index }) => {
                let Some(container) = self.container(*container)? else { return Ok(None) };
                let Some(offset) = container.offset(id.number, *index) else { return Ok(None) };
                let mut lexer = Lexer::new(&container.data, offset);
                let length = lexer.number();
                self.pay(lexer.take_work())?;
                Ok(length)
            }
            Some(ObjectLocation::Free) | None => Ok(None),
        }
    }

    fn container(&self, number: u32) -> Result<Option<Rc<Container>>, Unreadable> {
        if let Some(known) = self.containers.borrow().get(&number) {
            return Ok(known.clone());
        }
        let Some(ObjectLocation::At { offset, .. }) = self.places.get(&number) else { return Ok(None) };
        if self.is_opening.replace(true) {
            return Ok(None);
        }
        let container = self.open_container(number, *offset);
        self.is_opening.set(false);
        let container = container?.map(Rc::new);
        self.containers.borrow_mut().insert(number, container.clone());
        Ok(container)
    }

    fn open_container(&self, number: u32, offset: usize) -> Result<Option<Container>, Unreadable> {
        let Some(Object { value: Value::Dict(dict), stream: Some(data) }) = self.object_at(number, offset)?
        else {
            return Ok(None);
        };
        let Some(first) = dict.number::<usize>("First") else { return Ok(None) };
        let Some(data) = self.unpacked(&dict, data)? else { return Ok(None) };
        let mut lexer = Lexer::new(data.get(..first).unwrap_or_default(), 0);
        let mut objects = Vec::new();
        while let Some((number, offset)) = lexer.number().zip(lexer.number::<usize>()) {
            objects.push((number, offset.saturating_add(first)));
            if objects.len() > xref::MAX_OBJECTS {
                return Err(Unreadable::TooComplex);
            }
        }
        self.pay(lexer.take_work())?;
        Ok(Some(Container { data, objects }))
    }

    /// The numbers of the objects in an object stream, in its order.
    pub(super) fn contained(&self, container: u32) -> Result<Vec<u32>, Unreadable> {
        let Some(container) = self.container(container)? else { return Ok(Vec::new()) };
        Ok(container.objects.iter().map(|(number, _)| *number).collect())
    }

    /// Returns true if the object stream has been opened and has another object at this index.
    pub(super) fn is_misplaced(&self, number: u32, container: u32, index: u32) -> bool {
        let containers = self.containers.borrow();
        containers
            .get(&container)
            .and_then(Option::as_ref)
            .is_some_and(|container| container.offset(number, index).is_none())
    }

    /// Parses the outline of an object; `None` if there is none at this offset or its end is missing.
    pub(super) fn outline(&self, offset: usize) -> Result<Option<Outline<'a>>, Unreadable> {
        let mut lexer = Lexer::new(self.bytes, offset);
        let id = header(&mut lexer);
        self.pay(lexer.take_work())?;
        let Some(id) = id else { return Ok(None) };
        let mut outline = Outline { id, end: 0, kind: None, is_linearization: false, stream: None };
        let mut length = None;
        let ended = walk(&mut lexer, |key, lexer| match key {
            b"Type" => outline.kind = kind(lexer),
            b"Length" => length = Value::read(lexer).0,
            b"Linearized" => outline.is_linearization = true,
            _ => {}
        });
        self.pay(lexer.take_work())?;
        outline.end = match ended {
            Some(End::Object) => lexer.at,
            Some(End::Stream) => match self.data(lexer.at, length.as_ref())? {
                Some((data, end)) => {
                    outline.stream = Some(data);
                    end
                }
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        Ok(Some(outline))
    }
}

fn kind(lexer: &mut Lexer) -> Option<Vec<u8>> {
    let before = lexer.at;
    match lexer.next() {
        Some(Token::Name(name)) => Some(unescaped(name)),
        _ => {
            lexer.at = before;
            None
        }
    }
}

enum End {
    Object,
    Stream,
}

/// Skips to the end of an object. Calls `on_key` for each key of the outermost dictionary, which may parse the value.
fn walk<'a>(lexer: &mut Lexer<'a>, mut on_key: impl FnMut(&[u8], &mut Lexer<'a>)) -> Option<End> {
    let (mut depth, mut is_key, mut is_dict) = (0_usize, true, false);
    loop {
        match lexer.next()? {
            token @ (Token::ArrayStart | Token::DictStart) => {
                is_dict |= depth == 0 && token == Token::DictStart;
                (depth, is_key) = (depth + 1, true);
            }
            Token::ArrayEnd | Token::DictEnd => (depth, is_key) = (depth.checked_sub(1)?, true),
            Token::Name(name) if is_dict && depth == 1 && is_key => {
                let value = lexer.at;
                on_key(name, lexer);
                is_key = lexer.at != value;
            }
            Token::Word(b"endobj") if depth == 0 => return Some(End::Object),
            Token::Word(b"stream") if depth == 0 => return Some(End::Stream),
            Token::Word(word) if is_keyword(word) => return None,
            Token::Name(_) | Token::Number(_) | Token::Text(_) | Token::Word(_) => is_key = true,
        }
    }
}

/// Parses the header of an object and returns its id.
pub(super) fn header(lexer: &mut Lexer) -> Option<Id> {
    let id = Id { number: lexer.number()?, generation: lexer.number()? };
    lexer.takes(b"obj").then_some(id)
}

/// Returns true if the offset follows white space or is the start of the file.
pub(super) fn is_start(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|byte| is_space(*byte))
}
