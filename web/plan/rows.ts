import { addDays, day, daysBetween, mondayOf } from '../parts/format';
import { t } from '../texts';
import type { Item, Programme } from './queries';

export type Row = Item & { group: { key: string; label: string } };

const all = (programme: Programme): Item[] => [...programme.weeks.flatMap(({ items }) => items), ...programme.unscheduled];

export const itemsOf = all;

const withGroup = (items: Item[], key: string, label: string): Row[] => items.map((item) => ({ ...item, group: { key, label } }));

/** The number of a week. The first is the one in which the plan was started, even if something was moved before it. */
const numberOf = (programme: Programme, startsOn: string) => daysBetween(mondayOf(programme.startsOn), startsOn) / 7 + 1;

function headOf(programme: Programme, { startsOn, endsOn, counts }: Programme['weeks'][number], today: string): string {
  const total = counts.done + counts.due + counts.late + counts.blocked;
  const isNow = startsOn <= today && today <= endsOn;
  return t.plan.list.week(numberOf(programme, startsOn), day(startsOn), day(endsOn), counts.done, total, isNow);
}

/**
 * The items in the order in which they matter: late and blocked ones whatever their week, then week by week from this one
 * on, then those without a date, and what earlier weeks have done last.
 */
export function rowsOf(programme: Programme, today: string, fits: (item: Item) => boolean): Row[] {
  const { list } = t.plan;
  const isUrgent = ({ state }: Item) => state === 'late' || state === 'blocked';
  const urgent = all(programme)
    .filter((item) => isUrgent(item) && fits(item))
    .sort((one, other) => (one.dueDate ?? '9').localeCompare(other.dueDate ?? '9'));
  const late = urgent.filter(({ state }) => state === 'late').length;
  const calm = (items: Item[]) => items.filter((item) => !isUrgent(item) && fits(item));
  const earlier = calm(programme.weeks.filter(({ endsOn }) => endsOn < today).flatMap(({ items }) => items));
  const weeks = programme.weeks.flatMap((week) =>
    week.endsOn < today ? [] : withGroup(calm(week.items), week.startsOn, headOf(programme, week, today)),
  );
  return [
    ...withGroup(urgent, 'late', list.late(late, urgent.length - late)),
    ...weeks,
    ...withGroup(calm(programme.unscheduled), 'unscheduled', list.unscheduled),
    ...withGroup(earlier, 'earlier', list.earlier(earlier.length)),
  ];
}

/** The items as they are printed: week by week from the first one on. */
export function paperRowsOf(programme: Programme, today: string, fits: (item: Item) => boolean): Row[] {
  return [
    ...programme.weeks.flatMap((week) => withGroup(week.items.filter(fits), week.startsOn, headOf(programme, week, today))),
    ...withGroup(programme.unscheduled.filter(fits), 'unscheduled', t.plan.list.unscheduled),
  ];
}

export type Week = { number: number; startsOn: string; endsOn: string; count: number };
/** Items can be moved past the end of a plan that is about to end. */
const MIN_WEEKS_AHEAD = 4;

/** The weeks that items can be moved to: from this one to the end of the plan. */
export function weeksOf(programme: Programme, today: string): Week[] {
  const first = mondayOf(today);
  const least = addDays(first, 7 * MIN_WEEKS_AHEAD);
  const planned = programme.weeks.at(-1)?.startsOn ?? first;
  const weeks = Math.max(daysBetween(first, planned), daysBetween(first, least)) / 7 + 1;
  return Array.from({ length: weeks }, (_, at) => {
    const startsOn = addDays(first, 7 * at);
    const count = programme.weeks.find((week) => week.startsOn === startsOn)?.items.length ?? 0;
    return { number: numberOf(programme, startsOn), startsOn, endsOn: addDays(startsOn, 6), count };
  });
}

/** The same weekday in another week, Friday for what has none; not before today. */
export function dateIn({ startsOn }: Week, dueDate: string | null, today: string): string {
  const date = addDays(startsOn, dueDate ? daysBetween(mondayOf(dueDate), dueDate) : 4);
  return date < today ? today : date;
}

const isIn = ({ startsOn, endsOn }: Week, { dueDate }: Item) => dueDate !== null && startsOn <= dueDate && dueDate <= endsOn;

/** The next or previous week of an item. What is late or has no date moves on to this week. */
export function neighbour(weeks: Week[], item: Item, by: 1 | -1): Week | undefined {
  const at = weeks.findIndex((week) => isIn(week, item));
  return at < 0 && by < 0 ? undefined : weeks[at < 0 ? 0 : at + by];
}

const NO_ITEMS = { done: 0, due: 0, late: 0, blocked: 0 };

function countsOf(items: Item[]) {
  const counts = { ...NO_ITEMS };
  for (const { state } of items) counts[state] += 1;
  return counts;
}

/** The programme once an item is due on another day. */
export function withDue(programme: Programme, id: string, dueDate: string | null, today: string): Programme {
  const old = all(programme).find((one) => one.id === id);
  if (!old) return programme;
  const isOpen = old.state === 'due' || old.state === 'late';
  const item: Item = { ...old, dueDate, state: isOpen ? (dueDate !== null && dueDate < today ? 'late' : 'due') : old.state };
  const others = (items: Item[]) => items.filter((one) => one.id !== id);
  const startsOn = dueDate && mondayOf(dueDate);
  const isKnown = programme.weeks.some((week) => week.startsOn === startsOn);
  const added = startsOn && !isKnown ? [{ startsOn, endsOn: addDays(startsOn, 6), counts: NO_ITEMS, items: [] }] : [];
  const weeks = [...programme.weeks, ...added]
    .sort((one, other) => one.startsOn.localeCompare(other.startsOn))
    .map((week) => {
      const items = week.startsOn === startsOn ? [...others(week.items), item] : others(week.items);
      return { ...week, items, counts: countsOf(items) };
    });
  const unscheduled = dueDate === null ? [...others(programme.unscheduled), item] : others(programme.unscheduled);
  const counts = countsOf([...weeks.flatMap(({ items }) => items), ...unscheduled]);
  return { ...programme, weeks, unscheduled, counts };
}

export type Load = { id: string | null; done: number; late: number; blocked: number; all: number };

/** How far everybody is, those with most to do first; what has no owner comes last. */
export function loadsOf(items: Item[]): Load[] {
  const loads = new Map<string | null, Load>();
  for (const { assigneeId, state } of items) {
    const load = loads.get(assigneeId) ?? { id: assigneeId, done: 0, late: 0, blocked: 0, all: 0 };
    loads.set(assigneeId, {
      ...load,
      done: load.done + Number(state === 'done'),
      late: load.late + Number(state === 'late'),
      blocked: load.blocked + Number(state === 'blocked'),
      all: load.all + 1,
    });
  }
  return [...loads.values()].sort((one, other) => Number(one.id === null) - Number(other.id === null) || other.all - one.all);
}

export type Point = { on: string; count: number };

/** How many items are to be done by the end of each week. */
export function plannedOf({ startsOn, weeks }: Programme): Point[] {
  let count = 0;
  const first = weeks[0]?.startsOn ?? startsOn;
  return [
    { on: first < startsOn ? first : startsOn, count },
    ...weeks.map(({ endsOn, items }) => {
      count += items.length;
      return { on: endsOn, count };
    }),
  ];
}

/** The forecast in a sentence, and whether it is good. */
export function forecastOf({ forecast, auditDate }: Programme, today: string): { text: string; isLate: boolean } {
  const words = t.plan.forecast;
  if (forecast.remaining === 0) {
    const left = auditDate ? daysBetween(today, auditDate) : -1;
    return { text: left >= 0 ? words.doneBefore(left) : words.done, isLate: false };
  }
  if (!forecast.finishesOn) return { text: words.early, isLate: false };
  const ready = day(forecast.finishesOn);
  if (!auditDate) return { text: words.ready(ready), isLate: false };
  const left = daysBetween(forecast.finishesOn, auditDate);
  return left >= 0 ? { text: words.before(ready, left), isLate: false } : { text: words.after(ready, -left), isLate: true };
}
