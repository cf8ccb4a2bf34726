// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { numberIn, numberProblem } from './numbers';

test('only whole numbers are numbers', () => {
  expect(['7', ' 30 ', '', '1.5', '-1', '1e3', 'x'].map(numberIn)).toEqual([7, 30, undefined, ...Array(4).fill(Number.NaN)]);
});

test('a number has a problem outside of its limits, and if it is missing', () => {
  const limits = { min: 1, max: 36 };
  for (const fine of ['1', '36']) expect(numberProblem(fine, limits), fine).toBeUndefined();
  for (const wrong of ['', '0', '37', '1.5'])
    expect(numberProblem(wrong, limits), wrong).toBe('Enter a whole number from 1 to 36.');
  expect(numberProblem('', limits, { isOptional: true })).toBeUndefined();
  expect(numberProblem('37', limits, { isOptional: true })).toContain('or leave it empty');
});
