// @vitest-environment jsdom
import { waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer } from '../parts/testing/render';
import { undoLast } from '../parts/undo';
import { saveFromList } from './records';

afterEach(() => vi.unstubAllGlobals());

const server = (status: string) => {
  let row = { id: 'rsk_1', status };
  return answer({
    '/v1/risks/rsk_1': ({ method, body }) => {
      if (method === 'PATCH') row = { ...row, ...JSON.parse(body) };
      return { body: row };
    },
    '/v1/risks/rsk_1/history': () => ({ body: { data: [], count: 0, nextCursor: null } }),
  });
};
const sent = (asked: ReturnType<typeof server>) => asked.filter(({ method }) => method === 'PATCH').map(({ body }) => body);

test('a status set in a list is taken back by the key', async () => {
  const asked = server('open');
  await saveFromList('/v1/risks', 'rsk_1', { status: 'closed' }, { status: 'open' }, 'R-1: Closed');
  expect(sent(asked)).toEqual(['{"status":"closed"}']);
  expect(undoLast()).toBe(true);
  await waitFor(() => expect(sent(asked)).toEqual(['{"status":"closed"}', '{"status":"open"}']));
  expect(undoLast()).toBe(false);
});

test('a status that was changed meanwhile is not overwritten from a list', async () => {
  const asked = server('archived');
  await saveFromList('/v1/risks', 'rsk_1', { status: 'closed' }, { status: 'open' }, 'R-1: Closed');
  expect(sent(asked)).toEqual([]);
  expect(undoLast()).toBe(false);
});
