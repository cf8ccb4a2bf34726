import { Alert, Button } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Problem, words } from '../api/problem';
import css from './settings.module.css';

/** The state of a form whose problems belong to its fields. Nothing typed is lost when it is refused. */
export function useForm(names: string[], send: () => Promise<unknown>) {
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  function fail(error: unknown) {
    if (error instanceof Problem) {
      setErrors(error.fields());
      setGeneral(error.rest(names));
    } else setGeneral(words(error));
  }
  async function submit(event?: FormEvent) {
    event?.preventDefault();
    setErrors({});
    setGeneral(undefined);
    setBusy(true);
    try {
      await send();
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  }
  /** Runs the act of a dialog that covers the form: the form shows the problems of its fields, the dialog any other. */
  async function atFields(act: () => Promise<unknown>) {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem) || error.errors.length === 0) throw error;
      fail(error);
    }
  }
  return { errors, setErrors, general, busy, atFields, submit: (event?: FormEvent) => void submit(event) };
}

type Form = ReturnType<typeof useForm>;
type Props = {
  form: Form;
  verb: string;
  /** Everything needed is there. */
  isReady?: boolean;
  isDanger?: boolean;
  cancel?: { label: string; onClick: () => void };
  children: ReactNode;
};

export function FormBody({ form, verb, isReady = true, isDanger, cancel, children }: Props) {
  const { errors, general } = form;
  const body = useRef<HTMLFormElement>(null);
  useEffect(() => {
    // The form may be longer than a screen.
    if (general || Object.keys(errors).length > 0)
      body.current?.querySelector('[role="alert"], [aria-invalid="true"]')?.scrollIntoView({ block: 'center' });
  }, [general, errors]);
  return (
    <form ref={body} onSubmit={form.submit} className={css.form} noValidate>
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
