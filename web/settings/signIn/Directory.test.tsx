// @vitest-environment jsdom
import { screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { refetch } from '../../api/query';
import { answer, draw } from '../../parts/testing/render';
import { Directory } from './Directory';
import { bodyText, directoryState, missingForTokens } from './directory';
import { useDirectory } from './queries';
import type { MailDomain } from './sso';

afterEach(() => vi.unstubAllGlobals());

const NOW = Date.parse('2026-11-15T09:30:00.000Z');
const DIRECTORY = '/v1/organization/directory';
const TOKENS = `${DIRECTORY}/tokens`;
const SECRET = 'ats_k3x9w7ab_9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0';
const directory = {
  baseUrl: 'https://attestry.acme.example/scim/v2',
  isActive: false,
  defaultRole: 'employee',
  lastRequestAt: null as string | null,
  people: 0,
  groups: 0,
};
const token = {
  id: 'dtk_1',
  name: 'Entra ID',
  prefix: 'k3x9w7ab',
  expiresAt: null as string | null,
  createdAt: '2026-11-15T09:30:00.000Z',
  lastUsedAt: null,
};
const group = {
  id: 'dgr_1',
  name: 'Compliance',
  role: null as string | null,
  members: 3,
  createdAt: '2026-11-15T09:30:00.000Z',
  updatedAt: '2026-11-15T09:30:00.000Z',
};
const verified = [{ state: 'verified' }] as MailDomain[];
const list = (...data: object[]) => ({ body: { data, count: data.length, nextCursor: null } });
const confirmation = (isConfirmed: boolean) => ({
  body: {
    isConfirmed,
    confirmedUntil: isConfirmed ? '2999-01-01T00:00:00.000Z' : null,
    methods: ['password'],
    needsCode: false,
    connections: [],
  },
});
const refusal = (status: number, code: string) => ({ status, body: { status, code, detail: 'Refused.' } });
const paths = {
  [DIRECTORY]: () => ({ body: directory }),
  [TOKENS]: () => list(),
  [`${DIRECTORY}/groups`]: () => list(),
  '/v1/auth/confirm': () => confirmation(true),
};
function Page({ domains = verified, exemptIds = ['mem_1'] }: { domains?: MailDomain[]; exemptIds?: string[] }) {
  return <Directory of={useDirectory()} domains={domains} exemptIds={exemptIds} />;
}

const READER = ['identity:read'];
const OWNER = [...READER, 'identity:update'];

test('the state says when the identity provider asked last, and warns if it is silent', () => {
  const state = (lastRequestAt: string | null, ...tokens: { expiresAt: string | null }[]) =>
    directoryState({ lastRequestAt }, tokens, NOW);
  expect(state(null).label).toBe('Not connected');
  expect(state(null, token).label).toBe('No request yet');
  expect(state('2026-11-15T09:29:00.000Z', token)).toMatchObject({ tone: 'ok', label: expect.stringMatching(/^Last request /) });
  expect(state('2026-11-08T09:30:00.000Z', token).tone).toBe('ok');
  expect(state('2026-11-06T09:30:00.000Z', token)).toMatchObject({ tone: 'warn', label: 'No request for 9 days' });
  expect(state(null, { expiresAt: '2026-11-15T09:30:00.000Z' })).toMatchObject({ tone: 'bad', label: 'No valid token' });
});

test('a token needs a domain that counts and an exempt owner', () => {
  expect(missingForTokens([], [])).toEqual(['domain', 'exempt']);
  expect(missingForTokens([{ state: 'pending' }, { state: 'lapsed' }], ['mem_1'])).toEqual(['domain']);
  expect(missingForTokens([{ state: 'failing' }], ['mem_1'])).toEqual([]);
});

test('what is missing leads to where it is done, and no token can be created', async () => {
  answer(paths);
  draw(<Page domains={[]} exemptIds={[]} />, OWNER);
  expect((await screen.findByRole('link', { name: 'Verify a domain' })).getAttribute('href')).toBe('#domains');
  expect(screen.getByRole('link', { name: 'Exempt an owner' }).getAttribute('href')).toBe('#exempt-owners');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Create token' }).disabled).toBe(true);
  expect(screen.getByText('Not connected')).toBeTruthy();
});

test('readers see the directory and change nothing', async () => {
  answer({ ...paths, [TOKENS]: () => list(token), [`${DIRECTORY}/groups`]: () => list({ ...group, role: 'auditor' }) });
  draw(<Page />, READER);
  const tokens = await screen.findByRole('table', { name: 'Tokens' });
  expect(within(tokens).getByText('ats_k3x9w7ab_…')).toBeTruthy();
  expect(within(screen.getByRole('row', { name: /Compliance/ })).getByText('Auditor')).toBeTruthy();
  expect(screen.queryByRole('combobox')).toBeNull();
  expect(screen.getAllByRole('button').map((button) => button.getAttribute('aria-label'))).toEqual(['Copy the base URL']);
});

test('a new token stays until it is stored, and is shown once', async () => {
  let isMade = false;
  let arrive = () => undefined as unknown;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const asked = answer({
    ...paths,
    [TOKENS]: ({ method }) => {
      if (method === 'POST') isMade = true;
      return method === 'POST' ? { body: { ...token, token: SECRET } } : list(...(isMade ? [token] : []));
    },
  });
  const send = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request, options?: RequestInit) => {
    if (input.method === 'POST') await arrival;
    return send(input, options);
  });
  const { user } = draw(<Page />, OWNER);
  await user.click(await screen.findByRole('button', { name: 'Create token' }));
  const panel = await screen.findByRole('dialog', { name: 'Create token' });
  await user.type(within(panel).getByLabelText('Name'), 'Entra ID');
  await user.type(within(panel).getByLabelText(/^Expires on/), '2999-01-31');
  await user.click(within(panel).getByRole('button', { name: 'Create token' }));
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('button', { name: 'Close' })).toBeNull();
  arrive();
  expect(await screen.findByText(SECRET)).toBeTruthy();
  await user.keyboard('{Escape}{Enter}');
  expect(screen.getByRole('dialog', { name: 'Copy the token now' })).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Copy the token' })).toBeTruthy();
  expect(JSON.parse(asked.find(({ method }) => method === 'POST')?.body ?? '')).toEqual({
    name: 'Entra ID',
    expiresAt: new Date(2999, 0, 31).toISOString(),
  });
  await user.click(screen.getByRole('button', { name: 'I have stored it' }));
  await waitFor(() => expect(screen.queryByText(SECRET)).toBeNull());
  expect(await screen.findByRole('row', { name: /Entra ID/ })).toBeTruthy();
});

test('a token that is refused leaves the form as it was', async () => {
  answer({ ...paths, [TOKENS]: ({ method }) => (method === 'POST' ? refusal(409, 'break_glass_required') : list()) });
  const { user } = draw(<Page />, OWNER);
  await user.click(await screen.findByRole('button', { name: 'Create token' }));
  const panel = await screen.findByRole('dialog', { name: 'Create token' });
  await user.type(within(panel).getByLabelText('Name'), 'Okta{Enter}');
  expect((await within(panel).findByRole('alert')).textContent).toMatch(/must be exempt from single sign-on/);
  expect(within(panel).getByLabelText<HTMLInputElement>('Name').value).toBe('Okta');
  await user.click(within(panel).getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('the last valid token is revoked after a question that says what ends', async () => {
  let tokens = [token, { ...token, id: 'dtk_2', name: 'Old', expiresAt: '2020-01-01T00:00:00.000Z' }];
  const asked = answer({
    ...paths,
    [TOKENS]: () => list(...tokens),
    [`${TOKENS}/dtk_1`]: () => {
      tokens = tokens.slice(1);
      return { body: { success: true } };
    },
  });
  const { user } = draw(<Page />, OWNER);
  expect((await screen.findByRole<HTMLButtonElement>('button', { name: 'Create token' })).disabled).toBe(true);
  expect(screen.getByText('There are two tokens. Revoke one before you create another.')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Revoke Entra ID' }));
  const question = await screen.findByRole('dialog', { name: 'Revoke Entra ID?' });
  expect(within(question).getByText(/people and groups are no longer synced/)).toBeTruthy();
  await user.click(within(question).getByRole('button', { name: 'Revoke' }));
  await waitFor(() => expect(screen.queryByRole('row', { name: /Entra ID/ })).toBeNull());
  expect(asked.filter(({ method }) => method === 'DELETE').map(({ path }) => path)).toEqual([`${TOKENS}/dtk_1`]);
  expect(screen.getByText('No valid token')).toBeTruthy();
});

test('a group gets a role once the session is confirmed; none of them is owner', async () => {
  let known = group;
  let isConfirmed = false;
  const asked = answer({
    ...paths,
    [`${DIRECTORY}/groups`]: () => list(known, { ...group, id: 'dgr_2', name: 'Board' }),
    [`${DIRECTORY}/groups/dgr_1`]: ({ body }) => {
      if (!isConfirmed) return refusal(403, 'confirmation_required');
      known = { ...known, ...JSON.parse(body) };
      return { body: known };
    },
    '/v1/auth/confirm': ({ method }) => {
      if (method === 'POST') isConfirmed = true;
      return confirmation(isConfirmed);
    },
  });
  const { user } = draw(<Page />, OWNER);
  const role = await screen.findByRole<HTMLInputElement>('combobox', { name: 'Role of Compliance' });
  expect(screen.getAllByRole('row').map((row) => row.querySelector('b')?.textContent)).toEqual([
    undefined,
    'Board',
    'Compliance',
  ]);
  expect(role.value).toBe('No role');
  await user.click(role);
  const options = await screen.findAllByRole('option');
  expect(options.map(({ textContent }) => textContent)).toEqual([
    'No role',
    'Administrator',
    'Auditor',
    'Employee',
    'Contractor',
  ]);
  await user.click(screen.getByRole('option', { name: 'Auditor' }));
  const question = await screen.findByRole('dialog', { name: 'Confirm that it is you' });
  await user.type(within(question).getByLabelText('Your password'), 'correct horse{Enter}');
  await waitFor(() => expect(role.value).toBe('Auditor'));
  await user.click(role);
  await user.click(await screen.findByRole('option', { name: 'No role' }));
  await waitFor(() => expect(role.value).toBe('No role'));
  const sent = asked.filter(({ method }) => method === 'PATCH').map(({ body }) => JSON.parse(body));
  expect(sent).toEqual([{ role: 'auditor' }, { role: 'auditor' }, { role: null }]);
});

test('of many groups some are shown, and all are found', async () => {
  const many = Array.from({ length: 30 }, (_, at) => ({ ...group, id: `dgr_${at}`, name: `Group ${at + 10}` }));
  answer({ ...paths, [`${DIRECTORY}/groups`]: () => list(...many) });
  const { user } = draw(<Page />, READER);
  const rows = () => within(screen.getByRole('table', { name: 'Groups and roles' })).getAllByRole('row').length - 1;
  await user.type(await screen.findByRole('searchbox', { name: 'Find a group' }), 'group 39');
  expect(rows()).toBe(1);
  await user.clear(screen.getByRole('searchbox', { name: 'Find a group' }));
  expect(rows()).toBe(20);
  await user.click(screen.getByRole('button', { name: 'Show all 30' }));
  expect(rows()).toBe(30);
});

const REQUESTS = `${DIRECTORY}/requests`;
const request = {
  id: 'drq_1',
  tokenId: 'dtk_1',
  at: '2026-11-15T09:30:00.000Z',
  method: 'GET',
  path: '/scim/v2/Users?filter=userName%20eq%20%22eve%40acme.example%22',
  status: 200,
  detail: null as string | null,
  body: null as string | null,
};
const refused = {
  ...request,
  id: 'drq_2',
  tokenId: 'dtk_gone',
  method: 'POST',
  path: '/scim/v2/Users',
  status: 400,
  detail: 'The domain acme.example is not verified by this organization.',
  body: '{"userName":"eve@acme.example"}',
};

test('a body is indented, and shown as it is if it was cut', () => {
  expect(bodyText('{"active":false}')).toBe('{\n  "active": false\n}');
  expect(bodyText('{"active":fal')).toBe('{"active":fal');
});

test('recent requests are fetched once they are shown, a page at a time', async () => {
  const asked = answer({
    ...paths,
    [TOKENS]: () => list(token),
    [REQUESTS]: ({ path }) =>
      path.includes('cursor=next')
        ? list({ ...request, id: 'drq_3' })
        : { body: { data: [refused, request], count: 2, nextCursor: 'next' } },
  });
  const { user } = draw(<Page />, READER);
  const title = await screen.findByText('Recent requests');
  expect(asked.some(({ path }) => path.startsWith(REQUESTS))).toBe(false);
  await user.click(title);
  const rows = within(await screen.findByRole('list', { name: 'Recent requests' }));
  expect(rows.getAllByRole('button')).toHaveLength(2);
  const [failure] = rows.getAllByRole('button');
  expect(failure?.textContent).toContain('400POST /scim/v2/Users');
  await user.click(screen.getByRole('checkbox', { name: 'Only failures' }));
  expect(rows.getAllByRole('button')).toEqual([failure]);
  await user.click(screen.getByRole('checkbox', { name: 'Only failures' }));
  await user.click(screen.getByRole('button', { name: 'Show more' }));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull());
  expect(asked.filter(({ path }) => path.startsWith(REQUESTS)).map(({ path }) => path.split('?')[1])).toEqual([
    'limit=50',
    'cursor=next&limit=50',
  ]);
});

test('a request opens to its reason, its token and its body', async () => {
  answer({ ...paths, [TOKENS]: () => list(token), [REQUESTS]: () => list(refused, request) });
  const { user } = draw(<Page />, READER);
  await user.click(await screen.findByText('Recent requests'));
  await user.click(await screen.findByRole('button', { name: /POST/ }));
  expect(screen.getByLabelText('Body').textContent).toBe('{\n  "userName": "eve@acme.example"\n}');
  expect(screen.getAllByText(refused.detail).map(({ lang }) => lang)).toEqual(['en', 'en']);
  expect(screen.getByText(/Token revoked/)).toBeTruthy();
  await user.click(screen.getByRole('button', { name: /POST/ }));
  await user.click(screen.getByRole('button', { name: /GET/ }));
  expect(screen.queryByLabelText('Body')).toBeNull();
  expect(screen.getByText(/Token: Entra ID/)).toBeTruthy();
});

test('without requests, and without failures, the page says so', async () => {
  let rows: object[] = [];
  answer({ ...paths, [REQUESTS]: () => list(...rows) });
  const { user } = draw(<Page />, READER);
  await user.click(await screen.findByText('Recent requests'));
  expect(await screen.findByText(/^No requests yet/)).toBeTruthy();
  rows = [request];
  await refetch(DIRECTORY);
  await user.click(await screen.findByRole('checkbox', { name: 'Only failures' }));
  expect(screen.getByText('The latest request did not fail.')).toBeTruthy();
});
