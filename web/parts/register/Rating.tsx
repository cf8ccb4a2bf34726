import { IconArrowRight } from '@tabler/icons-react';
import { t } from '../../texts';
import { bandOf, Score } from '../HeatMap';
import { type Definition, impact, likelihood, type Row } from './definition';

/** `20 → 12`: before and after treatment. */
export function Scores({ row }: { row: Row }) {
  if (!row.isAssessed) return <span className="t3">{t.scales.unrated}</span>;
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 6 }}>
      <Score value={row.inherentScore} of={t.scales.inherent} />
      <IconArrowRight size={12} aria-hidden="true" style={{ color: 'var(--c-text-3)' }} />
      <Score value={row.residualScore} of={t.scales.residual} />
    </span>
  );
}

/** A score with its words. */
export function Rating({ row, d, when }: { row: Row; d: Definition; when: 'inherent' | 'residual' }) {
  const score = when === 'inherent' ? row.inherentScore : row.residualScore;
  if (!row.isAssessed) return <span className="t3">{t.scales.unrated}</span>;
  const words = `${t.scales.likelihood[likelihood(row, d, when)]} × ${t.scales.impact[impact(row, d, when)]}`;
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>
      <Score value={score} />
      {bandOf(score)}
      <span className="t3">{words}</span>
    </span>
  );
}
