import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { day } from '../parts/format';
import { LineKey, TrendLines } from '../parts/TrendLines';
import { t } from '../texts';
import css from './Home.module.css';
import { useReadiness } from './queries';

export function ReadinessChart() {
  const { lines, isPending } = useReadiness();
  // A line that is drawn before its points are there would show a fall that never was.
  if (isPending) return <div className={css.chart} />;
  if (lines.length === 0)
    return (
      <div className={css.none}>
        <p className="t2">{t.home.noReadiness}</p>
        <Button component={Link} to="/frameworks" variant="default">
          {t.home.chooseFramework}
        </Button>
      </div>
    );
  // One point is no line.
  const hasHistory = lines.some(({ points }) => points.filter((point) => point !== undefined).length > 1);
  return (
    <>
      <ul className={css.keys}>
        {lines.map((line, at) => (
          <li key={line.id}>
            <Link to="/frameworks/$id" params={{ id: line.id }} className={css.key}>
              <LineKey n={at} />
              <span className="clip">{line.name}</span>
            </Link>
            <b className="num">{line.now}%</b>{' '}
            {line.points[0] !== undefined && <small className="t3">{t.home.change(line.now - line.points[0])}</small>}
          </li>
        ))}
      </ul>
      {hasHistory && (
        <TrendLines
          series={lines.map(({ name, points }) => ({ name, values: points }))}
          labels={months()}
          min={0}
          max={100}
          caption={lines
            .map(({ name, points, now }) => t.home.readinessLabel(name, points.find((point) => point !== undefined) ?? 0, now))
            .join('. ')}
        />
      )}
    </>
  );
}

/** A year ago, half a year ago, now. */
function months(): string[] {
  return [12, 6, 0].map((back) => {
    const date = new Date();
    date.setMonth(date.getMonth() - back);
    return day(date);
  });
}
