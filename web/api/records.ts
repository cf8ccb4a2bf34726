import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { actorName } from '../parts/actors';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { ask } from './expiry';
import { type Answer, call, type Path } from './paths';
import { Problem, words } from './problem';
import { queries, refetch } from './query';
import { store } from './store';
import { flush, keep, sendWaitingWith, useWaiting, type Waiting } from './waiting';

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

type Place<P extends RecordPath> = P extends '/v1/tasks' ? '/v1/tasks/{taskId}' : `${P}/{id}`;
export type RecordOf<P extends RecordPath> = Answer<Place<P> & Path>;

/** The path of one record, and the name of its id in it. */
export const place = <P extends RecordPath>(path: P) =>
  (path === '/v1/tasks' ? '/v1/tasks/{taskId}' : `${path}/{id}`) as Place<P> & Path;
export const named = (path: RecordPath, id: string): Record<string, string> => (path === '/v1/tasks' ? { taskId: id } : { id });

export function fetchRecord<P extends RecordPath>(path: P, id: string, asOf?: string): Promise<Versioned<RecordOf<P>>> {
  return call('get', place(path), { path: named(path, id), query: asOf ? { asOf } : {} });
}

export function useRecord<P extends RecordPath>(path: P, id: string | undefined, asOf?: string) {
  return useQuery({
    queryKey: ['record', path, id, asOf ?? null],
    queryFn: () => fetchRecord(path, id ?? '', asOf),
    enabled: id !== undefined,
    // The day that is shown stays until the next one is loaded.
    placeholderData: asOf ? keepPreviousData : undefined,
  });
}

/** `by` and `at`: who saved first, as far as the reader may know. */
export type Conflict<T> = { mine: Patch; theirs: Versioned<T>; by?: string; at?: string };

/** Edits on top of somebody else's, until they are decided. */
const conflicts = store<Record<string, Conflict<object>>>({});
const keyOf = (path: RecordPath, id: string) => ['record', path, id, null];
const nameOf = (path: RecordPath, id: string) => `${path}/${id}`;

function setConflict(path: RecordPath, id: string, conflict: Conflict<object> | undefined) {
  const { [nameOf(path, id)]: _, ...others } = conflicts.get();
  conflicts.set(conflict ? { ...others, [nameOf(path, id)]: conflict } : others);
}

async function send({ path, id, patch, version }: Waiting) {
  const headers: Record<string, string> = version ? { 'If-Match': version } : {};
  const saved = await call('patch', place(path), { path: named(path, id), body: patch, headers });
  queries.setQueryData(keyOf(path, id), saved);
  void refetch(path);
}

const isUnreachable = (error: unknown) => error instanceof Problem && error.status === 0;
const isSignedOut = (error: unknown) => error instanceof Problem && error.status === 401;

/** Who changed a record last, and when; nothing where its history is not the reader's business. */
async function fetchLast(path: RecordPath, id: string): Promise<{ by?: string; at?: string }> {
  if (path === '/v1/people') return {};
  try {
    const { data } = await call('get', `${place(path)}/history`, { path: named(path, id), query: { limit: 1 } });
    const entry = data.data[0];
    return entry ? { by: actorName(entry.actor), at: entry.at } : {};
  } catch {
    return {};
  }
}

async function collide({ path, id, patch }: Waiting) {
  const [theirs, last] = await Promise.all([fetchRecord(path, id), fetchLast(path, id)]);
  setConflict(path, id, { mine: patch, theirs, ...last });
}

// What waited and is refused now has no field to say so any more.
sendWaitingWith(async (edit) => {
  try {
    await send(edit);
    toast(t.edits.saved);
  } catch (error) {
    if (isUnreachable(error) || isSignedOut(error)) return 'unreachable';
    if (error instanceof Problem && error.isConflict) await collide(edit).catch(() => undefined);
    else {
      toast(t.offline.refused(words(error)), { bad: true });
      void queries.invalidateQueries({ queryKey: keyOf(edit.path, edit.id) });
    }
  }
  return 'done';
});

/** Fields that hold a default until somebody sets them, and the field that says so. Null sets them back. */
const SET_BY: Record<string, string> = {
  likelihood: 'isAssessed',
  impact: 'isAssessed',
  inherentProbability: 'isAssessed',
  inherentImpact: 'isAssessed',
  residualLikelihood: 'isResidualAssessed',
  residualProbability: 'isResidualAssessed',
  residualImpact: 'isResidualAssessed',
  treatmentStrategy: 'treatmentDecidedAt',
};

const isUnset = (data: Patch, name: string) => {
  const by = SET_BY[name];
  return by !== undefined && by in data && !data[by];
};

/** The patch that takes an edit back. What was nobody's before is nobody's again. */
export function undoOf(data: Patch, patch: Patch): Patch {
  const old: Patch = {};
  for (const name of Object.keys(patch)) old[name] = isUnset(data, name) ? null : (data[name] ?? null);
  // To describe a treatment is to decide on it.
  if ('treatmentStrategyDescription' in patch && isUnset(data, 'treatmentStrategy')) old.treatmentStrategy = null;
  return old;
}

/** A record with a patch that is not saved yet. */
function patched(data: Patch, patch: Patch): Patch {
  const next = { ...data, ...patch };
  for (const [name, value] of Object.entries(patch)) {
    const by = SET_BY[name];
    if (value !== null || by === undefined) continue;
    next[name] = data[name];
    next[by] = by === 'treatmentDecidedAt' ? null : false;
  }
  return next;
}

type Outcome = 'saved' | 'waiting' | 'conflict';
type SaveOptions = {
  undo?: boolean;
  /** The values the reader saw. */
  seen?: Patch;
};

/**
 * Saves an edit of one record: shown at once, saved with the version that was read, undone from a toast. A refused edit is
 * put back and thrown, so that the field can say why; an edit on top of somebody else's becomes a conflict to decide; an
 * edit that no answer comes to waits until one can.
 */
export async function saveEdit(path: RecordPath, id: string, patch: Patch, options: SaveOptions = {}): Promise<Outcome> {
  const key = keyOf(path, id);
  const before = queries.getQueryData<Versioned<Patch>>(key);
  const isOvertaken = Object.entries(options.seen ?? {}).some(
    ([name, value]) => (value ?? null) !== (before?.data[name] ?? null),
  );
  if (before && isOvertaken) {
    setConflict(path, id, { mine: patch, theirs: before, ...(await fetchLast(path, id)) });
    return 'conflict';
  }
  const edit = { path, id, patch, version: before?.version ?? null };
  if (before) queries.setQueryData(key, { ...before, data: patched(before.data, patch) });
  try {
    await send(edit);
  } catch (error) {
    if (isUnreachable(error) || isSignedOut(error)) {
      keep({ ...edit, isSignedOut: isSignedOut(error) });
      if (isSignedOut(error)) void ask().then(flush);
      return 'waiting';
    }
    queries.setQueryData(key, before);
    if (error instanceof Problem && error.isConflict) {
      await collide(edit);
      return 'conflict';
    }
    throw error;
  }
  if (options.undo !== false && before) {
    const old = undoOf(before.data, patch);
    toast(t.edits.saved, { undo: () => saveEdit(path, id, old, { undo: false }).catch(tell) });
  }
  return 'saved';
}

const tell = (error: unknown) => toast(words(error), { bad: true });

/**
 * Saves an edit from a list, on the record as it is now, with a way back. A list has nowhere to decide a conflict: it is
 * told, and decided where the record is open.
 */
export async function saveFromList(path: RecordPath, id: string, patch: Patch, seen: Patch, message?: string): Promise<void> {
  try {
    queries.setQueryData(keyOf(path, id), await fetchRecord(path, id));
  } catch (error) {
    // The edit waits, as one in the record does.
    if (!isUnreachable(error) && !isSignedOut(error)) throw error;
  }
  const outcome = await saveEdit(path, id, patch, { undo: false, seen });
  if (outcome === 'conflict') {
    toast(t.edits.conflictTitle, { bad: true });
    void refetch(path);
  } else if (outcome === 'saved' && message !== undefined)
    toast(message, { undo: () => saveFromList(path, id, seen, patch).catch(tell) });
}

/** Edits of one record, its conflict and what of it waits to be sent. */
export function useEdits<P extends RecordPath>(path: P, id: string) {
  const conflict = conflicts.use()[nameOf(path, id)] as Conflict<RecordOf<P>> | undefined;
  const waiting = useWaiting().find((one) => one.path === path && one.id === id);

  const save = useCallback((patch: Patch, options?: SaveOptions) => saveEdit(path, id, patch, options), [path, id]);

  /** Saves one field. `seen` is what it was when the reader began to type: it may have been changed meanwhile. */
  const field = useCallback(
    (name: string) => (next: unknown, seen?: unknown) =>
      save({ [name]: next }, seen === undefined ? {} : { seen: { [name]: seen } }),
    [save],
  );

  /** Ends the conflict: with the chosen values on top of theirs, or without mine. */
  const settle = useCallback(
    async (chosen: Patch | undefined) => {
      if (!conflict) return;
      queries.setQueryData(keyOf(path, id), conflict.theirs);
      if (chosen && Object.keys(chosen).length > 0) await send({ path, id, patch: chosen, version: conflict.theirs.version });
      setConflict(path, id, undefined);
    },
    [conflict, path, id],
  );

  return {
    save,
    field,
    conflict,
    settle,
    waiting: Object.keys(waiting?.patch ?? {}),
    isSignedOut: waiting?.isSignedOut ?? false,
  };
}
