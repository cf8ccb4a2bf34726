import { Button, Checkbox } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useChosen } from '../api/chosen';
import { words } from '../api/problem';
import { useMe } from '../api/session';
import { MissingPage, SectionError } from '../parts/ErrorPage';
import { type Column, Table } from '../parts/list/Table';
import { PageHeader } from '../parts/PageHeader';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './frameworks.module.css';
import { type Framework, useFrameworks, useReadiness } from './queries';
import { StateBar } from './states';
import { Upload } from './Upload';

export function Frameworks() {
  const { can } = useMe();
  return can('framework:read') ? <List /> : <MissingPage />;
}

function List() {
  const { view, change: go } = useView();
  const { can } = useMe();
  const navigate = useNavigate();
  const { data, error, isPending, refetch } = useFrameworks();
  const all = data?.data ?? [];
  const own = all.filter(({ isOwn }) => isOwn).length;
  const open = ({ alias }: Framework) => void navigate({ to: '/frameworks/$id', params: { id: alias } });
  const mayRead = can('control:read');
  const { chosen, choose } = useChosen();

  const columns: (Column<Framework> | false)[] = [
    {
      key: 'name',
      header: t.frameworks.columns.name,
      opens: true,
      render: (row) => (
        <>
          {row.name}
          {row.isOwn && <span className={css.own}>{t.frameworks.own}</span>}
        </>
      ),
    },
    {
      key: 'chosen',
      header: t.frameworks.columns.chosen,
      width: 84,
      render: (row) => (
        <Checkbox
          aria-label={t.frameworks.choose(row.name)}
          checked={chosen.includes(row.id)}
          disabled={!can('organization:update')}
          onChange={(event) =>
            void choose(row.id, event.currentTarget.checked).catch((problem) => toast(words(problem), { bad: true }))
          }
        />
      ),
    },
    mayRead && {
      key: 'score',
      header: t.frameworks.columns.score,
      width: 110,
      align: 'right',
      render: (row) => <Score id={row.id} />,
    },
    mayRead && { key: 'states', header: t.frameworks.columns.states, width: 300, render: (row) => <States framework={row} /> },
    {
      key: 'total',
      header: t.frameworks.columns.total,
      width: 80,
      align: 'right',
      render: (row) => row.totalRequirements,
    },
    {
      key: 'version',
      header: t.frameworks.columns.version,
      width: 210,
      render: (row) => <span className="t2">{row.version}</span>,
    },
  ];

  return (
    <>
      <PageHeader
        title={t.frameworks.title}
        facts={
          data
            ? [
                <b key="all">{t.frameworks.count(all.length)}</b>,
                ...(own ? [<span key="own">{t.frameworks.ownCount(own)}</span>] : []),
              ]
            : []
        }
        actions={
          can('framework:create') && (
            <Button data-primary leftSection={<IconPlus size={16} />} onClick={() => void go({ new: 'yes' })}>
              {t.frameworks.add}
            </Button>
          )
        }
      />
      {error ? (
        <SectionError error={error} onRetry={() => void refetch()} />
      ) : (
        <div className={css.body}>
          <Table
            caption={t.frameworks.title}
            rows={all}
            columns={columns.filter((one) => one !== false)}
            rowKey={(row) => row.id}
            rowName={(row) => row.name}
            href={(row) => `/frameworks/${row.alias}`}
            onOpen={open}
            phone={(row) => ({
              title: row.name,
              facts: mayRead && (
                <>
                  <Score id={row.id} />
                  <States framework={row} />
                </>
              ),
            })}
            loading={isPending}
          />
        </div>
      )}
      {view.new && (
        <Upload
          onClose={() => void go({ new: undefined }, { replace: true })}
          onDone={(framework) => void navigate({ to: '/frameworks/$id', params: { id: framework.alias } })}
        />
      )}
    </>
  );
}

function Score({ id }: { id: string }) {
  const { data } = useReadiness(id);
  return (
    <b className="num" style={{ fontWeight: 550 }}>
      {data ? t.frameworks.percent(data.score) : '\u00a0'}
    </b>
  );
}

function States({ framework }: { framework: Framework }) {
  const { data } = useReadiness(framework.id);
  return <StateBar readiness={data} name={framework.name} />;
}
