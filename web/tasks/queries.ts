import { keepPreviousData } from '@tanstack/react-query';
import { $api, api } from '../api/client';
import { words } from '../api/problem';
import { queries, refetch } from '../api/query';
import type { paths } from '../api/schema';
import { toast } from '../parts/toast';
import type { Search } from '../routes';
import { t } from '../texts';
import { type Status, statuses, type Task } from './fields';
import { placed, type Target, updates } from './ordering';

type Query = NonNullable<paths['/v1/tasks']['get']['parameters']['query']>;

export const FILTERS = ['status', 'assigneeId', 'department', 'frequency', 'overdue'] as const;
const TAKEN = [...FILTERS, 'q', 'sort', 'order', 'asOf'] as const;

/** The words of the address that the list and the export take. */
export function queryOf(view: Search): Record<string, string> {
  return Object.fromEntries(TAKEN.flatMap((key) => (view[key] === undefined ? [] : [[key, view[key]]])));
}

export function useTasks(view: Search, options: { enabled?: boolean } = {}) {
  const query = queryOf(view) as unknown as Query;
  return $api.useQuery('get', '/v1/tasks', { params: { query } }, { placeholderData: keepPreviousData, ...options });
}

export const failed = (problem: unknown) => toast(words(problem), { bad: true });

/** A status set where it stands, with a way back. */
export async function setStatus(task: Task, status: Status) {
  const set = (next: Status) =>
    api.PATCH('/v1/tasks/{taskId}', { params: { path: { taskId: task.id } }, body: { status: next } });
  show(task.id, { status });
  try {
    await set(status);
    toast(t.tasks.moved(task.reference, statuses()[status].label), {
      undo: () =>
        set(task.status)
          .then(() => refetch('/v1/tasks'))
          .catch(failed),
    });
  } catch (problem) {
    failed(problem);
  }
  await refetch('/v1/tasks');
}

/** Puts a card where it was dropped. The whole column counts, also what a filter hides. */
export async function move(task: Task, target: Target): Promise<boolean> {
  show(task.id, target);
  try {
    const { data } = await api.GET('/v1/tasks', { params: { query: { status: target.status } } });
    await api.PATCH('/v1/tasks/reorder', { body: { updates: updates(data ?? [], task, target) } });
    return true;
  } catch (problem) {
    failed(problem);
    return false;
  } finally {
    await refetch('/v1/tasks');
  }
}

/** What is shown until the server has answered. */
function show(id: string, target: Target) {
  // Lists of the past stay as they were.
  const isNow = ({ queryKey: [method, path, asked] }: { queryKey: readonly unknown[] }) =>
    method === 'get' && path === '/v1/tasks' && !(asked as { params?: { query?: Query } })?.params?.query?.asOf;
  queries.setQueriesData<Task[]>({ predicate: isNow }, (list) => (Array.isArray(list) ? placed(list, id, target) : list));
}
