import type { Schemas } from '../../api/client';
import type { Member } from '../../api/people';
import { domainOf } from '../../api/sso';
import { day, daysUntil } from '../../parts/format';
import { ROLES, roleWords } from '../../parts/roles';
import type { Status } from '../../parts/StatusPill';
import { failureWords } from '../../parts/ssoFailures';
import { t } from '../../texts';

export type Connection = Schemas['SsoConnection'];
export type MailDomain = Schemas['MailDomain'];
export type SsoSignIn = Schemas['SsoSignIn'];
type GroupRole = Connection['groupRoles'][number];

/** The roles that a group can give and a service account can have, and the one that is set now: never owner. */
export const roleChoices = (now?: string | null) =>
  [...new Set([...ROLES.filter((role) => role !== 'owner'), ...(now ? [now] : [])])].map((value) => ({
    value,
    label: roleWords(value),
  }));

/** The input of the form of a connection. The secret is not part of it, as drafts are stored. */
export type TypedConnection = {
  name: string;
  isEnabled: boolean;
  issuer: string;
  clientId: string;
  /** A public client has no secret. */
  isPublic: boolean;
  secretExpires: string;
  scopes: string;
  emailClaim: string;
  groupsClaim: string;
  addsMembers: boolean;
  defaultRole: string;
  roleSync: Connection['roleSync'];
  groupRoles: GroupRole[];
  requiresGroup: boolean;
  signsOutAtProvider: boolean;
};

export const NEW_CONNECTION: TypedConnection = {
  name: '',
  isEnabled: false,
  issuer: '',
  clientId: '',
  isPublic: false,
  secretExpires: '',
  scopes: 'openid email profile',
  emailClaim: 'email',
  groupsClaim: 'groups',
  addsMembers: false,
  defaultRole: 'employee',
  roleSync: 'off',
  groupRoles: [],
  requiresGroup: false,
  signsOutAtProvider: false,
};

export const typedOf = (known: Connection): TypedConnection => ({
  name: known.name,
  isEnabled: known.isEnabled,
  issuer: known.issuer,
  clientId: known.clientId,
  isPublic: !known.hasClientSecret,
  secretExpires: known.clientSecretExpiresAt?.slice(0, 10) ?? '',
  scopes: known.scopes.join(' '),
  emailClaim: known.emailClaim,
  groupsClaim: known.groupsClaim,
  addsMembers: known.addsMembers,
  defaultRole: known.defaultRole,
  roleSync: known.roleSync,
  groupRoles: known.groupRoles,
  requiresGroup: known.requiresGroup,
  signsOutAtProvider: known.signsOutAtProvider,
});

const fieldsOf = (typed: TypedConnection) => ({
  name: typed.name.trim(),
  isEnabled: typed.isEnabled,
  issuer: typed.issuer.trim(),
  clientId: typed.clientId.trim(),
  clientSecretExpiresAt: typed.secretExpires && !typed.isPublic ? `${typed.secretExpires}T00:00:00.000Z` : null,
  scopes: typed.scopes.split(/[\s,]+/).filter(Boolean),
  emailClaim: typed.emailClaim.trim(),
  groupsClaim: typed.groupsClaim.trim(),
  addsMembers: typed.addsMembers,
  defaultRole: typed.defaultRole,
  roleSync: typed.roleSync,
  groupRoles: typed.groupRoles.flatMap(({ group, role }) => (group.trim() ? [{ group: group.trim(), role }] : [])),
  requiresGroup: typed.requiresGroup,
  signsOutAtProvider: typed.signsOutAtProvider,
});

export const newBodyOf = (typed: TypedConnection, secret: string): Schemas['CreateSsoConnection'] => ({
  ...fieldsOf(typed),
  ...(!typed.isPublic && secret && { clientSecret: secret }),
});

/** The fields that differ from the known connection; the provider is asked anew only about what was changed. */
export function changesOf(known: Connection, typed: TypedConnection, secret: string): Schemas['UpdateSsoConnection'] {
  const before: Record<string, unknown> = fieldsOf(typedOf(known));
  const changed = Object.entries(fieldsOf(typed)).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]),
  );
  return {
    ...Object.fromEntries(changed),
    ...(typed.isPublic ? known.hasClientSecret && { clientSecret: null } : secret && { clientSecret: secret }),
  };
}

const EXPIRES_SOON_DAYS = 30;

/** The states of a connection, at a glance. */
export function connectionStates({ isEnabled, testedAt, clientSecretExpiresAt: end }: Connection): Status[] {
  const { states } = t.signIn.sso;
  const left = end ? daysUntil(end) : Number.POSITIVE_INFINITY;
  return [
    isEnabled ? { label: states.enabled, tone: 'ok', shape: 'full' } : { label: states.disabled, tone: 'mute', shape: 'dash' },
    testedAt
      ? { label: states.tested(day(new Date(testedAt))), tone: 'ok', shape: 'check' }
      : { label: states.untested, tone: 'warn', shape: 'alert' },
    ...(left < 0 ? [{ label: states.expired, tone: 'bad', shape: 'cross' } as const] : []),
    ...(left >= 0 && left <= EXPIRES_SOON_DAYS
      ? [{ label: states.expires(t.time.in(left)), tone: 'warn', shape: 'clock' } as const]
      : []),
  ];
}

export function domainState({ state }: Pick<MailDomain, 'state'>): Status {
  const label = t.signIn.domains.states[state];
  if (state === 'verified') return { label, tone: 'ok', shape: 'check' };
  if (state === 'pending') return { label, tone: 'warn', shape: 'clock' };
  return state === 'failing' ? { label, tone: 'warn', shape: 'alert' } : { label, tone: 'bad', shape: 'cross' };
}

/** A domain counts until its record has been missing for some days. */
export const doesCount = ({ state }: Pick<MailDomain, 'state'>) => state === 'verified' || state === 'failing';

/** True if a domain counts without its record, as the operator of the server answers for it. */
export const isByOperator = (domain: Pick<MailDomain, 'state' | 'isByOperator'>) => domain.isByOperator && doesCount(domain);

/** The steps that are missing before single sign-on can be required. */
export function missingFor(connections: Connection[], exempt: string[]): string[] {
  const { missing } = t.signIn.policy;
  const isUsable = connections.some(({ isEnabled, testedAt }) => isEnabled && testedAt !== null);
  return [...(isUsable ? [] : [missing.connection]), ...(exempt.length > 0 ? [] : [missing.exempt])];
}

/** The members who must use single sign-on if it is required; nobody can be linked by an address outside the domains. */
export function affectedBy(people: Member[], exempt: string[], domains: MailDomain[]): { count: number; outside: Member[] } {
  const names = new Set(domains.filter(doesCount).map(({ name }) => name));
  const concerned = people.filter(({ id, isActive }) => isActive && !exempt.includes(id));
  return { count: concerned.length, outside: concerned.filter(({ user }) => !names.has(domainOf(user.email) ?? '')) };
}

/** The result of an attempt to sign in. */
export function resultOf({ result }: Pick<SsoSignIn, 'result'>): Status {
  if (result === 'signed_in') return { label: t.signIn.sso.passed, tone: 'ok', shape: 'check' };
  return { label: failureWords(result).what, tone: 'bad', shape: 'cross' };
}

/** The roles of a person whom the connection adds, and where they come from. */
export function roleOf({ roleSync, defaultRole }: Connection, { role }: Pick<SsoSignIn, 'role'>): string {
  const texts = t.signIn.sso.result;
  const isByGroups = roleSync !== 'off' && role !== null;
  return isByGroups ? texts.byGroups(roleWords(role)) : texts.byDefault(roleWords(defaultRole));
}
