import { useCallback, useState } from 'react';
import { organization } from '../api/organization';
import { useMe } from '../api/session';

const PREFIX = 'draft:';

/** The storage of the browser; without it, as in some private windows, drafts last as long as the page. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

function read<T>(key: string): T | undefined {
  try {
    const text = storage()?.getItem(key);
    return text ? (JSON.parse(text) as T) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What somebody typed and has not sent. It stays in this browser over Esc, a reload and another page, until it is sent or
 * discarded. A draft belongs to a member, so nobody else who uses the browser sees it.
 */
export function useDraft<T>(name: string, none: T): [draft: T, set: (next: T) => void, discard: () => void] {
  const { memberId } = useMe();
  const key = `${PREFIX}${organization() ?? ''}:${memberId ?? ''}:${name}`;
  const [held, setHeld] = useState<{ key: string; draft: T }>(() => ({ key, draft: read<T>(key) ?? none }));
  const draft = held.key === key ? held.draft : (read<T>(key) ?? none);
  const set = useCallback(
    (next: T) => {
      setHeld({ key, draft: next });
      try {
        if (next === none) storage()?.removeItem(key);
        else storage()?.setItem(key, JSON.stringify(next));
      } catch {
        // The storage is full: the draft lasts as long as the page.
      }
    },
    [key, none],
  );
  const discard = useCallback(() => {
    setHeld({ key, draft: none });
    storage()?.removeItem(key);
  }, [key, none]);
  return [draft, set, discard];
}

/** Forgets all drafts, when somebody signs out. */
export function forgetDrafts() {
  const all = storage();
  if (!all) return;
  for (const key of Object.keys(all)) if (key.startsWith(PREFIX)) all.removeItem(key);
}
