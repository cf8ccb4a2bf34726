// @vitest-environment jsdom
import { waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer } from '../parts/testing/render';
import { undoLast } from '../parts/undo';
import { saveFromList, undoOf } from './records';

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

test('a first rating is taken back as none, and a later one as the one before', () => {
  const risk = { likelihood: 'very_unlikely', impact: 'insignificant', residualImpact: 'minor', treatmentStrategy: 'accept' };
  const flags = { isAssessed: false, isResidualAssessed: true, treatmentDecidedAt: null };
  expect(undoOf({ ...risk, ...flags }, { likelihood: 'likely' })).toEqual({ likelihood: null });
  expect(undoOf({ ...risk, ...flags }, { residualImpact: 'major' })).toEqual({ residualImpact: 'minor' });
  expect(undoOf({ ...risk, ...flags, isAssessed: true }, { impact: 'major' })).toEqual({ impact: 'insignificant' });
  expect(undoOf({ ...risk, ...flags }, { treatmentStrategy: 'avoid' })).toEqual({ treatmentStrategy: null });
  const described = { treatmentStrategyDescription: 'Insured.' };
  expect(undoOf({ ...risk, ...flags }, described)).toEqual({ treatmentStrategyDescription: null, treatmentStrategy: null });
  const decided = { ...risk, ...flags, treatmentDecidedAt: '2026-11-15T09:30:00.000Z' };
  expect(undoOf(decided, described)).toEqual({ treatmentStrategyDescription: null });
  expect(undoOf({ impact: 'x' }, { impact: 'y' })).toEqual({ impact: 'x' });
});
