import { organization } from './organization';
import { Problem, problemOf } from './problem';
import type { Membership } from './session';
import { store } from './store';

/** Why the session cannot act in an organization. */
export type Reason = NonNullable<Membership['unmet']>;

/** A demand of the current organization; `startUrl` is the path at which its single sign-on starts. */
export type Demand = { reason: Reason; startUrl?: string };

/** Asks the user to sign in again, to confirm with a second factor or to enrol one. */
type Asker = (reason: Reason) => Promise<void>;
let asker: Asker | undefined;
let asking: Promise<void> | undefined;
let rounds = 0;

/** The path at which single sign-on to the current organization starts, if a refusal named one while the demand is unmet. */
export const ssoStart = store<string | undefined>(undefined);

export function onDemand(next: Asker | undefined) {
  asker = next;
}

/** Resolves once the session meets the demand; asks once, however many requests were refused. */
export function meet({ reason, startUrl }: Demand): Promise<void> {
  if (startUrl) ssoStart.set(startUrl);
  asking ??= (asker?.(reason) ?? Promise.resolve()).finally(() => {
    asking = undefined;
    ssoStart.set(undefined);
    rounds += 1;
  });
  return asking;
}

/** The demand of the current organization that a request was refused for. */
export function demandOf(error: unknown): Demand | undefined {
  if (!(error instanceof Problem) || error.code !== 'reauthentication_required' || !asker) return undefined;
  const { organizationId, reason, startUrl } = error.more;
  const isOwn = organizationId === undefined || organizationId === organization();
  return isOwn && reason ? { reason, startUrl } : undefined;
}

/** Sends a request, and again whenever the session has met the demand that the request was refused for. */
export async function whenMet<T>(send: () => Promise<T>, refusal: (result: T) => unknown): Promise<T> {
  for (;;) {
    const round = rounds;
    const result = await send();
    const demand = demandOf(await refusal(result));
    if (!demand) return result;
    // The demand may have been met while the request was on its way.
    if (round === rounds) await meet(demand);
  }
}

/** `fetch` for requests of an organization: waits while the organization demands more of the session. */
export function orgFetch(input: Request | string, init?: RequestInit): Promise<Response> {
  let next = input;
  return whenMet(
    () => {
      const now = next;
      // The body of a request can be sent once.
      if (now instanceof Request) next = now.clone();
      return fetch(now, init);
    },
    (response) => (response.status === 403 ? problemOf(response) : undefined),
  );
}
