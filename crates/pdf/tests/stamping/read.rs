//! Reads stamped files with another PDF library than the one that stamped them.

use attestry_pdf::Stamp;
use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId};

use crate::build;

pub(crate) struct Stamped {
    pub document: Document,
    pub bytes: Vec<u8>,
}

impl Stamped {
    #[track_caller]
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self::with(bytes, &build::stamp())
    }

    #[track_caller]
    pub(crate) fn with(bytes: &[u8], stamp: &Stamp) -> Self {
        attestry_pdf::inspect(bytes).unwrap();
        let bytes = attestry_pdf::stamp(bytes, stamp).unwrap();
        let document = Document::load_mem(&bytes).unwrap();
        assert!(document.xref_recovery.is_none());
        Self { document, bytes }
    }

    pub(crate) fn page(&self, number: u32) -> ObjectId {
        self.document.get_pages()[&number]
    }

    fn operations(&self, number: u32) -> Vec<Operation> {
        Content::decode(&self.document.get_page_content(self.page(number))).unwrap().operations
    }

    /// The positions of the label on a page, if all earlier graphics states are restored.
    pub(crate) fn placements(&self, number: u32) -> Vec<[f32; 6]> {
        let operations = self.operations(number);
        let is_stamp = |operation: &Operation| {
            operation.operator == "Do"
                && operation.operands[0].as_name().unwrap().starts_with(b"AttestryStamp")
        };
        let (mut depth, mut last_depth) = (0, 1);
        let mut placements = Vec::new();
        for (at, operation) in operations.iter().enumerate() {
            match operation.operator.as_str() {
                "q" => depth += 1,
                "Q" => depth -= 1,
                _ if is_stamp(operation) => {
                    last_depth = depth;
                    let matrix = &operations[at - 1];
                    assert_eq!(matrix.operator, "cm");
                    let numbers: Vec<_> =
                        matrix.operands.iter().map(|number| number.as_float().unwrap()).collect();
                    placements.push(numbers.try_into().unwrap());
                }
                _ => {}
            }
            assert!(depth >= 0, "more is closed than was opened");
        }
        assert_eq!((depth, last_depth), (0, 1), "the stamp is drawn in a state of its own");
        placements
    }

    /// The resources of a page, its own or inherited.
    pub(crate) fn resources(&self, number: u32) -> &Dictionary {
        let mut id = self.page(number);
        loop {
            let dictionary = self.document.get_dictionary(id).unwrap();
            match dictionary.get(b"Resources") {
                Ok(resources) if !resources.is_null() => return self.dictionary(resources),
                _ => id = dictionary.get(b"Parent").unwrap().as_reference().unwrap(),
            }
        }
    }

    pub(crate) fn dictionary<'a>(&'a self, value: &'a Object) -> &'a Dictionary {
        self.document.dereference(value).unwrap().1.as_dict().unwrap()
    }

    /// The form XObject that a page uses as its label.
    pub(crate) fn label(&self, number: u32) -> ObjectId {
        let operations = self.operations(number);
        let name = operations
            .iter()
            .filter(|operation| operation.operator == "Do")
            .map(|operation| operation.operands[0].as_name().unwrap())
            .rfind(|name| name.starts_with(b"AttestryStamp"))
            .unwrap();
        let drawings = self.dictionary(self.resources(number).get(b"XObject").unwrap());
        drawings.get(name).unwrap().as_reference().unwrap()
    }

    /// The text of a page, without the label.
    pub(crate) fn text(&self, number: u32) -> String {
        squeeze(&self.document.extract_text(&[number]).unwrap())
    }

    /// The text of the label on a page.
    pub(crate) fn label_text(&self, number: u32) -> String {
        let label = self.label(number);
        let mut document = self.document.clone();
        let resources =
            document.get_object(label).unwrap().as_stream().unwrap().dict.get(b"Resources").unwrap().clone();
        let page = document.get_dictionary_mut(self.page(number)).unwrap();
        page.set("Contents", label);
        page.set("Resources", resources);
        squeeze(&document.extract_text(&[number]).unwrap())
    }

    /// Asserts that the page is unchanged except for the label.
    #[track_caller]
    pub(crate) fn assert_page(&self, number: u32, text: &str) {
        assert_eq!(self.text(number), squeeze(text));
        assert!(!self.placements(number).is_empty(), "page {number}");
        assert!(
            self.label_text(number).contains("AdaLovelace·ada@example.com"),
            "{}",
            self.label_text(number)
        );
    }
}

pub(crate) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
