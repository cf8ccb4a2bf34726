import { t } from '../texts';
import css from './NoDate.module.css';

/** Whether an address names a day that can be shown. */
export const isDay = (text: string) => /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text));

/** Says that the day in an address is none, with a way back to today. */
export function NoDate({ text, onBack }: { text: string; onBack: () => void }) {
  return (
    <p className={css.note} role="alert">
      {t.past.noDate(text)}
      <button type="button" className="plain link" onClick={onBack}>
        {t.past.back}
      </button>
    </p>
  );
}
