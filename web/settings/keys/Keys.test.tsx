// @vitest-environment jsdom
import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../../parts/testing/render';
import { Keys } from './Keys';
import { ServiceAccounts } from './ServiceAccounts';

const view = vi.hoisted(() => ({ current: {} as Record<string, string>, change: vi.fn() }));
vi.mock('../../parts/search', () => ({ useView: () => ({ view: view.current, change: view.change }) }));
beforeEach(() => {
  view.current = {};
  view.change.mockReset();
});
afterEach(() => vi.unstubAllGlobals());

const SECRET = 'atk_k3x9w7ab_9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0';
const KEYS = '/v1/organization/api-keys';
const ACCOUNTS = '/v1/organization/service-accounts';
const ADMIN = [
  'api-key:read',
  'api-key:create',
  'api-key:delete',
  'identity:read',
  'member:read',
  'member:create',
  'member:update',
  'member:delete',
];
const created = '2026-11-15T09:30:00.000Z';
const key = {
  id: 'apk_1',
  name: 'Backup',
  prefix: 'k3x9w7ab',
  scopes: ['risk:read'],
  memberId: 'mem_1',
  kind: 'personal',
  expiresAt: null,
  createdAt: created,
  lastUsedAt: created,
  lastUsedIp: '192.0.2.7',
  isBeyondPolicy: false,
};
const ofService = { ...key, id: 'apk_2', name: 'Import key', memberId: 'mem_9', kind: 'service', scopes: ['*'] };
const account = {
  id: 'sva_1',
  name: 'Nightly import',
  description: 'Imports the asset list.',
  role: 'employee',
  memberId: 'mem_9',
  ownerId: 'mem_2',
  isOrphaned: true,
  createdAt: created,
  updatedAt: created,
};
const person = (id: string, name: string) => ({ id, role: 'admin', isActive: true, user: { name, email: `${id}@acme.example` } });
const policy = { apiKeyMaxDays: null as number | null, apiKeyScopesRequired: false };
const list = (...data: object[]) => ({ body: { data, count: data.length, nextCursor: null } });
const paths = {
  [KEYS]: () => list(key, ofService),
  [`${KEYS}/available-scopes`]: () => ({ body: { data: [{ scope: 'risk:read', description: 'See risks' }], count: 1 } }),
  [ACCOUNTS]: () => list(account),
  [`${ACCOUNTS}/sva_1/api-keys`]: () => list(ofService),
  '/v1/people': () => list(person('mem_1', 'Ada Byron'), person('mem_3', 'Grace Hopper')),
  '/v1/organization/sign-in-policy': () => ({ body: policy }),
};
const sent = (asked: { method: string; body: string }[], method: string) =>
  asked.filter((one) => one.method === method).map(({ body }) => JSON.parse(body || '{}'));

test('keys say as whom they act, from where they were used, and which the policy would not allow', async () => {
  answer({
    ...paths,
    [KEYS]: () => list(key, { ...ofService, isBeyondPolicy: true }, { ...key, id: 'apk_3', memberId: 'mem_3' }),
  });
  draw(<Keys />, ADMIN);
  const row = await screen.findByRole('row', { name: /Import key.*Beyond policy/ });
  await waitFor(() => expect(within(row).getByText('Nightly import')).toBeTruthy());
  expect(within(row).getByText('Service account')).toBeTruthy();
  expect(within(row).getByText('192.0.2.7')).toBeTruthy();
  expect(screen.getByText('1 key beyond the sign-in policy')).toBeTruthy();
  // A key of somebody else can be revoked only.
  expect(screen.getAllByRole('button', { name: /^Rotate/ })).toHaveLength(2);
  expect(screen.getAllByRole('button', { name: /^Revoke/ })).toHaveLength(3);
});

test('a key that is rotated is replaced by one that is shown once', async () => {
  const asked = answer({ ...paths, [`${KEYS}/apk_2/rotate`]: () => ({ body: { ...ofService, id: 'apk_4', key: SECRET } }) });
  const { user } = draw(<Keys />, ADMIN);
  await user.click(await screen.findByRole('button', { name: 'Rotate Import key' }));
  const question = await screen.findByRole('dialog', { name: 'Rotate Import key?' });
  await user.click(within(question).getByRole('combobox', { name: 'The old key stops working' }));
  await user.click(await screen.findByRole('option', { name: 'In an hour' }));
  await user.click(within(question).getByRole('combobox', { name: 'The new key expires' }));
  await user.click(await screen.findByRole('option', { name: 'Never' }));
  await user.click(within(question).getByRole('button', { name: 'Rotate' }));
  expect(await screen.findByText(SECRET)).toBeTruthy();
  expect(sent(asked, 'POST')).toEqual([{ overlapHours: 1, expiresAt: null }]);
  await user.keyboard('{Escape}');
  await user.click(screen.getByRole('button', { name: 'I have stored it' }));
  await waitFor(() => expect(screen.queryByText(SECRET)).toBeNull());
});

test('a new key obeys the policy', async () => {
  view.current = { new: 'yes' };
  const strict = { apiKeyMaxDays: 45, apiKeyScopesRequired: true };
  const asked = answer({
    ...paths,
    [KEYS]: ({ method }) => (method === 'POST' ? { body: { ...key, key: SECRET } } : list(ofService)),
    '/v1/organization/sign-in-policy': () => ({ body: strict }),
  });
  const { user } = draw(<Keys />, ADMIN);
  const form = await screen.findByRole('dialog', { name: 'Create API key' });
  expect(await within(form).findByText('The sign-in policy allows at most 45 days.')).toBeTruthy();
  expect(within(form).getByText('The sign-in policy does not allow keys with all permissions.')).toBeTruthy();
  expect(within(form).queryByRole('radio')).toBeNull();
  expect(within(form).getByRole<HTMLInputElement>('combobox', { name: 'Expires' }).value).toBe('In 45 days');
  await user.type(within(form).getByLabelText('Name'), 'Backup');
  await user.click(within(form).getByRole('button', { name: 'Create API key' }));
  expect(await within(form).findByText('Choose at least one permission.')).toBeTruthy();
  await user.click(await within(form).findByRole('checkbox', { name: 'All of Risks' }));
  await user.click(within(form).getByRole('button', { name: 'Create API key' }));
  expect(await screen.findByText(SECRET)).toBeTruthy();
  const [body] = sent(asked, 'POST');
  expect(body.scopes).toEqual(['risk:read']);
  const left = Date.parse(body.expiresAt) - Date.now();
  expect(left).toBeLessThan(45 * 86_400_000);
  expect(left).toBeGreaterThan(44 * 86_400_000);
  // A key with all permissions cannot be replaced by one like it.
  expect(screen.queryByRole('button', { name: 'Rotate Import key' })).toBeNull();
});

test('an account without an owner is taken over', async () => {
  let now: typeof account = account;
  const asked = answer({
    ...paths,
    [ACCOUNTS]: () => list(now),
    [`${ACCOUNTS}/sva_1`]: ({ body }) => {
      now = { ...now, ...JSON.parse(body), isOrphaned: false };
      return { body: now };
    },
  });
  const { user } = draw(<ServiceAccounts />, ADMIN);
  const row = await screen.findByRole('row', { name: /Nightly import.*No owner/ });
  await user.click(within(row).getByRole('button', { name: 'Take over Nightly import' }));
  await waitFor(() => expect(screen.getByRole('row', { name: /Nightly import/ }).textContent).toContain('Ada Byron'));
  expect(sent(asked, 'PATCH')).toEqual([{ ownerId: 'mem_1' }]);
  expect(screen.queryByRole('button', { name: /^Take over/ })).toBeNull();
});

test('a new account has its maker as owner, and opens for its first key', async () => {
  view.current = { new: 'yes' };
  const asked = answer({
    ...paths,
    [ACCOUNTS]: ({ method }) => (method === 'POST' ? { body: { ...account, isOrphaned: false, ownerId: 'mem_1' } } : list()),
  });
  const { user } = draw(<ServiceAccounts />, ADMIN);
  const panel = await screen.findByRole('dialog', { name: 'Create service account' });
  await waitFor(() => expect(within(panel).getByRole<HTMLInputElement>('combobox', { name: 'Owner' }).value).toBe('Ada Byron'));
  await user.click(within(panel).getByRole('combobox', { name: 'Role' }));
  const roles = (await screen.findAllByRole('option')).map(({ textContent }) => textContent);
  expect(roles.filter((role) => role?.startsWith('Owner'))).toEqual([]);
  await user.click(await screen.findByRole('option', { name: /^Auditor/ }));
  await user.type(within(panel).getByLabelText('Name'), 'Nightly import');
  await user.click(within(panel).getByRole('button', { name: 'Create service account' }));
  await waitFor(() => expect(view.change).toHaveBeenCalledWith({ new: undefined, open: 'sva_1' }, { replace: true }));
  expect(sent(asked, 'POST')).toEqual([{ name: 'Nightly import', description: null, role: 'auditor', ownerId: 'mem_1' }]);
});

test('an account gets a key that is shown once, and is deleted after a question', async () => {
  view.current = { open: 'sva_1' };
  const asked = answer({
    ...paths,
    [`${ACCOUNTS}/sva_1`]: () => ({ body: { success: true } }),
    [`${ACCOUNTS}/sva_1/api-keys`]: ({ method }) =>
      method === 'POST' ? { body: { ...ofService, key: SECRET } } : list(ofService),
  });
  const { user } = draw(<ServiceAccounts />, ADMIN);
  const panel = await screen.findByRole('dialog', { name: 'Nightly import' });
  expect(within(panel).getByText(/^Its owner has left/)).toBeTruthy();
  expect(await within(panel).findByRole('row', { name: /Import key/ })).toBeTruthy();
  await user.click(within(panel).getByRole('button', { name: 'Create API key' }));
  const form = await screen.findByRole('dialog', { name: 'Create API key' });
  expect(within(form).getByText('Acts as Nightly import, with the permissions of its role at most: Employee.')).toBeTruthy();
  await user.type(within(form).getByLabelText('Name'), 'Import key');
  await user.click(within(form).getByRole('radio', { name: 'All permissions of the role' }));
  await user.click(within(form).getByRole('button', { name: 'Create API key' }));
  expect(await screen.findByText(SECRET)).toBeTruthy();
  expect(sent(asked, 'POST')[0]).toMatchObject({ name: 'Import key', scopes: ['*'] });
  // Only its button leads back to the account.
  await user.keyboard('{Escape}');
  await user.click(screen.getByRole('button', { name: 'I have stored it' }));
  await user.click(await screen.findByRole('button', { name: 'Delete service account' }));
  const question = await screen.findByRole('dialog', { name: 'Delete Nightly import?' });
  expect(within(question).getByText(/^Its API keys stop working immediately/)).toBeTruthy();
  await user.click(within(question).getByRole('button', { name: 'Delete service account' }));
  await waitFor(() => expect(asked.some(({ method, path }) => method === 'DELETE' && path === `${ACCOUNTS}/sva_1`)).toBe(true));
});

test('readers see accounts and keys, and change nothing', async () => {
  answer(paths);
  draw(<ServiceAccounts />, ['api-key:read', 'member:read']);
  const row = await screen.findByRole('row', { name: /Nightly import/ });
  await waitFor(() => expect(within(row).getByText('1')).toBeTruthy());
  expect(screen.getAllByRole('button').map((button) => button.getAttribute('aria-label'))).toEqual(['Open Nightly import']);
});

test('readers open an account, its keys included', async () => {
  view.current = { open: 'sva_1' };
  answer(paths);
  draw(<ServiceAccounts />, ['api-key:read', 'member:read']);
  const panel = await screen.findByRole('dialog', { name: 'Nightly import' });
  expect(within(panel).getByText('Imports the asset list.')).toBeTruthy();
  expect(await within(panel).findByRole('row', { name: /Import key/ })).toBeTruthy();
  expect(
    within(panel)
      .getAllByRole('button')
      .map((button) => button.getAttribute('aria-label')),
  ).toEqual(['Close']);
});
