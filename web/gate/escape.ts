import { useEffect } from 'react';

const open = new Set<object>();

// Registered before any dialog is: Escape would close the dialogs below, with what was typed in them.
addEventListener(
  'keydown',
  (event) => {
    if (event.key === 'Escape' && open.size > 0) event.stopImmediatePropagation();
  },
  { capture: true },
);

/** Keeps Escape from what lies below while a sign-in covers the page. */
export function useEscapeBlock(isOpen: boolean) {
  useEffect(() => {
    if (!isOpen) return;
    const one = {};
    open.add(one);
    return () => void open.delete(one);
  }, [isOpen]);
}
