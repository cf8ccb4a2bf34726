//! Files crafted to take long, use much memory, or crash the server.

use std::fmt::Write;
use std::time::{Duration, Instant};

use attestry_pdf::{Damage, Inspected, Label, StamperError, Unreadable};

use crate::build::{self, Sample, deflated};
use crate::confined;
use crate::read::Stamped;

/// The maximum time for any file, in a debug build on a busy machine: the time limit of a process, and some more.
const MAX_TIME: Duration = Duration::from_secs(40);

fn label() -> Label {
    Label::print(&build::stamp()).unwrap()
}

/// Inspects and stamps a file as the server does, in confined processes.
#[track_caller]
fn survived(bytes: &[u8]) -> Result<usize, Unreadable> {
    let start = Instant::now();
    let inspected = confined::run(async |stamper| {
        let inspected = stamper.inspect(bytes).await;
        if inspected.is_ok() {
            stamper.stamp(bytes, &label()).await.unwrap();
        }
        inspected
    });
    assert!(start.elapsed() < MAX_TIME, "it took {:?}", start.elapsed());
    match inspected {
        Ok(Inspected { pages }) => Ok(pages),
        Err(StamperError::Unreadable(reason)) => Err(reason),
        Err(other) => panic!("{other}"),
    }
}

fn with(change: impl FnOnce(&mut Sample)) -> Vec<u8> {
    let mut sample = Sample::hello();
    change(&mut sample);
    sample.bytes()
}

#[test]
fn circles_end() {
    let circle = Err(Unreadable::Damaged(Damage::PageTreeLoop));
    assert_eq!(survived(&with(|sample| sample.set(2, "<</Type /Pages /Kids [2 0 R]>>"))), circle);
    let nested = with(|sample| {
        sample.set(2, "<</Type /Pages /Kids [3 0 R 10 0 R]>>");
        sample.set(3, "<</Type /Pages /Parent 3 0 R /Kids [10 0 R 2 0 R]>>");
    });
    assert_eq!(survived(&nested), circle);
    let page = |entries: &'static str| {
        with(move |sample| {
            sample.set(10, &format!("<</Type /Page /Parent 10 0 R /MediaBox [0 0 99 99] {entries}>>"));
            sample.set(7, "8 0 R");
            sample.set(8, "7 0 R");
        })
    };
    for entries in [
        "/Resources 10 0 R",
        "/Resources 7 0 R /Contents 7 0 R",
        "/Resources <</XObject 10 0 R>>",
        "/Rotate 7 0 R",
        "/Contents 10 0 R",
        "/Contents [10 0 R 7 0 R]",
        "/Resources 2 0 R",
        "/Resources <</XObject 1 0 R>>",
    ] {
        assert_eq!(survived(&page(entries)), Ok(1), "{entries}");
        Stamped::new(&page(entries)).placements(1);
    }
}

#[test]
fn lengths_may_lie() {
    for length in ["6 0 R", "7 0 R", "99 0 R", "-1", "0", "5", "99999999999999999999", "null", "[1]"] {
        let bytes = with(|sample| {
            let data = b"\nstream\nBT /F1 24 Tf 72 700 Td (Hello) Tj ET\nendstream";
            sample.objects.insert(6, [format!("<</Length {length}>>").as_bytes(), data].concat());
            sample.set(7, "6 0 R");
        });
        assert_eq!(survived(&bytes), Ok(1), "{length}");
    }
}

#[test]
fn tables_may_lead_in_circles() {
    let mut sample = Sample::hello();
    let start = memchr::memmem::rfind(&sample.bytes(), b"xref\n0 1").unwrap();
    write!(sample.trailer, " /Prev {start} /XRefStm {start}").unwrap();
    assert_eq!(survived(&sample.bytes()), Ok(1));
    sample.trailer = "/Root 1 0 R /Prev 5".into();
    assert_eq!(survived(&sample.bytes()), Ok(1));
}

#[test]
fn a_damaged_table_is_mended() {
    let bytes = Sample::hello().bytes();
    let stamped = |bytes: &[u8]| Stamped::new(bytes).assert_page(1, "Hello");
    // Junk before the file, within it, and a truncated end.
    stamped(&[b"junk\n", &bytes[..]].concat());
    let at = memchr::memmem::find(&bytes, b"2 0 obj").unwrap();
    stamped(&[&bytes[..at], b"% a remark\n", &bytes[at..]].concat());
    let end = memchr::memmem::rfind(&bytes, b"xref\n0 1").unwrap();
    stamped(&bytes[..end]);
    stamped(&[&bytes[..end], b"trailer <</Root 1 0 R>>"].concat());
    let packed = Sample::hello().packed();
    let end = memchr::memmem::rfind(&packed, b"startxref").unwrap();
    stamped(&packed[..end]);
}

#[test]
fn deep_nesting_is_no_recursion() {
    for open in ["[", "<</A ", "(", "<</A [", "<<"] {
        let deep = open.repeat(1_000_000);
        assert!(survived(&with(|sample| sample.set(10, &deep))).is_err());
        assert_eq!(survived(&with(|sample| sample.set(30, &deep))), Ok(1));
        let closed =
            format!("<</Type /Page /MediaBox [0 0 9 9] /X {}{}>>", "[".repeat(100_000), "]".repeat(100_000));
        assert!(survived(&with(|sample| sample.set(10, &closed))).is_err());
    }
    // A page tree in which each node has one child.
    let mut sample = Sample::hello();
    for number in 100..15_000 {
        sample.set(number, &format!("<</Type /Pages /Kids [{} 0 R]>>", number + 1));
    }
    sample.set(15_000, "<</Type /Page>>");
    sample.set(2, "<</Type /Pages /Kids [100 0 R]>>");
    assert_eq!(survived(&sample.bytes()), Ok(1));
}

#[test]
fn what_unpacks_to_too_much_is_refused() {
    let bomb = deflated(&vec![b' '; 200 << 20]);
    let in_container = with(|sample| {
        sample.stream(7, "/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &bomb);
        sample.set(2, "null");
    });
    // The cross-reference table says that the pages are in the stream.
    let at = memchr::memmem::rfind(&in_container, b"startxref").unwrap();
    assert_eq!(survived(&in_container[..at]), Err(Unreadable::Unpacks));

    let mut table = b"%PDF-1.7\n".to_vec();
    table.extend(
        format!("1 0 obj\n<</Type /XRef /W [1 2 1] /Size 5 /Root 1 0 R /Filter /FlateDecode /Length {}>>\nstream\n", bomb.len())
            .into_bytes(),
    );
    table.extend(&bomb);
    table.extend(b"\nendstream\nendobj\nstartxref\n9\n%%EOF");
    assert_eq!(survived(&table), Err(Unreadable::Unpacks));

    // Content streams must be parsed.
    let drawn = with(|sample| sample.stream(6, "/Filter /FlateDecode", &bomb));
    assert_eq!(survived(&drawn), Err(Unreadable::LargePage));
    let large = deflated(&vec![b' '; 11 << 20]);
    let numbers: Vec<_> = (20..29).map(|number| format!("{number} 0 R")).collect();
    let mut sample = Sample::new("", &[&format!("/Contents [{}]", numbers.join(" "))]);
    (20..29).for_each(|number| sample.stream(number, "/Filter /FlateDecode", &large));
    assert_eq!(survived(&sample.bytes()), Err(Unreadable::TooComplex));
}

/// A page with "Hello", then these bytes, and a table that also has these object numbers at these offsets in them.
fn with_rows(tail: &[u8], rows: impl Iterator<Item = (u32, usize)>) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut table = String::from("0 1\n0000000000 65535 f \n");
    let mut row = |number, offset| writeln!(table, "{number} 1\n{offset:010} 00000 n ").unwrap();
    for (number, object) in Sample::hello().objects {
        row(number, bytes.len());
        bytes.extend(format!("{number} 0 obj\n").into_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    rows.for_each(|(number, place)| row(number, bytes.len() + place));
    bytes.extend(tail);
    let start = bytes.len();
    bytes.extend(
        format!("xref\n{table}trailer\n<</Size 20000 /Root 1 0 R>>\nstartxref\n{start}\n%%EOF").into_bytes(),
    );
    bytes
}

#[test]
fn objects_that_overlap_are_refused() {
    const NUMBERS: std::ops::Range<u32> = 100..20_000;
    const DATA: usize = 2 << 20;
    let header = |number: u32, length: usize| format!("{number:05} 0 obj<</Length {length:010}>>stream\n");
    let size = header(0, 0).len();
    // The data of each stream consists of all the later ones and the data they share.
    let mut tail = Vec::new();
    for (number, behind) in NUMBERS.zip((0..NUMBERS.len()).rev()) {
        tail.extend(header(number, behind * size + DATA).into_bytes());
    }
    tail.extend(vec![b' '; DATA]);
    tail.extend(b"\nendstream\nendobj\n");
    let bytes = with_rows(&tail, NUMBERS.zip((0..).step_by(size)));
    assert_eq!(survived(&bytes), Err(Unreadable::Damaged(Damage::OverlappingObjects)));
}

/// Bytes that start like an object but are none, for many numbers.
pub(crate) fn takes_long() -> Vec<u8> {
    with_gap(&" ".repeat(3 << 20))
}

fn with_gap(gap: &str) -> Vec<u8> {
    with_rows(format!("100 0 {gap}").as_bytes(), (100..20_000).map(|number| (number, 0)))
}

#[test]
fn what_takes_too_long_is_refused() {
    let comments = format!("%{}\n", "-".repeat(62)).repeat(3 << 14);
    for bytes in [takes_long(), with_gap(&comments)] {
        assert_eq!(survived(&bytes), Err(Unreadable::TooComplex));
    }
}

#[test]
fn an_object_that_many_refer_to_is_read_once() {
    let spaces = " ".repeat(3 << 20);
    let comments = format!("%{}\n", "-".repeat(62)).repeat(3 << 14);
    // One of the pages is replaced by an object that all pages refer to.
    let no_page = Err(Unreadable::Damaged(Damage::NoPageTree));
    for (object, outcome) in [
        (format!("1 0 {spaces}"), no_page),
        (format!("1 0 {comments}"), no_page),
        (format!("<<>> {spaces}"), Ok(4_000)),
        (format!("<</Length 5>> stream\n12345{spaces}endobj endstream"), no_page),
        (format!("<</Length 5>> stream\n12345{spaces}endstream"), no_page),
        (format!("{}({spaces})", "[".repeat(64)), no_page),
    ] {
        let mut sample = Sample::new("", &vec!["/Rotate 100 0 R"; 4_000]);
        sample.set(100, &object);
        assert_eq!(survived(&sample.bytes()), outcome, "{object:.40}");
    }
    // A length in an object stream that many others refer to.
    let mut sample = Sample::hello();
    let lengths = deflated(format!("50 0 {}5", " ".repeat(8 << 20)).as_bytes());
    sample.stream(40, "/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode", &lengths);
    for number in 100..4_000 {
        sample.set(number, "<</Length 50 0 R>>\nstream\n12345\nendstream");
    }
    let bytes = sample.bytes();
    let end = memchr::memmem::rfind(&bytes, b"xref\n0 1").unwrap();
    assert_eq!(survived(&bytes[..end]), Ok(1));
}

#[test]
fn many_small_objects_are_bounded() {
    let mut many = b"%PDF-1.4\n".to_vec();
    for _ in 0..700_000 {
        many.extend(b"7 0 obj\n(\n");
    }
    assert!(survived(&many).is_err());
    let mut sample = Sample::hello();
    for number in 100..60_000 {
        sample.set(number, "0");
    }
    assert_eq!(survived(&sample.bytes()), Ok(1));
    sample.set(9, &format!("[{}]", "0 ".repeat(3_000_000)));
    assert_eq!(survived(&sample.bytes()), Ok(1));
    sample.set(2, &format!("<</Kids [{}]>>", "10 0 R ".repeat(150_000)));
    assert_eq!(survived(&sample.bytes()), Err(Unreadable::TooManyPages));
}

#[test]
fn one_thing_used_by_all_pages_is_read_once() {
    let page = "/MediaBox [0 0 99 99] /Resources 7 0 R /Contents 6 0 R";
    let mut sample = Sample::new("", &vec![page; 4_000]);
    let names = (0..20_000).fold(String::new(), |names, number| names + &format!("/N{number} 5 0 R "));
    sample.set(7, &format!("<</XObject <<{names}>>>>"));
    sample.stream(6, "", "q Q ".repeat(500_000).as_bytes());
    assert_eq!(survived(&sample.bytes()), Ok(4_000));
}

#[test]
fn numbers_may_be_huge() {
    let bytes = Sample::hello().bytes();
    for (from, to) in [
        ("10 1\n", "4294967295 1\n"),
        ("10 1\n", "10 4294967295\n"),
        ("0 1\n", "0 99999999999999999999\n"),
        ("/Size 11", "/Size -5"),
        ("/Size 11", "/Size 99999999999999999999"),
        ("/Root 1 0 R", "/Root 4294967295 65535 R"),
    ] {
        let text: Vec<u8> = String::from_utf8_lossy(&bytes).replace(from, to).into_bytes();
        let _ = survived(&text);
    }
}

#[test]
fn streams_of_places_may_say_anything() {
    for entries in [
        "/W [1 2 1] /Index [18446744073709551615 9]",
        "/W [1 2 1] /Index [4294967295 9 0 18446744073709551615]",
        "/W [8 8 8] /Index [0]",
        "/W [0 0 0]",
        "/W [18446744073709551615 1 1]",
        "/W [1 2 1] /DecodeParms <</Predictor 12 /Columns 18446744073709551615>>",
        "/W [1 2 1] /Size -1",
    ] {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        let data = deflated(&[1; 400]);
        let dictionary =
            format!("/Type /XRef /Root 1 0 R /Filter /FlateDecode /Length {} {entries}", data.len());
        bytes.extend(format!("1 0 obj\n<<{dictionary}>>\nstream\n").into_bytes());
        bytes.extend(data);
        bytes.extend(b"\nendstream\nendobj\nstartxref\n9\n%%EOF");
        assert!(survived(&bytes).is_err(), "{entries}");
    }
}

/// A random number generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

#[test]
fn no_garbage_brings_it_down() {
    const WORDS: [&[u8]; 16] = [
        b"obj",
        b"endobj",
        b"stream",
        b"endstream",
        b"<<",
        b">>",
        b"[",
        b"]",
        b"(",
        b" 0 R ",
        b"/Kids",
        b"/Length",
        b"xref",
        b"trailer",
        b"-1",
        b"99999999999",
    ];
    let mut dice = Dice(7);
    let policy =
        attestry_pdf::policy(&attestry_pdf::Document { title: "Policy".into(), ..Default::default() })
            .unwrap();
    let samples = [Sample::hello().bytes(), Sample::hello().packed(), policy.bytes];
    let start = Instant::now();
    let mut accepted = 0;
    for round in 0..600 {
        let mut bytes = samples[round % samples.len()].clone();
        for _ in 0..=dice.roll(12) {
            let at = dice.roll(bytes.len());
            match dice.roll(5) {
                0 => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
                1 => bytes.truncate(at + 1),
                2 => drop(bytes.splice(at..at, WORDS[dice.roll(WORDS.len())].iter().copied())),
                3 => {
                    let end = (at + dice.roll(40)).min(bytes.len());
                    drop(bytes.drain(at..end));
                    if bytes.is_empty() {
                        bytes.push(0);
                    }
                }
                _ => {
                    let end = (at + dice.roll(200)).min(bytes.len());
                    let part = bytes[at..end].to_vec();
                    let to = dice.roll(bytes.len());
                    drop(bytes.splice(to..to, part));
                }
            }
        }
        // An accepted file can be stamped, and the result is accepted again.
        if attestry_pdf::inspect(&bytes).is_ok() {
            accepted += 1;
            if round % 20 == 0 {
                let stamped = attestry_pdf::stamp(&bytes, &build::stamp()).unwrap();
                attestry_pdf::inspect(&stamped).unwrap();
            }
        }
    }
    assert!(accepted > 60, "{accepted}");
    assert!(start.elapsed() < 3 * MAX_TIME, "{:?}", start.elapsed());
}
