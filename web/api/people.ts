import { useMemo } from 'react';
import { $api, api, type Schemas } from './client';
import { useMe } from './session';

export type Member = Schemas['Member'];

/** Exempts an owner from single sign-on, or ends that. The session must have been confirmed. */
export const exempt = (id: string, isExempt: boolean) =>
  api.PATCH('/v1/people/{id}', { params: { path: { id } }, body: { isExempt } });

/** Everybody of the organization by their id: names for owners, choices for assignees. */
export function usePeople() {
  const { can } = useMe();
  const { data } = $api.useQuery(
    'get',
    '/v1/people',
    { params: { query: { limit: 1000 } } },
    { enabled: can('member:read'), staleTime: 60_000 },
  );
  return useMemo(() => {
    const all = data?.data ?? [];
    const byId = new Map(all.map((member) => [member.id, member]));
    return {
      all,
      active: all.filter((member) => member.isActive),
      name: (id: string | null | undefined) => (id ? byId.get(id)?.user.name : undefined),
    };
  }, [data]);
}
