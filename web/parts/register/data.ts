import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, type Schemas } from '../../api/client';
import type { Search } from '../../routes';
import type { Definition, Row } from './definition';

// biome-ignore lint/suspicious/noExplicitAny: risks and vendors differ only in their filters
const door = api as any;
const PAGE = 200;
/** Words of the address that change the view and not the set. */
const VIEW = ['open', 'density', 'new', 'import', 'changed', 'until'];

type Page = { data: Row[]; nextCursor?: string | null; total?: number };

/** The words of the address that the list takes. */
export function queryOf(d: Definition, view: Search): Record<string, string> {
  const { sort = 'residualScore', order = 'desc', ...rest } = view;
  const query: Record<string, string> = { sort, order };
  for (const [key, text] of Object.entries(rest)) if (text !== undefined && !VIEW.includes(key)) query[key] = text;
  // A cell counts what was rated; what was not has the lowest rating by default.
  if (query[d.ratings.inherent.likelihood] !== undefined) query.isAssessed = 'true';
  if (query[d.ratings.residual.likelihood] !== undefined) query.isResidualAssessed = 'true';
  return { ...query, ...(d.entity === 'vendor' && query.sort === 'title' ? { sort: 'name' } : {}) };
}

export function useRows(d: Definition, view: Search) {
  const query = queryOf(d, view);
  const list = useInfiniteQuery({
    queryKey: ['rows', d.path, query],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }): Promise<Page> => {
      const first = pageParam === undefined ? { total: true } : {};
      const { data } = await door.GET(d.path, { params: { query: { ...query, ...first, limit: PAGE, cursor: pageParam } } });
      return data;
    },
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
  return { ...list, rows, total: list.data?.pages[0]?.total };
}

/** A count of the rows that fit, without the rows. */
export function useTotal(d: Definition, query: Record<string, string | boolean>, enabled = true) {
  const { data } = useQuery({
    queryKey: ['total', d.path, query],
    queryFn: async (): Promise<number> =>
      (await door.GET(d.path, { params: { query: { ...query, limit: 1, total: true } } })).data.total,
    enabled,
  });
  return data;
}

export function useMatrix(d: Definition) {
  return useQuery({
    queryKey: ['matrix', d.path],
    queryFn: async (): Promise<Schemas['MatrixView']> => (await door.GET(`${d.path}/matrix`)).data,
  });
}

/** All rows by their id, as they are or were, to show what has changed between. */
export function useAll(d: Definition, asOf: string | undefined, enabled: boolean) {
  return useQuery({
    // Without a key of its own, what is not asked for would report today's error and rows.
    queryKey: ['all', d.path, enabled ? (asOf ?? null) : undefined],
    queryFn: async (): Promise<Map<string, Row>> => {
      const all = new Map<string, Row>();
      let cursor: string | undefined;
      do {
        const { data } = await door.GET(d.path, { params: { query: { limit: 1000, cursor, asOf } } });
        for (const row of (data as Page).data) all.set(row.id, row);
        cursor = (data as Page).nextCursor ?? undefined;
      } while (cursor);
      return all;
    },
    enabled,
    placeholderData: keepPreviousData,
  });
}

export type Changes = { changed: Row[]; added: Row[]; gone: Row[] };

/** What differs between two states of a register: of those that changed the old row, of those that were added the new one. */
export function changes(before: Map<string, Row>, after: Map<string, Row>): Changes {
  const differs = (row: Row) => {
    const now = after.get(row.id);
    return now !== undefined && now.updatedAt !== row.updatedAt;
  };
  return {
    changed: [...before.values()].filter(differs),
    added: [...after.values()].filter((row) => !before.has(row.id)),
    gone: [...before.values()].filter((row) => !after.has(row.id)),
  };
}

export const create = (d: { path: string }, body: object): Promise<Row> =>
  door.POST(d.path, { body }).then(({ data }: { data: Row }) => data);
export const change = (d: Definition, id: string, body: object) =>
  door.PATCH(`${d.path}/{id}`, { params: { path: { id } }, body });
export const remove = (d: Definition, id: string) => door.DELETE(`${d.path}/{id}`, { params: { path: { id } } });
