import type en from './en';

/** What every language must say. */
export type Texts = typeof en;

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

const KEY = 'attestry.language';
const load: Record<Language, () => Promise<{ default: Texts }>> = {
  en: () => import('./en'),
  de: () => import('./de'),
};

/** The texts of the language in use. They are loaded before the first page is. */
export let t: Texts;
export let language: Language = 'en';

function isLanguage(word: string | null | undefined): word is Language {
  return word !== null && word !== undefined && word in languages;
}

/** The one that was chosen here, or else the first that the browser asks for and we have. */
function wanted(): Language {
  const chosen = localStorage.getItem(KEY);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((one) => one.split('-')[0]).find(isLanguage) ?? 'en';
}

export async function speak(): Promise<void> {
  language = wanted();
  t = (await load[language]()).default;
  document.documentElement.lang = language;
}

export function chooseLanguage(next: Language) {
  localStorage.setItem(KEY, next);
  location.reload();
}
