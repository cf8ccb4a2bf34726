use attestry_pdf::{Approval, Collection, Document, Signature};

use crate::build::{document, heading, paragraph};
use crate::read::File;

#[test]
fn a_collection_has_one_cover_and_one_table_of_contents() {
    let policies = ["Access", "Backup", "Cryptography"].map(|name| Document {
        title: format!("{name} Policy"),
        version: Some(2),
        approval: Some(Approval { by: format!("{name} Officer"), at: "1 May 2026".into() }),
        signatures: vec![Signature { name: format!("{name} Signatory"), at: "2 May 2026".into() }],
        ..document(vec![heading(1, &format!("{name} rules")), paragraph("Text.")])
    });
    let collection = Collection {
        organization: "Example Ltd".into(),
        title: "Published policies".into(),
        date: "15 November 2026".into(),
        policies: policies.into(),
    };
    let pdf = attestry_pdf::collection(&collection).unwrap();
    assert_eq!(pdf.bytes, attestry_pdf::collection(&collection).unwrap().bytes);
    let file = File::new(&pdf);
    assert_eq!(file.pages(), 5);
    assert!(file.page(1).contains("15November2026") && file.page(1).contains("Publishedpolicies"));
    assert!(file.page(2).starts_with("ContentsAccessPolicy"), "{}", file.page(2));
    for (page, name) in [(3, "Access"), (4, "Backup"), (5, "Cryptography")] {
        assert!(file.page(page).starts_with(&format!("{name}Policy")), "{}", file.page(page));
        for text in ["rules", "Officer", "Signatory"] {
            assert!(file.pages_with(&format!("{name} {text}")).contains(&page));
        }
    }
    assert_eq!(file.pages_with("Contents"), [2]);
    file.assert_has("Page 5 of 5");
}

#[test]
fn an_empty_collection_is_a_cover() {
    assert_eq!(File::new(&attestry_pdf::collection(&Collection::default()).unwrap()).pages(), 1);
}
