import { useEffect, useMemo, useRef } from 'react';
import { t } from '../texts';

/** The page at which the window of a round trip ends; it closes itself. */
export const CLOSING_PAGE = '/sign-in/confirmed';

const NAME = 'attestry-sso';
const FEATURES = 'popup,width=520,height=720';
const POLL_MS = 1_000;
/** A round trip is accepted for so long. */
const TIMEOUT_MS = 600_000;

/** True in a window that was opened for a round trip. */
export const isSsoWindow = () => window.name === NAME;

type RoundTrip = {
  /** The address to open; it may be asked for again. */
  address: () => Promise<string>;
  isDone: () => Promise<boolean>;
};

/** Opens the window and leads it on. Browsers allow that only in response to a click, before anything is awaited. */
async function openAt(address: () => Promise<string>): Promise<Window> {
  const opened = window.open('', NAME, FEATURES);
  if (!opened) throw new Error(t.security.sso.blocked);
  try {
    opened.location.replace(new URL(await address(), location.href));
  } catch (error) {
    opened.close();
    throw error;
  }
  return opened;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/**
 * A round trip to an identity provider in a window, while the page stays as it is. Providers may cut the window off from
 * the page that opened it (COOP), so the server is asked if it is done, and whether the window was closed is not known.
 */
export function useSsoWindow() {
  const stopping = useRef<AbortController>(undefined);
  const current = useRef<RoundTrip>(undefined);
  const trips = useMemo(
    () => ({
      /** True once it is done; false if it was stopped. */
      async run(trip: RoundTrip): Promise<boolean> {
        stopping.current?.abort();
        const stop = new AbortController();
        stopping.current = stop;
        current.current = trip;
        const opened = await openAt(trip.address);
        for (const end = Date.now() + TIMEOUT_MS; Date.now() < end && !stop.signal.aborted; await pause()) {
          if (!(await trip.isDone().catch(() => false)) || stop.signal.aborted) continue;
          opened.close();
          return true;
        }
        if (stop.signal.aborted) return false;
        throw new Error(t.security.sso.late);
      },
      /** Opens the window of the current round trip once more. */
      async again() {
        if (current.current) await openAt(current.current.address);
      },
      stop() {
        stopping.current?.abort();
      },
    }),
    [],
  );
  useEffect(() => trips.stop, [trips]);
  return trips;
}
