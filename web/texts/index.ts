import type en from './en';

/** What every language must say. */
export type Texts = typeof en;

export const languages = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof languages;

const KEY = 'attestry.language';
type First = Pick<Texts, keyof typeof import('./en/first').default>;
type Rest = Omit<Texts, keyof First>;
const load: Record<Language, [first: () => Promise<{ default: First }>, rest: () => Promise<{ default: Rest }>]> = {
  en: [() => import('./en/first'), () => import('./en/rest')],
  de: [() => import('./de/first'), () => import('./de/rest')],
};

/** The texts of the language in use: the first ones are loaded before any page is, the rest with the pages that use them. */
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
  t = { ...(await load[language][0]()).default } as Texts;
  document.documentElement.lang = language;
}

/** Loads the texts that the home page does without. */
export async function speakOnPages(): Promise<void> {
  Object.assign(t, (await load[language][1]()).default);
}

export function chooseLanguage(next: Language) {
  localStorage.setItem(KEY, next);
  location.reload();
}
