import { expect, test } from 'vitest';
import { fileOf, grouped } from './codes';

test('a secret is shown in groups of four', () => {
  expect(grouped('JBSWY3DPEHPK3PXPAB')).toBe('JBSW Y3DP EHPK 3PXP AB');
  expect(grouped('')).toBe('');
});

test('the file has a head and a code on each line', () => {
  expect(fileOf('Codes', ['abcde-fghjk', 'mnpqr-stuvw'])).toBe('Codes\n\nabcde-fghjk\nmnpqr-stuvw\n');
});
