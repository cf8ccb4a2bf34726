import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconFileTypePdf, IconPencil, IconPlus, IconTemplate } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { download } from '../api/download';
import { useList, useTotal } from '../api/lists';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { isFirst } from '../api/query';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { day, daysBetween, today } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import type { Group } from '../parts/list/Arrange';
import { ListPage } from '../parts/list/ListPage';
import type { Column } from '../parts/list/Table';
import { Person } from '../parts/Person';
import { SearchInput } from '../parts/SearchInput';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { filters as allFilters, changes, type PolicyView, signers, statusOf } from './fields';
import css from './List.module.css';
import { NewPolicy } from './NewPolicy';
import { queryOf, useToSign } from './queries';
import { Templates } from './Templates';

export function Policies() {
  const { view, change: go } = useView();
  const { can, memberId } = useMe();
  const navigate = useNavigate();
  const people = usePeople();
  const query = queryOf(view);
  const list = useList('/v1/policies', query);
  const toSign = useToSign();
  const isWaiting = isFirst(toSign);
  const all = useTotal('/v1/policies', {});
  const seesAll = can('policy:read');
  const waiting = useTotal('/v1/policies', { status: 'needs_review' }, seesAll);
  const drafts = useTotal('/v1/policies', { status: 'draft' }, seesAll);
  const late = useTotal('/v1/policies', { reviewDue: true }, seesAll);
  const mayCreate = can('policy:create');
  const seers = signers(people.active);
  const mine = { waits: new Set(toSign.data?.data.map(({ id }) => id)), memberId };
  const openNew = mayCreate ? () => void go({ new: 'yes' }) : undefined;

  return (
    <ListPage
      title={t.policies.title}
      facts={
        all === undefined
          ? []
          : [
              <b key="all">{t.policies.count(all)}</b>,
              ...(waiting ? [<span key="waiting">{t.policies.waiting(waiting)}</span>] : []),
              ...(drafts ? [<span key="drafts">{t.policies.drafts(drafts)}</span>] : []),
              ...(late ? [<span key="late">{t.policies.late(late)}</span>] : []),
            ]
      }
      actions={<Actions all={all} mayCreate={mayCreate} go={(next) => void go(next)} />}
      above={
        (toSign.data?.data.length || !seesAll) && (
          <>
            <Waiting rows={toSign.data?.data ?? []} />
            {!seesAll && Boolean(all) && <h2 className={css.heading}>{t.policies.allPublished}</h2>}
          </>
        )
      }
      list={list}
      all={all}
      filters={seesAll ? allFilters(people.active) : []}
      tools={seesAll && <SearchInput value={view.q} onChange={(q) => void go({ q }, { replace: true })} />}
      isHeld={isWaiting}
      columns={seesAll ? columns(people.name, seers) : ownColumns(mine)}
      name={(row) => row.name}
      hrefOf={(row) => `/policies/${row.id}`}
      onOpen={(row) => void navigate({ to: `/policies/${row.id}` as string })}
      onComment={
        seesAll && can('comment:create')
          ? ({ id }) => void navigate({ to: `/policies/${id}` as string, search: { tab: 'comments', to: 'comment' } as never })
          : undefined
      }
      sort={{ key: 'name', dir: 'asc' }}
      bulk={can('policy:update') ? { ...changes(), path: '/v1/policies', entity: 'policy', isTable: false } : undefined}
      query={query}
      groups={seesAll ? groups(people.name) : []}
      views="policies"
      phone={(row) => ({
        title: row.name,
        facts: (
          <>
            <StatusPill {...statusOf(row)} />
            <span className="num">{version(row)}</span>
            {seesAll && row.assigneeId && <Person name={people.name(row.assigneeId)} short />}
            {seesAll && row.reviewDate && row.reviewDate < today() && (
              <span className={css.late}>{t.time.late(daysBetween(row.reviewDate, today()))}</span>
            )}
            {seesAll ? <Signed row={row} must={seers.map(({ id }) => id)} /> : <OwnSignature row={row} {...mine} />}
          </>
        ),
      })}
      none={seesAll ? undefined : t.policies.nonePublished}
      empty={<Empty mayCreate={mayCreate} go={(next) => void go(next)} />}
      onNew={openNew}
    >
      {view.new && mayCreate && <NewPolicy onClose={() => void go({ new: undefined }, { replace: true })} />}
      {view.templates && seesAll && <Templates />}
    </ListPage>
  );
}

function Actions({
  all,
  mayCreate,
  go,
}: {
  all: number | undefined;
  mayCreate: boolean;
  go: (next: Record<string, string>) => void;
}) {
  const pdf = () => void download('/v1/policies/pdf').catch((problem) => toast(words(problem), { bad: true }));
  return (
    <>
      {Boolean(all) && (
        <>
          <Button variant="default" leftSection={<IconFileTypePdf size={16} stroke={1.6} />} onClick={pdf} visibleFrom="sm">
            {t.policies.allPdf}
          </Button>
          <Menu position="bottom-start">
            <Menu.Target>
              <ActionIcon hiddenFrom="sm" variant="default" size={44} aria-label={t.record.more}>
                <IconDots size={17} stroke={1.6} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconFileTypePdf size={15} stroke={1.6} />} onClick={pdf}>
                {t.policies.allPdf}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
      {mayCreate && (
        <Button
          variant="default"
          className={css.touch}
          leftSection={<IconTemplate size={16} stroke={1.6} />}
          onClick={() => go({ templates: 'yes' })}
        >
          {t.policies.fromTemplate}
        </Button>
      )}
      {mayCreate && (
        <Button data-primary className={css.touch} leftSection={<IconPlus size={16} />} onClick={() => go({ new: 'yes' })}>
          {t.policies.new}
        </Button>
      )}
    </>
  );
}

/** What the reader has to sign comes first, whoever they are. */
function Waiting({ rows }: { rows: PolicyView[] }) {
  if (rows.length === 0) return null;
  return (
    <section className={css.waiting} aria-labelledby="to-sign">
      <h2 id="to-sign">{t.policies.toSign}</h2>
      <p className="t3">{t.policies.toSignText(rows.length)}</p>
      <ul>
        {rows.map((row) => (
          <li key={row.id}>
            <Glyph shape="ring" tone="warn" />
            <Link to={`/policies/${row.id}` as string} className={css.waitingName}>
              {row.name}
            </Link>
            <span className="t3">
              {t.policies.versionOf(row.currentVersion ?? 1)}
              {row.lastPublishedAt && ` · ${t.policies.publishedOn(day(row.lastPublishedAt))}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** "56 of 60 signed" */
function Signed({ row, must }: { row: PolicyView; must: string[] }) {
  if (!row.isPublished) return null;
  if (!row.isRequiredToSign) return <span className="t3">{t.policies.notAsked}</span>;
  const signed = must.filter((id) => row.signedBy?.includes(id)).length;
  return (
    <span className={css.signed}>
      <meter className={css.meter} value={signed} max={Math.max(1, must.length)} aria-hidden="true" />
      <span className={signed < must.length ? undefined : 't3'}>{t.policies.signed(signed, must.length)}</span>
    </span>
  );
}

type Mine = { waits: Set<string>; memberId: string | undefined };

function OwnSignature({ row, waits, memberId }: { row: PolicyView } & Mine) {
  if (waits.has(row.id)) return <StatusPill label={t.policies.toBeSigned} tone="warn" shape="ring" />;
  if (memberId && row.signedBy?.includes(memberId)) return <StatusPill label={t.policies.signedByMe} tone="ok" shape="check" />;
  return <span className="t3">{t.policies.notAsked}</span>;
}

const version = (row: PolicyView) => (row.currentVersion ? t.policies.v(row.currentVersion) : '');
const review = (row: PolicyView) =>
  row.reviewDate && <span className={row.reviewDate < today() ? css.late : 't2'}>{day(row.reviewDate)}</span>;

function columns(name: (id: string | null) => string | undefined, must: { id: string }[]): Column<PolicyView>[] {
  const { columns } = t.policies;
  const ids = must.map(({ id }) => id);
  return [
    {
      key: 'reference',
      priority: 3,
      header: columns.reference,
      width: 70,
      sort: 'createdAt',
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'name', header: columns.name, opens: true, sort: 'name', render: (row) => row.name },
    {
      key: 'status',
      priority: 1,
      header: columns.status,
      width: 138,
      sort: 'status',
      render: (row) => <StatusPill {...statusOf(row)} />,
    },
    {
      key: 'version',
      priority: 5,
      header: columns.version,
      width: 76,
      sort: 'currentVersion',
      isHighFirst: true,
      render: (row) => <span className="num">{version(row)}</span>,
    },
    {
      key: 'owner',
      priority: 4,
      header: columns.owner,
      width: 140,
      sort: 'assignee',
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'signed',
      priority: 2,
      header: columns.signatures,
      width: 186,
      sort: 'signatures',
      render: (row) => <Signed row={row} must={ids} />,
    },
    { key: 'review', priority: 6, header: columns.review, width: 100, align: 'right', sort: 'reviewDate', render: review },
  ];
}

/** What rows can be grouped by. */
function groups(name: (id: string | null) => string | undefined): Group<PolicyView>[] {
  const { columns, fields } = t.policies;
  return [
    {
      key: 'owner',
      label: columns.owner,
      sort: 'assignee',
      of: ({ assigneeId }) => ({ key: assigneeId ?? '', label: name(assigneeId) ?? t.record.noOwner }),
    },
    { key: 'status', label: columns.status, sort: 'status', of: (row) => ({ key: row.status, label: statusOf(row).label }) },
    {
      key: 'department',
      label: fields.department,
      sort: 'department',
      of: ({ department }) => ({ key: department ?? '', label: department ? t.departments[department] : t.edits.none }),
    },
  ];
}

function ownColumns(mine: Mine): Column<PolicyView>[] {
  const { columns } = t.policies;
  return [
    { key: 'name', header: columns.name, opens: true, sort: 'name', render: (row) => row.name },
    {
      key: 'version',
      header: columns.version,
      width: 90,
      sort: 'currentVersion',
      isHighFirst: true,
      render: (row) => <span className="num">{version(row)}</span>,
    },
    {
      key: 'published',
      header: columns.published,
      width: 130,
      sort: 'lastPublishedAt',
      isHighFirst: true,
      render: (row) => row.lastPublishedAt && <span className="t2">{day(row.lastPublishedAt)}</span>,
    },
    {
      key: 'signed',
      header: columns.signature,
      width: 150,
      sort: 'signatures',
      render: (row) => <OwnSignature row={row} {...mine} />,
    },
  ];
}

function Empty({ mayCreate, go }: { mayCreate: boolean; go: (next: Record<string, string>) => void }) {
  const { empty } = t.policies;
  const ways = [
    { icon: <IconTemplate size={18} stroke={1.5} />, ...empty.template, onPick: () => go({ templates: 'yes' }) },
    { icon: <IconPencil size={18} stroke={1.5} />, ...empty.write, keys: 'N', onPick: () => go({ new: 'yes' }) },
  ];
  return (
    <EmptyState
      title={empty.title}
      lead={mayCreate ? empty.lead : t.policies.nonePublished}
      ways={mayCreate ? ways : []}
      specimen={
        mayCreate && (
          <ol className={css.specimen}>
            {empty.steps.map((step, place) => (
              <li key={step.title}>
                <b className="num">{place + 1}</b>
                <span>
                  <b>{step.title}</b>
                  <small>{step.text}</small>
                </span>
              </li>
            ))}
          </ol>
        )
      }
    />
  );
}
