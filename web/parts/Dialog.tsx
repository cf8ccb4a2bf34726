import { Button, Modal } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Problem, words } from '../api/problem';
import { t } from '../texts';
import css from './Dialog.module.css';
import { useIdentity } from './identity';
import { ProblemText } from './ProblemText';

export type DialogProps = {
  title: string;
  verb: string;
  /** Closes the dialog when it succeeds; a failure is shown in it. */
  act: () => Promise<unknown>;
  onClose: () => void;
  isReady?: boolean;
  /** The fields in it that show their own problems, and the handler of these problems. */
  fields?: string[];
  onErrors?: (errors: Record<string, string>) => void;
  /** A person signs or approves: they confirm that it is them. */
  withPassword?: boolean;
  /** They confirm that it is them unless they did within ten minutes. */
  withIdentity?: boolean;
  /** It changes how the account signs in, so its own credentials confirm it. */
  isOfAccount?: boolean;
  /** It cannot be undone. */
  isDanger?: boolean;
  /** Over whatever covers the page. */
  isAbove?: boolean;
  children: ReactNode;
};

/** Returns the focus to where it was before, as Mantine does only for modals that stay mounted. */
function useReturnedFocus() {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      setTimeout(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        if (isLost && before instanceof HTMLElement) before.focus({ preventScroll: true });
      });
    };
  }, []);
}

/** A question with one verb. The title is the question, the button is the verb. What was typed stays when it fails. */
export function Dialog({ title, verb, act, onClose, isReady = true, children, ...options }: DialogProps) {
  const { fields, onErrors, withPassword, withIdentity, isOfAccount, isDanger, isAbove } = options;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const need = withPassword ? 'always' : withIdentity ? 'unless confirmed' : 'never';
  const identity = useIdentity(need, { isOfAccount });
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  useReturnedFocus();

  async function go() {
    setBusy(true);
    setProblem(undefined);
    onErrors?.({});
    try {
      // Users may have cancelled while the confirmation was on its way.
      if (!(await identity.confirm()) || !isOpen.current) return;
      await act();
      if (isOpen.current) onClose();
    } catch (error) {
      if (identity.refuse(error)) return;
      onErrors?.(error instanceof Problem ? error.fields() : {});
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
        <ProblemText>{problem}</ProblemText>
        <div className={css.buttons}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button
            type="submit"
            color={isDanger ? 'red' : undefined}
            loading={busy}
            disabled={!isReady || !identity.isReady}
            // Used where no field before it has the focus.
            data-autofocus
          >
            {verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
