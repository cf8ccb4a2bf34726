import { Button, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { words } from '../api/problem';
import { t } from '../texts';

type Question = { title: string; text: ReactNode; verb: string; act: () => Promise<unknown> };

/** Asks before what cannot be undone. The title is the question, the button is the verb. */
export function useConfirm() {
  const [question, setQuestion] = useState<Question>();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const close = () => {
    setQuestion(undefined);
    setProblem(undefined);
  };
  const dialog = (
    <Modal
      opened={question !== undefined}
      onClose={close}
      title={question?.title}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <p className="t2">{question?.text}</p>
      {problem && (
        <p role="alert" style={{ color: 'var(--c-bad-text)', marginTop: 12 }}>
          {problem}
        </p>
      )}
      <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8, marginTop: 20 }}>
        <Button variant="default" onClick={close}>
          {t.actions.cancel}
        </Button>
        <Button
          color="red"
          loading={busy}
          data-autofocus
          onClick={async () => {
            setBusy(true);
            try {
              await question?.act();
              close();
            } catch (error) {
              setProblem(words(error));
            } finally {
              setBusy(false);
            }
          }}
        >
          {question?.verb}
        </Button>
      </div>
    </Modal>
  );
  return { ask: setQuestion, isAsking: question !== undefined, dialog };
}
