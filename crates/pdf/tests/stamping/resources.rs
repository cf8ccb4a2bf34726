use std::collections::HashSet;

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
fn everything_else_stays() {
    let mut sample = Sample::hello();
    sample.set(1, "<</Type /Catalog /Pages 2 0 R /Outlines 20 0 R /AcroForm <</Fields [21 0 R]>> /OpenAction <</S /JavaScript /JS (app.alert\\(1\\))>> /StructTreeRoot 22 0 R /MarkInfo <</Marked true>>>>");
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
