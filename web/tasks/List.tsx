import { ActionIcon, Button, Menu, SegmentedControl } from '@mantine/core';
import { IconDots, IconDownload, IconPlus, IconTableImport, IconTemplate } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { loaded } from '../api/lists';
import { usePeople } from '../api/people';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { save, TABLES } from '../parts/ExportMenu';
import { ListPage } from '../parts/list/ListPage';
import { Import } from '../parts/register/Import';
import { NewRecord } from '../parts/register/NewRecord';
import { SearchInput } from '../parts/SearchInput';
import { Specimen } from '../parts/Specimen';
import { addressOf, pastOf, useView } from '../parts/search';
import { PastButton } from '../parts/ViewTools';
import { t } from '../texts';
import { Board } from './Board';
import { filters, formed, isLate, statuses } from './fields';
import { queryOf, useTasks } from './queries';
import { useNames, useRights } from './rights';
import { columns, groups, phone } from './Table';
import { Templates } from './Templates';

/** What has to be done, as a board or as a list. */
export function Tasks() {
  const { view, change } = useView();
  const { can } = useMe();
  const people = usePeople();
  const navigate = useNavigate();
  const isList = view.view === 'list';
  // The order of the table has nothing to say on a board.
  const list = useTasks(isList ? view : { ...view, sort: undefined, order: undefined });
  const { asOf } = view;
  const all = useTasks(pastOf(view));
  const mayCreate = can('task:create') && !asOf;
  const rights = useRights();
  const name = useNames();
  const shown = useMemo(() => columns(name, rights.mayMove), [name, rights.mayMove]);
  const late = all.data?.filter((task) => isLate(task, asOf)).length ?? 0;
  const stale = all.data?.filter((task) => task.evidenceStatus === 'stale').length ?? 0;
  const open = (what: 'new' | 'templates' | 'import') => () => void change({ [what]: 'yes' });
  const close = (what: 'new' | 'templates' | 'import') => () => void change({ [what]: undefined }, { replace: true });

  return (
    <ListPage
      title={t.tasks.title}
      facts={
        all.data
          ? [
              <b key="all">{t.tasks.count(all.data.length)}</b>,
              ...(late ? [<span key="late">{t.tasks.overdue(late)}</span>] : []),
              ...(stale ? [<span key="stale">{t.tasks.stale(stale)}</span>] : []),
            ]
          : []
      }
      actions={<Actions query={queryOf(view)} mayCreate={mayCreate} open={open} />}
      list={loaded(list)}
      all={all.data?.length}
      filters={filters(people)}
      tools={
        <>
          <SegmentedControl
            aria-label={t.tasks.view}
            value={isList ? 'list' : 'board'}
            onChange={(next) => void change({ view: next === 'list' ? 'list' : undefined })}
            data={[
              { value: 'board', label: t.tasks.board },
              { value: 'list', label: t.tasks.list },
            ]}
          />
          <SearchInput value={view.q} onChange={(q) => void change({ q }, { replace: true })} />
          {can('task:read') && <PastButton view={view} go={change} />}
        </>
      }
      columns={shown}
      name={(row) => row.reference}
      hrefOf={(row) => addressOf(`/tasks/${row.id}`, pastOf(view))}
      onComment={
        can('comment:create') && !asOf
          ? ({ id }) => void navigate({ to: '/tasks/$id', params: { id }, search: { to: 'comment' } })
          : undefined
      }
      onOpen={(row) => void navigate({ to: '/tasks/$id', params: { id: row.id }, search: pastOf(view) })}
      sort={{ key: 'board', dir: 'asc' }}
      bulk={rights.mayChange ? { ...formed(), path: '/v1/tasks', entity: 'task', statuses: statuses() } : undefined}
      query={queryOf(view)}
      groups={groups(name)}
      views="tasks"
      phone={phone(name)}
      body={isList ? undefined : <Board tasks={list.data} only={view.status} />}
      empty={<Empty mayCreate={mayCreate} open={open} />}
      onNew={mayCreate ? open('new') : undefined}
    >
      {view.new && mayCreate && (
        <NewRecord
          d={formed()}
          onClose={close('new')}
          onCreated={({ id }) => void navigate({ to: '/tasks/$id', params: { id } })}
        />
      )}
      {view.templates && mayCreate && <Templates tasks={all.data ?? []} onClose={close('templates')} />}
      {view.import && mayCreate && <Import d={formed()} onClose={close('import')} />}
    </ListPage>
  );
}

type Open = (what: 'new' | 'templates' | 'import') => () => void;

/** Side by side where there is room, in one menu where there is not. */
function Actions({ query, mayCreate, open }: { query: Record<string, string>; mayCreate: boolean; open: Open }) {
  const { can } = useMe();
  const exports =
    can('task:read') &&
    Object.entries(TABLES).map(([format, name]) => (
      <Menu.Item
        key={format}
        leftSection={<IconDownload size={15} stroke={1.6} />}
        onClick={() => void save('/v1/tasks/export', { ...query, format })}
      >
        {name}
      </Menu.Item>
    ));
  if (!exports && !mayCreate) return null;
  return (
    <>
      {exports && (
        <Menu>
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={16} stroke={1.6} />} visibleFrom="md">
              {t.actions.export}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>{exports}</Menu.Dropdown>
        </Menu>
      )}
      {mayCreate && (
        <>
          <Button
            variant="default"
            leftSection={<IconTableImport size={16} stroke={1.6} />}
            onClick={open('import')}
            visibleFrom="md"
          >
            {t.actions.import}
          </Button>
          <Button
            variant="default"
            leftSection={<IconTemplate size={16} stroke={1.6} />}
            onClick={open('templates')}
            visibleFrom="md"
          >
            {t.tasks.templates.open}
          </Button>
          <Button data-primary leftSection={<IconPlus size={16} />} onClick={open('new')}>
            {t.tasks.new}
          </Button>
        </>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={t.actions.more} size={32} variant="default" hiddenFrom="md">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {mayCreate && (
            <>
              <Menu.Item leftSection={<IconTemplate size={15} stroke={1.6} />} onClick={open('templates')}>
                {t.tasks.templates.open}
              </Menu.Item>
              <Menu.Item leftSection={<IconTableImport size={15} stroke={1.6} />} onClick={open('import')}>
                {t.actions.import}
              </Menu.Item>
            </>
          )}
          {exports}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

function Empty({ mayCreate, open }: { mayCreate: boolean; open: Open }) {
  const { can } = useMe();
  const { empty, emptyMine } = t.tasks;
  if (!can('task:read')) return <EmptyState title={emptyMine.title} lead={emptyMine.lead} ways={[]} />;
  const ways = [
    {
      icon: <IconTemplate size={18} stroke={1.6} />,
      label: empty.templates,
      hint: empty.templatesHint,
      onPick: open('templates'),
    },
    { icon: <IconPlus size={18} stroke={1.6} />, label: t.tasks.new, hint: empty.newHint, keys: 'N', onPick: open('new') },
    {
      icon: <IconTableImport size={18} stroke={1.6} />,
      label: t.actions.import,
      hint: empty.importHint,
      onPick: open('import'),
    },
  ];
  return (
    <EmptyState
      title={empty.title}
      lead={empty.lead}
      ways={mayCreate ? ways : []}
      specimen={<Specimen caption={empty.specimen} title={empty.specimenTitle} text={empty.specimenText} points={empty.points} />}
    />
  );
}
