import type { Imported } from './definition';

const bare = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Other names of columns, without spaces and signs; of several fields the one that the register has. */
const SYNONYMS: Record<string, string[]> = {
  owner: ['assigneeId'],
  assignee: ['assigneeId'],
  assigneename: ['assigneeId'],
  responsible: ['assigneeId'],
  chance: ['likelihood', 'inherentProbability'],
  probability: ['likelihood', 'inherentProbability'],
  likelihood: ['inherentProbability'],
  severity: ['impact', 'inherentImpact'],
  consequence: ['impact', 'inherentImpact'],
  impact: ['inherentImpact'],
  inherentchance: ['likelihood', 'inherentProbability'],
  inherentprobability: ['likelihood', 'inherentProbability'],
  inherentlikelihood: ['likelihood', 'inherentProbability'],
  inherentseverity: ['impact', 'inherentImpact'],
  inherentconsequence: ['impact', 'inherentImpact'],
  inherentimpact: ['impact', 'inherentImpact'],
  residualchance: ['residualLikelihood', 'residualProbability'],
  residualprobability: ['residualLikelihood', 'residualProbability'],
  residuallikelihood: ['residualLikelihood', 'residualProbability'],
  residualseverity: ['residualImpact'],
  residualconsequence: ['residualImpact'],
  residualimpact: ['residualImpact'],
  details: ['description'],
  summary: ['description'],
  type: ['category'],
  treatment: ['treatmentStrategy'],
  review: ['reviewDate'],
  nextreview: ['reviewDate'],
  due: ['dueDate', 'reviewDate'],
  duedate: ['dueDate', 'reviewDate'],
  deadline: ['dueDate', 'reviewDate'],
  url: ['website'],
  department: ['department'],
  team: ['department'],
};

/** The field of each column: by its name or its label, and what is left by another name for it. No field is taken twice. */
export function guesses(
  header: string[],
  fields: { value: string; label: string }[],
  d: Pick<Imported, 'path' | 'nameField' | 'texts'>,
) {
  const taken = new Set<string>();
  const take = (field: string | undefined) => {
    if (!field || taken.has(field)) return '';
    taken.add(field);
    return field;
  };
  const exact = header.map((column) =>
    take(fields.find(({ value, label }) => bare(value) === bare(column) || bare(label) === bare(column))?.value),
  );
  // "Risk" and "Risk owner", in the reader's language and in English: `/v1/risks` holds what is a risk.
  const ones = [bare(d.texts.one), bare(d.path.slice('/v1/'.length)).replace(/s$/, '')];
  return header.map((column, at) => {
    if (exact[at]) return exact[at];
    const own = bare(column);
    const one = ones.find((one) => own.startsWith(one)) ?? '';
    const rest = own.slice(one.length);
    if (['', 'name', 'title'].includes(rest)) return take(d.nameField);
    const meant = SYNONYMS[own] ?? SYNONYMS[rest] ?? [];
    return take(meant.find((field) => fields.some(({ value }) => value === field)));
  });
}
