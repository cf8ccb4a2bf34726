import type { Schemas } from '../api/client';
import type { Criteria } from '../api/criteria';
import { type Definition, type Row, ratingFields } from '../parts/register/definition';
import { t } from '../texts';

type Vendor = Schemas['VendorView'];
const values = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));

export function vendors(criteria: Criteria): Definition {
  const { fields, status, category } = t.vendors;
  const yes = { true: t.filters.yes, false: t.filters.no };
  return {
    path: '/v1/vendors',
    page: '/vendors',
    entity: 'vendor',
    texts: t.vendors,
    labels: fields,
    name: (row: Row) => (row as Vendor).name,
    nameField: 'name',
    statuses: {
      not_assessed: { label: status.not_assessed, tone: 'warn', shape: 'ring' },
      in_progress: { label: status.in_progress, tone: 'info', shape: 'half' },
      assessed: { label: status.assessed, tone: 'ok', shape: 'check' },
    },
    ratings: {
      inherent: { likelihood: 'inherentProbability', impact: 'inherentImpact' },
      residual: { likelihood: 'residualProbability', impact: 'residualImpact' },
    },
    criteria,
    filters: [
      { key: 'status', isMany: true, label: fields.status, values: values(status) },
      { key: 'category', isMany: true, label: fields.category, values: values(category) },
      { key: 'isSubProcessor', label: fields.isSubProcessor, values: values(yes) },
      { key: 'treatmentStrategy', isMany: true, label: fields.treatmentStrategy, values: values(t.risks.treatment) },
      { key: 'isAssessed', label: fields.isAssessed, values: values(yes) },
      { key: 'isResidualAssessed', label: fields.isResidualAssessed, values: values(yes) },
      { key: 'reviewDue', label: fields.reviewDue, values: values(yes) },
      { key: 'minScore', label: fields.minScore, values: ['6', '10', '16'].map((value) => ({ value, label: value })) },
    ],
    fields: [
      { name: 'name', kind: 'text', asked: true },
      { name: 'description', kind: 'long', asked: true, help: t.vendors.descriptionHelp },
      { name: 'status', kind: 'choice', choices: status },
      { name: 'assigneeId', kind: 'person', optional: true, asked: true },
      { name: 'category', kind: 'choice', choices: category, asked: true },
      { name: 'website', kind: 'text', optional: true, asked: true, help: t.vendors.websiteHelp },
      { name: 'isSubProcessor', kind: 'yes', asked: true },
      ...ratingFields(criteria, ['inherentProbability', 'inherentImpact', 'residualProbability', 'residualImpact']),
      { name: 'treatmentStrategy', kind: 'choice', choices: t.risks.treatment, asked: true },
      { name: 'treatmentStrategyDescription', kind: 'long', optional: true },
      { name: 'reviewDate', kind: 'date', optional: true, asked: true },
    ],
  };
}
