// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { actionsOf, fieldWord, reading } from './entries';

test('a field of an entry has its label, and its name in the API where it has none', () => {
  expect(fieldWord('task', 'lastEvidenceDate')).toBe('Latest evidence');
  expect(fieldWord('task', 'frequency')).toBe('Repeats');
  expect(fieldWord('chat_channel', 'urlFingerprint')).toBe('Fingerprint of the webhook address');
  expect(fieldWord('task', 'somethingNew')).toBe('somethingNew');
});

test('a time reads as one', () => {
  expect(reading('2025-08-13T08:45:00.000Z', () => undefined)).toMatch(/^13 Aug 2025 /);
});

test('a filter by actions keeps those of the kinds that are shown', () => {
  expect(actionsOf('risk,policy_version', 'risk.created,task.created,policy.version_published')).toBe(
    'risk.created,policy.version_published',
  );
  expect(actionsOf('task', 'risk.created')).toBeUndefined();
  expect(actionsOf(undefined, 'risk.created')).toBeUndefined();
});
