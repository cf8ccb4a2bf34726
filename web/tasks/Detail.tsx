import { ActionIcon, Button, Menu, Skeleton, Tabs } from '@mantine/core';
import { IconChevronRight, IconDots, IconPlus, IconTrash } from '@tabler/icons-react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useRef } from 'react';
import { $api, api } from '../api/client';
import { usePeople } from '../api/people';
import { refetch } from '../api/query';
import { useEdits, useRecord } from '../api/records';
import { useMe } from '../api/session';
import { Comments, Composer, useComments } from '../parts/Comments';
import { useConfirm } from '../parts/confirm';
import { ErrorPage } from '../parts/ErrorPage';
import { Field } from '../parts/Field';
import { day, moment, utc } from '../parts/format';
import { History } from '../parts/History';
import { LinkedControls } from '../parts/links/Links';
import { PageHeader } from '../parts/PageHeader';
import { PastBar } from '../parts/PastBar';
import { Person } from '../parts/Person';
import { StatusPill } from '../parts/StatusPill';
import { pastOf, useView } from '../parts/search';
import { Unsaved } from '../parts/Unsaved';
import { t } from '../texts';
import { Automations } from './Automations';
import { useAutomations } from './automated';
import css from './Detail.module.css';
import { EvidenceFiles } from './Evidence';
import { choices, isLate, nextDue, reader, statuses, type Task as TaskRecord } from './fields';
import { failed } from './queries';
import { Runs } from './Runs';
import { useNames, useRights } from './rights';
import { Evidence } from './Table';

export function Task() {
  const { id = '' } = useParams({ strict: false });
  const { view, change } = useView();
  return (
    <div className={css.page} data-past={view.asOf ? true : undefined}>
      {view.asOf && (
        <PastBar what={t.tasks.title} asOf={view.asOf} onChange={(asOf) => void change({ asOf }, { replace: true })} />
      )}
      <Page key={id} id={id} />
    </div>
  );
}

function Page({ id }: { id: string }) {
  const { view } = useView();
  const { asOf } = view;
  const { data, error, refetch: again } = useRecord('/v1/tasks', id, asOf);
  const { can } = useMe();
  const { mayMove } = useRights();
  const name = useNames();
  const navigate = useNavigate();
  const edits = useEdits('/v1/tasks', id);
  const people = usePeople();
  const proofs = useProofs(id);
  const automations = useAutomations(id);
  const { ask, dialog } = useConfirm();
  const evidence = useRef<HTMLElement>(null);
  const task = data?.data;

  if (error) return <ErrorPage error={error} reset={() => void again()} />;
  if (!task) return <Waiting />;

  const words = t.tasks.detail;
  const isDone = task.status === 'done';
  const next = nextDue(task);
  const mark = () => void edits.save({ status: isDone ? 'todo' : 'done' }).catch(failed);
  const remove = async () => {
    await api.DELETE('/v1/tasks/{taskId}', { params: { path: { taskId: id } } });
    await navigate({ to: '/tasks' });
    await refetch('/v1/tasks');
  };
  return (
    <>
      <PageHeader
        title={task.title}
        crumb={
          <>
            <Link to="/tasks" search={pastOf(view)} className={css.crumb}>
              {t.tasks.title}
            </Link>
            <IconChevronRight size={12} aria-hidden="true" />
            <span className="mono">{task.reference}</span>
          </>
        }
        state={
          task.evidenceStatus === 'stale' ? (
            <StatusPill label={words.evidenceStale} tone="bad" shape="alert" loud />
          ) : (
            <StatusPill {...statuses()[task.status]} loud />
          )
        }
        facts={[
          <Person key="owner" name={name(task.assigneeId)} />,
          next ? (
            <span key="due">{t.tasks.next(day(next))}</span>
          ) : task.dueDate ? (
            <span key="due" className={isLate(task, asOf) ? css.late : undefined}>
              {words.due} <b>{day(task.dueDate)}</b>
            </span>
          ) : (
            <span key="due">{words.noDue}</span>
          ),
          <span key="every">{task.frequency ? t.tasks.frequency[task.frequency] : t.tasks.once}</span>,
          <Evidence key="evidence" task={task} />,
          ...(asOf ? [] : proofs),
        ]}
        actions={
          <>
            {can('task:delete') && !asOf && (
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon aria-label={words.more} size={32}>
                    <IconDots size={18} stroke={1.6} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item
                    leftSection={<IconTrash size={15} stroke={1.6} />}
                    onClick={() =>
                      ask({
                        title: words.deleteAsk(task.reference),
                        text: t.tasks.deleteText,
                        verb: words.delete,
                        act: remove,
                      })
                    }
                  >
                    {words.delete}
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            )}
            {can('attachment:create') && !asOf && (
              <Button
                variant="default"
                leftSection={<IconPlus size={16} stroke={1.6} />}
                onClick={() => evidence.current?.querySelector<HTMLInputElement>('input[type=file]')?.click()}
              >
                {words.addEvidence}
              </Button>
            )}
            {mayMove(task) && (
              <Button data-primary variant={isDone ? 'default' : 'filled'} onClick={mark}>
                {isDone ? words.reopen : words.markDone}
              </Button>
            )}
          </>
        }
      />
      <div className={css.columns}>
        <div className={css.main}>
          <Unsaved edits={edits} labels={t.tasks.fields} read={reader(people)} />
          <Fields task={task} save={edits.field} />
          <LinkedControls kind="task" record={{ ...task, name: task.title }} asOf={asOf} level="h2" />
          {/* Files, runs and comments are those of today. */}
          {!asOf && <EvidenceFiles task={task} section={evidence} />}
          {!asOf && automations.chosen && <Runs automation={automations.chosen} />}
          {!asOf && <Talk id={id} />}
        </div>
        {!asOf && automations.isShown && <Automations taskId={id} automations={automations} />}
      </div>
      {dialog}
    </>
  );
}

/** The controls that the task is evidence of. */
function useProofs(taskId: string) {
  const { can } = useMe();
  const { data } = $api.useQuery(
    'get',
    '/v1/controls',
    { params: { query: { taskId, limit: 5 } } },
    { enabled: can('control:read') },
  );
  if (!data || data.data.length === 0) return [];
  return [
    <span key="proves">
      {t.tasks.detail.proves}{' '}
      {data.data.map(({ id, reference, name }) => (
        <a key={id} href={`/controls?open=${id}`} className={`link ${css.proof}`} title={name}>
          {reference}
        </a>
      ))}
    </span>,
  ];
}

type FieldsProps = { task: TaskRecord; save: ReturnType<typeof useEdits>['field'] };

function Fields({ task, save }: FieldsProps) {
  const people = usePeople();
  const { mayChange, mayMove } = useRights();
  const name = useNames();
  const labels = t.tasks.fields;
  const on = (field: string, may = mayChange) => (may ? save(field) : undefined);
  const owners = people.active.map(({ id, user }) => ({ value: id, label: user.name }));
  return (
    <section className={css.section} aria-label={t.tasks.detail.details}>
      <dl className={css.text}>
        <Field
          name="description"
          record={task.id}
          label={labels.description}
          kind="long"
          value={task.description}
          onSave={on('description')}
        >
          {task.description}
        </Field>
      </dl>
      <dl className={css.fields}>
        <Field name="title" label={labels.title} kind="text" value={task.title} onSave={on('title')}>
          {task.title}
        </Field>
        <Field
          name="status"
          label={labels.status}
          kind="choice"
          value={task.status}
          choices={choices(t.tasks.status)}
          onSave={on('status', mayMove(task))}
        >
          <StatusPill {...statuses()[task.status]} />
        </Field>
        <Field
          name="assigneeId"
          label={labels.assigneeId}
          kind="choice"
          value={task.assigneeId}
          choices={owners}
          optional
          onSave={on('assigneeId')}
        >
          <Person name={name(task.assigneeId)} />
        </Field>
        <Field name="dueDate" label={labels.dueDate} kind="date" value={task.dueDate} optional onSave={on('dueDate')}>
          {task.dueDate && day(task.dueDate)}
        </Field>
        <Field
          name="frequency"
          label={labels.frequency}
          kind="choice"
          value={task.frequency}
          choices={choices(t.tasks.frequency)}
          optional
          onSave={on('frequency')}
        >
          {task.frequency ? t.tasks.frequency[task.frequency] : t.tasks.once}
        </Field>
        <Field
          name="department"
          label={labels.department}
          kind="choice"
          value={task.department}
          choices={choices(t.departments)}
          optional
          onSave={on('department')}
        >
          {task.department && t.departments[task.department]}
        </Field>
        {task.lastCompletedAt && (
          <Field name="lastCompletedAt" label={t.tasks.detail.lastDone} kind="text" value={null}>
            <time dateTime={task.lastCompletedAt} title={utc(task.lastCompletedAt)}>
              {moment(task.lastCompletedAt)}
            </time>
          </Field>
        )}
      </dl>
    </section>
  );
}

/** What was said and what was changed. */
function Talk({ id }: { id: string }) {
  const { can } = useMe();
  const { view, change } = useView();
  const people = usePeople();
  const about = { entityType: 'task', entityId: id } as const;
  const comments = useComments(about);
  return (
    <section className={css.section} aria-label={t.record.comments}>
      <Tabs
        value={view.talk ?? 'comments'}
        onChange={(talk) => void change({ talk: talk === 'comments' ? undefined : (talk ?? undefined) }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="comments">
            {t.record.comments} {comments.data?.data.length || ''}
          </Tabs.Tab>
          {can('task:read') && <Tabs.Tab value="history">{t.record.history}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="comments" pt={16}>
          <Comments {...about} />
          {can('comment:create') && (
            <div className={css.composer}>
              <Composer {...about} />
            </div>
          )}
        </Tabs.Panel>
        {can('task:read') && (
          <Tabs.Panel value="history" pt={16}>
            <History path="/v1/tasks" id={id} labels={t.tasks.fields} read={reader(people)} />
          </Tabs.Panel>
        )}
      </Tabs>
    </section>
  );
}

/** The page in still bars, as it will be laid out. */
function Waiting() {
  return (
    <div className={css.waiting} aria-busy="true">
      <Skeleton height={12} width={90} animate={false} />
      <Skeleton height={24} width="40%" animate={false} />
      <Skeleton height={14} width="55%" animate={false} />
      <Skeleton height={120} mt={28} width="60%" animate={false} />
      <Skeleton height={160} mt={12} width="60%" animate={false} />
    </div>
  );
}
