// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { ServiceAccount } from '../../api/people';
import { expiryState } from '../expiry';
import { changesOf, newAccount, newBodyOf, typedOf } from './accounts';
import { defaultExpiry, expiryChoices, expiryTime, isBeyond, type Key, keysOf } from './keys';

const NOW = Date.parse('2026-11-15T09:30:00.000Z');
const inDays = (days: number) => ({ expiresAt: new Date(Date.now() + days * 86_400_000).toISOString() });
const labels = (maxDays: number | null) => expiryChoices(maxDays).map(({ label }) => label);
const key = (patch: Partial<Key>) => ({ memberId: 'mem_1', isBeyondPolicy: false, expiresAt: null, ...patch }) as Key;

test('a new key expires within the limit of the policy', () => {
  expect(labels(null)).toEqual(['In 30 days', 'In 90 days', 'In a year', 'Never']);
  expect(labels(1)).toEqual(['In 1 day']);
  expect(labels(90)).toEqual(['In 30 days', 'In 90 days']);
  expect(labels(3650)).toEqual(['In 30 days', 'In 90 days', 'In a year', 'In 3,650 days']);
  expect([null, 1, 90, 400].map(defaultExpiry)).toEqual(['90', '1', '90', '90']);
});

test('at the limit of the policy, a key ends an hour early', () => {
  expect(expiryTime('never', null, NOW)).toBeNull();
  expect(expiryTime('30', 90, NOW)).toBe('2026-12-15T09:30:00.000Z');
  expect(expiryTime('90', 90, NOW)).toBe('2027-02-13T08:30:00.000Z');
});

test('a token or key that has expired or soon will says so', () => {
  expect(expiryState({ expiresAt: null })).toBeUndefined();
  expect(expiryState(inDays(30))).toBeUndefined();
  expect(expiryState(inDays(3))?.label).toBe('in 3 d');
  expect(expiryState(inDays(-1))?.label).toBe('Expired');
});

test('expired keys neither count nor exceed the policy', () => {
  const [late, soon] = [key(inDays(80)), key(inDays(8))];
  const others = [key({}), key(inDays(-1)), key({ ...inDays(1), memberId: 'mem_2' })];
  expect(keysOf([late, soon, ...others], 'mem_1')).toEqual({ count: 3, first: soon });
  expect(keysOf([], 'mem_1')).toEqual({ count: 0, first: undefined });
  expect([key({}), key({ isBeyondPolicy: true }), key({ isBeyondPolicy: true, ...inDays(-1) })].map(isBeyond)).toEqual([
    false,
    true,
    false,
  ]);
});

const account: ServiceAccount = {
  id: 'sva_1',
  name: 'Nightly import',
  description: null,
  role: 'employee',
  memberId: 'mem_9',
  ownerId: 'mem_1',
  isOrphaned: false,
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: '2026-11-15T09:30:00.000Z',
};

test('of a known account, what was changed is sent', () => {
  const typed = typedOf(account);
  expect(changesOf(account, typed)).toEqual({});
  expect(changesOf(account, { ...typed, name: ' Import ', description: 'Assets', ownerId: 'mem_2' })).toEqual({
    name: 'Import',
    description: 'Assets',
    ownerId: 'mem_2',
  });
  const orphaned = { ...account, isOrphaned: true };
  expect(typedOf(orphaned).ownerId).toBeNull();
  expect(changesOf(orphaned, typedOf(orphaned))).toEqual({});
  expect(newBodyOf({ ...newAccount('mem_1'), name: 'Import' })).toEqual({
    name: 'Import',
    description: null,
    role: 'employee',
    ownerId: 'mem_1',
  });
});
