import { IconUsers } from '@tabler/icons-react';
import { useList, useTotal } from '../api/lists';
import { EmptyState } from '../parts/EmptyState';
import { moment, utc } from '../parts/format';
import { ListPage } from '../parts/list/ListPage';
import type { Column } from '../parts/list/Table';
import { useView } from '../parts/search';
import { t } from '../texts';
import type { Visit } from './queries';

const what = ({ action, title }: Visit) => {
  const did = t.trust.visits.action[action];
  return title ? `${did}: ${title}` : did;
};

/** What people with access opened and downloaded, newest first. */
export function Visits() {
  const { view, change } = useView();
  const texts = t.trust.visits;
  const path = '/v1/trust-access/admin/visits';
  const list = useList(path, view.grant ? { grantId: view.grant } : {});
  const all = useTotal(path, {});
  const grants = useList('/v1/trust-access/admin/grants', {}).rows;
  const columns: Column<Visit>[] = [
    { key: 'who', header: texts.who, opens: true, render: (row) => `${row.name} · ${row.email}` },
    { key: 'did', priority: 1, header: texts.did, width: 320, render: what },
    { key: 'ip', priority: 3, header: texts.ip, width: 140, render: (row) => <span className="mono">{row.ip}</span> },
    { key: 'at', priority: 2, header: texts.at, width: 140, render: (row) => <span title={utc(row.at)}>{moment(row.at)}</span> },
  ];
  const values = grants.map(({ id, name, email }) => ({ value: id, label: `${name} · ${email}` }));
  return (
    <ListPage
      isPart
      title={t.trust.tabs.visits}
      list={list}
      all={all}
      filters={[{ key: 'grant', label: texts.visitor, values }]}
      columns={columns}
      name={(row) => row.name}
      hrefOf={(row) => `/trust-portal?tab=visits&grant=${row.grantId}`}
      onOpen={(row) => void change({ grant: row.grantId })}
      phone={(row) => ({ title: what(row), facts: `${row.name} · ${moment(row.at)}` })}
      empty={
        <EmptyState
          title={texts.empty.title}
          lead={texts.empty.lead}
          ways={[
            {
              icon: <IconUsers size={18} stroke={1.6} />,
              label: texts.empty.way,
              hint: texts.empty.hint,
              onPick: () => void change({ tab: 'grants' }),
            },
          ]}
        />
      }
    />
  );
}
