import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { $api, api, type Schemas } from '../api/client';
import { fetchRecord } from '../api/records';
import { askedFor } from '../parts/search';
import type { Search } from '../routes';
import { idsOf, type Kind } from './fields';

export type Control = Schemas['ControlView'];

/** The words of the address that the list takes. */
export function queryOf(view: Search): Record<string, string> {
  return { sort: 'createdAt', order: 'asc', ...askedFor(view) };
}

export type Asked = { id: string; code: string; title: string; framework: string };

/** Every requirement of every framework by its id; they hardly ever change. */
export function useRequirements(enabled = true) {
  const frameworks = $api.useQuery(
    'get',
    '/v1/frameworks',
    { params: { query: { limit: 1000 } } },
    { enabled, staleTime: 300_000 },
  );
  const all = useQueries({
    queries: (frameworks.data?.data ?? []).map(({ id, name }) => ({
      queryKey: ['requirements', '/v1/frameworks', id],
      queryFn: () => requirementsOf(id, name),
      staleTime: 300_000,
      enabled,
    })),
    combine: (found) => found.map(({ data }) => data),
  });
  const known = all.filter((one) => one !== undefined).length;
  return useMemo(() => {
    const asked = all.flatMap((one) => one ?? []);
    return { all: asked, byId: new Map(asked.map((one) => [one.id, one])), frameworks: frameworks.data?.data ?? [] };
  }, [known, frameworks.data]);
}

async function requirementsOf(id: string, framework: string): Promise<Asked[]> {
  const asked: Asked[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await api.GET('/v1/frameworks/{id}/requirements', {
      params: { path: { id }, query: { limit: 1000, cursor } },
    });
    for (const { id, code, title } of data?.data ?? []) asked.push({ id, code, title, framework });
    cursor = data?.nextCursor ?? undefined;
  } while (cursor);
  return asked;
}

export type Linked = { id: string; reference: string; name: string; group?: string };
const paths = { policy: '/v1/policies', task: '/v1/tasks', risk: '/v1/risks', vendor: '/v1/vendors' } as const;
type Named = { id: string; reference: string; name?: string; title?: string };
const linked = ({ id, reference, name, title }: Named): Linked => ({ id, reference, name: name ?? title ?? '' });

/** What a control is linked to of one kind, with names. What cannot be seen is named by its id. */
export function useLinked(kind: Kind, control: Control): Linked[] {
  const ids = control[idsOf[kind]];
  const { byId } = useRequirements(kind === 'requirement' && ids.length > 0);
  const records = useQueries({
    queries: (kind === 'requirement' ? [] : ids).map((id) => ({
      queryKey: ['record', paths[kind as keyof typeof paths], id, null],
      queryFn: () => fetchRecord(paths[kind as keyof typeof paths], id),
      staleTime: 60_000,
    })),
  });
  if (kind === 'requirement')
    return ids.map((id) => {
      const asked = byId.get(id);
      return { id, reference: asked?.code ?? '…', name: asked?.title ?? '', group: asked?.framework };
    });
  return ids.map((id, at) => {
    const record = records[at]?.data?.data;
    return record ? linked(record) : { id, reference: '', name: records[at]?.error ? id : '…' };
  });
}

const FOUND = 30;

/** What could be linked, by a few letters of its name or its reference. */
export function useFound(kind: Kind, letters: string, enabled: boolean): Linked[] {
  const { all } = useRequirements(enabled && kind === 'requirement');
  const { data } = useQuery({
    queryKey: ['found', kind === 'requirement' ? '' : paths[kind], letters],
    queryFn: async (): Promise<Linked[]> => {
      const q = letters.trim() === '' ? {} : { q: letters.trim() };
      const params = { params: { query: { ...q, limit: FOUND } } };
      const found = {
        policy: async () => (await api.GET('/v1/policies', params)).data?.data ?? [],
        task: async () => (await api.GET('/v1/tasks', params)).data ?? [],
        risk: async () => (await api.GET('/v1/risks', params)).data?.data ?? [],
        vendor: async () => (await api.GET('/v1/vendors', params)).data?.data ?? [],
      };
      const all = kind === 'requirement' ? [] : await found[kind]();
      return (all as Named[]).map(linked);
    },
    enabled: enabled && kind !== 'requirement',
    placeholderData: keepPreviousData,
  });
  if (kind !== 'requirement') return data ?? [];
  const wanted = letters.trim().toLowerCase();
  return all
    .filter(({ code, title, framework }) => `${code} ${title} ${framework}`.toLowerCase().includes(wanted))
    .slice(0, FOUND * 2)
    .map(({ id, code, title, framework }) => ({ id, reference: code, name: title, group: framework }));
}
