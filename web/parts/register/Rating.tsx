import { IconArrowRight } from '@tabler/icons-react';
import { t } from '../../texts';
import { bandOf, Score } from '../HeatMap';
import { StatusPill } from '../StatusPill';
import { type Definition, impact, likelihood, type Row } from './definition';
import css from './Register.module.css';

/** The fields that tell if a rating or a treatment was set; until then it holds defaults. */
type Flags = Partial<Pick<Row, 'isAssessed' | 'isResidualAssessed' | 'treatmentDecidedAt'>>;

const isRated = (row: Flags, when: 'inherent' | 'residual') =>
  (when === 'inherent' ? row.isAssessed : row.isResidualAssessed) !== false;

/** Tells if the value of a field is somebody's; ratings and treatments have defaults that are nobody's. */
export function isSet(d: Definition, row: Flags, field: string): boolean {
  if (field === 'treatmentStrategy') return row.treatmentDecidedAt !== null;
  const when = (['inherent', 'residual'] as const).find((side) => Object.values(d.ratings[side]).includes(field));
  return when === undefined || isRated(row, when);
}

/** In place of a value that nobody has set. It is no rating, so it has no colour. */
export const NotSet = () => <span className={css.notSet}>{t.scales.notSet}</span>;

/** `20 → 12`: before and after treatment, as far as somebody has rated them. */
export function Scores({ row }: { row: Row }) {
  if (!row.isAssessed && !row.isResidualAssessed) return <NotSet />;
  const side = (when: 'inherent' | 'residual', score: number) =>
    isRated(row, when) ? <Score value={score} of={t.scales[when]} /> : <NotSet />;
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 6 }}>
      {side('inherent', row.inherentScore)}
      <IconArrowRight size={12} aria-hidden="true" style={{ color: 'var(--c-text-3)' }} />
      {side('residual', row.residualScore)}
    </span>
  );
}

/** How the residual score relates to what is tolerated. */
export function Appetite({ row, appetite }: { row: Row; appetite: number }) {
  if (!row.isResidualAssessed) return <NotSet />;
  const above = row.residualScore - appetite;
  return above > 0 ? (
    <StatusPill label={t.scales.aboveBy(above)} tone="warn" shape="alert" loud />
  ) : (
    <span className="t2">{t.scales.within(appetite)}</span>
  );
}

/** A score with its words. */
export function Rating({ row, d, when }: { row: Row; d: Definition; when: 'inherent' | 'residual' }) {
  const score = when === 'inherent' ? row.inherentScore : row.residualScore;
  if (!isRated(row, when)) return <NotSet />;
  const words = `${d.criteria.likelihood[likelihood(row, d, when)]} × ${d.criteria.impact[impact(row, d, when)]}`;
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>
      <Score value={score} />
      {bandOf(score)}
      <span className="t3">{words}</span>
    </span>
  );
}
