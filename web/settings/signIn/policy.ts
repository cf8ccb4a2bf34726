import type { Schemas } from '../../api/client';
import { isWithin, numberIn, numberProblem, present } from '../../parts/numbers';

export type Policy = Schemas['SignInPolicy'];
type Change = Schemas['UpdateSignInPolicy'];

/** The input of the form of the sign-in policy, with the version it began with. */
export type Typed = {
  isSsoRequired: boolean;
  ssoMfa: Policy['ssoMfa'];
  ssoMaxHours: string;
  isRequired: boolean;
  graceDays: string;
  idleMinutes: string;
  maxHours: string;
  apiKeyMaxDays: string;
  areKeyScopesRequired: boolean;
  version: string | null;
};

export const typedOf = (policy: Policy, version: string | null): Typed => ({
  isSsoRequired: policy.sso === 'required',
  ssoMfa: policy.ssoMfa,
  ssoMaxHours: String(policy.ssoMaxHours),
  isRequired: policy.mfa === 'required',
  graceDays: String(policy.graceDays),
  idleMinutes: policy.idleMinutes === null ? '' : String(policy.idleMinutes),
  maxHours: policy.maxHours === null ? '' : String(policy.maxHours),
  apiKeyMaxDays: policy.apiKeyMaxDays === null ? '' : String(policy.apiKeyMaxDays),
  areKeyScopesRequired: policy.apiKeyScopesRequired,
  version,
});

export const LIMITS = {
  ssoMaxHours: { min: 1, max: 720 },
  graceDays: { min: 0, max: 90 },
  idleMinutes: { min: 5, max: 43_200 },
  maxHours: { min: 1, max: 8_760 },
  apiKeyMaxDays: { min: 1, max: 3_650 },
};

export const problemsOf = ({ ssoMaxHours, graceDays, idleMinutes, maxHours, apiKeyMaxDays }: Typed) =>
  present({
    ssoMaxHours: numberProblem(ssoMaxHours, LIMITS.ssoMaxHours),
    graceDays: numberProblem(graceDays, LIMITS.graceDays),
    idleMinutes: numberProblem(idleMinutes, LIMITS.idleMinutes, { isOptional: true }),
    maxHours: numberProblem(maxHours, LIMITS.maxHours, { isOptional: true }),
    apiKeyMaxDays: numberProblem(apiKeyMaxDays, LIMITS.apiKeyMaxDays, { isOptional: true }),
  });

export const bodyOf = (typed: Typed): Change => ({
  sso: typed.isSsoRequired ? 'required' : 'optional',
  ssoMfa: typed.ssoMfa,
  ssoMaxHours: numberIn(typed.ssoMaxHours),
  mfa: typed.isRequired ? 'required' : 'optional',
  graceDays: numberIn(typed.graceDays),
  idleMinutes: numberIn(typed.idleMinutes) ?? null,
  maxHours: numberIn(typed.maxHours) ?? null,
  apiKeyMaxDays: numberIn(typed.apiKeyMaxDays) ?? null,
  apiKeyScopesRequired: typed.areKeyScopesRequired,
});

const DAY_MS = 86_400_000;

/** The time from which a second factor is demanded, if this is saved: the days count from when it was first required. */
export function holdsFrom(policy: Policy, typed: Typed, now = Date.now()): Date | undefined {
  const days = numberIn(typed.graceDays);
  if (!typed.isRequired || !isWithin(days, LIMITS.graceDays)) return undefined;
  const since = policy.mfaFrom === null ? now : Date.parse(policy.mfaFrom) - policy.graceDays * DAY_MS;
  return new Date(since + days * DAY_MS);
}
