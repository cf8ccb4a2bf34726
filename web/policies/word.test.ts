// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { wordLists } from './word';

const item = (level: number, marker: string, text: string) =>
  `<p class=MsoListParagraph style='margin-left:.5in;mso-list:l0 level${level} lfo1'><!--[if !supportLists]-->` +
  `<span><span style='mso-list:Ignore'>${marker}<span>&nbsp;&nbsp;</span></span></span><!--[endif]-->${text}</p>`;

const flat = (html: string) => html.replace(/<span><\/span>/g, '').replace(/\s+/g, ' ');

test('items of Word become lists, nested by their level', () => {
  const html = `<p>Before</p>${item(1, '·', 'One')}${item(2, 'o', 'Inner')}${item(1, '·', 'Two')}<p>After</p>`;
  expect(flat(wordLists(html))).toBe(
    '<p>Before</p><ul><li><p>One</p><ul><li><p>Inner</p></li></ul></li><li><p>Two</p></li></ul><p>After</p>',
  );
});

test('numbers and letters become ordered lists, and another kind another list', () => {
  const html = `${item(1, '1.', 'First')}${item(1, 'b)', 'Second')}${item(1, '·', 'Third')}`;
  expect(flat(wordLists(html))).toBe('<ol><li><p>First</p></li><li><p>Second</p></li></ol><ul><li><p>Third</p></li></ul>');
});

test('lists with text between them stay apart, and other HTML as it is', () => {
  const html = `${item(1, '·', 'One')}<p>Between</p>${item(1, '·', 'Two')}`;
  expect(flat(wordLists(html))).toBe('<ul><li><p>One</p></li></ul><p>Between</p><ul><li><p>Two</p></li></ul>');
  expect(wordLists('<p><b>Plain</b></p>')).toBe('<p><b>Plain</b></p>');
});
