import type { CSSProperties } from 'react';
import type { Schemas } from '../api/client';
import { impacts, likelihoods, useCriteria } from '../api/criteria';
import { t } from '../texts';
import css from './HeatMap.module.css';

export const bandOf = (score: number) => t.scales.bands[band(score) - 1] ?? '';

/** Score is likelihood times impact; the band decides colour and word together. */
export const band = (score: number) => (score <= 2 ? 1 : score <= 5 ? 2 : score <= 9 ? 3 : score <= 15 ? 4 : 5);

const paint = (score: number) =>
  ({ '--bg': `var(--heat-${band(score)})`, '--fg': `var(--heat-${band(score)}-text)` }) as CSSProperties;

export function Score({ value, of }: { value: number; of?: string }) {
  return (
    <span className={css.score} style={paint(value)} title={`${of ? `${of}: ` : ''}${bandOf(value)}`}>
      {value}
    </span>
  );
}

/** The cells as the API tells them, by their place. */
export const counts = (cells: Schemas['CellView'][] | undefined) =>
  (cells ?? []).map(({ likelihood, impact, count }) => ({
    l: likelihoods.indexOf(likelihood) + 1,
    i: impacts.indexOf(impact) + 1,
    count,
  }));

type Point = { l: number; i: number };
type Props = {
  label: string;
  /** How many there are in each cell that has some. */
  counts: ReturnType<typeof counts>;
  selected?: Point;
  onSelect?: (cell: Point | undefined) => void;
  ratio?: number;
  /** The highest score that is tolerated: a line divides the cells above it from the others. */
  appetite?: number;
  axes?: boolean;
};

export function HeatMap({ label, counts: all, selected, onSelect, ratio, appetite, axes = true }: Props) {
  const criteria = useCriteria();
  const likelihoodOf = (level: number) => criteria.likelihood[likelihoods[level - 1] ?? 'very_unlikely'];
  const impactOf = (level: number) => criteria.impact[impacts[level - 1] ?? 'insignificant'];
  const isAbove = (l: number, i: number) => appetite !== undefined && l * i > appetite;
  const count = (l: number, i: number) => all.find((one) => one.l === l && one.i === i)?.count ?? 0;
  return (
    <div
      className={axes ? css.map : undefined}
      role="group"
      aria-label={label}
      style={ratio ? ({ '--ratio': ratio } as CSSProperties) : undefined}
    >
      {axes && (
        <div className={`${css.axis} ${css.y}`} aria-hidden="true">
          <span>{likelihoodOf(1)}</span>
          <span>{t.scales.likelihoodAxis}</span>
          <span>{likelihoodOf(5)}</span>
        </div>
      )}
      <div className={css.grid}>
        {[5, 4, 3, 2, 1].flatMap((l) =>
          [1, 2, 3, 4, 5].map((i) => {
            const n = count(l, i);
            const on = selected?.l === l && selected?.i === i;
            const cell = t.scales.cell(likelihoodOf(l), impactOf(i), n, bandOf(l * i));
            const text = isAbove(l, i) ? `${cell}, ${t.scales.above}` : cell;
            const edges = {
              'data-bottom': (isAbove(l, i) && l > 1 && !isAbove(l - 1, i)) || undefined,
              'data-left': (isAbove(l, i) && i > 1 && !isAbove(l, i - 1)) || undefined,
            };
            return onSelect ? (
              <button
                key={`${l}${i}`}
                type="button"
                className={css.cell}
                data-cell
                {...edges}
                style={paint(l * i)}
                data-on={on || undefined}
                data-dim={(selected && !on) || undefined}
                aria-pressed={on}
                aria-label={text}
                title={text}
                onClick={() => onSelect(on ? undefined : { l, i })}
              >
                {n || ''}
              </button>
            ) : (
              <span key={`${l}${i}`} className={css.cell} {...edges} style={paint(l * i)} title={text}>
                {n || ''}
              </span>
            );
          }),
        )}
      </div>
      {axes && (
        <div className={`${css.axis} ${css.x}`} aria-hidden="true">
          <span>{impactOf(1)}</span>
          <span>{t.scales.impactAxis}</span>
          <span>{impactOf(5)}</span>
        </div>
      )}
    </div>
  );
}

export function HeatLegend({ appetite }: { appetite?: number }) {
  return (
    <div className={css.legend}>
      {t.scales.bands.map((b, n) => (
        <span key={b} className={css.key}>
          <span className={css.swatch} style={{ background: `var(--heat-${n + 1})` }} />
          {b}
        </span>
      ))}
      {appetite !== undefined && (
        <span className={css.key}>
          <span className={css.edge} />
          {t.scales.aboveAppetite(appetite)}
        </span>
      )}
    </div>
  );
}
