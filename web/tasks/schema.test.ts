import { describe, expect, it } from 'vitest';
import { type ObjectSchema, ordered, sent, shown } from './schema';

const schema: ObjectSchema = {
  properties: {
    expectedStatus: { type: 'integer', default: 200 },
    expectedValue: { type: ['string', 'number', 'boolean', 'null'], default: null },
    headers: { type: 'array', items: { enum: ['a', 'b'] }, default: ['a', 'b'] },
    jsonPointer: { type: ['string', 'null'], default: null },
    url: { type: 'string' },
  },
  required: ['url'],
};

describe('the parameters of a check', () => {
  it('begin with what is required', () => {
    expect(ordered(schema)[0]?.[0]).toBe('url');
  });

  it('are shown with their defaults', () => {
    expect(shown(schema, { url: 'https://a', expectedValue: true })).toEqual({
      url: 'https://a',
      expectedStatus: '200',
      expectedValue: 'true',
      headers: ['a', 'b'],
      jsonPointer: '',
    });
  });

  it('are sent as what they are', () => {
    expect(sent(schema, { url: '12', expectedStatus: '201', expectedValue: 'false', headers: ['b'], jsonPointer: '/0' })).toEqual(
      { url: '12', expectedStatus: 201, expectedValue: false, headers: ['b'], jsonPointer: '/0' },
    );
    expect(sent(schema, { url: '', expectedStatus: 'x', expectedValue: 'up', headers: [], jsonPointer: '' })).toEqual({
      expectedStatus: 'x',
      expectedValue: 'up',
    });
  });

  it('come back as they were', () => {
    for (const expectedValue of ['7', 7, 'seven', true, 'true']) {
      const before = { url: 'https://a', expectedStatus: 200, expectedValue, headers: ['a'] };
      expect(sent(schema, shown(schema, before))).toEqual(before);
    }
  });
});
