import { Problem } from './problem';

/** Asks for a new sign-in when the session ends while the page is in use. */
type Asker = () => Promise<void>;
let asker: Asker | undefined;
let asking: Promise<void> | undefined;

export function onExpiry(next: Asker | undefined) {
  asker = next;
}

/** Resolves once somebody has signed in again; asks once, however many requests failed. */
export function ask(): Promise<void> {
  asking ??= (asker?.() ?? Promise.resolve()).finally(() => {
    asking = undefined;
  });
  return asking;
}

/** True if this page can ask for a new sign-in. */
export const canAsk = () => asker !== undefined;

/** Sends it, and if the session has ended, once more after a new sign-in. */
export async function afterSignIn<T>(send: () => Promise<T>, onExpired: () => void): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401 || !asker) throw error;
    onExpired();
    await ask();
    return send();
  }
}
