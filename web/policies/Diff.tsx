import { createElement, Fragment, type ReactNode } from 'react';
import { t } from '../texts';
import type { Node } from './content';
import css from './Diff.module.css';
import type { Change } from './proposal';
import { Block, headingTag } from './Text';

type Words = NonNullable<Change['words']>;
const TAGS = { added: 'ins', removed: 'del' } as const;

const piece = ({ change, text }: Words[number], key: number) =>
  change === 'added' || change === 'removed' ? createElement(TAGS[change], { key }, text) : <Fragment key={key}>{text}</Fragment>;

/** The words of a block as lines: an item, a row or a line of code each. */
function lines(words: Words): Words[] {
  const all: Words[] = [[]];
  for (const word of words) {
    for (const [place, text] of word.text.split('\n').entries()) {
      if (place > 0) all.push([]);
      if (text !== '') all.at(-1)?.push({ ...word, text });
    }
  }
  return all.filter((line) => line.length > 0);
}

const SHAPES: Partial<Record<Node['type'], (words: Words, node: Node) => ReactNode>> = {
  heading: (words, node) => createElement(headingTag(node), null, words.map(piece)),
  paragraph: (words) => <p className={css.lines}>{words.map(piece)}</p>,
  bulletList: (words) => (
    <ul>
      {lines(words).map((line, place) => (
        <li key={place}>{line.map(piece)}</li>
      ))}
    </ul>
  ),
  orderedList: (words) => (
    <ol>
      {lines(words).map((line, place) => (
        <li key={place}>{line.map(piece)}</li>
      ))}
    </ol>
  ),
  codeBlock: (words) => (
    <pre tabIndex={0}>
      <code>{words.map(piece)}</code>
    </pre>
  ),
};

const differs = (words: Words) => words.some(({ change }) => change !== 'same');

/** One block of both texts: what was is struck, what comes is underlined. */
export function Changed({ change, id }: { change: Change; id?: string }) {
  const { before, after, words = [] } = change;
  if (change.change === 'same') return after && <Block node={after} id={id} />;
  if (change.change === 'added') return <div className={css.added}>{after && <Block node={after} id={id} />}</div>;
  if (change.change === 'removed') return <div className={css.removed}>{before && <Block node={before} id={id} />}</div>;
  if (!differs(words) && after)
    return (
      <div className={css.form}>
        <Block node={after} id={id} />
        <p className={css.note}>{t.policies.onlyForm}</p>
      </div>
    );
  const node = after ?? before;
  if (!node) return null;
  const shape = SHAPES[node.type] ?? ((all: Words) => <p className={css.lines}>{all.map(piece)}</p>);
  return <div id={id}>{shape(words, node)}</div>;
}
