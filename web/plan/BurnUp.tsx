import { useElementSize } from '@mantine/hooks';
import { day, daysBetween } from '../parts/format';
import { t } from '../texts';
import { month } from './LoadChart';
import css from './plan.module.css';
import type { Programme } from './queries';
import { itemsOf, type Point, plannedOf } from './rows';

const HEIGHT = 220;
const LEFT = 34;
const RIGHT = 12;
const TOP = 18;
const BOTTOM = 22;
/** A month's name and some air. */
const LABEL = 44;

/** The weeks with which a month begins, as far as there is room for its name; a first month that soon ends goes without. */
function labelled(weeks: { on: string; from: number }[]) {
  const begins = weeks.filter(({ on }, at) => at === 0 || month(on) !== month(weeks[at - 1]?.on ?? on));
  const [first, second] = begins;
  if (first && second && second.from - first.from < LABEL) begins.shift();
  let end = 0;
  return begins.filter(({ from }) => {
    if (from < end) return false;
    end = from + LABEL;
    return true;
  });
}

/** Items done against items planned, with the forecast and the audit. */
export function BurnUp({ programme, today }: { programme: Programme; today: string }) {
  const { ref, width } = useElementSize();
  const { auditDate, burnUp, forecast, weeks } = programme;
  const startsOn = [programme.startsOn, weeks[0]?.startsOn ?? programme.startsOn].sort()[0] ?? programme.startsOn;
  const words = t.plan.chart;
  const all = itemsOf(programme).length;
  const doneNow = programme.counts.done;
  const planned = plannedOf(programme);
  const ends = [weeks.at(-1)?.endsOn ?? today, auditDate ?? '', today].sort().at(-1) ?? today;
  // A forecast far beyond the plan would leave no room for it.
  const span = Math.max(1, daysBetween(startsOn, ends)) * 1.03;
  const x = (date: string) => LEFT + (daysBetween(startsOn, date) / span) * Math.max(0, width - LEFT - RIGHT);
  const top = Math.max(4, Math.ceil(all / 4) * 4);
  const y = (count: number) => TOP + (1 - count / top) * (HEIGHT - TOP - BOTTOM);
  const line = (points: Point[]) => points.map(({ on, count }) => `${x(on)},${y(count)}`).join(' ');
  const done: Point[] = [
    { on: startsOn, count: 0 },
    ...burnUp.filter(({ on }) => on < today).map(({ on, done }) => ({ on, count: done })),
    { on: today, count: doneNow },
  ];
  const plannedNow = planned.filter(({ on }) => on <= today).at(-1)?.count ?? 0;
  const { finishesOn } = forecast;
  const months = labelled(weeks.map(({ startsOn: on }) => ({ on, from: Math.max(LEFT, x(on)) })));
  const isRight = x(today) > width / 2;
  // On the side of the line where the planned one is not.
  const labelY = doneNow < plannedNow ? Math.min(y(doneNow) + 18, y(0) - 6) : y(doneNow) - 8;
  return (
    <div ref={ref} style={{ minHeight: HEIGHT }}>
      {width > 0 && (
        <svg
          width={width}
          height={HEIGHT}
          viewBox={`0 0 ${width} ${HEIGHT}`}
          role="img"
          aria-label={words.caption(doneNow, plannedNow, all)}
          className={css.chart}
        >
          <clipPath id="burn-up">
            <rect x={LEFT} y={0} width={Math.max(0, width - LEFT)} height={HEIGHT} />
          </clipPath>
          {[0, top / 2, top].map((tick) => (
            <g key={tick}>
              <line x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} stroke="var(--c-line)" />
              <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
                {tick}
              </text>
            </g>
          ))}
          {months.map(({ on, from }) => (
            <text key={on} x={from} y={HEIGHT - 4}>
              {month(on)}
            </text>
          ))}
          {auditDate && (
            <>
              <line x1={x(auditDate)} x2={x(auditDate)} y1={TOP - 6} y2={y(0)} stroke="var(--c-text)" strokeWidth={1.5} />
              <text data-kind="audit" x={x(auditDate) - 6} y={y(0) - 8} textAnchor="end">
                {words.audit(day(auditDate))}
              </text>
            </>
          )}
          <polyline
            points={line([...planned, { on: ends, count: planned.at(-1)?.count ?? 0 }])}
            fill="none"
            stroke="var(--c-text-3)"
            strokeWidth={1.5}
            strokeDasharray="6 3"
          />
          <text
            x={x(planned[Math.floor(planned.length / 2)]?.on ?? today)}
            y={y(planned[Math.floor(planned.length / 2)]?.count ?? 0) - 10}
            textAnchor="end"
          >
            {words.planned}
          </text>
          {finishesOn && finishesOn > today && (
            <g clipPath="url(#burn-up)">
              <polyline
                points={line([
                  { on: today, count: doneNow },
                  { on: finishesOn, count: all },
                ])}
                fill="none"
                stroke="var(--c-accent)"
                strokeWidth={2}
                strokeDasharray="2 3"
              />
              {x(finishesOn) < width - RIGHT && (
                <circle cx={x(finishesOn)} cy={y(all)} r={4} fill="var(--c-canvas)" stroke="var(--c-accent)" strokeWidth={2} />
              )}
            </g>
          )}
          <polyline points={line(done)} fill="none" stroke="var(--c-accent)" strokeWidth={2} strokeLinejoin="round" />
          <circle cx={x(today)} cy={y(doneNow)} r={3.5} fill="var(--c-accent)" stroke="var(--c-canvas)" strokeWidth={1.5} />
          <text data-kind="done" x={x(today) + (isRight ? -8 : 8)} y={labelY} textAnchor={isRight ? 'end' : 'start'}>
            {words.done(doneNow)}
          </text>
        </svg>
      )}
    </div>
  );
}
