import { api } from '../api/client';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { AssignSelect, DeleteButton, StatusMenu } from '../parts/bulk';
import { freshness } from '../parts/evidence';
import { Freshness } from '../parts/Freshness';
import { day } from '../parts/format';
import type { Column, PhoneLine } from '../parts/list/Table';
import { Person } from '../parts/Person';
import { StatusPill, StatusSelect } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { isLate, type Status, statuses, type Task } from './fields';
import css from './List.module.css';
import { failed, setStatus } from './queries';

export function Due({ task }: { task: Task }) {
  const { asOf } = useView().view;
  return task.dueDate && <span className={isLate(task, asOf) ? css.late : 't2'}>{day(task.dueDate)}</span>;
}

/** How fresh the latest evidence of a task is. */
export function Evidence({ task }: { task: Task }) {
  const { asOf } = useView().view;
  if (!task.lastEvidenceDate) return <span className="t3">{t.tasks.detail.noEvidence}</span>;
  const fresh = freshness(task.lastEvidenceDate, task.frequency, asOf);
  return fresh ? <Freshness {...fresh} /> : <span className="t2">{day(task.lastEvidenceDate)}</span>;
}

export function columns(name: (id: string | null) => string | undefined, mayMove: (task: Task) => boolean): Column<Task>[] {
  const words = t.tasks.columns;
  return [
    {
      key: 'reference',
      priority: 4,
      header: words.reference,
      width: 76,
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'title', header: words.title, opens: true, sortable: true, render: (row) => row.title },
    {
      key: 'assigneeId',
      priority: 3,
      header: words.owner,
      width: 150,
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'frequency',
      priority: 6,
      header: words.frequency,
      width: 104,
      render: (row) => <span className="t2">{row.frequency ? t.tasks.frequency[row.frequency] : t.tasks.once}</span>,
    },
    { key: 'evidence', priority: 5, header: words.evidence, width: 150, render: (row) => <Evidence task={row} /> },
    {
      key: 'status',
      priority: 1,
      header: words.status,
      width: 132,
      render: (row) =>
        mayMove(row) ? (
          <StatusSelect
            value={row.status}
            options={statuses()}
            name={`${row.reference} ${words.status}`}
            onChange={(next) => void setStatus(row, next as Status)}
          />
        ) : (
          <StatusPill {...statuses()[row.status]} />
        ),
    },
    {
      key: 'dueDate',
      priority: 2,
      header: words.due,
      width: 100,
      align: 'right',
      sortable: true,
      render: (row) => <Due task={row} />,
    },
  ];
}

export const phone = (row: Task): PhoneLine => ({
  title: row.title,
  facts: (
    <>
      <span className="mono t3">{row.reference}</span>
      <StatusPill {...statuses()[row.status]} />
      <Due task={row} />
      <Evidence task={row} />
    </>
  ),
});

/** Changes all selected tasks, or none of them. */
export function Bulk({ ids, onDone }: { ids: string[]; onDone: () => void }) {
  const { can } = useMe();
  const NOBODY = 'nobody';
  async function done(act: Promise<unknown>, told: string) {
    await act;
    await refetch('/v1/tasks');
    onDone();
    toast(told);
  }
  const set = (status: Status) =>
    done(api.PATCH('/v1/tasks/bulk', { body: { taskIds: ids, status } }), t.tasks.changed(ids.length)).catch(failed);
  const assign = (assigneeId: string | null) =>
    done(api.PATCH('/v1/tasks/bulk/assignee', { body: { taskIds: ids, assigneeId } }), t.tasks.changed(ids.length)).catch(failed);
  const remove = () => done(api.DELETE('/v1/tasks/bulk', { body: { taskIds: ids } }), t.tasks.deleted(ids.length));
  return (
    <>
      <StatusMenu statuses={statuses()} onPick={(status) => void set(status as Status)} />
      <AssignSelect
        label={t.tasks.assign}
        more={[{ value: NOBODY, label: t.tasks.unassign }]}
        onPick={(id) => void assign(id === NOBODY ? null : id)}
      />
      {can('task:delete') && (
        <DeleteButton
          count={ids.length}
          question={{ title: t.tasks.deleteAsk(ids.length), text: t.tasks.deleteText, verb: t.tasks.deleteTasks(ids.length) }}
          act={remove}
        />
      )}
    </>
  );
}
