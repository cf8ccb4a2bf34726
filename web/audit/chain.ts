import { api, type Schemas } from '../api/client';

type Entry = Schemas['AuditEntry'];
type Head = Schemas['AuditHead'];

/** A place in the log that must never change again. */
export type Mark = { sequence: number; hash: string };

/** What is wrong with the first bad entry. */
export type Fault = 'changed' | 'missing' | 'head' | 'signature' | 'rewritten';

export type Verdict =
  | { state: 'intact'; at: string; end: Mark; signature: 'valid' | 'unchecked' }
  | { state: 'broken'; at: string; end: Mark; fault: Fault; first: number; entryAt?: string };

/** The hash before the first entry. */
const GENESIS = '0'.repeat(64);
const PAGE = 500;

/** Canonical JSON (RFC 8785): one text for one value. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const properties = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${properties.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`;
}

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const utf8 = (text: string) => new TextEncoder().encode(text);

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The hash an entry must have: over the hash before it, and over what it says. */
export async function seal(entry: Entry, previous: string): Promise<string> {
  const { action, at, authType, entityId, entityType, id, ip, organizationId, requestId, sequence } = entry;
  const { id: actor, memberId, type } = entry.actor;
  const stateHash = entry.state === null ? null : await sha256(utf8(canonical(entry.state)));
  const sealed = utf8(
    canonical({
      action,
      actor: { id: actor, memberId, type },
      at,
      authType,
      entityId,
      entityType,
      id,
      ip,
      organizationId,
      requestId,
      sequence,
      stateHash,
    }),
  );
  const before = bytesOf(previous);
  const all = new Uint8Array(before.length + sealed.length);
  all.set(before);
  all.set(sealed, before.length);
  return sha256(all);
}

type Found = { fault: Fault; first: number; entryAt?: string };

/** Reads a chain from its newest entry to its oldest, and remembers the oldest that is wrong. */
export class Chain {
  private later: Entry | undefined;
  private newest = 0;
  found: Found | undefined;
  checked = 0;

  constructor(private readonly marks: (Mark & { fault: Fault })[]) {}

  /** Takes the next older entries. */
  async take(entries: Entry[]) {
    this.newest ||= entries[0]?.sequence ?? 0;
    const pairs = entries.map((entry, at) => ({ entry, later: at === 0 ? this.later : entries[at - 1] }));
    const seals = await Promise.all(pairs.map(({ entry, later }) => later && seal(later, entry.hash)));
    for (const [at, { entry, later }] of pairs.entries()) {
      if (later && later.sequence !== entry.sequence + 1) this.note('missing', entry.sequence + 1);
      else if (later && seals[at] !== later.hash) this.note('changed', later.sequence, later.at);
      for (const { sequence, hash, fault } of this.marks)
        if (sequence === entry.sequence && hash !== entry.hash) this.note(fault, sequence, entry.at);
    }
    this.later = entries.at(-1) ?? this.later;
    this.checked += entries.length;
  }

  /** There are no older entries. */
  async end() {
    const oldest = this.later;
    if (oldest && oldest.sequence !== 1) this.note('missing', 1);
    else if (oldest && (await seal(oldest, GENESIS)) !== oldest.hash) this.note('changed', 1, oldest.at);
    const isCut = this.marks.some(({ sequence }) => sequence > this.newest);
    if (isCut && !this.found) this.note('missing', this.newest + 1);
  }

  private note(fault: Fault, first: number, entryAt?: string) {
    this.found = { fault, first, entryAt };
  }
}

type Options = { known?: Mark; onProgress: (done: number, all: number) => void; signal: AbortSignal };

/**
 * Recomputes every hash of the log in this browser, and holds its end against the signed head and against the end that
 * this browser saw the last time.
 */
export async function verify({ known, onProgress, signal }: Options): Promise<Verdict> {
  const { data: head } = await api.GET('/v1/audit-logs/head', { signal });
  if (!head) throw new Error('no head');
  const chain = new Chain([
    ...(known ? [{ ...known, fault: 'rewritten' as const }] : []),
    { sequence: head.sequence, hash: head.hash, fault: 'head' },
  ]);
  let cursor: string | undefined;
  do {
    const { data } = await api.GET('/v1/audit-logs', { params: { query: { limit: PAGE, cursor } }, signal });
    await chain.take(data?.data ?? []);
    onProgress(chain.checked, Math.max(head.sequence, chain.checked));
    cursor = data?.nextCursor ?? undefined;
  } while (cursor);
  await chain.end();
  const end = { sequence: head.sequence, hash: head.hash };
  const at = new Date().toISOString();
  if (chain.found) return { state: 'broken', at, end, ...chain.found };
  const signature = await signatureOf(head);
  if (signature === 'wrong') return { state: 'broken', at, end, fault: 'signature', first: head.sequence };
  return { state: 'intact', at, end, signature };
}

type Keys = { keys: { id: string; algorithm: string; publicKey: string }[] };

/** Whether the server's published key signed the head; some browsers cannot tell. */
async function signatureOf(head: Head): Promise<'valid' | 'wrong' | 'unchecked'> {
  try {
    const { keys } = (await (await fetch('/.well-known/attestry-keys.json')).json()) as Keys;
    const known = keys.find(({ id }) => id === head.keyId);
    if (!known) return 'wrong';
    const key = await crypto.subtle.importKey('raw', bytesOf(known.publicKey), 'Ed25519', false, ['verify']);
    const { at, hash, organizationId, sequence } = head;
    const message = utf8(canonical({ at, hash, organizationId, sequence }));
    const signature = Uint8Array.from(atob(head.signature), (sign) => sign.charCodeAt(0));
    return (await crypto.subtle.verify('Ed25519', key, signature, message)) ? 'valid' : 'wrong';
  } catch {
    return 'unchecked';
  }
}

/** Hashes can only be computed where the page came over a safe connection. */
export const canVerify = () => globalThis.crypto?.subtle !== undefined;

const KEY = 'attestry.audit';

/** What this browser found the last time, so that a broken chain stays broken until it is not. */
export function lastVerdict(organization: string): Verdict | undefined {
  try {
    return (JSON.parse(localStorage.getItem(`${KEY}.${organization}`) ?? 'null') as Verdict | null) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepVerdict(organization: string, verdict: Verdict) {
  localStorage.setItem(`${KEY}.${organization}`, JSON.stringify(verdict));
}
