import { expect, test } from 'vitest';
import { renamed, split } from './csv';

test('commas, semicolons, quotes and line breaks are read', () => {
  expect(split('a,b\n1,"x, ""y""\nz"\r\n')).toEqual([
    ['a', 'b'],
    ['1', 'x, "y"\nz'],
  ]);
  expect(split('\uFEFFa;b\r\n1,5;2')).toEqual([
    ['a', 'b'],
    ['1,5', '2'],
  ]);
  expect(split('')).toEqual([]);
});

test('columns get the names of fields, and those without one are left out', () => {
  expect(renamed([['Fire', 'Ada', 'a, b']], ['title', '', 'description'])).toBe('title,description\nFire,"a, b"');
  expect(renamed([['say "no"']], ['title'])).toBe('title\n"say ""no"""');
  expect(renamed([['Open']], ['status'], (_, cell) => cell.toLowerCase())).toBe('status\nopen');
});
