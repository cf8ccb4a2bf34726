// @vitest-environment jsdom
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import de from '../texts/de/first';
import en from '../texts/en/first';
import { failureWords } from './ssoFailures';

const CODE = /(?:refused|refuse)\(\s*"(sso_\w+)"|=> "(sso_\w+)"|unwrap_or\("(sso_\w+)"\)/g;

/** The codes that the server leads to the sign-in page with. */
const codes = ['flow', 'accounts'].flatMap((name) => {
  const source = readFileSync(`../crates/app/src/identity/sso/${name}.rs`, 'utf8');
  return [...source.matchAll(CODE)].map(([, ...found]) => found.find(Boolean) ?? '');
});

test('every code of a failed round trip has words in every language', () => {
  expect(new Set(codes).size).toBeGreaterThan(14);
  for (const { gate } of [en, de]) expect([...new Set(codes)].filter((code) => !gate.failures[code])).toEqual([]);
});

test('an unknown code has general words', () => {
  expect(failureWords('sso_new')).toEqual(failureWords('something_else'));
  expect(failureWords('sso_new')).not.toEqual(failureWords('sso_denied'));
});
