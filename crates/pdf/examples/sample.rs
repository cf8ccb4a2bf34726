//! Writes samples of every document into a folder: `cargo run -p attestry-pdf --example sample -- /tmp/samples`.
//!
//! With a number after the folder, also prints that many more of each and reports the time per document.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use attestry_domain::content::{Block, Content, Inline, Marks};
use attestry_pdf::{Agreement, Approval, Collection, Document, Signature, Signer, SoaReport, StatementRow};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".into()));
    let times: usize = arguments.next().map_or(Ok(0), |times| times.parse())?;
    std::fs::create_dir_all(&folder)?;

    for number in 0..=times {
        let policy = policy("Information Security Policy", 10 * number + 1, 2);
        let start = Instant::now();
        let pdf = attestry_pdf::policy(&policy)?;
        eprintln!("policy: {} bytes in {:?}, missing {:?}", pdf.bytes.len(), start.elapsed(), pdf.missing);
        std::fs::write(folder.join("policy.pdf"), pdf.bytes)?;
    }

    let names =
        ["Access Control Policy", "Cryptography Policy", "Supplier Security Policy", "سياسة أمن المعلومات"];
    let collection = Collection {
        organization: "Example Ltd".into(),
        title: "Published policies".into(),
        date: "15 November 2026".into(),
        policies: names.map(|name| policy(name, 1, 2)).into(),
    };
    let start = Instant::now();
    let pdf = attestry_pdf::collection(&collection)?;
    eprintln!("collection: {} bytes in {:?}", pdf.bytes.len(), start.elapsed());
    std::fs::write(folder.join("collection.pdf"), pdf.bytes)?;

    for number in 0..=times {
        let statement = statement(93 + number);
        let start = Instant::now();
        let pdf = attestry_pdf::statement(&statement)?;
        eprintln!("statement: {} bytes in {:?}", pdf.bytes.len(), start.elapsed());
        std::fs::write(folder.join("statement.pdf"), pdf.bytes)?;
    }

    for number in 0..=times {
        let (signed, preview) = (agreement(number, true), agreement(number, false));
        for (name, agreement) in [("agreement.pdf", signed), ("preview.pdf", preview)] {
            let start = Instant::now();
            let pdf = attestry_pdf::agreement(&agreement)?;
            eprintln!("{name}: {} bytes in {:?}", pdf.bytes.len(), start.elapsed());
            std::fs::write(folder.join(name), pdf.bytes)?;
        }
    }
    Ok(())
}

fn agreement(number: usize, is_signed: bool) -> Agreement {
    let words = format!(
        "The recipient keeps what Example Ltd discloses under number {number} to itself, uses it for no other purpose than to assess the security of Example Ltd, and gives it to nobody who does not need it for that purpose. "
    );
    let clause = |number: usize| {
        vec![
            heading(1, &format!("{number} Obligations of the recipient")),
            paragraph(&words.repeat(3)),
            Block::Numbers { start: 1, items: (1..=3).map(|_| vec![paragraph(&words)]).collect() },
        ]
    };
    let signer = Signer {
        name: "Zoë Ångström".into(),
        email: "zoe@example.com".into(),
        company: Some("Sample GmbH".into()),
        at: "16 November 2026, 10:12 UTC".into(),
        address: "2001:db8::8a2e:370:7334".into(),
        document_hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into(),
        code: "K7QM-2F9D-XW41".into(),
        verify_url: "https://trust.example.com/verify/K7QM-2F9D-XW41".into(),
    };
    Agreement {
        title: "Non-disclosure agreement".into(),
        organization: "Example Ltd".into(),
        content: Content((1..=5).flat_map(clause).collect()),
        date: "16 November 2026".into(),
        signer: is_signed.then_some(signer),
        watermark: (!is_signed).then(|| "PREVIEW".into()),
    }
}

fn statement(rows: usize) -> SoaReport {
    let themes =
        ["Organizational controls", "People controls", "Physical controls", "Technological controls"];
    let titles = ["Inventory of information and other associated assets", "Screening", "Use of cryptography"];
    let reasons = [
        "Required by contracts with customers.",
        "The risk assessment names three risks that this control treats. Owners review it twice a year.\n\nSee the policy on assets.",
        "",
    ];
    let row = |number: usize| StatementRow {
        theme: themes[number * themes.len() / rows].into(),
        code: format!("A.{}.{}", 5 + number * themes.len() / rows, number + 1),
        title: titles[number % 3].into(),
        is_applicable: [Some(true), Some(true), Some(false), None][number % 4],
        justification: reasons[number % 3].repeat(if number == 40 { 35 } else { 1 }),
        status: ["Implemented", "In progress", "Not started"][number % 3].into(),
        owner: [Some("Maria Muster".into()), Some("Information Security Officer".into()), None][number % 3]
            .clone(),
        is_proposed: number % 5 == 1,
    };
    SoaReport {
        organization: "Example Ltd".into(),
        framework: "ISO/IEC 27001:2022".into(),
        status: "In progress".into(),
        version: 3,
        date: "2026-11-15".into(),
        prepared_by: Some("Maria Muster".into()),
        approval: None,
        attribution: "Titles of controls after ISO/IEC 27001:2022, Annex A. The text of the standard is not part of this document."
            .into(),
        rows: (0..rows).map(row).collect(),
    }
}

fn policy(title: &str, first: usize, chapters: usize) -> Document {
    Document {
        title: title.into(),
        description: Some(
            "How we protect the information that customers, partners and staff entrust to us.".into(),
        ),
        organization: "Example Ltd".into(),
        status: "Published".into(),
        version: Some(3),
        owner: Some("Maria Muster".into()),
        approval: Some(Approval { by: "Jörg Ångström".into(), at: "1 November 2026".into() }),
        review_date: Some("1 November 2027".into()),
        signatures: (1..=60)
            .map(|n| Signature { name: format!("Signatory number {n}"), at: "2 November 2026".into() })
            .collect(),
        content: Content((first..first + chapters).flat_map(chapter).collect()),
    }
}

fn chapter(number: usize) -> Vec<Block> {
    let words = format!(
        "The organization keeps inventory {number} of its assets and names an owner for each of them. "
    );
    vec![
        heading(1, &format!("{number} Management of assets")),
        Block::Paragraph(vec![
            plain(&words),
            marked("Owners", |marks| marks.bold = true),
            plain(" review "),
            marked("every", |marks| marks.italic = true),
            plain(" entry "),
            marked("twice", |marks| marks.underline = true),
            plain(" "),
            marked("once", |marks| marks.strike = true),
            plain(" a year with "),
            marked("assets --review \"all\"", |marks| marks.code = true),
            plain(", as the "),
            marked("handbook", |marks| marks.link = Some("https://example.com/handbook".into())),
            plain(" says."),
        ]),
        heading(2, &format!("{number}.1 Rules")),
        Block::Bullets((1..=3).map(|_| nested(number, 6)).collect()),
        Block::Numbers { start: 4, items: (1..=3).map(|_| vec![paragraph(&words)]).collect() },
        heading(2, &format!("{number}.2 Records")),
        Block::Quote(vec![paragraph(&words.repeat(2)), paragraph(&words)]),
        Block::Code { language: Some("sh".into()), text: code() },
        paragraph(&words.repeat(6)),
        table(number, 4, 12),
        Block::Rule,
        heading(3, &format!("{number}.2.1 Wide table")),
        table(number, 12, 4),
        paragraph(
            "Greek Ελληνικά, Cyrillic Русский, Vietnamese Tiếng Việt, Arabic العربية, Hebrew עברית, Hindi हिन्दी, Bengali বাংলা, Tamil தமிழ், Thai ภาษาไทย, Georgian ქართული, Armenian Հայերեն, Chinese 中文, Japanese 日本語, Korean 한국어, → ✓ ✗ ☐ ☑ ⚠ ≤ €, 🔒 👍 🇪🇺.",
        ),
        paragraph(
            "تحتفظ المنظمة بسجل للأصول وتسمي مالكا لكل منها (ISO 27001)، وتراجعه كل سنة مرتين على الأقل.",
        ),
        paragraph(&format!(
            "A long word: {} and a link https://example.com/{}",
            "Donaudampfschiff".repeat(12),
            "path/".repeat(30)
        )),
    ]
}

fn nested(number: usize, depth: usize) -> Vec<Block> {
    let mut blocks = vec![paragraph(&format!(
        "Every asset of inventory {number} has an owner, and every owner knows it."
    ))];
    if depth > 1 {
        let items = vec![nested(number, depth - 1)];
        blocks.push(if depth.is_multiple_of(2) {
            Block::Numbers { start: 1, items }
        } else {
            Block::Bullets(items)
        });
    }
    blocks
}

fn table(number: usize, columns: usize, rows: usize) -> Block {
    let names = ["No.", "Responsibility", "Description of the control", "Owner"];
    let cell = |row: usize, column: usize| match column % 4 {
        0 => format!("A.{number}.{row}"),
        1 => "Confidentiality".into(),
        2 => format!("Media {number}.{row} are stored, moved and destroyed so that nobody can read them."),
        _ => "Information Security Officer".into(),
    };
    Block::Table {
        head: Some((0..columns).map(|column| vec![plain(names[column % 4])]).collect()),
        rows: (1..=rows)
            .map(|row| (0..columns).map(|column| vec![plain(&cell(row, column))]).collect())
            .collect(),
    }
}

fn code() -> String {
    format!(
        "# Lists what has no owner.\nfor asset in $(assets list); do\n\tassets show \"$asset\" | grep -q '^owner:' || echo \"$asset\"\ndone\ncurl -H 'Authorization: Bearer {}' https://example.com/v1/assets",
        "0123456789abcdef".repeat(8)
    )
}

fn heading(level: u8, text: &str) -> Block {
    Block::Heading { level, text: vec![plain(text)] }
}

fn paragraph(text: &str) -> Block {
    Block::Paragraph(vec![plain(text)])
}

fn plain(text: &str) -> Inline {
    Inline::Text { text: text.into(), marks: Marks::default() }
}

fn marked(text: &str, mark: impl Fn(&mut Marks)) -> Inline {
    let mut marks = Marks::default();
    mark(&mut marks);
    Inline::Text { text: text.into(), marks }
}
