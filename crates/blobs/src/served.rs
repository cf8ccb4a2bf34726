//! The file name and media type of a download: the same two headers for every source of the bytes.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// All characters except those that RFC 5987 allows unencoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    pub file_name: String,
    pub media_type: String,
}

impl Served {
    /// Returns the `Content-Disposition`: always a download, never inline. It contains the name twice: in ASCII for
    /// old clients, and exactly (RFC 6266).
    pub fn disposition(&self) -> String {
        let plain = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '_' };
        let simple: String = self
            .file_name
            .chars()
            .map(plain)
            .map(|c| if matches!(c, '"' | '\\' | '%') { '_' } else { c })
            .collect();
        let exact = utf8_percent_encode(&self.file_name, ENCODED);
        if simple == self.file_name {
            format!("attachment; filename=\"{simple}\"")
        } else {
            format!("attachment; filename=\"{simple}\"; filename*=UTF-8''{exact}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_header() {
        let disposition =
            |name: &str| Served { file_name: name.to_owned(), media_type: String::new() }.disposition();
        assert_eq!(disposition("report 1.pdf"), "attachment; filename=\"report 1.pdf\"");
        assert_eq!(
            disposition("Prüf\"ung\r\n.pdf"),
            "attachment; filename=\"Pr_f_ung__.pdf\"; filename*=UTF-8''Pr%C3%BCf%22ung%0D%0A.pdf"
        );
    }
}
