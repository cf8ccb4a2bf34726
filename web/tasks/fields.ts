import type { Schemas } from '../api/client';
import type { usePeople } from '../api/people';
import { after } from '../parts/evidence';
import type { FilterField } from '../parts/FilterBar';
import { day, iso, today } from '../parts/format';
import type { Formed } from '../parts/register/definition';
import type { Status as Shown } from '../parts/StatusPill';
import { t } from '../texts';

export type Task = Schemas['Task'];
export type Status = Task['status'];

/** The columns of the board, from left to right. */
export const order: Status[] = ['todo', 'in_progress', 'blocked', 'done'];

export function statuses(): Record<Status, Shown> {
  const { status } = t.tasks;
  return {
    todo: { label: status.todo, tone: 'mute', shape: 'ring' },
    in_progress: { label: status.in_progress, tone: 'info', shape: 'half' },
    blocked: { label: status.blocked, tone: 'warn', shape: 'alert' },
    done: { label: status.done, tone: 'ok', shape: 'check' },
  };
}

const values = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));
export const choices = values;

export function filters(people: ReturnType<typeof usePeople>): FilterField[] {
  const { fields, status, frequency } = t.tasks;
  const owners = people.active.map(({ id, user }) => ({ value: id, label: user.name }));
  return [
    { key: 'status', isMany: true, label: fields.status, values: values(status) },
    ...(owners.length > 0 ? [{ key: 'assigneeId', isMany: true, label: fields.assigneeId, values: owners }] : []),
    { key: 'department', isMany: true, label: fields.department, values: values(t.departments) },
    { key: 'frequency', isMany: true, label: fields.frequency, values: values(frequency) },
    { key: 'overdue', label: fields.overdue, values: [{ value: 'true', label: t.filters.yes }] },
  ];
}

/** What is asked for in a new task, and what the columns of an import can become. */
export function formed(): Formed {
  const { fields, status, frequency } = t.tasks;
  return {
    path: '/v1/tasks',
    nameField: 'title',
    labels: fields,
    texts: t.tasks,
    fields: [
      { name: 'title', kind: 'text', asked: true, help: t.tasks.titleHelp },
      { name: 'description', kind: 'long', asked: true, optional: true, help: t.tasks.descriptionHelp },
      { name: 'assigneeId', kind: 'person', asked: true, optional: true },
      { name: 'dueDate', kind: 'date', asked: true, optional: true },
      { name: 'frequency', kind: 'choice', choices: frequency, asked: true, optional: true, help: t.tasks.frequencyHelp },
      { name: 'department', kind: 'choice', choices: t.departments, asked: true, optional: true },
      { name: 'status', kind: 'choice', choices: status },
    ],
  };
}

/** Whether a task is or was overdue on a day. */
export const isLate = (task: Task, on = today()) => task.status !== 'done' && task.dueDate !== null && task.dueDate < on;

/** When a recurring task that is done has to be done again: as the server sets it when the next period begins. */
export function nextDue({ status, frequency, dueDate, lastCompletedAt }: Task): string | undefined {
  if (status !== 'done' || !frequency || !lastCompletedAt) return undefined;
  const opens = after(iso(new Date(lastCompletedAt)), frequency);
  if (!dueDate) return opens;
  let due = after(dueDate, frequency);
  while (due < opens) due = after(due, frequency);
  return due;
}

/** How the value of a field reads, for histories and conflicts. */
export function reader(people: ReturnType<typeof usePeople>) {
  return (field: string, value: unknown): string => {
    const text = String(value ?? '');
    if (text === '') return t.edits.none;
    const words: Record<string, Record<string, string>> = {
      status: t.tasks.status,
      frequency: t.tasks.frequency,
      department: t.departments,
    };
    if (field === 'assigneeId') return people.name(text) ?? text;
    if (field === 'dueDate') return day(text);
    return words[field]?.[text] ?? text;
  };
}
