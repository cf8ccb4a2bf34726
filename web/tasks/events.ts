import type { Schemas } from '../api/client';
import { t } from '../texts';

type Event = NonNullable<Schemas['CreateAutomation']['events']>[number];

/** The actions of the audit log that can start an automation. */
const EVENTS: Record<Event, true> = {
  'risk.created': true,
  'risk.updated': true,
  'risk.deleted': true,
  'vendor.created': true,
  'vendor.updated': true,
  'vendor.deleted': true,
  'task.created': true,
  'task.updated': true,
  'task.deleted': true,
  'policy.created': true,
  'policy.updated': true,
  'policy.deleted': true,
  'policy.submitted': true,
  'policy.denied': true,
  'policy.published': true,
  'policy.review_due': true,
  'policy.signed': true,
  'control.created': true,
  'control.updated': true,
  'control.deleted': true,
  'context_entry.created': true,
  'context_entry.updated': true,
  'context_entry.deleted': true,
  'framework.created': true,
  'framework.updated': true,
  'framework.deleted': true,
  'soa.created': true,
  'soa.submitted': true,
  'soa.approved': true,
  'soa.declined': true,
  'comment.created': true,
  'comment.updated': true,
  'comment.deleted': true,
  'attachment.created': true,
  'attachment.deleted': true,
  'member.created': true,
  'member.invited': true,
  'member.joined': true,
  'member.updated': true,
  'member.deactivated': true,
  'member.reactivated': true,
  'organization.updated': true,
};

/** "Policy published" for `policy.published`. */
export function events(): { value: string; label: string }[] {
  const { entities, verbs } = t.tasks.events;
  return Object.keys(EVENTS).map((value) => {
    const [entity = '', verb = ''] = value.split('.');
    return { value, label: `${entities[entity] ?? entity} ${verbs[verb] ?? verb}` };
  });
}
