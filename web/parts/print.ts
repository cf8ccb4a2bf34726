import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

const SCHEME = 'data-mantine-color-scheme';

/** Calls one function before the page is printed and another afterwards; returns what ends this. */
function onPrint(begin: () => void, end: () => void) {
  addEventListener('beforeprint', begin);
  addEventListener('afterprint', end);
  return () => {
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}

/** Paper is light, whatever the screen is. */
export function usePaper() {
  useEffect(() => {
    const root = document.documentElement;
    let scheme: string | null = null;
    return onPrint(
      () => {
        scheme = root.getAttribute(SCHEME);
        root.setAttribute(SCHEME, 'light');
      },
      () => scheme && root.setAttribute(SCHEME, scheme),
    );
  }, []);
}

/** Tells if the page is being printed: then everything is drawn, also what is out of view. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  // The browser takes the page as it is when the event has passed.
  useEffect(() => {
    const begin = () => flushSync(() => setPrinting(true));
    const end = () => setPrinting(false);
    // Some browsers, and tools that make a PDF, change the medium without an event.
    const medium = matchMedia('print');
    const follow = ({ matches }: MediaQueryListEvent) => (matches ? begin() : end());
    medium.addEventListener('change', follow);
    const stop = onPrint(begin, end);
    return () => {
      medium.removeEventListener('change', follow);
      stop();
    };
  }, []);
  return isPrinting;
}
