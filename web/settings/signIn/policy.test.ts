// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { bodyOf, holdsFrom, type Policy, problemsOf, typedOf } from './policy';

const policy: Policy = {
  mfa: 'optional',
  graceDays: 14,
  mfaFrom: null,
  idleMinutes: null,
  maxHours: 168,
  sso: 'optional',
  ssoMfa: 'trusted',
  ssoMaxHours: 12,
  apiKeyMaxDays: null,
  apiKeyScopesRequired: false,
  exemptMembers: [],
  membersWithoutSecondFactor: 3,
  apiKeysBeyondPolicy: 0,
  updatedAt: null,
};
const typed = typedOf(policy, '"1"');

test('what is typed is sent as numbers, and an empty limit as none', () => {
  expect(typed).toEqual({
    isSsoRequired: false,
    ssoMfa: 'trusted',
    ssoMaxHours: '12',
    isRequired: false,
    graceDays: '14',
    idleMinutes: '',
    maxHours: '168',
    apiKeyMaxDays: '',
    areKeyScopesRequired: false,
    version: '"1"',
  });
  const changed = { isSsoRequired: true, isRequired: true, maxHours: ' ', idleMinutes: '30', areKeyScopesRequired: true };
  expect(bodyOf({ ...typed, ...changed })).toEqual({
    sso: 'required',
    ssoMfa: 'trusted',
    ssoMaxHours: 12,
    mfa: 'required',
    graceDays: 14,
    idleMinutes: 30,
    maxHours: null,
    apiKeyMaxDays: null,
    apiKeyScopesRequired: true,
  });
});

test('numbers outside of their limits have problems at their fields', () => {
  expect(problemsOf(typed)).toEqual({});
  expect(Object.keys(problemsOf({ ...typed, ssoMaxHours: '721', graceDays: '', idleMinutes: '4', maxHours: '8761' }))).toEqual([
    'ssoMaxHours',
    'graceDays',
    'idleMinutes',
    'maxHours',
  ]);
  const odd = { graceDays: '91', idleMinutes: '1.5', maxHours: '-1', apiKeyMaxDays: '3651' };
  expect(Object.keys(problemsOf({ ...typed, ...odd }))).toHaveLength(4);
});

test('the days of grace count from when a second factor was first required', () => {
  const now = Date.parse('2026-11-15T09:30:00.000Z');
  const iso = (found: Date | undefined) => found?.toISOString();
  expect(holdsFrom(policy, typed, now)).toBeUndefined();
  expect(iso(holdsFrom(policy, { ...typed, isRequired: true }, now))).toBe('2026-11-29T09:30:00.000Z');
  expect(holdsFrom(policy, { ...typed, isRequired: true, graceDays: '91' }, now)).toBeUndefined();
  const required: Policy = { ...policy, mfa: 'required', mfaFrom: '2026-11-20T00:00:00.000Z' };
  expect(iso(holdsFrom(required, { ...typed, isRequired: true, graceDays: '7' }, now))).toBe('2026-11-13T00:00:00.000Z');
});
