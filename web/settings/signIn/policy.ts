import type { Schemas } from '../../api/client';
import { t } from '../../texts';

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
  version,
});

/** The whole number in a text; undefined for none, NaN for anything else. */
function numberIn(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : Number.NaN;
}

const MAX_GRACE_DAYS = 90;

const isWithin = (number: number | undefined, least: number, most: number) =>
  number !== undefined && number >= least && number <= most;

export function problemsOf({ ssoMaxHours, graceDays, idleMinutes, maxHours }: Typed): Record<string, string> {
  const texts = t.settings.policy;
  const [idle, age] = [numberIn(idleMinutes), numberIn(maxHours)];
  return {
    ...(!isWithin(numberIn(ssoMaxHours), 1, 720) && { ssoMaxHours: texts.ssoAgeProblem }),
    ...(!isWithin(numberIn(graceDays), 0, MAX_GRACE_DAYS) && { graceDays: texts.graceProblem }),
    ...(idle !== undefined && !isWithin(idle, 5, 43_200) && { idleMinutes: texts.idleProblem }),
    ...(age !== undefined && !isWithin(age, 1, 8_760) && { maxHours: texts.ageProblem }),
  };
}

export const bodyOf = ({ isSsoRequired, ssoMfa, ssoMaxHours, isRequired, graceDays, idleMinutes, maxHours }: Typed): Change => ({
  sso: isSsoRequired ? 'required' : 'optional',
  ssoMfa,
  ssoMaxHours: numberIn(ssoMaxHours),
  mfa: isRequired ? 'required' : 'optional',
  graceDays: numberIn(graceDays),
  idleMinutes: numberIn(idleMinutes) ?? null,
  maxHours: numberIn(maxHours) ?? null,
});

const DAY_MS = 86_400_000;

/** When a second factor is demanded from, if this is saved: the days count from when it was first required. */
export function holdsFrom(policy: Policy, typed: Typed, now = Date.now()): Date | undefined {
  const days = numberIn(typed.graceDays);
  if (!typed.isRequired || days === undefined || !isWithin(days, 0, MAX_GRACE_DAYS)) return undefined;
  const since = policy.mfaFrom === null ? now : Date.parse(policy.mfaFrom) - policy.graceDays * DAY_MS;
  return new Date(since + days * DAY_MS);
}
