import type { Schemas } from '../api/client';

/** A block or a piece of text, as the API holds it. */
export type Node = Schemas['EditorNode'];
type Mark = NonNullable<Node['marks']>[number];

/** What an editor gives: the same, with attributes that are empty or only its own. */
export type Loose = {
  type?: string;
  attrs?: Record<string, unknown>;
  content?: Loose[];
  marks?: { type: string; attrs?: Record<string, unknown> }[];
  text?: string;
};

const ATTRIBUTES: Record<string, string[]> = { heading: ['level'], orderedList: ['start'], codeBlock: ['language'] };
const MARKS = ['link', 'bold', 'italic', 'strike', 'underline', 'code'];

export function attribute(of: { attrs?: object }, name: string): unknown {
  return (of.attrs as Record<string, unknown> | undefined)?.[name] ?? undefined;
}

/** What an editor holds, in the form of the API: its attributes and no others, marks in its order. */
export function written(doc: Loose): Node[] {
  const blocks = (doc.content ?? []).map(block);
  const [only] = blocks;
  // An editor never holds nothing.
  return blocks.length === 1 && only?.type === 'paragraph' && !only.content ? [] : blocks;
}

function block(node: Loose): Node {
  const inner = node.type === 'table' ? rows(node.content ?? []) : node.content;
  const content = inner?.map(block);
  const attrs = Object.fromEntries(
    (ATTRIBUTES[node.type ?? ''] ?? [])
      .map((name) => [name, node.attrs?.[name]])
      .filter(([, value]) => value != null && value !== ''),
  );
  return {
    type: node.type as Node['type'],
    ...(Object.keys(attrs).length > 0 ? { attrs: attrs as Node['attrs'] } : {}),
    ...(content && content.length > 0 ? { content } : {}),
    ...(node.type === 'text' && node.marks?.length ? { marks: marks(node.marks) } : {}),
    ...(node.text === undefined ? {} : { text: node.text }),
  };
}

function marks(given: NonNullable<Loose['marks']>): Mark[] {
  return MARKS.flatMap((name) => {
    const mark = given.find(({ type }) => type === name);
    if (!mark) return [];
    const attrs = { href: mark.attrs?.href } as unknown as Mark['attrs'];
    return [name === 'link' ? { type: 'link' as const, attrs } : { type: name as Mark['type'] }];
  });
}

/** Header cells stand in the first row, all of them or none; what was pasted may have them elsewhere. */
function rows(all: Loose[]): Loose[] {
  return all.map((row, place) => {
    const isHead = place === 0 && (row.content ?? []).every(({ type }) => type === 'tableHeader');
    return isHead ? row : { ...row, content: row.content?.map((cell) => ({ ...cell, type: 'tableCell' })) };
  });
}

/** The same text has the same words, whatever the order of its keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

export const isSame = (a: Node[] | null | undefined, b: Node[] | null | undefined) => canonical(a ?? []) === canonical(b ?? []);

export function plain(node: Node): string {
  if (node.type === 'hardBreak') return '\n';
  return node.text ?? (node.content ?? []).map(plain).join(node.content?.[0]?.type === 'text' ? '' : ' ');
}

export function wordsIn(nodes: Node[]): number {
  return nodes.map(plain).join(' ').split(/\s+/).filter(Boolean).length;
}

export type Part = { place: number; text: string };

/** The sections of a text: the headings of the first level that more than one has. */
export function outline(nodes: (Node | null | undefined)[]): Part[] {
  const all = nodes.flatMap((node, place) =>
    node?.type === 'heading' ? [{ place, text: plain(node), level: Number(attribute(node, 'level') ?? 1) }] : [],
  );
  const level = [1, 2, 3, 4, 5, 6].find((one) => all.filter((part) => part.level === one).length > 1);
  return all.filter((part) => part.level === level && part.text.trim() !== '').map(({ place, text }) => ({ place, text }));
}

/** Whether its sections carry numbers of their own, so that the page adds none. */
export function isNumbered(nodes: Node[]): boolean {
  return nodes.some((node) => node.type === 'heading' && /^\d/.test(plain(node).trim()));
}

/** Where a link may lead, as the API has it. */
export function isLink(href: string): boolean {
  const leads = /^(https?:\/\/|mailto:|tel:|#)./i.test(href) || /^\/(?!\/)/.test(href);
  return leads && href.length <= 2000 && !/[\s<>\\\p{Cc}]/u.test(href);
}
