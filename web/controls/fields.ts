import type { FilterField } from '../parts/FilterBar';
import { idsOf } from '../parts/links/kinds';
import type { Formed } from '../parts/register/definition';
import { t } from '../texts';

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
