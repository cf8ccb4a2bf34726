//! The environment of Typst: our templates, our fonts and one data file. It has no file system, no packages, no
//! network and no clock.
//!
//! To add a kind of document, add a source file next to the others, a variant of [`Template`] and a type in
//! [`crate::input`] for its data.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use typst::diag::{FileError, FileResult, SourceDiagnostic};
use typst::foundations::{Bytes, Datetime, Duration, Smart};
use typst::layout::{Frame, FrameItem};
use typst::syntax::{FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook, Glyph};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards};

use crate::Failure;
use crate::failure::MAX_PAGES;
use crate::fonts::{self, Fonts};

/// The number of documents for which Typst caches intermediate results. The cache pays off within one document, where
/// the contents and page numbers need several layout passes; beyond that it would only hold memory.
const CACHED_GENERATIONS: usize = 1;

/// One kind of document.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Template {
    Policy,
    Collection,
    SoaReport,
    Agreement,
    /// The label of a stamp.
    Label,
}

impl Template {
    const fn path(self) -> &'static str {
        match self {
            Self::Policy => "policy.typ",
            Self::Collection => "collection.typ",
            Self::SoaReport => "statement.typ",
            Self::Agreement => "agreement.typ",
            Self::Label => "label.typ",
        }
    }
}

/// Every source file, by its name in Typst.
const SOURCES: [(&str, &str); 8] = [
    ("look.typ", include_str!("../templates/look.typ")),
    ("blocks.typ", include_str!("../templates/blocks.typ")),
    ("parts.typ", include_str!("../templates/parts.typ")),
    ("policy.typ", include_str!("../templates/policy.typ")),
    ("collection.typ", include_str!("../templates/collection.typ")),
    ("statement.typ", include_str!("../templates/statement.typ")),
    ("agreement.typ", include_str!("../templates/agreement.typ")),
    ("label.typ", include_str!("../templates/label.typ")),
];

const DATA: &str = "data.json";

/// State shared by all documents. Typst never frees a file name, so all documents use the same set of names.
struct Shared {
    library: LazyHash<Library>,
    sources: Vec<Source>,
    data: FileId,
}

impl Shared {
    fn id(&self, path: &str) -> Option<FileId> {
        self.sources.iter().map(Source::id).find(|id| id.get().vpath().get_without_slash() == path)
    }
}

static SHARED: LazyLock<Option<Shared>> = LazyLock::new(|| {
    let id = |name: &str| Some(RootedPath::new(VirtualRoot::Project, VirtualPath::new(name).ok()?).intern());
    let sources = SOURCES.iter().map(|(name, text)| Some(Source::new(id(name)?, (*text).to_owned())));
    Some(Shared {
        library: LazyHash::new(Library::default()),
        sources: sources.collect::<Option<_>>()?,
        data: id(DATA)?,
    })
});

struct Desk {
    shared: &'static Shared,
    fonts: &'static Fonts,
    main: FileId,
    data: Bytes,
}

impl World for Desk {
    fn library(&self) -> &LazyHash<Library> {
        &self.shared.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &self.fonts.book
    }

    fn main(&self) -> FileId {
        self.main
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        self.shared.sources.iter().find(|source| source.id() == id).cloned().ok_or_else(|| absent(id))
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        if id == self.shared.data { Ok(self.data.clone()) } else { Err(absent(id)) }
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.fonts.faces.get(index).cloned()
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        None
    }
}

fn absent(id: FileId) -> FileError {
    FileError::NotFound(id.get().vpath().get_without_slash().into())
}

/// A laid-out document.
pub(crate) struct Pages {
    document: PagedDocument,
    template: Template,
}

impl Pages {
    /// Lays out the template with this data.
    pub(crate) fn new(template: Template, data: Vec<u8>) -> Result<Self, Failure> {
        let shared = SHARED.as_ref().ok_or_else(|| Failure::Template("bad name of a file".into()))?;
        let main = shared.id(template.path()).ok_or_else(|| Failure::Template("no such template".into()))?;
        let desk = Desk { shared, fonts: fonts::get()?, main, data: Bytes::new(data) };
        let document = typst::compile::<PagedDocument>(&desk).output;
        comemo::evict(CACHED_GENERATIONS);
        let document = document.map_err(|errors| template_failure(&errors))?;
        if document.pages().len() > MAX_PAGES {
            Err(Failure::TooLarge)
        } else {
            Ok(Self { document, template })
        }
    }

    /// Returns the sequences of characters that were laid out without a glyph.
    pub(crate) fn undrawn(&self) -> BTreeSet<String> {
        let mut undrawn = BTreeSet::new();
        for page in self.document.pages() {
            find_undrawn(&page.frame, &mut undrawn);
        }
        undrawn
    }

    pub(crate) fn write(&self) -> Result<Vec<u8>, Failure> {
        let options = PdfOptions {
            creator: Smart::Custom(Some("Attestry".into())),
            // A label is part of another document, and a screen reader must not read it aloud on every page.
            tagged: !matches!(self.template, Template::Label),
            // The first version in which screen readers can tell a title from a paragraph.
            standards: PdfStandards::new(&[PdfStandard::V_2_0])
                .map_err(|error| Failure::Template(error.message().to_string()))?,
            ..PdfOptions::default()
        };
        typst_pdf::pdf(&self.document, &options).map_err(|errors| template_failure(&errors))
    }
}

fn find_undrawn(frame: &Frame, undrawn: &mut BTreeSet<String>) {
    for (_, item) in frame.items() {
        match item {
            FrameItem::Group(group) => find_undrawn(&group.frame, undrawn),
            FrameItem::Text(item) => {
                let mut ranges: Vec<_> =
                    item.glyphs.iter().filter(|glyph| glyph.id == 0).map(Glyph::range).collect();
                ranges.sort_by_key(|range| range.start);
                // Adjacent missing glyphs belong to one sequence.
                for together in ranges.chunk_by(|one, next| one.end >= next.start) {
                    let text = together.first().zip(together.last());
                    undrawn.extend(
                        text.and_then(|(first, last)| item.text.get(first.start..last.end))
                            .map(str::to_owned),
                    );
                }
            }
            _ => {}
        }
    }
}

fn template_failure(errors: &[SourceDiagnostic]) -> Failure {
    let messages: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    Failure::Template(messages.join("; "))
}
