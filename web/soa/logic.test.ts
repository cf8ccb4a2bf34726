import { describe, expect, it } from 'vitest';
import { type Answer, answered, clause, counts, nextGap, patched, type Row, stateOf, themes } from './logic';

const answer = (of: Partial<Answer> = {}): Answer => ({
  questionId: 'q',
  isApplicable: true,
  justification: null,
  implementationStatus: null,
  ownerId: null,
  obligation: null,
  source: 'person',
  state: 'confirmed',
  updatedAt: '2026-11-16T09:00:00.000Z',
  updatedBy: null,
  ...of,
});
const row = (code: string, theme: string, said: Answer | null, gaps: Row['gaps'] = []): Row => ({
  question: { id: code, code, title: code, theme, objective: '' },
  answer: said,
  drivers: { risks: [], obligation: null, controls: [], evidence: { tasks: 0, fresh: 0 }, ownerId: null },
  gaps,
  readiness: null,
  missing: [],
});

const rows = [
  row('5.1', 'Organizational', answer()),
  row('5.2', 'Organizational', null, ['answer']),
  row('6.1', 'People', answer({ state: 'proposed' }), ['answer', 'owner']),
  row('7.1', 'Physical', answer({ isApplicable: false, justification: 'No premises.' })),
  row('8.1', 'Technological', answer(), ['evidence']),
];

describe('rows', () => {
  it('stand somewhere between open and done', () => {
    expect(rows.map(stateOf)).toEqual(['done', 'open', 'proposed', 'out', 'gap']);
  });

  it('are counted', () => {
    expect(counts(rows)).toEqual({ all: 5, applicable: 3, complete: 2, answered: 3, proposed: 1, gaps: 3 });
  });

  it('stand under their themes, with the clause that they share', () => {
    const [first] = themes(rows);
    expect(themes(rows).map(({ name }) => name)).toEqual(['Organizational', 'People', 'Physical', 'Technological']);
    expect(first && clause(first)).toBe('5');
    expect(clause({ name: 'Mixed', rows: [row('5.1', 'Mixed', null), row('6.1', 'Mixed', null)] })).toBeUndefined();
    expect(clause({ name: 'Words', rows: [row('Art. 5', 'Words', null)] })).toBeUndefined();
  });
});

describe('the next gap', () => {
  it('is after the row, and around', () => {
    expect(nextGap(rows, '5.2')?.question.code).toBe('6.1');
    expect(nextGap(rows, '8.1')?.question.code).toBe('5.2');
    expect(nextGap(rows, undefined)?.question.code).toBe('5.2');
    expect(nextGap(rows.slice(0, 1), '5.1')).toBeUndefined();
  });
});

describe('an answer', () => {
  const said = row('5.1', 'Organizational', answer({ justification: 'Law', obligation: 'GDPR', ownerId: 'mem_1' }));

  it('keeps what is left out', () => {
    expect(patched(said, { implementationStatus: 'implemented' })).toMatchObject({
      justification: 'Law',
      obligation: 'GDPR',
      implementationStatus: 'implemented',
    });
  });

  it('loses its reasons when it turns into its opposite, but not its owner', () => {
    expect(patched(said, { isApplicable: false, justification: 'No premises.' })).toMatchObject({
      isApplicable: false,
      justification: 'No premises.',
      obligation: null,
      ownerId: 'mem_1',
    });
  });

  it('applies unless it was said not to', () => {
    expect(patched(row('5.2', 'Organizational', null), { justification: 'Contract' }).isApplicable).toBe(true);
  });

  it('closes the gap of a missing answer at once', () => {
    const open = row('6.1', 'People', null, ['answer', 'owner']);
    expect(answered(open, answer()).gaps).toEqual(['owner']);
    expect(answered(open, answer({ isApplicable: false })).gaps).toEqual([]);
  });
});
