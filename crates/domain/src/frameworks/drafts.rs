//! A framework from input, before validation.

use std::collections::HashMap;

use super::{Framework, FrameworkText, Requirement, alias};
use crate::id::{FrameworkId, RequirementId};
use crate::registers::context_entries::Tags;

/// The input for an organization's own framework.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameworkDraft {
    pub alias: Option<String>,
    pub name: String,
    pub description: String,
    pub version: String,
    pub source: String,
    pub licence: String,
    pub attribution: String,
    pub requirements: Vec<RequirementDraft>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementDraft {
    pub code: String,
    pub title: String,
    pub theme: String,
    pub kind: String,
    pub objective: String,
    pub guidance: String,
    pub tags: Vec<String>,
    pub control_id: String,
    pub group_id: String,
}

/// A validation error: the field in the input, and the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub field: String,
    pub message: String,
}

/// The maximum number of requirements in a framework, and of reported validation errors.
pub const MAX_REQUIREMENTS: usize = 5_000;
pub const MAX_REPORTED_ERRORS: usize = 100;
pub const MAX_CODE_CHARS: usize = 100;
pub const MAX_TITLE_CHARS: usize = 500;
pub const MAX_REQUIREMENT_CHARS: usize = 10_000;
pub const MAX_KIND_CHARS: usize = 200;

/// Checks the length of a line, and that it has no control characters.
fn line(text: &str, most: usize, may_be_empty: bool) -> Result<(), String> {
    let length = text.chars().count();
    if length > most || (length == 0 && !may_be_empty) {
        let least = usize::from(!may_be_empty);
        return Err(format!("must have {least} to {most} characters; it has {length}"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

/// Checks the length of a multi-line text, and that it has no control characters but line breaks and tabs.
fn text(text: &str) -> Result<(), String> {
    let length = text.chars().count();
    if length > MAX_REQUIREMENT_CHARS {
        return Err(format!("must have at most {MAX_REQUIREMENT_CHARS} characters; it has {length}"));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r')) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

impl FrameworkDraft {
    /// Trims all fields.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        fn trim(text: &mut String) {
            if text.trim().len() < text.len() {
                *text = text.trim().to_owned();
            }
        }
        let own = [&mut self.name, &mut self.description, &mut self.version, &mut self.source];
        own.into_iter().chain([&mut self.licence, &mut self.attribution]).for_each(trim);
        self.alias.iter_mut().for_each(trim);
        for one in &mut self.requirements {
            let all = [&mut one.code, &mut one.title, &mut one.theme, &mut one.kind, &mut one.objective];
            all.into_iter().chain([&mut one.guidance, &mut one.control_id, &mut one.group_id]).for_each(trim);
        }
        self
    }

    /// The alias from the input, or one derived from the name.
    pub fn alias(&self) -> String {
        if let Some(alias) = &self.alias {
            return alias.clone();
        }
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let made: String = self.name.chars().map(word).collect();
        let parts: Vec<&str> = made.split('_').filter(|part| !part.is_empty() && *part != "frk").collect();
        let made: String = parts.join("_").chars().take(50).collect();
        if made.is_empty() { "framework".to_owned() } else { made.trim_end_matches('_').to_owned() }
    }

    /// Validates the draft and returns up to [`MAX_REPORTED_ERRORS`] errors.
    pub fn wrong(&self) -> Vec<Wrong> {
        let mut all = Vec::new();
        let mut check = |field: String, checked: Result<(), String>| {
            if let Err(message) = checked
                && all.len() < MAX_REPORTED_ERRORS
            {
                all.push(Wrong { field, message });
            }
        };
        check("alias".to_owned(), alias(&self.alias()).map(drop));
        check("name".to_owned(), line(&self.name, 255, false));
        check("version".to_owned(), line(&self.version, 100, true));
        for (field, value) in [
            ("description", &self.description),
            ("source", &self.source),
            ("licence", &self.licence),
            ("attribution", &self.attribution),
        ] {
            check(field.to_owned(), text(value));
        }
        let count = self.requirements.len();
        if count == 0 || count > MAX_REQUIREMENTS {
            let message = format!("must hold 1 to {MAX_REQUIREMENTS} requirements; there are {count}");
            check("requirements".to_owned(), Err(message));
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (place, one) in self.requirements.iter().enumerate().take(MAX_REQUIREMENTS) {
            let at = |field: &str| format!("requirements[{place}].{field}");
            check(at("code"), line(&one.code, MAX_CODE_CHARS, false));
            check(at("title"), line(&one.title, MAX_TITLE_CHARS, false));
            check(at("theme"), line(&one.theme, MAX_TITLE_CHARS, true));
            check(at("kind"), line(&one.kind, MAX_KIND_CHARS, true));
            check(at("objective"), text(&one.objective));
            check(at("guidance"), text(&one.guidance));
            check(at("controlId"), line(&one.control_id, MAX_KIND_CHARS, true));
            check(at("groupId"), line(&one.group_id, MAX_KIND_CHARS, true));
            check(at("tags"), Tags::new(one.tags.clone()).map(drop));
            if let Some(first) = seen.insert(&one.code, place)
                && !one.code.is_empty()
            {
                let message = format!("{:?} is the code of requirements[{first}] too", one.code);
                check(at("code"), Err(message));
            }
        }
        all
    }

    /// Converts the draft to a framework. A requirement whose code is in `before` gets the same id as there.
    pub fn into_framework(
        self,
        id: FrameworkId,
        before: Option<&Framework>,
        mut next: impl FnMut() -> RequirementId,
    ) -> Framework {
        let known: HashMap<&str, RequirementId> = before
            .iter()
            .flat_map(|framework| &framework.requirements)
            .map(|one| (one.code.as_str(), one.id))
            .collect();
        let alias = self.alias();
        let requirements = self.requirements.into_iter().map(|one| {
            let RequirementDraft {
                code,
                title,
                theme,
                kind,
                objective,
                guidance,
                tags,
                control_id,
                group_id,
            } = one;
            let kind = if kind.is_empty() { "control".to_owned() } else { kind };
            let id = known.get(code.as_str()).copied().unwrap_or_else(&mut next);
            Requirement { id, code, title, theme, kind, objective, guidance, tags, control_id, group_id }
        });
        Framework {
            id,
            alias,
            name: self.name,
            description: self.description,
            version: self.version,
            source: self.source,
            licence: self.licence,
            attribution: self.attribution,
            text: FrameworkText::Full,
            requirements: requirements.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_made_of_the_name() {
        let named =
            |name: &str| FrameworkDraft { name: name.to_owned(), ..FrameworkDraft::default() }.alias();
        assert_eq!(named("Our Own: Rules (2026)"), "our_own_rules_2026");
        assert_eq!(named("規則"), "framework");
        assert_eq!(named("Frk rules"), "rules");
        assert_eq!(named(&"a ".repeat(100)).len(), 49);
        assert!(alias(&named(&"a ".repeat(100))).is_ok());
    }

    #[test]
    fn everything_wrong_is_found() {
        let mut draft = FrameworkDraft { name: "A\u{7}".to_owned(), ..FrameworkDraft::default() };
        let one =
            RequirementDraft { code: "1".to_owned(), title: "T".to_owned(), ..RequirementDraft::default() };
        draft.requirements = vec![one.clone(), RequirementDraft { title: String::new(), ..one }];
        let fields: Vec<String> = draft.wrong().into_iter().map(|wrong| wrong.field).collect();
        assert_eq!(fields, ["name", "requirements[1].title", "requirements[1].code"]);
        assert_eq!(FrameworkDraft::default().wrong().len(), 2);
    }
}
