import { expect, test } from 'vitest';
import de from './de';
import en from './en';

type Tree = { [key: string]: unknown };

/** Each text with its path and what kind of thing it is. */
function paths(tree: Tree, before = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = `${before}${key}`;
    if (Array.isArray(value)) return [`${path}: ${value.length}`];
    return value !== null && typeof value === 'object' ? paths(value as Tree, `${path}.`) : [`${path}: ${typeof value}`];
  });
}

test('every language has every text', () => {
  const known = new Set(paths(de));
  expect(paths(en).filter((path) => !known.has(path))).toEqual([]);
});

test('every area is translated', () => {
  const same: string[] = [];
  for (const area of Object.keys(en) as (keyof typeof en)[]) {
    if (typeof en[area] === 'object' && en[area] === de[area]) same.push(area);
  }
  expect(same).toEqual([]);
});
