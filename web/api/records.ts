import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { api } from './client';
import { Problem, words } from './problem';
import { refetch } from './query';

/** Where single records with a version are. */
export type RecordPath =
  | '/v1/risks'
  | '/v1/vendors'
  | '/v1/tasks'
  | '/v1/policies'
  | '/v1/controls'
  | '/v1/context'
  | '/v1/people';

export type Versioned<T> = { data: T; version: string | null };
type Patch = Record<string, unknown>;

// The paths differ only in their first word, so one untyped door serves them all; callers name the type of the record.
// biome-ignore lint/suspicious/noExplicitAny: see above
const door = api as any;
const place = (path: RecordPath) => (path === '/v1/tasks' ? '/v1/tasks/{taskId}' : `${path}/{id}`);
const named = (path: RecordPath, id: string) => (path === '/v1/tasks' ? { taskId: id } : { id });

export async function fetchRecord<T>(path: RecordPath, id: string, asOf?: string): Promise<Versioned<T>> {
  const { data, response } = await door.GET(place(path), { params: { path: named(path, id), query: asOf ? { asOf } : {} } });
  return { data: data as T, version: response.headers.get('ETag') };
}

export function useRecord<T>(path: RecordPath, id: string | undefined, asOf?: string) {
  return useQuery({
    queryKey: ['record', path, id, asOf ?? null],
    queryFn: () => fetchRecord<T>(path, id ?? '', asOf),
    enabled: id !== undefined,
  });
}

export type Conflict<T> = { mine: Patch; theirs: Versioned<T> };

/**
 * Edits of one record: shown at once, saved with the version that was read, undone from a toast. A refused edit is put
 * back and thrown, so that the field can say why; an edit on top of somebody else's becomes a conflict to decide.
 */
export function useEdits<T extends object>(path: RecordPath, id: string) {
  const client = useQueryClient();
  const key = useMemo(() => ['record', path, id, null], [path, id]);
  const [conflict, setConflict] = useState<Conflict<T>>();

  const send = useCallback(
    async (patch: Patch, version: string | null | undefined) => {
      const headers = version ? { 'If-Match': version } : {};
      const { data, response } = await door.PATCH(place(path), { params: { path: named(path, id) }, body: patch, headers });
      client.setQueryData(key, { data, version: response.headers.get('ETag') });
      void refetch(path);
    },
    [client, key, path, id],
  );

  const save = useCallback(
    async (patch: Patch, options: { undo?: boolean } = {}) => {
      const before = client.getQueryData<Versioned<T>>(key);
      if (before) client.setQueryData(key, { ...before, data: { ...before.data, ...patch } });
      try {
        await send(patch, before?.version);
      } catch (error) {
        client.setQueryData(key, before);
        if (error instanceof Problem && error.isConflict) {
          setConflict({ mine: patch, theirs: await fetchRecord<T>(path, id) });
          return;
        }
        throw error;
      }
      if (options.undo !== false && before) {
        const old = Object.fromEntries(Object.keys(patch).map((name) => [name, (before.data as Patch)[name] ?? null]));
        toast(t.edits.saved, { undo: () => save(old, { undo: false }).catch((error) => toast(words(error), { bad: true })) });
      }
    },
    [client, key, send, path, id],
  );

  /** Ends the conflict: with the chosen values on top of theirs, or without mine. */
  const settle = useCallback(
    async (chosen: Patch | undefined) => {
      if (!conflict) return;
      client.setQueryData(key, conflict.theirs);
      if (chosen && Object.keys(chosen).length > 0) await send(chosen, conflict.theirs.version);
      setConflict(undefined);
    },
    [client, conflict, key, send],
  );

  return { save, conflict, settle };
}
