import { useQueries, useQuery } from '@tanstack/react-query';
import { useBeginning } from '../api/beginning';
import { useChosen } from '../api/chosen';
import { $api, api, type Schemas } from '../api/client';
import { useMe } from '../api/session';
import { iso } from '../parts/format';

type Task = Schemas['Task'];
export type Readiness = { id: string; name: string; now: number; points: (number | undefined)[] };

export function useTasks(query: { assigneeId?: string } = {}, enabled = true) {
  return useQuery({
    queryKey: ['home', '/v1/tasks', query],
    queryFn: async (): Promise<Task[]> => {
      const { data } = await api.GET('/v1/tasks', { params: { query } });
      return Array.isArray(data) ? data : [];
    },
    enabled,
  });
}

/** Policies that this reader is asked to approve. */
export function useApprovals() {
  const { can, memberId } = useMe();
  const query = { status: 'needs_review', approverId: memberId, limit: 20 } as const;
  return $api.useQuery(
    'get',
    '/v1/policies',
    { params: { query } },
    { enabled: can('policy:approve') && memberId !== undefined },
  );
}

export function useToSign() {
  const { can } = useMe();
  return $api.useQuery('get', '/v1/policies/to-sign', {}, { enabled: can('policy:sign') });
}

export function useRequests() {
  const { can } = useMe();
  const query = { status: 'under_review', limit: 20 } as const;
  return $api.useQuery('get', '/v1/trust-access/admin/requests', { params: { query } }, { enabled: can('trust-access:read') });
}

export function useActivity() {
  const { can } = useMe();
  return $api.useQuery('get', '/v1/audit-logs', { params: { query: { limit: 40 } } }, { enabled: can('audit-log:read') });
}

/** The names of those who read documents of the portal, by their access. */
export function useVisitors(): Map<string, string> {
  const { can } = useMe();
  const query = { limit: 200 };
  const { data } = $api.useQuery(
    'get',
    '/v1/trust-access/admin/grants',
    { params: { query } },
    { enabled: can('trust-access:read') },
  );
  return new Map(data?.data.map(({ id, name }) => [id, name]));
}

/** At most this many lines can be told apart. */
const LINES = 3;
/** Every two months of the last year, and now. */
const POINTS = 7;

/** The last days of which readiness is asked, oldest first; the last is now. */
function dates(): (string | undefined)[] {
  return Array.from({ length: POINTS }, (_, at) => {
    const back = POINTS - 1 - at;
    if (back === 0) return undefined;
    const date = new Date();
    date.setMonth(date.getMonth() - back * 2);
    return iso(date);
  });
}

/** How ready the organization is for the frameworks it works on, over the last year. */
export function useReadiness(): { lines: Readiness[]; isPending: boolean } {
  const { can } = useMe();
  const enabled = can('framework:read');
  const frameworks = $api.useQuery('get', '/v1/frameworks', { params: { query: { limit: 100 } } }, { enabled });
  const began = useBeginning();
  const { chosen } = useChosen();
  const all = (frameworks.data?.data ?? []).filter(({ id }) => chosen.length === 0 || chosen.includes(id));
  const read = (id: string, asOf?: string) => ({
    queryKey: ['readiness', '/v1/frameworks', id, asOf ?? null],
    queryFn: async () =>
      (await api.GET('/v1/frameworks/{id}/readiness', { params: { path: { id }, query: { asOf } } })).data ?? null,
    staleTime: asOf ? Number.POSITIVE_INFINITY : 60_000,
  });
  const now = useQueries({ queries: all.map(({ id }) => read(id)) });
  const used = all
    .map(({ id, name }, at) => ({ id, name, readiness: now[at]?.data }))
    .filter(
      ({ id, readiness }) =>
        readiness &&
        (chosen.includes(id) || readiness.counts.ready + readiness.counts.inProgress + readiness.counts.notStarted > 0),
    )
    .sort((a, b) => (b.readiness?.score ?? 0) - (a.readiness?.score ?? 0))
    .slice(0, LINES);
  const days = dates();
  // Before the organization began there is nothing to ask for.
  const known = days.slice(0, -1).filter((day) => began !== undefined && day !== undefined && day >= began);
  const past = useQueries({ queries: used.flatMap(({ id }) => known.map((day) => read(id, day))) });
  const none = Array.from({ length: POINTS - 1 - known.length }, () => undefined);
  const lines = used.map(({ id, name, readiness }, at) => {
    const earlier = past.slice(at * known.length, (at + 1) * known.length).map((one) => one.data?.score ?? 0);
    return { id, name, now: readiness?.score ?? 0, points: [...none, ...earlier, readiness?.score ?? 0] };
  });
  const isPending = (enabled && began === undefined) || [frameworks, ...now, ...past].some((one) => one.isPending);
  return { lines, isPending };
}
