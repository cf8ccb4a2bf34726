import { t } from '../texts';

/** What happened in a failed round trip to an identity provider, and what to do about it. */
export type FailureWords = { what: string; advice: string };

export function failureWords(code: string): FailureWords {
  const [what, advice] = t.gate.failures[code] ?? t.gate.failure;
  return { what, advice };
}
