import type { Schemas } from '../api/client';
import type { Member } from '../api/people';
import type { FilterField } from '../parts/FilterBar';
import { moment } from '../parts/format';
import type { FieldDefinition } from '../parts/register/definition';
import { rolesOf } from '../parts/roles';
import type { Status } from '../parts/StatusPill';
import { t } from '../texts';
import { type Node, wordsIn } from './content';

export type PolicyView = Schemas['PolicyView'];

const values = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));
export const choices = values;

export function statusOf({ status, isArchived }: Pick<PolicyView, 'status' | 'isArchived'>): Status {
  const { archived, ...words } = t.policies.status;
  if (isArchived) return { label: archived, tone: 'mute', shape: 'dash' };
  const all = {
    draft: { label: words.draft, tone: 'mute', shape: 'ring' },
    needs_review: { label: words.needs_review, tone: 'info', shape: 'half' },
    published: { label: words.published, tone: 'ok', shape: 'check' },
  } as const;
  return all[status];
}

/** The fields of a policy that many can be given at once. */
export function changes(): { labels: Record<string, string>; fields: FieldDefinition[] } {
  const { fields, frequency } = t.policies;
  return {
    labels: fields,
    fields: [
      { name: 'assigneeId', kind: 'person', optional: true },
      { name: 'department', kind: 'choice', choices: t.departments, optional: true },
      { name: 'frequency', kind: 'choice', choices: frequency, optional: true },
      { name: 'dueDate', kind: 'date', optional: true },
      { name: 'reviewDate', kind: 'date', optional: true },
      { name: 'isRequiredToSign', kind: 'yes' },
      { name: 'isArchived', kind: 'yes' },
    ],
  };
}

export function filters(people: Member[]): FilterField[] {
  const { fields, status, frequency } = t.policies;
  const { archived: _, ...states } = status;
  const yes = values({ true: t.filters.yes, false: t.filters.no });
  const named = people.map(({ id, user }) => ({ value: id, label: user.name }));
  return [
    { key: 'status', isMany: true, label: fields.status, values: values(states) },
    { key: 'department', isMany: true, label: fields.department, values: values(t.departments) },
    { key: 'frequency', isMany: true, label: fields.frequency, values: values(frequency) },
    { key: 'assigneeId', isMany: true, label: fields.assigneeId, values: named },
    { key: 'approverId', isMany: true, label: fields.approverId, values: named },
    { key: 'isRequiredToSign', label: fields.isRequiredToSign, values: yes },
    { key: 'isPublished', label: fields.isPublished, values: yes },
    { key: 'reviewDue', label: fields.reviewDue, values: values({ true: t.filters.yes }) },
    { key: 'isArchived', label: fields.isArchived, values: values({ true: t.filters.yes }) },
  ];
}

/** Everybody but auditors reads and signs. */
export const signers = (people: Member[]) => people.filter((one) => rolesOf(one.role).some((word) => word !== 'auditor'));
export const approvers = (people: Member[]) =>
  people.filter((one) => rolesOf(one.role).some((word) => word === 'owner' || word === 'admin'));

/** How values read in the history. */
export function reader(name: (id: string) => string | undefined) {
  const words: Record<string, Record<string, string>> = {
    status: t.policies.status,
    frequency: t.policies.frequency,
    department: t.departments,
  };
  return (field: string, value: unknown): string | undefined => {
    if (field === 'content') return Array.isArray(value) ? t.policies.words(wordsIn(value as Node[])) : t.policies.fields.content;
    if (field.endsWith('At')) return moment(String(value));
    if (field.endsWith('Id')) return name(String(value)) ?? String(value);
    return words[field]?.[String(value)];
  };
}
