import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type Answer, call, type Path, type Query } from './paths';

type RowsIn<Body> = Body extends { data: (infer Row)[] } ? Row : Body extends (infer Row)[] ? Row : never;

/** The paths that answer a list. */
export type ListPath = { [P in Path]: [RowsIn<Answer<P>>] extends [never] ? never : P }[Path];
export type RowOf<P extends ListPath> = RowsIn<Answer<P>>;

/** A page as every list has it; tasks are answered as a plain array. */
type Page<Row> = { data: Row[]; nextCursor?: string | null; total?: number };
const pageOf = <Row>(body: unknown): Page<Row> =>
  Array.isArray(body) ? { data: body, total: body.length } : (body as Page<Row>);

const PAGE = 200;
/** What the address holds is text; the server says so when a word is not one of its own. */
export type Words<P extends ListPath> = { [K in keyof Query<P>]?: Query<P>[K] | string };
type Options = { path?: Record<string, string>; enabled?: boolean; page?: number };

async function fetchPage<P extends ListPath>(path: P, query: object, names?: Record<string, string>) {
  const { data } = await call('get', path, names ? { path: names, query } : { query });
  return pageOf<RowOf<P>>(data);
}

/** The bounds of a page; tasks come all at once. */
const bounded = (path: ListPath, bounds: object) => (path === '/v1/tasks' ? {} : bounds);

/** A list of any length, a page at a time. What was there stays until what is asked for next has arrived. */
export function useList<P extends ListPath>(path: P, query: Words<P>, { path: names, enabled, page = PAGE }: Options = {}) {
  const list = useInfiniteQuery({
    queryKey: ['rows', path, names ?? null, query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor }) => {
      // What belongs to one record is not counted.
      const isCounted = cursor === undefined && names === undefined;
      const bounds = bounded(path, { limit: page, cursor, ...(isCounted && { total: true }) });
      return fetchPage(path, { ...query, ...bounds }, names);
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    enabled,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  return {
    ...list,
    rows: list.data?.pages.flatMap(({ data }) => data) ?? [],
    total: list.data?.pages[0]?.total,
    // What failed is tried again by the reader, not for ever.
    more: () => void (hasNextPage && !isFetchingNextPage && !list.error && fetchNextPage()),
    /** Loads the pages that are not there yet. */
    loadAll: async () => {
      for (let isMore = hasNextPage; isMore; ) {
        const next = await fetchNextPage();
        if (next.error) throw next.error;
        isMore = next.hasNextPage;
      }
    },
    isLoadingRows: list.isPending || isFetchingNextPage,
  };
}

type Whole<Row> = { data: Row[] | undefined; error: unknown; isPending: boolean; refetch: () => unknown };

/** A list whose rows come all at once, as lists of the console have it. */
export const loaded = <Row>({ data, error, isPending, refetch }: Whole<Row>) => ({
  rows: data ?? [],
  total: data?.length,
  error,
  isPending,
  isLoadingRows: isPending,
  more: () => undefined,
  loadAll: async () => undefined,
  refetch,
});

/** The number of rows that match, without the rows. */
export function useTotal<P extends ListPath>(path: P, query: Words<P>, enabled = true) {
  const { data } = useQuery({
    queryKey: ['total', path, query],
    queryFn: async () => (await fetchPage(path, { ...query, ...bounded(path, { limit: 1, total: true }) })).total ?? 0,
    placeholderData: keepPreviousData,
    enabled,
  });
  return enabled ? data : undefined;
}

/** The first rows whose name, description or reference holds the words; without words the first of all. */
export async function search<P extends ListPath>(path: P, q: string, limit: number): Promise<RowOf<P>[]> {
  return (await fetchPage(path, { q: q || undefined, limit })).data;
}

/** All rows of a list by their id. */
export async function fetchAll<P extends ListPath>(
  path: P,
  query: Words<P>,
  idOf = (row: RowOf<P>) => (row as { id: string }).id,
): Promise<Map<string, RowOf<P>>> {
  const all = new Map<string, RowOf<P>>();
  let cursor: string | undefined;
  do {
    const page: Page<RowOf<P>> = await fetchPage(path, { ...query, limit: 1000, cursor });
    for (const row of page.data) all.set(idOf(row), row);
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  return all;
}
