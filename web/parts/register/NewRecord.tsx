import { Alert, Button, Checkbox, Drawer, Select, Textarea, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { usePeople } from '../../api/people';
import { Problem, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { t } from '../../texts';
import { useConfirm } from '../confirm';
import { useDraft } from '../drafts';
import { create } from './data';
import type { FieldDefinition, Formed } from './definition';

type Values = Record<string, string | boolean | undefined>;
const NONE: Values = {};
const isFilled = (values: Values) =>
  Object.values(values).some((value) => value !== undefined && value !== '' && value !== false);

/** A form with what a record needs; the rest is edited afterwards, where it stands. */
export function NewRecord({
  d,
  onClose,
  onCreated,
}: {
  d: Formed;
  onClose: () => void;
  onCreated: (row: { id: string }) => void;
}) {
  const people = usePeople();
  const [values, setValues, discard] = useDraft<Values>(`new:${d.path}`, NONE);
  const [isRestored] = useState(() => isFilled(values));
  const { ask, dialog } = useConfirm();
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  const asked = d.fields.filter((field) => field.asked);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    setGeneral(undefined);
    try {
      const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''));
      const row = await create(d, body);
      discard();
      await refetch(d.path);
      onCreated(row);
    } catch (error) {
      if (error instanceof Problem) {
        setErrors(error.fields());
        setGeneral(error.rest(asked.map(({ name }) => name)));
      } else setGeneral(words(error));
    } finally {
      setBusy(false);
    }
  }

  const set = (name: string, value: string | boolean | undefined) => {
    setValues({ ...values, [name]: value });
    setErrors(({ [name]: _, ...others }) => others);
  };
  const cancel = () =>
    isFilled(values)
      ? ask({
          title: t.drafts.discardAsk,
          text: t.drafts.discardText,
          verb: t.drafts.discard,
          act: async () => {
            discard();
            onClose();
          },
        })
      : onClose();
  const input = (field: FieldDefinition) => {
    const shared = {
      key: field.name,
      label: `${d.labels[field.name] ?? field.name}${field.optional ? ` ${t.forms.optional}` : ''}`,
      description: field.help,
      error: errors[field.name],
      value: String(values[field.name] ?? ''),
    };
    const onText = (event: { currentTarget: { value: string } }) => set(field.name, event.currentTarget.value);
    const { key, ...rest } = shared;
    switch (field.kind) {
      case 'long':
        return <Textarea key={key} {...rest} autosize minRows={3} onChange={onText} />;
      case 'text':
        return <TextInput key={key} {...rest} onChange={onText} data-autofocus={field.name === d.nameField || undefined} />;
      case 'date':
        return <TextInput key={key} {...rest} type="date" onChange={onText} />;
      case 'yes':
        return (
          <Checkbox
            key={key}
            label={rest.label}
            checked={values[field.name] === true}
            onChange={(event) => set(field.name, event.currentTarget.checked)}
          />
        );
      default: {
        const choices =
          field.kind === 'person'
            ? people.active.map((one) => [one.id, one.user.name] as const)
            : Object.entries(field.choices ?? {});
        return (
          <Select
            key={key}
            {...rest}
            value={rest.value || null}
            data={choices.map(([value, label]) => ({ value, label }))}
            searchable={choices.length > 8}
            clearable
            onChange={(next) => set(field.name, next ?? undefined)}
          />
        );
      }
    }
  };

  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={560}
      title={d.texts.new}
      closeButtonProps={{ 'aria-label': t.actions.close }}
      attributes={{ content: { 'aria-label': d.texts.new } }}
    >
      <form onSubmit={(event) => void submit(event)} style={{ display: 'grid', gap: 16 }}>
        {general && (
          <Alert color="red" variant="light" role="alert">
            {general}
          </Alert>
        )}
        {isRestored && isFilled(values) && (
          <p className="t2" role="status">
            {t.drafts.restored}{' '}
            <button type="button" className="plain link" onClick={discard}>
              {t.drafts.discard}
            </button>
          </p>
        )}
        {asked.map(input)}
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8 }}>
          <Button variant="default" onClick={cancel}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy}>
            {t.forms.create(d.texts.one)}
          </Button>
        </div>
      </form>
      {dialog}
    </Drawer>
  );
}
