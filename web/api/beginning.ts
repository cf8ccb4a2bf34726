import { $api } from './client';
import { useMe } from './session';

/** The day on which the organization began: there is nothing before it. */
export function useBeginning(): string | undefined {
  const { can } = useMe();
  const { data } = $api.useQuery('get', '/v1/organization', {}, { enabled: can('organization:read') });
  // Without the permission to see it, all days may have something.
  return can('organization:read') ? data?.createdAt.slice(0, 10) : '';
}
