import { useEffect, useRef } from 'react';
import { t } from '../texts';
import { isOpen, type Run } from './automated';
import css from './Runs.module.css';

/** What a run wrote, line by line; follows its end while the run goes on. */
export function Log({ run }: { run: Run }) {
  const box = useRef<HTMLDivElement>(null);
  const words = t.tasks.runs;
  const count = run.logs.length;
  useEffect(() => {
    if (count > 0 && isOpen(run)) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [count, run]);
  return (
    <div ref={box} className={css.log} role="log" tabIndex={0} aria-label={words.log}>
      {run.status === 'PENDING' && <p className="t3">{words.waiting}</p>}
      {count === 0 && run.status === 'RUNNING' && <p className="t3">{words.logLater}</p>}
      {count === 0 && !isOpen(run) && <p className="t3">{words.noLog}</p>}
      {run.logs.map((line, at) => (
        <p key={at}>
          <span aria-hidden="true">{at + 1}</span>
          <code>{line}</code>
        </p>
      ))}
      {!isOpen(run) && run.error && <p className={css.wrong}>{run.error.message}</p>}
    </div>
  );
}
