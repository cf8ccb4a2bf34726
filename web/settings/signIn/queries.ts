import { useQuery } from '@tanstack/react-query';
import { $api, api } from '../../api/client';
import type { Versioned } from '../../api/records';
import type { Policy } from './policy';

export const POLICY = '/v1/organization/sign-in-policy' as const;
export const CONNECTIONS = '/v1/organization/sso-connections' as const;
export const DOMAINS = '/v1/organization/domains' as const;

export async function fetchPolicy(): Promise<Versioned<Policy>> {
  const { data, response } = await api.GET(POLICY);
  return { data: data as Policy, version: response.headers.get('ETag') };
}

/** The sign-in of the members of the organization: the policy, the connections and the domains, once all are there. */
export function useSignIn() {
  const policy = useQuery({ queryKey: ['policy', POLICY], queryFn: fetchPolicy });
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
