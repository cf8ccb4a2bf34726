import { Button, Modal } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Problem, words } from '../api/problem';
import { t } from '../texts';
import css from './Dialog.module.css';
import { useIdentity } from './identity';

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
  /** What is signed or approved is so by a person: they confirm that it is them. */
  withPassword?: boolean;
  /** They confirm that it is them unless they did within ten minutes. */
  withIdentity?: boolean;
  /** It changes how the account signs in, so its own credentials confirm it. */
  isOfAccount?: boolean;
  /** Over whatever covers the page. */
  isAbove?: boolean;
  children: ReactNode;
};

/** A question with one verb. The title is the question, the button is the verb. What was typed stays when it fails. */
export function Dialog({ title, verb, act, onClose, isReady = true, fields, onErrors, isAbove, children, ...needs }: Props) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const need = needs.withPassword ? 'always' : needs.withIdentity ? 'unless confirmed' : 'never';
  const identity = useIdentity(need, { isOfAccount: needs.isOfAccount });

  async function go() {
    setBusy(true);
    setProblem(undefined);
    onErrors?.({});
    try {
      if (!(await identity.confirm())) return;
      await act();
      onClose();
    } catch (error) {
      if (identity.refuse(error)) return;
      const errors = error instanceof Problem ? error.fields() : {};
      onErrors?.(errors);
      setProblem(fields && error instanceof Problem ? error.rest(fields) : words(error));
    } finally {
      setBusy(false);
    }
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    // A form around the dialog is not meant.
    event.stopPropagation();
    void go();
  }

  return (
    <Modal
      opened={identity.isKnown}
      onClose={onClose}
      title={title}
      centered
      zIndex={isAbove ? 1100 : undefined}
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <form onSubmit={submit} className={css.form} noValidate>
        {children}
        {identity.fields}
        {problem && (
          <p role="alert" className={css.problem}>
            {problem}
          </p>
        )}
        <div className={css.buttons}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button
            type="submit"
            loading={busy}
            disabled={!isReady || !identity.isReady}
            data-autofocus={identity.isByButton || undefined}
          >
            {verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
