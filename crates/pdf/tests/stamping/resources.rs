use std::collections::HashSet;
use std::fmt::Write;

use crate::build::{Sample, deflated, stamp};
use crate::read::{Stamped, squeeze};

const SIZE: &str = "/MediaBox [0 0 595 842]";

fn content(sample: &mut Sample) {
    sample.stream(6, "", b"BT /F1 24 Tf 72 700 Td (Hello) Tj ET");
}

#[test]
fn text_stays_and_the_stamp_can_be_read() {
    for bytes in [Sample::hello().bytes(), Sample::hello().packed()] {
        Stamped::new(&bytes).assert_page(1, "Hello");
    }
}

#[test]
fn contents_may_be_anything() {
    let resources = "/Resources <</Font <</F1 5 0 R>>>>";
    for (contents, text) in [
        ("", ""),
        ("/Contents 6 0 R", "Hello"),
        ("/Contents [6 0 R]", "Hello"),
        ("/Contents [6 0 R 6 0 R]", "HelloHello"),
        ("/Contents 7 0 R", "HelloHello"),
        ("/Contents []", ""),
        ("/Contents 99 0 R", ""),
        ("/Contents null", ""),
        ("/Contents (text)", ""),
    ] {
        let mut sample = Sample::new("", &[&format!("{SIZE} {resources} {contents}")]);
        content(&mut sample);
        sample.set(7, "[6 0 R 6 0 R]");
        Stamped::new(&sample.bytes()).assert_page(1, text);
    }
}

#[test]
fn what_is_left_open_is_closed() {
    for open in [
        "q 9 0 0 9 500 500 cm",
        "q q q 0 0 1 1 re W n q",
        "Q Q 5 0 0 5 0 0 cm",
        "Q q Q Q q q",
        "/OC /Hidden BDC /P BMC",
        "BT 3 Tr",
        "BI /W 1 /H 1 ID Q Q Q EI q q",
        "(Q Q) Tj q",
    ] {
        for filter in [false, true] {
            let mut sample = Sample::new("", &[&format!("{SIZE} /Contents [6 0 R 7 0 R]")]);
            let (entries, data) = if filter {
                ("/Filter [/FlateDecode]", deflated(open.as_bytes()))
            } else {
                ("", open.into())
            };
            sample.stream(6, entries, &data);
            sample.stream(7, "", b"q 1 0 0 1 0 0 cm");
            let stamped = Stamped::new(&sample.bytes());
            assert_eq!(stamped.placements(1).len(), 1, "{open}");
            let content = stamped.document.get_page_content(stamped.page(1));
            let count = |word: &str| {
                let content = String::from_utf8_lossy(&content).into_owned();
                content.split_whitespace().filter(|found| *found == word).count()
            };
            assert_eq!(count("BMC") + count("BDC"), count("EMC"), "{open}");
            assert_eq!(count("BT"), count("ET"), "{open}");
        }
    }
}

#[test]
fn resources_may_be_anywhere() {
    let fonts = "<</Font <</F1 5 0 R>>>>";
    for (tree, page) in [
        ("", format!("/Resources {fonts}")),
        ("", "/Resources 7 0 R".into()),
        ("", "/Resources 8 0 R".into()),
        (&*format!("/Resources {fonts}"), String::new()),
        ("/Resources 7 0 R", String::new()),
        ("/Resources <</Font <<>>>>", "/Resources 7 0 R".into()),
        ("/Resources 7 0 R", "/Resources null".into()),
        ("", "/Resources <</Font <</F1 5 0 R>> /XObject 9 0 R>>".into()),
        ("", "/Resources <</Font <</F1 5 0 R>> /XObject 99 0 R>>".into()),
    ] {
        let page = format!("{SIZE} /Contents 6 0 R {page}");
        let mut sample = Sample::new(tree, &[&page, &page, &page]);
        content(&mut sample);
        sample.set(7, fonts);
        sample.set(8, "7 0 R");
        sample.set(9, "<</Drawing 5 0 R>>");
        let original = lopdf::Document::load_mem(&sample.bytes()).unwrap();
        let stamped = Stamped::new(&sample.bytes());
        for number in 1..=3 {
            assert_eq!(stamped.placements(number).len(), 1, "{tree} {page}");
            assert_eq!(squeeze(&original.extract_text(&[number]).unwrap()), stamped.text(number), "{page}");
            let label = stamped.document.get_object(stamped.label(number)).unwrap();
            assert_eq!(label.as_stream().unwrap().dict.get(b"Subtype").unwrap().as_name().unwrap(), b"Form");
            let fonts = stamped.dictionary(stamped.resources(number).get(b"Font").unwrap());
            assert!(fonts.has(b"F1"), "{tree} {page}");
        }
        let labels: HashSet<_> = [7, 2, 10]
            .iter()
            .filter_map(|number| stamped.document.get_dictionary((*number, 0)).ok())
            .map(|dictionary| format!("{dictionary:?}").matches("AttestryStamp").count())
            .collect();
        assert!(labels.iter().all(|count| *count <= 1), "{tree} {page}: {labels:?}");
    }
}

#[test]
fn names_do_not_clash() {
    let once = Stamped::new(&Sample::hello().bytes());
    let twice = Stamped::new(&once.bytes);
    assert_eq!(twice.placements(1).len(), 2);
    assert_ne!(twice.label(1), once.label(1));
    let names = twice.dictionary(twice.resources(1).get(b"XObject").unwrap());
    assert_eq!(names.len(), 2);
    twice.assert_page(1, "Hello");
}

#[test]
fn a_page_that_is_shown_twice_is_stamped_once() {
    let mut sample = Sample::hello();
    sample.set(2, "<</Type /Pages /Kids [10 0 R 10 0 R] /Count 2>>");
    assert_eq!(Stamped::new(&sample.bytes()).placements(1).len(), 1);
}

#[test]
fn new_objects_have_new_numbers() {
    let mut sample = Sample::hello();
    sample.trailer += " /Size 1000";
    let stamped = Stamped::new(&sample.bytes());
    stamped.assert_page(1, "Hello");
    assert!(stamped.label(1).0 >= 1_000);
}

/// Otherwise a file could refer to an object that stamping adds, and hide the label.
#[test]
fn what_leads_nowhere_still_does_so_afterwards() {
    for number in 11..20 {
        let missing = format!("{number} 0 R");
        let page = format!("{SIZE} /Resources {missing} /Contents [6 0 R {missing}]");
        let mut sample = Sample::new("/Resources 7 0 R", &[&page]);
        content(&mut sample);
        sample.set(7, "<</Font <</F1 5 0 R>>>>");
        sample.set(2, "<</Type /Pages /Kids [3 0 R] /Count 1 /Resources 7 0 R>>");
        sample
            .set(3, &format!("<</Type /Pages /Parent 2 0 R /Kids [10 0 R] /Count 1 /Resources {missing}>>"));
        sample.set(10, &format!("<</Type /Page /Parent 3 0 R {page}>>"));
        let stamped = Stamped::new(&sample.bytes());
        assert!(stamped.document.get_object((number, 0)).is_err(), "{number}");
        let page = stamped.document.get_dictionary(stamped.page(1)).unwrap();
        assert!(!page.has(b"Resources"));
        assert_eq!(page.get(b"Contents").unwrap().as_array().unwrap().len(), 3);
        let tree = stamped.document.get_dictionary((7, 0)).unwrap();
        assert!(tree.has(b"XObject"), "{number}");
    }
}

#[test]
fn resources_that_are_null_are_those_from_above() {
    for own in ["null", "30 0 R", "31 0 R", "99 0 R"] {
        let page = format!("{SIZE} /Contents 6 0 R /Resources {own}");
        let mut sample = Sample::new("/Resources <</Font <</F1 5 0 R>>>>", &[&page]);
        content(&mut sample);
        sample.set(30, "null");
        sample.set(31, "30 0 R");
        let stamped = Stamped::new(&sample.bytes());
        assert_eq!(stamped.placements(1).len(), 1, "{own}");
        assert!(stamped.resources(1).has(b"Font") && stamped.resources(1).has(b"XObject"), "{own}");
    }
}

#[test]
fn a_page_is_what_says_so() {
    let mut sample = Sample::hello();
    sample.set(10, "<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources <</Font <</F1 5 0 R>>>> /Contents 6 0 R /Kids [20 0 R]>>");
    sample.set(20, "<</Type /Page /Parent 10 0 R /MediaBox [0 0 595 842]>>");
    assert_eq!(attestry_pdf::inspect(&sample.bytes()).unwrap().pages, 1);
    let stamped = Stamped::new(&sample.bytes());
    stamped.assert_page(1, "Hello");
    assert!(!stamped.document.get_dictionary((10, 0)).unwrap().has(b"Kids"));
}

/// Readers join content streams in different ways: with nothing, a space or a newline.
#[test]
fn contents_are_parted() {
    let mut sample = Sample::new("", &[&format!("{SIZE} /Contents [6 0 R 7 0 R]")]);
    sample.stream(6, "", b"q 1 0 0 1 9000 0 cm q %");
    sample.stream(7, "", b"Q Q");
    let stamped = Stamped::new(&sample.bytes());
    let contents = stamped.document.get_dictionary(stamped.page(1)).unwrap().get(b"Contents").unwrap();
    let contents: Vec<_> =
        contents.as_array().unwrap().iter().map(|content| content.as_reference().unwrap()).collect();
    assert_eq!((contents.len(), contents[1].0, contents[3].0), (5, 6, 7));
    let between = stamped.document.get_object(contents[2]).unwrap().as_stream().unwrap();
    assert_eq!(between.content, b"\n");
}

/// An object stream in which two objects have the same number, and a table that selects one of them.
#[test]
fn objects_are_found_by_their_place() {
    let page =
        |side: u32| format!("<</Type /Page /Parent 2 0 R /MediaBox [0 0 {side} {side}] /Resources 6 0 R>>");
    let objects = [
        (1, "<</Type /Catalog /Pages 2 0 R>>".to_owned()),
        (2, "<</Type /Pages /Kids [5 0 R] /Count 1>>".to_owned()),
        (5, page(100)),
        (5, page(200)),
        (6, "<</Font <<>>>>".to_owned()),
    ];
    let (mut header, mut body) = (String::new(), String::new());
    for (number, object) in &objects {
        write!(header, "{number} {} ", body.len()).unwrap();
        write!(body, "{object} ").unwrap();
    }
    let file = |page: u8, resources: u8| {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        let container = bytes.len();
        let entries = format!("/Type /ObjStm /N {} /First {}", objects.len(), header.len());
        let length = header.len() + body.len();
        bytes.extend(
            format!("3 0 obj\n<<{entries} /Length {length}>>\nstream\n{header}{body}\nendstream\nendobj\n")
                .into_bytes(),
        );
        let start = bytes.len();
        let place =
            |offset: usize| [1, u8::try_from(offset >> 8).unwrap(), u8::try_from(offset & 255).unwrap(), 0];
        let rows = [
            [0; 4],
            [2, 0, 3, 0],
            [2, 0, 3, 1],
            place(container),
            place(start),
            [2, 0, 3, page],
            [2, 0, 3, resources],
        ];
        bytes.extend(b"4 0 obj\n<</Type /XRef /W [1 2 1] /Size 7 /Root 1 0 R /Length 28>>\nstream\n");
        bytes.extend(rows.concat());
        bytes.extend(format!("\nendstream\nendobj\nstartxref\n{start}\n%%EOF").into_bytes());
        bytes
    };
    let placed = |side: u32| {
        Stamped::new(&Sample::new("", &[&format!("/MediaBox [0 0 {side} {side}]")]).bytes()).placements(1)
    };
    assert_eq!(Stamped::new(&file(2, 4)).placements(1), placed(100));
    assert_eq!(Stamped::new(&file(3, 4)).placements(1), placed(200));
    // Another object has that index, so the file is scanned and the last one wins.
    assert_eq!(Stamped::new(&file(0, 4)).placements(1), placed(200));
    // Resources that some readers would find although their index is wrong.
    let stamped = Stamped::new(&file(3, 1));
    assert!(stamped.resources(1).has(b"XObject"));
}

#[test]
fn everything_else_stays() {
    let mut sample = Sample::hello();
    sample.set(1, "<</Type /Catalog /Pages 2 0 R /Outlines 20 0 R /AcroForm <</Fields [21 0 R]>> /OpenAction <</S /GoTo /D [10 0 R /Fit]>> /StructTreeRoot 22 0 R /MarkInfo <</Marked true>>>>");
    sample.set(20, "<</Type /Outlines /First 23 0 R /Last 23 0 R>>");
    sample.set(21, "<</FT /Sig /T (Signature) /V <</Type /Sig /ByteRange [0 1 2 3] /Contents <00ff>>>>>");
    sample.set(22, "<</Type /StructTreeRoot /K []>>");
    sample.set(23, "<</Title (Begin) /Parent 20 0 R /Dest [10 0 R /Fit]>>");
    sample.set(24, "<</Producer (Sample) /Weight 0.123456789012>>");
    sample.trailer += " /Info 24 0 R /ID [<01> <02>]";
    for bytes in [sample.bytes(), sample.packed()] {
        let stamped = Stamped::new(&bytes);
        stamped.assert_page(1, "Hello");
        let catalog = stamped.document.catalog().unwrap();
        for key in ["Outlines", "AcroForm", "OpenAction", "StructTreeRoot", "MarkInfo"] {
            assert!(catalog.has(key.as_bytes()), "{key}");
        }
        for number in 20..=24 {
            assert!(stamped.document.get_dictionary((number, 0)).is_ok(), "{number}");
        }
        assert!(stamped.document.trailer.has(b"Info") && stamped.document.trailer.has(b"ID"));
        assert!(stamped.document.get_dictionary((24, 0)).unwrap().has(b"Weight"));
    }
}

#[test]
fn later_revisions_count() {
    let mut bytes = Sample::hello().bytes();
    let previous = memchr::memmem::rfind(&bytes, b"xref\n0 1").unwrap();
    let offset = bytes.len();
    bytes.extend(
        b"6 0 obj\n<</Length 37>>\nstream\nBT /F1 24 Tf 72 700 Td (Later) Tj ET  \nendstream\nendobj\n",
    );
    let start = bytes.len();
    bytes.extend(
        format!("xref\n6 1\n{offset:010} 00000 n \ntrailer\n<</Size 11 /Root 1 0 R /Prev {previous}>>\nstartxref\n{start}\n%%EOF\n")
            .into_bytes(),
    );
    let stamped = Stamped::new(&bytes);
    stamped.assert_page(1, "Later");
    assert!(memchr::memmem::find(&stamped.bytes, b"(Hello)").is_none(), "the earlier revision is gone");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bytes = Sample::hello().bytes();
    assert_eq!(
        attestry_pdf::stamp(&bytes, &stamp()).unwrap(),
        attestry_pdf::stamp(&bytes, &stamp()).unwrap()
    );
}

/// An object that is not at its offset is the last one with its number. The others are those at their offsets.
#[test]
fn objects_that_are_not_at_their_offset_are_found() {
    let bytes = String::from_utf8_lossy(&Sample::hello().bytes()).replace('\u{fffd}', "?");
    let later =
        "6 0 obj\n<</Length 40>>\nstream\nBT /F1 24 Tf 72 700 Td (Goodbye) Tj ET   \nendstream\nendobj\n";
    let table = bytes.find("xref\n0 1").unwrap();
    for number in [5, 6, 10] {
        let offset = bytes.split_once(&format!("\n{number} 1\n")).unwrap().1.split_once(' ').unwrap().0;
        let moved = bytes.replace(&format!("\n{offset} "), "\n0000000012 ");
        Stamped::new(moved.as_bytes()).assert_page(1, "Hello");
        let twice = moved
            .replacen("xref\n0 1", &format!("{later}xref\n0 1"), 1)
            .replace(&format!("startxref\n{table}"), &format!("startxref\n{}", table + later.len()));
        let text = if number == 6 { "Goodbye" } else { "Hello" };
        Stamped::new(twice.as_bytes()).assert_page(1, text);
    }
}
