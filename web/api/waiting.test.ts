import { beforeEach, expect, test, vi } from 'vitest';
import { flush, keep, sendWaitingWith, type Waiting } from './waiting';

const edit = (patch: Record<string, unknown>, id = 'rsk_1'): Waiting => ({ path: '/v1/risks', id, patch, version: '"1"' });
let sent: Waiting[];
let isThere: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  sent = [];
  isThere = true;
  sendWaitingWith(async (one) => {
    if (!isThere) return 'unreachable';
    sent.push(one);
    return 'done';
  });
});

test('edits of one record are sent as one, on the version they began with', async () => {
  keep(edit({ title: 'a' }));
  keep({ ...edit({ status: 'open' }), version: '"9"' });
  keep(edit({ title: 'c' }, 'rsk_2'));
  keep(edit({ title: 'b' }));
  await flush();
  expect(sent).toEqual([edit({ title: 'b', status: 'open' }), edit({ title: 'c' }, 'rsk_2')]);
  await flush();
  expect(sent).toHaveLength(2);
});

test('what cannot be sent is tried again', async () => {
  isThere = false;
  keep(edit({ title: 'a' }));
  await flush();
  expect(sent).toEqual([]);
  isThere = true;
  await vi.advanceTimersByTimeAsync(6_000);
  expect(sent).toEqual([edit({ title: 'a' })]);
});

test('what is typed while an edit is on its way goes after it', async () => {
  sendWaitingWith(async (one) => {
    sent.push(one);
    if (sent.length === 1) keep(edit({ title: 'b', status: 'open' }));
    return 'done';
  });
  keep(edit({ title: 'a' }));
  await flush();
  expect(sent).toEqual([edit({ title: 'a' }), { ...edit({ title: 'b', status: 'open' }), version: null }]);
});
