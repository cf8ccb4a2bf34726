import { ActionIcon, Button, Menu, Tabs } from '@mantine/core';
import { IconDots, IconPlus, IconReplace, IconTrash } from '@tabler/icons-react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { $api, api } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { Missing } from '../controls/Missing';
import { useConfirm } from '../parts/confirm';
import { Drawer } from '../parts/Drawer';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { ExportMenu } from '../parts/ExportMenu';
import { FilterBar, type FilterField } from '../parts/FilterBar';
import { Glyph } from '../parts/glyphs';
import { LinkedControls } from '../parts/links/Links';
import { type Column, Table } from '../parts/list/Table';
import { isDay, NoDate } from '../parts/NoDate';
import { PageHeader } from '../parts/PageHeader';
import { PastBar } from '../parts/PastBar';
import { SearchInput } from '../parts/SearchInput';
import { StatusPill } from '../parts/StatusPill';
import { addressOf, pastOf, useView } from '../parts/search';
import { TrendLines } from '../parts/TrendLines';
import { toast } from '../parts/toast';
import { PastButton } from '../parts/ViewTools';
import type { Search } from '../routes';
import { t } from '../texts';
import css from './frameworks.module.css';
import { Make } from './Make';
import {
  type Met,
  type Framework as One,
  type Readiness,
  type Requirement,
  useFrameworks,
  useReadiness,
  useRequirements,
  useTrend,
} from './queries';
import { countOf, type State, StateBar, states } from './states';
import { Trace } from './Trace';
import { Upload } from './Upload';

/** A requirement with how far it is. */
type Row = Requirement & { met?: Met };

export function Framework() {
  const { can } = useMe();
  const { view, change: go } = useView();
  const { id = '' } = useParams({ strict: false });
  const { data, error, refetch: again } = $api.useQuery('get', '/v1/frameworks/{id}', { params: { path: { id } } });
  if (!can('framework:read')) return <MissingPage />;
  if (error && 'status' in error && error.status === 404) return <MissingPage />;
  if (error)
    return (
      <>
        <PageHeader title={t.frameworks.title} />
        <SectionError error={error} onRetry={() => void again()} />
      </>
    );
  if (!data) return <PageHeader title={t.frameworks.title} />;
  if (view.asOf && !isDay(view.asOf))
    return (
      <>
        <PageHeader title={data.name} crumb={<Link to="/frameworks">{t.frameworks.title}</Link>} />
        <NoDate text={view.asOf} onBack={() => void go({ asOf: undefined }, { replace: true })} />
      </>
    );
  return <Page framework={data} />;
}

function Page({ framework }: { framework: One }) {
  const { view, change: go } = useView();
  const { can } = useMe();
  const navigate = useNavigate();
  const asOf = view.asOf;
  const mayRead = can('control:read');
  const readiness = useReadiness(framework.id, asOf, mayRead);
  const requirements = useRequirements(framework.id);
  const { ask, dialog } = useConfirm();
  const met = new Map(readiness.data?.requirements.map((one) => [one.requirementId, one]));
  const all: Row[] = (requirements.data ?? []).map((one) => ({ ...one, met: met.get(one.id) }));
  const rows = all.filter((row) => fits(row, view));
  const opened = all.find(({ id }) => id === view.open);
  const isReady = readiness.data;
  const uncovered = isReady?.counts.uncovered ?? 0;
  const mayMake = can('control:create') && !asOf && uncovered > 0;
  const looks = states();
  // The trace is of today.
  const mayTrace = mayRead && !asOf;
  const tab = mayTrace && view.tab === 'trace' ? 'trace' : 'requirements';
  const fields: FilterField[] = [
    {
      key: 'state',
      label: t.frameworks.detail.filterState,
      values: Object.entries(looks).map(([value, { label }]) => ({ value, label })),
    },
    {
      key: 'theme',
      label: t.frameworks.detail.filterTheme,
      values: [...new Set(all.map(({ theme }) => theme))].map((theme) => ({ value: theme, label: theme })),
    },
  ];
  const chips = fields
    .filter(({ key }) => view[key] !== undefined)
    .map(({ key, label, values }) => ({
      key,
      field: label,
      is: values.find(({ value }) => value === view[key])?.label ?? view[key] ?? '',
    }));
  const step = (by: 1 | -1) => {
    const next = rows[rows.findIndex(({ id }) => id === view.open) + by];
    if (next) void go({ open: next.id }, { replace: true });
  };
  async function remove() {
    await api.DELETE('/v1/frameworks/{id}', { params: { path: { id: framework.id } } });
    await navigate({ to: '/frameworks' });
    await refetch('/v1/frameworks', '/v1/controls');
    toast(t.frameworks.deleted(framework.name));
  }
  const ready = isReady && t.frameworks.readyOf(isReady.counts.ready, isReady.totalRequirements - isReady.counts.notApplicable);

  return (
    <div className={css.page} data-past={asOf ? true : undefined}>
      <div className={css.main}>
        {asOf && <PastBar what={framework.name} asOf={asOf} onChange={(date) => void go({ asOf: date }, { replace: true })} />}
        <PageHeader
          title={framework.name}
          crumb={<Link to="/frameworks">{t.frameworks.title}</Link>}
          state={framework.isOwn ? <span className={css.own}>{t.frameworks.own}</span> : undefined}
          facts={[
            <span key="all">{t.frameworks.requirements(framework.totalRequirements)}</span>,
            ...(ready
              ? [
                  <span key="ready">
                    <b>{ready.count}</b> {ready.word}
                  </span>,
                ]
              : []),
            ...(uncovered ? [<span key="uncovered">{t.frameworks.uncovered(uncovered)}</span>] : []),
          ]}
          actions={
            <>
              {tab === 'trace' ? (
                <ExportMenu path={`/v1/frameworks/${framework.id}/trace/export`} />
              ) : (
                <ExportMenu path={`/v1/frameworks/${framework.id}/export`} formats={t.frameworks.export} />
              )}
              {framework.isOwn && !asOf && (can('framework:create') || can('framework:delete')) && (
                <Menu position="bottom-end">
                  <Menu.Target>
                    <ActionIcon size={32} variant="default" aria-label={t.actions.more}>
                      <IconDots size={17} stroke={1.6} />
                    </ActionIcon>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {can('framework:create') && (
                      <Menu.Item leftSection={<IconReplace size={15} stroke={1.6} />} onClick={() => void go({ replace: 'yes' })}>
                        {t.frameworks.replace}
                      </Menu.Item>
                    )}
                    {can('framework:delete') && (
                      <Menu.Item
                        leftSection={<IconTrash size={15} stroke={1.6} />}
                        onClick={() =>
                          ask({
                            title: t.frameworks.deleteAsk(framework.name),
                            text: t.frameworks.deleteText,
                            verb: t.frameworks.delete,
                            act: remove,
                          })
                        }
                      >
                        {t.frameworks.delete}
                      </Menu.Item>
                    )}
                  </Menu.Dropdown>
                </Menu>
              )}
              {can('soa:read') && !opened && (
                <Button
                  variant="default"
                  visibleFrom="xs"
                  onClick={() => void navigate({ to: '/applicability', search: { framework: framework.alias } })}
                >
                  {t.frameworks.detail.applicability}
                </Button>
              )}
              {mayMake && (
                <Button data-primary leftSection={<IconPlus size={16} />} onClick={() => void go({ make: 'yes' })}>
                  {t.frameworks.make.button}
                </Button>
              )}
            </>
          }
        />
        {mayTrace && (
          <Tabs
            value={tab}
            className={css.tabs}
            onChange={(next) => void go({ tab: next === 'trace' ? next : undefined, open: undefined, gaps: undefined })}
          >
            <Tabs.List>
              {(['requirements', 'trace'] as const).map((one) => (
                <Tabs.Tab key={one} value={one} aria-controls="framework-panel">
                  {t.frameworks.tabs[one]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
          </Tabs>
        )}
        <div id="framework-panel" role={mayTrace ? 'tabpanel' : undefined} aria-label={t.frameworks.tabs[tab]}>
          {tab === 'trace' ? (
            <Trace id={framework.id} view={view} go={(next) => void go(next, { replace: true })} />
          ) : (
            <>
              {readiness.error && <SectionError error={readiness.error} onRetry={() => void readiness.refetch()} />}
              {mayRead && <Top framework={framework} readiness={readiness.data} view={view} go={(next) => void go(next)} />}
              <FilterBar
                filters={chips}
                fields={mayRead ? fields : fields.slice(1)}
                now={view}
                onSet={(key, value) => void go({ [key]: value })}
                onRemove={(key) => void go({ [key]: undefined })}
                onClear={() => void go(Object.fromEntries(chips.map(({ key }) => [key, undefined])))}
                count={requirements.data ? t.filters.count(rows.length, all.length) : ''}
                tools={
                  <>
                    <SearchInput
                      label={t.frameworks.detail.search}
                      value={view.q}
                      onChange={(q) => void go({ q }, { replace: true })}
                      width={170}
                    />
                    {mayRead && <PastButton view={view} go={go} />}
                  </>
                }
              />
              {requirements.error && <SectionError error={requirements.error} onRetry={() => void requirements.refetch()} />}
              <Table
                caption={t.frameworks.detail.all}
                rows={rows}
                columns={columns(mayRead, view.open !== undefined)}
                rowKey={({ id }) => id}
                rowName={({ code }) => code}
                href={({ id }) => addressOf(`/frameworks/${framework.alias}`, { open: id, ...pastOf(view) })}
                onOpen={({ id }) => void go({ open: id })}
                active={view.open}
                phone={(row) => ({
                  title: row.title,
                  facts: (
                    <>
                      <span className="mono">{row.code}</span>
                      {row.met && <StatusPill {...looks[row.met.status]} />}
                    </>
                  ),
                })}
                loading={requirements.isPending}
              />
              {requirements.data && rows.length === 0 && <p className={css.none}>{t.frameworks.nothing}</p>}
              {!requirements.isPending && <About framework={framework} />}
            </>
          )}
        </div>
      </div>
      {opened && tab === 'requirements' && (
        <Details
          row={opened}
          framework={framework}
          asOf={asOf}
          mayMake={can('control:create') && !asOf}
          onClose={() => void go({ open: undefined })}
          onStep={step}
        />
      )}
      {view.make && (
        <Make framework={framework} count={uncovered} onClose={() => void go({ make: undefined }, { replace: true })} />
      )}
      {view.replace && (
        <Upload
          old={framework}
          onClose={() => void go({ replace: undefined }, { replace: true })}
          onDone={() => void go({ replace: undefined }, { replace: true })}
        />
      )}
      {dialog}
    </div>
  );
}

function fits(row: Row, { q, state, theme }: Search): boolean {
  const letters = q?.toLowerCase() ?? '';
  return (
    (!theme || row.theme === theme) &&
    (!state || row.met?.status === state) &&
    (!letters || `${row.code} ${row.title} ${row.objective} ${row.tags.join(' ')}`.toLowerCase().includes(letters))
  );
}

function columns(mayRead: boolean, isNarrow: boolean): Column<Row>[] {
  const { detail } = t.frameworks;
  const looks = states();
  const all: (Column<Row> | false)[] = [
    { key: 'code', header: detail.code, width: 150, render: ({ code }) => <span className="mono t3">{code}</span> },
    { key: 'title', header: detail.title, opens: true, render: ({ title }) => title },
    !isNarrow && { key: 'theme', header: detail.theme, width: 180, render: ({ theme }) => <span className="t2">{theme}</span> },
    mayRead &&
      !isNarrow && {
        key: 'controls',
        header: detail.controls,
        width: 170,
        render: ({ met }) => (
          <span className={css.refs}>
            {met?.controls.map(({ id, reference, name }) => (
              <Link key={id} to="/controls" search={{ open: id }} className="link mono" title={name}>
                {reference}
              </Link>
            ))}
          </span>
        ),
      },
    mayRead && {
      key: 'state',
      header: detail.state,
      width: 150,
      render: ({ met }) => met && <StatusPill {...looks[met.status]} />,
    },
  ];
  return all.filter((one) => one !== false);
}

/** The score, what it is made of, and how it went. */
function Top({
  framework,
  readiness,
  view,
  go,
}: {
  framework: One;
  readiness?: Readiness;
  view: Search;
  go: (next: Search) => void;
}) {
  const looks = states();
  return (
    <div className={css.top}>
      <div>
        <p className={css.big} title={readiness && t.frameworks.scoreText(readiness.score)}>
          {readiness ? t.frameworks.percent(readiness.score) : '\u00a0'}
        </p>
        <StateBar readiness={readiness} name={framework.name} />
        <ul className={css.states}>
          {(Object.keys(looks) as State[]).map((state) => (
            <li key={state}>
              <button
                type="button"
                className={`plain ${css.state}`}
                aria-pressed={view.state === state}
                title={t.frameworks.statusHelp[state]}
                onClick={() => go({ state: view.state === state ? undefined : state })}
              >
                <Glyph shape={looks[state].shape} tone={looks[state].tone} />
                <span>{looks[state].label}</span>
                <b className="num">{readiness ? countOf(readiness)[state] : ''}</b>
              </button>
            </li>
          ))}
        </ul>
      </div>
      {view.asOf || view.open ? null : <Trend id={framework.id} score={readiness?.score} />}
    </div>
  );
}

function Trend({ id, score }: { id: string; score?: number }) {
  const { trend } = t.frameworks;
  const { values, labels, error, hasHistory } = useTrend(id, score);
  return (
    <section aria-label={trend.title}>
      <div className={css.trendHead}>
        <h2>{trend.title}</h2>
        {values && (
          <span>
            <span className="t3">{trend.name}</span> <b className="num">{t.frameworks.percent(score ?? 0)}</b>
          </span>
        )}
      </div>
      {error ? (
        <SectionError error={error} />
      ) : values && !hasHistory ? (
        <p className="t3">{trend.none}</p>
      ) : values ? (
        <TrendLines
          series={[{ name: trend.name, values }]}
          labels={labels}
          min={0}
          max={100}
          height={200}
          caption={trend.caption(values.find((value) => value !== undefined) ?? 0, values.at(-1) ?? 0)}
        />
      ) : (
        <div className={css.blank} aria-hidden="true" />
      )}
    </section>
  );
}

/** One requirement: what it is for, what meets it, what corresponds to it elsewhere. */
function Details({
  row,
  framework,
  asOf,
  mayMake,
  onClose,
  onStep,
}: {
  row: Row;
  framework: One;
  asOf?: string;
  mayMake: boolean;
  onClose: () => void;
  onStep: (step: 1 | -1) => void;
}) {
  const { detail, make } = t.frameworks;
  const looks = states();
  const frameworks = useFrameworks().data?.data ?? [];
  const nameOf = (alias: string) => frameworks.find((one) => one.alias === alias)?.name ?? alias;
  const makeOne = () =>
    void api
      .POST('/v1/controls/from-framework', { body: { frameworkId: framework.id, requirementIds: [row.id] } })
      .then(async ({ data }) => {
        await refetch('/v1/frameworks', '/v1/controls');
        toast(data?.createdCount ? make.done(data.createdCount) : make.nothing);
      })
      .catch((error) => toast(words(error), { bad: true }));
  return (
    <Drawer reference={row.code} title={row.title} name={`${row.code} ${row.title}`} onClose={onClose} onStep={onStep}>
      {row.met && (
        <p style={{ marginTop: 8 }}>
          <StatusPill {...looks[row.met.status]} loud /> <span className="t2">{t.frameworks.statusHelp[row.met.status]}</span>
        </p>
      )}
      {row.met && row.met.status !== 'not_applicable' && <Missing pieces={row.met.missing} />}
      {row.objective && (
        <section className={css.section}>
          <h3>{detail.objective}</h3>
          <p className="t2">{row.objective}</p>
        </section>
      )}
      {row.met && (
        <div className={css.section}>
          <LinkedControls
            kind="requirement"
            record={{ id: row.id, reference: row.code, name: row.title }}
            asOf={asOf}
            none={detail.noControl}
          />
          {row.met.controls.length > 1 && (
            <Link to="/controls" search={{ requirementId: row.id }} className="link">
              {detail.everyControl}
            </Link>
          )}
          {mayMake && row.met.status === 'uncovered' && (
            <Button mt={8} variant="default" leftSection={<IconPlus size={15} />} onClick={makeOne}>
              {make.one}
            </Button>
          )}
        </div>
      )}
      {row.mappings.length > 0 && (
        <section className={css.section}>
          <h3>{detail.corresponds}</h3>
          <dl>
            {[...new Set(row.mappings.map(({ framework: alias }) => alias))].map((alias) => (
              <div key={alias} style={{ display: 'contents' }}>
                <dt>{nameOf(alias)}</dt>
                <dd>
                  {row.mappings
                    .filter((one) => one.framework === alias)
                    .map(({ code, requirementId }, at) => (
                      <span key={requirementId}>
                        {at > 0 && ', '}
                        <Link to="/frameworks/$id" params={{ id: alias }} search={{ open: requirementId }} className="link mono">
                          {code}
                        </Link>
                      </span>
                    ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      <section className={css.section}>
        <dl>
          <dt>{detail.theme}</dt>
          <dd>{row.theme || detail.none}</dd>
          <dt>{detail.kind}</dt>
          <dd>{row.kind || detail.none}</dd>
          <dt>{detail.tags}</dt>
          <dd>{row.tags.join(', ') || detail.none}</dd>
        </dl>
      </section>
    </Drawer>
  );
}

/** Where the words come from, and whose they are. */
function About({ framework }: { framework: One }) {
  const texts = [framework.description, framework.source, framework.licence, framework.attribution].filter(Boolean);
  if (texts.length === 0) return null;
  return (
    <section className={css.about} aria-label={t.frameworks.detail.about}>
      <h2>{t.frameworks.detail.about}</h2>
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </section>
  );
}
