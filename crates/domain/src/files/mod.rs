//! The files that are accepted. A name is stripped of misleading characters; programs and scripts are rejected by
//! name, by declared type and by content; and the content must match the declared type.

use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::text::Parse;

/// The number of leading bytes that [`MediaType::check`] needs.
pub const HEAD: usize = 8 << 10;

/// A file's name without any path, safe to show and to save under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    const MAX_FILE_NAME_CHARS: usize = 255;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl Parse for FileName {
    fn parse(text: &str) -> Result<Self, String> {
        if text.contains('\0') {
            return Err("must not contain a NUL character".to_owned());
        }
        if text.chars().count() > Self::MAX_FILE_NAME_CHARS {
            return Err("must have at most 255 characters".to_owned());
        }
        let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = name
            .chars()
            .filter(|c| !c.is_control() && !is_invisible(*c))
            .map(|c| if "<>:\"|?*".contains(c) { '_' } else { c })
            .collect();
        let name = name.trim_matches(|c: char| c.is_whitespace() || c == '.');
        if name.is_empty() {
            return Err("must be the name of a file".to_owned());
        }
        // Trimming has removed a leading dot, which would hide the file, so that this is its extension.
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
        if let Some(ending) = ending.filter(|ending| PROGRAM_ENDINGS.contains(&ending.as_str())) {
            return Err(format!("ends in .{ending}: programs and scripts are not accepted"));
        }
        Ok(Self(name.to_owned()))
    }
}

/// Returns true for characters that are invisible or change the direction of text.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl JsonSchema for FileName {
    fn json_schema() -> Value {
        json!({
            "type": "string", "minLength": 1, "maxLength": Self::MAX_FILE_NAME_CHARS,
            "examples": ["screenshot.png"]
        })
    }
}

/// The declared type of a file: `type/subtype`, without parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType(String);

impl MediaType {
    /// The type of arbitrary bytes, which matches any content.
    pub const ANY: &'static str = "application/octet-stream";
    pub const PDF: &'static str = "application/pdf";

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// Checks that a file that begins with `head` has this type and is not executable.
    pub fn check(&self, head: &[u8]) -> Result<(), String> {
        if head.is_empty() {
            return Err("The file is empty.".to_owned());
        }
        let declared = canonical(&self.0);
        let says_text = is_text_type(declared);
        let is_text = looks_like_text(head);
        let found = infer::get(head).map(|found| found.mime_type());
        if is_script(head) || found == Some("text/x-shellscript") {
            return Err("The file is a script; programs and scripts are not accepted.".to_owned());
        }
        // Plain text can start with the magic bytes of another format: "BMW", "MZ".
        let found = found.filter(|found| {
            !(is_text && says_text) || is_text_type(found) || WRITTEN_IN_LETTERS.contains(found)
        });
        if found.is_some_and(|found| PROGRAM_TYPES.contains(&found)) {
            return Err("The file is a program; programs and scripts are not accepted.".to_owned());
        }
        let fits = match found {
            _ if declared == Self::ANY => true,
            Some(found) if says_text => is_text && is_text_type(found),
            None if says_text => is_text,
            Some(found) => {
                found == declared
                    || is_kin(found, declared)
                    || !infer::is_mime_supported(declared) && CONTAINERS.contains(&general(found))
            }
            None => !infer::is_mime_supported(declared),
        };
        if fits {
            return Ok(());
        }
        let seems = found.unwrap_or(if is_text { "text" } else { "something else" });
        Err(format!("The type says {}, but the content is {seems}.", self.0))
    }
}

impl Parse for MediaType {
    fn parse(text: &str) -> Result<Self, String> {
        let plain = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_word = |word: &str| {
            let odd = |b: u8| !(b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b));
            (1..=127).contains(&word.len()) && !word.bytes().any(odd)
        };
        match plain.split_once('/') {
            Some((kind, subtype)) if is_word(kind) && is_word(subtype) => {}
            _ => return Err("must be a media type such as application/pdf".to_owned()),
        }
        if PROGRAM_TYPES.contains(&plain.as_str()) {
            return Err(format!("is {plain}: programs and scripts are not accepted"));
        }
        Ok(Self(plain))
    }
}

impl JsonSchema for MediaType {
    fn json_schema() -> Value {
        json!({"type": "string", "minLength": 3, "maxLength": 255, "examples": ["image/png"]})
    }
}

/// Aliases of media types.
const ALIASES: &[(&str, &str)] = &[
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-png", "image/png"),
    ("image/x-ms-bmp", "image/bmp"),
    ("image/x-icon", "image/vnd.microsoft.icon"),
    ("image/heic", "image/heif"),
    ("application/x-pdf", "application/pdf"),
    ("application/x-zip-compressed", "application/zip"),
    ("application/x-zip", "application/zip"),
    ("application/x-gzip", "application/gzip"),
    ("application/x-rar-compressed", "application/vnd.rar"),
    ("application/x-rar", "application/vnd.rar"),
    ("application/x-sqlite3", "application/vnd.sqlite3"),
    ("text/rtf", "application/rtf"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/wav", "audio/x-wav"),
    ("audio/wave", "audio/x-wav"),
    ("audio/flac", "audio/x-flac"),
    ("audio/mp4", "audio/m4a"),
    ("audio/x-m4a", "audio/m4a"),
    ("video/avi", "video/x-msvideo"),
    ("application/xml", "text/xml"),
];

fn canonical(declared: &str) -> &str {
    ALIASES.iter().find(|(other, _)| *other == declared).map_or(declared, |(_, own)| own)
}

/// Families of formats that differ only deep inside the file, so that one may be detected where another is declared.
/// The first member is the general one.
const FAMILIES: &[&[&str]] = &[
    &[
        "application/zip",
        "application/epub+zip",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    &[
        "application/x-ole-storage",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
    ],
    &["video/mp4", "video/x-m4v", "video/quicktime", "audio/m4a"],
    &["video/x-matroska", "video/webm"],
    &["audio/ogg", "audio/opus"],
];

/// Returns true when one type is the general member of the other's family; two special members do not match.
fn is_kin(found: &str, declared: &str) -> bool {
    let kin = FAMILIES.iter().find(|family| family.contains(&found) && family.contains(&declared));
    kin.is_some_and(|family| found == family[0] || declared == family[0])
}

/// The general member of a type's family, or the type itself.
fn general(found: &str) -> &str {
    FAMILIES.iter().find(|family| family.contains(&found)).map_or(found, |family| family[0])
}

/// Container formats that unknown types may be based on.
const CONTAINERS: &[&str] = &[
    "application/zip",
    "application/x-ole-storage",
    "application/gzip",
    "application/x-tar",
    "text/xml",
    "text/html",
];

/// Formats that look like text but are not.
const WRITTEN_IN_LETTERS: &[&str] = &["application/pdf", "application/postscript", "application/rtf"];

fn is_text_type(media_type: &str) -> bool {
    const NAMED: &[&str] = &[
        "application/json",
        "application/x-ndjson",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/sql",
        "application/csv",
        "application/pgp-signature",
        "application/x-pem-file",
        "message/rfc822",
    ];
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || media_type.ends_with("+yaml")
        || NAMED.contains(&media_type)
}

/// Returns true for text in any encoding: without NUL and most control characters, or UTF-16 with a byte order mark.
fn looks_like_text(head: &[u8]) -> bool {
    let is_utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    is_utf16 || !head.iter().any(|b| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f))
}

fn is_script(head: &[u8]) -> bool {
    let head = head.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(head);
    head.starts_with(b"#!") || head.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"<?php"))
}

/// Media types of executables, declared or detected.
const PROGRAM_TYPES: &[&str] = &[
    "application/bat",
    "application/ecmascript",
    "application/hta",
    "application/java",
    "application/java-archive",
    "application/java-vm",
    "application/javascript",
    "application/vnd.android.dex",
    "application/vnd.android.dey",
    "application/vnd.android.package-archive",
    "application/vnd.debian.binary-package",
    "application/vnd.microsoft.portable-executable",
    "application/wasm",
    "application/x-apple-diskimage",
    "application/x-bat",
    "application/x-csh",
    "application/x-deb",
    "application/x-dosexec",
    "application/x-elf",
    "application/x-executable",
    "application/x-google-chrome-extension",
    "application/x-httpd-php",
    "application/x-java-archive",
    "application/x-javascript",
    "application/x-llvm",
    "application/x-mach-binary",
    "application/x-ms-installer",
    "application/x-ms-shortcut",
    "application/x-msdos-program",
    "application/x-msdownload",
    "application/x-msi",
    "application/x-perl",
    "application/x-php",
    "application/x-powershell",
    "application/x-python",
    "application/x-python-code",
    "application/x-redhat-package-manager",
    "application/x-rpm",
    "application/x-ruby",
    "application/x-sh",
    "application/x-sharedlib",
    "application/x-shellscript",
    "application/x-shockwave-flash",
    "application/x-vbs",
    "text/ecmascript",
    "text/javascript",
    "text/vbscript",
    "text/x-perl",
    "text/x-php",
    "text/x-powershell",
    "text/x-python",
    "text/x-ruby",
    "text/x-sh",
    "text/x-shellscript",
];

/// File extensions of executables.
const PROGRAM_ENDINGS: &[&str] = &[
    "apk", "app", "appx", "asp", "aspx", "bash", "bat", "cgi", "cjs", "class", "cmd", "com", "cpl", "crx",
    "csh", "deb", "dll", "dmg", "drv", "dylib", "elf", "exe", "fish", "hta", "ipa", "jar", "js", "jse",
    "jsp", "ksh", "lnk", "mjs", "msi", "msix", "msp", "ocx", "php", "phtml", "pif", "pkg", "pl", "ps1",
    "psd1", "psm1", "py", "pyc", "rb", "reg", "rpm", "run", "scf", "scr", "sh", "so", "swf", "sys", "vbe",
    "vbs", "war", "wasm", "wsf", "wsh", "zsh",
];

crate::given_as_text!(FileName, MediaType);

#[cfg(test)]
mod tests;
