import { Button } from '@mantine/core';
import { IconLayersSubtract, IconPlus, IconTableImport } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useList, useTotal } from '../api/lists';
import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { MissingPage } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { day, today } from '../parts/format';
import { type Control, kinds, readiness } from '../parts/links/kinds';
import { useRequirements } from '../parts/links/requirements';
import type { Group } from '../parts/list/Arrange';
import { ListPage } from '../parts/list/ListPage';
import type { Column } from '../parts/list/Table';
import { Person } from '../parts/Person';
import { Import } from '../parts/register/Import';
import { NewRecord } from '../parts/register/NewRecord';
import { Specimen } from '../parts/Specimen';
import { StatusPill } from '../parts/StatusPill';
import { addressOf, pastOf, useView } from '../parts/search';
import { ViewTools } from '../parts/ViewTools';
import type { Search } from '../routes';
import { t } from '../texts';
import css from './controls.module.css';
import { filters as choices, controls } from './fields';
import { queryOf } from './queries';
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
  const query = queryOf(view);
  const list = useList('/v1/controls', query);
  const { asOf } = view;
  const mayChange = can('control:update') && !asOf;
  const mayCreate = can('control:create') && !asOf;
  const all = useTotal('/v1/controls', pastOf(view));
  const late = useTotal('/v1/controls', { reviewDue: true, ...pastOf(view) });
  const { byId } = useRequirements(view.requirementId !== undefined);
  const openNew = mayCreate ? () => void go({ new: 'yes' }) : undefined;
  const shown = useMemo(() => columns(people.name, asOf ?? today()), [people.name, asOf]);

  const fields = choices(people.active);
  const chips = given
    .filter((key) => view[key] !== undefined)
    .map((key) => ({
      key,
      field: t.controls.fields[key] ?? key,
      is: (key === 'requirementId' && byId.get(view[key] ?? '')?.code) || '…',
      clears: { [key]: undefined },
    }));
  const ready = list.rows.filter((row) => row.readiness?.status === 'ready').length;
  const unowned = list.rows.filter((row) => !row.assigneeId).length;
  const isWhole = list.total !== undefined && list.total === all && !list.hasNextPage;
  const facts = [
    all !== undefined && <b key="all">{t.controls.count(all)}</b>,
    isWhole && all ? <span key="ready">{t.controls.ready(ready)}</span> : false,
    late ? <span key="late">{t.controls.late(late)}</span> : false,
    isWhole && unowned ? <span key="unowned">{t.controls.unowned(unowned)}</span> : false,
  ].filter((fact) => fact !== false);

  return (
    <ListPage
      title={t.controls.title}
      facts={facts}
      actions={
        <>
          <ExportMenu path="/v1/controls/export" query={query} />
          {mayCreate && (
            <>
              <Button
                variant="default"
                leftSection={<IconTableImport size={16} stroke={1.6} />}
                onClick={() => void go({ import: 'yes' })}
              >
                {t.actions.import}
              </Button>
              <Button data-primary leftSection={<IconPlus size={16} />} onClick={openNew}>
                {t.controls.new}
              </Button>
            </>
          )}
        </>
      }
      list={list}
      all={all}
      filters={fields}
      chips={chips}
      tools={<ViewTools view={view} go={go} />}
      columns={shown}
      name={(row) => row.reference}
      hrefOf={(row) => addressOf('/controls', { open: row.id, ...pastOf(view) })}
      sort={{ key: 'createdAt', dir: 'asc' }}
      bulk={mayChange ? { ...controls(), path: '/v1/controls', entity: 'control', hasLinks: true } : undefined}
      query={query}
      groups={groups(people.name)}
      views="controls"
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
      drawer={({ id, ...drawer }) => <Record key={id} id={id} asOf={asOf} {...drawer} />}
      empty={<Empty mayCreate={mayCreate} go={(next) => void go(next)} />}
      onNew={openNew}
    >
      {view.new && (
        <NewRecord
          d={controls()}
          onClose={() => void go({ new: undefined }, { replace: true })}
          onCreated={(row) => void go({ new: undefined, open: row.id }, { replace: true })}
        />
      )}
      {view.import && <Import d={controls()} onClose={() => void go({ import: undefined }, { replace: true })} />}
    </ListPage>
  );
}

type Names = (id: string | null | undefined) => string | undefined;

function columns(name: Names, on: string): Column<Control>[] {
  const words = t.controls.columns;
  const parts = (row: Control, kind: 'policies' | 'tasks') => {
    const part = row.readiness?.[kind];
    return part?.linked ? (
      <span className={part.inPlace < part.linked ? 't2' : undefined}>{t.controls.inPlace(part.inPlace, part.linked)}</span>
    ) : (
      <span className="t3">–</span>
    );
  };
  return [
    {
      key: 'reference',
      priority: 2,
      header: words.reference,
      width: 76,
      sort: 'createdAt',
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'name', header: words.name, opens: true, sort: 'name', render: (row) => row.name },
    {
      key: 'assigneeId',
      priority: 3,
      header: words.owner,
      width: 150,
      sort: 'assignee',
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'requirements',
      priority: 4,
      header: words.requirements,
      width: 110,
      align: 'right',
      sort: 'requirements',
      isHighFirst: true,
      render: (row) => row.requirementIds.length || <span className="t3">–</span>,
    },
    ...(['policies', 'tasks'] as const).map(
      (kind, place): Column<Control> => ({
        key: kind,
        priority: 5 + place,
        header: words[kind],
        width: 90,
        align: 'right',
        sort: kind,
        isHighFirst: true,
        render: (row) => parts(row, kind),
      }),
    ),
    {
      key: 'readiness',
      priority: 1,
      header: words.readiness,
      width: 150,
      sort: 'readiness',
      render: (row) => row.readiness && <StatusPill {...readiness()[row.readiness.status]} />,
    },
    {
      key: 'reviewDate',
      priority: 7,
      header: words.review,
      width: 100,
      align: 'right',
      sort: 'reviewDate',
      render: (row) => row.reviewDate && <span className={row.reviewDate < on ? css.late : 't2'}>{day(row.reviewDate)}</span>,
    },
    {
      key: 'department',
      priority: 8,
      header: t.controls.fields.department ?? '',
      width: 120,
      sort: 'department',
      isExtra: true,
      render: (row) => <span className="t2">{row.department && t.departments[row.department]}</span>,
    },
  ];
}

/** What rows can be grouped by. */
function groups(name: Names): Group<Control>[] {
  const { columns: words, fields } = t.controls;
  return [
    {
      key: 'owner',
      label: words.owner,
      sort: 'assignee',
      of: ({ assigneeId }) => ({ key: assigneeId ?? '', label: name(assigneeId) ?? t.record.noOwner }),
    },
    {
      key: 'department',
      label: fields.department ?? '',
      sort: 'department',
      of: ({ department }) => ({ key: department ?? '', label: department ? t.departments[department] : t.edits.none }),
    },
    {
      key: 'readiness',
      label: words.readiness,
      sort: 'readiness',
      of: ({ readiness: now }) => ({ key: now?.status ?? '', label: now ? readiness()[now.status].label : t.edits.none }),
    },
  ];
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
