import { t } from '../texts';
import { api } from './client';
import type { Answer } from './paths';
import { Problem, words } from './problem';

/** A challenge of the server, with its options for the browser. */
export type Ceremony = Answer<'/v1/auth/passkeys/sign-in-options', 'post'>;
export type SignedIn = Answer<'/v1/auth/login', 'post'>;
export type Passkey = Answer<'/v1/auth/passkeys', 'post'>;

/** Browsers refuse passkeys for IP addresses. */
const IP_ADDRESS = /^(\d+\.){3}\d+$|^\[/;
export const isAtIpAddress = () => IP_ADDRESS.test(location.hostname);

/** Passkeys need a browser that has them, and a page on HTTPS or localhost. */
export function hasPasskeys(): boolean {
  const type = globalThis.PublicKeyCredential as typeof PublicKeyCredential | undefined;
  return typeof type?.parseRequestOptionsFromJSON === 'function' && !isAtIpAddress();
}

/** The browser can offer passkeys in the autofill of a field. */
export async function hasAutofill(): Promise<boolean> {
  return hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;
}

const LONGEST_MS = 270_000;
const SHORTEST_MS = 10_000;
const MARGIN_MS = 30_000;

/** The milliseconds for which a challenge is offered before it is replaced. The clocks may differ. */
export function offeredFor(expiresAt: string, now = Date.now()): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Date.parse(expiresAt) - now - MARGIN_MS));
}

type Options = Pick<CredentialRequestOptions, 'signal' | 'mediation'>;

/** Asks for a passkey; returns what the server verifies. */
async function assertion({ publicKey }: Ceremony, options: Options = {}): Promise<never> {
  const request = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey as unknown as PublicKeyCredentialRequestOptionsJSON);
  const credential = await navigator.credentials.get({ ...options, publicKey: request });
  if (!credential) throw new DOMException('No passkey was chosen.', 'NotAllowedError');
  return (credential as PublicKeyCredential).toJSON() as never;
}

async function signInOptions(): Promise<Ceremony> {
  const { data } = await api.POST('/v1/auth/passkeys/sign-in-options');
  return data as Ceremony;
}

async function signIn(ceremony: Ceremony, options?: Options): Promise<SignedIn> {
  const credential = await assertion(ceremony, options);
  const { data } = await api.POST('/v1/auth/passkeys/sign-in', { body: { ticket: ceremony.ticket, credential } });
  return data as SignedIn;
}

export const signInByPasskey = async () => signIn(await signInOptions());

type Autofill = {
  /** The server accepts passkeys. */
  onAvailable: () => void;
  onSignedIn: (signedIn: SignedIn) => unknown;
  onProblem: (problem: unknown) => void;
};

/** Offers passkeys in the autofill of a field, with a new challenge before each one expires, until it is aborted. */
export async function offerPasskeys(
  signal: AbortSignal,
  isAutofilled: boolean,
  { onAvailable, onSignedIn, onProblem }: Autofill,
) {
  if (!hasPasskeys()) return;
  const isAutofill = isAutofilled && (await hasAutofill());
  while (!signal.aborted) {
    const ceremony = await signInOptions().catch(() => undefined);
    if (!ceremony || signal.aborted) return;
    onAvailable();
    if (!isAutofill) return;
    const end = AbortSignal.timeout(offeredFor(ceremony.expiresAt));
    try {
      const signedIn = await signIn(ceremony, { mediation: 'conditional', signal: AbortSignal.any([signal, end]) });
      return await onSignedIn(signedIn);
    } catch (error) {
      if (error instanceof Problem) onProblem(error);
      else if (!end.aborted) return;
    }
  }
}

export async function confirmByPasskey(): Promise<void> {
  const { data } = await api.POST('/v1/auth/passkeys/confirm-options');
  const ceremony = data as Ceremony;
  const credential = await assertion(ceremony);
  await api.POST('/v1/auth/passkeys/confirm', { body: { ticket: ceremony.ticket, credential } });
}

/** The credentials of passkeys that were added on this page; the server does not return them. */
const added = new Map<string, { rpId: string; credentialId: string }>();

export async function registrationOptions(): Promise<Ceremony> {
  const { data } = await api.POST('/v1/auth/passkeys/registration-options');
  return data as Ceremony;
}

/** Creates a passkey on the user's device and adds it to the account. */
export async function createPasskey({ ticket, publicKey }: Ceremony, name: string): Promise<Passkey> {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(
    publicKey as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const made = (await navigator.credentials.create({ publicKey: options })) as PublicKeyCredential | null;
  if (!made) throw new DOMException('No passkey was created.', 'NotAllowedError');
  const body = { ticket, credential: made.toJSON() as never, ...(name && { name }) };
  const { data } = await api.POST('/v1/auth/passkeys', { body });
  const passkey = data as Passkey;
  added.set(passkey.id, { rpId: options.rp.id ?? location.hostname, credentialId: made.id });
  return passkey;
}

type Signals = { signalUnknownCredential?: (unknown: { rpId: string; credentialId: string }) => Promise<void> };

/** Signals to the browser that a passkey was removed, so that it is no longer offered. */
export function forgetPasskey(id: string) {
  const known = added.get(id);
  if (!known) return;
  added.delete(id);
  void (PublicKeyCredential as Signals).signalUnknownCredential?.(known).catch(() => undefined);
}

/** The words for a failure of a ceremony. */
export function passkeyWords(error: unknown): string {
  if (!(error instanceof DOMException)) return words(error);
  const texts = t.security.ceremony;
  if (error.name === 'InvalidStateError') return texts.known;
  return error.name === 'SecurityError' ? (t.problems.codes.passkeys_unavailable ?? error.message) : texts.cancelled;
}
