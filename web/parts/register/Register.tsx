import { Button, SegmentedControl } from '@mantine/core';
import { IconPlus, IconTableImport } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { usePeople } from '../../api/people';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { Day } from '../Day';
import { SectionError } from '../ErrorPage';
import { ExportMenu } from '../ExportMenu';
import { FilterBar } from '../FilterBar';
import { day, nextDay, today } from '../format';
import { PageHeader } from '../PageHeader';
import { PastBar } from '../PastBar';
import { RegisterTable } from '../RegisterTable';
import { StatusPill } from '../StatusPill';
import { addressOf, pastOf, useView } from '../search';
import { useShortcuts } from '../shortcuts';
import { ViewTools } from '../ViewTools';
import { Bulk } from './Bulk';
import { columns } from './columns';
import { useComparison } from './comparison';
import { queryOf, useRows, useTotal } from './data';
import { type Definition, type Row, statusOf } from './definition';
import { Empty } from './Empty';
import { noCell, ownerFilter, shownFilters } from './filters';
import { Heat } from './Heat';
import { Import } from './Import';
import { NewRecord } from './NewRecord';
import { Scores } from './Rating';
import { Record } from './Record';
import css from './Register.module.css';

/** A register of rated things: the table, its filters, the heat map, one open record, the past. */
export function Register({ of }: { of: () => Definition }) {
  const d = useMemo(of, [of]);
  const { view, change: go } = useView();
  const { can } = useMe();
  const people = usePeople();
  const list = useRows(d, view);
  const asOf = view.asOf;
  const mayChange = can(`${d.entity}:update`) && !asOf;
  const mayCreate = can(`${d.entity}:create`) && !asOf;
  const [picked, setPicked] = useState(new Set<string>());
  const compared = useComparison(d, view);
  const { until, since, kind } = compared;
  const rows = kind ? (since?.[kind] ?? []) : list.rows;
  // What a filter has taken away is not changed unseen.
  const selected = new Set(rows.map(({ id }) => id).filter((id) => picked.has(id)));
  const all = useTotal(d, pastOf(view));
  const late = useTotal(d, { reviewDue: true, ...pastOf(view) });
  const unowned = list.rows.filter((row) => !row.assigneeId).length;
  const isComplete = !list.hasNextPage;
  useShortcuts({ n: mayCreate ? () => void go({ new: 'yes' }) : undefined });

  const filters = shownFilters(d, view, people.name);
  const hasFilters = filters.length > 0 || view.q !== undefined;
  const isEmpty = all === 0 && !hasFilters && !asOf;
  const sort = { key: view.sort ?? 'residualScore', dir: (view.order ?? 'desc') as 'asc' | 'desc' };
  const open = (row: Row) => void go({ open: row.id });
  const isNarrow = view.open !== undefined;
  const shown = useMemo(() => {
    const say = (value: string) => (until ? t.past.on(day(until), value) : t.past.now(value));
    const later = compared.later && { rows: compared.later, say };
    return columns(d, people.name, { mayChange, isNarrow, on: asOf ?? today(), later });
  }, [d, people.name, mayChange, isNarrow, asOf, compared.later, until]);
  const step = (by: 1 | -1) => {
    const next = rows[rows.findIndex((row) => row.id === view.open) + by];
    if (next) void go({ open: next.id }, { replace: true });
  };

  return (
    <div className={css.page} data-past={asOf ? true : undefined}>
      <div className={css.main}>
        {asOf && (
          <PastBar
            what={d.texts.title}
            asOf={asOf}
            onChange={(date) =>
              void go({ asOf: date, ...(date ? {} : { changed: undefined, until: undefined }) }, { replace: true })
            }
          />
        )}
        <PageHeader
          title={d.texts.title}
          facts={
            all === undefined
              ? []
              : [
                  <b key="all">{d.texts.count(all)}</b>,
                  ...(late ? [<span key="late">{d.texts.late(late)}</span>] : []),
                  ...(isComplete && unowned ? [<span key="unowned">{d.texts.unowned(unowned)}</span>] : []),
                ]
          }
          actions={
            <>
              <ExportMenu path={`${d.path}/export`} query={queryOf(d, view)} />
              {mayCreate && (
                <Button
                  variant="default"
                  leftSection={<IconTableImport size={16} stroke={1.6} />}
                  onClick={() => void go({ import: 'yes' })}
                >
                  {t.actions.import}
                </Button>
              )}
              {mayCreate && (
                <Button data-primary leftSection={<IconPlus size={16} />} onClick={() => void go({ new: 'yes' })}>
                  {d.texts.new}
                </Button>
              )}
            </>
          }
        />
        {!isEmpty && (
          <FilterBar
            filters={filters}
            fields={[...d.filters, ownerFilter(d, people.active)]}
            onAdd={(key, value) => void go({ [key]: value })}
            onRemove={(key) => void go(key === 'cell' ? noCell(d) : { [key]: undefined })}
            onClear={() =>
              void go(Object.fromEntries([...filters.map(({ key }) => [key, undefined]), ...Object.entries(noCell(d))]))
            }
            count={all === undefined || list.total === undefined ? '' : t.filters.count(list.total, all)}
            view={
              <>
                <ViewTools view={view} go={go} />
                {asOf && (
                  <Day
                    label={t.past.comparedWith}
                    value={until ?? today()}
                    min={nextDay(asOf)}
                    max={today()}
                    onChange={(date) => void go({ until: date === today() ? undefined : date }, { replace: true })}
                  />
                )}
                {since && (
                  <SegmentedControl
                    aria-label={t.past.changed}
                    value={kind ?? ''}
                    onChange={(changed) => void go({ changed })}
                    data={[
                      { value: '', label: t.past.all },
                      { value: 'changed', label: t.past.changedRows(since.changed.length) },
                      { value: 'added', label: t.past.addedRows(since.added.length) },
                      { value: 'gone', label: t.past.goneRows(since.gone.length) },
                    ]}
                  />
                )}
              </>
            }
          />
        )}
        {list.error && <SectionError error={list.error} onRetry={() => void list.refetch()} />}
        {!list.error && compared.failed && (
          <SectionError error={compared.failed.error} onRetry={() => void compared.failed?.refetch()} />
        )}
        {isEmpty ? (
          <Empty d={d} mayCreate={mayCreate} onNew={() => void go({ new: 'yes' })} onImport={() => void go({ import: 'yes' })} />
        ) : (
          <div className={css.columns}>
            <div className={css.table}>
              <RegisterTable
                caption={d.texts.title}
                rows={rows}
                columns={shown}
                rowKey={(row) => row.id}
                rowName={(row) => row.reference}
                href={(row) => addressOf(d.page, { ...pastOf(view), until, changed: kind, open: row.id })}
                onOpen={open}
                active={view.open}
                sort={sort}
                onSort={({ key, dir }) => void go({ sort: key, order: dir })}
                density={view.density === 'compact' ? 'compact' : 'regular'}
                selected={mayChange ? selected : undefined}
                onSelect={setPicked}
                bulk={<Bulk d={d} ids={[...selected]} onDone={() => setPicked(new Set())} />}
                phone={(row) => ({
                  title: d.name(row),
                  facts: (
                    <>
                      <span className="mono">{row.reference}</span>
                      <Scores row={row} />
                      <StatusPill {...statusOf(d, row.status)} />
                    </>
                  ),
                })}
                onMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
                loading={list.isPending || list.isFetchingNextPage}
              />
              {!list.isPending && rows.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
            </div>
            {!view.open && !asOf && <Heat d={d} view={view} go={(next) => void go(next)} />}
          </div>
        )}
      </div>
      {view.open && !compared.isPending && (
        <Record
          key={view.open}
          d={d}
          id={view.open}
          asOf={compared.day}
          isPast={asOf !== undefined}
          onClose={() => void go({ open: undefined })}
          onStep={step}
        />
      )}
      {view.new && (
        <NewRecord
          d={d}
          onClose={() => void go({ new: undefined }, { replace: true })}
          onCreated={(row) => void go({ new: undefined, open: row.id }, { replace: true })}
        />
      )}
      {view.import && <Import d={d} onClose={() => void go({ import: undefined }, { replace: true })} />}
    </div>
  );
}
