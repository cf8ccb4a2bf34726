import { IconArrowRight } from '@tabler/icons-react';
import { t } from '../../texts';
import { bandOf, Score } from '../HeatMap';
import { type Definition, impact, likelihood, type Row } from './definition';

/** Whether somebody has rated a side; until then it holds defaults. */
const isRated = (row: Row, when: 'inherent' | 'residual') => (when === 'inherent' ? row.isAssessed : row.isResidualAssessed);

/** `20 → 12`: before and after treatment, as far as somebody has rated them. */
export function Scores({ row }: { row: Row }) {
  if (!row.isAssessed && !row.isResidualAssessed) return <span className="t3">{t.scales.unrated}</span>;
  const side = (when: 'inherent' | 'residual', score: number) =>
    isRated(row, when) ? <Score value={score} of={t.scales[when]} /> : <span className="t3">–</span>;
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 6 }}>
      {side('inherent', row.inherentScore)}
      <IconArrowRight size={12} aria-hidden="true" style={{ color: 'var(--c-text-3)' }} />
      {side('residual', row.residualScore)}
    </span>
  );
}

/** A score with its words. */
export function Rating({ row, d, when }: { row: Row; d: Definition; when: 'inherent' | 'residual' }) {
  const score = when === 'inherent' ? row.inherentScore : row.residualScore;
  if (!isRated(row, when)) return <span className="t3">{t.scales.unrated}</span>;
  const words = `${t.scales.likelihood[likelihood(row, d, when)]} × ${t.scales.impact[impact(row, d, when)]}`;
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>
      <Score value={score} />
      {bandOf(score)}
      <span className="t3">{words}</span>
    </span>
  );
}
