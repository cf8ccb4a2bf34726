import { Button, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { words } from '../api/problem';
import { t } from '../texts';

type Props = {
  title: string;
  verb: string;
  onClose: () => void;
  /** Closes when it succeeds; a failure is told in place. */
  act: () => Promise<unknown>;
  disabled?: boolean;
  children: ReactNode;
};

/** A question with one verb. What was typed stays when it fails. */
export function Dialog({ title, verb, onClose, act, disabled, children }: Props) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function go() {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
      onClose();
    } catch (error) {
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }
  return (
    <Modal opened onClose={onClose} title={title} centered closeButtonProps={{ 'aria-label': t.actions.close }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
        style={{ display: 'grid', gap: 12 }}
      >
        {children}
        {problem && (
          <p role="alert" style={{ color: 'var(--c-bad-text)' }}>
            {problem}
          </p>
        )}
        <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8, marginTop: 8 }}>
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={busy} disabled={disabled}>
            {verb}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
