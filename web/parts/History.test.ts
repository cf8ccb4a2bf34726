// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Schemas } from '../api/client';
import type { usePeople } from '../api/people';
import { told } from './History';
import type { Definition } from './register/definition';
import { reader } from './register/reading';

const d = {
  fields: [{ name: 'impact', kind: 'rating', choices: { insignificant: 'Insignificant', moderate: 'Moderate' } }],
  ratings: {
    inherent: { likelihood: 'likelihood', impact: 'impact' },
    residual: { likelihood: 'residualLikelihood', impact: 'residualImpact' },
  },
  statuses: {},
} as unknown as Definition;
const read = reader(d, { name: () => undefined } as unknown as ReturnType<typeof usePeople>);

const entry = (changes: Schemas['AuditEntry']['changes']) =>
  ({
    id: 'aud_1',
    action: 'risk.updated',
    at: '2025-08-13T08:45:00.000Z',
    actor: { type: 'member', name: 'Ada Byron' },
    changes,
  }) as Schemas['AuditEntry'];
const impact = { field: 'impact', before: 'moderate', after: 'insignificant' };

test('a rating that is taken back was not set before its first and is not set after it', () => {
  const back = { field: 'isAssessed', before: true, after: false };
  expect(told(entry([impact, back]), { impact: 'Impact' }, read).changes).toEqual([
    { field: 'Impact', from: 'Moderate', to: 'Not set' },
  ]);
  const first = { field: 'isAssessed', before: false, after: true };
  expect(told(entry([impact, first]), { impact: 'Impact' }, read).changes?.[0]).toMatchObject({ from: 'Not set' });
  expect(told(entry([impact]), { impact: 'Impact' }, read).changes?.[0]).toMatchObject({ to: 'Insignificant' });
});
