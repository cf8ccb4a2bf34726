//! Policies made from the templates that ship with the product.

use attestry_domain::access::Scope;
use attestry_domain::content::Body;
use attestry_domain::id::{MemberId, PolicyTemplateId};
use attestry_domain::patch::Patch;
use attestry_domain::policies::templates::{PolicyTemplate, Values};
use attestry_domain::policies::{Policy, PolicyPatch, ReviewFrequency, templates as policy_templates};
use attestry_domain::registers::Record;
use attestry_domain::text::{AnyText, Name};
use attestry_domain::{Parse, Zone};
use attestry_storage::organizations;

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::registers;
use crate::registers::assignees::{self, ASSIGNEE};

/// Values that a user sets for a policy made from a template; the rest comes from the organization and the template.
#[derive(Clone, Debug, Default)]
pub struct TemplateOverrides {
    pub name: Option<Name>,
    pub assignee_id: Option<MemberId>,
    pub organization: Option<Name>,
    pub contact: Option<Name>,
    pub frequency: Option<ReviewFrequency>,
    pub time_zone: Option<Zone>,
}

#[boxed]
pub async fn create(
    ctx: &Ctx,
    scope: &Scope,
    template: PolicyTemplateId,
    wishes: TemplateOverrides,
) -> Result<Record<Policy>, Error> {
    ctx.change(scope, async move |c| {
        let template = policy_templates::get(template).ok_or(Error::NotFound("policy template"))?;
        let record = from_template(c, template, &wishes).await?;
        assignees::must_be_active(c.t, c.scope, ASSIGNEE, record.assignee_id).await?;
        let mut made = [record];
        registers::add_many(c, &mut made).await?;
        let [record] = made;
        Ok(record)
    })
    .await
}

/// A policy from a template, not yet saved.
pub(crate) async fn from_template(
    c: &Change<'_>,
    template: &PolicyTemplate,
    wishes: &TemplateOverrides,
) -> Result<Record<Policy>, Error> {
    let organization = organizations::get(c.t, c.scope).await?.ok_or(Error::NotFound("organization"))?;
    let frequency = wishes.frequency.unwrap_or(template.frequency);
    let or = |wish: &Option<Name>, otherwise: String| {
        wish.as_ref().map_or(otherwise, |wish| wish.as_str().to_owned())
    };
    let caller = c.scope.principal().map(|caller| caller.email.clone()).unwrap_or_default();
    let values = Values {
        organization: or(&wishes.organization, organization.name),
        contact: or(&wishes.contact, caller),
        review_period: frequency.as_str().to_owned(),
        time_zone: wishes.time_zone.as_ref().unwrap_or(&organization.time_zone).to_string(),
    };
    let wrong = |message: String| Error::internal(format!("template {}: {message}", template.id));
    let content = template.filled(&values).map_err(wrong)?;
    let name = match &wishes.name {
        Some(name) => name.clone(),
        None => Parse::parse(template.name).map_err(wrong)?,
    };
    let patch = PolicyPatch {
        name: Some(name),
        description: Some(AnyText::parse(template.description).map_err(wrong)?),
        content: Some(Body::of(&content)?),
        department: Patch::Value(template.department),
        frequency: Patch::Value(frequency),
        assignee_id: wishes.assignee_id.map_or(Patch::Absent, Patch::Value),
        ..PolicyPatch::default()
    };
    let mut record = registers::new::<Policy>(c, &patch)?;
    record.fields.policy_template_id = Some(template.id);
    Ok(record)
}
