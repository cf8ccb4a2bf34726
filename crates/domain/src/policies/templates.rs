//! The built-in policy templates: complete texts with a few placeholders.

use std::sync::LazyLock;

use crate::content::{Content, markdown};
use crate::id::PolicyTemplateId;
use crate::policies::ReviewFrequency;
use crate::text::Parse;
use crate::words::Department;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTemplate {
    pub id: PolicyTemplateId,
    pub name: &'static str,
    pub description: &'static str,
    pub department: Department,
    pub frequency: ReviewFrequency,
    /// Common terms for its subject.
    pub topics: Vec<&'static str>,
    /// Its text in Markdown, with placeholders.
    pub text: &'static str,
}

/// The values of the placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    pub organization: String,
    pub contact: String,
    pub review_period: String,
    pub time_zone: String,
}

macro_rules! sources {
    ($($name:literal)*) => { &[$(include_str!(concat!("../../data/policies/", $name, ".md"))),*] };
}

/// The templates, in the order in which a compliance programme writes them.
const SOURCES: &[&str] = sources! {
    "information-security"
    "access-control"
    "password-and-authentication"
    "acceptable-use"
    "asset-management"
    "data-classification"
    "cryptography"
    "secure-development"
    "change-management"
    "vulnerability-management"
    "network-security"
    "cloud-security"
    "logging-and-monitoring"
    "mobile-devices-and-endpoints"
    "remote-work"
    "physical-security"
    "incident-response"
    "backup-and-recovery"
    "business-continuity"
    "risk-management"
    "vendor-management"
    "human-resources-security"
    "security-awareness-training"
    "code-of-conduct"
    "privacy-and-data-protection"
    "data-retention-and-disposal"
    "ai-use"
    "internal-audit-and-corrective-action"
    "isms-manual"
    "legal-and-intellectual-property"
    "project-security"
    "data-quality-and-processing-integrity"
    "health-information"
};

static TEMPLATES: LazyLock<Vec<PolicyTemplate>> =
    // A test verifies that all of these texts can be parsed.
    LazyLock::new(|| SOURCES.iter().filter_map(|source| read(source).ok()).collect());

/// All templates. Their ids never change, and sort in this order.
pub fn all() -> &'static [PolicyTemplate] {
    &TEMPLATES
}

pub fn get(id: PolicyTemplateId) -> Option<&'static PolicyTemplate> {
    all().iter().find(|template| template.id == id)
}

/// Parses `---`, lines of `name: value`, `---` and the text.
fn read(source: &'static str) -> Result<PolicyTemplate, String> {
    let (head, text) = source
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .ok_or("it has no front matter")?;
    let value = |name: &str| {
        head.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .ok_or_else(|| format!("it has no {name}"))
    };
    Ok(PolicyTemplate {
        id: PolicyTemplateId::parse(value("id")?)?,
        name: value("name")?,
        description: value("description")?,
        department: Department::parse(value("department")?)?,
        frequency: ReviewFrequency::parse(value("frequency")?)?,
        topics: value("topics")?.split(", ").collect(),
        text: text.trim(),
    })
}

impl PolicyTemplate {
    /// The text with its placeholders filled in. A value cannot become markup.
    pub fn filled(&self, values: &Values) -> Result<Content, String> {
        let places = [
            ("{{organization}}", &values.organization),
            ("{{contact}}", &values.contact),
            ("{{reviewPeriod}}", &values.review_period),
            ("{{timeZone}}", &values.time_zone),
        ];
        let mut content = markdown::read(self.text)?;
        content.each_text(&mut |text| {
            if text.contains("{{") {
                *text = filled(text, &places);
            }
        });
        Ok(content)
    }
}

/// Fills in the placeholders in one pass, so that values are not scanned for placeholders.
fn filled(text: &str, places: &[(&str, &String)]) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("{{") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (taken, put) = match places.iter().find(|(place, _)| rest.starts_with(place)) {
            Some((place, value)) => (place.len(), value.as_str()),
            None => (2, "{{"),
        };
        out.push_str(put);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Block, plain_text};

    fn values() -> Values {
        Values {
            organization: "Acme *Ltd*".to_owned(),
            contact: "it@acme.example".to_owned(),
            review_period: "yearly".to_owned(),
            time_zone: "Europe/Berlin".to_owned(),
        }
    }

    #[test]
    fn all_of_them_are_complete() {
        assert!(SOURCES.len() >= 25);
        for source in SOURCES {
            read(source).unwrap_or_else(|error| panic!("{error}: {source:.80}"));
        }
        assert!(all().is_sorted_by(|a, b| a.id < b.id), "ids count upwards");
        assert_eq!(
            std::fs::read_dir("data/policies").expect("the folder").count(),
            SOURCES.len(),
            "each file is listed"
        );
        for template in all() {
            let name = template.name;
            assert!(template.description.chars().count() <= 160, "{name}");
            assert!((4..=8).contains(&template.topics.len()), "{name}");
            let content = template.filled(&values()).expect("the text");
            let text = plain_text(&content.0);
            assert!(!text.contains("{{") && text.contains("Acme *Ltd*"), "{name}: every place is filled");
            assert!(text.split_whitespace().count() >= 650, "{name} is a whole policy");
            let has = |wanted: &str| {
                content.0.iter().any(|block| match block {
                    Block::Heading { level: 2, text } => {
                        plain_text(&[Block::Paragraph(text.clone())]) == wanted
                    }
                    _ => false,
                })
            };
            for heading in
                ["Purpose", "Scope", "Roles and responsibilities", "Exceptions", "Enforcement", "Review"]
            {
                assert!(has(heading), "{name} has no {heading}");
            }
            assert_eq!(markdown::read(&markdown::write(&content)).as_ref(), Ok(&content), "{name}");
        }
    }
}
