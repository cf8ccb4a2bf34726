"""Makes fonts.tar.xz from the unpacked source packages (see README.md).

usage: python generate.py SOURCES

SOURCES is a folder with the TTF files of the packages, at any depth. Needs fonttools.
"""

import io
import lzma
import pathlib
import sys
import tarfile

from fontTools import subset

# Scripts that have a regular and a bold face of their own.
SCRIPTS = """
    Arabic Armenian Bengali Devanagari Ethiopic Georgian Gujarati Gurmukhi Hebrew Kannada Khmer Lao
    Malayalam Myanmar Oriya Sinhala Tamil Telugu Thai
""".split()

# Arrows, operators, technical signs and the like; the alphabets for formulas are left out.
MATH = [(0x2000, 0x2BFF)]
# Without mah-jong tiles, dominoes, playing cards, alchemy and chess; most emoji are left to their font.
SYMBOLS = [(0x2000, 0x2BFF), (0x1F100, 0x1F1E5), (0x1F322, 0x1F322), (0x1F394, 0x1F39D), (0x1F568, 0x1F594),
           (0x1F5A9, 0x1F5FA), (0x1F650, 0x1F67F), (0x1F780, 0x1F8FF)]

# Large enough for similar fonts to find each other; unpacking takes that much memory.
PACKED = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 8 << 20}]


def faces():
    """The name of each face, and the characters it keeps (None: all).

    The order is that of preference where several faces have a character and fit equally well.
    """
    for style in ["Regular", "Bold", "Italic", "BoldItalic"]:
        yield f"NotoSans-{style}", None
    for style in ["Regular", "Bold"]:
        yield f"NotoSansMono-{style}", None
    for script in SCRIPTS:
        for style in ["Regular", "Bold"]:
            yield f"NotoSans{script}-{style}", None
    yield "NotoSansMath-Regular", MATH
    yield "NotoSansSymbols-Regular", SYMBOLS
    yield "NotoSansSymbols2-Regular", SYMBOLS
    yield "NotoEmoji_400Regular", None
    yield "DroidSansFallback", None


def shrink(path, ranges):
    """Drops hinting, which no PDF reader uses at these sizes, and the characters out of range."""
    options = subset.Options(
        hinting=False,
        layout_features=["*"],
        name_IDs=["*"],
        notdef_outline=True,
        glyph_names=False,
        recalc_timestamp=False,
        drop_tables=["DSIG", "FFTM", "MATH", "meta", "vhea", "vmtx"],
    )
    font = subset.load_font(path, options)
    kept = font.getBestCmap().keys()
    if ranges:
        kept = [c for c in kept if any(first <= c <= last for first, last in ranges)]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=kept)
    subsetter.subset(font)
    out = io.BytesIO()
    subset.save_font(font, out, options)
    return out.getvalue()


def main():
    sources = {path.stem: path for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.ttf"))}
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, ranges in faces():
            data = shrink(sources[name], ranges)
            entry = tarfile.TarInfo(name.replace("_400", "-") + ".ttf")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
            print(f"{entry.name:32}{entry.size:>10}")
    packed = lzma.compress(unpacked.getvalue(), check=lzma.CHECK_CRC32, filters=PACKED)
    (pathlib.Path(__file__).parent / "fonts.tar.xz").write_bytes(packed)
    print(f"{len(packed):>42}")


main()
