//! Reads finished files.

use attestry_pdf::Pdf;
use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId};

pub(crate) struct File {
    document: Document,
    pages: Vec<String>,
}

impl File {
    pub(crate) fn new(pdf: &Pdf) -> Self {
        let document = Document::load_mem(&pdf.bytes).unwrap();
        let numbers = document.get_pages().into_keys();
        let pages = numbers.map(|number| squeeze(&document.extract_text(&[number]).unwrap())).collect();
        Self { document, pages }
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The text of a page without any white space, since line breaks do not matter.
    pub(crate) fn page(&self, number: usize) -> &str {
        &self.pages[number - 1]
    }

    pub(crate) fn text(&self) -> String {
        self.pages.concat()
    }

    /// The numbers of the pages that contain this text.
    pub(crate) fn pages_with(&self, text: &str) -> Vec<usize> {
        let text = squeeze(text);
        (1..=self.pages()).filter(|number| self.page(*number).contains(&text)).collect()
    }

    #[track_caller]
    pub(crate) fn assert_has(&self, text: &str) {
        let all = self.text();
        assert!(all.contains(&squeeze(text)), "{text:?} is not in {all:?}");
    }

    pub(crate) fn catalog(&self) -> &Dictionary {
        self.document.catalog().unwrap()
    }

    /// The title in the file's metadata.
    pub(crate) fn title(&self) -> String {
        let id = self.catalog().get(b"Metadata").unwrap().as_reference().unwrap();
        let stream = self.document.get_object(id).unwrap().as_stream().unwrap();
        let packet = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
        let packet = String::from_utf8(packet).unwrap();
        let (_, rest) = packet.split_once("<dc:title>").unwrap();
        let (_, rest) = rest.split_once("<rdf:li").unwrap();
        let (_, rest) = rest.split_once('>').unwrap();
        let title = rest.split_once("</rdf:li>").unwrap().0;
        title
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&amp;", "&")
    }

    /// The types of all structure elements, and true if there is a role map.
    pub(crate) fn structure(&self) -> (Vec<String>, bool) {
        let kinds = self.document.objects.values().filter_map(|object| {
            let dict = object.as_dict().ok()?;
            let is_element = dict.has(b"P") && dict.has(b"S");
            let kind = dict.get(b"S").ok()?.as_name().ok()?;
            is_element.then(|| String::from_utf8_lossy(kind).into_owned())
        });
        let root = self.catalog().get(b"StructTreeRoot").unwrap().as_reference().unwrap();
        (kinds.collect(), self.document.get_dictionary(root).unwrap().has(b"RoleMap"))
    }

    /// The width and height of a page.
    pub(crate) fn size_of_page(&self, number: usize) -> (f32, f32) {
        let page = self.document.get_dictionary(self.id(number)).unwrap();
        let corners = page.get(b"MediaBox").unwrap().as_array().unwrap();
        (corners[2].as_float().unwrap(), corners[3].as_float().unwrap())
    }

    /// The distance of the first text of a page from the left edge.
    pub(crate) fn start_of_text(&self, number: usize) -> f32 {
        let content = self.document.get_page_content(self.id(number));
        let operations = Content::decode(&content).unwrap().operations;
        let mut shift = vec![0.0];
        for Operation { operator, operands } in &operations {
            match operator.as_str() {
                "q" => shift.push(*shift.last().unwrap()),
                "Q" => drop(shift.pop()),
                "cm" => *shift.last_mut().unwrap() += operands[4].as_float().unwrap(),
                "Tm" => return shift.last().unwrap() + operands[4].as_float().unwrap(),
                _ => {}
            }
        }
        panic!("page {number} has no text");
    }

    fn id(&self, number: usize) -> ObjectId {
        self.document.get_pages()[&u32::try_from(number).unwrap()]
    }

    /// The targets of external links.
    pub(crate) fn links(&self) -> Vec<String> {
        let mut links: Vec<_> = self
            .dictionaries()
            .filter_map(|dictionary| dictionary.get(b"URI").ok()?.as_str().ok())
            .map(|link| String::from_utf8_lossy(link).into_owned())
            .collect();
        links.sort();
        links
    }

    /// The titles of bookmarks.
    pub(crate) fn bookmarks(&self) -> Vec<String> {
        self.dictionaries()
            .filter(|dictionary| dictionary.has(b"Parent") && dictionary.has(b"Dest"))
            .filter_map(|dictionary| lopdf::decode_text_string(dictionary.get(b"Title").ok()?).ok())
            .collect()
    }

    /// The number of elements in the structure tree with this tag.
    pub(crate) fn tags(&self, tag: &str) -> usize {
        self.dictionaries()
            .filter(|dictionary| {
                dictionary.get(b"S").and_then(Object::as_name).is_ok_and(|name| name == tag.as_bytes())
            })
            .count()
    }

    fn dictionaries(&self) -> impl Iterator<Item = &Dictionary> {
        self.document.objects.values().filter_map(|object| object.as_dict().ok()).flat_map(|dictionary| {
            let inner = dictionary.iter().filter_map(|(_, value)| value.as_dict().ok());
            std::iter::once(dictionary).chain(inner)
        })
    }
}

pub(crate) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
