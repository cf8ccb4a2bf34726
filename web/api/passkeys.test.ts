// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { t } from '../texts';
import { hasPasskeys, offeredFor, passkeyWords } from './passkeys';

test('a challenge is replaced half a minute before it expires, whatever the clock says', () => {
  const now = Date.parse('2026-11-15T09:30:00.000Z');
  expect(offeredFor('2026-11-15T09:33:00.000Z', now)).toBe(150_000);
  expect(offeredFor('2026-11-15T10:30:00.000Z', now)).toBe(270_000);
  expect(offeredFor('2026-11-15T09:00:00.000Z', now)).toBe(10_000);
});

test('a browser without passkeys has none', () => {
  expect(hasPasskeys()).toBe(false);
});

test('a cancelled ceremony has a message', () => {
  expect(passkeyWords(new DOMException('', 'NotAllowedError'))).toBe(t.security.ceremony.cancelled);
  expect(passkeyWords(new DOMException('', 'InvalidStateError'))).toBe(t.security.ceremony.known);
  expect(passkeyWords(new Error('Broken'))).toBe('Broken');
});
