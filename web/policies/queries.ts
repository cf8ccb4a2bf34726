import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { $api, api, type Schemas } from '../api/client';
import type { Words } from '../api/lists';
import { useMe } from '../api/session';
import type { Search } from '../routes';
import type { Node } from './content';

const FILTERS = [
  'status',
  'department',
  'frequency',
  'assigneeId',
  'approverId',
  'isRequiredToSign',
  'isPublished',
  'reviewDue',
  'isArchived',
  'q',
];

/** Changes some fields of a policy, if it is still the version that was read. */
export async function patch(id: string, fields: Partial<Schemas['UpdatePolicy']>, version?: string | null) {
  const { data, response } = await api.PATCH('/v1/policies/{id}', {
    params: { path: { id }, header: version ? { 'If-Match': version } : {} },
    // The document has a default for a field that is left out; a change has none.
    body: fields as Schemas['UpdatePolicy'],
  });
  return { data: data as Schemas['PolicyView'], version: response.headers.get('ETag') };
}

/** The words of the address that the list takes. */
export function queryOf(view: Search): Words<'/v1/policies'> {
  const chosen = Object.fromEntries(FILTERS.flatMap((key) => (view[key] === undefined ? [] : [[key, view[key]]])));
  return { sort: view.sort ?? 'name', order: view.order ?? 'asc', ...chosen };
}

export function useToSign() {
  const { can } = useMe();
  return $api.useQuery('get', '/v1/policies/to-sign', {}, { enabled: can('policy:sign') });
}

export function useSignatures(id: string, enabled = true) {
  return $api.useQuery('get', '/v1/policies/{id}/signatures', { params: { path: { id }, query: { limit: 1000 } } }, { enabled });
}

export function useVersions(id: string, enabled = true) {
  return $api.useQuery('get', '/v1/policies/{id}/versions', { params: { path: { id }, query: { limit: 1000 } } }, { enabled });
}

export function useVersion(id: string, version: string | undefined) {
  return $api.useQuery(
    'get',
    '/v1/policies/{id}/versions/{version}',
    { params: { path: { id, version: version ?? '' } } },
    { enabled: version !== undefined },
  );
}

export function useDiff(id: string, a: string, b: string) {
  return $api.useQuery('get', '/v1/policies/{id}/versions/{a}/diff/{b}', { params: { path: { id, a, b } } });
}

/** What another text would change in the policy as it is. */
export function useProposed(id: string, version: string | null | undefined, content: Node[] | undefined) {
  return useQuery({
    queryKey: ['proposed', '/v1/policies', id, version, content],
    queryFn: async (): Promise<Schemas['PolicyDiff']> => {
      const { data } = await api.POST('/v1/policies/{id}/diff', {
        params: { path: { id } },
        body: { content },
      });
      return data as Schemas['PolicyDiff'];
    },
    enabled: content !== undefined && Boolean(version),
    placeholderData: keepPreviousData,
  });
}

export function useTemplates(enabled: boolean) {
  return $api.useQuery(
    'get',
    '/v1/policy-templates',
    { params: { query: { limit: 1000 } } },
    { enabled, staleTime: Number.POSITIVE_INFINITY },
  );
}

export function useTemplate(id: string | undefined) {
  return $api.useQuery(
    'get',
    '/v1/policy-templates/{id}',
    { params: { path: { id: id ?? '' } } },
    { enabled: id !== undefined, staleTime: Number.POSITIVE_INFINITY },
  );
}
