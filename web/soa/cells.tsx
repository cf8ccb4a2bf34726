import { Glyph, type Shape, type Tone } from '../parts/glyphs';
import { type Status, StatusPill } from '../parts/StatusPill';
import { t } from '../texts';
import { type Answer, type Row, reference } from './logic';
import type { Document } from './queries';
import css from './soa.module.css';

/** How far a control is, by its glyph. */
export const far = (): Record<string, Status> => ({
  not_started: { label: t.soa.implementation.not_started, tone: 'mute', shape: 'ring' },
  in_progress: { label: t.soa.implementation.in_progress, tone: 'info', shape: 'half' },
  implemented: { label: t.soa.implementation.implemented, tone: 'ok', shape: 'check' },
});

const looks: Record<Document['status'], { tone: Tone; shape: Shape }> = {
  draft: { tone: 'info', shape: 'ring' },
  in_progress: { tone: 'info', shape: 'half' },
  completed: { tone: 'info', shape: 'full' },
  needs_review: { tone: 'warn', shape: 'clock' },
  approved: { tone: 'ok', shape: 'check' },
  declined: { tone: 'bad', shape: 'cross' },
};

export function DocumentPill({ document, loud }: { document: Document; loud?: boolean }) {
  const { tone, shape } = looks[document.status];
  const label = t.soa.status[document.status];
  return <StatusPill label={loud ? t.soa.pill(label, document.version) : label} tone={tone} shape={shape} loud={loud} />;
}

/** How many of the tasks that prove it have fresh evidence. */
export function Evidence({ row }: { row: Row }) {
  const { tasks, fresh } = row.drivers.evidence;
  if (tasks === 0) return <span className="t3">{t.soa.noEvidence}</span>;
  return (
    <span className={css.evidence} data-tone={fresh < tasks ? 'warn' : 'ok'}>
      <span className={css.track} aria-hidden="true">
        <i style={{ width: `${(fresh / tasks) * 100}%` }} />
      </span>
      <span className="num">{t.soa.fresh(fresh, tasks)}</span>
    </span>
  );
}

/** What a row lacks: the first word, and how many more. */
export function Gaps({ row }: { row: Row }) {
  const isProposed = row.answer?.state === 'proposed';
  const [first, ...more] = row.gaps.filter((gap) => !(isProposed && gap === 'answer'));
  const all = row.gaps.map((gap) => t.soa.gaps[gap]).join(', ');
  if (isProposed)
    return (
      <span className={css.proposed} title={t.soa.proposedBy[row.answer?.source ?? 'rule']}>
        <Glyph shape="dash" tone="info" />
        {t.soa.proposed}
      </span>
    );
  if (!first) return null;
  if (!row.answer) return <span className="t3">{t.soa.gaps[first]}</span>;
  return (
    <span className={css.gap} title={all}>
      <Glyph shape="alert" tone="warn" />
      {t.soa.gaps[first]}
      {more.length > 0 && <span className="num t3">{t.soa.more(more.length)}</span>}
    </span>
  );
}

/** Why it applies or not; the risks that its controls treat, where nobody has said it. */
export function Justification({ row }: { row: Row }) {
  if (row.answer?.justification) return <span title={row.answer.justification}>{row.answer.justification}</span>;
  const reasons = [
    row.drivers.obligation,
    row.drivers.risks.length > 0 && t.soa.treats(row.drivers.risks.map(({ label }) => reference(label)).join(', ')),
  ];
  return <span className="t3">{reasons.filter(Boolean).join(' · ')}</span>;
}

/** Yes or no, as two buttons that say which it is. */
export function YesNo({
  row,
  onSay,
  large,
}: {
  row: Row;
  onSay: (isApplicable: boolean) => void;
  /** For fingers, and in the order of the page's tabs. */
  large?: boolean;
}) {
  const now = row.answer?.isApplicable;
  return (
    <span
      className={css.yesNo}
      data-large={large || undefined}
      data-proposed={row.answer?.state === 'proposed' || undefined}
      role="group"
      aria-label={t.soa.applies(row.question.code)}
    >
      {[true, false].map((is) => (
        <button
          key={String(is)}
          type="button"
          tabIndex={large ? 0 : -1}
          aria-pressed={now === is}
          onClick={(event) => {
            event.stopPropagation();
            onSay(is);
          }}
        >
          {is ? t.soa.yes : t.soa.no}
        </button>
      ))}
    </span>
  );
}

export const says = (answer: Answer | null): string => (answer ? (answer.isApplicable ? t.soa.yes : t.soa.no) : '–');
