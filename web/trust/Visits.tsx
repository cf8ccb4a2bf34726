import { SectionError } from '../parts/ErrorPage';
import { FilterBar } from '../parts/FilterBar';
import { moment, utc } from '../parts/format';
import { type Column, RegisterTable } from '../parts/RegisterTable';
import { useView } from '../parts/search';
import { t } from '../texts';
import { useList, type Visit } from './queries';
import css from './trust.module.css';

const what = ({ action, title }: Visit) => {
  const did = t.trust.visits.action[action];
  return title ? `${did}: ${title}` : did;
};

/** What people with access opened and downloaded, newest first. */
export function Visits() {
  const { view, change } = useView();
  const texts = t.trust.visits;
  const list = useList('/v1/trust-access/admin/visits', { grantId: view.grant });
  const grants = useList('/v1/trust-access/admin/grants').rows;
  const only = (grant: string | undefined) => void change({ grant });
  const columns: Column<Visit>[] = [
    { key: 'who', header: texts.who, width: 300, opens: true, render: (row) => `${row.name} · ${row.email}` },
    { key: 'did', header: texts.did, render: what },
    { key: 'ip', header: texts.ip, width: 140, render: (row) => <span className="mono">{row.ip}</span> },
    { key: 'at', header: texts.at, width: 140, render: (row) => <span title={utc(row.at)}>{moment(row.at)}</span> },
  ];
  if (list.error) return <SectionError error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isSuccess && list.rows.length === 0 && !view.grant) return <p className={css.none}>{texts.empty}</p>;
  const values = grants.map(({ id, name, email }) => ({ value: id, label: `${name} · ${email}` }));
  const name = view.grant && (values.find(({ value }) => value === view.grant)?.label ?? view.grant);
  return (
    <>
      <div className={css.filters}>
        <FilterBar
          filters={name ? [{ key: 'grant', field: texts.visitor, is: name }] : []}
          fields={[{ key: 'grant', label: texts.visitor, values }]}
          onAdd={(_, grant) => only(grant)}
          onRemove={() => only(undefined)}
          onClear={() => only(undefined)}
          count={list.total === undefined ? '' : String(list.total)}
        />
      </div>
      <RegisterTable
        caption={t.trust.tabs.visits}
        rows={list.rows}
        columns={columns}
        rowKey={(row) => row.id}
        rowName={(row) => row.name}
        href={(row) => `/trust-portal?tab=visits&grant=${row.grantId}`}
        onOpen={(row) => only(row.grantId)}
        phone={(row) => ({ title: what(row), facts: `${row.name} · ${moment(row.at)}` })}
        onMore={list.more}
        loading={list.isPending || list.isFetchingNextPage}
      />
      {list.isSuccess && list.rows.length === 0 && <p className={css.none}>{t.filters.nothing}</p>}
    </>
  );
}
