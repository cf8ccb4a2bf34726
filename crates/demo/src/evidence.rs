//! Generates small valid files: text, tables, JSON, pictures and PDFs.

use std::fmt::Write;
use std::io::Write as _;

use anyhow::Result;
use attestry_app::files::attachments::NewFile;
use attestry_domain::date::Date;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Deserialize;
use serde_json::json;

use crate::story::text;

/// The type of a file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Text,
    Csv,
    Json,
    Pdf,
    Png,
}

impl Kind {
    fn extension(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Pdf => "pdf",
            Self::Png => "png",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Csv => "text/csv",
            Self::Json => "application/json",
            Self::Pdf => "application/pdf",
            Self::Png => "image/png",
        }
    }
}

/// Creates evidence of work done on a day.
pub(crate) fn of(kind: Kind, stem: &str, title: &str, by: &str, day: Date) -> Result<(NewFile, Bytes)> {
    let file = NewFile {
        name: text(&format!("{stem}-{day}.{}", kind.extension()))?,
        media_type: text(kind.media_type())?,
    };
    // Figures that differ between days and are stable for each.
    let figure =
        |most: usize| title.bytes().chain(day.to_string().bytes()).map(usize::from).sum::<usize>() % most + 1;
    let content = match kind {
        Kind::Text => format!(
            "{title}\nDone on {day} by {by}.\n\nLooked at: {} items\nIn order: {}\nFollowed up: {}\n",
            figure(60) + 4,
            figure(60) + 2,
            2
        )
        .into_bytes(),
        Kind::Csv => {
            let mut table = "item,checked_on,checked_by,result\n".to_owned();
            for item in 1..=figure(20) + 4 {
                let result = if item.is_multiple_of(9) { "removed" } else { "kept" };
                writeln!(table, "{stem}-{item:03},{day},{by},{result}")?;
            }
            table.into_bytes()
        }
        Kind::Json => serde_json::to_vec_pretty(&json!({
            "title": title, "date": day, "by": by, "checked": figure(40) + 3, "failed": figure(3) - 1,
        }))?,
        Kind::Pdf => pdf(
            title,
            &[
                format!("Done on {day} by {by}."),
                "Result: in order, two findings are followed up.".to_owned(),
            ],
        )?,
        Kind::Png => picture(figure(90))?,
    };
    Ok((file, content.into()))
}

/// Creates a PDF of one page with a title and lines. The standard fonts of PDF are enough for these texts.
pub(crate) fn pdf(title: &str, lines: &[String]) -> Result<Vec<u8>> {
    let plain = |text: &str| -> String {
        let of = |c: char| match c {
            '(' | ')' | '\\' => format!("\\{c}"),
            '’' => "'".to_owned(),
            ' '..='~' => c.to_string(),
            _ => "?".to_owned(),
        };
        text.chars().map(of).collect()
    };
    let mut page = format!("BT /F1 22 Tf 72 740 Td ({}) Tj /F1 12 Tf 0 -16 Td", plain(title));
    for line in lines {
        write!(page, " 0 -22 Td ({}) Tj", plain(line))?;
    }
    page.push_str(" ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut file = "%PDF-1.7\n".to_owned();
    let mut places = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        places.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", place + 1)?;
    }
    let table = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1)?;
    for place in places {
        writeln!(file, "{place:010} 00000 n ")?;
    }
    write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1)?;
    Ok(file.into_bytes())
}

/// Draws a bar chart in place of a screenshot: the share of something that is in order.
fn picture(share: usize) -> Result<Vec<u8>> {
    const WIDTH: usize = 240;
    const HEIGHT: usize = 80;
    let mut rows = Vec::with_capacity(HEIGHT * (3 * WIDTH + 1));
    for y in 0..HEIGHT {
        rows.push(0);
        for x in 0..WIDTH {
            let is_bar = (28..52).contains(&y) && (20..220).contains(&x);
            let is_full = (x.saturating_sub(20)) * 100 / 200 < 10 + share;
            rows.extend(match (is_bar, is_full) {
                (true, true) => [46, 139, 87],
                (true, false) => [214, 218, 224],
                (false, _) => [250, 250, 250],
            });
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&rows)?;
    let mut header = Vec::new();
    header.extend(u32::try_from(WIDTH)?.to_be_bytes());
    header.extend(u32::try_from(HEIGHT)?.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", header), (b"IDAT", packed.finish()?), (b"IEND", Vec::new())] {
        let mut sum = flate2::Crc::new();
        sum.update(name);
        sum.update(&content);
        file.extend(u32::try_from(content.len())?.to_be_bytes());
        file.extend(name);
        file.extend(&content);
        file.extend(sum.sum().to_be_bytes());
    }
    Ok(file)
}
