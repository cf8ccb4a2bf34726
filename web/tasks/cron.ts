import type { Texts } from '../texts';

/** A schedule as most people think of it; whatever else cron can say stays as it is written. */
export type Plan =
  | { kind: 'never' }
  | { kind: 'hourly'; minute: number }
  | { kind: 'daily'; time: string }
  | { kind: 'weekly'; time: string; days: number[] }
  | { kind: 'monthly'; time: string; day: number | 'L' }
  | { kind: 'custom'; cron: string };

type CronWords = Texts['tasks']['cron'];

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
/** More times than this in a day are not told one by one. */
const MANY = 6;

const two = (number: number) => String(number).padStart(2, '0');
const clock = (hour: number, minute: number) => `${two(hour)}:${two(minute)}`;
const isAny = (field: string) => field === '*' || field === '?';

/** One field of cron as numbers: 1, 1-5, 1,15, MON. Nothing for what needs more than that. */
function numbers(field: string, from: number, to: number, names: string[] = []): number[] | undefined {
  const found: number[] = [];
  for (const part of field.split(',')) {
    const ends = part.split('-').map((word) => {
      const named = names.indexOf(word.toUpperCase());
      return named >= 0 ? named + from : /^\d+$/.test(word) ? Number(word) : Number.NaN;
    });
    const [first = Number.NaN, last = first] = ends;
    if (ends.length > 2 || !(first >= from && last <= to && first <= last)) return undefined;
    for (let at = first; at <= last; at += 1) found.push(at);
  }
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Sunday is 0 and 7. */
function weekdays(field: string): number[] | undefined {
  const found = numbers(field, 0, 7, WEEKDAYS)?.map((day) => day % 7);
  return found && [...new Set(found)].sort((a, b) => monday(a) - monday(b));
}
const monday = (day: number) => (day + 6) % 7;
/** The n of "*" followed by "/n". */
const step = (field: string) => Number(/^\*\/([1-9]\d?)$/.exec(field)?.[1] ?? Number.NaN);

type Fields = [minute: string, hour: string, day: string, month: string, weekday: string];

function fields(cron: string): Fields | undefined {
  const all = cron.trim().split(/\s+/);
  return all.length === 5 ? (all as Fields) : undefined;
}

export function planOf(cron: string | null): Plan {
  if (!cron) return { kind: 'never' };
  const custom: Plan = { kind: 'custom', cron };
  const all = fields(cron);
  if (!all) return custom;
  const [minuteField, hourField, day, month, weekday] = all;
  const [minute, ...minutes] = numbers(minuteField, 0, 59) ?? [];
  if (minute === undefined || minutes.length > 0 || !isAny(month)) return custom;
  if (isAny(hourField) && isAny(day) && isAny(weekday)) return { kind: 'hourly', minute };
  const [hour, ...hours] = numbers(hourField, 0, 23) ?? [];
  if (hour === undefined || hours.length > 0) return custom;
  const time = clock(hour, minute);
  if (isAny(day) && isAny(weekday)) return { kind: 'daily', time };
  const days = weekdays(weekday);
  if (isAny(day) && days) return { kind: 'weekly', time, days };
  if (!isAny(weekday)) return custom;
  if (day === 'L') return { kind: 'monthly', time, day };
  const [date, ...dates] = numbers(day, 1, 31) ?? [];
  return date === undefined || dates.length > 0 ? custom : { kind: 'monthly', time, day: date };
}

export function cronOf(plan: Plan): string | null {
  if (plan.kind === 'never') return null;
  if (plan.kind === 'custom') return plan.cron.trim();
  if (plan.kind === 'hourly') return `${plan.minute} * * * *`;
  const [hour = 0, minute = 0] = plan.time.split(':').map(Number);
  const at = `${minute} ${hour}`;
  if (plan.kind === 'daily') return `${at} * * *`;
  if (plan.kind === 'weekly') return `${at} * * ${[...plan.days].sort((a, b) => a - b).join(',') || '1'}`;
  return `${at} ${plan.day} * *`;
}

/** "Every Monday at 06:00". What cannot be said in a few words is shown as it is written. */
export function inWords(cron: string | null, words: CronWords, language: string): string {
  if (!cron) return words.never;
  const all = fields(cron);
  const said = all && sentence(all, words, language);
  return said ? said.charAt(0).toLocaleUpperCase(language) + said.slice(1) : words.unknown(cron);
}

function sentence([minute, hour, day, month, weekday]: Fields, words: CronWords, language: string): string | undefined {
  const list = (parts: string[]) => new Intl.ListFormat(language, { type: 'conjunction' }).format(parts);
  const when = timeWords(minute, hour, words, list);
  const days = dayWords(day, weekday, words, language, list);
  const months = isAny(month) ? [] : numbers(month, 1, 12, MONTHS);
  if (when === undefined || days === undefined || months === undefined) return undefined;
  const isEveryDay = isAny(day) && isAny(weekday);
  const parts = [
    // "Every 15 minutes" needs no "every day".
    isEveryDay && !when.isAt ? '' : days,
    when.text,
    months.length > 0 ? words.inMonths(list(months.map((one) => monthName(one, language)))) : '',
  ];
  // What repeats within the day comes first: "every 15 minutes from 08:00 to 17:59, Monday to Friday".
  if (!when.isAt && parts[0]) return [`${parts[1]}, ${parts[0]}`, parts[2]].filter(Boolean).join(' ');
  return parts.filter(Boolean).join(' ');
}

type Told = { text: string; isAt: boolean };

function timeWords(minuteField: string, hourField: string, words: CronWords, list: (all: string[]) => string): Told | undefined {
  const hours = isAny(hourField) ? undefined : numbers(hourField, 0, 23);
  const minutes = isAny(minuteField) ? undefined : numbers(minuteField, 0, 59);
  const minute = minutes?.length === 1 ? minutes[0] : undefined;
  const often = isAny(minuteField)
    ? words.everyMinute
    : step(minuteField) > 0
      ? step(minuteField) === 1
        ? words.everyMinute
        : words.everyMinutes(step(minuteField))
      : undefined;
  if (isAny(hourField)) {
    if (often) return { text: often, isAt: false };
    return minute === undefined ? undefined : { text: words.everyHour(minute), isAt: false };
  }
  if (step(hourField) > 0 && minute !== undefined) {
    const every = step(hourField);
    return { text: every === 1 ? words.everyHour(minute) : words.everyHours(every, minute), isAt: false };
  }
  const [first, last] = [hours?.[0], hours?.at(-1)];
  if (!hours || first === undefined || last === undefined) return undefined;
  const isRun = hours.length === last - first + 1;
  if (often) return isRun ? { text: words.between(often, clock(first, 0), clock(last, 59)), isAt: false } : undefined;
  if (!minutes) return undefined;
  if (hours.length * minutes.length <= MANY && !(isRun && hours.length > 3))
    return { text: words.at(list(hours.flatMap((h) => minutes.map((m) => clock(h, m))))), isAt: true };
  if (!isRun || minute === undefined) return undefined;
  return { text: words.between(words.hourly, clock(first, minute), clock(last, minute)), isAt: false };
}

function dayWords(
  day: string,
  weekday: string,
  words: CronWords,
  language: string,
  list: (all: string[]) => string,
): string | undefined {
  if (isAny(day) && isAny(weekday)) return words.daily;
  // Cron takes either of the two; that reads as a riddle.
  if (!isAny(day) && !isAny(weekday)) return undefined;
  if (day === 'L') return words.lastDay;
  if (!isAny(day)) {
    const dates = numbers(day, 1, 31);
    return dates && words.monthDays(dates, list);
  }
  const days = weekdays(weekday);
  const [first, last] = [days?.[0], days?.at(-1)];
  if (!days || first === undefined || last === undefined) return undefined;
  if (days.length === 7) return words.daily;
  const isRun = days.length > 2 && monday(last) - monday(first) === days.length - 1;
  if (isRun) return words.weekRange(weekdayName(first, language), weekdayName(last, language));
  return words.weekdays(list(days.map((one) => weekdayName(one, language))));
}

/** 2023 began on a Sunday. */
export function weekdayName(day: number, language: string, width: 'long' | 'short' = 'long'): string {
  return new Intl.DateTimeFormat(language, { weekday: width, timeZone: 'UTC' }).format(new Date(Date.UTC(2023, 0, 1 + day)));
}

function monthName(month: number, language: string): string {
  return new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' }).format(new Date(Date.UTC(2023, month - 1, 1)));
}
