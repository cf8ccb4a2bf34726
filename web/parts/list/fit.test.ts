import { describe, expect, test } from 'vitest';
import { fitting } from './fit';

const columns = [
  { key: 'reference', width: 76, priority: 3 },
  { key: 'title', opens: true },
  { key: 'owner', width: 150, priority: 4 },
  { key: 'score', width: 112, priority: 1 },
  { key: 'status', width: 140, priority: 2 },
];
const keys = (width: number, isPicked = true) => fitting(columns, width, isPicked).map(({ key }) => key);

describe('columns', () => {
  test('all are there when they fit, in their own order', () => {
    expect(keys(1000)).toEqual(['reference', 'title', 'owner', 'score', 'status']);
  });

  test('they drop from the end of their priorities', () => {
    expect(keys(700)).toEqual(['reference', 'title', 'score', 'status']);
    expect(keys(600)).toEqual(['title', 'score', 'status']);
  });

  test('the name stays, however narrow it is', () => {
    expect(keys(200)).toEqual(['title']);
  });

  test('a column behind one that has no room drops, too', () => {
    const wide = [
      { key: 'name', opens: true },
      { key: 'a', width: 900 },
      { key: 'b', width: 10 },
    ];
    expect(fitting(wide, 800, false).map(({ key }) => key)).toEqual(['name']);
  });
});
