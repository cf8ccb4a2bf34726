// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Item, Programme } from './queries';
import { dateIn, forecastOf, loadsOf, neighbour, paperRowsOf, plannedOf, rowsOf, weeksOf, withDue } from './rows';

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

const ON = '2026-11-18';
const idsIn = (of: Programme, startsOn: string) =>
  of.weeks.find((week) => week.startsOn === startsOn)?.items.map(({ id }) => id) ?? [];

test('items can be moved to every week from this one on, also to one without items', () => {
  const weeks = weeksOf(programme, ON);
  expect(weeks.map(({ number, startsOn, count }) => [number, startsOn, count])).toEqual([
    [3, '2026-11-16', 1],
    [4, '2026-11-23', 2],
    [5, '2026-11-30', 0],
    [6, '2026-12-07', 0],
    [7, '2026-12-14', 0],
  ]);
});

test('a moved item keeps its weekday, and is never due in the past', () => {
  const [now, next] = weeksOf(programme, ON);
  if (!now || !next) throw new Error('no weeks');
  expect(dateIn(next, '2026-11-20', ON)).toBe('2026-11-27');
  expect(dateIn(now, '2026-11-03', ON)).toBe(ON);
  expect(dateIn(next, null, ON)).toBe('2026-11-27');
});

test('the keyboard moves by a week, and what is late on to this one', () => {
  const weeks = weeksOf(programme, ON);
  const to = (dueDate: string | null, by: 1 | -1) => neighbour(weeks, item('one', { dueDate }), by)?.startsOn;
  expect(to('2026-11-20', 1)).toBe('2026-11-23');
  expect(to('2026-11-20', -1)).toBeUndefined();
  expect(to('2026-11-25', -1)).toBe('2026-11-16');
  expect(to('2026-11-06', 1)).toBe('2026-11-16');
  expect(to('2026-11-06', -1)).toBeUndefined();
  expect(to(null, 1)).toBe('2026-11-16');
});

test('a new due date moves the item, its state and the counts', () => {
  const later = withDue(programme, 'late', '2026-11-27', ON);
  expect(idsIn(later, '2026-11-02')).toEqual(['done']);
  expect(idsIn(later, '2026-11-23')).toEqual(['blocked', 'next', 'late']);
  expect(later.counts).toEqual({ done: 1, due: 4, late: 0, blocked: 1 });
  const added = withDue(programme, 'now', '2026-12-08', ON);
  expect(added.weeks.map(({ startsOn }) => startsOn)).toEqual(['2026-11-02', '2026-11-16', '2026-11-23', '2026-12-07']);
  expect(withDue(programme, 'blocked', '2026-12-08', ON).counts.blocked).toBe(1);
  expect(withDue(programme, 'now', null, ON).unscheduled.map(({ id }) => id)).toEqual(['some day', 'now']);
  expect(withDue(programme, 'nowhere', '2026-12-08', ON)).toBe(programme);
});

test('on paper every week is in its place', () => {
  const rows = paperRowsOf(programme, ON, () => true);
  expect(rows.map(({ id }) => id)).toEqual(['done', 'late', 'now', 'blocked', 'next', 'some day']);
  expect(rows[0]?.group.label).toMatch(/^Week 1 /);
});
