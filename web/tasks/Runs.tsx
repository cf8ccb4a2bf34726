import { Button } from '@mantine/core';
import { IconChevronRight, IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { SectionError } from '../parts/ErrorPage';
import { openFile } from '../parts/Files';
import { day, moment, utc } from '../parts/format';
import { StatusPill } from '../parts/StatusPill';
import { useView } from '../parts/search';
import { language, t } from '../texts';
import { type Automation, type Run, shownState, stateOf, useRun, useRuns } from './automated';
import page from './Detail.module.css';
import { Log } from './Log';
import css from './Runs.module.css';

/** As many runs as the strip shows. */
const STRIP = 40;
const FEW = 6;

/** How an automation has fared. */
export function Runs({ automation }: { automation: Automation }) {
  const [limit, setLimit] = useState(STRIP);
  const [isLong, setIsLong] = useState(false);
  const { data, error, refetch: again } = useRuns(automation, limit);
  const newest = useRun(automation, data?.[0]);
  const runs = data && newest ? [newest, ...data.slice(1)] : (data ?? []);
  const last = runs.slice(0, STRIP);
  const passed = last.filter((run) => stateOf(run) === 'passed').length;
  const broken = last.filter((run) => ['failed', 'error'].includes(stateOf(run))).length;
  const words = t.tasks.runs;
  const shown = isLong ? runs : runs.slice(0, FEW);
  const mayHaveMore = data?.length === limit;

  function older() {
    if (isLong) setLimit(limit + 100);
    setIsLong(true);
  }

  return (
    <section className={page.section} aria-labelledby="runs">
      <div className={page.head}>
        <h2 id="runs">
          {words.title} <span className={css.of}>{automation.name}</span>
        </h2>
        {runs.length > 0 && <span className="t3 num">{words.summary(passed, broken)}</span>}
      </div>
      {error && <SectionError error={error} onRetry={() => void again()} />}
      {data?.length === 0 && <p className="t3">{words.none}</p>}
      {last.length > 0 && <Strip runs={last} label={words.strip(last.length, passed, broken)} />}
      <ul className={css.list}>
        {shown.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </ul>
      {(runs.length > shown.length || (isLong && mayHaveMore)) && (
        <Button variant="subtle" size="xs" mt={8} onClick={older}>
          {words.older}
        </Button>
      )}
    </section>
  );
}

/** Oldest first. A failed run is taller as well as red. */
function Strip({ runs, label }: { runs: Run[]; label: string }) {
  const oldest = runs.at(-1);
  return (
    <figure className={css.figure}>
      <div className={css.strip} role="img" aria-label={label}>
        {[...runs].reverse().map((run) => (
          <i key={run.id} data-state={stateOf(run)} title={`${shownState(run).label}, ${moment(run.createdAt)}`} />
        ))}
      </div>
      <figcaption className={css.foot}>
        <span>{oldest && day(new Date(oldest.createdAt))}</span>
        <span>{t.tasks.runs.legend}</span>
        <span>{t.tasks.runs.now}</span>
      </figcaption>
    </figure>
  );
}

const duration = (run: Run) =>
  run.durationMs === null
    ? ''
    : t.tasks.runs.seconds(Math.max(0.1, run.durationMs / 1_000).toLocaleString(language, { maximumFractionDigits: 1 }));

function RunRow({ run }: { run: Run }) {
  const { view, change } = useView();
  const isShown = view.run === run.id;
  const words = t.tasks.runs;
  const state = shownState(run);
  const reason = run.evaluationReason ?? run.error?.message ?? words.trigger[run.trigger];
  return (
    <li>
      <button
        type="button"
        className={`plain ${css.row}`}
        aria-expanded={isShown}
        onClick={() => void change({ run: isShown ? undefined : run.id }, { replace: true })}
      >
        <StatusPill {...state} />
        <span className="clip t2">{reason}</span>
        <span className={`num ${css.took}`}>{duration(run)}</span>
        <time className="t3" dateTime={run.createdAt} title={utc(run.createdAt)}>
          {moment(run.createdAt)}
        </time>
        <IconChevronRight size={14} aria-hidden="true" className={css.arrow} />
      </button>
      {isShown && <RunDetails run={run} reason={reason} />}
    </li>
  );
}

function RunDetails({ run, reason }: { run: Run; reason: string }) {
  const words = t.tasks.runs;
  const { attachmentId } = run;
  return (
    <div className={css.details}>
      <p>{reason}</p>
      <p className="t3">
        {words.trigger[run.trigger]} · {t.tasks.automations.version(run.version)}
        {run.error && (
          <>
            {' · '}
            <span className="mono">{run.error.code}</span>
          </>
        )}
      </p>
      <h3>{words.log}</h3>
      <Log run={run} />
      {run.output !== null && run.output !== undefined && (
        <>
          <h3>{words.evidence}</h3>
          <pre className={css.output} tabIndex={0} aria-label={words.evidence}>
            {JSON.stringify(run.output, null, 2)}
          </pre>
        </>
      )}
      {attachmentId && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} stroke={1.6} />}
          onClick={() => void openFile(attachmentId)}
        >
          {words.openEvidence}
        </Button>
      )}
    </div>
  );
}
