import { Button, SegmentedControl } from '@mantine/core';
import { IconBooks, IconPlus, IconTableImport } from '@tabler/icons-react';
import { useMemo } from 'react';
import { filterOf } from '../../api/bulk';
import { type Criteria, useCriteria } from '../../api/criteria';
import { useList, useTotal } from '../../api/lists';
import { usePeople } from '../../api/people';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { Day } from '../Day';
import { SectionError } from '../ErrorPage';
import { ExportMenu } from '../ExportMenu';
import { day, nextDay, today } from '../format';
import { ListPage } from '../list/ListPage';
import { Person } from '../Person';
import { StatusPill } from '../StatusPill';
import { addressOf, pastOf, useView } from '../search';
import { ViewTools } from '../ViewTools';
import { columns, groups } from './columns';
import { useComparison } from './comparison';
import { queryOf } from './data';
import { aboveOf, type Definition, statusOf } from './definition';
import { Empty } from './Empty';
import { cells, ownerFilter } from './filters';
import { HeatButton, HeatPanel } from './Heat';
import { Import } from './Import';
import { NewRecord } from './NewRecord';
import { Scores } from './Rating';
import { Record } from './Record';

/** A register of rated things: the list, its heat map, one open record, the past. */
export function Register({ of }: { of: (criteria: Criteria) => Definition }) {
  const criteria = useCriteria();
  const d = useMemo(() => of(criteria), [of, criteria]);
  const { view, change: go } = useView();
  const { can } = useMe();
  const people = usePeople();
  const query = queryOf(d, view);
  const found = useList(d.path, query);
  const { asOf } = view;
  const mayChange = can(`${d.entity}:update`) && !asOf;
  const mayCreate = can(`${d.entity}:create`) && !asOf;
  const compared = useComparison(d, view);
  const { until, since, kind } = compared;
  const list = kind ? { ...found, rows: since?.[kind] ?? [] } : found;
  const all = useTotal(d.path, pastOf(view));
  // The facts are those of the rows that the filters leave.
  const filter = filterOf(query);
  const late = useTotal(d.path, { ...filter, reviewDue: 'true' }, filter.reviewDue !== 'false');
  const unrated = useTotal(d.path, { ...filter, isResidualAssessed: 'false' }, filter.isResidualAssessed !== 'true');
  const limit = aboveOf(d);
  const over: Record<string, string> = limit === undefined ? {} : { minResidualScore: String(limit) };
  const above = useTotal(d.path, { ...over, ...filter }, limit !== undefined);
  const unowned = found.rows.filter((row) => !row.assigneeId).length;
  const openNew = mayCreate ? () => void go({ new: 'yes' }) : undefined;
  const openImport = () => void go({ import: 'yes' });
  const openLibrary = () => void go({ library: 'yes' });
  const shown = useMemo(() => {
    const say = (value: string) => (until ? t.past.on(day(until), value) : t.past.now(value));
    const later = compared.later && { rows: compared.later, say };
    return columns(d, people.name, { mayChange, on: asOf ?? today(), later });
  }, [d, people.name, mayChange, asOf, compared.later, until]);

  return (
    <ListPage
      title={d.texts.title}
      facts={
        all === undefined
          ? []
          : [
              <b key="all">{d.texts.count(found.total ?? all)}</b>,
              ...(late ? [<span key="late">{d.texts.late(late)}</span>] : []),
              ...(above
                ? [
                    <button key="above" type="button" className="plain link" onClick={() => void go(over)}>
                      {t.scales.aboveCount(above)}
                    </button>,
                  ]
                : []),
              ...(unrated
                ? [
                    <button
                      key="unrated"
                      type="button"
                      className="plain link"
                      onClick={() => void go({ isResidualAssessed: 'false' })}
                    >
                      {t.scales.withoutResidual(unrated)}
                    </button>,
                  ]
                : []),
              ...(!found.hasNextPage && unowned ? [<span key="unowned">{d.texts.unowned(unowned)}</span>] : []),
            ]
      }
      actions={
        <>
          <ExportMenu path={`${d.path}/export`} query={query} />
          {mayCreate && (
            <>
              {d.library && (
                <Button
                  variant="default"
                  visibleFrom="sm"
                  leftSection={<IconBooks size={16} stroke={1.6} />}
                  onClick={openLibrary}
                >
                  {d.library.label}
                </Button>
              )}
              <Button variant="default" leftSection={<IconTableImport size={16} stroke={1.6} />} onClick={openImport}>
                {t.actions.import}
              </Button>
              <Button data-primary leftSection={<IconPlus size={16} />} onClick={openNew}>
                {d.texts.new}
              </Button>
            </>
          )}
        </>
      }
      list={list}
      all={all}
      filters={[...d.filters, ownerFilter(d, people.active)]}
      chips={cells(d, view)}
      tools={
        <>
          {!asOf && <HeatButton d={d} view={view} go={(next) => void go(next)} />}
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
      above={
        compared.failed &&
        !found.error && <SectionError error={compared.failed.error} onRetry={() => void compared.failed?.refetch()} />
      }
      columns={shown}
      name={(row) => row.reference}
      hrefOf={(row) => addressOf(d.page, { ...pastOf(view), until, changed: kind, open: row.id })}
      onComment={(row) => void go({ open: row.id, to: 'comment' })}
      sort={{ key: 'residualScore', dir: 'desc' }}
      bulk={mayChange ? d : undefined}
      query={query}
      groups={groups(d, people.name)}
      views={d.page === '/risks' ? 'risks' : 'vendors'}
      phone={(row) => ({
        title: d.name(row),
        facts: (
          <>
            <span className="mono">{row.reference}</span>
            <Scores row={row} />
            <StatusPill {...statusOf(d, row.status)} />
            {row.assigneeId && <Person name={people.name(row.assigneeId)} short />}
          </>
        ),
      })}
      beside={!asOf && <HeatPanel d={d} view={view} go={(next) => void go(next)} />}
      drawer={({ id, onClose, onStep }) =>
        !compared.isPending && (
          <Record key={id} d={d} id={id} asOf={compared.day} isPast={asOf !== undefined} onClose={onClose} onStep={onStep} />
        )
      }
      empty={<Empty d={d} mayCreate={mayCreate} onNew={() => openNew?.()} onImport={openImport} onLibrary={openLibrary} />}
      onNew={openNew}
    >
      {view.new && (
        <NewRecord
          d={d}
          onClose={() => void go({ new: undefined }, { replace: true })}
          onCreated={(row) => void go({ new: undefined, open: row.id }, { replace: true })}
        />
      )}
      {view.library && mayCreate && d.library && (
        <d.library.Panel onClose={() => void go({ library: undefined }, { replace: true })} />
      )}
      {view.import && <Import d={d} onClose={() => void go({ import: undefined }, { replace: true })} />}
    </ListPage>
  );
}
