use attestry_pdf::{Approval, Failure, SoaReport, StatementRow};

use crate::hostile::HOSTILE;
use crate::read::{File, squeeze};

const HEAD: &str = "Number Title Applicable Justification Status Owner";
const NOTICE: &str = "Draft: not approved";

fn row(theme: &str, code: &str) -> StatementRow {
    StatementRow {
        theme: theme.into(),
        code: code.into(),
        title: format!("Title of {code}"),
        is_applicable: Some(true),
        justification: format!("Reason of {code}"),
        status: "Implemented".into(),
        owner: Some("Maria Muster".into()),
        is_proposed: false,
    }
}

fn statement(rows: Vec<StatementRow>) -> SoaReport {
    SoaReport {
        organization: "Example Ltd".into(),
        framework: "ISO/IEC 27001:2022".into(),
        status: "In progress".into(),
        version: 3,
        date: "2026-11-15".into(),
        prepared_by: Some("Zoë Smith".into()),
        approval: None,
        attribution: "Names of controls after the standard.".into(),
        rows,
    }
}

fn whole() -> SoaReport {
    statement(vec![
        row("Organizational", "5.1"),
        StatementRow { is_applicable: Some(false), is_proposed: true, ..row("People", "6.1") },
        StatementRow { is_applicable: None, owner: None, ..row("Organizational", "5.2") },
        StatementRow { is_proposed: true, ..row("People", "6.2") },
        StatementRow { is_applicable: None, is_proposed: true, ..row("People", "6.3") },
    ])
}

fn print(statement: &SoaReport) -> File {
    File::new(&attestry_pdf::statement(statement).unwrap())
}

fn approval() -> Approval {
    Approval { by: "Jörg Ångström".into(), at: "2026-11-16".into() }
}

#[test]
fn a_statement_has_a_title_page_and_a_table_for_each_theme() {
    let file = print(&whole());
    assert_eq!(file.pages(), 2);
    assert_eq!(file.title(), "Statement of Applicability");
    // Screen readers see the title on the cover as a title; it is not mapped to a paragraph.
    let (kinds, is_mapped) = file.structure();
    assert_eq!(kinds.iter().filter(|kind| *kind == "Title").count(), 1, "{kinds:?}");
    assert!(!is_mapped);
    let marks = file.catalog().get(b"MarkInfo").unwrap().as_dict().unwrap();
    assert!(marks.has(b"Marked") && !marks.has(b"Suspects"));
    for text in [
        "Example Ltd",
        "Statement of Applicability",
        "ISO/IEC 27001:2022",
        "Version 3",
        "Status In progress",
        "Prepared by Zoë Smith",
        "Approval Not approved",
        "Date 2026-11-15",
        "Controls in total Applicable Not applicable Unanswered 5 2 1 2",
        "3 of 5. No person has confirmed these answers yet.",
        "Names of controls after the standard.",
    ] {
        assert!(file.pages_with(text).contains(&1), "{text} is not in {}", file.page(1));
    }
    assert!(!file.page(1).contains("Page"), "the title page has no page number");
    // Rows of one theme are grouped, regardless of their order.
    let implemented = "Implemented Maria Muster";
    let tables = [
        &format!("Organizational {HEAD} 5.1 Title of 5.1 Yes Reason of 5.1 {implemented}"),
        "5.2 Title of 5.2 Open Reason of 5.2 Implemented People",
        &format!("People {HEAD} 6.1 Title of 6.1 No (proposed) Reason of 6.1 {implemented}"),
        &format!("6.2 Title of 6.2 Yes (proposed) Reason of 6.2 {implemented}"),
        &format!("6.3 Title of 6.3 Open (proposed) Reason of 6.3 {implemented}"),
        "Example Ltd · Statement of Applicability · Version 3 Page 2 of 2",
    ];
    for text in tables {
        assert_eq!(file.pages_with(text), [2], "{text} is not in {}", file.page(2));
    }
    assert_eq!((file.bookmarks().len(), file.tags("H1"), file.tags("Table")), (2, 2, 2));
    let sizes = (file.size_of_page(1), file.size_of_page(2));
    assert!(sizes.0.0 < sizes.0.1 && sizes.1.0 > sizes.1.1, "only the tables lie on their side: {sizes:?}");
}

#[test]
fn every_page_says_that_it_is_not_approved_until_it_is() {
    let rows: Vec<_> = (1..=60).map(|number| row("Theme", &format!("5.{number}"))).collect();
    let mut statement = statement(rows);
    let file = print(&statement);
    assert!(file.pages() >= 3);
    assert_eq!(file.pages_with(NOTICE), (1..=file.pages()).collect::<Vec<_>>());

    statement.approval = Some(approval());
    let file = print(&statement);
    file.assert_has("Approved by Jörg Ångström Approved on 2026-11-16");
    assert!(!file.text().to_lowercase().contains("notapproved") && !file.text().contains("Draft"));
    assert!(!file.text().contains("proposed"), "nothing is");
}

#[test]
fn the_same_statement_gives_the_same_bytes() {
    let first = attestry_pdf::statement(&whole()).unwrap().bytes;
    let other = SoaReport { approval: Some(approval()), ..whole() };
    assert_ne!(first, attestry_pdf::statement(&other).unwrap().bytes);
    assert_eq!(first, attestry_pdf::statement(&whole()).unwrap().bytes);
}

#[test]
fn an_empty_statement_is_a_title_page() {
    let file = print(&statement(Vec::new()));
    assert_eq!(file.pages(), 1);
    file.assert_has("Unanswered 0 0 0 0");
    assert_eq!(print(&SoaReport::default()).pages(), 1);
    let file = print(&statement(vec![StatementRow::default()]));
    assert!(file.page(2).contains(&squeeze(&format!("Controls {HEAD} Open"))), "{}", file.page(2));
}

#[test]
fn hostile_text_in_a_statement_is_printed_as_it_is() {
    let mut rows = Vec::new();
    for hostile in HOSTILE {
        rows.push(StatementRow {
            theme: format!("theme {hostile}"),
            code: format!("code {hostile}"),
            title: format!("title {hostile}"),
            is_applicable: None,
            justification: format!("reason {hostile}\n\n\r\n{hostile}"),
            status: format!("state {hostile}"),
            owner: Some(format!("owner {hostile}")),
            is_proposed: true,
        });
        let statement = SoaReport {
            organization: format!("organization {hostile}"),
            framework: format!("framework {hostile}"),
            status: format!("status {hostile}"),
            version: u32::MAX,
            date: format!("date {hostile}"),
            prepared_by: Some(format!("prepared {hostile}")),
            approval: Some(Approval { by: format!("by {hostile}"), at: format!("at {hostile}") }),
            attribution: format!("attribution {hostile}"),
            rows: Vec::new(),
        };
        let file = print(&statement);
        for place in ["organization", "framework", "status", "date", "prepared", "by", "at", "attribution"] {
            file.assert_has(&format!("{place} {hostile}"));
        }
        assert_eq!(file.links(), Vec::<String>::new());
    }
    let file = print(&SoaReport { organization: HOSTILE[1].into(), ..statement(rows) });
    assert_eq!(file.links(), Vec::<String>::new());
    file.assert_has(&format!("{} · Statement of Applicability · Version 3", HOSTILE[1]));
    for hostile in HOSTILE {
        for place in ["theme", "code", "title", "state", "owner"] {
            file.assert_has(&format!("{place} {hostile}"));
        }
        file.assert_has(&format!("reason {hostile} {hostile}"));
    }
}

#[test]
fn what_no_font_has_is_reported_for_statements() {
    let rows = vec![StatementRow { justification: "rune 𐌰".into(), ..row("Theme 𐎀", "5.1") }];
    let pdf = attestry_pdf::statement(&statement(rows)).unwrap();
    assert_eq!(pdf.missing, ['𐌰', '𐎀']);
    File::new(&pdf).assert_has("rune \u{fffd}");
}

#[test]
fn long_texts_go_on_on_the_next_page_under_the_header() {
    let words = "justified ".repeat(400);
    let rows = vec![
        StatementRow { justification: words.clone(), ..row("Long", "5.1") },
        StatementRow { justification: "Q".repeat(4_000), ..row("Long", "5.2") },
        StatementRow { justification: "y\n\n\n".repeat(1_000), ..row("Long", "5.3") },
        StatementRow { title: words.clone(), owner: Some(words.clone()), ..row("Long", "5.4") },
        StatementRow { code: "W".repeat(4_000), status: words.clone(), ..row(&words, "") },
    ];
    let file = print(&statement(rows));
    let text = file.text();
    // The header is on each page of the first theme.
    let first = file.pages_with("Title of 5.1").into_iter().chain(file.pages_with("Reason of 5.4"));
    let first: Vec<_> = first.collect();
    let with_head = file.pages_with(HEAD);
    assert!(first[1] - first[0] > 20, "{first:?}");
    assert!((first[0]..=first[1]).all(|page| with_head.contains(&page)), "{first:?} {with_head:?}");
    assert_eq!(text.matches("justified").count(), 400 * 5);
    assert_eq!(text.matches('Q').count(), 4_000);
    assert_eq!(text.matches('W').count(), 4_000);
}

#[test]
fn thousands_of_rows_are_printed() {
    let rows = (1..=2_000).map(|n| row(&format!("Theme {}.", n % 40), &format!("C-{n}."))).collect();
    let file = print(&statement(rows));
    let text = file.text();
    for number in 1..=2_000 {
        let row = squeeze(&format!("C-{number}. Title of C-{number}. Yes Reason of C-{number}."));
        assert!(text.contains(&row), "{row} is not there");
    }
    assert_eq!(file.tags("Table"), 40);
    assert_eq!(file.pages_with(HEAD), (2..=file.pages()).collect::<Vec<_>>());
}

#[test]
fn a_statement_that_is_too_large_is_refused_at_once() {
    let rows = vec![StatementRow { justification: "word ".repeat(800), ..row("Theme", "5.1") }; 2_000];
    let failure = attestry_pdf::statement(&statement(rows)).unwrap_err();
    assert!(matches!(failure, Failure::TooLarge), "{failure}");
    let rows = vec![StatementRow { justification: "y\n".repeat(2_000), ..row("Theme", "5.1") }; 200];
    let failure = attestry_pdf::statement(&statement(rows)).unwrap_err();
    assert!(matches!(failure, Failure::TooLarge), "{failure}");
}
