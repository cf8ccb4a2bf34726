//! Import and export of frameworks as OSCAL catalogs, NIST's format for controls.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::read;
pub use writer::write;

const VERSION: &str = "1.1.3";
/// The namespace of our own properties, for fields that OSCAL does not have.
const OWN_NAMESPACE: &str = "urn:attestry:framework";
/// The default namespace of properties.
const OSCAL_NAMESPACE: &str = "http://csrc.nist.gov/ns/oscal";
/// The version of a catalog whose framework has none, since OSCAL requires one.
const UNVERSIONED: &str = "unversioned";
/// The names of the parts of a control that are read and written.
const STATEMENT: &str = "statement";
const GUIDANCE: &str = "guidance";
/// The models of OSCAL, as the names of a document's root object.
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

/// Converts text to one line, as OSCAL requires for titles and values.
fn line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.replace(is_break, " ").trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
}

/// Normalizes line breaks and removes control characters that cannot be stored.
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

/// A label without the title that some catalogs put before it: `GV.OC` of `Organizational Context (GV.OC)`.
fn code<'a>(label: &'a str, title: &str) -> &'a str {
    let bare = || label.strip_prefix(title)?.trim_start().strip_prefix('(')?.strip_suffix(')');
    bare().map(str::trim).filter(|code| !code.is_empty()).unwrap_or(label)
}
