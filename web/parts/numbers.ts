import { t } from '../texts';

export type Limits = { min: number; max: number };

/** The whole number in a text; undefined for none, NaN for anything else. */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}

export const isWithin = (number: number | undefined, { min, max }: Limits): number is number =>
  number !== undefined && number >= min && number <= max;

/** The problem of a typed number; undefined if it is within the limits, or empty where it is optional. */
export function numberProblem(text: string, limits: Limits, { isOptional = false } = {}): string | undefined {
  const number = numberIn(text);
  if (isWithin(number, limits) || (isOptional && number === undefined)) return undefined;
  return (isOptional ? t.forms.numberOrNone : t.forms.number)(limits.min, limits.max);
}

/** The problems that there are, by the names of their fields. */
export const present = (problems: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(problems).flatMap(([field, problem]) => (problem === undefined ? [] : [[field, problem]])));
