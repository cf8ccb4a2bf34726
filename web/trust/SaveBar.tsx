import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { Problem, words } from '../api/problem';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { changes, type Draft, type Form } from './queries';
import css from './trust.module.css';

/** Saves some fields of the settings and tells what is wrong with each. */
export function useSaving(form: Form, fields: (keyof Draft)[]) {
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  const patch = form.settings ? changes(form.settings, form.draft, fields) : {};
  const isChanged = Object.keys(patch).length > 0;

  async function save() {
    setErrors({});
    setGeneral(undefined);
    setBusy(true);
    try {
      if (await form.save(patch)) toast(t.trust.saved);
    } catch (error) {
      if (error instanceof Problem) {
        setErrors(error.fields());
        setGeneral(error.rest(fields));
      } else setGeneral(words(error));
    } finally {
      setBusy(false);
    }
  }

  function discard() {
    form.drop(fields);
    setErrors({});
    setGeneral(undefined);
  }

  const bar = (
    <>
      {general && (
        <Alert color="red" variant="light" role="alert">
          {general}
        </Alert>
      )}
      <div className={css.bar} data-changed={isChanged || undefined}>
        {isChanged && (
          <Button variant="subtle" onClick={discard}>
            {t.trust.discard}
          </Button>
        )}
        <Button
          type="submit"
          variant={form.settings?.status === 'published' ? 'filled' : 'default'}
          disabled={!isChanged}
          loading={busy}
        >
          {t.trust.save}
        </Button>
      </div>
    </>
  );
  return { errors, save, bar };
}
