import type { Node } from './content';

/** Text that is not saved yet. It stays in this browser until it is. */
export type Draft = {
  content: Node[];
  /** What was on the server when it was begun. */
  base: { version: string | null; content: Node[] };
  at: string;
};

const key = (id: string) => `attestry.policy.${id}`;

export function draftOf(id: string): Draft | undefined {
  try {
    const text = localStorage.getItem(key(id));
    return text ? (JSON.parse(text) as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(id: string, draft: Omit<Draft, 'at'>) {
  try {
    localStorage.setItem(key(id), JSON.stringify({ ...draft, at: new Date().toISOString() }));
  } catch {
    // The browser keeps no more; the text is still on the page.
  }
}

export function dropDraft(id: string) {
  localStorage.removeItem(key(id));
}
