import { beforeAll, expect, test, vi } from 'vitest';
import type { InboxItem } from '../api/inbox';
import { day } from '../parts/format';
import { speak } from '../texts';
import { addressOf, told } from './told';

beforeAll(async () => {
  vi.stubGlobal('localStorage', { getItem: () => 'en' });
  vi.stubGlobal('document', { documentElement: {} });
  await speak();
});

const item = (text: string, more: Partial<InboxItem> = {}): InboxItem => ({
  id: 'inb_1',
  kind: 'policies',
  text,
  entityType: 'policy',
  entityId: 'pol_1',
  actorId: null,
  createdAt: '2026-11-15T09:30:00.000Z',
  readAt: null,
  ...more,
});
const several = { entityType: null, entityId: null };

test('sentences of the server are told in the language of the console', () => {
  expect(told(item('T-1 Review access (due 2026-11-18)', { kind: 'dueSoon' }))).toBe(
    `T-1 Review access, due ${day('2026-11-18')}`,
  );
  expect(told(item('R-4 Fire (its acceptance ended on 2026-11-20)', { kind: 'overdue' }))).toBe(
    `R-4 Fire: acceptance ended on ${day('2026-11-20')}`,
  );
  expect(told(item('P-2 Access was not approved: Say who.\nAnd when.'))).toBe('Not approved: P-2 Access: Say who.\nAnd when.');
  expect(told(item('Something new happened'))).toBe('Something new happened');
});

test('several notifications of one change read as one', () => {
  expect(told(item('1200 things were assigned to you', { kind: 'assigned', ...several }))).toBe(
    '1,200 things were assigned to you',
  );
  expect(told(item('Please read and sign P-1 Access, and 11 more', several))).toBe(
    'Please read and sign P-1 Access, and 11 more',
  );
});

test('what was assigned is named by its title, whatever the title says', () => {
  const title = 'T-2 Please approve the budget, due 2026-11-18';
  expect(told(item(title, { kind: 'assigned', entityType: 'task', entityId: 'tsk_2' }))).toBe(title);
});

test('a notification leads to its record, several lead to their list', () => {
  expect(addressOf(item(''), 'mem_1')).toBe('/policies/pol_1');
  expect(addressOf(item('', { entityType: 'risk', entityId: 'rsk_1' }), 'mem_1')).toBe('/risks?open=rsk_1');
  expect(addressOf(item('', { kind: 'assigned', ...several }), 'mem_1')).toBe('/tasks?view=list&assigneeId=mem_1');
  expect(addressOf(item('', { entityType: 'unknown', entityId: 'x' }), 'mem_1')).toBe('/policies');
});
