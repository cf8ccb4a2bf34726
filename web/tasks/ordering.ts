import type { Schemas } from '../api/client';
import type { Status } from './fields';

type Card = { id: string; status: Status; order: number };
type Update = Schemas['ReorderTasks']['updates'][number];

/** Where a card goes: into a column, before another card or at the end. */
export type Target = { status: Status; before?: string };

/** Room between two cards, so that most moves change one card only. */
const STEP = 1_000;
const HIGHEST = 1_000_000_000;

function insert<T extends { id: string }>(others: T[], card: T, before: string | undefined): T[] {
  const at = others.findIndex(({ id }) => id === before);
  return at < 0 ? [...others, card] : [...others.slice(0, at), card, ...others.slice(at)];
}

/** The cards as they are shown once one of them has moved. */
export function placed<T extends Card>(cards: T[], id: string, { status, before }: Target): T[] {
  const card = cards.find((one) => one.id === id);
  if (!card) return cards;
  return insert(
    cards.filter((one) => one.id !== id),
    { ...card, status },
    before,
  );
}

/** What the server has to be told: one number if there is room between the neighbours, or else the whole column's. */
export function updates(column: Card[], card: Card, { status, before }: Target): Update[] {
  const cards = insert(
    column.filter(({ id }) => id !== card.id),
    card,
    before,
  );
  const at = cards.findIndex(({ id }) => id === card.id);
  const [last, next] = [cards[at - 1]?.order, cards[at + 1]?.order];
  const order = between(last, next);
  const move = card.status === status ? {} : { status };
  if (order !== undefined) return [{ id: card.id, order, ...move }];
  return cards.map(({ id }, place) => ({ id, order: place * STEP, ...(id === card.id ? move : {}) }));
}

function between(last: number | undefined, next: number | undefined): number | undefined {
  if (next === undefined) return last === undefined ? STEP : last + STEP <= HIGHEST ? last + STEP : undefined;
  const middle = Math.floor(((last ?? -1) + next) / 2);
  return middle > (last ?? -1) && middle < next ? middle : undefined;
}
