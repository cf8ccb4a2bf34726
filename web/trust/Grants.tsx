import { Button } from '@mantine/core';
import { api } from '../api/client';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { SectionError } from '../parts/ErrorPage';
import { FilterBar } from '../parts/FilterBar';
import { day } from '../parts/format';
import { type Column, RegisterTable } from '../parts/RegisterTable';
import { type Status, StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { useAsk } from './Ask';
import { ACCESS, type Grant, useList } from './queries';
import css from './trust.module.css';

const look = {
  active: { tone: 'ok', shape: 'check' },
  expired: { tone: 'mute', shape: 'clock' },
  revoked: { tone: 'mute', shape: 'cross' },
} as const;
const statusOf = (status: Grant['status']): Status => ({ ...look[status], label: t.trust.grants.status[status] });

/** Who has or had access; opening one shows what was read. */
export function Grants() {
  const { view, change } = useView();
  const { can } = useMe();
  const { ask, dialog } = useAsk();
  const texts = t.trust.grants;
  const list = useList('/v1/trust-access/admin/grants', { status: view.status });
  const open = (row: Grant) => void change({ tab: 'visits', grant: row.id, status: undefined });

  const revoke = (row: Grant) =>
    ask({
      title: texts.revokeTitle(row.name),
      text: texts.revokeText,
      label: texts.reason,
      field: 'reason',
      verb: texts.revokeVerb,
      isFinal: true,
      act: async (reason) => {
        await api.POST('/v1/trust-access/admin/grants/{id}/revoke', { params: { path: { id: row.id } }, body: { reason } });
        toast(texts.revoked(row.name));
        await refetch(ACCESS);
      },
    });
  const act = (row: Grant) =>
    row.status === 'active' && can('trust-access:review') && <Revoke row={row} onPick={() => revoke(row)} />;
  const columns: Column<Grant>[] = [
    { key: 'who', header: texts.who, opens: true, render: (row) => `${row.name} · ${row.email}` },
    { key: 'status', header: t.trust.requests.state, width: 110, render: (row) => <StatusPill {...statusOf(row.status)} /> },
    { key: 'since', header: texts.since, width: 110, render: (row) => day(row.createdAt.slice(0, 10)) },
    { key: 'until', header: texts.until, width: 110, render: (row) => day((row.revokedAt ?? row.expiresAt).slice(0, 10)) },
    {
      key: 'reason',
      header: texts.reason,
      width: 200,
      render: (row) => row.revocationReason && <span title={row.revocationReason}>{row.revocationReason}</span>,
    },
    {
      key: 'act',
      header: texts.act,
      width: 100,
      align: 'right',
      render: act,
    },
  ];
  if (list.error) return <SectionError error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isSuccess && list.rows.length === 0 && !view.status) return <p className={css.none}>{texts.empty}</p>;
  const values = Object.entries(texts.status).map(([value, label]) => ({ value, label }));
  const is = values.find(({ value }) => value === view.status);
  const field = { key: 'status', label: t.trust.requests.state, values };
  return (
    <>
      <div className={css.filters}>
        <FilterBar
          filters={is ? [{ key: 'status', field: field.label, is: is.label }] : []}
          fields={[field]}
          onAdd={(_, status) => void change({ status })}
          onRemove={() => void change({ status: undefined })}
          onClear={() => void change({ status: undefined })}
          count={list.total === undefined ? '' : String(list.total)}
        />
      </div>
      <RegisterTable
        caption={t.trust.tabs.grants}
        rows={list.rows}
        columns={columns}
        rowKey={(row) => row.id}
        rowName={(row) => row.name}
        href={(row) => `/trust-portal?tab=visits&grant=${row.id}`}
        onOpen={open}
        phone={(row) => ({
          title: row.name,
          facts: (
            <>
              <span className="clip">{row.email}</span>
              <StatusPill {...statusOf(row.status)} />
              {texts.until} {day((row.revokedAt ?? row.expiresAt).slice(0, 10))}
            </>
          ),
          act: act(row),
        })}
        onMore={list.more}
        loading={list.isPending || list.isFetchingNextPage}
      />
      {list.isSuccess && list.rows.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
      {dialog}
    </>
  );
}

function Revoke({ row, onPick }: { row: Grant; onPick: () => void }) {
  return (
    <Button size="xs" variant="subtle" aria-label={t.trust.grants.revokeName(row.name)} onClick={onPick}>
      {t.trust.grants.revoke}
    </Button>
  );
}
