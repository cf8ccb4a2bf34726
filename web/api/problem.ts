import { t } from '../texts';
import type { components } from './schema';

type Body = components['schemas']['Problem'];
export type FieldProblem = components['schemas']['FieldProblem'];

/** A failure as the server tells it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly errors: FieldProblem[] = [],
    readonly requestId?: string,
  ) {
    super(detail);
  }

  /** No answer came at all. */
  static unreachable(): Problem {
    return new Problem(0, 'unreachable', t.problems.unreachable);
  }

  get isConflict(): boolean {
    return this.status === 412;
  }

  /** What is wrong with each field, for a form. */
  fields(): Record<string, string> {
    return Object.fromEntries(this.errors.map(({ field, message }) => [field, sentence(message)]));
  }

  /** What is not about one of these fields, for the head of a form. */
  rest(known: string[]): string | undefined {
    const other = this.errors.filter(({ field }) => !known.includes(field));
    if (this.errors.length === 0) return this.message;
    return other.length === 0 ? undefined : other.map(({ field, message }) => `${field} ${message}`).join('. ');
  }
}

/** "must not be empty" beside a label reads better as a sentence. */
export function sentence(message: string): string {
  return message.charAt(0).toUpperCase() + message.slice(1);
}

export async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.clone().json()) as Body;
    return new Problem(response.status, body.code, body.detail, body.errors ?? [], body.requestId);
  } catch {
    return new Problem(response.status, 'unreadable', t.problems.unreadable(response.status));
  }
}

/** The words for any failure. */
export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
