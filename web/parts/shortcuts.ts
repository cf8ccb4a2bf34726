import { useEffect, useRef } from 'react';

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
      target.closest('[role=dialog], [role=menu], [role=listbox]') !== null)
  );
}

/** Does what a key is for; false leaves the key to others. */
type Act = () => unknown;

type Press = (event: KeyboardEvent) => void;
const pages = new Set<Press>();
const everywhere = new Set<Press>();

/** What is in the page comes before what works everywhere, whichever was drawn first. */
function press(event: KeyboardEvent) {
  for (const one of [...pages, ...everywhere]) one(event);
}

/**
 * Keys of a page: single ones, or with the platform's command key as `Mod+z`. They never fire while somebody types. Those
 * that work everywhere give way to the same keys of a page.
 */
export function useShortcuts(keys: Record<string, Act | undefined>, { isEverywhere = false } = {}) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const own: Press = (event) => {
      if (event.defaultPrevented || event.altKey || isTyping(event.target)) return;
      const isCommand = event.metaKey || event.ctrlKey;
      const act = latest.current[isCommand ? `Mod+${event.key.toLowerCase()}` : event.key];
      if (act && act() !== false) event.preventDefault();
    };
    const layer = isEverywhere ? everywhere : pages;
    layer.add(own);
    addEventListener('keydown', press);
    return () => {
      layer.delete(own);
      if (pages.size + everywhere.size === 0) removeEventListener('keydown', press);
    };
  }, [isEverywhere]);
}
