import { Menu, Select } from '@mantine/core';
import { useMemo } from 'react';
import { $api, api } from '../api/client';
import { useList } from '../api/lists';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { Day } from '../parts/Day';
import { MissingPage } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { type FilterField, valuesOf } from '../parts/FilterBar';
import { ListPage } from '../parts/list/ListPage';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import type { Search } from '../routes';
import { t } from '../texts';
import { useCheck } from './check';
import { columns, isBad, phone, Unfolded } from './columns';
import { ACTIONS, actionOf, actionsOf, actionWord, entityWord, FILTERS, queryOf, useHead } from './entries';
import { Status, VerifyButton } from './Status';

/** The journal of the organization, and whether it is still as it was written. */
export function AuditLog() {
  const { can } = useMe();
  return can('audit-log:read') ? <Log /> : <MissingPage />;
}

function Log() {
  const { view, change } = useView();
  const order = view.order === 'asc' ? 'asc' : 'desc';
  const list = useList('/v1/audit-logs', { ...queryOf(view), order }, { page: 100 });
  const head = useHead();
  const check = useCheck();
  const people = usePeople();
  const end = head.data?.sequence;
  const { verdict } = check;
  const filters = useFilters(view);
  const set = (next: Search) => void change({ ...next, open: undefined });
  const shown = useMemo(() => columns(verdict, people.name, view.open), [verdict, people.name, view.open]);

  return (
    <ListPage
      title={t.nav.audit}
      facts={
        end === undefined
          ? []
          : [
              <b key="all">{t.audit.entries(end)}</b>,
              <span key="order">{order === 'asc' ? t.audit.oldestFirst : t.audit.newestFirst}</span>,
            ]
      }
      actions={
        <>
          <ExportMenu path="/v1/audit-logs/export" query={queryOf(view)} width={240}>
            <Menu.Item onClick={() => void saveHead().catch((problem) => toast(words(problem), { bad: true }))}>
              {t.audit.head}
            </Menu.Item>
          </ExportMenu>
          <VerifyButton check={check} />
        </>
      }
      above={<Status check={check} end={end} onShow={(at) => set({ ...none(), from: at, to: justAfter(at) })} />}
      list={list}
      all={end}
      filters={filters.fields}
      chips={filters.chips}
      // Actions belong to kinds of records: those of a kind that is no longer shown go with it.
      onFilter={(key, value) =>
        key === 'entityType' ? { action: actionsOf(value, view.action), entityId: undefined, [key]: value } : { [key]: value }
      }
      tools={
        <>
          <Select
            size="xs"
            w={170}
            searchable
            clearable
            aria-label={t.audit.filters.actor}
            placeholder={t.audit.anybody}
            data={filters.actors}
            value={view.actor ?? null}
            onChange={(actor) => set({ actor: actor ?? undefined })}
          />
          <Day label={t.audit.filters.from} value={view.from} onChange={(from) => set({ from })} />
          <Day label={t.audit.filters.to} value={view.to} onChange={(to) => set({ to })} />
        </>
      }
      views="audit-log"
      sort={{ key: 'sequence', dir: 'desc' }}
      columns={shown}
      name={(entry) => String(entry.sequence)}
      phone={phone}
      unfolded={(entry) => <Unfolded entry={entry} verdict={verdict} />}
      isBad={(entry) => isBad(entry, verdict)}
    />
  );
}

const none = (): Search => Object.fromEntries(FILTERS.map((key) => [key, undefined]));
const justAfter = (at: string) => new Date(new Date(at).getTime() + 1).toISOString();

/** The filters of the log that read by themselves, and those that come with a link. */
function useFilters(view: Search) {
  const actors = useActors();
  const labels = t.audit.filters;
  const types = Object.keys(ACTIONS).map((value) => ({ value, label: entityWord(value) }));
  const fields: FilterField[] = [
    { key: 'entityType', isMany: true, label: labels.entityType, values: types },
    { key: 'action', isMany: true, label: labels.action, values: choicesOf(valuesOf(view.entityType)) },
  ];
  const chips = (['entityId', 'actor'] as const).flatMap((key) => {
    const value = view[key];
    const is = value && key === 'actor' ? (actors.name(value) ?? value) : value;
    return is ? [{ key, field: labels[key], is, clears: { [key]: undefined } }] : [];
  });
  return { fields, chips, actors: actors.groups };
}

/** The actions of some kinds of records; of several kinds, each with its kind. */
const choicesOf = (types: string[]) =>
  types.flatMap((type) =>
    (ACTIONS[type] ?? []).map((verb) => {
      const value = actionOf(type, verb);
      return { value, label: types.length > 1 ? `${entityWord(type)}: ${actionWord(value)}` : actionWord(value) };
    }),
  );

/** The people, keys and tokens of the directory that may have acted. */
function useActors() {
  const people = usePeople();
  const { can } = useMe();
  const keys = $api.useQuery(
    'get',
    '/v1/organization/api-keys',
    { params: { query: { limit: 1000 } } },
    { enabled: can('api-key:read') },
  );
  const directory = $api.useQuery('get', '/v1/organization/directory/tokens', {}, { enabled: can('identity:read') });
  const all = keys.data?.data ?? [];
  const tokens = directory.data?.data ?? [];
  return {
    name: (id: string) => people.name(id) ?? [...all, ...tokens].find((one) => one.id === id)?.name,
    groups: [
      { group: t.audit.people, items: people.all.map(({ id, user }) => ({ value: id, label: user.name })) },
      { group: t.audit.keys, items: all.map(({ id, name }) => ({ value: id, label: name })) },
      { group: t.record.directory, items: tokens.map(({ id, name }) => ({ value: id, label: name })) },
    ].filter(({ items }) => items.length > 0),
  };
}

/** The signed end as a file, to be kept elsewhere: `attestry audit verify --head` reads it. */
async function saveHead() {
  const { data } = await api.GET('/v1/audit-logs/head');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' }));
  link.download = `audit-log-head-${data?.sequence}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
