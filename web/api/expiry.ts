/** Who asks for a new sign-in when the session ends under somebody's hands. */
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
