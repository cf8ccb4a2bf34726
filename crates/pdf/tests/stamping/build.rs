//! Helpers that build files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use attestry_pdf::Stamp;
use flate2::Compression;
use flate2::write::ZlibEncoder;

pub(crate) fn stamp() -> Stamp {
    Stamp { lines: vec!["Ada Lovelace · ada@example.com".into(), "2026-11-16 10:12 UTC · tcr_1".into()] }
}

/// Objects by number, each in the syntax between `obj` and `endobj`.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub objects: BTreeMap<u32, Vec<u8>>,
    pub trailer: String,
}

impl Sample {
    /// A catalog, a tree of pages with these entries, and these pages in objects 10 and up. Object 5 is a font.
    pub(crate) fn new(tree: &str, pages: &[&str]) -> Self {
        let kids: Vec<_> = (10..10 + pages.len()).map(|number| format!("{number} 0 R")).collect();
        let kids = kids.join(" ");
        let mut sample = Self { objects: BTreeMap::new(), trailer: "/Root 1 0 R".into() };
        sample.set(1, "<</Type /Catalog /Pages 2 0 R>>");
        sample.set(2, &format!("<</Type /Pages /Kids [{kids}] /Count {} {tree}>>", pages.len()));
        sample.set(5, "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>");
        for (number, page) in (10..).zip(pages) {
            sample.set(number, &format!("<</Type /Page /Parent 2 0 R {page}>>"));
        }
        sample
    }

    /// An A4 page with "Hello" on it.
    pub(crate) fn hello() -> Self {
        let mut sample =
            Self::new("", &["/MediaBox [0 0 595 842] /Resources <</Font <</F1 5 0 R>>>> /Contents 6 0 R"]);
        sample.stream(6, "", b"BT /F1 24 Tf 72 700 Td (Hello) Tj ET");
        sample
    }

    pub(crate) fn set(&mut self, number: u32, object: &str) {
        self.objects.insert(number, object.into());
    }

    pub(crate) fn stream(&mut self, number: u32, entries: &str, data: &[u8]) {
        let mut object = format!("<</Length {} {entries}>>\nstream\n", data.len()).into_bytes();
        object.extend(data);
        object.extend(b"\nendstream");
        self.objects.insert(number, object);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n".to_vec();
        let mut table = String::new();
        for (number, object) in &self.objects {
            writeln!(table, "{number} 1\n{:010} 00000 n ", out.len()).unwrap();
            out.extend(format!("{number} 0 obj\n").into_bytes());
            out.extend(object);
            out.extend(b"\nendobj\n");
        }
        let start = out.len();
        let size = self.objects.keys().max().unwrap() + 1;
        let trailer = &self.trailer;
        out.extend(
            format!("xref\n0 1\n0000000000 65535 f \n{table}trailer\n<</Size {size} {trailer}>>\nstartxref\n{start}\n%%EOF\n")
                .into_bytes(),
        );
        out
    }

    /// The same file with object streams and a cross-reference stream.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let mut document = lopdf::Document::load_mem(&self.bytes()).unwrap();
        let mut out = Vec::new();
        document.save_modern(&mut out).unwrap();
        assert!(out.windows(6).any(|word| word == b"ObjStm"));
        out
    }
}

pub(crate) fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}
