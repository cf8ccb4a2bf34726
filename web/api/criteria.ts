import { useMemo } from 'react';
import { t } from '../texts';
import { $api, type Schemas } from './client';
import { useMe } from './session';

export const likelihoods = ['very_unlikely', 'unlikely', 'possible', 'likely', 'very_likely'] as const;
export const impacts = ['insignificant', 'minor', 'moderate', 'major', 'severe'] as const;
export type Likelihood = (typeof likelihoods)[number];
export type Impact = (typeof impacts)[number];
export type Scale = 'likelihood' | 'impact';
type Words = Record<string, string>;

/** The scales as the organization calls their steps, and what it tolerates. */
export type Criteria = {
  likelihood: Record<Likelihood, string>;
  impact: Record<Impact, string>;
  /** When a step applies, as far as the organization says so. */
  hints: Record<Scale, Words>;
  /** The highest residual score that is tolerated. */
  appetite?: number;
  /** The maximum number of months of an acceptance. */
  months?: number;
};

type Steps = { level: string; name: string | null; description: string | null }[];

const names = <W extends Words>(own: W, steps: Steps | undefined): W => ({
  ...own,
  ...Object.fromEntries((steps ?? []).flatMap(({ level, name }) => (name ? [[level, name]] : []))),
});
const hints = (steps: Steps | undefined): Words =>
  Object.fromEntries((steps ?? []).flatMap(({ level, description }) => (description ? [[level, description]] : [])));

/** Steps that the organization has not named have the words of the console's language. */
export function criteriaOf(set: Schemas['RiskCriteria'] | undefined): Criteria {
  return {
    likelihood: names(t.scales.likelihood, set?.likelihood),
    impact: names(t.scales.impact, set?.impact),
    hints: { likelihood: hints(set?.likelihood), impact: hints(set?.impact) },
    appetite: set?.appetite ?? undefined,
    months: set?.acceptanceMonths,
  };
}

export function useCriteria(): Criteria {
  const { can } = useMe();
  const { data } = $api.useQuery('get', '/v1/risk-criteria', {}, { enabled: can('risk:read'), staleTime: 60_000 });
  return useMemo(() => criteriaOf(data), [data]);
}
