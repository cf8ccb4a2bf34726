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

/** Keys of a page: single ones, or with the platform's command key as `Mod+z`. They never fire while somebody types. */
export function useShortcuts(keys: Record<string, Act | undefined>) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || isTyping(event.target)) return;
      const isCommand = event.metaKey || event.ctrlKey;
      const act = latest.current[isCommand ? `Mod+${event.key.toLowerCase()}` : event.key];
      if (act && act() !== false) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
