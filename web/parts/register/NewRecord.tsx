import { Alert, Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { afterSignIn } from '../../api/expiry';
import { Problem, words } from '../../api/problem';
import { refetch } from '../../api/query';
import { t } from '../../texts';
import { useDraftForm } from '../draftForm';
import { useDraft } from '../drafts';
import { Panel } from '../Panel';
import { create } from './data';
import type { Formed } from './definition';
import { FieldInput, type Given } from './FieldInput';

type Values = Record<string, Given>;
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
  const [values, setValues, discard] = useDraft<Values>(`new:${d.path}`, NONE);
  const { note, cancel, dialog } = useDraftForm({ isFilled: isFilled(values), discard, onClose });
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
      const row = await afterSignIn(
        () => create(d, body),
        () => setGeneral(t.offline.created),
      );
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

  const set = (name: string, value: Given) => {
    setValues({ ...values, [name]: value });
    setErrors(({ [name]: _, ...others }) => others);
  };
  return (
    <Panel title={d.texts.new} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)} style={{ display: 'grid', gap: 16 }}>
        {general && (
          <Alert color="red" variant="light" role="alert">
            {general}
          </Alert>
        )}
        {note}
        {asked.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            label={`${d.labels[field.name] ?? field.name}${field.optional ? ` ${t.forms.optional}` : ''}`}
            error={errors[field.name]}
            value={values[field.name]}
            onChange={(value) => set(field.name, value)}
            isFirst={field.name === d.nameField}
          />
        ))}
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
    </Panel>
  );
}
