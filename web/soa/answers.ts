import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState } from 'react';
import { api } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { type Answer, answered, type Patch, patched, type Row, whole } from './logic';
import { own, type Rows, rowsKey } from './queries';

export type Trouble = { text: string; patch: Patch };
type Sent = { answer: Answer; turn: number };

const without = <T>(all: Record<string, T>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== key));

/**
 * Answers are shown at once and sent one after the other. What the server refuses is told at its row, with what was said,
 * so that nothing typed is lost.
 */
export function useAnswers(documentId: string, fetched: Row[]) {
  const client = useQueryClient();
  const [sent, setSent] = useState<Record<string, Sent>>({});
  const [troubles, setTroubles] = useState<Record<string, Trouble>>({});
  const queue = useRef(Promise.resolve());
  const turn = useRef(0);
  const waiting = useRef(0);
  const past = useRef<{ id: string; code: string; answer: Answer | null }[]>([]);

  const rows = useMemo(
    () => fetched.map((row) => (sent[row.question.id] ? answered(row, sent[row.question.id]?.answer as Answer) : row)),
    [fetched, sent],
  );
  const latest = useRef(rows);
  latest.current = rows;
  const find = (id: string) => latest.current.find(({ question }) => question.id === id);

  const put = useCallback(
    (answer: Answer) =>
      client.setQueryData<Rows>(
        rowsKey(documentId),
        (old) =>
          old && { ...old, rows: old.rows.map((row) => (row.question.id === answer.questionId ? answered(row, answer) : row)) },
      ),
    [client, documentId],
  );

  const save = useCallback(
    (id: string, patch: Patch, options: { isUndo?: boolean } = {}) => {
      const row = find(id);
      if (!row) return Promise.resolve();
      const answer = patched(row, patch);
      turn.current += 1;
      const mine = turn.current;
      if (!options.isUndo) past.current.push({ id, code: row.question.code, answer: row.answer ?? null });
      setSent((all) => ({ ...all, [id]: { answer, turn: mine } }));
      setTroubles((all) => without(all, id));
      waiting.current += 1;
      const send = async () => {
        try {
          const body = { ...own(), documentId, questionId: id, ...patch, isApplicable: answer.isApplicable };
          const { data } = await api.POST('/v1/soa/save-answer', { body });
          if (data) put(data.data);
        } catch (error) {
          setTroubles((all) => ({ ...all, [id]: { text: words(error), patch } }));
        } finally {
          setSent((all) => (all[id]?.turn === mine ? without(all, id) : all));
          waiting.current -= 1;
          if (waiting.current === 0) void refetch('/v1/soa');
        }
      };
      queue.current = queue.current.then(send);
      return queue.current;
    },
    [documentId, put],
  );

  const undo = useCallback(() => {
    const last = past.current.pop();
    if (last?.answer) void save(last.id, whole(last.answer), { isUndo: true });
    // A first answer cannot be taken back, and an older one elsewhere is not what was meant.
    else if (last) toast(t.soa.firstAnswer(last.code));
    return last?.id;
  }, [save]);

  const confirm = useCallback(
    async (questionIds?: string[]) => {
      const { data } = await api.POST('/v1/soa/confirm-answers', { body: { ...own(), documentId, questionIds } });
      for (const answer of data?.data ?? []) put(answer);
      await refetch('/v1/soa');
      return data?.data.length ?? 0;
    },
    [documentId, put],
  );

  const forget = useCallback((id: string) => setTroubles((all) => without(all, id)), []);
  return { rows, save, undo, confirm, troubles, forget };
}

export type Answers = ReturnType<typeof useAnswers>;
