import { Menu, Select } from '@mantine/core';
import { $api, api } from '../api/client';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { Day } from '../parts/Day';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { FilterBar, type FilterField } from '../parts/FilterBar';
import { PageHeader } from '../parts/PageHeader';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import type { Search } from '../routes';
import { t } from '../texts';
import css from './audit.module.css';
import { useCheck } from './check';
import { ACTIONS, actionOf, actionWord, entityWord, FILTERS, queryOf, useEntries, useHead } from './entries';
import { Status, VerifyButton } from './Status';
import { Table } from './Table';

/** The journal of the organization, and whether it is still as it was written. */
export function AuditLog() {
  const { can } = useMe();
  return can('audit-log:read') ? <Log /> : <MissingPage />;
}

function Log() {
  const { view, change } = useView();
  const list = useEntries(view);
  const head = useHead();
  const check = useCheck();
  const end = head.data?.sequence;

  return (
    <>
      <PageHeader
        title={t.nav.audit}
        facts={end === undefined ? [] : [<b key="all">{t.audit.entries(end)}</b>, <span key="order">{t.audit.newestFirst}</span>]}
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
      />
      <Status check={check} end={end} onShow={(at) => void change({ ...none(), from: at, to: justAfter(at), open: undefined })} />
      <Filters view={view} onChange={(next) => void change({ ...next, open: undefined })} total={list.total} end={end} />
      {list.error && <SectionError error={list.error} onRetry={() => void list.refetch()} />}
      <Table
        entries={list.entries}
        verdict={check.verdict}
        loading={list.isPending || list.isFetchingNextPage}
        onMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
      />
      {list.isFetchingNextPage && <p className={css.more}>{t.table.loading}</p>}
      {!list.isPending && !list.error && list.entries.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
    </>
  );
}

const none = (): Search => Object.fromEntries(FILTERS.map((key) => [key, undefined]));
const justAfter = (at: string) => new Date(new Date(at).getTime() + 1).toISOString();

type FiltersProps = { view: Search; onChange: (next: Search) => void; total?: number; end?: number };

function Filters({ view, onChange, total, end }: FiltersProps) {
  const actors = useActors();
  const labels = t.audit.filters;
  const types = Object.keys(ACTIONS).map((value) => ({ value, label: entityWord(value) }));
  const verbs = ACTIONS[view.entityType ?? ''] ?? [];
  const fields: FilterField[] = [
    { key: 'entityType', label: labels.entityType, values: types },
    ...(verbs.length > 0 && view.entityType
      ? [{ key: 'action', label: labels.action, values: verbs.map((verb) => choice(view.entityType ?? '', verb)) }]
      : []),
  ];
  const shown: [string, (value: string) => string][] = [
    ['entityType', entityWord],
    ['entityId', (value) => value],
    ['action', actionWord],
    ['actor', (value) => actors.name(value) ?? value],
  ];
  return (
    <FilterBar
      filters={shown.flatMap(([key, read]) => {
        const value = view[key];
        return value ? [{ key, field: labels[key as keyof typeof labels], is: read(value) }] : [];
      })}
      fields={fields}
      // Actions belong to a kind of record: another kind has others.
      onAdd={(key, value) =>
        onChange(key === 'entityType' ? { action: undefined, entityId: undefined, [key]: value } : { [key]: value })
      }
      onRemove={(key) =>
        onChange(key === 'entityType' ? { entityType: undefined, entityId: undefined, action: undefined } : { [key]: undefined })
      }
      onClear={() => onChange(none())}
      count={total === undefined || end === undefined ? '' : t.filters.count(total, Math.max(total, end))}
      view={
        <>
          <Select
            size="xs"
            w={170}
            searchable
            clearable
            aria-label={labels.actor}
            placeholder={t.audit.anybody}
            data={actors.groups}
            value={view.actor ?? null}
            onChange={(actor) => onChange({ actor: actor ?? undefined })}
          />
          <Day label={labels.from} value={view.from} onChange={(from) => onChange({ from })} />
          <Day label={labels.to} value={view.to} onChange={(to) => onChange({ to })} />
        </>
      }
    />
  );
}

const choice = (entityType: string, verb: string) => ({
  value: actionOf(entityType, verb),
  label: actionWord(actionOf(entityType, verb)),
});

/** Everybody and every key that may have acted. */
function useActors() {
  const people = usePeople();
  const { can } = useMe();
  const keys = $api.useQuery(
    'get',
    '/v1/organization/api-keys',
    { params: { query: { limit: 1000 } } },
    { enabled: can('api-key:read') },
  );
  const all = keys.data?.data ?? [];
  return {
    name: (id: string) => people.name(id) ?? all.find((key) => key.id === id)?.name,
    groups: [
      { group: t.audit.people, items: people.all.map(({ id, user }) => ({ value: id, label: user.name })) },
      { group: t.audit.keys, items: all.map(({ id, name }) => ({ value: id, label: name })) },
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
