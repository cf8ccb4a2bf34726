import { Alert, PasswordInput as Password, type PasswordInputProps } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { passkeyWords } from '../api/passkeys';
import { Problem } from '../api/problem';
import { t } from '../texts';
import css from './gate.module.css';

/** With a word for its button in the reader's language. */
export function PasswordInput(props: PasswordInputProps) {
  return <Password visibilityToggleButtonProps={{ 'aria-label': t.gate.showPassword }} {...props} />;
}

type Values = Record<string, string>;

export function Gate({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  return (
    <main className={css.gate} id="main">
      <div className={css.brand}>
        <img src="/assets/icon.svg" alt="" width={28} height={28} />
        {t.name}
      </div>
      <h1>{title}</h1>
      {lead && <p className={css.lead}>{lead}</p>}
      {children}
    </main>
  );
}

/** The state of a form whose problems belong to its fields. */
export function useForm(names: string[], send: (values: Values) => Promise<unknown>) {
  const [values, setValues] = useState<Values>({});
  const [errors, setErrors] = useState<Values>({});
  const [general, setGeneral] = useState<string>();
  const [busy, setBusy] = useState(false);
  const clear = () => {
    setErrors({});
    setGeneral(undefined);
  };
  const reset = () => {
    setValues({});
    clear();
  };
  const fail = (error: unknown) => {
    setErrors(error instanceof Problem ? error.fields() : {});
    setGeneral(error instanceof Problem ? error.rest(names) : passkeyWords(error));
  };
  async function submit(event: FormEvent) {
    event.preventDefault();
    clear();
    setBusy(true);
    try {
      await send(values);
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  }
  const field = (name: string) => ({
    name,
    size: 'lg' as const,
    value: values[name] ?? '',
    error: errors[name],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setValues((old) => ({ ...old, [name]: value }));
    },
  });
  const problem = general && (
    <Alert color="red" variant="light" role="alert">
      {general}
    </Alert>
  );
  return { field, submit: (event: FormEvent) => void submit(event), busy, problem, values, clear, reset, fail };
}

export function Done({ children }: { children: ReactNode }) {
  return (
    <p className={css.done} role="status">
      {children}
    </p>
  );
}
