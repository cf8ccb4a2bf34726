import { Button } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import { api } from '../api/client';
import { useList, useTotal } from '../api/lists';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { day } from '../parts/format';
import { ListPage } from '../parts/list/ListPage';
import type { Column } from '../parts/list/Table';
import { type Status, StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { useAsk } from './Ask';
import { ACCESS, type Grant, none, queryOf } from './queries';
import { choices } from './Requests';

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
  const list = useList('/v1/trust-access/admin/grants', queryOf(view));
  const all = useTotal('/v1/trust-access/admin/grants', {});
  const open = (row: Grant) => void change({ ...none(view), tab: 'visits', grant: row.id });

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
    { key: 'who', header: texts.who, opens: true, sort: 'name', render: (row) => `${row.name} · ${row.email}` },
    {
      key: 'status',
      priority: 2,
      header: t.trust.requests.state,
      width: 110,
      sort: 'status',
      render: (row) => <StatusPill {...statusOf(row.status)} />,
    },
    {
      key: 'since',
      priority: 4,
      header: texts.since,
      width: 110,
      sort: 'createdAt',
      isHighFirst: true,
      render: (row) => day(row.createdAt.slice(0, 10)),
    },
    {
      key: 'until',
      priority: 3,
      header: texts.until,
      width: 110,
      sort: 'endsAt',
      render: (row) => day((row.revokedAt ?? row.expiresAt).slice(0, 10)),
    },
    {
      key: 'reason',
      priority: 5,
      header: texts.reason,
      width: 200,
      sort: 'revocationReason',
      render: (row) => row.revocationReason && <span title={row.revocationReason}>{row.revocationReason}</span>,
    },
    {
      key: 'act',
      priority: 1,
      header: texts.act,
      width: 100,
      align: 'right',
      render: act,
    },
  ];
  return (
    <ListPage
      isPart
      title={t.trust.tabs.grants}
      list={list}
      all={all}
      filters={[{ key: 'status', isMany: true, label: t.trust.requests.state, values: choices(texts.status) }]}
      groups={[
        {
          key: 'status',
          label: t.trust.requests.state,
          sort: 'status',
          of: ({ status }) => ({ key: status, label: texts.status[status] }),
        },
      ]}
      views="access-grants"
      sort={{ key: 'createdAt', dir: 'desc' }}
      columns={columns}
      name={(row) => row.name}
      hrefOf={(row) => `/trust-portal?tab=visits&grant=${row.id}`}
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
      empty={
        <EmptyState
          title={texts.empty.title}
          lead={texts.empty.lead}
          ways={[
            {
              icon: <IconInbox size={18} stroke={1.6} />,
              label: texts.empty.way,
              hint: texts.empty.hint,
              onPick: () => void change({ tab: 'requests' }),
            },
          ]}
        />
      }
    >
      {dialog}
    </ListPage>
  );
}

function Revoke({ row, onPick }: { row: Grant; onPick: () => void }) {
  return (
    <Button size="xs" variant="subtle" aria-label={t.trust.grants.revokeName(row.name)} onClick={onPick}>
      {t.trust.grants.revoke}
    </Button>
  );
}
