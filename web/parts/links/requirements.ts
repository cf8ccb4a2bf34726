import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { $api, api } from '../../api/client';

export type Asked = { id: string; code: string; title: string; framework: string; alias: string };

/** Every requirement of every framework by its id; they hardly ever change. */
export function useRequirements(enabled = true) {
  const frameworks = $api.useQuery(
    'get',
    '/v1/frameworks',
    { params: { query: { limit: 1000 } } },
    { enabled, staleTime: 300_000 },
  );
  const all = useQueries({
    queries: (frameworks.data?.data ?? []).map(({ id, name, alias }) => ({
      queryKey: ['requirements', '/v1/frameworks', id],
      queryFn: () => requirementsOf(id, name, alias),
      staleTime: 300_000,
      enabled,
    })),
    combine: (found) => found.map(({ data }) => data),
  });
  const known = all.filter((one) => one !== undefined).length;
  return useMemo(() => {
    const asked = all.flatMap((one) => one ?? []);
    return { all: asked, byId: new Map(asked.map((one) => [one.id, one])) };
  }, [known, frameworks.data]);
}

async function requirementsOf(id: string, framework: string, alias: string): Promise<Asked[]> {
  const asked: Asked[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await api.GET('/v1/frameworks/{id}/requirements', {
      params: { path: { id }, query: { limit: 1000, cursor } },
    });
    for (const { id, code, title } of data?.data ?? []) asked.push({ id, code, title, framework, alias });
    cursor = data?.nextCursor ?? undefined;
  } while (cursor);
  return asked;
}
