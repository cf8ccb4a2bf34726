import { Button, Progress } from '@mantine/core';
import { IconSparkles } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { orgFetch } from '../api/demands';
import { events } from '../api/live';
import { organization } from '../api/organization';
import { problemOf, words } from '../api/problem';
import { refetch } from '../api/query';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { own } from './queries';

type Told =
  | { type: 'progress'; done: number; total: number }
  | { type: 'answer' }
  | { type: 'finish'; proposed: number; unanswered: number }
  | { type: 'error'; errorText: string };

/** Lets the server propose answers and shows how far it is. */
export function useFill(documentId: string | undefined) {
  const [running, setRunning] = useState<{ done: number; total: number }>();
  const stop = useRef<AbortController>(null);

  async function start() {
    const abort = new AbortController();
    stop.current = abort;
    setRunning({ done: 0, total: 0 });
    try {
      const response = await orgFetch('/v1/soa/auto-fill', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Organization-Id': organization() ?? '' },
        body: JSON.stringify({ ...own(), documentId }),
        signal: abort.signal,
      });
      if (!response.ok || !response.body) throw await problemOf(response);
      let seen = 0;
      for await (const { data } of events(response.body)) {
        if (!data || data === '[DONE]') continue;
        const told = JSON.parse(data) as Told;
        if (told.type === 'progress') setRunning({ done: told.done, total: told.total });
        if (told.type === 'answer') {
          seen += 1;
          setRunning((now) => now && { ...now, done: Math.max(now.done, seen) });
          if (seen % 12 === 0) void refetch('/v1/soa');
        }
        if (told.type === 'finish') toast(told.proposed > 0 ? t.soa.fill.done(told.proposed) : t.soa.fill.nothing);
        if (told.type === 'error') throw new Error(told.errorText);
      }
    } catch (error) {
      if (!abort.signal.aborted) toast(words(error), { bad: true });
    } finally {
      setRunning(undefined);
      await refetch('/v1/soa');
    }
  }
  return { running, start, stop: () => stop.current?.abort() };
}

export function FillButton({ fill }: { fill: ReturnType<typeof useFill> }) {
  return (
    <Button
      variant="default"
      visibleFrom="xs"
      leftSection={<IconSparkles size={16} stroke={1.6} />}
      title={t.soa.fill.hint}
      loading={fill.running !== undefined}
      onClick={() => void fill.start()}
    >
      {t.soa.fill.button}
    </Button>
  );
}

export function Filling({ fill }: { fill: ReturnType<typeof useFill> }) {
  if (!fill.running) return null;
  const { done, total } = fill.running;
  const label = t.soa.fill.running(done, total);
  return (
    <>
      <p role="status">{label}</p>
      <Progress value={total ? (done / total) * 100 : 0} w={160} aria-label={label} />
      <Button size="xs" variant="default" onClick={fill.stop}>
        {t.soa.fill.stop}
      </Button>
    </>
  );
}
