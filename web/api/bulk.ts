import { orgFetch } from './demands';
import { organization } from './organization';
import { type Answer, call } from './paths';
import { problemOf } from './problem';

/** The registers whose rows can be changed many at a time. */
export type BulkPath = '/v1/risks' | '/v1/vendors' | '/v1/tasks' | '/v1/controls' | '/v1/policies';
/** Rows by their ids, or all rows that a list has with these parameters. */
export type Selection = { ids: string[] } | { filter: Record<string, string>; count: number };
/** Links are those of controls. */
export type Action = { change: object } | { link: object } | { unlink: object } | { delete: true };
export type BulkOutcome = Answer<'/v1/risks/bulk', 'post'>;

/** As many ids as one request takes. */
const MAX_IDS = 1000;

export const countOf = (selection: Selection) => ('ids' in selection ? selection.ids.length : selection.count);

/** What a list is asked for, without what only orders it. */
export function filterOf({ sort: _, order: __, ...query }: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])));
}

async function send(path: BulkPath, body: object): Promise<BulkOutcome> {
  return (await call('post', `${path}/bulk`, { body })).data as BulkOutcome;
}

/** Changes, links or deletes the rows of a selection; more ids than one request takes are several changes. */
export async function bulk(path: BulkPath, selection: Selection, action: Action): Promise<BulkOutcome[]> {
  if ('filter' in selection) return [await send(path, { filter: selection.filter, ...action })];
  const outcomes: BulkOutcome[] = [];
  for (let at = 0; at < selection.ids.length; at += MAX_IDS)
    outcomes.push(await send(path, { ids: selection.ids.slice(at, at + MAX_IDS), ...action }));
  return outcomes;
}

/** Takes the changes back, the last one first. */
export async function undoBulk(path: BulkPath, outcomes: BulkOutcome[]): Promise<BulkOutcome[]> {
  const undone: BulkOutcome[] = [];
  for (const { undo } of [...outcomes].reverse()) if (undo) undone.push(await send(path, { undo }));
  return undone;
}

/** The rows of a selection as a file. */
export async function exportOf(path: BulkPath, selection: Selection, format: string): Promise<Response> {
  const headers = { 'X-Organization-Id': organization() ?? '' };
  const response =
    'filter' in selection
      ? await orgFetch(`${path}/export?${new URLSearchParams({ ...selection.filter, format })}`, { headers })
      : await orgFetch(`${path}/export?format=${format}`, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify({ ids: selection.ids }),
        });
  if (!response.ok) throw await problemOf(response);
  return response;
}
