import { t } from '../texts';
import type { components } from './schema';

type Body = components['schemas']['Problem'];
export type FieldProblem = components['schemas']['FieldProblem'];
/** The members of a problem that say how to go on. */
type More = Pick<Body, 'challenge' | 'methods' | 'reason' | 'organizationId' | 'startUrl'>;

/** A failure as the server tells it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly errors: FieldProblem[] = [],
    readonly requestId?: string,
    readonly more: More = {},
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

/** The server's sentences about fields, in the words of the console. */
const SENTENCES: [RegExp, (one: string, other: string) => string][] = [
  [/^is required$/, () => t.problems.fields.required],
  [/^must not be (null|empty)$/, () => t.problems.fields.notEmpty],
  [/^must be true or false$/, () => t.problems.fields.flag],
  [/^must be a date such as/, () => t.problems.fields.date],
  [/^can be read in two ways; write it as (\S+) or (\S+)$/, (one, other) => t.problems.fields.twoDates(one, other)],
  [/^must not be in the future$/, () => t.problems.fields.notFuture],
  [/^must lie in the future$/, () => t.problems.fields.future],
  [/^(?:is required, and )?must lie within (\d+) days$/, (days) => t.problems.fields.within(days)],
  [/^is too long$/, () => t.problems.fields.long],
  [/^must have at most (\d+) characters(?:;|$)/, (most) => t.problems.fields.atMost(most)],
  [/^must have (\d+) to (\d+) characters(?:;|$)/, (least, most) => t.problems.fields.length(least, most)],
  [/^must be a whole number from (-?\d+) to (-?\d+)$/, (least, most) => t.problems.fields.number(least, most)],
  [/^must be one of: (.+)$/s, (values) => t.imports.oneOf(values)],
  [/^must be an e-mail address/, () => t.problems.fields.email],
  [/^must be a web address/, () => t.problems.fields.web],
  [/^must be an active member of this organization$/, () => t.problems.fields.member],
  [/^"(.+)" is nobody in this organization/s, (who) => t.problems.fields.nobody(who)],
  [/^"(.+)" is the name of several people/s, (who) => t.problems.fields.several(who)],
];

/** "must not be empty" beside a label reads better as a sentence. What the console has no words for stays as it is. */
export function sentence(message: string): string {
  for (const [form, say] of SENTENCES) {
    const found = form.exec(message);
    if (found) return say(found[1] ?? '', found[2] ?? '');
  }
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** The problem that a body describes, in the language of the console where it has words for the code. */
export function problemIn(status: number, body: Body): Problem {
  const { codes, causes } = t.problems;
  const detail = causes[body.code]?.(body.detail) ?? codes[body.code] ?? body.detail;
  return new Problem(status, body.code, detail, body.errors ?? [], body.requestId, body);
}

export async function problemOf(response: Response): Promise<Problem> {
  try {
    return problemIn(response.status, (await response.clone().json()) as Body);
  } catch {
    return new Problem(response.status, 'unreadable', t.problems.unreadable(response.status));
  }
}

/** The words for any failure. */
export function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
