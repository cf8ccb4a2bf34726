import { api, type Schemas } from './client';

/** A connection to an identity provider, as users see it. */
export type Start = Pick<Schemas['OfferedSso'], 'name' | 'startUrl'>;
export type Offer = Start & Pick<Schemas['OfferedSso'], 'isRequired'>;

const START = '/v1/auth/sso/';

/** The path at which a sign-in with a connection starts. */
export const startUrlOf = (connectionId: string) => `${START}${connectionId}/start`;

/** The domain of an address that is complete, in lower case. */
export const domainOf = (email: string) => /^[^\s@]+@([^\s@]+\.[^\s@.]{2,})$/.exec(email.trim())?.[1]?.toLowerCase();

/** The connection that serves the domain of an address; null if there is none. */
export const offerQuery = (email: string) => ({
  queryKey: ['sign-in-methods', domainOf(email) ?? null],
  queryFn: async (): Promise<Offer | null> => {
    const { data } = await api.POST('/v1/auth/sign-in-methods', { body: { email: email.trim() } });
    return data?.sso ?? null;
  },
  staleTime: 60_000,
  retry: false,
});

/** The address at which a browser starts to sign in, and is led on to a page of this console. */
export function startAddress({ startUrl }: Pick<Start, 'startUrl'>, next: string, email?: string): string {
  const query = new URLSearchParams({ next, ...(email && { login_hint: email }) });
  return `${startUrl}?${query}`;
}

/** The connections to sign in with where single sign-on is demanded: the one that the server named, or else all known ones. */
export function startsOf(startUrl: string | undefined, named: Start[], offer?: Start | null): Start[] {
  if (startUrl === undefined) return named;
  const all = offer ? [offer, ...named] : named;
  return [all.find((one) => one.startUrl === startUrl) ?? { startUrl, name: '' }];
}

const KEY = 'attestry.sso';

/** The connection that this browser last signed in with. */
export function lastStart(): Start | undefined {
  try {
    const { name, startUrl } = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Start>;
    // It becomes the target of a link.
    return typeof name === 'string' && startUrl?.startsWith(START) ? { name, startUrl } : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers the connection that this browser signs in with; none after another way. */
export function rememberStart(start: Start | undefined) {
  if (start) localStorage.setItem(KEY, JSON.stringify({ name: start.name, startUrl: start.startUrl }));
  else localStorage.removeItem(KEY);
}
