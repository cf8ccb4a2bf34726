import { day, daysUntil, iso } from '../parts/format';
import { type Status, StatusPill } from '../parts/StatusPill';
import { t } from '../texts';

/** A token or an API key. */
type Credential = { expiresAt: string | null };

/** Owners are warned of the end of a token or a key from then on. */
const EXPIRES_SOON_DAYS = 14;

export const isExpired = ({ expiresAt }: Credential, now = Date.now()) => expiresAt !== null && Date.parse(expiresAt) <= now;

/** The state of a credential that has expired or will soon; none for any other one. */
export function expiryState({ expiresAt }: Credential): Status | undefined {
  if (expiresAt === null) return undefined;
  if (isExpired({ expiresAt })) return { label: t.settings.keys.expired, tone: 'bad', shape: 'cross' };
  const left = daysUntil(iso(new Date(expiresAt)));
  return left <= EXPIRES_SOON_DAYS ? { label: t.time.in(left), tone: 'warn', shape: 'clock' } : undefined;
}

/** The day on which a credential expires, and a warning if that is soon. */
export function Expiry({ of: credential }: { of: Credential }) {
  const { expiresAt } = credential;
  const state = expiryState(credential);
  return (
    <>
      {expiresAt ? day(new Date(expiresAt)) : t.settings.keys.never} {state && <StatusPill {...state} />}
    </>
  );
}
