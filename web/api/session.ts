import { useQuery } from '@tanstack/react-query';
import { api, type Schemas } from './client';
import { chooseOrganization, organization } from './organization';

export type Session = Schemas['CurrentSession'];
export type Membership = Schemas['MembershipView'];

export const sessionQuery = {
  queryKey: ['session'],
  queryFn: async (): Promise<Session> => {
    const { data } = await api.GET('/v1/auth/session');
    if (!data) throw new Error('no session');
    return data;
  },
  staleTime: 60_000,
  retry: false,
} as const;

export function useSession() {
  return useQuery(sessionQuery);
}

/** The membership that this browser looks at: the chosen one, or else the first. */
export function current(session: Session): Membership | undefined {
  const chosen = session.organizations.find((one) => one.id === organization()) ?? session.organizations[0];
  if (chosen && chosen.id !== organization()) chooseOrganization(chosen.id);
  return chosen;
}

/** The signed-in user, inside pages that need one. */
export function useMe() {
  const { data } = useSession();
  const membership = data && current(data);
  const permissions = new Set(membership?.permissions ?? []);
  return {
    user: data?.user,
    membership,
    memberId: membership?.memberId,
    /** True if the role allows it. What it does not allow is not offered. */
    can: (permission: string) => permissions.has(permission),
  };
}
