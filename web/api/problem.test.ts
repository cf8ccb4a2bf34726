// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { t } from '../texts';
import de from '../texts/de';
import en from '../texts/en';
import { sentence } from './problem';

const messages = [
  'is required',
  'must not be null',
  'must be true or false',
  'must be a date such as 2026-11-15',
  'can be read in two ways; write it as 2026-03-04 or 2026-04-03',
  'must have at most 255 characters; it has 300',
  'must have 1 to 255 characters; it has 300',
  'must be a whole number from 1 to 25',
  'must be one of: high, low',
  'is required, and must lie within 90 days',
  '"Ada" is nobody in this organization; use a name, an e-mail address or an id',
  '"Ada" is the name of several people; use the e-mail address',
];

test('what the server says of a field is said in the language of the console', () => {
  const english = messages.map(sentence);
  expect(english.slice(0, 2)).toEqual(['Is required', 'Must not be empty']);
  Object.assign(t, { problems: de.problems, imports: de.imports });
  const german = messages.map(sentence);
  Object.assign(t, { problems: en.problems, imports: en.imports });
  expect(german.filter((one) => english.includes(one))).toEqual([]);
  expect(german[6]).toBe('Muss 1 bis 255 Zeichen haben');
  expect(german[10]).toContain('„Ada“');
});

test('a sentence that the console has no words for stays as it is', () => {
  expect(sentence('must have 1 to 64 characters: capitals, digits and underscores')).toBe(
    'Must have 1 to 64 characters: capitals, digits and underscores',
  );
});
