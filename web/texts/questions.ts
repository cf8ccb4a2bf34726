import { questions as de } from './de/questions';
import { type Language, language } from './index';

/** A question about the scope in another language than the server's, with its options by their values. */
type Words = { question: string; help: string; options?: Record<string, string> };
export type QuestionWords = Record<string, Words>;

const words: Record<Language, QuestionWords> = { en: {}, de };

type Asked = { key: string; question: string; help: string; options: { value: string; label: string }[] };

/** The question in the language of the console; as the server asks it where it is not translated. */
export function spoken<Q extends Asked>(question: Q): Q {
  const own = words[language][question.key];
  if (!own) return question;
  const options = question.options.map((one) => ({ ...one, label: own.options?.[one.value] ?? one.label }));
  return { ...question, question: own.question, help: own.help, options };
}
