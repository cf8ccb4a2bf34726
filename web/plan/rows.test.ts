// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Item, Programme } from './queries';
import { forecastOf, loadsOf, plannedOf, rowsOf } from './rows';

const item = (id: string, rest: Partial<Item> = {}): Item => ({
  id,
  kind: 'task',
  reference: id,
  title: id,
  state: 'due',
  assigneeId: 'mem_1',
  dueDate: '2026-11-20',
  completedOn: null,
  ...rest,
});
const counts = { done: 0, due: 0, late: 0, blocked: 0 };
const programme = {
  startsOn: '2026-11-02',
  auditDate: '2027-03-01',
  forecast: { remaining: 3, completedLately: 1, finishesOn: null, isOnTime: null },
  weeks: [
    {
      startsOn: '2026-11-02',
      endsOn: '2026-11-08',
      counts,
      items: [item('done', { state: 'done' }), item('late', { state: 'late', dueDate: '2026-11-06' })],
    },
    { startsOn: '2026-11-16', endsOn: '2026-11-22', counts, items: [item('now')] },
    { startsOn: '2026-11-23', endsOn: '2026-11-29', counts, items: [item('blocked', { state: 'blocked' }), item('next')] },
  ],
  unscheduled: [item('some day', { dueDate: null, assigneeId: null })],
} as unknown as Programme;

test('late and blocked items come first, then this week, and what is done last', () => {
  const rows = rowsOf(programme, '2026-11-18', () => true);
  expect(rows.map(({ id }) => id)).toEqual(['late', 'blocked', 'now', 'next', 'some day', 'done']);
  expect(new Set(rows.map(({ group }) => group.key)).size).toBe(5);
  expect(rowsOf(programme, '2026-11-18', ({ assigneeId }) => assigneeId === null).map(({ id }) => id)).toEqual(['some day']);
});

test('everybody has a line, and what has no owner is last', () => {
  const loads = loadsOf([...programme.weeks.flatMap(({ items }) => items), ...programme.unscheduled]);
  expect(loads).toEqual([
    { id: 'mem_1', done: 1, late: 1, blocked: 1, all: 5 },
    { id: null, done: 0, late: 0, blocked: 0, all: 1 },
  ]);
});

test('the planned line adds up week by week', () => {
  expect(plannedOf(programme).map(({ count }) => count)).toEqual([0, 2, 3, 5]);
});

test('the forecast says how far from the audit the plan is ready', () => {
  const at = (finishesOn: string | null, remaining = 3) =>
    forecastOf({ ...programme, forecast: { ...programme.forecast, finishesOn, remaining } }, '2026-11-18');
  expect(at(null).text).toMatch(/Too early/);
  expect(at('2027-02-20')).toEqual({ text: expect.stringContaining('9 days before the audit'), isLate: false });
  expect(at('2027-03-11')).toEqual({ text: expect.stringContaining('10 days after the audit'), isLate: true });
  expect(at(null, 0).text).toMatch(/Everything is done, 103 days/);
});
