import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { t } from '../texts';
import { setUndo, undoLast } from './undo';

/** Tells the reader what their act did; anything that needs an answer is in the page instead. */
export function toast(text: string, { undo, bad }: { undo?: () => unknown; bad?: boolean } = {}) {
  const id = notifications.show({
    autoClose: bad ? 10_000 : 6_000,
    withCloseButton: false,
    role: bad ? 'alert' : 'status',
    message: (
      <span style={{ display: 'flex', alignItems: 'center', gap: 16 }}>
        <span style={bad ? { color: 'var(--c-bad-text)' } : undefined}>{text}</span>
        {undo && (
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              notifications.hide(id);
              setUndo(undo);
              undoLast();
            }}
          >
            {t.actions.undo}
          </Button>
        )}
      </span>
    ),
  });
  if (undo)
    setUndo(() => {
      notifications.hide(id);
      undo();
    });
}
