import { Button, Menu, Modal, Select } from '@mantine/core';
import { IconDownload, IconLink, IconPencil, IconTrash, IconUnlink, IconUser } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { type Action, type BulkOutcome, type BulkPath, bulk, countOf, exportOf, type Selection, undoBulk } from '../../api/bulk';
import { saveResponse } from '../../api/download';
import { usePeople } from '../../api/people';
import { Problem, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { useConfirm } from '../confirm';
import { TABLES } from '../ExportMenu';
import { Glyph } from '../glyphs';
import { BulkLinks } from '../links/BulkLinks';
import { CHANGED, type Verb } from '../links/queries';
import type { FieldDefinition } from '../register/definition';
import { FieldInput, type Given } from '../register/FieldInput';
import type { Status } from '../StatusPill';
import { toast } from '../toast';

/** What can be done to many records of a register at once. */
export type Changes = {
  path: BulkPath;
  /** What its permissions are called by. */
  entity: string;
  labels: Record<string, string>;
  fields: FieldDefinition[];
  statuses?: Record<string, Status>;
  /** False where there is no export of it as a table. */
  isTable?: boolean;
  /** Controls are linked to other records. */
  hasLinks?: boolean;
};

type Props = Changes & { selection: Selection; onDone: () => void };

/** Fields that are each record's own. */
const OWN = ['title', 'name', 'description'];

export function BulkActions(p: Props) {
  const { path, entity, labels, fields, statuses, selection, onDone } = p;
  const { can } = useMe();
  const people = usePeople();
  const [isEditing, setEditing] = useState(false);
  const [linking, setLinking] = useState<Verb>();
  const { ask, dialog } = useConfirm();
  const count = countOf(selection);
  const fail = (problem: unknown) => toast(words(problem), { bad: true });
  const changed = p.hasLinks ? CHANGED : [path];
  const editable = fields.filter(({ name }) => !OWN.includes(name) && !name.endsWith('Ids'));

  const change = (fields: object) => act({ change: fields });
  async function act(action: Action) {
    const outcomes = await bulk(path, selection, action);
    await refetch(...changed);
    onDone();
    toast(told(outcomes), {
      undo: outcomes.some(({ undo }) => undo)
        ? () =>
            undoBulk(path, outcomes)
              .then(async (undone) => {
                await refetch(...changed);
                toast(t.bulk.undone(sum(undone, 'changed'), sum(undone, 'unchanged')));
              })
              .catch(fail)
        : undefined,
    });
  }
  async function remove() {
    const outcomes = await bulk(path, selection, { delete: true });
    await refetch(path);
    onDone();
    toast(t.bulk.deleted(sum(outcomes, 'changed')));
  }

  return (
    <>
      {statuses && (
        <Menu>
          <Menu.Target>
            <Button size="xs" variant="subtle">
              {t.bulk.status}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {Object.entries(statuses).map(([status, { label, ...glyph }]) => (
              <Menu.Item key={status} leftSection={<Glyph {...glyph} />} onClick={() => void change({ status }).catch(fail)}>
                {label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <Select
        size="xs"
        w={160}
        aria-label={t.bulk.owner}
        placeholder={t.bulk.owner}
        leftSection={<IconUser size={14} stroke={1.6} />}
        searchable
        value={null}
        data={[
          ...people.active.map(({ id, user }) => ({ value: id, label: user.name })),
          { value: NOBODY, label: t.bulk.nobody },
        ]}
        onChange={(id) => id && void change({ assigneeId: id === NOBODY ? null : id }).catch(fail)}
      />
      <Button size="xs" variant="subtle" leftSection={<IconPencil size={14} stroke={1.6} />} onClick={() => setEditing(true)}>
        {t.bulk.edit}
      </Button>
      {p.hasLinks && (
        <>
          <Button size="xs" variant="subtle" leftSection={<IconLink size={14} stroke={1.6} />} onClick={() => setLinking('link')}>
            {t.controls.links.bulk.link}
          </Button>
          <Button
            size="xs"
            variant="subtle"
            leftSection={<IconUnlink size={14} stroke={1.6} />}
            onClick={() => setLinking('unlink')}
          >
            {t.controls.links.bulk.unlink}
          </Button>
        </>
      )}
      {p.isTable !== false && (
        <Menu>
          <Menu.Target>
            <Button size="xs" variant="subtle" leftSection={<IconDownload size={14} stroke={1.6} />}>
              {t.actions.export}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {Object.entries(TABLES).map(([format, name]) => (
              <Menu.Item key={format} onClick={() => void exportOf(path, selection, format).then(saveResponse).catch(fail)}>
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {can(`${entity}:delete`) && (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconTrash size={14} stroke={1.6} />}
          onClick={() =>
            ask({ title: t.bulk.deleteAsk(count), text: t.bulk.deleteText(count), verb: t.bulk.deleteVerb(count), act: remove })
          }
        >
          {t.actions.delete}
        </Button>
      )}
      {isEditing && <Edit count={count} fields={editable} labels={labels} onSave={change} onClose={() => setEditing(false)} />}
      {linking && (
        <BulkLinks
          verb={linking}
          count={count}
          onSave={(links) => act(linking === 'link' ? { link: links } : { unlink: links })}
          onClose={() => setLinking(undefined)}
        />
      )}
      {dialog}
    </>
  );
}

const NOBODY = 'nobody';

const sum = (outcomes: BulkOutcome[], what: 'changed' | 'unchanged') => outcomes.reduce((all, one) => all + one[what], 0);
const told = (outcomes: BulkOutcome[]) => {
  const missing = outcomes.reduce((all, one) => all + one.missing.length, 0);
  const done = t.bulk.done(sum(outcomes, 'changed'));
  return missing > 0 ? `${done} ${t.bulk.missing(missing)}` : done;
};

type EditProps = {
  count: number;
  fields: FieldDefinition[];
  labels: Record<string, string>;
  onSave: (change: object) => Promise<void>;
  onClose: () => void;
};

/** One field of all selected records: which, and its new value. An optional one can be emptied. */
function Edit({ count, fields, labels, onSave, onClose }: EditProps) {
  const [name, setName] = useState<string>();
  const [value, setValue] = useState<Given>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const field = fields.find((one) => one.name === name);
  const isEmpty = value === undefined || value === '';
  const given = field?.kind === 'yes' ? value === true : isEmpty ? null : value;
  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!field) return;
    setBusy(true);
    try {
      await onSave({ [field.name]: given });
      onClose();
    } catch (error) {
      const own = error instanceof Problem ? error.errors.find((one) => one.field.endsWith(field.name)) : undefined;
      setProblem(own?.message ?? words(error));
    } finally {
      setBusy(false);
    }
  }
  return (
    <Modal opened onClose={onClose} title={t.bulk.editTitle(count)} centered closeButtonProps={{ 'aria-label': t.actions.close }}>
      <form onSubmit={(event) => void submit(event)} className="stack">
        <Select
          label={t.bulk.field}
          data-autofocus
          data={fields.map((one) => ({ value: one.name, label: labels[one.name] ?? one.name }))}
          value={name ?? null}
          onChange={(next) => {
            setName(next ?? undefined);
            setValue(undefined);
            setProblem(undefined);
          }}
        />
        {field && (
          <FieldInput
            key={field.name}
            field={{ ...field, help: field.optional ? t.bulk.emptyHelp : undefined }}
            label={labels[field.name] ?? field.name}
            error={problem}
            value={value}
            onChange={(next) => {
              setValue(next);
              setProblem(undefined);
            }}
          />
        )}
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={isBusy} disabled={!field || (given === null && !field.optional)}>
            {t.bulk.apply(count)}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
