//! Excel workbooks (`.xlsx`): the cells of a sheet, as they would be written in CSV.
//!
//! A workbook of a few kilobytes can unpack to gigabytes, so we use our own parser: parts are streamed and bounded,
//! no memory is allocated because of a size that the file declares, and only shared strings and date formats are held
//! in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use attestry_domain::Parse;
use attestry_domain::date::Date;
use bytes::Bytes;
use memchr::memrchr;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

/// The maximum size of all parts that are read, unpacked.
const MAX_UNPACKED_BYTES: usize = 64 << 20;
/// The maximum size of one tag, or of one text between two tags.
const MAX_TOKEN_BYTES: usize = 1 << 20;
/// The maximum size of one cell.
pub(crate) const MAX_CELL_BYTES: usize = 128 << 10;
/// The maximum size of all shared strings, and their maximum number.
const MAX_SHARED_BYTES: usize = 16 << 20;
const MAX_SHARED_STRINGS: usize = 1 << 20;
/// The maximum number of cell formats and number formats; Excel itself allows 65,490.
const MAX_FORMATS: usize = 100_000;
/// The maximum number of sheets, and the maximum length of a sheet name in bytes; Excel itself allows 31 characters.
const MAX_SHEETS: usize = 1_000;
const MAX_SHEET_NAME: usize = 255;
/// The maximum number of sheets listed in an error message.
const SHEETS_TOLD: usize = 20;
/// The valid day numbers of a spreadsheet, up to the end of the year 9999.
const DAYS: std::ops::Range<f64> = 0.0..2_958_466.0;

/// The reason for rejecting a workbook.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// Not a workbook.
    Foreign,
    Damaged,
    TooLarge,
    NoSheet,
    /// The requested sheet does not exist; holds the names of those that do.
    OtherSheets(Vec<String>),
}

impl Unreadable {
    pub(crate) fn detail(&self) -> String {
        match self {
            Self::Foreign => "The file is not an Excel workbook (.xlsx).".to_owned(),
            Self::Damaged => "The Excel workbook is damaged.".to_owned(),
            Self::TooLarge => format!(
                "The Excel workbook is too large when it is unpacked: at most {} MiB in all, {} MiB of it in shared \
                 strings. Send it in parts.",
                MAX_UNPACKED_BYTES >> 20,
                MAX_SHARED_BYTES >> 20
            ),
            Self::NoSheet => "The Excel workbook has no sheet.".to_owned(),
            Self::OtherSheets(names) => {
                format!(
                    "The Excel workbook has no such sheet; its sheets are: {}.",
                    names[..names.len().min(SHEETS_TOLD)].join(", ")
                )
            }
        }
    }
}

/// Kind of the I/O error that a limit causes; any other kind means a damaged file.
fn too_large() -> io::Error {
    io::Error::from(io::ErrorKind::FileTooLarge)
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::FileTooLarge { Self::TooLarge } else { Self::Damaged }
    }
}

impl From<quick_xml::Error> for Unreadable {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            quick_xml::Error::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => Self::TooLarge,
            _ => Self::Damaged,
        }
    }
}

/// A cell: its row and column from 0, and its text or error.
pub(crate) struct Cell {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) text: Result<String, String>,
}

/// An opened workbook.
pub(crate) struct Workbook {
    archive: ZipArchive<Cursor<Bytes>>,
    /// Bytes that may still be unpacked.
    left: usize,
    /// The sheets by their names, each with its part of the archive.
    sheets: Vec<(String, String)>,
    strings: Strings,
    formats: Vec<Format>,
    counts_from_1904: bool,
}

/// A part of the archive, unpacked while it is read.
struct Part<'a, R> {
    reader: BufReader<R>,
    left: &'a mut usize,
    /// Bytes since the start of the last tag.
    token: usize,
}

impl<R: Read> Read for Part<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: Read> BufRead for Part<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.token > MAX_TOKEN_BYTES {
            return Err(too_large());
        }
        let bytes = self.reader.fill_buf()?;
        if *self.left == 0 && !bytes.is_empty() {
            return Err(too_large());
        }
        Ok(&bytes[..bytes.len().min(*self.left)])
    }

    fn consume(&mut self, count: usize) {
        let taken = self.reader.buffer().get(..count).unwrap_or_default();
        self.token = match memrchr(b'<', taken) {
            Some(place) => count - place,
            None => self.token + count,
        };
        *self.left -= count;
        self.reader.consume(count);
    }
}

/// The XML events of a part.
struct Xml<'a, R: Read> {
    reader: Reader<Part<'a, R>>,
    buffer: Vec<u8>,
}

impl<R: Read> Xml<'_, R> {
    fn next(&mut self) -> Result<Event<'_>, Unreadable> {
        self.buffer.clear();
        Ok(self.reader.read_event_into(&mut self.buffer)?)
    }

    /// Calls `f` with each start tag and its local name.
    fn each_element(
        &mut self,
        mut f: impl FnMut(&str, &BytesStart<'_>) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        loop {
            match self.next()? {
                Event::Start(element) => f(element.local_name().as_ref(), &element)?,
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Opens a part by its name, case-insensitively as spreadsheet programs do.
fn xml<'a>(
    archive: &'a mut ZipArchive<Cursor<Bytes>>,
    left: &'a mut usize,
    name: &str,
) -> Result<Option<Xml<'a, impl Read + 'a>>, Unreadable> {
    let is_named = |known: Result<Cow<'_, str>, _>| known.is_ok_and(|known| known.eq_ignore_ascii_case(name));
    let index = archive.index_for_name(name).or_else(|| archive.file_names().position(is_named));
    let Some(index) = index else { return Ok(None) };
    let part = archive.by_index(index).map_err(|_| Unreadable::Damaged)?;
    let mut reader = Reader::from_reader(Part { reader: BufReader::new(part), left, token: 0 });
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    config.check_end_names = false;
    Ok(Some(Xml { reader, buffer: Vec::new() }))
}

/// Returns the value of an attribute by its local name, in any namespace.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    found.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
}

/// Returns the targets of the relationships of a part by their id, with the last segment of their type.
fn relationships(
    archive: &mut ZipArchive<Cursor<Bytes>>,
    left: &mut usize,
    of: &str,
) -> Result<HashMap<String, (String, String)>, Unreadable> {
    let (folder, file) = of.rsplit_once('/').unwrap_or(("", of));
    let slash = if folder.is_empty() { "" } else { "/" };
    let name = format!("{folder}{slash}_rels/{file}.rels");
    let mut all = HashMap::new();
    let Some(mut part) = xml(archive, left, &name)? else { return Ok(all) };
    part.each_element(|name, element| {
        if name != "Relationship" {
            return Ok(());
        }
        if all.len() == MAX_FORMATS {
            return Err(Unreadable::TooLarge);
        }
        let [id, target, kind] = ["Id", "Target", "Type"].map(|name| attribute(element, name));
        if let (Some(id), Some(target), Some(kind)) = (id, target, kind) {
            let target = match target.strip_prefix('/') {
                Some(absolute) => absolute.to_owned(),
                None => format!("{folder}{slash}{target}"),
            };
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            all.insert(id, (kind, target));
        }
        Ok(())
    })?;
    Ok(all)
}

/// The strings that cells share, concatenated.
#[derive(Default)]
struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.text.get(start..end)
    }

    fn read(xml: &mut Xml<'_, impl Read>) -> Result<Self, Unreadable> {
        let (mut all, mut is_text, mut phonetic) = (Self::default(), false, 0_usize);
        loop {
            match xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "t" => is_text = phonetic == 0,
                    "rPh" => phonetic += 1,
                    _ => {}
                },
                Event::End(element) => match element.local_name().as_ref() {
                    "t" => is_text = false,
                    "rPh" => phonetic = phonetic.saturating_sub(1),
                    "si" => {
                        if all.ends.len() == MAX_SHARED_STRINGS {
                            return Err(Unreadable::TooLarge);
                        }
                        all.ends.push(u32::try_from(all.text.len()).map_err(|_| Unreadable::TooLarge)?);
                    }
                    _ => {}
                },
                Event::Eof => return Ok(all),
                event if is_text => push_text(&mut all.text, &event)?,
                _ => {}
            }
            if all.text.len() > MAX_SHARED_BYTES {
                return Err(Unreadable::TooLarge);
            }
        }
    }
}

/// Appends the text of an event between two tags.
fn push_text(text: &mut String, event: &Event<'_>) -> Result<(), Unreadable> {
    match event {
        Event::Text(piece) => text.push_str(piece),
        Event::CData(piece) => text.push_str(piece),
        Event::GeneralRef(reference) => match reference.resolve_char_ref()? {
            Some(character) => text.push(character),
            None => text.push_str(resolve_predefined_entity(reference).ok_or(Unreadable::Damaged)?),
        },
        _ => {}
    }
    Ok(())
}

/// Display format of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Number,
    Date,
    Duration,
}

impl Format {
    /// Returns the built-in format with this number.
    fn built_in(number: u32) -> Self {
        match number {
            14..=22 | 27..=36 | 45 | 47 | 50..=58 => Self::Date,
            46 => Self::Duration,
            _ => Self::Number,
        }
    }

    /// Classifies a custom format code, such as `yyyy-mm-dd` or `[h]:mm`.
    fn own(code: &str) -> Self {
        let (mut characters, mut bracket) = (code.chars(), None::<String>);
        while let Some(character) = characters.next() {
            match (character, &mut bracket) {
                (']', Some(inside)) => {
                    let is_elapsed = !inside.is_empty()
                        && ["h", "m", "s"]
                            .iter()
                            .any(|unit| inside.to_lowercase().replace(unit, "").is_empty());
                    if is_elapsed {
                        return Self::Duration;
                    }
                    bracket = None;
                }
                (_, Some(inside)) => inside.push(character),
                ('[', None) => bracket = Some(String::new()),
                // The next character is literal, is skipped or is repeated.
                ('\\' | '_' | '*', None) => drop(characters.next()),
                ('"', None) => drop(characters.by_ref().find(|character| *character == '"')),
                ('d' | 'D' | 'm' | 'M' | 'y' | 'Y' | 'h' | 'H' | 's' | 'S', None) => return Self::Date,
                ('g' | 'G', None) if code.eq_ignore_ascii_case("general") => return Self::Number,
                _ => {}
            }
        }
        Self::Number
    }

    /// Reads the formats that cells refer to by index.
    fn read(xml: &mut Xml<'_, impl Read>) -> Result<Vec<Self>, Unreadable> {
        let (mut own, mut all, mut is_cell) = (HashMap::new(), Vec::new(), false);
        loop {
            match xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "numFmt" => {
                        let number = attribute(&element, "numFmtId").and_then(|id| id.parse::<u32>().ok());
                        if let (Some(number), Some(code)) = (number, attribute(&element, "formatCode")) {
                            own.insert(number, Self::own(&code));
                        }
                    }
                    "cellXfs" => is_cell = true,
                    "xf" if is_cell => {
                        let number = attribute(&element, "numFmtId").and_then(|id| id.parse::<u32>().ok());
                        let known = number.and_then(|number| own.get(&number).copied());
                        all.push(known.unwrap_or_else(|| Self::built_in(number.unwrap_or(0))));
                    }
                    _ => {}
                },
                Event::End(element) if element.local_name().as_ref() == "cellXfs" => return Ok(all),
                Event::Eof => return Ok(all),
                _ => {}
            }
            if own.len() > MAX_FORMATS || all.len() > MAX_FORMATS {
                return Err(Unreadable::TooLarge);
            }
        }
    }
}

impl Workbook {
    pub(crate) fn open(bytes: Bytes) -> Result<Self, Unreadable> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| Unreadable::Foreign)?;
        let mut left = MAX_UNPACKED_BYTES;
        let root = relationships(&mut archive, &mut left, "")?;
        let book = root.into_values().find(|(kind, _)| kind == "officeDocument");
        let book = book.map_or_else(|| "xl/workbook.xml".to_owned(), |(_, target)| target);
        let (mut listed, mut counts_from_1904) = (Vec::new(), false);
        xml(&mut archive, &mut left, &book)?.ok_or(Unreadable::Foreign)?.each_element(|name, element| {
            match name {
                "sheet" if listed.len() < MAX_SHEETS => {
                    let name = attribute(element, "name").unwrap_or_default();
                    if name.len() > MAX_SHEET_NAME {
                        return Err(Unreadable::Damaged);
                    }
                    listed.extend(attribute(element, "id").map(|id| (name, id)));
                }
                "workbookPr" => {
                    counts_from_1904 =
                        matches!(attribute(element, "date1904").as_deref(), Some("1" | "true" | "on"));
                }
                _ => {}
            }
            Ok(())
        })?;
        let parts = relationships(&mut archive, &mut left, &book)?;
        let sheets = listed.into_iter().filter_map(|(name, id)| match parts.get(&id) {
            Some((kind, target)) if kind == "worksheet" => Some((name, target.clone())),
            _ => None,
        });
        let sheets: Vec<(String, String)> = sheets.collect();
        if sheets.is_empty() {
            return Err(Unreadable::NoSheet);
        }
        let target = |wanted: &str| parts.values().find(|(kind, _)| kind == wanted).map(|(_, target)| target);
        let strings = match target("sharedStrings") {
            Some(name) => xml(&mut archive, &mut left, name)?.map(|mut part| Strings::read(&mut part)),
            None => None,
        };
        let strings = strings.transpose()?.unwrap_or_default();
        let formats = match target("styles") {
            Some(name) => xml(&mut archive, &mut left, name)?.map(|mut part| Format::read(&mut part)),
            None => None,
        };
        let formats = formats.transpose()?.unwrap_or_default();
        Ok(Self { archive, left, sheets, strings, formats, counts_from_1904 })
    }

    /// Returns the size of the data held while the cells are read, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.strings.text.capacity()
            + self.strings.ends.capacity() * size_of::<u32>()
            + self.formats.capacity()
    }

    pub(crate) fn sheets(&self) -> Vec<String> {
        self.sheets.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Calls `f` with each cell of the named or the first sheet, in file order.
    pub(crate) fn each_cell<E: From<Unreadable>>(
        mut self,
        sheet: Option<&str>,
        mut f: impl FnMut(Cell) -> Result<(), E>,
    ) -> Result<(), E> {
        let found = self.sheets.iter().find(|(name, _)| sheet.is_none_or(|wanted| wanted == name));
        let Some((_, target)) = found else { return Err(Unreadable::OtherSheets(self.sheets()).into()) };
        let part = xml(&mut self.archive, &mut self.left, target)?;
        let mut part = part.ok_or(Unreadable::NoSheet)?;
        let values = Values {
            strings: &self.strings,
            formats: &self.formats,
            counts_from_1904: self.counts_from_1904,
        };
        let (mut place, mut open) = ((0, 0), None::<OpenCell>);
        loop {
            match part.next()? {
                Event::Start(element) => match (element.local_name().as_ref(), &mut open) {
                    ("row", None) => {
                        let row = attribute(&element, "r").map(|row| number_of(&row)).transpose()?;
                        place = (row.unwrap_or(place.0), 0);
                    }
                    ("c", None) => {
                        if let Some(reference) = attribute(&element, "r") {
                            place = place_of(&reference)?;
                        }
                        open = Some(OpenCell::begin(&element));
                    }
                    (name, Some(cell)) => cell.starts(name),
                    _ => {}
                },
                Event::End(element) => match (element.local_name().as_ref(), open.take()) {
                    ("c", Some(cell)) => {
                        let (row, column) = place;
                        f(Cell { row, column, text: values.text(&cell) })?;
                        place.1 += 1;
                    }
                    (name, Some(mut cell)) => {
                        cell.ends(name);
                        open = Some(cell);
                    }
                    ("row", None) => place = (place.0 + 1, 0),
                    ("sheetData", None) => return Ok(()),
                    _ => {}
                },
                Event::Eof => return Err(Unreadable::Damaged.into()),
                event => {
                    if let Some(cell) = open.as_mut().filter(|cell| cell.is_text) {
                        // A text above the limit is an error of the cell, not of the file.
                        if cell.text.len() <= MAX_CELL_BYTES {
                            push_text(&mut cell.text, &event)?;
                        }
                    }
                }
            }
        }
    }
}

/// Returns the index of a row, which the file counts from 1.
fn number_of(row: &str) -> Result<usize, Unreadable> {
    let row: u32 = row.parse().map_err(|_| Unreadable::Damaged)?;
    row.checked_sub(1).map(|row| row as usize).ok_or(Unreadable::Damaged)
}

/// Parses a cell reference such as `AB12` into row and column.
fn place_of(reference: &str) -> Result<(usize, usize), Unreadable> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !(1..=3).contains(&letters) {
        return Err(Unreadable::Damaged);
    }
    let (column, row) = reference.split_at(letters);
    let column = column.bytes().fold(0, |sum, b| sum * 26 + usize::from(b.to_ascii_uppercase() - b'A') + 1);
    Ok((number_of(row)?, column - 1))
}

/// A cell that is being read.
struct OpenCell {
    kind: String,
    style: usize,
    text: String,
    is_text: bool,
    /// The depth of nested phonetic hints, whose text is not part of the cell.
    phonetic: usize,
}

impl OpenCell {
    fn begin(element: &BytesStart<'_>) -> Self {
        Self {
            kind: attribute(element, "t").unwrap_or_default(),
            style: attribute(element, "s").and_then(|style| style.parse().ok()).unwrap_or(0),
            text: String::new(),
            is_text: false,
            phonetic: 0,
        }
    }

    fn starts(&mut self, name: &str) {
        match name {
            "v" | "t" => self.is_text = self.phonetic == 0,
            "rPh" => self.phonetic += 1,
            _ => {}
        }
    }

    fn ends(&mut self, name: &str) {
        match name {
            "v" | "t" => self.is_text = false,
            "rPh" => self.phonetic = self.phonetic.saturating_sub(1),
            _ => {}
        }
    }
}

/// Shared strings, styles and date system: the context for reading cells.
struct Values<'a> {
    strings: &'a Strings,
    formats: &'a [Format],
    counts_from_1904: bool,
}

impl Values<'_> {
    /// Returns the text of a cell as it would be written in CSV, or its error.
    fn text(&self, cell: &OpenCell) -> Result<String, String> {
        let value = cell.text.trim();
        match cell.kind.as_str() {
            "s" => {
                let shared = value.parse().ok().and_then(|index| self.strings.get(index));
                plain(shared.ok_or("refers to a text that the workbook does not have")?)
            }
            "b" => Ok(if matches!(value, "1" | "true") { "true" } else { "false" }.to_owned()),
            "e" => Err(format!("holds the error {}", value.chars().take(20).collect::<String>())),
            "d" => plain(value.strip_suffix("T00:00:00").unwrap_or(value)),
            "str" | "inlineStr" => plain(&cell.text),
            _ if value.is_empty() => Ok(String::new()),
            _ => {
                let number: f64 = value.parse().map_err(|_| "is not a number")?;
                match self.formats.get(cell.style).copied().unwrap_or(Format::Number) {
                    Format::Number => Ok(number.to_string()),
                    Format::Date => self.date(number),
                    Format::Duration => Err("is not a date".to_owned()),
                }
            }
        }
    }

    /// Formats a date, with the time unless it is midnight.
    fn date(&self, number: f64) -> Result<String, String> {
        if !DAYS.contains(&number) {
            return Err("is not a date".to_owned());
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was just checked")]
        let seconds = (number * 86_400.0).round() as i64;
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Spreadsheets count a 29 February 1900, which did not exist.
        let first = match self.counts_from_1904 {
            true => "1904-01-01",
            false if days < 60 => "1899-12-31",
            false => "1899-12-30",
        };
        let day = Date::parse(first)?.plus_days(days);
        Ok(match rest {
            0 => day.to_string(),
            _ => format!("{day}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60),
        })
    }
}

/// Decodes the text of a cell. Characters that XML cannot contain are escaped as `_x0007_`.
fn plain(text: &str) -> Result<String, String> {
    if text.len() > MAX_CELL_BYTES {
        return Err("is longer than any field can be".to_owned());
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("_x") {
        let escaped = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let character = escaped.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        let (before, length) = match character {
            Some(_) => (&rest[..at], at + 7),
            None => (&rest[..at + 2], at + 2),
        };
        plain.push_str(before);
        plain.extend(character);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    Ok(plain.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_dates_are_known() {
        for code in
            ["yyyy-mm-dd", "d/m/yy", "[$-409]mmm d, yyyy;@", "h:mm AM/PM", "[Red]dd.mm.yyyy", "\"on\" d"]
        {
            assert_eq!(Format::own(code), Format::Date, "{code}");
        }
        for code in
            ["General", "0.00", "#,##0 \"days\"", "[Red]0;[Blue]-0", "0\\d", "_d0", "@", "0.00E+00", ""]
        {
            assert_eq!(Format::own(code), Format::Number, "{code}");
        }
        for code in ["[h]:mm:ss", "[mm]:ss", "[S]"] {
            assert_eq!(Format::own(code), Format::Duration, "{code}");
        }
        assert_eq!(Format::built_in(14), Format::Date);
        assert_eq!(Format::built_in(2), Format::Number);
    }

    #[test]
    fn days_are_counted_as_spreadsheets_do() {
        let date = |number, counts_from_1904| {
            Values { strings: &Strings::default(), formats: &[], counts_from_1904 }.date(number)
        };
        assert_eq!(date(1.0, false).as_deref(), Ok("1900-01-01"));
        assert_eq!(date(59.0, false).as_deref(), Ok("1900-02-28"));
        assert_eq!(date(61.0, false).as_deref(), Ok("1900-03-01"));
        assert_eq!(date(46418.0, false).as_deref(), Ok("2027-01-31"));
        assert_eq!(date(46418.75, false).as_deref(), Ok("2027-01-31T18:00:00Z"));
        assert_eq!(date(44956.0, true).as_deref(), Ok("2027-01-31"));
        assert_eq!(date(2_958_465.0, false).as_deref(), Ok("9999-12-31"));
        for odd in [-1.0, 2_958_466.0, f64::NAN, f64::INFINITY] {
            assert!(date(odd, false).is_err(), "{odd}");
        }
    }

    #[test]
    fn escaped_characters_are_read() {
        assert_eq!(plain("a_x000A_b_x005F_x0041_").as_deref(), Ok("a\nb_x0041_"));
        assert_eq!(plain(" _x_x00_ _xZZZZ_ ").as_deref(), Ok("_x_x00_ _xZZZZ_"));
        assert_eq!(plain("_x").as_deref(), Ok("_x"));
    }

    #[test]
    fn references_are_read() {
        assert_eq!(place_of("A1").ok(), Some((0, 0)));
        assert_eq!(place_of("ab12").ok(), Some((11, 27)));
        for odd in ["", "1", "A", "A0", "AAAA1", "A99999999999", "A-1", "É1"] {
            assert!(place_of(odd).is_err(), "{odd}");
        }
    }
}
