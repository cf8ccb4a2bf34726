import { ActionIcon } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../texts';
import css from './RegisterTable.module.css';

export type Column<T> = {
  key: string;
  header: string;
  /** Pixels including cell padding. One column is left without it and takes the rest. */
  width?: number;
  align?: 'left' | 'right' | 'center';
  sortable?: boolean;
  /** The cell that opens the record. Exactly one column has it. */
  opens?: boolean;
  render: (row: T) => ReactNode;
};

/** One record on a phone: its name, and its facts below. The whole of it opens the record. */
export type PhoneLine = {
  title: ReactNode;
  facts: ReactNode;
  /** In front of both. */
  mark?: ReactNode;
  /** What can be done without opening it. */
  act?: ReactNode;
};

export type Sort = { key: string; dir: 'asc' | 'desc' };

type Props<T> = {
  caption: string;
  rows: T[];
  columns: Column<T>[];
  rowKey: (row: T) => string;
  rowName: (row: T) => string;
  href: (row: T) => string;
  onOpen: (row: T) => void;
  active?: string;
  sort?: Sort;
  onSort?: (next: Sort) => void;
  density?: 'regular' | 'compact';
  selected?: Set<string>;
  onSelect?: (next: Set<string>) => void;
  bulk?: ReactNode;
  /** Without it the table scrolls sideways on a phone. */
  phone?: (row: T) => PhoneLine;
  /** Called when the end comes into view and there is more. */
  onMore?: () => void;
  loading?: boolean;
};

const HEIGHT = { regular: 42, compact: 34 };
const PHONE = 64;
/** Fewer rows than this are simply all there, so that the browser's own search finds them. */
const FEW = 200;

type Acts<T> = { open: (row: T) => void; toggle: (key: string) => void };

/** What a row does, the same for as long as the table stands: rows whose columns stay the same are not drawn again. */
function useActs<T>(p: Props<T>): Acts<T> {
  const now = useRef(p);
  now.current = p;
  return useMemo(
    () => ({
      open: (row) => now.current.onOpen(row),
      toggle: (key) => {
        const next = new Set(now.current.selected);
        if (!next.delete(key)) next.add(key);
        now.current.onSelect?.(next);
      },
    }),
    [],
  );
}

type OpenProps<T> = { row: T; id: string; href: string; acts: Acts<T>; className?: string; children: ReactNode };

/** A real link, so that a record can be opened in another tab. */
function Open<T>({ row, id, href, acts, className, children }: OpenProps<T>) {
  return (
    <a
      className={className}
      data-open={id}
      href={href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        acts.open(row);
      }}
    >
      {children}
    </a>
  );
}

type PickProps = { label: string; checked: boolean; isPartial?: boolean; onChange: () => void };

function Pick({ label, checked, isPartial = false, onChange }: PickProps) {
  return (
    <input
      type="checkbox"
      className={css.box}
      aria-label={label}
      checked={checked}
      onChange={onChange}
      ref={(box) => {
        if (box) box.indeterminate = isPartial;
      }}
    />
  );
}

type LineProps<T> = {
  row: T;
  id: string;
  name: string;
  href: string;
  index: number;
  columns: Column<T>[];
  isActive: boolean;
  /** Undefined: rows cannot be selected. */
  isSelected?: boolean;
  acts: Acts<T>;
};

const Line = memo(function Line<T>({ row, id, name, href, index, columns, isActive, isSelected, acts }: LineProps<T>) {
  return (
    <tr className={css.row} aria-rowindex={index + 1} data-selected={isSelected || undefined} data-active={isActive || undefined}>
      {isSelected !== undefined && (
        <td className={css.pick}>
          <Pick label={t.table.select(name)} checked={isSelected} onChange={() => acts.toggle(id)} />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} data-align={column.align}>
          {column.opens ? (
            <Open row={row} id={id} href={href} acts={acts} className={css.open}>
              {column.render(row)}
            </Open>
          ) : (
            column.render(row)
          )}
        </td>
      ))}
    </tr>
  );
}) as <T>(props: LineProps<T>) => ReactNode;

/** A register of any length: only the rows in view are in the page, and more are asked for as the end comes near. */
export function RegisterTable<T>(p: Props<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const acts = useActs(p);
  const picking = p.selected && p.onSelect ? { selected: p.selected, onSelect: p.onSelect } : undefined;
  const height = HEIGHT[p.density ?? 'regular'];
  const narrow = useNarrow() && p.phone !== undefined;
  const scroller = () => document.getElementById('main');
  const rows = useVirtualizer({
    count: p.rows.length,
    getScrollElement: scroller,
    estimateSize: () => (narrow ? PHONE : height),
    overscan: p.rows.length < FEW ? FEW : 12,
    scrollMargin: (narrow ? list.current : body.current)?.offsetTop ?? 0,
  });
  useEffect(() => rows.measure(), [height, narrow]);

  const seen = rows.getVirtualItems();
  const first = seen[0];
  const last = seen.at(-1);
  const { onMore } = p;
  const isNearEnd = last !== undefined && last.index >= p.rows.length - 20;
  useEffect(() => {
    if (isNearEnd) onMore?.();
  }, [isNearEnd, onMore]);

  const before = first ? first.start - rows.options.scrollMargin : 0;
  const after = last ? rows.getTotalSize() - (last.end - rows.options.scrollMargin) : 0;
  const width = p.columns.length + (picking ? 1 : 0);

  function keys(event: KeyboardEvent) {
    const links = [...(body.current?.querySelectorAll<HTMLElement>('[data-open]') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      links[at + step]?.focus();
    } else if (event.key === 'x' && picking) {
      const key = links[at]?.dataset.open;
      if (key) acts.toggle(key);
    }
  }

  return (
    <>
      {!narrow && (
        <div className={css.scroll} tabIndex={0} role="region" aria-label={p.caption}>
          <table
            className={`${css.table} ${p.density === 'compact' ? css.compact : ''}`}
            aria-rowcount={p.rows.length}
            aria-busy={p.loading}
          >
            <caption className="hidden-visually">{p.caption}</caption>
            <thead>
              <tr>
                {picking && (
                  <th style={{ width: 52 }} scope="col">
                    <Pick
                      label={t.table.selectAll}
                      checked={picking.selected.size === p.rows.length && p.rows.length > 0}
                      isPartial={picking.selected.size > 0 && picking.selected.size < p.rows.length}
                      onChange={() => picking.onSelect(picking.selected.size ? new Set() : new Set(p.rows.map(p.rowKey)))}
                    />
                  </th>
                )}
                {p.columns.map((column, place) => {
                  const edge = (place === 0 && !picking) || place === p.columns.length - 1;
                  const on = p.sort?.key === column.key ? p.sort.dir : undefined;
                  return (
                    <th
                      key={column.key}
                      scope="col"
                      style={{ width: column.width && edge ? column.width + 18 : column.width }}
                      data-align={column.align}
                      aria-sort={on && (on === 'asc' ? 'ascending' : 'descending')}
                    >
                      {column.sortable && p.onSort ? (
                        <button
                          type="button"
                          className={css.sort}
                          data-on={on}
                          onClick={() => p.onSort?.({ key: column.key, dir: on === 'desc' ? 'asc' : 'desc' })}
                        >
                          {column.header}
                          {on === 'asc' ? <IconArrowUp size={12} /> : <IconArrowDown size={12} />}
                        </button>
                      ) : (
                        column.header
                      )}
                    </th>
                  );
                })}
              </tr>
            </thead>
            <tbody ref={body} onKeyDown={keys}>
              {before > 0 && (
                <tr aria-hidden="true">
                  <td colSpan={width} style={{ height: before, padding: 0, border: 0 }} />
                </tr>
              )}
              {seen.map(({ index }) => {
                const row = p.rows[index];
                if (row === undefined) return null;
                const key = p.rowKey(row);
                return (
                  <Line
                    key={key}
                    row={row}
                    id={key}
                    name={p.rowName(row)}
                    href={p.href(row)}
                    index={index}
                    columns={p.columns}
                    isActive={p.active === key}
                    isSelected={picking?.selected.has(key)}
                    acts={acts}
                  />
                );
              })}
              {p.loading && p.rows.length === 0 && <Skeletons columns={width} />}
              {after > 0 && (
                <tr aria-hidden="true">
                  <td colSpan={width} style={{ height: after, padding: 0, border: 0 }} />
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
      {narrow && (
        <ul
          className={css.list}
          ref={list}
          style={{ paddingTop: Math.max(0, before), paddingBottom: Math.max(0, after) }}
          aria-label={p.caption}
          aria-busy={p.loading}
        >
          {seen.map(({ index }) => {
            const row = p.rows[index];
            const line = row === undefined ? undefined : p.phone?.(row);
            if (row === undefined || line === undefined) return null;
            const key = p.rowKey(row);
            return (
              <li key={key} data-index={index} ref={rows.measureElement}>
                <Open row={row} id={key} href={p.href(row)} acts={acts} className={css.phone}>
                  {line.mark}
                  <span>
                    <b>{line.title}</b>
                    <span className={css.facts}>{line.facts}</span>
                  </span>
                </Open>
                {line.act}
              </li>
            );
          })}
        </ul>
      )}
      {picking && picking.selected.size > 0 && (
        <div className={css.bulk} role="toolbar" aria-label={t.table.toolbar}>
          <b className="num">{t.table.selected(picking.selected.size)}</b>
          {p.bulk}
          <ActionIcon aria-label={t.table.clear} onClick={() => picking.onSelect(new Set())}>
            <IconX size={16} />
          </ActionIcon>
        </div>
      )}
    </>
  );
}

/** Rows as still bars, in the layout that the rows will have. */
function Skeletons({ columns }: { columns: number }) {
  return Array.from({ length: 8 }, (_, row) => (
    <tr key={row} aria-hidden="true">
      {Array.from({ length: columns }, (_, cell) => (
        <td key={cell}>
          <div className={css.skeleton} style={{ width: `${40 + ((row * 7 + cell * 13) % 45)}%` }} />
        </td>
      ))}
    </tr>
  ));
}

function useNarrow(): boolean {
  const query = '(max-width: 640px)';
  const [narrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = () => setNarrow(media.matches);
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, []);
  return narrow;
}
