import { describe, expect, it, vi } from 'vitest';
import { after, freshness } from './evidence';

describe('evidence', () => {
  it('is fresh for one period, which ends with short months', () => {
    expect(after('2026-11-16', 'daily')).toBe('2026-11-17');
    expect(after('2026-12-28', 'weekly')).toBe('2027-01-04');
    expect(after('2026-01-31', 'monthly')).toBe('2026-02-28');
    expect(after('2026-11-30', 'quarterly')).toBe('2027-02-28');
    expect(after('2028-02-29', 'yearly')).toBe('2029-02-28');
  });

  it('is stale on the day that its period ends', () => {
    vi.useFakeTimers({ now: new Date(2026, 10, 15, 12) });
    expect(freshness('2026-10-16', 'monthly')).toEqual({ left: 1, every: 30 });
    expect(freshness('2026-10-15', 'monthly')?.left).toBe(-1);
    expect(freshness('2026-10-05', 'monthly')?.left).toBe(-11);
    expect(freshness('2020-10-05', null)).toBeUndefined();
    vi.useRealTimers();
  });
});
