import type { Schemas } from '../api/client';

export type Question = Schemas['ScopeQuestion'];
export type Scope = NonNullable<Schemas['PlanProgramme']['scope']>;
export type Answer = boolean | number | string | string[];
/** Answers by the key of their question; a question that was skipped has none. */
export type Answers = Partial<Record<string, Answer>>;

/** The flags that an answer sets. */
export function flagsOf({ kind, sets }: Question, answer: Answer | undefined): string[] {
  if (answer === undefined) return [];
  const isSetBy = (key: string): boolean => {
    if (kind === 'yes_no') return key === (answer === true ? 'yes' : 'no');
    // A flag is set by its number and by every higher one.
    if (kind === 'number') return typeof answer === 'number' && answer >= Number(key);
    return Array.isArray(answer) ? answer.includes(key) : answer === key;
  };
  return Object.entries(sets).flatMap(([key, flags]) => (isSetBy(key) ? flags : []));
}

/**
 * The questions to ask, in their order: those that concern a chosen framework, and whose flag an answer has set. The
 * answer of a question that is not asked sets nothing.
 */
export function askedOf(questions: Question[], answers: Answers, frameworks: string[]): Question[] {
  const flags = new Set<string>();
  return questions.filter((question) => {
    const concerns = question.frameworks.length === 0 || question.frameworks.some((alias) => frameworks.includes(alias));
    const isAsked = concerns && (question.onlyIf === null || flags.has(question.onlyIf));
    if (isAsked) for (const flag of flagsOf(question, answers[question.key])) flags.add(flag);
    return isAsked;
  });
}

/** The answers of the questions that are asked: what was answered before another answer hid its question is left out. */
export function scopeOf(questions: Question[], answers: Answers, frameworks: string[]): Scope {
  const asked = askedOf(questions, answers, frameworks);
  return Object.fromEntries(asked.flatMap(({ key }) => (answers[key] === undefined ? [] : [[key, answers[key]]]))) as Scope;
}
