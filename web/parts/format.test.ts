// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { dated } from './format';
import { isDay } from './NoDate';

test('dates and times of the API read as dates, other texts are left alone', () => {
  expect(dated('2025-08-13')).toBe('13 Aug 2025');
  expect(dated('2025-08-13T08:45:00.000Z')).toMatch(/^13 Aug 2025 \d\d:45$/);
  expect(dated('2025-08-13 or later')).toBeUndefined();
  expect(dated(20250813)).toBeUndefined();
});

test('the day in an address has to be one', () => {
  expect(isDay('2025-11-15')).toBe(true);
  expect(isDay('garbage')).toBe(false);
  expect(isDay('2026-13-45')).toBe(false);
});

test('a day that does not exist or has not begun cannot be shown', () => {
  expect(isDay('2024-02-29')).toBe(true);
  expect(isDay('2025-02-29')).toBe(false);
  expect(isDay('2025-02-31')).toBe(false);
  expect(isDay('2025-04-31T10:00:00Z')).toBe(false);
  expect(isDay('2025-04-30T10:00:00Z')).toBe(true);
  expect(isDay(new Date().toISOString().slice(0, 10))).toBe(true);
  expect(isDay('2999-01-01')).toBe(false);
});
