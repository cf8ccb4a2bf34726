import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { filterOf } from '../../api/bulk';
import { fetchAll, type Words } from '../../api/lists';
import { call } from '../../api/paths';
import type { Search } from '../../routes';
import { askedFor } from '../search';
import type { Definition, RegisterPath, Row } from './definition';
import { noCell } from './filters';

/** The words of the address that the list takes. */
export function queryOf(d: Definition, view: Search): Words<Definition['path']> & Record<string, string> {
  const query: Record<string, string> = { sort: 'residualScore', order: 'desc', ...askedFor(view) };
  // A cell counts what was rated; what was not has the lowest rating by default.
  if (query[d.ratings.inherent.likelihood] !== undefined) query.isAssessed = 'true';
  if (query[d.ratings.residual.likelihood] !== undefined) query.isResidualAssessed = 'true';
  return query;
}

/** The matrix of the rows that the list has; a cell that was picked does not empty the others. */
export function useMatrix(d: Definition, view: Search) {
  const query = filterOf(queryOf(d, { ...view, ...noCell(d) }));
  return useQuery({
    queryKey: ['matrix', d.path, query],
    queryFn: async () => (await call('get', `${d.path}/matrix`, { query })).data,
    placeholderData: keepPreviousData,
  });
}

/** All rows by their id, as they are or were, to show what has changed between. */
export function useAll(d: Definition, asOf: string | undefined, enabled: boolean) {
  return useQuery({
    // Without a key of its own, what is not asked for would report today's error and rows.
    queryKey: ['all', d.path, enabled ? (asOf ?? null) : undefined],
    queryFn: (): Promise<Map<string, Row>> => fetchAll(d.path, asOf ? { asOf } : {}),
    enabled,
    placeholderData: keepPreviousData,
  });
}

export type Changes = { changed: Row[]; added: Row[]; gone: Row[] };

/** What differs between two states of a register: of those that changed the old row, of those that were added the new one. */
export function changes(before: Map<string, Row>, after: Map<string, Row>): Changes {
  const differs = (row: Row) => {
    const now = after.get(row.id);
    return now !== undefined && now.updatedAt !== row.updatedAt;
  };
  return {
    changed: [...before.values()].filter(differs),
    added: [...after.values()].filter((row) => !before.has(row.id)),
    gone: [...before.values()].filter((row) => !after.has(row.id)),
  };
}

export const create = async (d: { path: RegisterPath }, body: object) => (await call('post', d.path, { body })).data;
export const remove = (d: Definition, id: string) => call('delete', `${d.path}/{id}`, { path: { id } });
