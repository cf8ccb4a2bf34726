//! Frameworks as OSCAL catalogs, NIST's format for controls: read from others, written for others.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::read;
pub use writer::write;

const VERSION: &str = "1.1.3";
/// What OSCAL has no place for is kept in properties of this namespace.
const OURS: &str = "urn:attestry:framework";
/// The namespace of properties that name none.
const THEIRS: &str = "http://csrc.nist.gov/ns/oscal";
/// A catalog must have a version, a framework need not.
const UNVERSIONED: &str = "unversioned";
/// The names of the parts of a control that are read and written.
const STATEMENT: &str = "statement";
const GUIDANCE: &str = "guidance";
/// What a document of OSCAL holds.
pub const MODELS: &[&str] = &[
    "catalog",
    "profile",
    "component-definition",
    "mapping-collection",
    "system-security-plan",
    "assessment-plan",
    "assessment-results",
    "plan-of-action-and-milestones",
];

/// Text as one line, as OSCAL wants titles and values.
fn line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.replace(is_break, " ").trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
}

/// Text in lines, without what cannot be kept.
fn lines(text: &str) -> String {
    let is_strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.replace("\r\n", "\n").replace('\r', "\n").replace(is_strange, "").trim().to_owned()
}

fn cut(text: String, longest: usize) -> String {
    if text.len() <= longest || text.chars().count() <= longest {
        return text;
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// A label without the title that some put before it: `GV.OC` of `Organizational Context (GV.OC)`.
fn code<'a>(label: &'a str, title: &str) -> &'a str {
    let bare = || label.strip_prefix(title)?.trim_start().strip_prefix('(')?.strip_suffix(')');
    bare().map(str::trim).filter(|code| !code.is_empty()).unwrap_or(label)
}
