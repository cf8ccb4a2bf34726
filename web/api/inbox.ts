import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { $api, api, type Schemas } from './client';
import { queries, refetch } from './query';
import { useMe } from './session';

export type InboxItem = Schemas['InboxItem'];
type Page = Schemas['Inbox'];
type Filter = { unread?: boolean; kind?: InboxItem['kind'] };

const PATH = '/v1/inbox' as const;
/** Digests and changes that a member may not see have no event. */
const POLL_MS = 60_000;

/** The number of unread notifications, and the newest one. */
export function useUnread() {
  const { can } = useMe();
  const { data } = $api.useQuery(
    'get',
    PATH,
    { params: { query: { limit: 1 } } },
    { enabled: can('profile:read'), refetchInterval: POLL_MS },
  );
  return { unread: data?.unread, newest: data?.data[0], isEmpty: data?.count === 0 };
}

/** The notifications of the reader, newest first. */
export function useInbox(filter: Filter) {
  const list = useInfiniteQuery({
    queryKey: ['rows', PATH, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => {
      const { data } = await api.GET(PATH, { params: { query: { ...filter, cursor, limit: 100 } } });
      return data as Page;
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  return {
    ...list,
    rows: list.data?.pages.flatMap(({ data }) => data) ?? [],
    more: () => void (hasNextPage && !isFetchingNextPage && !list.error && fetchNextPage()),
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

/** Shows a change before the server has confirmed it. */
function show(change: (item: InboxItem) => InboxItem, unread: (now: number) => number) {
  queries.setQueriesData<InfiniteData<Page>>(
    { queryKey: ['rows', PATH] },
    (old) => old && { ...old, pages: old.pages.map((page) => ({ ...page, data: page.data.map(change) })) },
  );
  queries.setQueriesData<Page>({ queryKey: ['get', PATH] }, (old) => old && { ...old, unread: unread(old.unread) });
}

async function send(body: Schemas['MarkInbox']) {
  try {
    await api.POST('/v1/inbox/read', { body });
  } finally {
    await refetch(PATH);
  }
}

/** Marks notifications as read or unread. */
export async function mark(items: InboxItem[], isRead: boolean) {
  const changed = items.filter(({ readAt }) => (readAt !== null) !== isRead);
  if (changed.length === 0) return;
  const ids = changed.map(({ id }) => id);
  const readAt = isRead ? new Date().toISOString() : null;
  show(
    (item) => (ids.includes(item.id) ? { ...item, readAt } : item),
    (now) => Math.max(0, now + (isRead ? -ids.length : ids.length)),
  );
  for (let at = 0; at < ids.length; at += MAX_IDS) await send({ ids: ids.slice(at, at + MAX_IDS), isRead });
}

/** The maximum number of ids in one request. */
const MAX_IDS = 1000;

/** Marks a notification and all older ones as read. */
export async function markUpTo(newest: InboxItem) {
  const readAt = new Date().toISOString();
  show(
    (item) => (item.id <= newest.id ? { ...item, readAt: item.readAt ?? readAt } : item),
    () => 0,
  );
  await send({ upTo: newest.id });
}
