import { t } from '../texts';
import { day, iso, startOf } from './format';
import css from './NoDate.module.css';

/** Tells if a text is a day of the calendar: no 31 February, which a `Date` reads as 3 March. */
const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d/.test(text) && iso(startOf(text)) === text.slice(0, 10) && !Number.isNaN(Date.parse(text));
/** A day begins in UTC, as for the server. */
const isFuture = (text: string) => Date.parse(text) > Date.now();

/** Tells if an address names a day that can be shown. */
export const isDay = (text: string) => isDate(text) && !isFuture(text);

/** Says why the day in an address cannot be shown, with a way back to today. */
export function NoDate({ text, onBack }: { text: string; onBack: () => void }) {
  return (
    <p className={css.note} role="alert">
      {isDate(text) ? t.past.future(day(text)) : t.past.noDate(text)}
      <button type="button" className="plain link" onClick={onBack}>
        {t.past.back}
      </button>
    </p>
  );
}
