import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { loaded } from '../api/lists';
import { useMe } from '../api/session';
import { MissingPage } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { day, moment } from '../parts/format';
import { ListPage } from '../parts/list/ListPage';
import type { Column, PhoneLine } from '../parts/list/Table';
import { Avatar } from '../parts/Person';
import { roleWords } from '../parts/roles';
import { SearchInput } from '../parts/SearchInput';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import type { Search } from '../routes';
import { t } from '../texts';
import { type Access, FINDINGS, FIRST_ORDER, filters, isDormant, matches, PATH, shownOf, useAccess, waysOf } from './access';
import { Member } from './Member';
import css from './people.module.css';

/** Who can get into the organization, and how. */
export function AccessReview() {
  const { can } = useMe();
  return can('identity:read') ? <Review /> : <MissingPage />;
}

function Review() {
  const { view, change } = useView();
  const { memberId } = useMe();
  const access = useAccess();
  const { data } = access;
  const shown = useMemo(() => data && shownOf(data, view), [data, view]);
  const head = useMemo(() => columns(memberId), [memberId]);
  const show = (finding: Search) => void change({ ...NO_FINDING, ...finding, open: undefined });
  return (
    <ListPage
      title={t.nav.accessReview}
      crumb={<Link to="/people">{t.nav.people}</Link>}
      facts={data ? [<b key="all">{t.people.review.people(data.length)}</b>, ...findings(data, show)] : []}
      actions={<ExportMenu path={`${PATH}/export`} />}
      list={loaded({ ...access, data: shown })}
      all={data?.length}
      filters={filters(data ?? [])}
      tools={<SearchInput value={view.q} onChange={(q) => void change({ q }, { replace: true })} width={180} />}
      columns={head}
      name={nameOf}
      sort={FIRST_ORDER}
      groups={[
        {
          key: 'role',
          label: t.people.columns.role,
          sort: 'role',
          of: ({ role }) => ({ key: role, label: roleWords(role) }),
        },
      ]}
      phone={phone}
      drawer={({ id, ...drawer }) => <Member key={id} id={id} {...drawer} />}
    />
  );
}

/** The filters of all findings, cleared. */
const NO_FINDING: Search = Object.fromEntries(
  Object.values(FINDINGS).flatMap((finding) => Object.keys(finding).map((key) => [key, undefined])),
);

/** The number of people of each finding, as buttons that show them. */
const findings = (rows: Access[], onShow: (finding: Search) => void) =>
  Object.entries(FINDINGS).flatMap(([key, finding]) => {
    const count = rows.filter((row) => matches(row, finding)).length;
    return count === 0
      ? []
      : [
          <button key={key} type="button" className={`plain link ${css.finding}`} onClick={() => onShow(finding)}>
            {t.people.review.findings[key as keyof typeof FINDINGS](count)}
          </button>,
        ];
  });

const nameOf = ({ name, email }: Access) => name || email;

function columns(me: string | undefined): Column<Access>[] {
  const { columns: header, fields, review } = t.people;
  return [
    {
      key: 'person',
      header: review.columns.person,
      sort: 'name',
      opens: true,
      render: (row) => (
        <span className={css.name}>
          <Avatar name={nameOf(row)} size={24} />
          <span className={css.who}>
            <span className={css.name}>
              <span className="clip">{nameOf(row)}</span>
              {row.id === me && <span className="t3">({t.people.you})</span>}
              <Marks row={row} />
            </span>
            <small className="clip">{row.email}</small>
          </span>
        </span>
      ),
    },
    { key: 'role', priority: 4, header: header.role, width: 104, sort: 'role', render: ({ role }) => roleWords(role) },
    {
      key: 'methods',
      priority: 2,
      header: review.columns.methods,
      width: 172,
      sort: 'methods',
      render: (row) => <Ways row={row} />,
    },
    {
      key: 'hasSecondFactor',
      priority: 1,
      header: fields.hasSecondFactor,
      width: 112,
      sort: 'hasSecondFactor',
      render: ({ hasSecondFactor }) => {
        const label = t.people.factor[hasSecondFactor ? 'true' : 'false'];
        return hasSecondFactor ? (
          <StatusPill label={label} tone="ok" shape="check" />
        ) : (
          <StatusPill label={label} tone="warn" shape="alert" />
        );
      },
    },
    {
      key: 'apiKeys',
      priority: 5,
      header: review.columns.apiKeys,
      width: 108,
      align: 'right',
      sort: 'apiKeys',
      isHighFirst: true,
      render: ({ apiKeys }) => apiKeys || <span className="t3">–</span>,
      dropped: ({ apiKeys }) => apiKeys > 0 && <span className={css.badge}>{review.keys(apiKeys)}</span>,
    },
    {
      key: 'lastLogin',
      priority: 3,
      header: header.lastLogin,
      width: 112,
      sort: 'lastLogin',
      render: (row) => <LastLogin row={row} />,
    },
  ];
}

const phone = (row: Access): PhoneLine => ({
  mark: <Avatar name={nameOf(row)} size={32} />,
  title: nameOf(row),
  facts: (
    <>
      <span className="clip">
        {roleWords(row.role)} · {row.email}
      </span>
      <Ways row={row} />
      {!row.hasSecondFactor && <StatusPill label={t.people.noFactor} tone="warn" shape="alert" />}
      <span>
        {t.people.columns.lastLogin} <LastLogin row={row} />
      </span>
      {row.apiKeys > 0 && <span>{t.people.review.keys(row.apiKeys)}</span>}
      <Marks row={row} />
    </>
  ),
});

function Ways({ row }: { row: Access }) {
  const ways = waysOf(row);
  return ways ? <span title={ways}>{ways}</span> : <span className="t3">{t.people.review.noMethod}</span>;
}

/** The last sign-in, in amber if there was none for a long time. */
function LastLogin({ row }: { row: Access }) {
  const { lastLogin } = row;
  const label = lastLogin ? day(new Date(lastLogin)) : t.people.never;
  if (isDormant(row)) return <StatusPill label={label} tone="warn" shape="alert" />;
  return (
    <span className="t2" title={lastLogin ? moment(lastLogin) : undefined}>
      {label}
    </span>
  );
}

const Marks = ({ row: { isExempt, isManaged } }: { row: Access }) => (
  <>
    {isExempt && <span className={css.badge}>{t.people.isExempt}</span>}
    {isManaged && (
      <span className={css.badge} title={t.people.review.marks.managed}>
        {t.record.directory}
      </span>
    )}
  </>
);
