import { useCallback, useMemo, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { queries, refetch } from '../api/query';
import type { Decision } from '../parts/DiffBlock';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { canonical, type Node } from './content';
import { dropDraft } from './draft';
import { patch, useProposed } from './queries';

export type Change = Schemas['PolicyDiff']['changes'][number];
type Kept = {
  content: Node[];
  decided: Record<string, Decision>;
  /** The writer's own text that met somebody else's. */
  isMine?: boolean;
};

/** Something of a policy that outlives the page, not the tab. */
export function useKept<T>(name: string, first: T) {
  const [value, setValue] = useState<T>(() => {
    try {
      return JSON.parse(sessionStorage.getItem(name) ?? '') as T;
    } catch {
      return first;
    }
  });
  const set = useCallback(
    (next: T | ((old: T) => T)) =>
      setValue((old) => {
        const now = typeof next === 'function' ? (next as (old: T) => T)(old) : next;
        try {
          sessionStorage.setItem(name, JSON.stringify(now ?? null));
        } catch {
          // The browser keeps no more; the page still has it.
        }
        return now;
      }),
    [name],
  );
  return [value, set] as const;
}

/** A change is known by what it says: its number moves when others are made. */
const keyOf = ({ before, after }: Change) => canonical([before, after]);

/** Another text for a policy, decided change by change. Nothing is saved before the writer says so. */
export function useProposal(id: string, version: string | null | undefined) {
  const [kept, setKept] = useKept<Kept | null>(`attestry.proposal.${id}`, null);
  const proposed = useProposed(id, version, kept?.content);
  const [busy, setBusy] = useState(false);
  const changes = useMemo(() => proposed.data?.changes ?? [], [proposed.data]);
  const real = useMemo(() => changes.filter(({ change }) => change !== 'same'), [changes]);
  const state = (change: Change): Decision => kept?.decided[keyOf(change)] ?? 'open';
  const count = (wanted: Decision) => real.filter((change) => state(change) === wanted).length;

  const decide = (which: Change[], decision: Decision) =>
    setKept(
      (old) => old && { ...old, decided: { ...old.decided, ...Object.fromEntries(which.map((one) => [keyOf(one), decision])) } },
    );
  const close = () => {
    if (kept?.isMine) dropDraft(id);
    setKept(null);
  };

  /** Makes the changes that were accepted, and no others. */
  async function apply() {
    if (!kept) return;
    const accepted = real.filter((change) => state(change) === 'accepted');
    const isOver = count('open') === 0;
    if (accepted.length === 0) return close();
    setBusy(true);
    try {
      const { data, response } = await api.POST('/v1/policies/{id}/diff', {
        params: { path: { id }, header: version ? { 'If-Match': version } : {} },
        body: { content: kept.content, apply: accepted.map((change) => change.id) },
      });
      const etag = response.headers.get('ETag');
      const before = changes.flatMap((change) => (change.before ? [change.before] : []));
      queries.setQueryData(['record', '/v1/policies', id, null], etag ? { data, version: etag } : undefined);
      if (isOver) close();
      await refetch('/v1/policies');
      toast(t.policies.applied(accepted.length), {
        undo: () =>
          patch(id, { content: before }, etag)
            .then(() => refetch('/v1/policies'))
            .catch((problem) => toast(words(problem), { bad: true })),
      });
    } catch (problem) {
      toast(words(problem), { bad: true });
      void refetch('/v1/policies');
    } finally {
      setBusy(false);
    }
  }

  return {
    isOpen: kept !== null,
    isMine: kept?.isMine === true,
    /** Fetched, and none of it differs. */
    isSame: kept !== null && proposed.data !== undefined && real.length === 0,
    error: proposed.error,
    changes,
    real,
    open: real.filter((change) => state(change) === 'open'),
    accepted: count('accepted'),
    rejected: count('rejected'),
    busy,
    state,
    decide,
    apply,
    close,
    propose: (content: Node[], isMine = false) => setKept({ content, decided: {}, isMine }),
  };
}

export type Proposed = ReturnType<typeof useProposal>;
