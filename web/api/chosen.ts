import { $api, api } from './client';
import { refetch } from './query';
import { useMe } from './session';

/** The frameworks the organization has chosen to work on. */
export function useChosen() {
  const { can } = useMe();
  const { data } = $api.useQuery('get', '/v1/organization', {}, { enabled: can('organization:read') });
  const chosen = data?.frameworkIds ?? [];
  const choose = async (id: string, isChosen: boolean) => {
    const frameworkIds = isChosen ? [...chosen, id] : chosen.filter((one) => one !== id);
    await api.PATCH('/v1/organization', { body: { frameworkIds } });
    await refetch('/v1/organization');
  };
  return { chosen, choose };
}
