import { useCallback, useEffect, useRef, useState } from 'react';
import { organization } from '../api/organization';
import { words } from '../api/problem';
import { keepVerdict, lastVerdict, type Verdict, verify } from './chain';
import type { Check } from './Status';

/** A check of the chain that can be watched and stopped. */
export function useCheck(): Check {
  const id = organization() ?? '';
  const [verdict, setVerdict] = useState<Verdict | undefined>(() => lastVerdict(id));
  const [running, setRunning] = useState<Check['running']>();
  const [problem, setProblem] = useState<string>();
  const abort = useRef<AbortController>(undefined);
  const stop = useCallback(() => abort.current?.abort(), []);
  useEffect(() => stop, [stop]);

  async function start() {
    const controller = new AbortController();
    abort.current = controller;
    const { signal } = controller;
    setProblem(undefined);
    setRunning({ done: 0, all: 0 });
    try {
      // Only an end that was found right is held against what is there now.
      const known = verdict?.state === 'intact' ? verdict.end : undefined;
      const found = await verify({ known, signal, onProgress: (done, all) => setRunning({ done, all }) });
      keepVerdict(id, found);
      setVerdict(found);
    } catch (error) {
      if (!signal.aborted) setProblem(words(error));
    } finally {
      setRunning(undefined);
    }
  }
  return { verdict, running, problem, start: () => void start(), stop };
}
