import { useElementSize } from '@mantine/hooks';
import { day, startOf } from '../parts/format';
import { language, t } from '../texts';
import css from './plan.module.css';
import type { ProgrammePlan } from './queries';

const HEIGHT = 180;
const LEFT = 28;
const TOP = 8;
const BOTTOM = 22;

export const month = (date: string) =>
  startOf(date).toLocaleDateString(language === 'en' ? 'en-GB' : language, { month: 'short' });

/** The highest tick: a multiple of four that no week exceeds. */
const ceilingOf = (most: number) => Math.max(4, Math.ceil(most / 4) * 4);

/** Items due per week, policies below tasks. */
export function LoadChart({ weeks, caption }: { weeks: ProgrammePlan['weeks']; caption: string }) {
  const { ref, width } = useElementSize();
  const top = ceilingOf(Math.max(0, ...weeks.map(({ policies, tasks }) => policies + tasks)));
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const slot = Math.max(0, width - LEFT) / Math.max(1, weeks.length);
  const bar = Math.max(2, slot - Math.min(6, slot / 4));
  return (
    <>
      <div ref={ref} style={{ minHeight: HEIGHT }}>
        {width > 0 && (
          <svg width={width} height={HEIGHT} role="img" aria-label={caption} className={css.chart}>
            {[0, top / 2, top].map((tick) => (
              <g key={tick}>
                <line x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} stroke="var(--c-line)" />
                <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
                  {tick}
                </text>
              </g>
            ))}
            {weeks.map(({ startsOn, policies, tasks }, at) => {
              const x = LEFT + at * slot + (slot - bar) / 2;
              const isMonth = at === 0 || month(startsOn) !== month(weeks[at - 1]?.startsOn ?? startsOn);
              // A month that ends within the next week or two has no room for its name.
              const follows = weeks.slice(at + 1, at + 3).some((week) => at === 0 && month(week.startsOn) !== month(startsOn));
              return (
                <g key={startsOn}>
                  <title>{t.plan.preview.week(day(startsOn), policies, tasks)}</title>
                  <rect x={x} width={bar} y={y(policies)} height={y(0) - y(policies)} fill="var(--c-accent-line)" rx={2} />
                  <rect x={x} width={bar} y={y(policies + tasks)} height={y(0) - y(tasks)} fill="var(--c-accent)" rx={2} />
                  {isMonth && !follows && (
                    <text x={x} y={HEIGHT - 4}>
                      {month(startsOn)}
                    </text>
                  )}
                </g>
              );
            })}
          </svg>
        )}
      </div>
      <p className={css.key} aria-hidden="true">
        <i data-kind="task" /> {t.nav.tasks} <i data-kind="policy" /> {t.nav.policies}
      </p>
    </>
  );
}
