import { $api, type Schemas } from '../../api/client';
import { SERVICE_ACCOUNTS } from '../../api/people';
import { refetch } from '../../api/query';
import { t } from '../../texts';
import { isExpired } from '../expiry';
import { POLICY } from '../signIn/queries';

export type Key = Schemas['ApiKey'];

/** The API keys of people and of service accounts. */
export const API_KEYS = '/v1/organization/api-keys' as const;

export const useKeys = () => $api.useQuery('get', API_KEYS, { params: { query: { limit: 1000 } } });

/** Fetches again whatever shows keys or counts them. */
export const refetchKeys = () => refetch(API_KEYS, SERVICE_ACCOUNTS, POLICY);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 90;
const DAYS = [30, DEFAULT_DAYS, 365];
const NEVER = 'never';

/** The choices of when a new key expires, within the limit of the policy. */
export function expiryChoices(maxDays: number | null) {
  const days = maxDays === null ? DAYS : [...DAYS.filter((one) => one < maxDays), maxDays];
  return [
    ...days.map((one) => ({ value: String(one), label: t.settings.keys.inDays(one) })),
    ...(maxDays === null ? [{ value: NEVER, label: t.settings.keys.never }] : []),
  ];
}

export const defaultExpiry = (maxDays: number | null) => String(Math.min(DEFAULT_DAYS, maxDays ?? DEFAULT_DAYS));

/** The time at which a key with such an expiry ends. At the limit of the policy it ends an hour early, as clocks differ. */
export function expiryTime(choice: string, maxDays: number | null, now = Date.now()): string | null {
  if (choice === NEVER) return null;
  const days = Number(choice);
  return new Date(now + days * DAY_MS - (days === maxDays ? HOUR_MS : 0)).toISOString();
}

/** True for a key that works although the policy would not allow it today. */
export const isBeyond = (key: Key) => key.isBeyondPolicy && !isExpired(key);

/** The number of the valid keys of a member, and the first of them to expire. */
export function keysOf(keys: Key[], memberId: string): { count: number; first?: Key } {
  const own = keys.filter((key) => key.memberId === memberId && !isExpired(key));
  const ends = (key: Key) => key.expiresAt ?? '9999';
  const [first] = own.toSorted((one, other) => ends(one).localeCompare(ends(other)));
  return { count: own.length, first };
}
