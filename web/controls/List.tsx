import { Button } from '@mantine/core';
import { IconLayersSubtract, IconPlus, IconTableImport } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api/client';
import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import { AssignSelect, DeleteButton, each } from '../parts/bulk';
import { EmptyState } from '../parts/EmptyState';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { FilterBar } from '../parts/FilterBar';
import { day, today } from '../parts/format';
import { PageHeader } from '../parts/PageHeader';
import { PastBar } from '../parts/PastBar';
import { Person } from '../parts/Person';
import { type Column, RegisterTable } from '../parts/RegisterTable';
import { Import } from '../parts/register/Import';
import { NewRecord } from '../parts/register/NewRecord';
import { Specimen } from '../parts/Specimen';
import { StatusPill } from '../parts/StatusPill';
import { addressOf, pastOf, useView } from '../parts/search';
import { useShortcuts } from '../parts/shortcuts';
import { ViewTools } from '../parts/ViewTools';
import type { Search } from '../routes';
import { t } from '../texts';
import css from './controls.module.css';
import { filters as choices, controls, kinds, readiness } from './fields';
import { type Control, queryOf, useControls, useRequirements, useTotal } from './queries';
import { Record } from './Record';

export function Controls() {
  const { can } = useMe();
  return can('control:read') ? <Register /> : <MissingPage />;
}

/** Filters that come with a link from elsewhere: the controls of one requirement, one policy … */
const given = kinds.map((kind) => `${kind}Id`);

function Register() {
  const { view, change: go } = useView();
  const { can } = useMe();
  const people = usePeople();
  const list = useControls(view);
  const asOf = view.asOf;
  const mayChange = can('control:update') && !asOf;
  const mayCreate = can('control:create') && !asOf;
  const [picked, setPicked] = useState(new Set<string>());
  // What a filter has taken away is not changed unseen.
  const selected = new Set(list.rows.map(({ id }) => id).filter((id) => picked.has(id)));
  const all = useTotal(pastOf(view));
  const late = useTotal({ reviewDue: true, ...pastOf(view) });
  const { byId } = useRequirements(view.requirementId !== undefined);
  useShortcuts({ n: mayCreate ? () => void go({ new: 'yes' }) : undefined });

  const fields = choices(people.active);
  const chips = [
    ...fields
      .filter(({ key }) => view[key] !== undefined)
      .map(({ key, label, values }) => ({
        key,
        field: label,
        is: values.find(({ value }) => value === view[key])?.label ?? view[key] ?? '',
      })),
    ...given
      .filter((key) => view[key] !== undefined)
      .map((key) => ({
        key,
        field: t.controls.fields[key] ?? key,
        is: (key === 'requirementId' && byId.get(view[key] ?? '')?.code) || '…',
      })),
  ];
  const isEmpty = all === 0 && chips.length === 0 && view.q === undefined && !asOf;
  const sort = { key: view.sort ?? '', dir: (view.order ?? 'asc') as 'asc' | 'desc' };
  const open = (row: Control) => void go({ open: row.id });
  const step = (by: 1 | -1) => {
    const next = list.rows[list.rows.findIndex((row) => row.id === view.open) + by];
    if (next) void go({ open: next.id }, { replace: true });
  };
  const ready = list.rows.filter((row) => row.readiness?.status === 'ready').length;
  const unowned = list.rows.filter((row) => !row.assigneeId).length;
  const isWhole = !list.hasNextPage && chips.length === 0 && view.q === undefined;
  const facts = [
    all !== undefined && <b key="all">{t.controls.count(all)}</b>,
    isWhole && all ? <span key="ready">{t.controls.ready(ready)}</span> : false,
    late ? <span key="late">{t.controls.late(late)}</span> : false,
    isWhole && unowned ? <span key="unowned">{t.controls.unowned(unowned)}</span> : false,
  ].filter((fact) => fact !== false);

  return (
    <div className={css.page} data-past={asOf ? true : undefined}>
      <div className={css.main}>
        {asOf && <PastBar what={t.controls.title} asOf={asOf} onChange={(date) => void go({ asOf: date }, { replace: true })} />}
        <PageHeader
          title={t.controls.title}
          facts={facts}
          actions={
            <>
              <ExportMenu path="/v1/controls/export" query={queryOf(view)} />
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
                  {t.controls.new}
                </Button>
              )}
            </>
          }
        />
        {!isEmpty && (
          <FilterBar
            filters={chips}
            fields={fields}
            onAdd={(key, value) => void go({ [key]: value })}
            onRemove={(key) => void go({ [key]: undefined })}
            onClear={() => void go(Object.fromEntries(chips.map(({ key }) => [key, undefined])))}
            count={all === undefined || list.total === undefined ? '' : t.filters.count(list.total, all)}
            view={<ViewTools view={view} go={go} />}
          />
        )}
        {list.error && <SectionError error={list.error} onRetry={() => void list.refetch()} />}
        {isEmpty ? (
          <Empty mayCreate={mayCreate} go={(next) => void go(next)} />
        ) : (
          <>
            <RegisterTable
              caption={t.controls.title}
              rows={list.rows}
              columns={columns(people.name, view.open !== undefined, asOf ?? today())}
              rowKey={(row) => row.id}
              rowName={(row) => row.reference}
              href={(row) => addressOf('/controls', { open: row.id, ...pastOf(view) })}
              onOpen={open}
              active={view.open}
              sort={sort}
              onSort={({ key, dir }) => void go({ sort: key, order: dir })}
              density={view.density === 'compact' ? 'compact' : 'regular'}
              selected={mayChange ? selected : undefined}
              onSelect={setPicked}
              bulk={<Bulk ids={[...selected]} onDone={() => setPicked(new Set())} />}
              phone={(row) => ({
                title: row.name,
                facts: (
                  <>
                    <span className="mono">{row.reference}</span>
                    {row.readiness && <StatusPill {...readiness()[row.readiness.status]} />}
                    <span>{people.name(row.assigneeId)}</span>
                  </>
                ),
              })}
              onMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
              loading={list.isPending || list.isFetchingNextPage}
            />
            {!list.isPending && list.rows.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
          </>
        )}
      </div>
      {view.open && (
        <Record key={view.open} id={view.open} asOf={asOf} onClose={() => void go({ open: undefined })} onStep={step} />
      )}
      {view.new && (
        <NewRecord
          d={controls()}
          onClose={() => void go({ new: undefined }, { replace: true })}
          onCreated={(row) => void go({ new: undefined, open: row.id }, { replace: true })}
        />
      )}
      {view.import && <Import d={controls()} onClose={() => void go({ import: undefined }, { replace: true })} />}
    </div>
  );
}

type Names = (id: string | null | undefined) => string | undefined;

function columns(name: Names, isNarrow: boolean, on: string): Column<Control>[] {
  const words = t.controls.columns;
  const parts = (row: Control, kind: 'policies' | 'tasks') => {
    const part = row.readiness?.[kind];
    return part?.linked ? (
      <span className={part.inPlace < part.linked ? 't2' : undefined}>{t.controls.inPlace(part.inPlace, part.linked)}</span>
    ) : (
      <span className="t3">–</span>
    );
  };
  const all: (Column<Control> | false)[] = [
    { key: 'reference', header: words.reference, width: 76, render: (row) => <span className="mono t3">{row.reference}</span> },
    { key: 'name', header: words.name, opens: true, sortable: true, render: (row) => row.name },
    !isNarrow && {
      key: 'assigneeId',
      header: words.owner,
      width: 150,
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    !isNarrow && {
      key: 'requirements',
      header: words.requirements,
      width: 110,
      align: 'right',
      render: (row) => row.requirementIds.length || <span className="t3">–</span>,
    },
    !isNarrow && { key: 'policies', header: words.policies, width: 90, align: 'right', render: (row) => parts(row, 'policies') },
    !isNarrow && { key: 'tasks', header: words.tasks, width: 90, align: 'right', render: (row) => parts(row, 'tasks') },
    {
      key: 'readiness',
      header: words.readiness,
      width: 150,
      render: (row) => row.readiness && <StatusPill {...readiness()[row.readiness.status]} />,
    },
    !isNarrow && {
      key: 'reviewDate',
      header: words.review,
      width: 100,
      align: 'right',
      render: (row) => row.reviewDate && <span className={row.reviewDate < on ? css.late : 't2'}>{day(row.reviewDate)}</span>,
    },
  ];
  return all.filter((one) => one !== false);
}

/** What can be done to all selected controls. */
function Bulk({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const { can } = useMe();
  const all = (act: (id: string) => Promise<unknown>) => each('/v1/controls', ids, act).then(onDone);
  const of = (id: string) => ({ params: { path: { id } } });
  return (
    <>
      <AssignSelect
        label={t.bulk.owner}
        onPick={(assigneeId) => void all((id) => api.PATCH('/v1/controls/{id}', { ...of(id), body: { assigneeId } }))}
      />
      {can('control:delete') && (
        <DeleteButton count={ids.length} act={() => all((id) => api.DELETE('/v1/controls/{id}', of(id)))} />
      )}
    </>
  );
}

function Empty({ mayCreate, go }: { mayCreate: boolean; go: (next: Search) => void }) {
  const navigate = useNavigate();
  const { empty } = t.controls;
  const ways = [
    {
      icon: <IconLayersSubtract size={18} stroke={1.6} />,
      label: t.controls.fromFramework,
      hint: empty.frameworkHint,
      onPick: () => void navigate({ to: '/frameworks' }),
    },
    {
      icon: <IconPlus size={18} stroke={1.6} />,
      label: t.controls.new,
      hint: empty.newHint,
      keys: 'N',
      onPick: () => go({ new: 'yes' }),
    },
    {
      icon: <IconTableImport size={18} stroke={1.6} />,
      label: t.actions.import,
      hint: empty.importHint,
      onPick: () => go({ import: 'yes' }),
    },
  ];
  return (
    <EmptyState
      title={empty.title}
      lead={empty.lead}
      ways={mayCreate ? ways : []}
      specimen={
        <Specimen caption={empty.specimen} title={empty.specimenTitle} text={empty.specimenText} points={empty.points}>
          <p>
            <StatusPill {...readiness().ready} />
          </p>
        </Specimen>
      }
    />
  );
}
