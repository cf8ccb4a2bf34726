import { ActionIcon } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Fragment, memo, type ReactNode, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { t } from '../../texts';
import { usePrinting } from '../print';
import { useShortcuts } from '../shortcuts';
import { EDGES, fitting, PICK } from './fit';
import css from './Table.module.css';

export type Column<T> = {
  key: string;
  header: string;
  /** Pixels including cell padding. The one that opens is left without it and takes the rest. */
  width?: number;
  /** Columns with a higher number drop first where there is no room for all. */
  priority?: number;
  align?: 'left' | 'right' | 'center';
  /** What the API sorts by for it. */
  sort?: string;
  /** The highest value is what readers look for first. */
  isHighFirst?: boolean;
  /** Shown only when it was chosen. */
  isExtra?: boolean;
  /** The cell that opens the record. Exactly one column has it. */
  opens?: boolean;
  /** The name of the link in it, if its text does not say enough. */
  label?: (row: T) => string;
  render: (row: T) => ReactNode;
  /** What stays of it behind the name when the column has dropped. */
  dropped?: (row: T) => ReactNode;
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
  /** The columns were chosen: on a phone they take the place of the usual facts. */
  isChosen?: boolean;
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
  phone: (row: T) => PhoneLine;
  /** What the active row shows below itself, if rows unfold where they stand. */
  unfolded?: (row: T) => ReactNode;
  /** A row that is found wrong. */
  isBad?: (row: T) => boolean;
  /** Opens a record where a comment is written. */
  onComment?: (row: T) => void;
  /** What rows that follow each other have in common. */
  group?: (row: T) => { key: string; label: string };
  /** The group that something is dragged over. */
  over?: string;
  /** All rows of the list, also those that are not loaded. */
  total?: number;
  /** All of them are selected. */
  isAll?: boolean;
  onAll?: () => void;
  /** Called when the end comes into view and there is more. */
  onMore?: () => void;
  loading?: boolean;
};

const HEIGHT = { regular: 42, compact: 34 };
const PHONE = 64;
const HEAD = 32;
const GROUP = 36;
/** The width that columns are chosen for on paper. */
const PAPER = 960;
/** Fewer rows than this are simply all there, so that the browser's own search finds them. */
const FEW = 200;

type Acts<T> = { open: (row: T) => void; toggle: (key: string, isRange?: boolean) => void };

/** What a row does, the same for as long as the table stands: rows whose columns stay the same are not drawn again. */
function useActs<T>(p: Props<T>): Acts<T> {
  const now = useRef(p);
  now.current = p;
  // Where a range begins: the row that was last selected or cleared by itself.
  const anchor = useRef<string>(undefined);
  return useMemo(
    () => ({
      open: (row) => now.current.onOpen(row),
      toggle: (key, isRange = false) => {
        const { rows, rowKey, selected, onSelect } = now.current;
        const next = new Set(selected);
        const keys = rows.map(rowKey);
        const from = isRange && anchor.current !== undefined ? keys.indexOf(anchor.current) : -1;
        const to = keys.indexOf(key);
        if (from >= 0 && to >= 0) for (const one of keys.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one);
        else if (!next.delete(key)) next.add(key);
        anchor.current = key;
        onSelect?.(next);
      },
    }),
    [],
  );
}

type OpenProps<T> = {
  row: T;
  id: string;
  href: string;
  acts: Acts<T>;
  label?: string;
  /** Undefined: it opens elsewhere. */
  isExpanded?: boolean;
  className?: string;
  children: ReactNode;
};

/** A real link, so that a record can be opened in another tab. */
function Open<T>({ row, id, href, acts, label, isExpanded, className, children }: OpenProps<T>) {
  return (
    <a
      className={className}
      data-open={id}
      href={href}
      aria-label={label}
      aria-expanded={isExpanded}
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

type PickProps = { label: string; checked: boolean; isPartial?: boolean; onChange: (isRange: boolean) => void };

function Pick({ label, checked, isPartial = false, onChange }: PickProps) {
  return (
    <input
      type="checkbox"
      className={css.box}
      aria-label={label}
      checked={checked}
      onChange={({ nativeEvent }) => onChange((nativeEvent as MouseEvent).shiftKey)}
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
  dropped: Column<T>[];
  isActive: boolean;
  isBad: boolean;
  unfolds: boolean;
  /** Undefined: rows cannot be selected. */
  isSelected?: boolean;
  group?: string;
  isOver: boolean;
  acts: Acts<T>;
};

const Line = memo(function Line<T>(p: LineProps<T>) {
  const { row, id, name, href, index, columns, dropped, isActive, isBad, unfolds, isSelected, group, isOver, acts } = p;
  return (
    <tr
      className={css.row}
      data-row={id}
      aria-rowindex={index + 1}
      data-selected={isSelected || undefined}
      data-active={isActive || undefined}
      data-bad={isBad || undefined}
      data-group={group}
      data-over={isOver || undefined}
    >
      {isSelected !== undefined && (
        <td className={css.pick}>
          <Pick label={t.table.select(name)} checked={isSelected} onChange={(isRange) => acts.toggle(id, isRange)} />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} data-align={column.align}>
          {column.opens ? (
            <div className={css.name}>
              <Open
                row={row}
                id={id}
                href={href}
                acts={acts}
                label={column.label?.(row)}
                isExpanded={unfolds ? isActive : undefined}
                className={css.open}
              >
                {column.render(row)}
              </Open>
              {dropped.map(({ key, dropped }) => (
                <Fragment key={key}>{dropped?.(row)}</Fragment>
              ))}
            </div>
          ) : (
            column.render(row)
          )}
        </td>
      ))}
    </tr>
  );
}) as <T>(props: LineProps<T>) => ReactNode;

/** A list of any length: only the rows in view are in the page, and more are asked for as the end comes near. */
export function Table<T>(p: Props<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const acts = useActs(p);
  const picking = p.selected && p.onSelect ? { selected: p.selected, onSelect: p.onSelect } : undefined;
  const height = HEIGHT[p.density ?? 'regular'];
  const narrow = useNarrow();
  const isPrinting = usePrinting();
  const { width: own, top } = useFrame(frame);
  const width = isPrinting ? Math.min(own, PAPER) : own;
  const isPicked = picking !== undefined;
  const columns = useMemo(() => fitting(p.columns, width, isPicked), [p.columns, width, isPicked]);
  const dropped = useMemo(() => p.columns.filter((column) => column.dropped && !columns.includes(column)), [p.columns, columns]);
  const margin = narrow ? top : top + HEAD;
  // The group that begins with a row.
  const startOf = (index: number) => {
    const [row, above] = [p.rows[index], p.rows[index - 1]];
    const group = row === undefined ? undefined : p.group?.(row);
    return group && (above === undefined || p.group?.(above).key !== group.key) ? group : undefined;
  };
  const rows = useVirtualizer({
    count: p.rows.length,
    getScrollElement: scroller,
    getItemKey: (index) => (p.rows[index] === undefined ? index : p.rowKey(p.rows[index])),
    estimateSize: (index) => (narrow ? PHONE : height + (startOf(index) ? GROUP : 0)),
    overscan: p.rows.length < FEW ? FEW : 12,
    scrollMargin: margin,
    // A row that is moved to is not covered by the header, nor by the toolbar.
    scrollPaddingStart: 160,
    scrollPaddingEnd: 80,
  });
  const starts = p.group && p.rows.flatMap((_, index) => (startOf(index) ? [index] : [])).join();
  useEffect(() => rows.measure(), [height, narrow, starts]);

  const seen = rows.getVirtualItems();
  const first = seen[0];
  const last = seen.at(-1);
  const { onMore } = p;
  const isNearEnd = last !== undefined && last.index >= p.rows.length - 20;
  useEffect(() => {
    if (isNearEnd) onMore?.();
  }, [isNearEnd, onMore]);

  const before = first && !isPrinting ? first.start - margin : 0;
  const after = last && !isPrinting ? rows.getTotalSize() - (last.end - margin) : 0;
  const drawn = isPrinting ? p.rows.map((_, index) => index) : seen.map(({ index }) => index);
  const span = columns.length + (picking ? 1 : 0);
  // A row that unfolds is a body of its own, so that both its parts are measured as one.
  const inBody = (part: ReactNode) => (p.unfolded && part ? <tbody>{part}</tbody> : part);
  const Body = p.unfolded ? Fragment : 'tbody';

  const link = (key: string) => frame.current?.querySelector<HTMLElement>(`[data-open="${CSS.escape(key)}"]`);
  const focused = () => document.activeElement?.closest('[data-row]')?.getAttribute('data-row') ?? undefined;
  // A row stays the current one when the focus has left it, as after a menu.
  const lastRow = useRef<string>(undefined);
  const current = () => {
    lastRow.current = focused() ?? p.active ?? lastRow.current;
    const key = lastRow.current;
    const index = p.rows.findIndex((row) => p.rowKey(row) === key);
    return { key, index, row: p.rows[index] };
  };
  const move = (by: 1 | -1): void => {
    const { index } = current();
    const next = p.rows[index < 0 ? (seen.find(({ start }) => start >= (scroller()?.scrollTop ?? 0))?.index ?? 0) : index + by];
    if (next === undefined) return;
    const key = p.rowKey(next);
    rows.scrollToIndex(p.rows.indexOf(next));
    const focus = () => link(key)?.focus({ preventScroll: true });
    focus();
    requestAnimationFrame(focus);
  };
  const toggle = (isRange: boolean) => {
    const { row } = current();
    if (row !== undefined) acts.toggle(p.rowKey(row), isRange);
  };
  const withRow = (act: ((row: T) => void) | undefined) => {
    const { row } = current();
    if (row !== undefined) act?.(row);
  };
  const edit = () => {
    const { key } = current();
    frame.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key ?? '')}"] [aria-haspopup]`)?.click();
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    // Elsewhere they scroll.
    ArrowDown: () => focused() !== undefined && move(1),
    ArrowUp: () => focused() !== undefined && move(-1),
    x: picking && (() => toggle(false)),
    X: picking && (() => toggle(true)),
    e: edit,
    c: p.onComment && (() => withRow(p.onComment)),
  });

  return (
    <div ref={frame} className={css.frame}>
      {!narrow && (
        <table
          className={`${css.table} ${p.density === 'compact' ? css.compact : ''}`}
          aria-rowcount={p.rows.length}
          aria-busy={p.loading}
        >
          <caption className="hidden-visually">{p.caption}</caption>
          <thead>
            <tr>
              {picking && (
                <th style={{ width: PICK }} scope="col">
                  <Pick
                    label={t.table.selectAll}
                    checked={picking.selected.size === p.rows.length && p.rows.length > 0}
                    isPartial={picking.selected.size > 0 && picking.selected.size < p.rows.length}
                    onChange={() => picking.onSelect(picking.selected.size ? new Set() : new Set(p.rows.map(p.rowKey)))}
                  />
                </th>
              )}
              {columns.map((column, place) => {
                const edge = (place === 0 && !picking) || place === columns.length - 1;
                const on = column.sort !== undefined && p.sort?.key === column.sort ? p.sort.dir : undefined;
                return (
                  <th
                    key={column.key}
                    scope="col"
                    style={{ width: column.width && edge ? column.width + EDGES / 2 : column.width }}
                    data-align={column.align}
                    aria-sort={on && (on === 'asc' ? 'ascending' : 'descending')}
                  >
                    {column.sort && p.onSort ? (
                      <button
                        type="button"
                        className={css.sort}
                        data-on={on}
                        onClick={() => p.onSort?.({ key: column.sort ?? '', dir: next(on, column) })}
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
          <Body>
            {inBody(before > 0 && <Space columns={span} height={before} />)}
            {drawn.map((index) => {
              const row = p.rows[index];
              if (row === undefined) return null;
              const key = p.rowKey(row);
              const group = startOf(index);
              const own = p.group?.(row).key;
              const isOver = own !== undefined && own === p.over;
              const line = (
                <Line
                  key={key}
                  row={row}
                  id={key}
                  name={p.rowName(row)}
                  href={p.href(row)}
                  index={index}
                  columns={columns}
                  dropped={dropped}
                  isActive={p.active === key}
                  isBad={p.isBad?.(row) ?? false}
                  unfolds={p.unfolded !== undefined}
                  isSelected={picking?.selected.has(key)}
                  group={own}
                  isOver={isOver}
                  acts={acts}
                />
              );
              if (group)
                return (
                  <Fragment key={key}>
                    <tr className={css.group} data-group={own} data-over={isOver || undefined}>
                      <th colSpan={span} scope="rowgroup">
                        {group.label}
                      </th>
                    </tr>
                    {line}
                  </Fragment>
                );
              return p.unfolded ? (
                <tbody key={key} ref={rows.measureElement} data-index={index}>
                  {line}
                  {p.active === key && (
                    <tr className={css.unfolded}>
                      <td colSpan={span}>{p.unfolded(row)}</td>
                    </tr>
                  )}
                </tbody>
              ) : (
                line
              );
            })}
            {inBody(p.loading && p.rows.length === 0 && <Skeletons columns={span} />)}
            {inBody(after > 0 && <Space columns={span} height={after} />)}
          </Body>
        </table>
      )}
      {narrow && (
        <ul
          className={css.list}
          style={{ paddingTop: Math.max(0, before), paddingBottom: Math.max(0, after) }}
          aria-label={p.caption}
          aria-busy={p.loading}
        >
          {drawn.map((index) => {
            const row = p.rows[index];
            if (row === undefined) return null;
            const line = p.phone(row);
            const key = p.rowKey(row);
            const group = startOf(index);
            return (
              <li key={key} data-row={key} data-index={index} ref={rows.measureElement}>
                {group && <b className={css.heading}>{group.label}</b>}
                <Open
                  row={row}
                  id={key}
                  href={p.href(row)}
                  acts={acts}
                  isExpanded={p.unfolded && p.active === key}
                  className={css.phone}
                >
                  {line.mark}
                  <span>
                    <b>{line.title}</b>
                    {!p.isChosen && <span className={css.facts}>{line.facts}</span>}
                  </span>
                </Open>
                {line.act}
                {p.isChosen && <Cells row={row} columns={p.columns} />}
                {p.active === key && p.unfolded && <div className={css.below}>{p.unfolded(row)}</div>}
              </li>
            );
          })}
        </ul>
      )}
      {picking && picking.selected.size > 0 && (
        <div className={css.bulk} role="toolbar" aria-label={t.table.toolbar}>
          <b className="num">{t.table.selected(p.isAll ? (p.total ?? 0) : picking.selected.size)}</b>
          {p.onAll && !p.isAll && picking.selected.size === p.rows.length && (p.total ?? 0) > p.rows.length && (
            <button type="button" className="plain link" onClick={p.onAll}>
              {t.table.selectTotal(p.total ?? 0)}
            </button>
          )}
          {p.bulk}
          <ActionIcon aria-label={t.table.clear} onClick={() => picking.onSelect(new Set())}>
            <IconX size={16} />
          </ActionIcon>
        </div>
      )}
    </div>
  );
}

/** The first click on a head sorts numbers from the highest, and words and days from the first. */
function next<T>(on: Sort['dir'] | undefined, column: Column<T>): Sort['dir'] {
  if (on) return on === 'asc' ? 'desc' : 'asc';
  return column.isHighFirst ? 'desc' : 'asc';
}

/** The chosen columns of one row, each with its head. */
function Cells<T>({ row, columns }: { row: T; columns: Column<T>[] }) {
  const cells = columns.flatMap(({ key, header, opens, render }) => {
    const cell = opens ? null : render(row);
    return cell === null || cell === undefined || cell === '' || cell === false ? [] : [{ key, header, cell }];
  });
  if (cells.length === 0) return null;
  return (
    <dl className={css.cells}>
      {cells.map(({ key, header, cell }) => (
        <div key={key}>
          <dt>{header}</dt>
          <dd>{cell}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Room for the rows that are not in the page. */
function Space({ columns, height }: { columns: number; height: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
    </tr>
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

const scroller = () => document.getElementById('main');

/** The list's own width, by which columns drop, and how far below the top of the page it begins. */
function useFrame(frame: RefObject<HTMLElement | null>) {
  const [width, setWidth] = useState(0);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const [page, list] = [scroller(), frame.current];
    if (!page || !list) return;
    setWidth(list.clientWidth);
    // What stands above the list changes its height.
    setTop(Math.round(list.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop));
  });
  useEffect(() => {
    if (!frame.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [frame]);
  return { width, top };
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
