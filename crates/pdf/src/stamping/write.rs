//! Writes a PDF: unchanged objects verbatim, then changed and new ones.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::Unreadable;
use super::file::{File, ObjectLocation, Outline};
use super::value::{Dict, Id, Value};

const OVERLAP: Unreadable = Unreadable::Damaged("its objects overlap");
const TOO_LONG: Unreadable = Unreadable::TooComplex;

/// The first PDF version with all features used here.
const VERSION: &str = "1.7";

/// A new object.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub value: Value,
    /// The data after a dictionary.
    pub stream: Option<Vec<u8>>,
}

struct Writer {
    out: Vec<u8>,
    places: BTreeMap<u32, ObjectLocation>,
}

pub(super) fn write(
    file: &File,
    changed: &BTreeMap<u32, Value>,
    added: &[(u32, Part)],
) -> Result<Vec<u8>, Unreadable> {
    let mut writer =
        Writer { out: Vec::with_capacity(file.bytes.len() + (256 << 10)), places: BTreeMap::new() };
    writer.out.extend(format!("%PDF-{}\n", version(file.bytes)).into_bytes());
    // Bytes that mark the file as binary.
    writer.out.extend(b"%\xE2\xE3\xCF\xD3\n");
    writer.copy(file, changed)?;
    for (number, value) in changed {
        let generation = match file.places.get(number) {
            Some(ObjectLocation::At { generation, .. }) => *generation,
            _ => 0,
        };
        writer.object(Id { number: *number, generation }, value, None);
    }
    for (number, Part { value, stream }) in added {
        writer.object(Id::new(*number), value, stream.as_deref());
    }
    let next = added.iter().map(|(number, _)| *number).max().unwrap_or_default().max(file.last_number()) + 1;
    writer.finish(next, &file.trailer)
}

/// The version of the file if it is higher than ours, else ours.
fn version(bytes: &[u8]) -> &str {
    let version = bytes.get(5..8).and_then(|version| std::str::from_utf8(version).ok()).unwrap_or_default();
    if version == "2.0" { version } else { VERSION }
}

impl Writer {
    /// Copies all unchanged objects.
    fn copy(&mut self, file: &File, changed: &BTreeMap<u32, Value>) -> Result<(), Unreadable> {
        let mut copied = 0;
        for (number, place) in file.places.iter().filter(|(number, _)| !changed.contains_key(number)) {
            let ObjectLocation::At { offset, .. } = *place else { continue };
            let Some(outline) = file.outline(offset)? else { continue };
            let Outline { id, end, kind, is_linearization, stream } = outline;
            if id.number != *number || is_linearization || kind.as_deref() == Some(b"XRef") {
                continue;
            }
            let object = file.bytes.get(offset..end).unwrap_or_default();
            copied += object.len();
            if copied > file.bytes.len() {
                return Err(OVERLAP);
            }
            self.begin(id);
            self.out.extend(object);
            self.out.extend_from_slice(if stream.is_some() { b"\nendobj\n" } else { b"\n" });
        }
        for (number, place) in file.places.iter().filter(|(number, _)| !changed.contains_key(number)) {
            // Drop misplaced entries: readers that ignore the index would find an object that was not parsed here.
            if let ObjectLocation::In { container, index } = place
                && self.places.contains_key(container)
                && !file.is_misplaced(*number, *container, *index)
            {
                self.places.insert(*number, *place);
            }
        }
        Ok(())
    }

    fn begin(&mut self, Id { number, generation }: Id) {
        self.places.insert(number, ObjectLocation::At { offset: self.out.len(), generation });
    }

    fn object(&mut self, id: Id, value: &Value, stream: Option<&[u8]>) {
        self.begin(id);
        self.out.extend(format!("{} {} obj\n", id.number, id.generation).into_bytes());
        match (value, stream) {
            (Value::Dict(dict), Some(data)) => {
                let mut dict = dict.clone();
                dict.set("Length", Value::number_of(data.len()));
                Value::Dict(dict).write(&mut self.out);
                self.out.extend(b"\nstream\n");
                self.out.extend(data);
                self.out.extend(b"\nendstream");
            }
            _ => value.write(&mut self.out),
        }
        self.out.extend(b"\nendobj\n");
    }

    /// Writes the cross-reference stream and ends the file.
    fn finish(mut self, number: u32, trailer: &Dict) -> Result<Vec<u8>, Unreadable> {
        let start = self.out.len();
        self.places.insert(0, ObjectLocation::Free);
        self.places.insert(number, ObjectLocation::At { offset: start, generation: 0 });
        let mut rows = Vec::new();
        for place in self.places.values() {
            let (kind, first, second): (u8, usize, u32) = match *place {
                ObjectLocation::Free => (0, 0, u32::from(u16::MAX)),
                ObjectLocation::At { offset, generation } => (1, offset, generation.into()),
                ObjectLocation::In { container, index } => (2, container as usize, index),
            };
            rows.push(kind);
            rows.extend(u32::try_from(first).map_err(|_| TOO_LONG)?.to_be_bytes());
            rows.extend(second.to_be_bytes());
        }
        let mut dict = Dict(vec![
            (b"Type".into(), Value::name_of("XRef")),
            (b"Size".into(), Value::number_of(number + 1)),
            (b"W".into(), Value::Array([1, 4, 4].map(Value::number_of).into())),
            (b"Index".into(), Value::Array(self.ranges())),
            (b"Filter".into(), Value::name_of("FlateDecode")),
        ]);
        for key in ["Root", "Info", "ID"] {
            if let Some(value) = trailer.get(key) {
                dict.set(key, value.clone());
            }
        }
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(&rows).map_err(|_| TOO_LONG)?;
        let packed = packed.finish().map_err(|_| TOO_LONG)?;
        self.object(Id::new(number), &Value::Dict(dict), Some(&packed));
        self.out.extend(format!("startxref\n{start}\n%%EOF\n").into_bytes());
        Ok(self.out)
    }

    /// The first number and the length of each run of consecutive numbers.
    fn ranges(&self) -> Vec<Value> {
        let numbers: Vec<_> = self.places.keys().copied().collect();
        numbers
            .chunk_by(|one, next| one + 1 == *next)
            .flat_map(|run| [run.first().copied().unwrap_or_default() as usize, run.len()])
            .map(Value::number_of)
            .collect()
    }
}
