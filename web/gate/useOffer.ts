import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { domainOf, offerQuery } from '../api/sso';

/** Typing has paused when nothing was typed for so long. */
const PAUSE_MS = 400;

/**
 * The connection that serves the domain of an address: looked up when typing pauses, or at once by `lookUp`. Null if there
 * is none, undefined while it is unknown.
 */
export function useOffer(email: string) {
  const domain = domainOf(email);
  const [asked, setAsked] = useState(domain);
  useEffect(() => {
    const pause = setTimeout(() => setAsked(domain), PAUSE_MS);
    return () => clearTimeout(pause);
  }, [domain]);
  const { data } = useQuery({ ...offerQuery(email), enabled: domain !== undefined && asked === domain });
  return { offer: domain === undefined ? undefined : data, lookUp: () => setAsked(domain) };
}
