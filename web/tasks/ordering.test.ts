import { describe, expect, it } from 'vitest';
import { placed, updates } from './ordering';

const card = (id: string, order: number, status: 'todo' | 'done' = 'todo') => ({ id, order, status });

describe('moving a card', () => {
  it('changes one number where there is room', () => {
    const column = [card('a', 0), card('b', 1_000), card('c', 2_000)];
    expect(updates(column, card('c', 2_000), { status: 'todo', before: 'b' })).toEqual([{ id: 'c', order: 500 }]);
    expect(updates(column, card('a', 0), { status: 'todo' })).toEqual([{ id: 'a', order: 3_000 }]);
    expect(updates(column, card('d', 7, 'done'), { status: 'todo', before: 'c' })).toEqual([
      { id: 'd', order: 1_500, status: 'todo' },
    ]);
  });

  it('numbers the column where there is none', () => {
    const column = [card('a', 0), card('b', 0), card('c', 0)];
    expect(updates(column, card('c', 0), { status: 'todo', before: 'a' })).toEqual([
      { id: 'c', order: 0 },
      { id: 'a', order: 1_000 },
      { id: 'b', order: 2_000 },
    ]);
    expect(updates([card('a', 1_000_000_000)], card('b', 0, 'done'), { status: 'todo' })).toEqual([
      { id: 'a', order: 0 },
      { id: 'b', order: 1_000, status: 'todo' },
    ]);
  });

  it('begins an empty column', () => {
    expect(updates([], card('a', 3), { status: 'done' })).toEqual([{ id: 'a', order: 1_000, status: 'done' }]);
  });

  it('shows at once', () => {
    const all = [card('a', 0), card('b', 0), card('c', 0, 'done')];
    expect(placed(all, 'a', { status: 'done', before: 'c' }).map(({ id, status }) => `${id} ${status}`)).toEqual([
      'b todo',
      'a done',
      'c done',
    ]);
    expect(placed(all, 'a', { status: 'todo' }).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
    expect(placed(all, 'x', { status: 'todo' })).toBe(all);
  });
});
