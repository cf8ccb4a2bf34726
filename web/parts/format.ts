import { language, t } from '../texts';

const DAY = 86_400_000;

/** Midnight of a date, as the reader's calendar has it. */
export function startOf(date: string): Date {
  const [year = 1970, month = 1, day = 1] = date.slice(0, 10).split('-').map(Number);
  return new Date(year, month - 1, day);
}

export function today(): string {
  return iso(new Date());
}

export function iso(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The date so many days later; earlier for a negative number. */
export function addDays(date: string, days: number): string {
  const value = startOf(date);
  value.setDate(value.getDate() + days);
  return iso(value);
}

export const nextDay = (date: string) => addDays(date, 1);

/** The Monday of the week that a date is in. */
export const mondayOf = (date: string) => addDays(date, -((startOf(date).getDay() + 6) % 7));

/** The number of days from one date to a later one. */
export const daysBetween = (from: string, to: string) => Math.round((startOf(to).getTime() - startOf(from).getTime()) / DAY);

/** How many days from today; negative in the past. */
export function daysUntil(date: string): number {
  return Math.round((startOf(date).getTime() - startOf(today()).getTime()) / DAY);
}

/** "12 Nov", and the year unless it is this one. */
export function day(date: string | Date): string {
  const value = typeof date === 'string' ? startOf(date) : date;
  const thisYear = value.getFullYear() === new Date().getFullYear();
  return value.toLocaleDateString(language === 'en' ? 'en-GB' : language, {
    day: 'numeric',
    month: 'short',
    year: thisYear ? undefined : 'numeric',
  });
}

export function longDay(date: Date): string {
  return date.toLocaleDateString(language === 'en' ? 'en-GB' : language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
}

export function clock(at: string): string {
  return new Date(at).toLocaleTimeString(language === 'en' ? 'en-GB' : language, { hour: '2-digit', minute: '2-digit' });
}

/** "today 08:41", "9 Nov 17:02" */
export function moment(at: string): string {
  const date = new Date(at);
  const days = daysUntil(iso(date));
  const name = days === 0 ? t.time.today : days === -1 ? t.time.yesterday : day(date);
  return `${name} ${clock(at)}`;
}

/** A date or a time of the API as it reads; undefined for any other text. */
export function dated(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return day(value);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) ? moment(value) : undefined;
}

/** Exact, for logs and tooltips. */
export function utc(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}

export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toLocaleString(language, { maximumFractionDigits: unit === 0 ? 0 : 1 })} ${units[unit]}`;
}
