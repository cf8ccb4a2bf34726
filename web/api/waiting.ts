import type { RecordPath } from './records';
import { store } from './store';

/** An edit that no answer came to. `version` is of the record it was made on. */
export type Waiting = {
  path: RecordPath;
  id: string;
  patch: Record<string, unknown>;
  version: string | null;
  /** It was refused because the session has ended. */
  isSignedOut?: boolean;
};

const AGAIN = 5_000;
const queue = store<Waiting[]>([]);
let sender: ((edit: Waiting) => Promise<'done' | 'unreachable'>) | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Says how an edit is sent. */
export function sendWaitingWith(send: typeof sender) {
  sender = send;
}

export const useWaiting = queue.use;

/** Keeps an edit until the server can be reached. Edits of one record become one, on the version they began with. */
export function keep(edit: Waiting) {
  const all = queue.get();
  const known = all.find(({ path, id }) => path === edit.path && id === edit.id);
  const merged = known && { ...known, patch: { ...known.patch, ...edit.patch } };
  queue.set(merged ? all.map((one) => (one === known ? merged : one)) : [...all, edit]);
  if (all.length === 0) {
    addEventListener('online', flush);
    addEventListener('beforeunload', hold);
    later();
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(flush, AGAIN);
}

/** Leaving the page would lose them. */
function hold(event: BeforeUnloadEvent) {
  event.preventDefault();
}

let isFlushing = false;

/** Sends what waits, in the order it was made, until one cannot be sent. */
export async function flush() {
  if (isFlushing || !sender) return;
  isFlushing = true;
  try {
    for (let first = queue.get()[0]; first; first = queue.get()[0]) {
      const sent = first;
      if ((await sender(sent)) === 'unreachable') return later();
      // What was added to it meanwhile is another edit.
      queue.set(queue.get().flatMap((one) => (isSame(one, sent) ? rest(one, sent) : [one])));
    }
  } finally {
    isFlushing = false;
  }
  removeEventListener('online', flush);
  removeEventListener('beforeunload', hold);
}

const isSame = (a: Waiting, b: Waiting) => a.path === b.path && a.id === b.id;

function rest(now: Waiting, sent: Waiting): Waiting[] {
  if (now === sent) return [];
  const patch = Object.fromEntries(Object.entries(now.patch).filter(([name, value]) => sent.patch[name] !== value));
  // Its version is whatever the edit before has made of it.
  return Object.keys(patch).length > 0 ? [{ ...now, patch, version: null }] : [];
}
