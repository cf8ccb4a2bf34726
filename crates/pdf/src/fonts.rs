//! The embedded fonts. They are unpacked when the first document is printed, not when the server starts.

use std::io::{self, Read};
use std::sync::LazyLock;

use lzma_rust2::XzReader;
use typst::foundations::Bytes;
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;

use crate::Failure;

pub(crate) struct Fonts {
    pub faces: Vec<Font>,
    pub book: LazyHash<FontBook>,
}

impl Fonts {
    /// Returns true if any face has a glyph for the character.
    pub(crate) fn cover(&self, c: char) -> bool {
        self.faces.iter().any(|face| face.info().coverage.contains(c as u32))
    }
}

pub(crate) fn get() -> Result<&'static Fonts, Failure> {
    FONTS.as_ref().map_err(Failure::Fonts)
}

static FONTS: LazyLock<io::Result<Fonts>> = LazyLock::new(|| {
    let mut archive = tar::Archive::new(XzReader::new(PACKED, false));
    let faces = archive.entries()?.map(|entry| unpack(entry?)).collect::<Result<Vec<_>, _>>()?;
    let book = LazyHash::new(FontBook::from_fonts(&faces));
    Ok(Fonts { faces, book })
});

fn unpack(mut entry: tar::Entry<'_, impl Read>) -> io::Result<Font> {
    let mut data = Vec::new();
    entry.read_to_end(&mut data)?;
    let name = || entry.path_bytes().escape_ascii().to_string();
    Font::new(Bytes::new(data), 0).ok_or_else(|| io::Error::other(format!("{} is not a font", name())))
}

/// The fonts in order of preference: the first one wins where several have a character and fit equally well.
static PACKED: &[u8] = include_bytes!("../fonts/fonts.tar.xz");
