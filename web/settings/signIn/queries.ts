import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { $api, api } from '../../api/client';
import type { Versioned } from '../../api/records';
import { useMe } from '../../api/session';
import type { Policy } from './policy';

export const POLICY = '/v1/organization/sign-in-policy' as const;
export const CONNECTIONS = '/v1/organization/sso-connections' as const;
export const DOMAINS = '/v1/organization/domains' as const;
/** Its tokens, groups and requests are below it. */
export const DIRECTORY = '/v1/organization/directory' as const;

export async function fetchPolicy(): Promise<Versioned<Policy>> {
  const { data, response } = await api.GET(POLICY);
  return { data: data as Policy, version: response.headers.get('ETag') };
}

/** The sign-in policy, for readers who may see it. */
export function usePolicy() {
  const { can } = useMe();
  return useQuery({ queryKey: ['policy', POLICY], queryFn: fetchPolicy, enabled: can('identity:read') });
}

/** The sign-in of the members of the organization: the policy, the connections and the domains, once all are there. */
export function useSignIn() {
  const policy = usePolicy();
  // A test ends in another window.
  const connections = $api.useQuery('get', CONNECTIONS, {}, { refetchOnWindowFocus: 'always' });
  const domains = $api.useQuery('get', DOMAINS);
  const all = [policy, connections, domains];
  const data = policy.data &&
    connections.data &&
    domains.data && { policy: policy.data, connections: connections.data.data, domains: domains.data.data };
  return {
    data,
    error: all.find(({ error }) => error)?.error,
    refetch: () => Promise.all(all.map((query) => query.refetch())),
  };
}

/** The directory of the organization with its tokens and groups, once all are there. */
export function useDirectory() {
  // It is set up in another window, at the identity provider.
  const options = { refetchOnWindowFocus: 'always' } as const;
  const directory = $api.useQuery('get', DIRECTORY, {}, options);
  const tokens = $api.useQuery('get', `${DIRECTORY}/tokens`, {}, options);
  const groups = $api.useQuery('get', `${DIRECTORY}/groups`, {}, options);
  const all = [directory, tokens, groups];
  const data = directory.data &&
    tokens.data &&
    groups.data && { directory: directory.data, tokens: tokens.data.data, groups: groups.data.data };
  return {
    data,
    error: all.find(({ error }) => error)?.error,
    refetch: () => Promise.all(all.map((query) => query.refetch())),
  };
}

const REQUESTS = `${DIRECTORY}/requests` as const;

/** The last requests of the identity provider, newest first, a page at a time. */
export function useDirectoryRequests() {
  return useInfiniteQuery({
    queryKey: ['rows', REQUESTS],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam: cursor }) => (await api.GET(REQUESTS, { params: { query: { cursor, limit: 50 } } })).data,
    getNextPageParam: (page) => page?.nextCursor ?? undefined,
    // They are made in another window, at the identity provider.
    refetchOnWindowFocus: 'always',
  });
}
