import { afterEach, beforeEach } from 'vitest';

// What jsdom lacks and the components ask for.
if (typeof window !== 'undefined') {
  const { speak, speakOnPages } = await import('../../texts');
  // Node's requests need a whole address, and do not know the signals of jsdom.
  const Whole = globalThis.Request;
  globalThis.Request = class extends Whole {
    constructor(input: RequestInfo | URL, { signal: _, ...options }: RequestInit = {}) {
      super(typeof input === 'string' ? new URL(input, 'http://localhost') : input, options);
    }
    override clone() {
      return new globalThis.Request(super.clone());
    }
  };
  window.matchMedia ??= (query) =>
    ({
      matches: false,
      media: query,
      onchange: null,
      addEventListener: () => undefined,
      removeEventListener: () => undefined,
      addListener: () => undefined,
      removeListener: () => undefined,
      dispatchEvent: () => false,
    }) as MediaQueryList;
  window.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  Blob.prototype.text ??= function (this: Blob) {
    return new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.readAsText(this);
    });
  };
  if (!document.fonts) Object.defineProperty(document, 'fonts', { value: new EventTarget() });
  Element.prototype.scrollIntoView ??= () => undefined;
  window.CSS ??= { escape: (text: string) => text.replace(/[^\w-]/g, '\\$&') } as typeof CSS;
  // There is no layout: everything is as large as a window.
  const size = { clientWidth: 1280, offsetWidth: 1280, clientHeight: 720, offsetHeight: 720 };
  for (const [name, value] of Object.entries(size)) Object.defineProperty(HTMLElement.prototype, name, { get: () => value });
  HTMLElement.prototype.getBoundingClientRect = () => new DOMRect(0, 0, size.offsetWidth, size.offsetHeight);
  // The client keeps the function that is there when it is loaded; a test answers later.
  const send = globalThis.fetch;
  const late: typeof fetch = (...request) => (globalThis.fetch === late ? send : globalThis.fetch)(...request);
  globalThis.fetch = late;
  await speak();
  await speakOnPages();
  const { cleanup, configure } = await import('@testing-library/react');
  configure({ asyncUtilTimeout: 60_000 });
  const { queries } = await import('../../api/query');
  beforeEach(() => localStorage.clear());
  afterEach(() => {
    cleanup();
    queries.clear();
  });
}
