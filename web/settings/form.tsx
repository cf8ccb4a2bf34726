import { Alert, Button } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Problem, words } from '../api/problem';
import css from './settings.module.css';

/** The state of a form whose problems belong to its fields. Nothing typed is lost when it is refused. */
export function useForm(names: string[], send: () => Promise<unknown>) {
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  async function submit(event?: FormEvent) {
    event?.preventDefault();
    setErrors({});
    setGeneral(undefined);
    setBusy(true);
    try {
      await send();
    } catch (error) {
      if (error instanceof Problem) {
        setErrors(error.fields());
        setGeneral(error.rest(names));
      } else setGeneral(words(error));
    } finally {
      setBusy(false);
    }
  }
  return { errors, setErrors, general, busy, submit: (event?: FormEvent) => void submit(event) };
}

type Form = ReturnType<typeof useForm>;
type Props = {
  form: Form;
  verb: string;
  /** Whether everything needed is there. */
  isReady?: boolean;
  isDanger?: boolean;
  cancel?: { label: string; onClick: () => void };
  children: ReactNode;
};

export function FormBody({ form, verb, isReady = true, isDanger, cancel, children }: Props) {
  return (
    <form onSubmit={form.submit} className={css.form} noValidate>
      {form.general && (
        <Alert color="red" variant="light" role="alert">
          {form.general}
        </Alert>
      )}
      {children}
      <div className={css.buttons}>
        {cancel && (
          <Button variant="default" onClick={cancel.onClick}>
            {cancel.label}
          </Button>
        )}
        <Button type="submit" loading={form.busy} disabled={!isReady} color={isDanger ? 'red' : undefined}>
          {verb}
        </Button>
      </div>
    </form>
  );
}
