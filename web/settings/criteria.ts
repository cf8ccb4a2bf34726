import type { Schemas } from '../api/client';
import { type Criteria, criteriaOf, impacts, likelihoods, type Scale } from '../api/criteria';
import { numberProblem, present } from '../parts/numbers';
import { t } from '../texts';

type Set = Schemas['RiskCriteria'];
type Step = { name: string; description: string };

/** The input of the form, with the version it began with. */
export type Typed = {
  version: string | null;
  likelihood: Step[];
  impact: Step[];
  appetite: string;
  months: string;
};

export const SCALES: Record<Scale, readonly string[]> = { likelihood: likelihoods, impact: impacts };

const stepsOf = (levels: readonly string[], set: { level: string; name: string | null; description: string | null }[]): Step[] =>
  levels.map((level) => {
    const step = set.find((one) => one.level === level);
    return { name: step?.name ?? '', description: step?.description ?? '' };
  });

export const typedOf = (set: Set, version: string | null): Typed => ({
  version,
  likelihood: stepsOf(likelihoods, set.likelihood),
  impact: stepsOf(impacts, set.impact),
  appetite: set.appetite === null ? '' : String(set.appetite),
  months: String(set.acceptanceMonths),
});

export function bodyOf(typed: Typed): Schemas['SetRiskCriteria'] {
  const steps = <L extends string>(levels: readonly L[], all: Step[]) =>
    levels.map((level, at) => ({ level, name: all[at]?.name.trim() || null, description: all[at]?.description.trim() || null }));
  return {
    likelihood: steps(likelihoods, typed.likelihood),
    impact: steps(impacts, typed.impact),
    appetite: typed.appetite.trim() === '' ? null : Number(typed.appetite),
    acceptanceMonths: Number(typed.months),
  };
}

export const LIMITS = { appetite: { min: 1, max: 25 }, acceptanceMonths: { min: 1, max: 36 } };

/** The problems by the names of the fields: `likelihood.2`, `appetite`. */
export function problemsOf(typed: Typed): Record<string, string> {
  const texts = t.settings.criteria;
  const own: Criteria = criteriaOf(undefined);
  const problems: Record<string, string> = {};
  for (const scale of ['likelihood', 'impact'] as const) {
    const defaults = Object.values(own[scale]);
    const names = typed[scale].map(({ name }, at) => (name.trim() || defaults[at] || '').toLowerCase());
    typed[scale].forEach(({ name }, at) => {
      const isTaken = names.some((other, place) => place !== at && other === names[at]);
      if (name.trim() && isTaken) problems[`${scale}.${at}`] = texts.sameName;
    });
  }
  const numbers = {
    appetite: numberProblem(typed.appetite, LIMITS.appetite, { isOptional: true }),
    acceptanceMonths: numberProblem(typed.months, LIMITS.acceptanceMonths),
  };
  return { ...problems, ...present(numbers) };
}
