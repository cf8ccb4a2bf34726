import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { t } from '../texts';

/** What takes back the last change, as long as its message is there. */
let last: { id: string; undo: () => unknown } | undefined;

/** Takes back the last change; false if there is nothing to take back. */
export function undoLast(): boolean {
  if (!last) return false;
  const { id, undo } = last;
  last = undefined;
  notifications.hide(id);
  undo();
  return true;
}

/** Tells the reader what their act did; anything that needs an answer is in the page instead. */
export function toast(text: string, { undo, bad }: { undo?: () => unknown; bad?: boolean } = {}) {
  const id = notifications.show({
    autoClose: bad ? 10_000 : 6_000,
    withCloseButton: false,
    role: bad ? 'alert' : 'status',
    onClose: () => {
      if (last?.id === id) last = undefined;
    },
    message: (
      <span style={{ display: 'flex', alignItems: 'center', gap: 16 }}>
        <span style={bad ? { color: 'var(--c-bad-text)' } : undefined}>{text}</span>
        {undo && (
          <Button
            size="xs"
            variant="default"
            onClick={() => {
              last = { id, undo };
              undoLast();
            }}
          >
            {t.actions.undo}
          </Button>
        )}
      </span>
    ),
  });
  if (undo) last = { id, undo };
}
