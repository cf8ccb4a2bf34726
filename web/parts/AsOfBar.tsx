import { Button, Tooltip } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { t } from '../texts';
import css from './AsOfBar.module.css';

type Props = {
  what: string;
  date: string;
  /** Position on the record's life, 0 oldest to `steps` today. */
  step: number;
  steps: number;
  first: string;
  onStep: (step: number) => void;
  onReturn: () => void;
};

/** Shown above a page whose container carries `data-past`. Everything under it is read-only. */
export function AsOfBar({ what, date, step, steps, first, onStep, onReturn }: Props) {
  return (
    <div className={css.bar} role="status">
      <IconHistory size={18} stroke={1.7} aria-hidden="true" style={{ flex: 'none' }} />
      <div className={css.text}>
        <span>
          {t.past.bar(what)} <strong className="num">{date}</strong>
        </span>
        <span>{t.past.readOnly}</span>
      </div>
      <label className={css.range}>
        <span className="num">{first}</span>
        <input
          type="range"
          min={0}
          max={steps}
          value={step}
          aria-label={t.past.date}
          aria-valuetext={date}
          onChange={(e) => onStep(Number(e.target.value))}
        />
        <span>{t.past.today}</span>
      </label>
      <Button variant="default" size="xs" onClick={onReturn}>
        {t.past.back}
      </Button>
    </div>
  );
}

/** A value that has changed since: the past value is shown, the later one is one hover away. */
export function Was({ children, later }: { children: ReactNode; later: string }) {
  return (
    <Tooltip label={later}>
      <span className={css.was} tabIndex={0}>
        {children}
      </span>
    </Tooltip>
  );
}
