import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // The server's word is final; only a missing answer is worth another try.
      retry: (count, error) => error instanceof Problem && (error.status === 0 || error.status === 503) && count < 3,
      refetchOnWindowFocus: false,
    },
    mutations: { retry: false },
  },
});

/** Whatever was fetched from these paths is fetched again: the lists, the single records, their histories. */
export function refetch(...prefixes: string[]) {
  return queries.invalidateQueries({
    predicate: ({ queryKey }) =>
      queryKey.some((part) => typeof part === 'string' && prefixes.some((prefix) => part.startsWith(prefix))),
  });
}

/** Whether it is on its way for the first time. What has failed once no longer holds up a page. */
export const isFirst = (query: { isLoading: boolean; failureCount: number; errorUpdateCount: number }) =>
  query.isLoading && query.failureCount === 0 && query.errorUpdateCount === 0;
