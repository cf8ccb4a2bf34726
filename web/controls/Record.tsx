import { Menu, Tabs } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../api/client';
import { usePeople } from '../api/people';
import { refetch } from '../api/query';
import { useEdits, useRecord } from '../api/records';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { Drawer } from '../parts/Drawer';
import { SectionError } from '../parts/ErrorPage';
import { Field, type Value } from '../parts/Field';
import { day } from '../parts/format';
import { History } from '../parts/History';
import { type Control, idsOf, readiness } from '../parts/links/kinds';
import { Links } from '../parts/links/Links';
import { useRequirements } from '../parts/links/requirements';
import { Person } from '../parts/Person';
import type { FieldDefinition } from '../parts/register/definition';
import { StatusPill } from '../parts/StatusPill';
import { Unsaved } from '../parts/Unsaved';
import { t } from '../texts';
import css from './controls.module.css';
import { controls } from './fields';
import { Missing } from './Missing';

type Props = { id: string; asOf?: string; onClose: () => void; onStep: (step: 1 | -1) => void };

/** One control, edited where it stands, with what it is linked to and its history. */
export function Record({ id, asOf, onClose, onStep }: Props) {
  const { data, error, refetch: again } = useRecord('/v1/controls', id, asOf);
  const { can } = useMe();
  const people = usePeople();
  const edits = useEdits('/v1/controls', id);
  const [tab, setTab] = useState<string | null>('links');
  const { byId } = useRequirements(tab === 'history');
  const { ask, dialog } = useConfirm();
  const { fields, labels } = controls();
  const links: string[] = Object.values(idsOf);
  const control = data?.data;
  const mayChange = can('control:update') && !asOf;

  const read = (field: string, value: unknown): string => {
    if (value === null || value === undefined || value === '') return t.edits.none;
    if (field === 'assigneeId') return people.name(String(value)) ?? String(value);
    if (field === 'department') return t.departments[value as keyof typeof t.departments] ?? String(value);
    if (field === 'reviewDate') return day(String(value));
    if (!Array.isArray(value)) return String(value);
    if (value.length === 0) return t.controls.nothing;
    const codes = field === 'requirementIds' ? value.flatMap((one) => byId.get(String(one))?.code ?? []) : [];
    return codes.length === value.length ? codes.join(', ') : t.controls.links.many(value.length);
  };

  if (error)
    return (
      <Drawer reference="" title={t.problems.missingTitle} name={t.controls.title} onClose={onClose}>
        <SectionError error={error} onRetry={() => void again()} />
      </Drawer>
    );
  if (!control)
    return (
      <Drawer reference="" title="" name={t.controls.title} onClose={onClose}>
        {null}
      </Drawer>
    );

  const act = async () => {
    await api.DELETE('/v1/controls/{id}', { params: { path: { id } } });
    onClose();
    await refetch('/v1/controls', '/v1/frameworks', '/v1/soa');
  };
  const choices = (field: FieldDefinition) =>
    field.kind === 'person'
      ? people.active.map((one) => ({ value: one.id, label: one.user.name }))
      : Object.entries(field.choices ?? {}).map(([value, label]) => ({ value, label }));
  const shown = (field: FieldDefinition) => {
    const value = control[field.name as keyof Control];
    if (value === null || value === '') return null;
    return field.kind === 'person' ? <Person name={people.name(String(value))} /> : read(field.name, value);
  };

  return (
    <Drawer
      reference={control.reference}
      title={control.name}
      name={`${control.reference} ${control.name}`}
      onClose={onClose}
      onStep={onStep}
      more={
        can('control:delete') && !asOf ? (
          <Menu.Item
            leftSection={<IconTrash size={15} stroke={1.6} />}
            onClick={() =>
              ask({ title: t.record.deleteAsk(control.reference), text: t.record.deleteText, verb: t.actions.delete, act })
            }
          >
            {t.actions.delete}
          </Menu.Item>
        ) : undefined
      }
    >
      {control.readiness && (
        <div className={css.ready}>
          <StatusPill {...readiness()[control.readiness.status]} />
          <span className="t2">{t.controls.readinessText[control.readiness.status]}</span>
          <Missing pieces={control.readiness.missing} />
        </div>
      )}
      <Unsaved edits={edits} labels={labels} read={read} />
      <dl style={{ margin: '12px 0 20px' }}>
        {fields
          .filter(({ name }) => !links.includes(name))
          .map((field) => (
            <Field
              key={field.name}
              record={id}
              name={field.name}
              label={labels[field.name] ?? field.name}
              kind={field.kind === 'person' || field.kind === 'rating' ? 'choice' : field.kind}
              value={(control[field.name as keyof Control] ?? null) as Value}
              choices={choices(field)}
              optional={field.optional && field.name !== 'description'}
              onSave={mayChange ? edits.field(field.name) : undefined}
            >
              {shown(field)}
            </Field>
          ))}
      </dl>
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="links">{t.controls.tabs.links}</Tabs.Tab>
          <Tabs.Tab value="history">{t.record.history}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="links" pt={16}>
          <Links control={control} mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="history" pt={16}>
          <History path="/v1/controls" id={id} labels={labels} read={read} />
        </Tabs.Panel>
      </Tabs>
      {dialog}
    </Drawer>
  );
}
