import { Menu, Tabs } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { usePeople } from '../../api/people';
import { refetch } from '../../api/query';
import { useEdits, useRecord } from '../../api/records';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { Comments, Composer, useComments } from '../Comments';
import { useConfirm } from '../confirm';
import { Drawer } from '../Drawer';
import { SectionError } from '../ErrorPage';
import { Field, type Value } from '../Field';
import { Files, useFiles } from '../Files';
import { day } from '../format';
import { History } from '../History';
import { LinkedControls } from '../links/Links';
import { Person } from '../Person';
import { StatusPill } from '../StatusPill';
import { Unsaved } from '../Unsaved';
import { remove } from './data';
import { type Definition, type FieldDefinition, type Row, statusOf, value } from './definition';
import { Appetite, isSet, NotSet, Rating } from './Rating';
import css from './Register.module.css';
import { reader } from './reading';

type Props = { d: Definition; id: string; asOf?: string; isPast: boolean; onClose: () => void; onStep: (step: 1 | -1) => void };

/** One record, edited where it stands, with its history, comments and files. */
export function Record({ d, id, asOf, isPast, onClose, onStep }: Props) {
  const { data, error, refetch: again } = useRecord(d.path, id, asOf);
  const { can } = useMe();
  const people = usePeople();
  const edits = useEdits(d.path, id);
  const comments = useComments({ entityType: d.entity, entityId: id });
  const files = useFiles(d.path, id);
  const [tab, setTab] = useState<string | null>('history');
  const { ask, dialog } = useConfirm();
  const read = reader(d, people);
  const row = data?.data;
  const save = can(`${d.entity}:update`) && !isPast ? edits.field : undefined;

  if (error)
    return (
      <Drawer reference="" title={t.problems.missingTitle} name={d.texts.title} onClose={onClose}>
        <SectionError error={error} onRetry={() => void again()} />
      </Drawer>
    );
  if (!row)
    return (
      <Drawer reference="" title="" name={d.texts.title} onClose={onClose}>
        {null}
      </Drawer>
    );

  const act = () =>
    remove(d, id).then(() => {
      onClose();
      return refetch(d.path);
    });
  const choices = (field: FieldDefinition) =>
    field.kind === 'person'
      ? people.active.map((one) => ({ value: one.id, label: one.user.name }))
      : Object.entries(field.choices ?? {}).map(([key, label]) => ({ value: key, label }));

  return (
    <Drawer
      reference={row.reference}
      title={d.name(row)}
      name={`${row.reference} ${d.name(row)}`}
      onClose={onClose}
      onStep={onStep}
      more={
        can(`${d.entity}:delete`) && !isPast ? (
          <Menu.Item
            leftSection={<IconTrash size={15} stroke={1.6} />}
            onClick={() =>
              ask({ title: t.record.deleteAsk(row.reference), text: t.record.deleteText, verb: t.actions.delete, act })
            }
          >
            {t.actions.delete}
          </Menu.Item>
        ) : undefined
      }
      foot={!isPast && can('comment:create') ? <Composer entityType={d.entity} entityId={id} /> : undefined}
    >
      <Unsaved edits={edits} labels={d.labels} read={read} />
      <dl className={css.scores}>
        <Field name="inherent" label={t.scales.inherent} kind="text" value={null}>
          <Rating row={row} d={d} when="inherent" />
        </Field>
        <Field name="residual" label={t.scales.residual} kind="text" value={null}>
          <Rating row={row} d={d} when="residual" />
        </Field>
        {d.appetite !== undefined && (
          <Field name="appetite" label={t.scales.appetite} kind="text" value={null}>
            <Appetite row={row} appetite={d.appetite} />
          </Field>
        )}
      </dl>
      {GROUPS.map((group) => (
        <section key={group} className={css.group} aria-label={t.record.groups[group]}>
          <h3>{t.record.groups[group]}</h3>
          <dl>
            {d.fields
              .filter((field) => groupOf(field) === group)
              .map((field) => (
                <Field
                  key={field.name}
                  record={id}
                  name={field.name}
                  label={d.labels[field.name] ?? field.name}
                  kind={field.kind === 'person' || field.kind === 'rating' ? 'choice' : field.kind}
                  value={isSet(d, row, field.name) ? (value(row, field.name) as Value) : null}
                  stored={value(row, field.name) as Value}
                  choices={choices(field)}
                  hints={field.hints}
                  optional={field.optional}
                  onSave={save?.(field.name)}
                >
                  <Shown d={d} row={row} field={field} name={people.name} />
                </Field>
              ))}
          </dl>
        </section>
      ))}
      {d.more && <d.more id={id} asOf={asOf} isPast={isPast} />}
      <LinkedControls
        kind={d.entity}
        record={{ id, reference: row.reference, name: d.name(row) }}
        asOf={isPast ? asOf : undefined}
      />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="history">{t.record.history}</Tabs.Tab>
          <Tabs.Tab value="comments">
            {t.record.comments} {comments.data?.data.length || ''}
          </Tabs.Tab>
          <Tabs.Tab value="files">
            {t.record.files} {files.data?.length || ''}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="history" pt={16}>
          <History path={d.path} id={id} labels={d.labels} read={read} />
        </Tabs.Panel>
        <Tabs.Panel value="comments" pt={16}>
          <Comments entityType={d.entity} entityId={id} />
        </Tabs.Panel>
        <Tabs.Panel value="files" pt={16}>
          <Files path={d.path} id={id} canChange={save !== undefined} />
        </Tabs.Panel>
      </Tabs>
      {dialog}
    </Drawer>
  );
}

const GROUPS = ['about', 'rating', 'treatment'] as const;
const groupOf = ({ kind, name }: FieldDefinition): (typeof GROUPS)[number] =>
  kind === 'rating' ? 'rating' : name.startsWith('treatment') ? 'treatment' : 'about';

/** A value as it reads in the drawer. */
function Shown({
  d,
  row,
  field,
  name,
}: {
  d: Definition;
  row: Row;
  field: FieldDefinition;
  name: (id: string | null) => string | undefined;
}) {
  const now = value(row, field.name);
  if (!isSet(d, row, field.name)) return <NotSet />;
  if (field.kind === 'person') return <Person name={name(now as string | null)} />;
  if (field.name === 'status') return <StatusPill {...statusOf(d, String(now))} />;
  if (now === null || now === undefined || now === '') return null;
  if (field.choices) return field.choices[String(now)] ?? String(now);
  return field.kind === 'date' ? day(String(now)) : String(now);
}
