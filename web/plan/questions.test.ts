import { expect, test } from 'vitest';
import { askedOf, flagsOf, type Question, scopeOf } from './questions';

const question = (key: string, rest: Partial<Question> = {}): Question => ({
  key,
  question: `${key}?`,
  help: '',
  kind: 'yes_no',
  options: [],
  multiple: false,
  sets: {},
  onlyIf: null,
  frameworks: [],
  ...rest,
});

const software = question('software', { sets: { yes: ['develops'] } });
const outside = question('outside', { onlyIf: 'develops', sets: { yes: ['outsources'] } });
const reviewed = question('reviewed', { onlyIf: 'outsources' });
const offices = question('offices', { kind: 'number', sets: { '1': ['has_offices'], '5': ['has_many'] } });
const health = question('health', {
  kind: 'choice',
  options: [
    { value: 'none', label: 'None' },
    { value: 'both', label: 'Both' },
  ],
  sets: { both: ['health'] },
});
const cases = question('cases', { kind: 'choice', multiple: true, sets: { children: ['children'], dpo: ['dpo'] } });
const categories = question('categories', { kind: 'choice', multiple: true, frameworks: ['soc_2'] });

const keys = (questions: Question[]) => questions.map(({ key }) => key);

test('a question is skipped until an answer sets its flag', () => {
  const all = [software, outside];
  expect(keys(askedOf(all, {}, []))).toEqual(['software']);
  expect(keys(askedOf(all, { software: false }, []))).toEqual(['software']);
  expect(keys(askedOf(all, { software: true }, []))).toEqual(['software', 'outside']);
});

test('the answer of a question that is not asked sets nothing and is not sent', () => {
  const all = [software, outside, reviewed];
  const answers = { software: false, outside: true, reviewed: true };
  expect(keys(askedOf(all, answers, []))).toEqual(['software']);
  expect(scopeOf(all, answers, [])).toEqual({ software: false });
  expect(keys(askedOf(all, { ...answers, software: true }, []))).toEqual(['software', 'outside', 'reviewed']);
});

test('a number sets the flags of every number up to it', () => {
  expect(flagsOf(offices, undefined)).toEqual([]);
  expect(flagsOf(offices, 0)).toEqual([]);
  expect(flagsOf(offices, 1)).toEqual(['has_offices']);
  expect(flagsOf(offices, 12)).toEqual(['has_offices', 'has_many']);
});

test('a choice sets the flags of what was chosen', () => {
  expect(flagsOf(health, 'none')).toEqual([]);
  expect(flagsOf(health, 'both')).toEqual(['health']);
  expect(flagsOf(cases, [])).toEqual([]);
  expect(flagsOf(cases, ['dpo', 'children'])).toEqual(['children', 'dpo']);
});

test('a question of other frameworks is skipped', () => {
  expect(keys(askedOf([software, categories], {}, ['iso_27001']))).toEqual(['software']);
  expect(keys(askedOf([software, categories], {}, ['iso_27001', 'soc_2']))).toEqual(['software', 'categories']);
});

test('no and none are answers, and are sent', () => {
  const answers = { software: false, offices: 0, cases: [] };
  expect(scopeOf([software, offices, cases], answers, [])).toEqual(answers);
});
