import { expect, test } from 'vitest';
import { blocks } from './markdown';

test('headings, paragraphs and lists', () => {
  const text = '# Title\n\nOne **two** three\nfour.\n\n- a\n- b\n\n1. c\n   more\n2. d\n\nEnd';
  expect(blocks(text)).toEqual([
    { kind: 'heading', level: 1, text: [{ kind: 'text', text: 'Title' }] },
    {
      kind: 'paragraph',
      text: [
        { kind: 'text', text: 'One ' },
        { kind: 'strong', text: 'two' },
        { kind: 'text', text: ' three four.' },
      ],
    },
    { kind: 'list', isOrdered: false, start: 1, items: [[{ kind: 'text', text: 'a' }], [{ kind: 'text', text: 'b' }]] },
    { kind: 'list', isOrdered: true, start: 1, items: [[{ kind: 'text', text: 'c more' }], [{ kind: 'text', text: 'd' }]] },
    { kind: 'paragraph', text: [{ kind: 'text', text: 'End' }] },
  ]);
});

test('what is no mark stays as it was typed', () => {
  for (const text of ['2 * 3 * 4', 'snake_case_name', '<b>x</b>', '[a](b)', 'a ** b']) {
    expect(blocks(text)).toEqual([{ kind: 'paragraph', text: [{ kind: 'text', text }] }]);
  }
});
