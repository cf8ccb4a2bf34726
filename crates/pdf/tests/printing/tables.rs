use attestry_domain::content::Block;

use crate::build::{document, paragraph, row};
use crate::read::File;

fn table(columns: usize, rows: usize, cell: &str) -> Block {
    let names: Vec<_> = (1..=columns).map(|column| format!("Head{column}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    Block::Table { head: Some(row(&names)), rows: vec![row(&vec![cell; columns]); rows] }
}

fn print(blocks: Vec<Block>) -> File {
    File::new(&attestry_pdf::policy(&document(blocks)).unwrap())
}

#[test]
fn a_table_goes_on_on_the_next_page_under_its_header() {
    let file = print(vec![table(3, 120, "some words")]);
    assert!(file.pages() >= 4);
    assert_eq!(file.pages_with("Head1 Head2 Head3"), (2..=file.pages()).collect::<Vec<_>>());
    assert_eq!(file.text().matches("somewords").count(), 360);
    assert!(file.tags("TH") >= 3 && file.tags("TD") == 360);
}

#[test]
fn a_table_with_many_columns_keeps_its_words() {
    let file = print(vec![paragraph("before"), table(12, 3, "Confidentiality"), paragraph("after")]);
    assert_eq!(file.text().matches("Confidentiality").count(), 36);
    assert_eq!(file.pages_with("Confidentiality"), [3]);
    let (width, height) = file.size_of_page(3);
    assert!(width > height, "the page lies on its side");
}

#[test]
fn extreme_tables_are_printed() {
    let file = print(vec![
        table(60, 2, "x"),
        table(2, 1, &"long ".repeat(4_000)),
        Block::Table { head: Some(row(&[&"heading ".repeat(2_000)])), rows: vec![row(&["below"]); 3] },
        Block::Quote(vec![Block::Bullets(vec![vec![table(12, 2, "Incomprehensibility")]])]),
    ]);
    let text = file.text();
    assert_eq!(text.matches("long").count(), 8_000);
    assert_eq!(text.matches("below").count(), 3);
    assert_eq!(text.matches("Incomprehensibility").count(), 24);
}
