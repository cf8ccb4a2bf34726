//! The embedded fonts. They are unpacked when the first document is printed, not when the server starts.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use typst::foundations::Bytes;
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;

use crate::Failure;

pub(crate) struct Fonts {
    pub faces: Vec<Font>,
    pub book: LazyHash<FontBook>,
}

impl Fonts {
    /// Whether any face can draw the character.
    pub(crate) fn cover(&self, c: char) -> bool {
        self.faces.iter().any(|face| face.info().coverage.contains(c as u32))
    }
}

pub(crate) fn get() -> Result<&'static Fonts, Failure> {
    FONTS.as_ref().map_err(|name| Failure::Font(name))
}

static FONTS: LazyLock<Result<Fonts, &'static str>> = LazyLock::new(|| {
    let faces =
        PACKED.iter().map(|(name, packed)| unpack(packed).ok_or(*name)).collect::<Result<Vec<_>, _>>()?;
    let book = LazyHash::new(FontBook::from_fonts(&faces));
    Ok(Fonts { faces, book })
});

fn unpack(packed: &[u8]) -> Option<Font> {
    let mut data = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut data).ok()?;
    Font::new(Bytes::new(data), 0)
}

macro_rules! packed {
    ($($name:literal)*) => {
        &[$(($name, include_bytes!(concat!("../fonts/", $name, ".ttf.gz")))),*]
    };
}

/// The order is that of preference where several faces have a character and fit equally well.
static PACKED: &[(&str, &[u8])] = packed! {
    "NotoSans-Regular" "NotoSans-Bold" "NotoSans-Italic" "NotoSans-BoldItalic"
    "NotoSansMono-Regular" "NotoSansMono-Bold"
    "NotoSansArabic-Regular" "NotoSansArabic-Bold"
    "NotoSansArmenian-Regular" "NotoSansArmenian-Bold"
    "NotoSansBengali-Regular" "NotoSansBengali-Bold"
    "NotoSansDevanagari-Regular" "NotoSansDevanagari-Bold"
    "NotoSansEthiopic-Regular" "NotoSansEthiopic-Bold"
    "NotoSansGeorgian-Regular" "NotoSansGeorgian-Bold"
    "NotoSansGujarati-Regular" "NotoSansGujarati-Bold"
    "NotoSansGurmukhi-Regular" "NotoSansGurmukhi-Bold"
    "NotoSansHebrew-Regular" "NotoSansHebrew-Bold"
    "NotoSansKannada-Regular" "NotoSansKannada-Bold"
    "NotoSansKhmer-Regular" "NotoSansKhmer-Bold"
    "NotoSansLao-Regular" "NotoSansLao-Bold"
    "NotoSansMalayalam-Regular" "NotoSansMalayalam-Bold"
    "NotoSansMyanmar-Regular" "NotoSansMyanmar-Bold"
    "NotoSansOriya-Regular" "NotoSansOriya-Bold"
    "NotoSansSinhala-Regular" "NotoSansSinhala-Bold"
    "NotoSansTamil-Regular" "NotoSansTamil-Bold"
    "NotoSansTelugu-Regular" "NotoSansTelugu-Bold"
    "NotoSansThai-Regular" "NotoSansThai-Bold"
    "NotoSansMath-Regular" "NotoSansSymbols-Regular" "NotoSansSymbols2-Regular"
    "NotoEmoji-Regular"
    "DroidSansFallback"
};
