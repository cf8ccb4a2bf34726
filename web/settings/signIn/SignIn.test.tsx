// @vitest-environment jsdom
import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { refetch } from '../../api/query';
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
  apiKeyMaxDays: null,
  apiKeyScopesRequired: false,
  exemptMembers: ['mem_1'],
  membersWithoutSecondFactor: 1,
  apiKeysBeyondPolicy: 2,
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
  addsMembers: true,
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
  isByOperator: false,
  connectionId: null,
  checkedAt: '2026-11-15T09:30:00.000Z',
};
const directory = {
  baseUrl: 'https://attestry.acme.example/scim/v2',
  isActive: false,
  defaultRole: 'employee',
  lastRequestAt: null,
  people: 0,
  groups: 0,
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
  '/v1/organization/directory': () => ({ body: directory }),
  '/v1/organization/directory/tokens': () => list(),
  '/v1/organization/directory/groups': () => list(),
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
  expect(await screen.findByText('https://attestry.acme.example/scim/v2')).toBeTruthy();
  expect(screen.queryByRole('checkbox')).toBeNull();
  expect(screen.queryAllByRole('button').map((button) => button.getAttribute('aria-label'))).toEqual([
    'Open Acme',
    'Copy the base URL',
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
  expect(within(result).getByText(attempt.reason).lang).toBe('en');
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

test('claims whose values are not stored are listed by their names', async () => {
  view.current = { connection: 'idc_1', tested: 'sgn_1' };
  answer({
    ...paths,
    '/v1/organization/sso-connections/idc_1/sign-ins': () =>
      list({ ...attempt, claims: { sub: null, email: 'eve@acme.example' } }),
  });
  draw(<SignIn />, OWNER);
  const claims = await screen.findByRole('table', { name: 'Claims received' });
  expect(within(claims).getByRole('row', { name: 'sub Not stored' })).toBeTruthy();
});

test('a draft of a connection leaves what others change meanwhile', async () => {
  view.current = { connection: 'idc_1' };
  let issuer = connection.issuer;
  const asked = answer({ ...paths, '/v1/organization/sso-connections': () => list({ ...connection, issuer }) });
  const { user } = draw(<SignIn />, OWNER);
  const panel = await screen.findByRole('dialog', { name: 'Acme' });
  await user.type(within(panel).getByLabelText('Name'), ' SSO');
  issuer = 'https://new.acme.example';
  await refetch('/v1/organization/sso-connections');
  await waitFor(() => expect(within(panel).getByLabelText<HTMLInputElement>('Issuer').value).toBe(issuer));
  await user.click(within(panel).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(asked.some(({ method }) => method === 'PATCH')).toBe(true));
  expect(JSON.parse(asked.find(({ method }) => method === 'PATCH')?.body ?? '')).toEqual({ name: 'Acme SSO' });
});

test('the page of the provider that a test opens knows nothing of this one', async () => {
  view.current = {};
  const opened = { opener: window as unknown, location: { replace: vi.fn() }, close: vi.fn() };
  vi.stubGlobal('open', () => opened);
  answer({
    ...paths,
    '/v1/organization/sso-connections/idc_1/test': () => ({ body: { startUrl: 'https://attestry.acme.example/start' } }),
  });
  const { user } = draw(<SignIn />, OWNER);
  await user.click(await screen.findByRole('button', { name: 'Test Acme' }));
  await waitFor(() => expect(opened.location.replace).toHaveBeenCalledWith('https://attestry.acme.example/start'));
  expect(opened.opener).toBeNull();
});

const confirmed = {
  body: {
    isConfirmed: true,
    confirmedUntil: '2999-01-01T00:00:00.000Z',
    methods: ['password'],
    needsCode: false,
    connections: [],
  },
};

test('a policy asks before it requires a second factor, not whenever it is saved', async () => {
  view.current = {};
  let current: object = policy;
  const asked = answer({
    ...paths,
    '/v1/auth/confirm': () => confirmed,
    '/v1/organization/sign-in-policy': ({ method, body }) => {
      if (method === 'PATCH') current = { ...current, ...JSON.parse(body) };
      return { body: current };
    },
  });
  const changes = () => asked.filter(({ method }) => method === 'PATCH').length;
  const { user } = draw(<SignIn />, OWNER);
  await user.click(await screen.findByRole('checkbox', { name: 'Require a second factor' }));
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await user.click(await screen.findByRole('button', { name: 'Require second factor' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(changes()).toBe(1);
  await user.type(screen.getByLabelText('Days to add one'), '{Backspace}');
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(changes()).toBe(2));
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('new API keys are limited, and older ones that exceed the limits are counted', async () => {
  view.current = {};
  const asked = answer({ ...paths, '/v1/auth/confirm': () => confirmed });
  const { user } = draw(<SignIn />, OWNER);
  expect(await screen.findByText('2 keys beyond the sign-in policy')).toBeTruthy();
  const days = screen.getByLabelText('Longest lifetime of a new key, in days (optional)');
  await user.type(days, '0');
  await user.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('Enter a whole number from 1 to 3650, or leave it empty.')).toBeTruthy();
  await user.clear(days);
  await user.type(days, '90');
  await user.click(screen.getByRole('checkbox', { name: 'New keys must name their permissions' }));
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(asked.some(({ method }) => method === 'PATCH')).toBe(true));
  expect(JSON.parse(asked.find(({ method }) => method === 'PATCH')?.body ?? '')).toMatchObject({
    apiKeyMaxDays: 90,
    apiKeyScopesRequired: true,
  });
});

test('a refusal of a field is shown by the form, any other one by the question', async () => {
  view.current = {};
  const detail = 'This policy would lock you out: your account has no second factor.';
  const refusals = [
    { status: 409, body: { status: 409, code: 'would_lock_you_out', detail } },
    {
      status: 400,
      body: { status: 400, code: 'validation_failed', detail: 'Invalid.', errors: [{ field: 'mfa', message: 'is odd' }] },
    },
  ];
  answer({
    ...paths,
    '/v1/auth/confirm': () => confirmed,
    '/v1/organization/sign-in-policy': ({ method }) => (method === 'PATCH' && refusals.shift()) || { body: policy },
  });
  const { user } = draw(<SignIn />, OWNER);
  await user.click(await screen.findByRole('checkbox', { name: 'Require a second factor' }));
  await user.click(screen.getByRole('button', { name: 'Save' }));
  const question = await screen.findByRole('dialog', { name: 'Require a second factor?' });
  await user.click(within(question).getByRole('button', { name: 'Require second factor' }));
  expect((await within(question).findByRole('alert')).textContent).toBe(detail);
  await user.click(within(question).getByRole('button', { name: 'Require second factor' }));
  expect(await screen.findByText('Is odd')).toBeTruthy();
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('a domain for which the operator answers needs no record', async () => {
  view.current = {};
  answer({ ...paths, '/v1/organization/domains': () => list({ ...domain, state: 'verified', isByOperator: true }) });
  draw(<SignIn />, OWNER);
  expect(await screen.findByText('The operator of this server answers for it. No TXT record is needed.')).toBeTruthy();
  expect(screen.getByText('Verified')).toBeTruthy();
  expect(screen.queryByText(/No TXT record is found/)).toBeNull();
  expect(screen.queryByText(/^Checked /)).toBeNull();
  expect(screen.queryByRole('button', { name: 'Verify acme.example now' })).toBeNull();
});

test('a domain that was lost shows its record, whoever answered for it before', async () => {
  view.current = {};
  answer({ ...paths, '/v1/organization/domains': () => list({ ...domain, state: 'lost', isByOperator: true }) });
  draw(<SignIn />, OWNER);
  expect(await screen.findByText('attestry-domain=9rVq0mJxk2J6n0y8')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Verify acme.example now' })).toBeTruthy();
});

test('everybody is signed out after a question, and the session is looked at again', async () => {
  view.current = {};
  const asked = answer({
    ...paths,
    '/v1/auth/confirm': () => confirmed,
    '/v1/organization/sign-out-everybody': () => ({ body: { success: true } }),
    '/v1/auth/session': () => ({ body: { user: { id: 'usr_1' }, organizations: [] } }),
  });
  const { user } = draw(<SignIn />, OWNER);
  await user.click(await screen.findByRole('button', { name: 'Sign everybody out' }));
  const question = await screen.findByRole('dialog', { name: 'Sign everybody out?' });
  expect(within(question).getByText(/yourself included.*API keys keep working/)).toBeTruthy();
  await user.click(within(question).getByRole('button', { name: 'Sign everybody out' }));
  await waitFor(() => expect(asked.at(-1)?.path).toBe('/v1/auth/session'));
  expect(asked.filter(({ method }) => method === 'POST').map(({ path }) => path)).toEqual([
    '/v1/organization/sign-out-everybody',
  ]);
});
