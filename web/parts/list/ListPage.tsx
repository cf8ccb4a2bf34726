import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { filterOf } from '../../api/bulk';
import { words } from '../../api/problem';
import type { Search } from '../../routes';
import { t } from '../../texts';
import { SectionError } from '../ErrorPage';
import { type Filter, FilterBar, type FilterField, valuesOf } from '../FilterBar';
import { isDay, NoDate } from '../NoDate';
import { PageHeader } from '../PageHeader';
import { PastBar } from '../PastBar';
import { addressOf, useView } from '../search';
import { useShortcuts } from '../shortcuts';
import { toast } from '../toast';
import { Arrange, chosen, type Group, gathered } from './Arrange';
import { BulkActions, type Changes } from './Bulk';
import css from './ListPage.module.css';
import { type Column, type PhoneLine, type Sort, Table } from './Table';
import { type ViewList, Views } from './Views';

/** A list as it was loaded. */
type Loaded<Row> = {
  rows: Row[];
  total?: number;
  error: unknown;
  isPending: boolean;
  isLoadingRows: boolean;
  more: () => void;
  loadAll: () => Promise<void>;
  refetch: () => unknown;
};

/** A filter that is not one of the fields, and what of the address it clears. */
export type Chip = Filter & { clears: Search };

export type Drawer = { id: string; onClose: () => void; onStep: (by: 1 | -1) => void };

type Props<Row> = {
  title: string;
  /** Where the list lives, above the title. */
  crumb?: ReactNode;
  /** Two to four facts; empty until they are known. */
  facts?: ReactNode[];
  actions?: ReactNode;
  /** In place of the header with the title, where the list is a part of a page. */
  isPart?: boolean;
  /** Between the header and the filters. */
  above?: ReactNode;
  /** Filters and rows are shown later, so that what is still to come above does not push them down. */
  isHeld?: boolean;
  list: Loaded<Row>;
  /** The number of all rows without filters, as far as it is known. */
  all?: number;
  filters?: FilterField[];
  chips?: Chip[];
  /** A filter that is set or removed may take others with it. */
  onFilter?: (key: string, value: string | undefined) => Search;
  /** What changes how the list is looked at: search, density, the past. */
  tools?: ReactNode;
  columns: Column<Row>[];
  phone: (row: Row) => PhoneLine;
  name: (row: Row) => string;
  /** The page of one record; without it a record opens beside the list. */
  hrefOf?: (row: Row) => string;
  onOpen?: (row: Row) => void;
  /** Opens a record where a comment is written. */
  onComment?: (row: Row) => void;
  sort?: Sort;
  /** What can be done to the selected rows; without it none can be selected. */
  bulk?: Changes | ((ids: string[], onDone: () => void) => ReactNode);
  /** What the list was asked for, by which all its rows can be selected. */
  query?: Record<string, unknown>;
  groups?: Group<Row>[];
  /** The list under whose name views are saved. */
  views?: ViewList;
  unfolded?: (row: Row) => ReactNode;
  isBad?: (row: Row) => boolean;
  drawer?: (drawer: Drawer) => ReactNode;
  /** A panel beside the rows while no record is open. */
  beside?: ReactNode;
  below?: ReactNode;
  /** In place of the rows. */
  body?: ReactNode;
  /** Shown when there is nothing at all. */
  empty?: ReactNode;
  none?: string;
  onNew?: () => void;
  children?: ReactNode;
};

/** Every list of the console: its header and filters, the rows, one open record, and the past where it has one. */
export function ListPage<Row extends { id: string }>(p: Props<Row>) {
  const { view, change: go } = useView();
  const { asOf } = view;
  const { list } = p;
  const [picked, setPicked] = useState(new Set<string>());
  // All rows are those of this list; another one begins anew.
  const [allOf, setAllOf] = useState<string>();
  const asked = JSON.stringify(p.query);
  const isAll = p.query !== undefined && allOf === asked;
  // What a filter has taken away is not changed unseen.
  const selected = new Set(list.rows.map(({ id }) => id).filter((id) => isAll || picked.has(id)));
  const select = (next: Set<string>) => {
    setAllOf(undefined);
    setPicked(next);
  };
  const grouped = p.groups?.find(({ key }) => key === view.group);
  const isApart = grouped !== undefined && view.sort !== grouped.sort;
  const rows = useMemo(() => (isApart ? gathered(list.rows, grouped.of) : list.rows), [isApart, grouped, list.rows]);
  const columns = useMemo(() => chosen(p.columns, view.columns), [p.columns, view.columns]);
  const bulk = () => {
    const done = () => select(new Set());
    const ids = [...selected];
    if (!p.bulk || typeof p.bulk === 'function') return p.bulk?.(ids, done);
    const selection = isAll ? { filter: filterOf(p.query ?? {}), count: list.total ?? 0 } : { ids };
    return <BulkActions {...p.bulk} selection={selection} onDone={done} />;
  };
  const page = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  useHeight(top, page, Boolean(p.above));
  // A list is printed with all its rows, also those that were never scrolled to.
  const print = () =>
    void list
      .loadAll()
      .then(() => setTimeout(() => window.print()))
      .catch((problem) => toast(words(problem), { bad: true }));
  useShortcuts({ n: p.onNew, 'Mod+p': print });

  const fields = (p.filters ?? []).filter(({ values }) => values.length > 0);
  const filter = p.onFilter ?? ((key: string, value: string | undefined): Search => ({ [key]: value }));
  const chips: Chip[] = [
    ...fields.flatMap(({ key, label, values }) => {
      const labels = valuesOf(view[key]).map((now) => values.find(({ value }) => value === now)?.label ?? now);
      return labels.length === 0 ? [] : [{ key, field: label, is: some(labels), clears: filter(key, undefined) }];
    }),
    ...(p.chips ?? []),
  ];
  const hasFilters = chips.length > 0 || view.q !== undefined;
  const isEmpty = p.empty !== undefined && p.all === 0 && !hasFilters && !asOf;
  const clear = () => void go({ ...Object.assign({}, ...chips.map(({ clears }) => clears)), q: undefined, open: undefined });
  const open = p.onOpen ?? ((row: Row) => void go({ open: p.unfolded && view.open === row.id ? undefined : row.id }));
  const step = (by: 1 | -1) => {
    const next = rows[rows.findIndex(({ id }) => id === view.open) + by];
    if (next) void go({ open: next.id, to: undefined }, { replace: true });
  };
  const count = () => {
    if (list.total === undefined || list.error) return '';
    return p.all === undefined ? t.filters.total(list.total) : t.filters.count(list.total, Math.max(p.all, list.total));
  };
  const sort = { key: view.sort ?? p.sort?.key ?? '', dir: (view.order as Sort['dir'] | undefined) ?? p.sort?.dir ?? 'asc' };
  const hrefOf =
    p.hrefOf ?? ((row: Row) => addressOf(location.pathname, { ...view, new: undefined, import: undefined, open: row.id }));

  if (asOf && !isDay(asOf))
    return (
      <>
        {!p.isPart && <PageHeader title={p.title} />}
        <NoDate text={asOf} onBack={() => void go({ asOf: undefined }, { replace: true })} />
      </>
    );
  return (
    <div ref={page} className={css.page} data-past={asOf ? true : undefined}>
      <div className={css.main}>
        <div ref={top} className={css.top}>
          {asOf && (
            <PastBar
              what={p.title}
              asOf={asOf}
              onChange={(date) =>
                void go({ asOf: date, ...(date ? {} : { changed: undefined, until: undefined }) }, { replace: true })
              }
            />
          )}
          {!p.isPart && <PageHeader title={p.title} crumb={p.crumb} facts={p.facts} actions={p.actions} />}
          {p.above}
          {!isEmpty && !p.isHeld && (fields.length > 0 || chips.length > 0 || p.tools || p.views) && (
            <FilterBar
              filters={chips}
              fields={fields}
              now={view}
              onSet={(key, value) => void go({ ...filter(key, value), ...(p.unfolded && { open: undefined }) })}
              onRemove={(key) =>
                void go({ ...chips.find((chip) => chip.key === key)?.clears, ...(p.unfolded && { open: undefined }) })
              }
              onClear={clear}
              count={count()}
              views={p.views && <Views list={p.views} />}
              tools={p.tools}
              display={!p.body && <Arrange columns={p.columns} groups={p.groups ?? []} sort={p.sort && sort} />}
            />
          )}
        </div>
        {list.error ? <SectionError error={list.error} onRetry={() => void list.refetch()} /> : null}
        {isEmpty && p.empty}
        {!isEmpty && !p.isHeld && (
          <div className={css.columns}>
            <div className={css.rows}>
              {p.body ?? (
                <>
                  <Table
                    caption={p.title}
                    rows={rows}
                    columns={columns}
                    isChosen={view.columns !== undefined}
                    group={grouped?.of}
                    total={list.total}
                    isAll={isAll}
                    onAll={p.query && typeof p.bulk === 'object' ? () => setAllOf(asked) : undefined}
                    rowKey={({ id }) => id}
                    rowName={p.name}
                    href={hrefOf}
                    onOpen={open}
                    onComment={p.onComment}
                    active={view.open}
                    sort={p.sort && sort}
                    onSort={p.sort && (({ key, dir }) => void go({ sort: key, order: dir }))}
                    density={view.density === 'compact' ? 'compact' : 'regular'}
                    selected={p.bulk && !asOf ? selected : undefined}
                    onSelect={select}
                    bulk={bulk()}
                    phone={p.phone}
                    unfolded={p.unfolded}
                    isBad={p.isBad}
                    onMore={list.more}
                    loading={list.isLoadingRows}
                  />
                  {!list.isPending && !list.error && list.rows.length === 0 && (
                    <p className={css.none}>
                      {p.none ?? t.filters.nothing}
                      {hasFilters && (
                        <button type="button" className="plain link" onClick={clear}>
                          {t.filters.clear}
                        </button>
                      )}
                    </p>
                  )}
                </>
              )}
              {p.below}
            </div>
            {!view.open && p.beside}
          </div>
        )}
      </div>
      {view.open && p.drawer?.({ id: view.open, onClose: () => void go({ open: undefined, to: undefined }), onStep: step })}
      {p.children}
    </div>
  );
}

/** "Open, Treating", and from the third value on "Open, Treating +2". */
const some = (words: string[]) => (words.length > 2 ? `${words.slice(0, 2).join(', ')} +${words.length - 2}` : words.join(', '));

/**
 * Tells the page how much of its top stays in view, so that what sticks below it does so in the right place. What a page
 * has above its filters scrolls away with the header: there would be little room left for rows.
 */
function useHeight(top: RefObject<HTMLElement | null>, page: RefObject<HTMLElement | null>, hasMore: boolean) {
  useEffect(() => {
    const head = top.current;
    if (!head) return;
    const observer = new ResizeObserver(() => {
      const bar = head.querySelector<HTMLElement>('[data-filters]');
      const away = hasMore && bar ? bar.offsetTop - head.offsetTop - 8 : 0;
      page.current?.style.setProperty('--list-away', `${-away}px`);
      page.current?.style.setProperty('--list-head', `${Math.floor(head.offsetHeight - away)}px`);
    });
    observer.observe(head);
    return () => observer.disconnect();
  }, [top, page, hasMore]);
}
