import type { FilterField } from '../parts/FilterBar';
import type { Formed } from '../parts/register/definition';
import type { Status } from '../parts/StatusPill';
import { t } from '../texts';

/** What a control is linked to, with where it is found and what it is called there. */
export const kinds = ['requirement', 'policy', 'task', 'risk', 'vendor'] as const;
export type Kind = (typeof kinds)[number];
export const idsOf = {
  requirement: 'requirementIds',
  policy: 'policyIds',
  task: 'taskIds',
  risk: 'riskIds',
  vendor: 'vendorIds',
} as const satisfies Record<Kind, string>;

/** How far a control is: what is linked to it is in place. */
export const readiness = (): Record<'ready' | 'in_progress' | 'not_started', Status> => ({
  ready: { label: t.controls.readiness.ready, tone: 'ok', shape: 'check' },
  in_progress: { label: t.controls.readiness.in_progress, tone: 'info', shape: 'half' },
  not_started: { label: t.controls.readiness.not_started, tone: 'mute', shape: 'ring' },
});

export function controls(): Formed {
  return {
    path: '/v1/controls',
    nameField: 'name',
    labels: t.controls.fields,
    texts: t.controls,
    fields: [
      { name: 'name', kind: 'text', asked: true, help: t.controls.nameHelp },
      { name: 'description', kind: 'long', asked: true, optional: true, help: t.controls.descriptionHelp },
      { name: 'assigneeId', kind: 'person', asked: true, optional: true },
      { name: 'department', kind: 'choice', choices: t.departments, asked: true, optional: true },
      { name: 'reviewDate', kind: 'date', asked: true, optional: true },
      ...Object.values(idsOf).map((name) => ({ name, kind: 'text' as const, optional: true })),
    ],
  };
}

export function filters(people: { id: string; user: { name: string } }[]): FilterField[] {
  const { fields } = t.controls;
  return [
    {
      key: 'department',
      isMany: true,
      label: fields.department ?? '',
      values: Object.entries(t.departments).map(([value, label]) => ({ value, label })),
    },
    {
      key: 'reviewDue',
      label: fields.reviewDue ?? '',
      values: [
        { value: 'true', label: t.filters.yes },
        { value: 'false', label: t.filters.no },
      ],
    },
    {
      key: 'assigneeId',
      isMany: true,
      label: fields.assigneeId ?? '',
      values: people.map(({ id, user }) => ({ value: id, label: user.name })),
    },
  ];
}
