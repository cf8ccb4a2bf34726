// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Member } from '../../api/people';
import {
  affectedBy,
  type Connection,
  changesOf,
  connectionStates,
  type MailDomain,
  missingFor,
  newBodyOf,
  roleOf,
  typedOf,
} from './sso';

const connection: Connection = {
  id: 'idc_1',
  name: 'Acme',
  isEnabled: true,
  issuer: 'https://login.acme.example',
  clientId: 'attestry',
  hasClientSecret: true,
  clientSecretExpiresAt: '2030-01-01T08:00:00.000Z',
  scopes: ['openid', 'email', 'profile'],
  emailClaim: 'email',
  groupsClaim: 'groups',
  addsMembers: true,
  defaultRole: 'employee',
  roleSync: 'always',
  groupRoles: [{ group: 'Compliance', role: 'admin' }],
  requiresGroup: false,
  signsOutAtProvider: false,
  provider: null,
  testedAt: '2026-11-15T09:30:00.000Z',
  redirectUri: 'https://attestry.acme.example/v1/auth/sso/idc_1/callback',
  startUrl: 'https://attestry.acme.example/v1/auth/sso/idc_1/start',
  postLogoutRedirectUri: 'https://attestry.acme.example/sign-in',
  backChannelLogoutUri: 'https://attestry.acme.example/v1/auth/sso/idc_1/logout-token',
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: '2026-11-15T09:30:00.000Z',
};
const typed = typedOf(connection);

test('a change sends what was changed, and a secret only if one was typed', () => {
  expect(changesOf(connection, typed, '')).toEqual({});
  expect(changesOf(connection, { ...typed, name: 'Acme SSO', scopes: 'openid  email' }, '')).toEqual({
    name: 'Acme SSO',
    scopes: ['openid', 'email'],
  });
  expect(changesOf(connection, typed, 'b3BhcXVl')).toEqual({ clientSecret: 'b3BhcXVl' });
  expect(changesOf(connection, { ...typed, isPublic: true }, 'typed before')).toEqual({
    clientSecret: null,
    clientSecretExpiresAt: null,
  });
});

test('rows without a group are left out', () => {
  const groupRoles = [...typed.groupRoles, { group: ' ', role: 'auditor' }];
  expect(changesOf(connection, { ...typed, groupRoles }, '')).toEqual({});
  expect(newBodyOf({ ...typed, groupRoles }, 's')).toMatchObject({ groupRoles: connection.groupRoles, clientSecret: 's' });
  expect(newBodyOf({ ...typed, isPublic: true }, 's')).not.toHaveProperty('clientSecret');
});

test('a connection says if it is enabled and tested, and when its secret expires', () => {
  const labels = (patch: Partial<Connection>) => connectionStates({ ...connection, ...patch }).map(({ label }) => label);
  const in3Days = new Date(Date.now() + 3 * 86_400_000).toISOString();
  expect(labels({ clientSecretExpiresAt: null })[0]).toBe('Enabled');
  expect(labels({ isEnabled: false, testedAt: null, clientSecretExpiresAt: null })).toEqual(['Off', 'Not tested']);
  expect(labels({ clientSecretExpiresAt: in3Days })).toContain('Secret expires in 3 d');
  expect(labels({ clientSecretExpiresAt: '2020-01-01T00:00:00.000Z' })).toContain('Secret expired');
});

test('single sign-on can be required with a tested, enabled connection and an exempt owner', () => {
  expect(missingFor([connection], ['mem_1'])).toEqual([]);
  expect(missingFor([connection], [])).toHaveLength(1);
  expect(missingFor([{ ...connection, testedAt: null }], [])).toHaveLength(2);
  expect(missingFor([{ ...connection, isEnabled: false }], ['mem_1'])).toHaveLength(1);
});

test('members outside the verified domains are named before it is required', () => {
  const member = (id: string, email: string, isActive = true) => ({ id, isActive, user: { email } }) as Member;
  const domain = (name: string, state: MailDomain['state']) => ({ name, state }) as MailDomain;
  const people = [
    member('mem_1', 'ada@acme.example'),
    member('mem_2', 'eve@ACME.example'),
    member('mem_3', 'guest@other.example'),
    member('mem_4', 'old@other.example', false),
    member('mem_5', 'new@pending.example'),
  ];
  const domains = [domain('acme.example', 'failing'), domain('pending.example', 'pending')];
  const { count, outside } = affectedBy(people, ['mem_1'], domains);
  expect(count).toBe(3);
  expect(outside.map(({ id }) => id)).toEqual(['mem_3', 'mem_5']);
});

test('the role of a new person comes from their groups, or is the default one', () => {
  expect(roleOf(connection, { role: 'admin,auditor' })).toBe('Administrator, Auditor, by a group');
  expect(roleOf(connection, { role: null })).toBe('Employee, the role without a group');
  expect(roleOf({ ...connection, roleSync: 'off' }, { role: 'admin' })).toBe('Employee, the role without a group');
});
