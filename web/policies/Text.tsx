import { createElement, Fragment, type ReactNode } from 'react';
import { t } from '../texts';
import { attribute, isNumbered, type Node } from './content';
import css from './Text.module.css';

const MARKS = { bold: 'strong', italic: 'em', strike: 's', underline: 'u', code: 'code' } as const;

function inline(node: Node, key: number): ReactNode {
  if (node.type === 'hardBreak') return <br key={key} />;
  const shown = (node.marks ?? []).reduceRight<ReactNode>((inner, mark) => {
    if (mark.type !== 'link') return createElement(MARKS[mark.type], null, inner);
    const href = String(attribute(mark, 'href') ?? '');
    return (
      <a className="link" href={href} {...(/^https?:/i.test(href) ? { target: '_blank', rel: 'noreferrer' } : {})}>
        {inner}
      </a>
    );
  }, node.text);
  return <Fragment key={key}>{shown}</Fragment>;
}

const inlines = (node: Node) => (node.content ?? []).map(inline);
const blocks = (node: Node) => (node.content ?? []).map((inner, place) => <Block key={place} node={inner} />);

/** A heading stands below the page's own: what the text calls the first level is the second here. */
export function headingTag(node: Node) {
  return `h${Math.min(6, Math.max(2, Number(attribute(node, 'level') ?? 1)))}`;
}

/** One block of a policy. */
export function Block({ node, id }: { node: Node; id?: string }) {
  switch (node.type) {
    case 'heading':
      return createElement(headingTag(node), { id, 'data-level': attribute(node, 'level') ?? 1 }, inlines(node));
    case 'bulletList':
      return <ul>{blocks(node)}</ul>;
    case 'orderedList':
      return <ol start={Number(attribute(node, 'start') ?? 1)}>{blocks(node)}</ol>;
    case 'listItem':
      return <li>{blocks(node)}</li>;
    case 'blockquote':
      return <blockquote>{blocks(node)}</blockquote>;
    case 'codeBlock':
      return (
        <pre tabIndex={0}>
          <code>{inlines(node)}</code>
        </pre>
      );
    case 'table':
      return <Table node={node} />;
    case 'horizontalRule':
      return <hr />;
    default:
      return <p>{inlines(node)}</p>;
  }
}

function Table({ node }: { node: Node }) {
  const rows = node.content ?? [];
  const isHead = rows[0]?.content?.[0]?.type === 'tableHeader';
  const cells = (row: Node) =>
    (row.content ?? []).map((cell, place) => (
      <Fragment key={place}>{cell.type === 'tableHeader' ? <th scope="col">{lines(cell)}</th> : <td>{lines(cell)}</td>}</Fragment>
    ));
  return (
    <div className={css.table} role="group" aria-label={t.policies.table} tabIndex={0}>
      <table>
        {isHead && rows[0] && (
          <thead>
            <tr>{cells(rows[0])}</tr>
          </thead>
        )}
        <tbody>
          {rows.slice(isHead ? 1 : 0).map((row, place) => (
            <tr key={place}>{cells(row)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const lines = (cell: Node) =>
  (cell.content ?? []).map((paragraph, place) => (
    <Fragment key={place}>
      {place > 0 && <br />}
      {inlines(paragraph)}
    </Fragment>
  ));

/** A policy as it is read. */
export function Text({ nodes }: { nodes: Node[] }) {
  return (
    <div className={css.text} data-numbered={isNumbered(nodes) || undefined}>
      {nodes.map((node, place) => (
        <Block key={place} node={node} id={`part-${place}`} />
      ))}
    </div>
  );
}
