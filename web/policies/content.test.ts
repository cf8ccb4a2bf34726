import { getSchema } from '@tiptap/react';
import { describe, expect, it } from 'vitest';
import { isLink, isSame, type Loose, type Node, outline, wordsIn, written } from './content';
import { extensions } from './schema';

const text = (words: string, ...marks: string[]) => ({
  type: 'text',
  text: words,
  ...(marks.length > 0 ? { marks: marks.map((type) => ({ type })) } : {}),
});
const paragraph = (...content: object[]) => ({ type: 'paragraph', content });

/** Everything that the API takes, in its form. */
const everything = [
  { type: 'heading', attrs: { level: 2 }, content: [text('Purpose')] },
  paragraph(
    text('All '),
    {
      type: 'text',
      text: 'of them',
      marks: [{ type: 'link', attrs: { href: 'https://example.com' } }, { type: 'bold' }, { type: 'code' }],
    },
    { type: 'hardBreak' },
    text('marks', 'bold', 'italic', 'strike', 'underline', 'code'),
  ),
  {
    type: 'bulletList',
    content: [{ type: 'listItem', content: [paragraph(text('one')), { type: 'codeBlock', content: [text('x = 1\ny')] }] }],
  },
  { type: 'orderedList', attrs: { start: 0 }, content: [{ type: 'listItem', content: [{ type: 'paragraph' }] }] },
  { type: 'blockquote', content: [paragraph(text('said')), { type: 'heading', attrs: { level: 6 } }] },
  { type: 'codeBlock', attrs: { language: 'yaml' }, content: [text('a: 1')] },
  {
    type: 'table',
    content: [
      { type: 'tableRow', content: [{ type: 'tableHeader', content: [paragraph(text('System'))] }] },
      { type: 'tableRow', content: [{ type: 'tableCell', content: [{ type: 'paragraph' }] }] },
    ],
  },
  { type: 'horizontalRule' },
  { type: 'paragraph' },
] as unknown as Node[];

/** What the editor makes of a text. */
const through = (nodes: Node[]) => {
  const doc = getSchema(extensions(() => {})).nodeFromJSON({ type: 'doc', content: nodes });
  doc.check();
  return written(doc.toJSON() as Loose);
};

describe('the text of a policy', () => {
  it('goes through the editor and comes back as it was', () => {
    expect(through(everything)).toEqual(everything);
    expect(isSame(through(everything), everything)).toBe(true);
  });

  it('is nothing when the editor holds one empty paragraph', () => {
    expect(written({ type: 'doc', content: [{ type: 'paragraph' }] })).toEqual([]);
  });

  it('loses what only the editor knows', () => {
    const doc: Loose = {
      type: 'doc',
      content: [
        { type: 'codeBlock', attrs: { language: null }, content: [{ type: 'text', text: 'x' }] },
        {
          type: 'paragraph',
          content: [
            { type: 'hardBreak', marks: [{ type: 'bold' }] },
            {
              type: 'text',
              text: 'site',
              marks: [{ type: 'underline' }, { type: 'link', attrs: { href: '/a', target: '_blank', rel: null } }],
            },
          ],
        },
      ],
    };
    expect(written(doc)).toEqual([
      { type: 'codeBlock', content: [{ type: 'text', text: 'x' }] },
      {
        type: 'paragraph',
        content: [
          { type: 'hardBreak' },
          { type: 'text', text: 'site', marks: [{ type: 'link', attrs: { href: '/a' } }, { type: 'underline' }] },
        ],
      },
    ]);
  });

  it('has header cells in the first row only, all of them or none', () => {
    const cell = (type: string) => ({ type, content: [{ type: 'paragraph' }] });
    const row = (...types: string[]) => ({ type: 'tableRow', content: types.map(cell) });
    const kinds = (rows: Loose[]) =>
      written({ content: [{ type: 'table', content: rows }] })[0]?.content?.map((one) => one.content?.map(({ type }) => type));
    expect(kinds([row('tableHeader', 'tableCell'), row('tableHeader', 'tableCell')])).toEqual([
      ['tableCell', 'tableCell'],
      ['tableCell', 'tableCell'],
    ]);
    expect(kinds([row('tableHeader', 'tableHeader'), row('tableHeader', 'tableCell')])).toEqual([
      ['tableHeader', 'tableHeader'],
      ['tableCell', 'tableCell'],
    ]);
  });

  it('has as sections the headings of the first level that more than one has', () => {
    const heading = (level: number, words: string) =>
      ({ type: 'heading', attrs: { level }, content: [text(words)] }) as unknown as Node;
    const nodes = [heading(1, 'Policy'), heading(2, 'Purpose'), heading(3, 'More'), heading(2, 'Scope')];
    expect(outline(nodes)).toEqual([
      { place: 1, text: 'Purpose' },
      { place: 3, text: 'Scope' },
    ]);
  });

  it('counts its words', () => {
    expect(wordsIn(everything)).toBe(14);
  });

  it('links where the API lets it', () => {
    for (const href of ['https://a.b', 'HTTP://a', 'mailto:a@b', 'tel:1', '/path', '#part']) expect(isLink(href)).toBe(true);
    for (const href of ['javascript:alert(1)', '//evil.example', 'https://', 'https://a b', 'ftp://a', ''])
      expect(isLink(href)).toBe(false);
  });
});
