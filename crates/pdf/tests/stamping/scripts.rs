use attestry_pdf::Stamp;

use crate::build::Sample;
use crate::read::{Stamped, squeeze};

fn label(lines: &[&str]) -> String {
    let stamp = Stamp { lines: lines.iter().map(|line| (*line).into()).collect() };
    Stamped::with(&Sample::hello().bytes(), &stamp).label_text(1)
}

#[test]
fn names_in_every_script_can_be_found() {
    for name in [
        "Zoë Ångström",
        "Ελένη Παππά",
        "Анна Каренина",
        "王小明",
        "山田太郎",
        "김철수",
        "สมชาย ใจดี",
        "Ադա",
        "ადა",
        "🔒 Ada 👍",
    ] {
        let text = label(&[name, "2026-11-16 10:12 UTC"]);
        assert!(text.contains(&squeeze(name)), "{name} is not in {text}");
        assert!(text.contains("2026-11-1610:12UTC"));
    }
    // Right-to-left text, and text whose letters are reordered.
    for name in ["محمد", "דוד", "आदित्य"] {
        let text = label(&[name]);
        // The other library extracts no text for parts that belong to other letters.
        let mut found: Vec<_> = text.chars().filter(|c| *c != '\u{fffd}').collect();
        let mut wanted: Vec<_> = name.chars().collect();
        found.sort_unstable();
        wanted.sort_unstable();
        found.dedup();
        wanted.dedup();
        assert_eq!(found, wanted, "{name}");
    }
}

#[test]
fn the_text_of_a_label_stands_beside_it_once() {
    let stamp = Stamp { lines: vec!["आदित्य शर्मा".into(), "10:12".into()] };
    let stamped = Stamped::with(&Sample::hello().bytes(), &stamp);
    let content = &stamped.document.get_object(stamped.label(1)).unwrap().as_stream().unwrap().content;
    let beside: String =
        "आदित्य शर्मा 10:12".encode_utf16().map(|unit| format!("{unit:04X}")).collect::<Vec<_>>().concat();
    let content = String::from_utf8_lossy(content);
    assert!(content.starts_with(&format!("/Span <</ActualText <FEFF{beside}>>> BDC")), "{content}");
    assert_eq!(content.matches("ActualText").count(), 1);
}

#[test]
fn hostile_lines_are_text() {
    for line in ["#panic(\"x\")", "$x$ *y* _z_ @ref <label>", "\\u{41} \\", "/Font (Q) Tj ET Q", "\"}]"] {
        assert!(label(&[line]).contains(&squeeze(line)), "{line}");
    }
}

#[test]
fn long_lines_are_broken_and_many_are_cut() {
    let word = "Donaudampfschifffahrtsgesellschaft".repeat(4);
    assert!(label(&[&word]).contains(&word));
    let text = label(&vec!["again and"; 100]);
    assert_eq!(text.matches("again").count(), 6);
    assert!(label(&[&"long ".repeat(100_000)]).ends_with('…'));
}

#[test]
fn a_stamp_without_text_leaves_the_file_readable() {
    for lines in [vec![], vec![String::new()], vec!["  ".into(), "\t".into()]] {
        let stamped = Stamped::with(&Sample::hello().bytes(), &Stamp { lines });
        assert_eq!(stamped.text(1), "Hello");
    }
}
