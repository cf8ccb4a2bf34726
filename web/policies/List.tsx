import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconFileTypePdf, IconPencil, IconPlus, IconTemplate } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { download } from '../api/download';
import { usePeople } from '../api/people';
import { words } from '../api/problem';
import { isFirst } from '../api/query';
import { useMe } from '../api/session';
import { EmptyState } from '../parts/EmptyState';
import { SectionError } from '../parts/ErrorPage';
import { FilterBar } from '../parts/FilterBar';
import { day, today } from '../parts/format';
import { Glyph } from '../parts/glyphs';
import { PageHeader } from '../parts/PageHeader';
import { Person } from '../parts/Person';
import { type Column, RegisterTable } from '../parts/RegisterTable';
import { SearchInput } from '../parts/SearchInput';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { useShortcuts } from '../parts/shortcuts';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { filters as allFilters, type PolicyView, signers, statusOf } from './fields';
import css from './List.module.css';
import { NewPolicy } from './NewPolicy';
import { usePolicies, useToSign, useTotal } from './queries';
import { Templates } from './Templates';

export function Policies() {
  const { view, change: go } = useView();
  const { can, memberId } = useMe();
  const navigate = useNavigate();
  const people = usePeople();
  const list = usePolicies(view);
  const toSign = useToSign();
  const isWaiting = isFirst(toSign);
  const all = useTotal({});
  const seesAll = can('policy:read');
  const waiting = useTotal({ status: 'needs_review' }, seesAll);
  const drafts = useTotal({ status: 'draft' }, seesAll);
  const late = useTotal({ reviewDue: true }, seesAll);
  const mayCreate = can('policy:create');
  useShortcuts({ n: mayCreate ? () => void go({ new: 'yes' }) : undefined });

  const fields = allFilters(people.active).filter(({ values }) => values.length > 0);
  const filters = fields.flatMap(({ key, label, values }) => {
    const now = view[key];
    return now === undefined ? [] : [{ key, field: label, is: values.find(({ value }) => value === now)?.label ?? now }];
  });
  const isEmpty = all === 0 && filters.length === 0 && view.q === undefined;
  const open = (row: PolicyView) => void navigate({ to: `/policies/${row.id}` as string });
  const mine = { waits: new Set(toSign.data?.data.map(({ id }) => id)), memberId };

  return (
    <>
      <PageHeader
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
      />
      <Waiting rows={toSign.data?.data ?? []} />
      {!isEmpty && seesAll && !isWaiting && (
        <div className={css.filters}>
          <FilterBar
            filters={filters}
            fields={fields}
            onAdd={(key, value) => void go({ [key]: value })}
            onRemove={(key) => void go({ [key]: undefined })}
            onClear={() => void go(Object.fromEntries(filters.map(({ key }) => [key, undefined])))}
            count={all === undefined || list.total === undefined ? '' : t.filters.count(list.total, all)}
            view={<SearchInput value={view.q} onChange={(q) => void go({ q }, { replace: true })} />}
          />
        </div>
      )}
      {list.error && <SectionError error={list.error} onRetry={() => void list.refetch()} />}
      {isEmpty ? (
        <Empty mayCreate={mayCreate} go={(next) => void go(next)} />
      ) : (
        // Not pushed down by what waits for a signature.
        <div className={css.table} hidden={isWaiting}>
          {!seesAll && <h2 className={css.heading}>{t.policies.allPublished}</h2>}
          <RegisterTable
            caption={t.policies.title}
            rows={list.rows}
            columns={seesAll ? columns(people.name, signers(people.active)) : ownColumns(mine)}
            rowKey={(row) => row.id}
            rowName={(row) => row.name}
            href={(row) => `/policies/${row.id}`}
            onOpen={open}
            sort={seesAll ? { key: view.sort ?? 'name', dir: view.order === 'desc' ? 'desc' : 'asc' } : undefined}
            onSort={seesAll ? ({ key, dir }) => void go({ sort: key, order: dir }) : undefined}
            phone={(row) => ({
              title: row.name,
              facts: (
                <>
                  <StatusPill {...statusOf(row)} />
                  <span className="num">{version(row)}</span>
                  {seesAll ? (
                    <Signed row={row} must={signers(people.active).map(({ id }) => id)} />
                  ) : (
                    <OwnSignature row={row} {...mine} />
                  )}
                </>
              ),
            })}
            onMore={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
            loading={list.isPending || list.isFetchingNextPage}
          />
          {!list.isPending && list.rows.length === 0 && (
            <p className={css.none}>{seesAll ? t.filters.nothing : t.policies.nonePublished}</p>
          )}
        </div>
      )}
      {view.new && mayCreate && <NewPolicy onClose={() => void go({ new: undefined }, { replace: true })} />}
      {view.templates && seesAll && <Templates />}
    </>
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
    { key: 'reference', header: columns.reference, width: 70, render: (row) => <span className="mono t3">{row.reference}</span> },
    { key: 'name', header: columns.name, opens: true, sortable: true, render: (row) => row.name },
    { key: 'status', header: columns.status, width: 138, render: (row) => <StatusPill {...statusOf(row)} /> },
    { key: 'version', header: columns.version, width: 76, render: (row) => <span className="num">{version(row)}</span> },
    { key: 'owner', header: columns.owner, width: 140, render: (row) => <Person name={name(row.assigneeId)} short /> },
    { key: 'signed', header: columns.signatures, width: 186, render: (row) => <Signed row={row} must={ids} /> },
    { key: 'review', header: columns.review, width: 100, align: 'right', render: review },
  ];
}

function ownColumns(mine: Mine): Column<PolicyView>[] {
  const { columns } = t.policies;
  return [
    { key: 'name', header: columns.name, opens: true, render: (row) => row.name },
    { key: 'version', header: columns.version, width: 90, render: (row) => <span className="num">{version(row)}</span> },
    {
      key: 'published',
      header: columns.published,
      width: 130,
      render: (row) => row.lastPublishedAt && <span className="t2">{day(row.lastPublishedAt)}</span>,
    },
    { key: 'signed', header: columns.signature, width: 150, render: (row) => <OwnSignature row={row} {...mine} /> },
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
