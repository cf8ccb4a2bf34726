import { AsOfBar } from './AsOfBar';
import { day, iso, startOf, today } from './format';

const DAY = 86_400_000;
/** How far back the slider goes. */
const DAYS = 365;

/** The bar over a page that shows the past, with a slider over the last year. */
export function PastBar({ what, asOf, onChange }: { what: string; asOf: string; onChange: (date: string | undefined) => void }) {
  const first = startOf(today()).getTime() - DAYS * DAY;
  const step = Math.max(0, Math.round((startOf(asOf).getTime() - first) / DAY));
  const dateOf = (at: number) => iso(new Date(first + at * DAY + DAY / 2));
  return (
    <AsOfBar
      what={what}
      date={day(asOf)}
      step={step}
      steps={DAYS}
      first={day(new Date(first))}
      onStep={(next) => onChange(dateOf(next) >= today() ? undefined : dateOf(next))}
      onReturn={() => onChange(undefined)}
    />
  );
}
