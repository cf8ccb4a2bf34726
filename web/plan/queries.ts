import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { $api, api, type Schemas } from '../api/client';
import { call } from '../api/paths';
import { Problem, words } from '../api/problem';
import { queries, refetch } from '../api/query';
import { named, place } from '../api/records';
import { today } from '../parts/format';
import { toast } from '../parts/toast';
import { withDue } from './rows';

export type Programme = Schemas['Programme'];
export type ProgrammePlan = Schemas['ProgrammePlan'];
export type PlanProgramme = Schemas['PlanProgramme'];
export type Framework = Schemas['Framework'];
export type Item = Schemas['ProgrammeItem'];

const KEY = ['programme', '/v1/programme'];

/** The programme of the organization; null before one is started. */
export function useProgramme() {
  return useQuery({
    queryKey: KEY,
    queryFn: async (): Promise<Programme | null> => {
      try {
        return (await api.GET('/v1/programme')).data ?? null;
      } catch (error) {
        if (error instanceof Problem && error.status === 404) return null;
        throw error;
      }
    },
  });
}

export function useFrameworks() {
  return $api.useQuery('get', '/v1/frameworks', { params: { query: { limit: 1000 } } });
}

export function useQuestions() {
  return $api.useQuery('get', '/v1/programme/questions', {}, { staleTime: Number.POSITIVE_INFINITY });
}

const preview = (body: PlanProgramme) => ({
  queryKey: ['preview', '/v1/programme/preview', body],
  queryFn: async (): Promise<ProgrammePlan> => {
    const { data } = await api.POST('/v1/programme/preview', { body });
    if (!data) throw Problem.unreachable();
    return data;
  },
});

/** The plan of these settings. The last one stays until the next is computed. */
export function usePreview(body: PlanProgramme) {
  return useQuery({ ...preview(body), placeholderData: keepPreviousData, enabled: body.frameworkIds.length > 0 });
}

/** The keys of the controls that each framework needs by itself, by its alias. */
export function useControlKeys(aliases: string[], scope: PlanProgramme['scope']): Map<string, Set<string>> {
  return useQueries({
    queries: aliases.map((alias) => ({ ...preview({ frameworkIds: [alias], scope }), staleTime: 60_000 })),
    combine: (found) =>
      new Map(
        found.flatMap(({ data }, at): [string, Set<string>][] => {
          const alias = aliases[at];
          return data && alias !== undefined ? [[alias, new Set(data.controls.map(({ key }) => key))]] : [];
        }),
      ),
  });
}

/** The requirements of these frameworks by their id. */
export function useRequirements(frameworks: Framework[], enabled: boolean) {
  return useQueries({
    queries: frameworks.map(({ id }) => ({
      queryKey: ['plan-requirements', '/v1/frameworks', id],
      queryFn: async () =>
        (await api.GET('/v1/frameworks/{id}/requirements', { params: { path: { id }, query: { limit: 1000 } } })).data?.data ??
        [],
      staleTime: 60_000,
      enabled,
    })),
    combine: (found) => ({
      byId: new Map(found.flatMap(({ data }) => (data ?? []).map((one) => [one.id, one] as const))),
      isPending: found.some(({ isPending }) => isPending),
      error: found.find(({ error }) => error)?.error,
    }),
  });
}

/** The start creates records of many kinds, and undoing it deletes them. */
const CHANGED = ['/v1/programme', '/v1/controls', '/v1/policies', '/v1/tasks', '/v1/frameworks', '/v1/context', '/v1/soa'];

export async function start(body: PlanProgramme) {
  const { data } = await api.POST('/v1/programme', { body });
  if (!data) throw Problem.unreachable();
  await refetch(...CHANGED);
  return data;
}

/** Undoes a start, which has to be the last one. */
export async function undo(startId: string) {
  const { data } = await api.POST('/v1/programme/undo', { body: { startId } });
  await refetch(...CHANGED);
  return data;
}

/** Sends a mail to each owner of late items. */
export async function remind() {
  const { data } = await api.POST('/v1/programme/remind');
  if (!data) throw Problem.unreachable();
  return data;
}

/** Moves an item of the plan to another day, shown at once. */
async function setDue({ kind, id }: Item, dueDate: string | null) {
  const path = kind === 'task' ? '/v1/tasks' : '/v1/policies';
  await queries.cancelQueries({ queryKey: KEY });
  const before = queries.getQueryData<Programme | null>(KEY);
  if (before) queries.setQueryData(KEY, withDue(before, id, dueDate, today()));
  try {
    await call('patch', place(path), { path: named(path, id), body: { dueDate } });
  } catch (error) {
    queries.setQueryData(KEY, before);
    throw error;
  }
  await refetch('/v1/programme', path);
}

const failed = (problem: unknown) => toast(words(problem), { bad: true });

/** Moves an item of the plan to another day, with a way back. */
export async function move(item: Item, dueDate: string | null, text: string) {
  try {
    await setDue(item, dueDate);
    toast(text, { undo: () => setDue(item, item.dueDate).catch(failed) });
  } catch (problem) {
    failed(problem);
  }
}
