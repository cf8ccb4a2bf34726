//! The common control set: controls in our own words, each with the requirements it meets in every framework, the
//! policies that state it, the tasks that keep it in operation, and the role that owns it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::JsonSchema;
use crate::frameworks;
use crate::id::{PolicyTemplateId, RequirementId, TaskTemplateId};
use crate::plain::{Keep, Plain, PlainKind, text_of};
use crate::programme::roles::OwnerRole;
use crate::text::Parse;

const SOURCE: &str = include_str!("../../data/controls.json");

/// Codes of requirements, by the alias of their framework.
pub type Codes = BTreeMap<String, Vec<String>>;

/// A control of the common control set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControlTemplate {
    /// A machine-readable name that never changes.
    pub key: String,
    pub title: String,
    pub description: String,
    pub area: String,
    pub owner_role: OwnerRole,
    /// The effort to set it up in a company of 25 to 100 people.
    pub effort_hours: u64,
    /// The keys of controls that should be in place first.
    pub after: Vec<String>,
    /// The scope flag under which it applies; without one it always applies.
    pub applies_when: Option<String>,
    #[serde(rename = "requirements")]
    codes: Codes,
    pub policy_templates: Vec<PolicyTemplateId>,
    pub task_templates: Vec<TaskTemplateId>,
}

/// A requirement that no control can meet, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exempt {
    pub requirement: RequirementId,
    pub reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Source {
    /// Codes that concern no company, with the reason, by the alias of their framework.
    not_applicable: BTreeMap<String, BTreeMap<String, String>>,
    controls: Vec<ControlTemplate>,
}

/// The common control set.
#[derive(Debug, Default)]
pub struct Catalogue {
    controls: Vec<ControlTemplate>,
    requirements: HashMap<String, Vec<RequirementId>>,
    exempt: Vec<Exempt>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    // A test verifies that this file can be parsed completely.
    serde_json::from_str::<Source>(SOURCE).map(Catalogue::from).unwrap_or_default()
});

impl From<Source> for Catalogue {
    fn from(source: Source) -> Self {
        let requirements = source.controls.iter().map(|one| (one.key.clone(), resolved(&one.codes)));
        let exempt = source.not_applicable.iter().flat_map(|(alias, codes)| {
            codes.iter().filter_map(|(code, reason)| {
                Some(Exempt { requirement: requirement(alias, code)?, reason: reason.clone() })
            })
        });
        Self { requirements: requirements.collect(), exempt: exempt.collect(), controls: source.controls }
    }
}

/// The id of a requirement of a framework that ships with the product.
fn requirement(alias: &str, code: &str) -> Option<RequirementId> {
    static BY_CODE: LazyLock<HashMap<(&str, &str), RequirementId>> = LazyLock::new(|| {
        let all = frameworks::shipped().iter().flat_map(|framework| {
            let alias = framework.alias.as_str();
            framework.requirements.iter().map(move |one| ((alias, one.code.as_str()), one.id))
        });
        all.collect()
    });
    BY_CODE.get(&(alias, code)).copied()
}

/// The ids of the requirements that these codes name.
pub(crate) fn resolved(codes: &Codes) -> Vec<RequirementId> {
    let named = codes.iter().flat_map(|(alias, codes)| codes.iter().map(move |code| (alias, code)));
    named.filter_map(|(alias, code)| requirement(alias, code)).collect()
}

/// All controls, in the order of the catalogue.
pub fn all() -> &'static [ControlTemplate] {
    &CATALOGUE.controls
}

pub fn get(key: &str) -> Option<&'static ControlTemplate> {
    all().iter().find(|template| template.key == key)
}

/// The requirements that no company has to meet.
pub fn exempt() -> &'static [Exempt] {
    &CATALOGUE.exempt
}

impl ControlTemplate {
    /// The requirements it meets, of all frameworks.
    pub fn requirements(&self) -> &'static [RequirementId] {
        CATALOGUE.requirements.get(&self.key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The key of the catalogue's control from which a control was created.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ControlKey(String);

impl ControlKey {
    pub fn of(template: &ControlTemplate) -> Self {
        Self(template.key.clone())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Parse for ControlKey {
    fn parse(text: &str) -> Result<Self, String> {
        get(text).map(Self::of).ok_or_else(|| "is not a control of the catalogue".to_owned())
    }
}

impl Keep for ControlKey {
    const KIND: PlainKind = PlainKind::Text;

    fn plain(&self) -> Plain<'_> {
        Plain::Text(self.0.as_str().into())
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        text_of(value).map(|text| Self(text.into_owned()))
    }
}

impl JsonSchema for ControlKey {
    fn json_schema() -> Value {
        json!({"type": "string", "examples": ["backups"]})
    }
}

crate::given_as_text!(ControlKey);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::programme::scope;
    use crate::text::{LongText, Name};
    use crate::{policies, tasks};

    fn flags() -> HashSet<&'static str> {
        scope::questions().iter().flat_map(scope::Question::flags).collect()
    }

    #[test]
    fn every_control_is_complete() {
        let source: Source = serde_json::from_str(SOURCE).expect("the catalogue");
        assert!(source.controls.len() >= 100);
        let keys: HashSet<&str> = all().iter().map(|one| one.key.as_str()).collect();
        let titles: HashSet<&str> = all().iter().map(|one| one.title.as_str()).collect();
        assert_eq!((keys.len(), titles.len()), (all().len(), all().len()));
        let flags = flags();
        for one in all() {
            let key = &one.key;
            assert_eq!(Name::parse(&one.title).expect("a title").as_str(), one.title);
            assert_eq!(LongText::parse(&one.description).expect("a text").as_str(), one.description);
            assert!(one.description.chars().count() >= 120, "{key}: what is in place, and who shows it");
            assert!((1..=80).contains(&one.effort_hours), "{key}");
            assert!(one.applies_when.as_ref().is_none_or(|flag| flags.contains(flag.as_str())), "{key}");
            assert!(one.after.iter().all(|after| keys.contains(after.as_str())), "{key}");
            assert!(!one.task_templates.is_empty(), "{key} is kept in operation by a task");
            let codes: usize = one.codes.values().map(Vec::len).sum();
            assert_eq!(one.requirements().len(), codes, "{key}: every code is known");
            assert!(codes > 0, "{key}");
        }
    }

    #[test]
    fn every_requirement_is_met_and_every_template_is_used() {
        let met: HashSet<RequirementId> =
            all().iter().flat_map(ControlTemplate::requirements).copied().collect();
        let exempt: HashSet<RequirementId> = exempt().iter().map(|one| one.requirement).collect();
        for framework in frameworks::shipped() {
            for one in &framework.requirements {
                assert!(
                    met.contains(&one.id) != exempt.contains(&one.id),
                    "{} {}",
                    framework.alias,
                    one.code
                );
            }
        }
        for template in tasks::templates::all() {
            assert!(all().iter().any(|one| one.task_templates.contains(&template.id)), "{}", template.title);
        }
        for template in policies::templates::all() {
            assert!(all().iter().any(|one| one.policy_templates.contains(&template.id)), "{}", template.name);
        }
        for one in all() {
            let key = &one.key;
            assert!(one.task_templates.iter().all(|id| tasks::templates::get(*id).is_some()), "{key}");
            assert!(one.policy_templates.iter().all(|id| policies::templates::get(*id).is_some()), "{key}");
        }
    }

    #[test]
    fn corresponding_requirements_share_a_control() {
        for framework in frameworks::shipped() {
            for one in &framework.requirements {
                for (other, mapped) in frameworks::mapped(one.id) {
                    let meets = |control: &ControlTemplate| {
                        let met = control.requirements();
                        met.contains(&one.id) && met.contains(&mapped.id)
                    };
                    assert!(
                        all().iter().any(meets),
                        "no control meets both {} {} and {} {}",
                        framework.alias,
                        one.code,
                        other.alias,
                        mapped.code
                    );
                }
            }
        }
    }
}
