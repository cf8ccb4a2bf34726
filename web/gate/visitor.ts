import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client';

/** The session of a visitor of the gate; null if there is none. */
export function useVisitor({ enabled = true }: { enabled?: boolean } = {}) {
  return useQuery({
    queryKey: ['session', 'at the gate'],
    queryFn: async () => (await api.GET('/v1/auth/session').catch(() => ({ data: null }))).data ?? null,
    retry: false,
    enabled,
  });
}
