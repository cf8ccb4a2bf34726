import { useQueries, useQuery } from '@tanstack/react-query';
import { useBeginning } from '../api/beginning';
import { $api, api, type Schemas } from '../api/client';
import { day, iso } from '../parts/format';

export type Framework = Schemas['Framework'];
export type Readiness = Schemas['FrameworkReadiness'];
export type Requirement = Schemas['Requirement'];
export type Met = Schemas['MetRequirement'];

export function useFrameworks() {
  return $api.useQuery('get', '/v1/frameworks', { params: { query: { limit: 1000 } } });
}

async function readinessOf(id: string, asOf?: string): Promise<Readiness> {
  const { data } = await api.GET('/v1/frameworks/{id}/readiness', { params: { path: { id }, query: asOf ? { asOf } : {} } });
  if (!data) throw new Error('no readiness');
  return data;
}

const readinessKey = (id: string, asOf?: string) => ['readiness', '/v1/frameworks', '/v1/controls', id, asOf ?? null];

export function useReadiness(id: string, asOf?: string, enabled = true) {
  return useQuery({ queryKey: readinessKey(id, asOf), queryFn: () => readinessOf(id, asOf), enabled });
}

/** All that a framework asks for, in its own order. */
export function useRequirements(id: string) {
  return useQuery({
    queryKey: ['requirements', '/v1/frameworks', 'full', id],
    queryFn: async (): Promise<Requirement[]> => {
      const all: Requirement[] = [];
      let cursor: string | undefined;
      do {
        const { data } = await api.GET('/v1/frameworks/{id}/requirements', {
          params: { path: { id }, query: { limit: 1000, cursor } },
        });
        all.push(...(data?.data ?? []));
        cursor = data?.nextCursor ?? undefined;
      } while (cursor);
      return all;
    },
    staleTime: 60_000,
  });
}

const MONTHS = 12;

/** The last days of the past months, oldest first, and today's score last. */
export function monthEnds(now = new Date()): string[] {
  return Array.from({ length: MONTHS }, (_, at) => iso(new Date(now.getFullYear(), now.getMonth() - (MONTHS - 1 - at), 0)));
}

/** How the score went; only the numbers are kept of what was fetched. */
export function useTrend(id: string, today: number | undefined) {
  const began = useBeginning();
  const ends = monthEnds();
  const known = ends.filter((end) => began !== undefined && end >= began);
  const past = useQueries({
    queries: known.map((asOf) => ({
      queryKey: ['score', '/v1/frameworks', id, asOf],
      queryFn: async () => (await readinessOf(id, asOf)).score,
      staleTime: Number.POSITIVE_INFINITY,
      enabled: today !== undefined,
    })),
    combine: (found) => ({
      scores: found.map(({ data }) => data),
      error: found.find(({ error }) => error)?.error,
    }),
  });
  const scores = past.scores.filter((score) => score !== undefined);
  const isWhole = began !== undefined && scores.length === known.length && today !== undefined;
  const none = Array.from({ length: ends.length - known.length }, () => undefined);
  return {
    error: past.error,
    values: isWhole ? [...none, ...scores, today] : undefined,
    /** One point is no line. */
    hasHistory: known.length > 0,
    labels: [ends[0], ends[Math.floor(MONTHS / 2)], iso(new Date())].map((date) => day(date ?? '')),
  };
}
