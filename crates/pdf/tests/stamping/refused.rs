use attestry_pdf::{Damage, Failure, Unreadable, inspect, stamp};

use crate::build::{self, Sample};

#[track_caller]
fn refused(bytes: &[u8]) -> Unreadable {
    let unreadable = inspect(bytes).unwrap_err();
    let failure = stamp(bytes, &build::stamp()).unwrap_err();
    assert!(matches!(failure, Failure::Unreadable(same) if same == unreadable), "{failure}");
    unreadable
}

#[test]
fn what_is_no_pdf_is_refused() {
    for bytes in [&b""[..], b"hello", b"<html>%PD</html>", &[0; 10_000], b"PK\x03\x04", &[b' '; 2_000]] {
        assert_eq!(refused(bytes), Unreadable::NotPdf);
    }
}

#[test]
fn a_protected_file_is_refused() {
    let mut sample = Sample::hello();
    sample.set(30, "<</Filter /Standard /V 2 /R 3 /P -4 /O <00> /U <00>>>");
    sample.trailer += " /Encrypt 30 0 R";
    let mut bytes = sample.bytes();
    assert_eq!(refused(&bytes), Unreadable::Protected);
    assert_eq!(
        Unreadable::Protected.to_string(),
        "The PDF is protected with a password. Remove the protection and upload it again."
    );
    // Also if the cross-reference table is damaged.
    let at = memchr::memmem::rfind(&bytes, b"startxref").unwrap();
    bytes[at] = b'x';
    assert_eq!(refused(&bytes), Unreadable::Protected);
}

#[test]
fn a_file_without_pages_is_refused() {
    assert_eq!(refused(&Sample::new("", &[]).bytes()), Unreadable::NoPages);
}

#[test]
fn a_damaged_file_is_refused() {
    let damaged = |change: fn(&mut Sample)| {
        let mut sample = Sample::hello();
        change(&mut sample);
        assert!(matches!(refused(&sample.bytes()), Unreadable::Damaged(_)), "{}", refused(&sample.bytes()));
    };
    damaged(|sample| sample.set(1, "<</Type /Catalog>>"));
    damaged(|sample| sample.set(1, "5"));
    damaged(|sample| sample.set(2, "<</Type /Pages /Kids 5>>"));
    damaged(|sample| sample.set(2, "<</Type /Pages /Kids [<</Type /Page>>]>>"));
    damaged(|sample| sample.set(2, "<</Type /Pages /Kids [99 0 R]>>"));
    damaged(|sample| sample.set(10, "null"));
    damaged(|sample| sample.set(10, "<</Type /Page /MediaBox [0 0 inf 5]>>"));
    damaged(|sample| sample.trailer = "/Root 99 0 R".into());
    damaged(|sample| sample.set(6, "<</Length 1>> stream\nq"));
    damaged(|sample| sample.stream(6, "", b"q (Hello"));
    damaged(|sample| sample.stream(6, "", b"[(Hello)"));
    damaged(|sample| sample.stream(6, "", b"0q"));
    assert!(matches!(refused(b"%PDF-1.7\n"), Unreadable::Damaged(_)));
    let message = refused(b"%PDF-1.7\n").to_string();
    assert!(message.starts_with("The PDF is damaged: its table of contents is missing."), "{message}");
}

/// Other readers may choose the other object, whatever is found here.
#[test]
fn a_table_with_two_objects_of_one_number_is_refused() {
    let bytes = Sample::hello().bytes();
    let text = String::from_utf8_lossy(&bytes).replace('\u{fffd}', "?");
    let at = text.find("xref\n0 1").unwrap();
    let script = "1 0 obj\n<</Type /Catalog /Pages 2 0 R>>\nendobj\n";
    let second = text.replacen("xref\n0 1", &format!("{script}xref\n30 1\n{at:010} 00000 n \n0 1"), 1);
    let second = second.replace(&format!("startxref\n{at}"), &format!("startxref\n{}", at + script.len()));
    assert_eq!(refused(second.as_bytes()), Unreadable::Damaged(Damage::AmbiguousTable));
}

#[test]
fn a_page_that_is_too_large_is_refused() {
    for entries in [
        "/MediaBox [0 0 1000000000 5]",
        "/MediaBox [-900000 0 900000 5]",
        "/MediaBox [0 0 595 842] /CropBox [590 0 1000000000 842]",
    ] {
        let bytes = Sample::new("", &[entries]).bytes();
        assert_eq!(refused(&bytes), Unreadable::Damaged(Damage::PageSize), "{entries}");
    }
}

#[test]
fn numbers_that_are_too_high_are_refused() {
    for size in ["8388607", "8388608", "4294967295", "4294967296"] {
        let mut sample = Sample::hello();
        sample.trailer = format!("/Root 1 0 R /Size {size}");
        assert_eq!(refused(&sample.bytes()), Unreadable::TooComplex, "{size}");
    }
}

#[test]
fn too_many_pages_are_refused() {
    let page = "/MediaBox [0 0 595 842]";
    assert_eq!(inspect(&Sample::new("", &vec![page; 5_000]).bytes()).unwrap().pages, 5_000);
    assert_eq!(refused(&Sample::new("", &vec![page; 5_001]).bytes()), Unreadable::TooManyPages);
}

/// Content outside the pages, or that hides what is drawn on them, is rejected.
#[test]
fn what_cannot_be_marked_is_refused() {
    let with = |catalog: &str, page: &str| {
        let mut sample = Sample::hello();
        let entries = "/MediaBox [0 0 595 842] /Resources <</Font <</F1 5 0 R>>>> /Contents 6 0 R";
        sample.set(10, &format!("<</Type /Page /Parent 2 0 R {entries} {page}>>"));
        sample.set(1, &format!("<</Type /Catalog /Pages 2 0 R {catalog}>>"));
        sample.set(20, "<</Names [(a.pdf) 21 0 R]>>");
        sample.set(26, "<</Next <</S 27 0 R>> /S /GoTo /D [10 0 R /Fit]>>");
        sample.set(27, "/JavaScript");
        sample.set(21, "<</Type /Filespec /F (a.pdf) /EF <</F 22 0 R>>>>");
        sample.stream(22, "/Type /EmbeddedFile", b"secret");
        sample.set(24, "<</Names [(a) [10 0 R /Fit]]>>");
        sample.set(23, "<</Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /FS 21 0 R>>");
        inspect(&sample.bytes()).err()
    };
    assert_eq!(with("", ""), None);
    assert_eq!(with("/Names <</Dests 24 0 R>> /AcroForm <</Fields []>> /AF []", "/Annots []"), None);
    assert_eq!(with("/Names <</EmbeddedFiles 20 0 R>>", ""), Some(Unreadable::Attachments));
    assert_eq!(with("/AF [21 0 R]", ""), Some(Unreadable::Attachments));
    assert_eq!(with("", "/Annots [23 0 R]"), Some(Unreadable::Attachments));
    assert_eq!(with("/AcroForm <</XFA 22 0 R>>", ""), Some(Unreadable::DrawsItself));
    assert_eq!(with("/Names <</Pages 20 0 R>>", ""), Some(Unreadable::Attachments));
    let embedded = "/OpenAction <</S /GoToE /T <</R /C /N (a.pdf)>>>>";
    assert_eq!(with(embedded, ""), Some(Unreadable::Attachments));
    for script in [
        "/OpenAction <</S /JavaScript /JS (app.alert(1))>>",
        "/OpenAction <</S /J#61vaScript>>",
        "/AA <</WC <</S /Rendition /J#53 25 0 R>>>>",
        "/Names <</JavaScript <</Names [(a) <</S /JavaScript /JS (x)>>]>>>>",
        "/Outlines <</First <</Title (a) /A 26 0 R>>>>",
    ] {
        assert_eq!(with(script, ""), Some(Unreadable::Scripts), "{script}");
    }
    assert_eq!(with("", "/AA <</O 26 0 R>>"), Some(Unreadable::Scripts));
    assert_eq!(
        with("", "/Annots [<</Subtype /Link /A <</S /Launch /F (a.exe)>>>>]"),
        Some(Unreadable::Launches)
    );
    assert_eq!(with("", "/Annots [<</Subtype /Link /A <</S /URI /URI (https://a.example)>>>>]"), None);
    let packed = |entries: &str, data: &[u8]| {
        let mut sample = Sample::hello();
        sample.stream(6, entries, data);
        inspect(&sample.bytes()).err()
    };
    assert_eq!(packed("/Filter /RunLengthDecode", b"\x01q \xFF \x80"), None);
    assert_eq!(packed("/Filter /LZWDecode", b"anything"), Some(Unreadable::Packed));
}
