import { useMemo } from 'react';
import { $api, api, type Schemas } from './client';
import { useMe } from './session';

export type Member = Schemas['Member'];
export type ServiceAccount = Schemas['ServiceAccount'];

/** The service accounts; their API keys are below them. */
export const SERVICE_ACCOUNTS = '/v1/organization/service-accounts' as const;

/** Exempts an owner from single sign-on, or ends that. The session must have been confirmed. */
export const exempt = (id: string, isExempt: boolean) =>
  api.PATCH('/v1/people/{id}', { params: { path: { id } }, body: { isExempt } });

/** Everybody of the organization by their id: names for owners, choices for assignees. Service accounts have names only. */
export function usePeople() {
  const { can } = useMe();
  const { data } = $api.useQuery(
    'get',
    '/v1/people',
    { params: { query: { limit: 1000 } } },
    { enabled: can('member:read'), staleTime: 60_000 },
  );
  const accounts = $api.useQuery('get', SERVICE_ACCOUNTS, {}, { enabled: can('api-key:read'), staleTime: 60_000 });
  return useMemo(() => {
    const all = data?.data ?? [];
    const names = new Map([
      ...(accounts.data?.data ?? []).map(({ memberId, name }) => [memberId, name] as const),
      ...all.map(({ id, user }) => [id, user.name] as const),
    ]);
    return {
      all,
      active: all.filter((member) => member.isActive),
      name: (id: string | null | undefined) => (id ? names.get(id) : undefined),
    };
  }, [data, accounts.data]);
}
