import { expect, test } from 'vitest';
import { guesses } from './guesses';

const risk = { path: '/v1/risks' as const, nameField: 'title', texts: { new: 'New risk', one: 'risk', many: 'risks' } };
const fields = ['title', 'description', 'category', 'assigneeId', 'likelihood', 'impact', 'reviewDate'].map((value) => ({
  value,
  label: { assigneeId: 'Owner', reviewDate: 'Next review' }[value] ?? value,
}));

test('columns are known by the name of a field, its label, or another name for it', () => {
  expect(guesses(['Risk name', 'Details', 'Type', 'Owner', 'Chance', 'Severity', 'Next review'], fields, risk)).toEqual([
    'title',
    'description',
    'category',
    'assigneeId',
    'likelihood',
    'impact',
    'reviewDate',
  ]);
  expect(guesses(['Risk', 'Risk owner', 'Colour'], fields, risk)).toEqual(['title', 'assigneeId', '']);
});

test('the headers of an export are known, and no field is taken twice', () => {
  expect(guesses(['id', 'title', 'assigneeId', 'assigneeName', 'inherentScore'], fields, risk)).toEqual([
    '',
    'title',
    'assigneeId',
    '',
    '',
  ]);
});

test('residual ratings and a date that is due are known by other names, too', () => {
  const rated = ['title', 'likelihood', 'impact', 'residualLikelihood', 'residualImpact', 'reviewDate'];
  const known = rated.map((value) => ({ value, label: value }));
  expect(guesses(['Risk', 'Chance', 'Residual chance', 'Residual severity', 'Due'], known, risk)).toEqual([
    'title',
    'likelihood',
    'residualLikelihood',
    'residualImpact',
    'reviewDate',
  ]);
});

test('a console in another language knows the English names, too', () => {
  const german = { ...risk, texts: { new: 'Neues Risiko', one: 'Risiko', many: 'Risiken' } };
  expect(guesses(['Risk name', 'Risk owner'], fields, german)).toEqual(['title', 'assigneeId']);
  expect(guesses(['Risk'], fields, german)).toEqual(['title']);
  expect(guesses(['Risiko', 'Vendor'], fields, german)).toEqual(['title', '']);
  const vendor = { path: '/v1/vendors' as const, nameField: 'name', texts: { new: '', one: 'Lieferant', many: '' } };
  expect(guesses(['Vendor', 'Risk'], [{ value: 'name', label: 'Name' }], vendor)).toEqual(['name', '']);
});
