import { expect, test, vi } from 'vitest';
import { forgetUndoAfter, setUndo, undoLast } from './undo';

test('the last change is taken back once', () => {
  const undo = vi.fn();
  setUndo(undo);
  expect(undoLast()).toBe(true);
  expect(undoLast()).toBe(false);
  expect(undo).toHaveBeenCalledTimes(1);
});

test('a later change drops it, reading and marking as read do not', () => {
  setUndo(() => undefined);
  forgetUndoAfter('GET', 'http://localhost/v1/risks');
  forgetUndoAfter('POST', 'http://localhost/v1/inbox/read');
  forgetUndoAfter('POST', 'http://localhost/v1/risks/import?dryRun=true');
  expect(undoLast()).toBe(true);
  setUndo(() => undefined);
  forgetUndoAfter('PATCH', 'http://localhost/v1/risks/rsk_1');
  expect(undoLast()).toBe(false);
});
