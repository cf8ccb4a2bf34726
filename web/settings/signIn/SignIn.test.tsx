// @vitest-environment jsdom
import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../../parts/testing/render';
import { SignIn } from './SignIn';

const view = vi.hoisted(() => ({ current: {} as Record<string, string> }));
vi.mock('../../parts/search', () => ({ useView: () => ({ view: view.current, change: vi.fn() }) }));
vi.mock('@tanstack/react-router', () => ({ Link: () => null }));
afterEach(() => vi.unstubAllGlobals());

const policy = {
  mfa: 'optional',
  graceDays: 14,
  mfaFrom: null,
  idleMinutes: null,
  maxHours: null,
  sso: 'optional',
  ssoMfa: 'trusted',
  ssoMaxHours: 12,
  exemptMembers: ['mem_1'],
  membersWithoutSecondFactor: 1,
  updatedAt: null,
};
const connection = {
  id: 'idc_1',
  name: 'Acme',
  isEnabled: true,
  issuer: 'https://login.acme.example',
  clientId: 'attestry',
  hasClientSecret: true,
  clientSecretExpiresAt: null,
  scopes: ['openid', 'email'],
  emailClaim: 'email',
  groupsClaim: 'groups',
  joinsMembers: true,
  defaultRole: 'employee',
  roleSync: 'off',
  groupRoles: [],
  requiresGroup: false,
  signsOutAtProvider: false,
  provider: null,
  testedAt: '2026-11-15T09:30:00.000Z',
  redirectUri: 'https://attestry.acme.example/v1/auth/sso/idc_1/callback',
  startUrl: 'https://attestry.acme.example/v1/auth/sso/idc_1/start',
  postLogoutRedirectUri: 'https://attestry.acme.example/sign-in',
  backChannelLogoutUri: 'https://attestry.acme.example/v1/auth/sso/idc_1/logout-token',
};
const attempt = {
  id: 'sgn_1',
  at: '2026-11-15T09:30:00.000Z',
  isTest: true,
  result: 'sso_domain_not_verified',
  reason: 'The domain acme.example is not verified by this organization.',
  requestId: '01jcq',
  subject: 'a81f',
  email: 'eve@acme.example',
  claims: { sub: 'a81f', email: 'eve@acme.example', groups: ['Compliance'] },
  groupCount: 1,
  role: null,
};
const domain = {
  id: 'dom_1',
  name: 'acme.example',
  state: 'pending',
  record: { type: 'TXT', name: '_attestry-identity.acme.example', value: 'attestry-domain=9rVq0mJxk2J6n0y8' },
  reason: 'No TXT record is found at _attestry-identity.acme.example.',
  connectionId: null,
  checkedAt: '2026-11-15T09:30:00.000Z',
};
const member = (id: string, email: string) => ({
  id,
  role: 'owner',
  isActive: true,
  hasSecondFactor: true,
  user: { name: email.split('@')[0], email },
});
const list = (...data: object[]) => ({ body: { data, count: data.length, nextCursor: null } });
const paths = {
  '/v1/organization/sign-in-policy': () => ({ body: policy }),
  '/v1/organization/sso-connections': () => list(connection),
  '/v1/organization/sso-connections/idc_1': () => ({ body: connection }),
  '/v1/organization/sso-connections/idc_1/sign-ins': () => list(attempt),
  '/v1/organization/domains': () => list(domain),
  '/v1/people': () => list(member('mem_1', 'ada@acme.example'), member('mem_2', 'guest@other.example')),
};
const READER = ['identity:read', 'member:read'];
const OWNER = [...READER, 'identity:update', 'member:update', 'owner:manage'];

test('readers see connections, records and exempt owners, and change nothing', async () => {
  view.current = {};
  answer(paths);
  draw(<SignIn />, READER);
  expect(await screen.findByText('Acme')).toBeTruthy();
  expect(screen.getByText('attestry-domain=9rVq0mJxk2J6n0y8')).toBeTruthy();
  expect(screen.getByText(/No TXT record is found/)).toBeTruthy();
  expect(await screen.findByText('ada@acme.example')).toBeTruthy();
  expect(screen.queryByRole('checkbox')).toBeNull();
  expect(screen.queryAllByRole('button').map((button) => button.getAttribute('aria-label'))).toEqual([
    'Open Acme',
    'Copy the name of the record for acme.example',
    'Copy the value of the record for acme.example',
  ]);
});

test('a failed test says what happened, why, and what an owner does', async () => {
  view.current = { connection: 'idc_1', tested: 'sgn_1' };
  answer(paths);
  draw(<SignIn />, OWNER);
  const result = await screen.findByRole('dialog', { name: 'Test of Acme' });
  expect(await within(result).findByText(/does not belong to a domain that is verified/)).toBeTruthy();
  expect(within(result).getByText('Verify the domain of this address, or test with an address of a verified one.')).toBeTruthy();
  expect(within(result).getByText(attempt.reason)).toBeTruthy();
  expect(within(result).getByText('["Compliance"]')).toBeTruthy();
  expect(within(result).getByText('Employee, the role without a group')).toBeTruthy();
});

test('a changed connection sends what was changed; its secret is never part of a draft', async () => {
  view.current = { connection: 'idc_1' };
  const asked = answer(paths);
  const { user } = draw(<SignIn />, OWNER);
  const panel = await screen.findByRole('dialog', { name: 'Acme' });
  await user.type(within(panel).getByLabelText('Client secret'), 'b3BhcXVl');
  await user.click(within(panel).getByRole('checkbox', { name: 'Only people with one of these groups' }));
  expect(JSON.stringify({ ...localStorage })).toContain('requiresGroup');
  expect(JSON.stringify({ ...localStorage })).not.toContain('b3BhcXVl');
  await user.click(within(panel).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(asked.some(({ method }) => method === 'PATCH')).toBe(true));
  expect(JSON.parse(asked.find(({ method }) => method === 'PATCH')?.body ?? '')).toEqual({
    requiresGroup: true,
    clientSecret: 'b3BhcXVl',
  });
});

test('before single sign-on is required, those whom it affects are named', async () => {
  view.current = {};
  answer({
    ...paths,
    '/v1/auth/confirm': () => ({
      body: {
        isConfirmed: true,
        confirmedUntil: '2999-01-01T00:00:00.000Z',
        methods: ['password'],
        needsCode: false,
        connections: [],
      },
    }),
  });
  const { user } = draw(<SignIn />, OWNER);
  await user.click(await screen.findByRole('checkbox', { name: 'Require single sign-on' }));
  await user.click(screen.getByRole('button', { name: 'Save' }));
  const question = await screen.findByRole('dialog', { name: 'Require single sign-on?' });
  expect(within(question).getByText(/^1 active member then signs in with a connection only.*Exempt: ada\.$/)).toBeTruthy();
  expect(within(question).getByText(/guest@other\.example/)).toBeTruthy();
});
