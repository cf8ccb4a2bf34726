//! A PDF that somebody gave: where its objects are, and what they say.
//!
//! Objects are read only when they are asked for. All work is paid for from a fixed budget, so no file can keep us
//! busy for long, however its objects refer to each other.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use memchr::memmem;

use super::lexer::{Lexer, Token, is_keyword, is_space};
use super::value::{Dict, Id, Value, unescaped};
use super::{MOST_UNPACKED, Unreadable, filters, scan, xref};

/// How often each byte of a file, and each byte unpacked from it, may be read on average. Every file may have a few
/// more bytes read, so that small ones are not refused.
const READINGS: usize = 10;
const UNPACKED_READINGS: usize = 6;
const FEW: usize = 64 << 20;
/// To read a value is as much work as to look at so many bytes more.
const VALUE: usize = 16;

/// Programs give up on objects with higher numbers.
pub(super) const LARGEST_NUMBER: u32 = (1 << 23) - 1;

/// References that lead to references.
pub(super) const MOST_HOPS: usize = 8;

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    At {
        offset: usize,
        generation: u16,
    },
    /// In a stream of objects.
    In {
        container: u32,
        index: u32,
    },
}

pub(super) type Places = BTreeMap<u32, Place>;

pub(super) struct File<'a> {
    pub bytes: &'a [u8],
    pub places: Places,
    pub trailer: Dict,
    work: Work,
    containers: RefCell<HashMap<u32, Option<Rc<Container>>>>,
    /// While a stream of objects is opened, no other one is, since they might need each other without end.
    is_opening: Cell<bool>,
    /// The highest number that was asked for although no object has it.
    missing: Cell<u32>,
    /// Whether objects are null, by number.
    nulls: RefCell<HashMap<u32, bool>>,
}

/// What may still be done.
struct Work {
    bytes: Cell<usize>,
    unpacked: Cell<usize>,
}

/// A stream of objects, unpacked.
struct Container {
    data: Vec<u8>,
    /// The number of each object and where it begins, in the order of the stream.
    objects: Vec<(u32, usize)>,
}

impl Container {
    /// Where the object begins, if it is the one in this place.
    fn offset(&self, number: u32, index: u32) -> Option<usize> {
        let (found, offset) = self.objects.get(usize::try_from(index).ok()?)?;
        (*found == number).then_some(*offset)
    }
}

/// An object of the file.
pub(super) struct Object<'a> {
    pub value: Value,
    /// The data behind a dictionary, packed.
    pub stream: Option<&'a [u8]>,
}

/// An object of which only the outside was looked at.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    pub id: Id,
    /// Behind its last word.
    pub end: usize,
    /// What it says it is.
    pub kind: Option<Vec<u8>>,
    /// It describes how the file was arranged for the web, which is no longer true when it is written again.
    pub is_linearization: bool,
    pub stream: Option<&'a [u8]>,
}

impl<'a> File<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        let start = memmem::find(bytes.get(..bytes.len().min(1024)).unwrap_or_default(), b"%PDF-");
        let bytes = bytes.get(start.ok_or(Unreadable::NotPdf)?..).unwrap_or_default();
        let mut file = Self {
            bytes,
            places: Places::new(),
            trailer: Dict::default(),
            work: Work {
                bytes: Cell::new(bytes.len().saturating_mul(READINGS).saturating_add(FEW)),
                unpacked: Cell::new(MOST_UNPACKED),
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

    /// Reads the file anew, without what it says about the places of its objects.
    pub(super) fn rebuild(&mut self) -> Result<(), Unreadable> {
        scan::rebuild(self)?;
        self.places.retain(|number, _| *number <= LARGEST_NUMBER);
        Ok(())
    }

    /// The highest number that an object has.
    pub(super) fn last_number(&self) -> u32 {
        self.places.last_key_value().map_or(0, |(number, _)| *number)
    }

    /// The first number for new objects. No object has it, and nothing that was read refers to it.
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

    /// Pays for the work on so many bytes.
    pub(super) fn pay(&self, bytes: usize) -> Result<(), Unreadable> {
        let left = self.work.bytes.get().checked_sub(bytes).ok_or(Unreadable::TooComplex)?;
        self.work.bytes.set(left);
        Ok(())
    }

    /// Unpacks a stream, which counts for all that may be unpacked.
    pub(super) fn unpacked(&self, dict: &Dict, data: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        self.pay(data.len())?;
        let left = self.work.unpacked.get();
        let Some(unpacked) = filters::unpacked(dict, data, left)? else { return Ok(None) };
        self.work.unpacked.set(left.saturating_sub(unpacked.len()));
        self.work.bytes.set(self.work.bytes.get().saturating_add(unpacked.len() * UNPACKED_READINGS));
        Ok(Some(unpacked.into_owned()))
    }

    /// Reads the value that comes next.
    pub(super) fn value(&self, lexer: &mut Lexer) -> Result<Option<Value>, Unreadable> {
        let (value, count) = Value::read(lexer);
        self.pay(lexer.take_work().saturating_add(count.saturating_mul(VALUE)))?;
        Ok(value)
    }

    /// The dictionary of the object in this place, whatever its number is.
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

    /// What a value says, which may be in another place.
    pub(super) fn resolve(&self, value: &Value) -> Result<Value, Unreadable> {
        let mut value = value.clone();
        for _ in 0..MOST_HOPS {
            let Value::Reference(id) = value else { return Ok(value) };
            value = self.object(id.number)?.map_or(Value::Null, |object| match object.stream {
                Some(_) => Value::Null,
                None => object.value,
            });
        }
        Ok(Value::Null)
    }

    /// Whether the value is null or leads nowhere. An object that cannot be read is not null: others may read it.
    pub(super) fn is_null(&self, value: &Value) -> Result<bool, Unreadable> {
        let Value::Reference(id) = value else { return Ok(*value == Value::Null) };
        if let Some(known) = self.nulls.borrow().get(&id.number) {
            return Ok(*known);
        }
        let (mut number, mut is_null) = (id.number, false);
        for _ in 0..MOST_HOPS {
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

    /// Nothing, if there is no such object or it cannot be read.
    pub(super) fn object(&self, number: u32) -> Result<Option<Object<'a>>, Unreadable> {
        match self.places.get(&number) {
            Some(Place::At { offset, .. }) => self.object_at(number, *offset),
            Some(Place::In { container, index }) => {
                let Some(container) = self.container(*container)? else { return Ok(None) };
                let Some(offset) = container.offset(number, *index) else { return Ok(None) };
                let value = self.value(&mut Lexer::new(&container.data, offset))?;
                Ok(value.map(|value| Object { value, stream: None }))
            }
            Some(Place::Free) | None => {
                // Higher numbers are not given to new objects.
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

    /// The data of a stream that begins behind its first word, and where it ends.
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
        // The length is wrong, so the data end where the next word says that they do.
        let rest = self.bytes.get(start..).unwrap_or_default();
        let found = memmem::find(rest, b"endstream");
        self.pay(found.unwrap_or(rest.len()))?;
        let Some(end) = found else { return Ok(None) };
        let data = rest.get(..end).unwrap_or_default();
        let data = data.strip_suffix(b"\n").unwrap_or(data);
        let data = data.strip_suffix(b"\r").unwrap_or(data);
        Ok(Some((data, start + end + b"endstream".len())))
    }

    /// A length may be an object of its own.
    fn length(&self, value: Option<&Value>) -> Result<Option<usize>, Unreadable> {
        let Some(Value::Reference(id)) = value else { return Ok(value.and_then(Value::number)) };
        match self.places.get(&id.number) {
            Some(Place::At { offset, .. }) => {
                let mut lexer = Lexer::new(self.bytes, *offset);
                let header = header(&mut lexer).filter(|header| header.number == id.number);
                let length = header.and_then(|_| lexer.number());
                self.pay(lexer.take_work())?;
                Ok(length)
            }
            Some(Place::In { container, index }) => {
                let Some(container) = self.container(*container)? else { return Ok(None) };
                let Some(offset) = container.offset(id.number, *index) else { return Ok(None) };
                let mut lexer = Lexer::new(&container.data, offset);
                let length = lexer.number();
                self.pay(lexer.take_work())?;
                Ok(length)
            }
            Some(Place::Free) | None => Ok(None),
        }
    }

    fn container(&self, number: u32) -> Result<Option<Rc<Container>>, Unreadable> {
        if let Some(known) = self.containers.borrow().get(&number) {
            return Ok(known.clone());
        }
        let Some(Place::At { offset, .. }) = self.places.get(&number) else { return Ok(None) };
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
            if objects.len() > xref::MOST_OBJECTS {
                return Err(Unreadable::TooComplex);
            }
        }
        self.pay(lexer.take_work())?;
        Ok(Some(Container { data, objects }))
    }

    /// The numbers of the objects in a stream of objects, in its order.
    pub(super) fn contained(&self, container: u32) -> Result<Vec<u32>, Unreadable> {
        let Some(container) = self.container(container)? else { return Ok(Vec::new()) };
        Ok(container.objects.iter().map(|(number, _)| *number).collect())
    }

    /// Whether the stream of objects has been opened, and another object was in this place.
    pub(super) fn is_misplaced(&self, number: u32, container: u32, index: u32) -> bool {
        let containers = self.containers.borrow();
        containers
            .get(&container)
            .and_then(Option::as_ref)
            .is_some_and(|container| container.offset(number, index).is_none())
    }

    /// Looks at an object without reading all of it. Nothing, if there is none in this place or it does not end.
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

/// Walks over an object to its end. Calls for each key of the outermost dictionary, where the value may be read.
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

/// The number with which an object begins.
pub(super) fn header(lexer: &mut Lexer) -> Option<Id> {
    let id = Id { number: lexer.number()?, generation: lexer.number()? };
    lexer.takes(b"obj").then_some(id)
}

/// Whether there is white space or nothing before this place.
pub(super) fn is_start(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| bytes.get(before)).is_none_or(|byte| is_space(*byte))
}
