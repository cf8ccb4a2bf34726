use attestry_domain::content::{Block, Content, Inline, Marks};
use attestry_pdf::{Approval, Document, Failure, Signature};

use crate::build::{code, document, heading, linked, marked, paragraph, plain};
use crate::read::File;

fn whole() -> Document {
    Document {
        description: Some("Who may see what.".into()),
        version: Some(3),
        owner: Some("Maria Muster".into()),
        approval: Some(Approval { by: "Jörg Ångström".into(), at: "1 November 2026".into() }),
        review_date: Some("2 November 2027".into()),
        signatures: vec![Signature { name: "Zoë Smith".into(), at: "3 November 2026".into() }],
        ..document(vec![
            heading(1, "Purpose"),
            paragraph("Access follows need."),
            heading(2, "Scope"),
            paragraph("All systems."),
        ])
    }
}

#[test]
fn a_policy_has_cover_contents_text_approval_and_signatures() {
    let file = File::new(&attestry_pdf::policy(&whole()).unwrap());
    let cover = file.page(1);
    for text in
        ["AccessControlPolicy", "ExampleLtd", "Published", "Version3", "Whomayseewhat.", "MariaMuster"]
    {
        assert!(cover.contains(text), "{text} is not in {cover}");
    }
    assert!(cover.contains("JörgÅngström") && cover.contains("2November2027"));
    assert!(!cover.contains("Page"), "the cover has no page number");
    assert!(file.page(2).starts_with("ContentsPurpose"), "{}", file.page(2));
    assert!(
        file.page(3).starts_with("PurposeAccessfollowsneed.ScopeAllsystems.Approval"),
        "{}",
        file.page(3)
    );
    file.assert_has("Approved by Jörg Ångström on 1 November 2026.");
    file.assert_has("Zoë Smith 3 November 2026");
    file.assert_has("Page 3 of 3");
    assert_eq!(file.pages(), 3);
}

#[test]
fn a_policy_has_bookmarks_a_language_and_tags() {
    let file = File::new(&attestry_pdf::policy(&whole()).unwrap());
    assert_eq!(file.catalog().get(b"Lang").unwrap().as_str().unwrap(), b"en");
    let marked = file.catalog().get(b"MarkInfo").unwrap().as_dict().unwrap();
    assert!(marked.get(b"Marked").unwrap().as_bool().unwrap());
    let bookmarks = file.bookmarks();
    for title in ["Contents", "Purpose", "Scope", "Approval", "Signatures"] {
        assert!(bookmarks.iter().any(|bookmark| bookmark == title), "{title} is not in {bookmarks:?}");
    }
    assert_eq!((file.tags("H1"), file.tags("H2")), (4, 1));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let first = attestry_pdf::policy(&whole()).unwrap().bytes;
    attestry_pdf::policy(&document(vec![paragraph("Another.")])).unwrap();
    assert_eq!(first, attestry_pdf::policy(&whole()).unwrap().bytes);
}

#[test]
fn an_empty_policy_is_a_cover() {
    let file = File::new(&attestry_pdf::policy(&document(Vec::new())).unwrap());
    assert_eq!(file.pages(), 1);
    attestry_pdf::policy(&Document::default()).unwrap();
}

#[test]
fn all_marks_and_blocks_are_printed() {
    let every = Marks { bold: true, italic: true, strike: true, underline: true, code: true, link: None };
    let file = File::new(
        &attestry_pdf::policy(&document(vec![
            Block::Paragraph(vec![
                plain("before "),
                marked("every \"mark\"", every),
                Inline::Break,
                plain("after"),
            ]),
            Block::Numbers { start: 7, items: vec![vec![paragraph("seventh")], vec![paragraph("eighth")]] },
            Block::Quote(vec![
                paragraph("quoted"),
                Block::Bullets(vec![vec![paragraph("item")], Vec::new()]),
            ]),
            Block::Rule,
            code("fn main() {\n\tlet x = \"--\";\n}"),
            heading(6, "Deep"),
        ]))
        .unwrap(),
    );
    for text in
        ["before every \"mark\" after", "7. seventh 8. eighth", "quoted", "item", "let x = \"--\";", "Deep"]
    {
        file.assert_has(text);
    }
    assert_eq!((file.tags("BlockQuote"), file.tags("L"), file.tags("H6")), (1, 2, 1));
    assert!(file.tags("Code") >= 2);
}

#[test]
fn only_links_to_the_outside_can_be_clicked() {
    let links = [
        "https://example.com/a?b=c&d",
        "http://example.com",
        "mailto:a@example.com",
        "tel:+123",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "file:///etc/passwd",
        "/v1/policies",
        "#purpose",
        "//example.com",
        "é",
        "",
    ];
    let text = Block::Paragraph(links.iter().map(|link| linked(&format!("to {link} "), link)).collect());
    let file = File::new(&attestry_pdf::policy(&document(vec![text])).unwrap());
    assert_eq!(
        file.links(),
        ["http://example.com", "https://example.com/a?b=c&d", "mailto:a@example.com", "tel:+123"]
    );
    file.assert_has("to javascript:alert(1)");
}

#[test]
fn what_does_not_fit_a_line_is_broken() {
    let word = "Donaudampfschifffahrtsgesellschaft".repeat(8);
    let item = |blocks| vec![Block::Bullets(vec![blocks])];
    let nested = (0..30).fold(vec![paragraph("innermost")], |blocks, _| item(blocks));
    let mut blocks = vec![paragraph(&word), heading(1, &word), code(&word)];
    blocks.extend(nested);
    let file = File::new(
        &attestry_pdf::policy(&Document {
            title: word.clone(),
            organization: word.clone(),
            ..document(blocks)
        })
        .unwrap(),
    );
    let text = file.text();
    // Title, organization, contents, heading, paragraph and code.
    assert_eq!(text.matches(&word).count(), 6, "{text}");
    file.assert_has("innermost");
}

#[test]
fn hundreds_of_signatures_take_several_pages() {
    let signatures =
        (1..=200).map(|n| Signature { name: format!("Person {n}."), at: "today".into() }).collect();
    let file = File::new(&attestry_pdf::policy(&Document { signatures, ..document(Vec::new()) }).unwrap());
    assert!(file.pages_with("Signed on").len() >= 4, "the header is on each page");
    file.assert_has("Person 1.");
    file.assert_has("200 Person 200.");
}

#[test]
fn a_document_that_is_too_large_is_refused() {
    let text = "word ".repeat(5_000_000);
    let failure = attestry_pdf::policy(&document(vec![paragraph(&text)])).unwrap_err();
    assert!(matches!(failure, Failure::TooLarge), "{failure}");
    let content = Content(vec![Block::Rule; 400_000]);
    let failure = attestry_pdf::policy(&Document { content, ..document(Vec::new()) }).unwrap_err();
    assert!(matches!(failure, Failure::TooLarge), "{failure}");
}
