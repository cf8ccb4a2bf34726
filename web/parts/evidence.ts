import type { Schemas } from '../api/client';
import { daysUntil, iso, startOf, today } from './format';

export type Frequency = NonNullable<Schemas['Task']['frequency']>;

const MONTHS: Partial<Record<Frequency, number>> = { monthly: 1, quarterly: 3, yearly: 12 };
const DAYS: Record<Frequency, number> = { daily: 1, weekly: 7, monthly: 30, quarterly: 91, yearly: 365 };

/** The same day one period later; the last day of a month that is too short. */
export function after(date: string, frequency: Frequency): string {
  const start = startOf(date);
  const months = MONTHS[frequency];
  if (months === undefined) return iso(new Date(start.getFullYear(), start.getMonth(), start.getDate() + DAYS[frequency]));
  const last = new Date(start.getFullYear(), start.getMonth() + months + 1, 0).getDate();
  return iso(new Date(start.getFullYear(), start.getMonth() + months, Math.min(start.getDate(), last)));
}

/** How many days evidence stays fresh; negative for as many as it has been stale. Nothing if it never grows stale. */
export function freshness(date: string, frequency: Frequency | null, on = today()): { left: number; every: number } | undefined {
  if (!frequency) return undefined;
  const left = daysUntil(after(date, frequency)) - daysUntil(on);
  // It is stale on the very day that its period ends.
  return { left: left > 0 ? left : left - 1, every: DAYS[frequency] };
}
