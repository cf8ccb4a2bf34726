use super::*;

fn check(declared: &str, head: &[u8]) -> Result<(), String> {
    MediaType::parse(declared).expect("a type").check(head)
}

#[test]
fn names_lose_paths_and_tricks() {
    for (given, kept) in [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\Prüfung 1.pdf", "Prüfung 1.pdf"),
        (" .hidden ", "hidden"),
        ("a\r\nb\".pdf", "ab_.pdf"),
        ("invoice\u{202e}fdp.pdf", "invoicefdp.pdf"),
        ("report.pdf...", "report.pdf"),
    ] {
        assert_eq!(FileName::parse(given).expect(given).as_str(), kept);
    }
    let long = "x".repeat(256);
    for bad in ["", "   ", "..", "/", "a\0b", "run.EXE", "x.pdf.js", "setup.exe.", "evil.sh ", &long] {
        assert!(FileName::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn types_are_read_strictly() {
    assert_eq!(MediaType::parse("Text/Plain; charset=utf-8").expect("a type").as_str(), "text/plain");
    for bad in
        ["", "pdf", "a/", "/b", "a/b/c", "image/*", "a b/c", "text/javascript", "application/x-msdownload"]
    {
        assert!(MediaType::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn content_must_be_what_the_type_says() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const PDF: &[u8] = b"%PDF-1.4\n1 0 obj";
    const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0";
    const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    let docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    let xlsx = [&b"PK\x03\x04"[..], &[0; 26], b"xl/workbook.xml"].concat();
    for (declared, head) in [
        ("image/png", PNG),
        ("application/pdf", PDF),
        ("application/octet-stream", PNG),
        ("application/octet-stream", b"\x01\x02\x03"),
        (docx, ZIP),
        ("application/zip", ZIP),
        ("application/msword", OLE),
        ("application/vnd.ms-outlook", OLE),
        ("application/vnd.google-earth.kmz", ZIP),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &xlsx),
        ("application/vnd.ms-excel.sheet.macroenabled.12", &xlsx),
        ("application/x-made-up", b"\x01\x02\x03"),
        ("text/plain", b"BMW and MZ are letters"),
        ("text/csv", b"name,stra\xdfe\r\n"),
        ("text/plain", b"\xff\xfea\0b\0"),
        ("text/html", b"<html><body>"),
        ("image/svg+xml", b"<?xml version=\"1.0\"?><svg>"),
        ("application/json", b"{\"a\": 1}"),
        ("application/xml", b"<?xml version=\"1.0\"?>"),
        ("image/jpg", b"\xff\xd8\xff\xe0\0\x10JFIF"),
    ] {
        assert_eq!(check(declared, head), Ok(()), "{declared}");
    }
    for (declared, head) in [
        ("image/png", PDF),
        ("image/png", b"plain text"),
        ("application/pdf", PNG),
        ("application/pdf", b"not a document"),
        ("text/plain", PNG),
        ("text/csv", b"a\0b"),
        ("application/json", PDF),
        ("application/x-made-up", PNG),
        (docx, OLE),
        (docx, &xlsx),
        (docx, b"plain"),
        ("text/plain", b""),
    ] {
        assert!(check(declared, head).is_err(), "{declared}");
    }
}

#[test]
fn programs_are_refused_whatever_they_are_called() {
    let elf = b"\x7fELF\x02\x01\x01\0".repeat(8);
    let exe = [&b"MZ\x90\0\x03"[..], &[0; 64]].concat();
    for declared in ["text/plain", "application/octet-stream", "image/png", "application/x-made-up"] {
        for head in [elf.as_slice(), &exe, b"#!/bin/sh\necho", b"<?php echo 1;", b"\0asm\x01\0\0\0"] {
            assert!(check(declared, head).is_err(), "{declared}");
        }
    }
}
