import type { ReactNode } from 'react';
import { StatusPill } from '../../parts/StatusPill';
import { t } from '../../texts';
import css from '../settings.module.css';

/** The number of API keys that the sign-in policy would not allow today, and what is to be done about them. */
export function BeyondPolicy({ count, children }: { count: number; children?: ReactNode }) {
  const texts = t.settings.keys;
  if (count === 0) return null;
  return (
    <div className={css.bar}>
      <p>
        <StatusPill label={texts.beyondCount(count)} tone="warn" shape="alert" /> {children}
        <span className={css.answer}>{texts.beyondText}</span>
      </p>
    </div>
  );
}
