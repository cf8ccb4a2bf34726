import { Button, Modal, PasswordInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { api } from '../api/client';
import { Problem, words } from '../api/problem';
import { t } from '../texts';
import css from './Dialog.module.css';

type Props = {
  title: string;
  verb: string;
  /** Closes when it succeeds; a failure is told in place. */
  act: () => Promise<unknown>;
  onClose: () => void;
  isReady?: boolean;
  /** The fields in it that show their own problems, and how they are told. */
  fields?: string[];
  onErrors?: (errors: Record<string, string>) => void;
  /** What is signed or approved is so by a person: their password is asked for again. */
  withPassword?: boolean;
  children: ReactNode;
};

/** A question with one verb. The title is the question, the button is the verb. What was typed stays when it fails. */
export function Dialog({ title, verb, act, onClose, isReady = true, fields, onErrors, withPassword = false, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const [password, setPassword] = useState('');
  const [wrong, setWrong] = useState<string>();

  async function go() {
    setBusy(true);
    setProblem(undefined);
    setWrong(undefined);
    onErrors?.({});
    try {
      if (withPassword) await api.POST('/v1/auth/confirm', { body: { password } });
      await act();
      onClose();
    } catch (error) {
      const errors = error instanceof Problem ? error.fields() : {};
      onErrors?.(errors);
      if (errors.password) setWrong(errors.password);
      else setProblem(fields && error instanceof Problem ? error.rest(fields) : words(error));
    } finally {
      setBusy(false);
    }
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    void go();
  }

  return (
    <Modal opened onClose={onClose} title={title} centered closeButtonProps={{ 'aria-label': t.actions.close }}>
      <form onSubmit={submit} className={css.form} noValidate>
        {children}
        {withPassword && (
          <PasswordInput
            label={t.dialog.password}
            description={t.dialog.passwordHelp}
            value={password}
            error={wrong}
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': t.gate.showPassword }}
            onChange={(event) => setPassword(event.currentTarget.value)}
            data-autofocus
          />
        )}
        {problem && (
          <p role="alert" className={css.problem}>
            {problem}
          </p>
        )}
        <div className={css.buttons}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy} disabled={!isReady || (withPassword && password === '')}>
            {verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
