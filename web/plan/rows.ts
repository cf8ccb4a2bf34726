import { day, daysBetween } from '../parts/format';
import { t } from '../texts';
import type { Item, Programme } from './queries';

export type Row = Item & { group: { key: string; label: string } };

const all = (programme: Programme): Item[] => [...programme.weeks.flatMap(({ items }) => items), ...programme.unscheduled];

export const itemsOf = all;

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
  const withGroup = (items: Item[], key: string, label: string): Row[] =>
    items.map((item) => ({ ...item, group: { key, label } }));
  const earlier = calm(programme.weeks.filter(({ endsOn }) => endsOn < today).flatMap(({ items }) => items));
  // The first week is the one in which the plan was started, even if something was moved before it.
  const first = Math.max(
    0,
    programme.weeks.findIndex(({ endsOn }) => programme.startsOn <= endsOn),
  );
  const weeks = programme.weeks.flatMap(({ startsOn, endsOn, items, counts }, at) => {
    if (endsOn < today) return [];
    const total = counts.done + counts.due + counts.late + counts.blocked;
    const isNow = startsOn <= today;
    return withGroup(calm(items), startsOn, list.week(at - first + 1, day(startsOn), day(endsOn), counts.done, total, isNow));
  });
  return [
    ...withGroup(urgent, 'late', list.late(late, urgent.length - late)),
    ...weeks,
    ...withGroup(calm(programme.unscheduled), 'unscheduled', list.unscheduled),
    ...withGroup(earlier, 'earlier', list.earlier(earlier.length)),
  ];
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
