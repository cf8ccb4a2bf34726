// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { gathered } from './Arrange';

test('groups stay together in a list of another order', () => {
  const of = (row: string) => ({ key: row.charAt(0), label: row.charAt(0) });
  expect(gathered(['b2', 'a9', 'b1', 'c3', 'a1'], of)).toEqual(['b2', 'b1', 'a9', 'a1', 'c3']);
});
