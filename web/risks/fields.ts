import type { Schemas } from '../api/client';
import type { Criteria } from '../api/criteria';
import { aboveOf, type Definition, type Row, ratingFields } from '../parts/register/definition';
import { t } from '../texts';
import { Acceptance, acceptedUntil } from './Acceptance';
import { Library } from './Library';

type Risk = Schemas['RiskView'];
const values = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));

export function risks(criteria: Criteria): Definition {
  const { fields, status, category, treatment } = t.risks;
  const limit = aboveOf(criteria);
  const yes = { true: t.filters.yes, false: t.filters.no };
  return {
    path: '/v1/risks',
    page: '/risks',
    entity: 'risk',
    texts: t.risks,
    labels: fields,
    name: (row: Row) => (row as Risk).title,
    nameField: 'title',
    columns: [acceptedUntil()],
    more: Acceptance,
    library: { label: t.risks.library.label, hint: t.risks.library.hint, Panel: Library },
    statuses: {
      open: { label: status.open, tone: 'warn', shape: 'ring' },
      pending: { label: status.pending, tone: 'info', shape: 'half' },
      closed: { label: status.closed, tone: 'ok', shape: 'check' },
      archived: { label: status.archived, tone: 'mute', shape: 'dash' },
    },
    ratings: {
      inherent: { likelihood: 'likelihood', impact: 'impact' },
      residual: { likelihood: 'residualLikelihood', impact: 'residualImpact' },
    },
    criteria,
    appetite: criteria.appetite,
    filters: [
      { key: 'status', isMany: true, label: fields.status, values: values(status) },
      { key: 'category', isMany: true, label: fields.category, values: values(category) },
      { key: 'department', isMany: true, label: fields.department, values: values(t.departments) },
      { key: 'treatmentStrategy', isMany: true, label: fields.treatmentStrategy, values: values(treatment) },
      {
        key: 'minResidualScore',
        label: fields.minResidualScore,
        values: limit ? [{ value: String(limit), label: t.filters.yes }] : [],
      },
      { key: 'isAssessed', label: fields.isAssessed, values: values(yes) },
      { key: 'isResidualAssessed', label: fields.isResidualAssessed, values: values(yes) },
      { key: 'reviewDue', label: fields.reviewDue, values: values(yes) },
      { key: 'minScore', label: fields.minScore, values: ['6', '10', '16'].map((value) => ({ value, label: value })) },
    ],
    fields: [
      { name: 'title', kind: 'text', asked: true, help: t.risks.titleHelp },
      { name: 'description', kind: 'long', asked: true, help: t.risks.descriptionHelp },
      { name: 'status', kind: 'choice', choices: status },
      { name: 'assigneeId', kind: 'person', optional: true, asked: true },
      { name: 'category', kind: 'choice', choices: category, asked: true },
      { name: 'department', kind: 'choice', choices: t.departments, optional: true },
      ...ratingFields(criteria, ['likelihood', 'impact', 'residualLikelihood', 'residualImpact']),
      { name: 'treatmentStrategy', kind: 'choice', choices: treatment, asked: true },
      { name: 'treatmentStrategyDescription', kind: 'long', optional: true },
      { name: 'reviewDate', kind: 'date', optional: true, asked: true },
    ],
  };
}
