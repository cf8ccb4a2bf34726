use super::{read, write};
use crate::content::{Block, Cell, Content, Inline, Marks, item, joined, nodes, quoted, table};

fn blocks(text: &str) -> Vec<Block> {
    read(text).expect("Markdown").0
}

fn text(text: &str) -> Inline {
    Inline::plain(text)
}

fn paragraph(words: &str) -> Block {
    Block::Paragraph(vec![text(words)])
}

#[test]
fn what_people_write_is_understood() {
    let content = blocks(
        "# Access\n\nWe use **least *privilege***, `sudo` and [help](mailto:it@example.com).\nSame line.\n\n\
         - one\n- two\n  1. deep\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```yaml\nx: 1\n```\n\n---\n",
    );
    let bold = |word: &str, italic| Inline::Text {
        text: word.to_owned(),
        marks: Marks { bold: true, italic, ..Marks::default() },
    };
    let code = Inline::Text { text: "sudo".to_owned(), marks: Marks { code: true, ..Marks::default() } };
    let link = Some("mailto:it@example.com".to_owned());
    let help = Inline::Text { text: "help".to_owned(), marks: Marks { link, ..Marks::default() } };
    let deep = Block::Numbers { start: 1, items: vec![vec![paragraph("deep")]] };
    let cells = |a: &str, b: &str| vec![vec![text(a)], vec![text(b)]];
    assert_eq!(
        content,
        [
            Block::Heading { level: 1, text: vec![text("Access")] },
            Block::Paragraph(vec![
                text("We use "),
                bold("least ", false),
                bold("privilege", true),
                text(", "),
                code,
                text(" and "),
                help,
                text(". Same line."),
            ]),
            Block::Bullets(vec![vec![paragraph("one")], vec![paragraph("two"), deep]]),
            Block::Quote(vec![paragraph("quoted")]),
            Block::Table { head: Some(cells("a", "b")), rows: vec![cells("1", "2")] },
            Block::Code { language: Some("yaml".to_owned()), text: "x: 1".to_owned() },
            Block::Rule,
        ]
    );
}

#[test]
fn what_is_written_looks_like_what_people_write() {
    let markdown = "# Access\n\nWe use **least *privilege***, `sudo` and [help](mailto:it@example.com).\n\n\
                    - one\n- two\n  1. deep\n  2. deeper\n\n> quoted\n>\n> twice\n\n| a | b |\n| --- | --- |\n\
                    | 1 | 2 |\n\n```yaml\nx: 1\n```\n\n---\n\nsnake_case, 5 \\* 3 & co\\\nnext line\n";
    assert_eq!(write(&read(markdown).expect("Markdown")), markdown);
}

#[test]
fn other_html_is_text_and_scripts_are_nowhere() {
    assert_eq!(blocks("<script>alert(1)</script>"), [paragraph("<script>alert(1)</script>")]);
    assert_eq!(blocks("a <img src=x> b"), [paragraph("a <img src=x> b")]);
    assert!(read("[x](javascript:alert(1))").expect_err("a script").contains("a link must lead to"));
    assert!(read("![x](data:text/html,y)").is_err());
    assert!(read("nul \u{0} here").is_err());
    assert!(read(&"> ".repeat(14)).expect_err("too deep").contains("nested"));
}

/// A generator of pseudo-random content.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % most
    }

    fn words(&mut self) -> String {
        const PIECES: &[&str] = &[
            "a",
            "word",
            " ",
            "  ",
            "*",
            "**",
            "_",
            "`",
            "``",
            "[",
            "]",
            "(",
            ")",
            "<",
            ">",
            "&",
            "&amp;",
            "#",
            "# ",
            "-",
            "- ",
            "+",
            "1.",
            "1. ",
            "2)",
            "|",
            "\\",
            "!",
            "~",
            "~~",
            "=",
            "---",
            "<u>",
            "</u>",
            "<br>",
            "é",
            "日本",
            "\u{a0}",
            "“",
            "”",
            ":",
            "\"",
            "'",
            "/",
            "{",
            "}",
            "$",
            "^",
            "<p></p>",
            "http://x",
            ".",
            "😀",
            "עברית",
        ];
        (0..=self.below(5)).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    fn marks(&mut self) -> Marks {
        let link = (self.below(6) == 0).then(|| {
            ["https://example.com/a?b=c&d=(e)", "#x", "/path|y", "mailto:a@b.c"][self.below(4)].to_owned()
        });
        let mut on = || self.below(5) == 0;
        Marks { bold: on(), italic: on(), strike: on(), underline: on(), code: on(), link }
    }

    fn inlines(&mut self) -> Vec<Inline> {
        let pieces = (0..self.below(5)).map(|_| match self.below(8) {
            0 => Inline::Break,
            _ => Inline::Text { text: self.words(), marks: self.marks() },
        });
        joined(pieces.collect())
    }

    fn blocks(&mut self, depth: usize) -> Vec<Block> {
        (0..self.below(4)).map(|_| self.block(depth)).collect()
    }

    fn items(&mut self, depth: usize) -> Vec<Vec<Block>> {
        (0..=self.below(3)).map(|_| item(self.blocks(depth - 1))).collect()
    }

    fn row(&mut self, width: usize) -> Vec<Cell> {
        (0..width).map(|_| self.inlines()).collect()
    }

    fn code(&mut self) -> String {
        let lines: Vec<String> =
            (0..self.below(4)).map(|_| self.words() + ["", "\t", "    "][self.below(3)]).collect();
        lines.join("\n")
    }

    fn block(&mut self, depth: usize) -> Block {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 | 1 => Block::Paragraph(self.inlines()),
            2 => Block::Heading { level: [1, 2, 3, 6][self.below(4)], text: self.inlines() },
            3 => Block::Code { language: (self.below(2) == 0).then(|| "yaml".to_owned()), text: self.code() },
            4 => {
                let width = 1 + self.below(3);
                let head = (self.below(2) == 0).then(|| self.row(width));
                let rows = (0..=self.below(2)).map(|_| self.row(width)).collect();
                table(head, rows).unwrap_or(Block::Rule)
            }
            5 => Block::Bullets(self.items(depth)),
            6 => {
                let start = [0, 1, 7, 999_999_999][self.below(4)];
                Block::Numbers { start, items: self.items(depth) }
            }
            _ => Block::Quote(quoted(self.blocks(depth - 1))),
        }
    }
}

#[test]
fn nodes_to_markdown_to_nodes_is_the_identity() {
    let mut random = Random(7);
    for round in 0..6_000 {
        let content = Content(random.blocks(3));
        let markdown = write(&content);
        let again = read(&markdown).unwrap_or_else(|error| panic!("round {round}: {error}\n{markdown}"));
        assert_eq!(again, content, "round {round}:\n{markdown}");
    }
}

#[test]
fn nodes_are_read_as_they_are_written() {
    let mut random = Random(11);
    for _ in 0..2_000 {
        let content = Content(random.blocks(3));
        let json = serde_json::to_value(&content).expect("JSON");
        assert_eq!(nodes::read(&json).expect("nodes"), content, "{json}");
    }
}

#[test]
fn what_grows_on_its_way_is_measured_where_it_arrives() {
    let cells = |count: usize| serde_json::json!({"type": "tableRow", "content": vec![serde_json::json!({"type": "tableCell"}); count]});
    let rows: Vec<serde_json::Value> =
        std::iter::once(cells(1000)).chain((0..1000).map(|_| cells(0))).collect();
    let bomb = serde_json::json!([{"type": "table", "content": rows}]);
    assert!(nodes::read(&bomb).expect_err("a million cells").contains("at most 20000 cells"));
    let items = vec![serde_json::json!({"type": "listItem"}); 9_000];
    assert!(nodes::read(&serde_json::json!([{"type": "bulletList", "content": items}])).is_ok());
    let items = vec![serde_json::json!({"type": "listItem"}); 15_000];
    assert!(nodes::read(&serde_json::json!([{"type": "bulletList", "content": items}])).is_err());
    assert!(read(&"x\n\n".repeat(15_000)).expect_err("too many").contains("20000 nodes"));
    let wide = format!("|{}\n|{}\n{}", " a |".repeat(300), " --- |".repeat(300), "| b |\n".repeat(120));
    assert!(read(&wide).expect_err("too wide").contains("cells"));
    let content = read(&"* ".repeat(100_000).replace("* ", "\\* ")).expect("stars");
    assert_eq!(read(&write(&content)), Ok(content), "what is written can be read, however much it takes");
}

#[test]
fn very_many_open_marks_take_no_time() {
    let text = format!("x{}", "<b>x".repeat(9_000));
    let content = read(&text).expect("bold");
    assert_eq!(content.0.len(), 1);
}

#[test]
fn a_table_of_one_empty_row_stays() {
    let table = serde_json::json!([{"type": "table", "content": [
        {"type": "tableRow", "content": [{"type": "tableHeader"}, {"type": "tableHeader"}]}
    ]}]);
    let content = nodes::read(&table).expect("a table");
    assert_eq!(read(&write(&content)), Ok(content));
}
