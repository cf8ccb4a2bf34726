import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { $api, api, type Schemas } from '../api/client';
import { organization } from '../api/organization';

export type Document = Schemas['SoaDocument'];
export type Rows = Schemas['SoaRows'];

export function useFrameworks() {
  return $api.useQuery('get', '/v1/frameworks', { params: { query: { limit: 1000 } } }, { staleTime: 60_000 });
}

/** All statements of the organization, newest first. */
export function useDocuments() {
  return $api.useQuery('get', '/v1/soa/documents', { params: { query: { limit: 1000 } } });
}

export const rowsKey = (id: string) => ['rows', '/v1/soa/documents', id];

export function useRows(id: string | undefined, asOf?: string) {
  return useQuery({
    queryKey: asOf ? [...rowsKey(id ?? ''), asOf] : rowsKey(id ?? ''),
    queryFn: async (): Promise<Rows> => {
      const params = { path: { id: id ?? '' }, query: asOf ? { asOf } : {} };
      const { data } = await api.GET('/v1/soa/documents/{id}/rows', { params });
      if (!data) throw new Error('no rows');
      return data;
    },
    enabled: id !== undefined,
    // The day that is shown stays until the next one is loaded.
    placeholderData: asOf ? keepPreviousData : undefined,
  });
}

/** Each request names the organization in its body as well. */
export const own = () => ({ organizationId: organization() ?? '' });
