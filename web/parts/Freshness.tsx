import { t } from '../texts';
import css from './Freshness.module.css';

/** Days until evidence goes stale, as a draining bar and a number. Negative: stale since. */
export function Freshness({ left, every }: { left?: number; every: number }) {
  if (left === undefined) return <span className={css.none}>{t.edits.none}</span>;
  const tone = left < 0 ? 'bad' : left <= 14 ? 'warn' : 'ok';
  return (
    <span className={css.fresh} data-tone={tone}>
      <span className={css.track} aria-hidden="true">
        {left > 0 && <i style={{ width: `${Math.max(6, (left / every) * 100)}%` }} />}
      </span>
      <span className="num">{left < 0 ? t.time.stale(-left) : t.time.left(left)}</span>
    </span>
  );
}
