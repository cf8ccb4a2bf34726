import { t } from '../texts';

/** The words for a failed round trip to an identity provider: the failure, and what to do about it. */
export type FailureWords = { what: string; advice: string };

export function failureWords(code: string): FailureWords {
  const [what, advice] = t.gate.failures[code] ?? t.gate.failure;
  return { what, advice };
}
