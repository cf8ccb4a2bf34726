import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Problem, words } from '../api/problem';
import { refetch } from '../api/query';
import { fetchRecord, type Versioned } from '../api/records';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { isSame, type Node } from './content';
import { dropDraft, keepDraft } from './draft';
import type { PolicyView } from './fields';
import { patch } from './queries';

export type Saved =
  | { state: 'clean' | 'changed' | 'saving' | 'saved' }
  | { state: 'failed'; why: string }
  | { state: 'conflict'; theirs: Versioned<PolicyView> };

/** Saves a text with the version that was read; what somebody else has changed beside the text does not stand in its way. */
export async function saveText(id: string, content: Node[], base: { version: string | null; content: Node[] }) {
  const send = (version: string | null) => patch(id, { content }, version);
  try {
    return { saved: await send(base.version) };
  } catch (error) {
    if (!(error instanceof Problem) || !error.isConflict) throw error;
    const theirs = await fetchRecord('/v1/policies', id);
    // A save whose answer was lost, as when the page was closed, is a save.
    if (isSame(theirs.data.content, content)) return { saved: theirs };
    if (!isSame(theirs.data.content, base.content)) return { theirs };
    return { saved: await send(theirs.version) };
  }
}

/**
 * Keeps what is typed: in this browser at once, on the server when the writer leaves the text. A save that fails or meets
 * somebody else's leaves the text where it is.
 */
export function useSaving(id: string, start: { version: string | null; content: Node[] }, current: () => Node[] | undefined) {
  const client = useQueryClient();
  const base = useRef(start);
  const sent = useRef(start.content);
  const running = useRef<Promise<boolean>>(undefined);
  const [status, setStatus] = useState<Saved>({ state: 'clean' });
  const latest = useRef(status);
  latest.current = status;
  const read = useRef(current);
  read.current = current;

  /** Whether everything that was typed is on the server afterwards. */
  const run = useCallback(async (): Promise<boolean> => {
    const content = read.current();
    if (!content || latest.current.state === 'conflict') return false;
    if (isSame(content, sent.current)) return true;
    setStatus({ state: 'saving' });
    try {
      const { saved, theirs } = await saveText(id, content, base.current);
      if (theirs) {
        setStatus({ state: 'conflict', theirs });
        return false;
      }
      base.current = { version: saved.version, content: saved.data.content };
      sent.current = content;
      client.setQueryData(['record', '/v1/policies', id, null], saved);
      void refetch('/v1/policies');
      const now = read.current() ?? content;
      if (isSame(now, content)) dropDraft(id);
      else keepDraft(id, { content: now, base: base.current });
      setStatus({ state: isSame(now, content) ? 'saved' : 'changed' });
      return true;
    } catch (error) {
      setStatus({ state: 'failed', why: words(error) });
      return false;
    }
  }, [client, id]);

  const save = useCallback(() => {
    // One at a time: the next needs the version that the one before it makes.
    const next = (running.current ?? Promise.resolve(true)).then(run);
    running.current = next;
    return next;
  }, [run]);

  const changed = useCallback(() => {
    const content = read.current();
    if (!content) return;
    if (isSame(content, sent.current)) {
      dropDraft(id);
      if (latest.current.state === 'changed') setStatus({ state: 'clean' });
      return;
    }
    keepDraft(id, { content, base: base.current });
    if (latest.current.state !== 'conflict') setStatus({ state: 'changed' });
  }, [id]);

  /** Ends a conflict with my text on top of theirs, or with theirs. */
  const settle = useCallback(
    async (mine: boolean) => {
      const now = latest.current;
      if (now.state !== 'conflict') return;
      base.current = { version: now.theirs.version, content: now.theirs.data.content };
      client.setQueryData(['record', '/v1/policies', id, null], now.theirs);
      latest.current = { state: 'changed' };
      setStatus(latest.current);
      if (mine) await save();
      else dropDraft(id);
    },
    [client, id, save],
  );

  useEffect(() => {
    const hide = () => document.visibilityState === 'hidden' && void save();
    document.addEventListener('visibilitychange', hide);
    return () => document.removeEventListener('visibilitychange', hide);
  }, [save]);

  /** Saves a last time when the page is left; if it cannot, the text waits here. */
  const leave = useCallback(() => {
    void save().then((isSaved) => isSaved || toast(t.policies.keptHere, { bad: true }));
  }, [save]);

  return { status, save, changed, settle, leave };
}
