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

/** A text of each kind that the server writes. */
const TEXTS = [
  '12 things were assigned to you',
  '12 things of yours are overdue',
  '12 things of yours are due soon',
  '12 messages from your automations',
  '12 policies or statements need you, or have changed',
  '12 messages from the trust portal',
  '12 comments mention you',
  'T-1 Review access (due 2026-11-18)',
  'T-1 Review access, due 2026-11-18',
  'R-4 Fire (its acceptance ends on 2026-11-20)',
  'R-4 Fire (its acceptance ended on 2026-11-20)',
  'Eve mentioned you on R-4 Fire',
  'Please approve P-1 Access',
  'Please approve the statement of applicability for ISO/IEC 27001, version 2',
  'Approved: the statement of applicability for ISO/IEC 27001, version 2',
  'Not approved: the statement of applicability for ISO/IEC 27001, version 2: Say why',
  'Please read and sign P-1 Access',
  'P-1 Access is due for review',
  'P-1 Access is published as version 3',
  'P-1 Access was not approved: Say who',
  '“Backups” (T-1 Back up) failed: no answer',
  '“Backups” (T-1 Back up) passes again',
  'Zoe (Example Ltd) asks for access to the trust portal',
  "The trust portal's domain trust.example.com works again",
  'The DNS records of trust.example.com are wrong. Fix them within 72 hours, or the trust portal will stop using this domain',
  'The trust portal no longer uses trust.example.com: its DNS records were wrong for 72 hours',
];

test('every text of the server reads in German', async () => {
  vi.stubGlobal('localStorage', { getItem: () => 'de' });
  await speak();
  for (const text of TEXTS) {
    const read = told(item(text, several));
    expect(read).not.toBe(text);
    expect(read).not.toMatch(/\b(you|yours|the|is|are|and|of)\b/);
  }
  expect(told(item('12 comments mention you', several))).toBe('Sie wurden in 12 Kommentaren erwähnt');
  const declined = 'Not approved: the statement of applicability for ISO/IEC 27001, version 2: Weil';
  expect(told(item(declined))).toBe('Nicht freigegeben: Erklärung zur Anwendbarkeit für ISO/IEC 27001, Version 2: Weil');
  vi.stubGlobal('localStorage', { getItem: () => 'en' });
  await speak();
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
