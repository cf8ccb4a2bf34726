import type { Schemas } from '../../api/client';
import { moment } from '../../parts/format';
import type { Status } from '../../parts/StatusPill';
import { t } from '../../texts';
import { isExpired } from '../expiry';
import { doesCount, type MailDomain } from './sso';

export type Directory = Schemas['Directory'];
export type Token = Schemas['DirectoryToken'];
export type Group = Schemas['DirectoryGroup'];
export type Request = Schemas['DirectoryRequest'];

/** The number of tokens that a directory can have, so that one can replace the other. */
export const MAX_TOKENS = 2;
/** The days without a request after which a directory counts as silent. */
const SILENT_DAYS = 7;
const DAY_MS = 86_400_000;

/** The state of the directory, with the advice that goes with it. */
export function directoryState(
  { lastRequestAt }: Pick<Directory, 'lastRequestAt'>,
  tokens: Pick<Token, 'expiresAt'>[],
  now = Date.now(),
): Status & { advice?: string } {
  const { states, advice } = t.signIn.directory;
  if (tokens.length === 0) return { label: states.off, tone: 'mute', shape: 'dash' };
  if (tokens.every((token) => isExpired(token, now)))
    return { label: states.expired, advice: advice.expired, tone: 'bad', shape: 'cross' };
  if (lastRequestAt === null) return { label: states.waiting, advice: advice.waiting, tone: 'info', shape: 'ring' };
  const age = now - Date.parse(lastRequestAt);
  if (age > SILENT_DAYS * DAY_MS)
    return { label: states.silent(Math.floor(age / DAY_MS)), advice: advice.silent, tone: 'warn', shape: 'alert' };
  return { label: states.active(moment(lastRequestAt)), tone: 'ok', shape: 'check' };
}

export type Missing = 'domain' | 'exempt';

/** The steps that are missing before the first token. */
export function missingForTokens(domains: Pick<MailDomain, 'state'>[], exemptIds: string[]): Missing[] {
  return [...(domains.some(doesCount) ? [] : ['domain' as const]), ...(exemptIds.length > 0 ? [] : ['exempt' as const])];
}

export const isFailed = ({ status }: Pick<Request, 'status'>) => status >= 400;

/** The body of a request, indented if it is JSON; one that was cut is not. */
export function bodyText(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
