use attestry_domain::content::{Block, Content};
use attestry_pdf::{Agreement, Failure, Signer};

use crate::build::{heading, paragraph};
use crate::hostile::HOSTILE;
use crate::read::File;

const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn agreement() -> Agreement {
    Agreement {
        title: "Non-disclosure agreement".into(),
        organization: "Example Ltd".into(),
        content: Content(vec![
            heading(1, "Purpose"),
            paragraph(&"What is shown stays between us. ".repeat(60)),
            heading(1, "Term"),
            paragraph(&"It holds for two years. ".repeat(200)),
        ]),
        date: "16 November 2026".into(),
        signer: None,
        watermark: None,
    }
}

fn signer() -> Signer {
    Signer {
        name: "Zoë Ångström".into(),
        email: "zoe@example.com".into(),
        company: Some("Sample GmbH".into()),
        at: "16 November 2026, 10:12 UTC".into(),
        address: "2001:db8::1".into(),
        document_hash: HASH.into(),
        code: "K7QM-2F9D".into(),
        verify_url: "https://trust.example.com/verify/K7QM-2F9D".into(),
    }
}

fn print(agreement: &Agreement) -> File {
    File::new(&attestry_pdf::agreement(agreement).unwrap())
}

#[test]
fn a_signed_agreement_says_who_signed_it() {
    let file = print(&Agreement { signer: Some(signer()), ..agreement() });
    for text in [
        "Non-disclosure agreement",
        "Example Ltd",
        "16 November 2026",
        "What is shown stays between us.",
        "Signed electronically",
        "Name Zoë Ångström",
        "E-mail zoe@example.com",
        "Company Sample GmbH",
        "Signed on 16 November 2026, 10:12 UTC",
        "IP address 2001:db8::1",
        HASH,
        "Verification code K7QM-2F9D",
        "https://trust.example.com/verify/K7QM-2F9D",
    ] {
        file.assert_has(text);
    }
    assert_eq!(file.title(), "Non-disclosure agreement");
    assert!(file.pages_with("not signed yet").is_empty() && file.pages_with("PREVIEW").is_empty());
    assert_eq!(file.pages_with("Signed electronically"), [file.pages()], "it is at the end");
    for page in 1..=file.pages() {
        let footer = format!("Example Ltd · Non-disclosure agreement Page {page} of {}", file.pages());
        assert!(file.pages_with(&footer).contains(&page), "{}", file.page(page));
    }
}

#[test]
fn a_preview_says_so_on_every_page() {
    let file = print(&Agreement { watermark: Some("PREVIEW".into()), ..agreement() });
    assert!(file.pages() >= 2);
    assert_eq!(file.pages_with("PREVIEW").len(), file.pages());
    // Across the page, and above its text.
    assert!((1..=file.pages()).all(|page| file.page(page).matches("PREVIEW").count() == 2));
    file.assert_has("This agreement is not signed yet.");
    file.assert_has("Name Company Date Signature");
    assert!(file.pages_with("Signed electronically").is_empty());
}

#[test]
fn what_is_empty_is_left_out() {
    let signer = Signer { company: None, address: "  ".into(), ..signer() };
    let file = print(&Agreement { signer: Some(signer), watermark: Some("  ".into()), ..agreement() });
    assert!(file.pages_with("Company").is_empty() && file.pages_with("IP address").is_empty());
    print(&Agreement::default());
    print(&Agreement { signer: Some(Signer::default()), ..Agreement::default() });
}

#[test]
fn hostile_text_is_printed_as_it_is() {
    for hostile in HOSTILE {
        let signer = Signer {
            name: format!("name {hostile}"),
            email: format!("email {hostile}"),
            company: Some(format!("company {hostile}")),
            at: format!("at {hostile}"),
            address: format!("address {hostile}"),
            document_hash: format!("hash {hostile}"),
            code: format!("code {hostile}"),
            verify_url: format!("url {hostile}"),
        };
        let file = print(&Agreement {
            title: format!("title {hostile}"),
            organization: format!("organization {hostile}"),
            content: Content(vec![paragraph(&format!("paragraph {hostile}"))]),
            date: format!("date {hostile}"),
            signer: Some(signer),
            watermark: Some(hostile.into()),
        });
        for place in [
            "title",
            "organization",
            "paragraph",
            "date",
            "name",
            "email",
            "company",
            "at",
            "address",
            "hash",
            "code",
            "url",
        ] {
            file.assert_has(&format!("{place} {hostile}"));
        }
    }
}

#[test]
fn long_words_are_broken_and_long_facts_take_several_pages() {
    let word = "Donaudampfschifffahrtsgesellschaft".repeat(8);
    let long = Signer {
        name: word.clone(),
        document_hash: HASH.repeat(200),
        verify_url: format!("https://example.com/{}", "path/".repeat(500)),
        ..signer()
    };
    let file = print(&Agreement {
        title: word.clone(),
        organization: word.clone(),
        content: Content(vec![paragraph(&word), Block::Code { language: None, text: word.clone() }]),
        signer: Some(long),
        watermark: Some(word.clone()),
        ..agreement()
    });
    assert_eq!(file.text().matches(&word).count(), 5);
    file.assert_has(&HASH.repeat(20));
    assert!(file.pages() >= 3);
}

#[test]
fn names_and_watermarks_are_in_any_script() {
    for name in ["Анна Каренина", "王小明", "สมชาย ใจดี", "Ελένη"] {
        let signer = Signer { name: name.into(), ..signer() };
        let file = print(&Agreement { signer: Some(signer), watermark: Some(name.into()), ..agreement() });
        file.assert_has(&format!("Name {name}"));
        assert_eq!(file.pages_with(name).len(), file.pages());
    }
}

#[test]
fn an_agreement_that_is_too_large_is_refused() {
    let content = Content(vec![paragraph(&"word ".repeat(5_000_000))]);
    let failure = attestry_pdf::agreement(&Agreement { content, ..agreement() }).unwrap_err();
    assert!(matches!(failure, Failure::TooLarge), "{failure}");
}
