//! Text that would have an effect if Typst or a PDF reader interpreted it.

use attestry_domain::content::{Block, Inline, Marks};
use attestry_pdf::{Approval, Collection, Document, Signature};

use crate::build::{code, document, heading, marked, paragraph, row};
use crate::read::File;

pub(crate) const HOSTILE: [&str; 22] = [
    "#evil",
    "#panic(\"x\")",
    "*x* _y_",
    "$x^2$",
    "@ref",
    "<label>",
    "#import \"look.typ\": *",
    "#include \"data.json\"",
    "`code` ```block```",
    "\\u{41} \\n \\",
    "= heading",
    "- item",
    "+ item",
    "/ term: text",
    "// comment /* open",
    "https://example.com/auto",
    "javascript:alert(1)",
    "'single' \"double\" -- --- ... ~ -?",
    "[content] (a, b) {code}",
    "#let x = 1; #sys.version",
    "</script><script>alert(1)</script>",
    "\"}], \"k\": \"rule\"",
];

#[test]
fn hostile_text_is_printed_as_it_is_everywhere() {
    for hostile in HOSTILE {
        let every = Marks { bold: true, italic: true, strike: true, underline: true, code: true, link: None };
        let blocks = vec![
            paragraph(&format!("paragraph {hostile}")),
            heading(1, &format!("heading {hostile}")),
            code(&format!("code {hostile}")),
            Block::Paragraph(vec![marked(&format!("marked {hostile}"), every)]),
            Block::Bullets(vec![vec![paragraph(&format!("item {hostile}"))]]),
            Block::Quote(vec![paragraph(&format!("quote {hostile}"))]),
            Block::Table {
                head: Some(row(&[&format!("head {hostile}")])),
                rows: vec![row(&[&format!("cell {hostile}")])],
            },
        ];
        let document = Document {
            title: format!("title {hostile}"),
            description: Some(format!("description {hostile}")),
            organization: format!("organization {hostile}"),
            status: format!("status {hostile}"),
            version: None,
            owner: Some(format!("owner {hostile}")),
            approval: Some(Approval { by: format!("by {hostile}"), at: format!("at {hostile}") }),
            review_date: Some(format!("review {hostile}")),
            signatures: vec![Signature { name: format!("name {hostile}"), at: format!("signed {hostile}") }],
            ..document(blocks)
        };
        let file = File::new(&attestry_pdf::policy(&document).unwrap());
        for place in [
            "paragraph",
            "heading",
            "code",
            "marked",
            "item",
            "quote",
            "head",
            "cell",
            "title",
            "description",
            "organization",
            "status",
            "owner",
            "by",
            "at",
            "review",
            "name",
            "signed",
        ] {
            file.assert_has(&format!("{place} {hostile}"));
        }
        assert_eq!(file.links(), Vec::<String>::new());
        assert_eq!(file.title(), document.title);
    }
}

#[test]
fn a_hostile_collection_is_printed_as_it_is() {
    let policies = HOSTILE.map(|hostile| Document { title: hostile.into(), ..document(Vec::new()) });
    let collection = Collection {
        organization: HOSTILE[0].into(),
        title: HOSTILE[1].into(),
        date: HOSTILE[2].into(),
        policies: policies.into(),
    };
    let file = File::new(&attestry_pdf::collection(&collection).unwrap());
    for hostile in HOSTILE {
        file.assert_has(hostile);
    }
}

#[test]
fn control_characters_leave_no_trace() {
    let nasty = "a\u{0}b\u{7}c\u{1b}[31md\u{9d}\u{202e}e\r\nf";
    let document = Document { title: nasty.into(), ..document(vec![paragraph(nasty), code(nasty)]) };
    let pdf = attestry_pdf::policy(&document).unwrap();
    assert!(pdf.missing.is_empty(), "{:?}", pdf.missing);
    File::new(&pdf).assert_has("abc[31md");
}

#[test]
fn empty_texts_are_no_trouble() {
    let blocks = vec![
        Block::Paragraph(Vec::new()),
        paragraph(""),
        Block::Heading { level: 0, text: vec![Inline::Break] },
        heading(9, ""),
        Block::Bullets(Vec::new()),
        Block::Numbers { start: u32::MAX, items: vec![vec![paragraph("last")]] },
        Block::Quote(Vec::new()),
        code(""),
        Block::Table { head: None, rows: Vec::new() },
        Block::Table { head: Some(Vec::new()), rows: vec![Vec::new()] },
        Block::Table { head: Some(row(&["a"])), rows: vec![row(&["b", "c"]), Vec::new()] },
    ];
    let document = Document { description: Some(String::new()), ..document(blocks) };
    File::new(&attestry_pdf::policy(&document).unwrap()).assert_has("last");
}

#[test]
fn endless_words_and_towers_of_marks_are_broken_off() {
    let tower = format!("e{}", "\u{301}".repeat(5_000));
    let document = document(vec![paragraph(&"x".repeat(20_000)), paragraph(&tower), paragraph("the end")]);
    let pdf = attestry_pdf::policy(&document).unwrap();
    assert_eq!(pdf.missing, ['\u{301}']);
    let file = File::new(&pdf);
    file.assert_has(&"x".repeat(40));
    file.assert_has("the end");
}
