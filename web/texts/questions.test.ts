import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { questions as de } from './de/questions';

type Source = { questions: { key: string; options?: { value: string }[] }[] };

test('every question about the scope and each of its options is translated', () => {
  const source: Source = JSON.parse(readFileSync('../crates/domain/data/scope-questions.json', 'utf8'));
  const asked = source.questions.map(({ key, options = [] }) => [key, options.map(({ value }) => value).sort()]);
  const told = Object.entries(de).map(([key, { options = {} }]) => [key, Object.keys(options).sort()]);
  expect(told).toEqual(asked);
});
