import { freshness } from '../parts/evidence';
import { Freshness } from '../parts/Freshness';
import { day } from '../parts/format';
import type { Group } from '../parts/list/Arrange';
import type { Column, PhoneLine } from '../parts/list/Table';
import { Person } from '../parts/Person';
import { StatusPill, StatusSelect } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { t } from '../texts';
import { isLate, nextDue, type Status, statuses, type Task } from './fields';
import css from './List.module.css';
import { setStatus } from './queries';

/** The due date of a task, by which lists are sorted, and the next one if it is done and recurs. */
export function Due({ task }: { task: Task }) {
  const { asOf } = useView().view;
  const next = nextDue(task);
  return (
    <>
      {task.dueDate && <span className={isLate(task, asOf) ? css.late : 't2'}>{day(task.dueDate)}</span>}
      {next && <span className="t3">{t.tasks.next(day(next))}</span>}
    </>
  );
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
      sort: 'createdAt',
      render: (row) => <span className="mono t3">{row.reference}</span>,
    },
    { key: 'title', header: words.title, opens: true, sort: 'title', render: (row) => row.title },
    {
      key: 'assigneeId',
      priority: 3,
      header: words.owner,
      width: 150,
      sort: 'assignee',
      render: (row) => <Person name={name(row.assigneeId)} short />,
    },
    {
      key: 'frequency',
      priority: 6,
      header: words.frequency,
      width: 104,
      sort: 'frequency',
      render: (row) => <span className="t2">{row.frequency ? t.tasks.frequency[row.frequency] : t.tasks.once}</span>,
    },
    {
      key: 'evidence',
      priority: 5,
      header: words.evidence,
      width: 150,
      sort: 'lastEvidenceDate',
      render: (row) => <Evidence task={row} />,
    },
    {
      key: 'status',
      priority: 1,
      header: words.status,
      width: 132,
      sort: 'status',
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
      width: 128,
      align: 'right',
      sort: 'dueDate',
      render: (row) => (
        <div className={css.due}>
          <Due task={row} />
        </div>
      ),
    },
    {
      key: 'department',
      priority: 7,
      header: t.tasks.fields.department,
      width: 120,
      sort: 'department',
      isExtra: true,
      render: (row) => <span className="t2">{row.department && t.departments[row.department]}</span>,
    },
  ];
}

export const phone =
  (name: (id: string | null) => string | undefined) =>
  (row: Task): PhoneLine => ({
    title: row.title,
    facts: (
      <>
        <span className="mono t3">{row.reference}</span>
        <StatusPill {...statuses()[row.status]} />
        {row.assigneeId && <Person name={name(row.assigneeId)} short />}
        <Due task={row} />
        <Evidence task={row} />
      </>
    ),
  });

/** What rows can be grouped by. */
export function groups(name: (id: string | null) => string | undefined): Group<Task>[] {
  const { columns, fields } = t.tasks;
  return [
    {
      key: 'owner',
      label: columns.owner,
      sort: 'assignee',
      of: ({ assigneeId }) => ({ key: assigneeId ?? '', label: name(assigneeId) ?? t.record.noOwner }),
    },
    {
      key: 'status',
      label: columns.status,
      sort: 'status',
      of: ({ status }) => ({ key: status, label: statuses()[status].label }),
    },
    {
      key: 'department',
      label: fields.department,
      sort: 'department',
      of: ({ department }) => ({ key: department ?? '', label: department ? t.departments[department] : t.edits.none }),
    },
  ];
}
