import type { Status } from '../parts/StatusPill';
import { t } from '../texts';
import css from './frameworks.module.css';
import type { Met, Readiness } from './queries';

export type State = Met['status'];

/** Each state with its glyph, from done to nothing. */
export const states = (): Record<State, Status> => {
  const { status } = t.frameworks;
  return {
    ready: { label: status.ready, tone: 'ok', shape: 'check' },
    in_progress: { label: status.in_progress, tone: 'info', shape: 'half' },
    not_started: { label: status.not_started, tone: 'mute', shape: 'ring' },
    uncovered: { label: status.uncovered, tone: 'warn', shape: 'alert' },
    not_applicable: { label: status.not_applicable, tone: 'mute', shape: 'dash' },
  };
};

export const countOf = ({ counts }: Readiness): Record<State, number> => ({
  ready: counts.ready,
  in_progress: counts.inProgress,
  not_started: counts.notStarted,
  uncovered: counts.uncovered,
  not_applicable: counts.notApplicable,
});

/** The states of all requirements as one bar. Their order tells them apart as well as their colour. */
export function StateBar({ readiness, name }: { readiness?: Readiness; name: string }) {
  if (!readiness) return <span className={css.bar} />;
  const all = Object.entries(countOf(readiness)).filter(([, count]) => count > 0);
  const looks = states();
  const parts = all.map(([state, count]) => `${count} ${looks[state as State].label}`).join(', ');
  return (
    <span className={css.bar} role="img" aria-label={t.frameworks.strip(name, parts)} title={parts}>
      {all.map(([state, count]) => (
        <i key={state} data-state={state} style={{ flexGrow: count }} />
      ))}
    </span>
  );
}
