//! The built-in task templates: the evidence that a SOC 2 or ISO 27001 programme needs.

use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::id::TaskTemplateId;
use crate::json::JsonSchema;
use crate::plain::{Keep, Plain, PlainKind, text_of};
use crate::programme::roles::OwnerRole;
use crate::tasks::Frequency;
use crate::text::Parse;
use crate::words::Department;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskTemplate {
    pub id: TaskTemplateId,
    pub title: String,
    pub description: String,
    pub frequency: Option<Frequency>,
    pub department: Department,
    /// The role that usually does it.
    pub role: OwnerRole,
    /// The typical time for one round in a company of 50 people.
    pub minutes: u32,
    /// The evidence to attach.
    pub evidence: String,
    /// The scope flag under which a programme includes it; without one it always does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applies_when: Option<String>,
}

static TEMPLATES: LazyLock<Vec<TaskTemplate>> = LazyLock::new(|| {
    // A test verifies that this file can be parsed completely.
    serde_json::from_str(include_str!("../../data/task-templates.json")).unwrap_or_default()
});

/// All templates. Their ids never change.
pub fn all() -> &'static [TaskTemplate] {
    &TEMPLATES
}

pub fn get(id: TaskTemplateId) -> Option<&'static TaskTemplate> {
    all().iter().find(|template| template.id == id)
}

/// The id of an existing template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TemplateId(TaskTemplateId);

impl TemplateId {
    pub fn id(self) -> TaskTemplateId {
        self.0
    }

    pub fn of(template: &TaskTemplate) -> Self {
        Self(template.id)
    }
}

impl Parse for TemplateId {
    fn parse(text: &str) -> Result<Self, String> {
        let id = TaskTemplateId::parse(text)?;
        match get(id) {
            Some(_) => Ok(Self(id)),
            None => Err("is not one of the task templates; GET /v1/task-templates lists them".to_owned()),
        }
    }
}

impl Serialize for TemplateId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Reads a recorded id without looking up the template.
impl<'de> Deserialize<'de> for TemplateId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TaskTemplateId::deserialize(deserializer).map(Self)
    }
}

impl Keep for TemplateId {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        self.0.plain().into_owned()
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        TaskTemplateId::parse(&text_of(value)?).map(Self)
    }
}

impl JsonSchema for TemplateId {
    fn json_schema() -> Value {
        TaskTemplateId::json_schema()
    }
}

crate::given_as_text!(TemplateId);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::text::{LongText, Name};

    #[test]
    fn the_templates_are_what_a_task_takes() {
        let read: Vec<TaskTemplate> =
            serde_json::from_str(include_str!("../../data/task-templates.json")).expect("templates");
        assert_eq!(read, all());
        assert!(read.len() >= 40);
        let ids: HashSet<_> = read.iter().map(|template| template.id).collect();
        let titles: HashSet<_> = read.iter().map(|template| template.title.to_lowercase()).collect();
        assert_eq!((ids.len(), titles.len()), (read.len(), read.len()));
        assert!(read.is_sorted_by(|a, b| a.id < b.id), "ids count upwards");
        for template in &read {
            assert_eq!(Name::parse(&template.title).expect("a title").as_str(), template.title);
            assert_eq!(
                LongText::parse(&template.description).expect("a text").as_str(),
                template.description
            );
            assert!(template.description.len() > 200, "{} tells what good evidence is", template.title);
            assert!(template.minutes > 0 && !template.evidence.is_empty(), "{}", template.title);
        }
    }

    #[test]
    fn an_unknown_template_is_refused() {
        let known = all()[0].id.to_string();
        assert!(TemplateId::parse(&known).is_ok());
        assert!(TemplateId::parse("frk_tt_01jcqg3v5mefzr7d0a6w3k9x2b").is_err());
        assert!(TemplateId::parse("tsk_01jcqg3v5mefzr7d0a6w3k9x2b").is_err());
    }
}
