import { Button, Modal } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { words } from '../api/problem';
import { t } from '../texts';
import css from './Dialog.module.css';
import { useIdentity } from './identity';

type Question = {
  title: string;
  text: ReactNode;
  verb: string;
  act: () => Promise<unknown>;
  /** The server demands that users have confirmed who they are within ten minutes. */
  withIdentity?: boolean;
  /** It changes how the account signs in, so its own credentials confirm it. */
  isOfAccount?: boolean;
  /** What it does can be taken back. */
  isSafe?: boolean;
};

/** Asks before what cannot be undone. The title is the question, the button is the verb. */
export function useConfirm() {
  const [question, setQuestion] = useState<Question>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const identity = useIdentity(question?.withIdentity ? 'unless confirmed' : 'never', { isOfAccount: question?.isOfAccount });
  const close = () => {
    setQuestion(undefined);
    setProblem(undefined);
    identity.reset();
  };

  async function go() {
    setBusy(true);
    setProblem(undefined);
    try {
      if (!(await identity.confirm())) return;
      await question?.act();
      close();
    } catch (error) {
      if (!identity.refuse(error)) setProblem(words(error));
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

  const dialog = (
    <Modal
      opened={question !== undefined && identity.isKnown}
      onClose={close}
      title={question?.title}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <form onSubmit={submit} className={css.form} noValidate>
        <p className="t2">{question?.text}</p>
        {identity.fields}
        {problem && (
          <p role="alert" className={css.problem}>
            {problem}
          </p>
        )}
        <div className={css.buttons}>
          <Button variant="default" onClick={close}>
            {t.actions.cancel}
          </Button>
          <Button
            type="submit"
            color={question?.isSafe ? undefined : 'red'}
            loading={busy}
            disabled={!identity.isReady}
            data-autofocus={!identity.isAsked || identity.isByButton || undefined}
          >
            {question?.verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
  return { ask: setQuestion, isAsking: question !== undefined, dialog };
}
