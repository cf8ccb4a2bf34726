import { Button, Menu, SegmentedControl, Select, TextInput } from '@mantine/core';
import { IconDownload, IconHistory, IconPlus, IconSearch, IconTableImport, IconTrash, IconUser } from '@tabler/icons-react';
import { useState } from 'react';
import { usePeople } from '../../api/people';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { Was } from '../AsOfBar';
import { useConfirm } from '../confirm';
import { EmptyState } from '../EmptyState';
import { SectionError } from '../ErrorPage';
import { FilterBar } from '../FilterBar';
import { day, today } from '../format';
import { Glyph } from '../glyphs';
import { HeatLegend, HeatMap, impactOf, impacts, likelihoodOf, likelihoods, Score } from '../HeatMap';
import { PageHeader } from '../PageHeader';
import { PastBar } from '../PastBar';
import { Person } from '../Person';
import { type Column, RegisterTable } from '../RegisterTable';
import { StatusPill, StatusSelect } from '../StatusPill';
import { useView } from '../search';
import { useShortcuts } from '../shortcuts';
import { toast } from '../toast';
import { cells, change, changes, queryOf, remove, useAll, useMatrix, useRows, useTotal } from './data';
import type { Definition, Row } from './definition';
import { Import } from './Import';
import { NewRecord } from './NewRecord';
import { Scores } from './Rating';
import { Record } from './Record';
import css from './Register.module.css';

/** A register of rated things: the table, its filters, the heat map, one open record, the past. */
export function Register({ d }: { d: Definition }) {
  const { view, change: go } = useView();
  const { can } = useMe();
  const people = usePeople();
  const list = useRows(d, view);
  const asOf = view.asOf;
  const mayChange = can(`${d.entity}:update`) && !asOf;
  const mayCreate = can(`${d.entity}:create`) && !asOf;
  const [selected, setSelected] = useState(new Set<string>());
  const now = useAll(d, undefined, asOf !== undefined);
  const then = useAll(d, asOf, asOf !== undefined);
  const since = asOf && now.data && then.data ? changes(then.data, now.data) : undefined;
  const kind = since && (['changed', 'added', 'gone'] as const).find((one) => one === view.changed);
  const rows = kind ? (since?.[kind] ?? []) : list.rows;
  const all = useTotal(d, asOf ? { asOf } : {});
  const late = useTotal(d, { reviewDue: true }, !asOf);
  const unowned = list.rows.filter((row) => !row.assigneeId).length;
  const isComplete = !list.hasNextPage;
  useShortcuts({ n: mayCreate ? () => void go({ new: 'yes' }) : undefined });

  const filters = shownFilters(d, view, people.name);
  const hasFilters = filters.length > 0 || view.q !== undefined;
  const isEmpty = all === 0 && !hasFilters && !asOf;
  const sort = { key: view.sort ?? 'residualScore', dir: (view.order ?? 'desc') as 'asc' | 'desc' };
  const open = (row: Row) => void go({ open: row.id });
  const step = (by: 1 | -1) => {
    const at = list.rows.findIndex((row) => row.id === view.open);
    const next = list.rows[at + by];
    if (next) void go({ open: next.id }, { replace: true });
  };

  return (
    <div className={css.page} data-past={asOf ? true : undefined}>
      <div className={css.main}>
        {asOf && (
          <PastBar
            what={d.texts.title}
            asOf={asOf}
            onChange={(date) => void go({ asOf: date, ...(date ? {} : { changed: undefined }) })}
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
              <Export d={d} query={queryOf(d, view)} />
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
                <Search value={view.q} onChange={(q) => void go({ q }, { replace: true })} />
                <SegmentedControl
                  aria-label={t.filters.density}
                  value={view.density ?? 'regular'}
                  onChange={(density) => void go({ density: density === 'regular' ? undefined : density }, { replace: true })}
                  data={[
                    { value: 'regular', label: t.filters.regular },
                    { value: 'compact', label: t.filters.compact },
                  ]}
                  visibleFrom="sm"
                />
                {since && (
                  <SegmentedControl
                    aria-label={t.past.changed}
                    value={kind ?? ''}
                    onChange={(changed) => void go({ changed })}
                    data={[
                      { value: '', label: t.past.all },
                      { value: 'changed', label: t.past.changedSince(since.changed.length) },
                      { value: 'added', label: t.past.addedSince(since.added.length) },
                      { value: 'gone', label: t.past.goneSince(since.gone.length) },
                    ]}
                  />
                )}
                {!asOf && (
                  <Button
                    size="xs"
                    variant="default"
                    leftSection={<IconHistory size={15} stroke={1.6} />}
                    onClick={() => void go({ asOf: monthAgo(), open: undefined })}
                  >
                    {t.filters.asOf}
                  </Button>
                )}
              </>
            }
          />
        )}
        {list.error && <SectionError error={list.error} onRetry={() => void list.refetch()} />}
        {isEmpty ? (
          <Empty d={d} mayCreate={mayCreate} onNew={() => void go({ new: 'yes' })} onImport={() => void go({ import: 'yes' })} />
        ) : (
          <div className={css.columns}>
            <div className={css.table}>
              <RegisterTable
                caption={d.texts.title}
                rows={rows}
                columns={columns(d, people.name, mayChange, view.open !== undefined, now.data)}
                rowKey={(row) => row.id}
                rowName={(row) => row.reference}
                href={(row) => `${d.page}?open=${row.id}`}
                onOpen={open}
                active={view.open}
                sort={sort}
                onSort={({ key, dir }) => void go({ sort: key, order: dir })}
                density={view.density === 'compact' ? 'compact' : 'regular'}
                selected={mayChange ? selected : undefined}
                onSelect={setSelected}
                bulk={<Bulk d={d} ids={[...selected]} onDone={() => setSelected(new Set())} />}
                phone={(row) => <Phone d={d} row={row} onOpen={() => open(row)} />}
                onMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
                loading={list.isPending || list.isFetchingNextPage}
              />
              {!list.isPending && rows.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
            </div>
            {!view.open && !asOf && <Heat d={d} view={view} go={(next) => void go(next)} />}
          </div>
        )}
      </div>
      {view.open && (
        <Record key={view.open} d={d} id={view.open} asOf={asOf} onClose={() => void go({ open: undefined })} onStep={step} />
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

const monthAgo = () => {
  const date = new Date();
  date.setMonth(date.getMonth() - 1);
  return date.toISOString().slice(0, 10);
};

/** Likelihood and impact of one cell read as one filter. */
const noCell = (d: Definition) =>
  Object.fromEntries(
    Object.values(d.ratings).flatMap(({ likelihood, impact }) => [
      [likelihood, undefined],
      [impact, undefined],
    ]),
  );

function ownerFilter(d: Definition, people: { id: string; user: { name: string } }[]) {
  return {
    key: 'assigneeId',
    label: d.labels.assigneeId ?? t.record.owner,
    values: people.map(({ id, user }) => ({ value: id, label: user.name })),
  };
}

function shownFilters(d: Definition, view: { [key: string]: string | undefined }, name: (id: string) => string | undefined) {
  const shown = d.filters
    .filter(({ key }) => view[key] !== undefined)
    .map(({ key, label, values }) => ({
      key,
      field: label,
      is: values.find(({ value }) => value === view[key])?.label ?? view[key] ?? '',
    }));
  if (view.assigneeId)
    shown.push({ key: 'assigneeId', field: d.labels.assigneeId ?? '', is: name(view.assigneeId) ?? view.assigneeId });
  for (const when of ['inherent', 'residual'] as const) {
    const { likelihood, impact } = d.ratings[when];
    const [l, i] = [view[likelihood], view[impact]];
    if (l && i) {
      const is = `${likelihoodOf(likelihoods.indexOf(l as never) + 1)} × ${impactOf(impacts.indexOf(i as never) + 1)}`;
      shown.push({ key: 'cell', field: t.scales[when], is });
    }
  }
  return shown;
}

function Search({ value, onChange }: { value?: string; onChange: (next: string | undefined) => void }) {
  return (
    <TextInput
      aria-label={t.filters.search}
      placeholder={t.filters.search}
      size="xs"
      w={150}
      leftSection={<IconSearch size={14} stroke={1.7} />}
      defaultValue={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}

function columns(
  d: Definition,
  name: (id: string | null | undefined) => string | undefined,
  mayChange: boolean,
  isNarrow: boolean,
  today_: Map<string, Row> | undefined,
): Column<Row>[] {
  const since = (row: Row, changed: (now: Row) => boolean, text: (now: Row) => string, shown: React.ReactNode) => {
    const now = today_?.get(row.id);
    return now && changed(now) ? <Was now={text(now)}>{shown}</Was> : shown;
  };
  const status = (row: Row) => d.statuses[row.status]?.label ?? row.status;
  const all: (Column<Row> | false)[] = [
    {
      key: 'reference',
      header: d.texts.columns.reference,
      width: 76,
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'title', header: d.texts.columns.title, opens: true, sortable: true, render: (row) => d.name(row) },
    !isNarrow && {
      key: 'assigneeId',
      header: d.texts.columns.owner,
      width: 150,
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'residualScore',
      header: d.texts.columns.score,
      width: 112,
      sortable: true,
      render: (row) =>
        since(
          row,
          (now) => now.residualScore !== row.residualScore || now.inherentScore !== row.inherentScore,
          (now) => `${now.inherentScore} → ${now.residualScore}`,
          <Scores row={row} />,
        ),
    },
    {
      key: 'status',
      header: d.texts.columns.status,
      width: 140,
      render: (row) =>
        mayChange ? (
          <StatusSelect
            value={row.status}
            options={d.statuses}
            name={`${row.reference} ${d.texts.columns.status}`}
            onChange={(next) =>
              void change(d, row.id, { status: next })
                .then(() => refetch(d.path))
                .catch((problem: unknown) => toast(words(problem), { bad: true }))
            }
          />
        ) : (
          since(
            row,
            (now) => now.status !== row.status,
            status,
            <StatusPill {...(d.statuses[row.status] ?? { label: row.status, tone: 'mute', shape: 'ring' })} />,
          )
        ),
    },
    !isNarrow && {
      key: 'reviewDate',
      header: d.texts.columns.review,
      width: 100,
      align: 'right',
      render: (row) =>
        row.reviewDate && <span className={row.reviewDate < today() ? css.late : 't2'}>{day(row.reviewDate)}</span>,
    },
  ];
  return all.filter((one) => one !== false);
}

function Phone({ d, row, onOpen }: { d: Definition; row: Row; onOpen: () => void }) {
  return (
    <button type="button" className={`plain ${css.phone}`} onClick={onOpen}>
      <span className={css.phoneTitle}>{d.name(row)}</span>
      <span className={css.phoneFacts}>
        <span className="mono t3">{row.reference}</span>
        <Scores row={row} />
        <StatusPill {...(d.statuses[row.status] ?? { label: row.status, tone: 'mute', shape: 'ring' })} />
      </span>
    </button>
  );
}

function Heat({
  d,
  view,
  go,
}: {
  d: Definition;
  view: { [key: string]: string | undefined };
  go: (next: { [key: string]: string | undefined }) => void;
}) {
  const { data } = useMatrix(d);
  const when = view.heat === 'inherent' ? 'inherent' : 'residual';
  const { likelihood, impact } = d.ratings[when];
  const [l, i] = [likelihoods.indexOf(view[likelihood] as never) + 1, impacts.indexOf(view[impact] as never) + 1];
  return (
    <section className={css.heat} aria-label={t.scales.heatMap}>
      <div className={css.heatHead}>
        <h2>{t.scales.heatMap}</h2>
        <SegmentedControl
          aria-label={t.scales.heatMap}
          value={when}
          onChange={(heat) => go({ heat, ...noCell(d) })}
          data={[
            { value: 'inherent', label: t.scales.inherent },
            { value: 'residual', label: t.scales.residual },
          ]}
        />
      </div>
      <HeatMap
        label={`${t.scales.heatMap}: ${t.scales[when]}`}
        counts={cells(data?.[when])}
        selected={l && i ? { l, i } : undefined}
        onSelect={(cell) =>
          go({ ...noCell(d), ...(cell ? { [likelihood]: likelihoods[cell.l - 1], [impact]: impacts[cell.i - 1] } : {}) })
        }
      />
      <HeatLegend />
      {data && data.notAssessed > 0 && (
        <button type="button" className="plain link" onClick={() => go({ isAssessed: 'false' })}>
          {t.scales.notAssessed(data.notAssessed)}
        </button>
      )}
      <ul className={css.statuses}>
        {Object.entries(d.statuses)
          .filter(([key]) => key !== 'archived')
          .map(([key, status]) => (
            <li key={key}>
              <StatusCount
                d={d}
                status={key}
                label={status.label}
                glyph={<Glyph shape={status.shape} tone={status.tone} />}
                onPick={() => go({ status: key })}
              />
            </li>
          ))}
      </ul>
    </section>
  );
}

function StatusCount({
  d,
  status,
  label,
  glyph,
  onPick,
}: {
  d: Definition;
  status: string;
  label: string;
  glyph: React.ReactNode;
  onPick: () => void;
}) {
  const count = useTotal(d, { status });
  return (
    <button type="button" className={`plain ${css.status}`} onClick={onPick}>
      {glyph}
      <span>{label}</span>
      <b className="num">{count ?? ''}</b>
    </button>
  );
}

function Export({ d, query }: { d: Definition; query: Record<string, string> }) {
  const go = async (format: 'csv' | 'xlsx') => {
    const { download } = await import('../../api/download');
    await download(`${d.path}/export?${new URLSearchParams({ ...query, format })}`).catch((problem) =>
      toast(words(problem), { bad: true }),
    );
  };
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} stroke={1.6} />}>
          {t.actions.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void go('csv')}>CSV</Menu.Item>
        <Menu.Item onClick={() => void go('xlsx')}>Excel (XLSX)</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Changes every selected record; tells how many could not be changed, and why. */
function Bulk({ d, ids, onDone }: { d: Definition; ids: string[]; onDone: () => void }) {
  const people = usePeople();
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  async function each(act: (id: string) => Promise<unknown>) {
    const ended = await Promise.allSettled(ids.map(act));
    const failed = ended.filter((one) => one.status === 'rejected');
    await refetch(d.path);
    onDone();
    if (failed[0]) toast(t.bulk.failed(failed.length, ids.length, words(failed[0].reason)), { bad: true });
    else toast(t.bulk.done(ids.length));
  }
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button size="xs" variant="subtle">
            {t.bulk.status}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(d.statuses).map(([key, status]) => (
            <Menu.Item
              key={key}
              leftSection={<Glyph shape={status.shape} tone={status.tone} />}
              onClick={() => void each((id) => change(d, id, { status: key }))}
            >
              {status.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Select
        size="xs"
        w={160}
        aria-label={t.bulk.owner}
        placeholder={t.bulk.owner}
        leftSection={<IconUser size={14} stroke={1.6} />}
        searchable
        value={null}
        data={people.active.map(({ id, user }) => ({ value: id, label: user.name }))}
        onChange={(assigneeId) => assigneeId && void each((id) => change(d, id, { assigneeId }))}
      />
      {can(`${d.entity}:delete`) && (
        <Button
          size="xs"
          variant="subtle"
          leftSection={<IconTrash size={14} stroke={1.6} />}
          onClick={() =>
            ask({
              title: t.bulk.deleteAsk(ids.length),
              text: t.record.deleteText,
              verb: t.actions.delete,
              act: () => each((id) => remove(d, id)),
            })
          }
        >
          {t.actions.delete}
        </Button>
      )}
      {dialog}
    </>
  );
}

function Empty({
  d,
  mayCreate,
  onNew,
  onImport,
}: {
  d: Definition;
  mayCreate: boolean;
  onNew: () => void;
  onImport: () => void;
}) {
  const { empty } = d.texts;
  const ways = mayCreate
    ? [
        { icon: <IconPlus size={18} stroke={1.6} />, label: d.texts.new, hint: empty.newHint, keys: 'N', onPick: onNew },
        { icon: <IconTableImport size={18} stroke={1.6} />, label: t.actions.import, hint: empty.importHint, onPick: onImport },
      ]
    : [];
  return (
    <EmptyState
      title={empty.title}
      lead={empty.lead}
      ways={ways}
      specimen={
        <figure className={css.specimen}>
          <figcaption className="t3">{empty.specimen}</figcaption>
          <h3>{empty.specimenTitle}</h3>
          <p className="t2">{empty.specimenText}</p>
          <p>
            <Score value={15} /> → <Score value={6} />
          </p>
          <ol>
            {empty.points.map((point, at) => (
              <li key={point}>
                <b>{at + 1}</b> {point}
              </li>
            ))}
          </ol>
        </figure>
      }
    />
  );
}
