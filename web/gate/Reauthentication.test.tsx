// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { api } from '../api/client';
import { chooseOrganization } from '../api/organization';
import { answer, draw } from '../parts/testing/render';
import { Reauthentication } from './Reauthentication';

afterEach(() => vi.unstubAllGlobals());

const ORGANIZATION = 'org_01jcqg3v5mefzr7d0a6w3k9x2b';
const refusal = (reason: string, organizationId = ORGANIZATION, startUrl?: string) => ({
  status: 403,
  body: { status: 403, code: 'reauthentication_required', detail: 'Again.', reason, organizationId, startUrl },
});
const session = (unmet: string | null) => ({
  body: {
    user: { id: 'usr_1', name: 'Ada Byron', email: 'ada@example.com' },
    organizations: [{ id: ORGANIZATION, name: 'Engines', memberId: 'mem_1', role: 'admin', permissions: [], unmet }],
  },
});
const create = () => api.POST('/v1/risks', { body: { title: 'Laptop stolen' } as never });

test('a refused request is sent again, as it was, once the session has a second factor', async () => {
  chooseOrganization(ORGANIZATION);
  let unmet: string | null = 'mfa_required';
  const asked = answer({
    '/v1/risks': () => (unmet ? refusal(unmet) : { body: { id: 'rsk_1' } }),
    '/v1/auth/confirm': ({ method }) => {
      if (method === 'POST') unmet = null;
      return {
        body: {
          success: true,
          isConfirmed: false,
          confirmedUntil: null,
          methods: ['password'],
          needsCode: true,
          connections: [],
        },
      };
    },
    '/v1/auth/session': () => session(unmet),
  });
  const { user } = draw(<Reauthentication onSignOut={() => undefined} />);
  const created = create();
  expect(await screen.findByRole('heading', { name: 'Confirm with your second factor' })).toBeTruthy();
  await user.type(await screen.findByLabelText('Your password'), 'secret');
  await user.type(screen.getByLabelText('Code from your authenticator app'), '123456{Enter}');
  expect((await created).data).toEqual({ id: 'rsk_1' });
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  const sent = asked.filter(({ path }) => path === '/v1/risks');
  expect(sent.map(({ method, body }) => [method, body])).toEqual([
    ['POST', '{"title":"Laptop stolen"}'],
    ['POST', '{"title":"Laptop stolen"}'],
  ]);
});

test('a new sign-in can lead to the next demand', async () => {
  chooseOrganization(ORGANIZATION);
  let unmet: string | null = 'idle';
  answer({
    '/v1/risks': () => (unmet ? refusal(unmet) : { body: { id: 'rsk_1' } }),
    '/v1/auth/login': () => {
      unmet = 'mfa_enrolment';
      return { body: { token: 't', user: { id: 'usr_1' } } };
    },
    '/v1/auth/security': () => ({ body: { arePasskeysAvailable: false, demands: [] } }),
    '/v1/auth/totp': () => ({ body: { secret: 'JBSWY3DP', uri: 'otpauth://totp/x', qr: ['101', '010', '111'], expiresAt: '' } }),
    '/v1/auth/totp/activate': () => {
      unmet = null;
      return { body: { recoveryCodes: ['abcde-fghjk', 'mnpqr-stuvw'] } };
    },
    '/v1/auth/session': () => session(unmet),
  });
  const { user } = draw(<Reauthentication onSignOut={() => undefined} />);
  const created = create();
  expect(await screen.findByRole('heading', { name: 'Sign in again' })).toBeTruthy();
  await user.type(await screen.findByLabelText('Password (ada@example.com)'), 'secret{Enter}');
  expect(await screen.findByRole('heading', { name: 'Add a second factor' })).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Set up app' }));
  expect(await screen.findByRole('img', { name: 'QR code for the authenticator app' })).toBeTruthy();
  expect(screen.getByText('JBSW Y3DP')).toBeTruthy();
  await user.type(screen.getByLabelText('Code from your authenticator app'), '123456{Enter}');
  expect(await screen.findByRole('list', { name: 'Recovery codes' })).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'I have stored them' }));
  expect((await created).data).toEqual({ id: 'rsk_1' });
});

test('a refusal of another organization is an error like any other', async () => {
  chooseOrganization(ORGANIZATION);
  answer({ '/v1/risks': () => refusal('idle', 'org_other') });
  draw(<Reauthentication onSignOut={() => undefined} />);
  await expect(create()).rejects.toThrow(/asks you to sign in again/);
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('where single sign-on is required the window of the provider opens over the page', async () => {
  chooseOrganization(ORGANIZATION);
  let unmet: string | null = 'sso_required';
  const opened = { location: { replace: vi.fn() }, close: vi.fn() };
  vi.stubGlobal(
    'open',
    vi.fn(() => opened),
  );
  answer({
    '/v1/risks': () => (unmet ? refusal(unmet, ORGANIZATION, '/v1/auth/sso/idc_1/start') : { body: { id: 'rsk_1' } }),
    '/v1/auth/confirm': () => ({
      body: {
        isConfirmed: false,
        confirmedUntil: null,
        methods: ['sso'],
        needsCode: false,
        connections: [{ id: 'idc_1', organizationId: ORGANIZATION, name: 'Acme' }],
      },
    }),
    '/v1/auth/security': () => ({ body: { demands: [{ organizationId: ORGANIZATION, sso: 'required', isExempt: false }] } }),
    '/v1/auth/session': () => session(unmet),
  });
  const { user } = draw(<Reauthentication onSignOut={() => undefined} />);
  const created = create();
  await user.click(await screen.findByRole('button', { name: 'Continue with Acme' }));
  expect(screen.queryByLabelText(/Password/)).toBeNull();
  await waitFor(() => expect(opened.location.replace).toHaveBeenCalledOnce());
  const address = new URL(opened.location.replace.mock.calls[0]?.[0]);
  expect(`${address.pathname}${address.search}`).toBe(
    '/v1/auth/sso/idc_1/start?next=%2Fsign-in%2Fconfirmed&login_hint=ada%40example.com',
  );
  unmet = null;
  expect((await created).data).toEqual({ id: 'rsk_1' });
  expect(opened.close).toHaveBeenCalledOnce();
});

const required = { demands: [{ organizationId: ORGANIZATION, sso: 'required', isExempt: false }] };
const confirmation = (...connections: object[]) => ({
  body: { isConfirmed: false, confirmedUntil: null, methods: ['sso'], needsCode: false, connections },
});
const acme = { id: 'idc_1', organizationId: ORGANIZATION, name: 'Acme' };

test('a session that was signed out at the provider is signed in there again', async () => {
  chooseOrganization(ORGANIZATION);
  let unmet: string | null = 'too_old';
  vi.stubGlobal('open', () => ({ location: { replace: () => undefined }, close: () => undefined }));
  answer({
    '/v1/risks': () => (unmet ? refusal(unmet, ORGANIZATION, '/v1/auth/sso/idc_1/start') : { body: { id: 'rsk_1' } }),
    '/v1/auth/confirm': () => confirmation(acme),
    '/v1/auth/security': () => ({ body: required }),
    '/v1/auth/session': () => session(unmet),
  });
  const { user } = draw(<Reauthentication onSignOut={() => undefined} />);
  const created = create();
  expect(await screen.findByRole('heading', { name: 'Sign in again' })).toBeTruthy();
  await user.click(await screen.findByRole('button', { name: 'Continue with Acme' }));
  expect(screen.queryByLabelText(/Password/)).toBeNull();
  unmet = null;
  expect((await created).data).toEqual({ id: 'rsk_1' });
});

test('connections that could not be looked up are not missing', async () => {
  chooseOrganization(ORGANIZATION);
  let unmet: string | null = 'sso_required';
  let isDown = true;
  vi.stubGlobal('open', () => ({ location: { replace: () => undefined }, close: () => undefined }));
  answer({
    '/v1/risks': () => (unmet ? refusal(unmet) : { body: { id: 'rsk_1' } }),
    '/v1/auth/confirm': () =>
      isDown ? { status: 500, body: { status: 500, code: 'internal', detail: 'It failed.' } } : confirmation(acme),
    '/v1/auth/security': () => ({ body: required }),
    '/v1/auth/session': () => session(unmet),
  });
  const { user } = draw(<Reauthentication onSignOut={() => undefined} />);
  const created = create();
  expect((await screen.findByRole('alert')).textContent).toContain('It failed.');
  isDown = false;
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  await user.click(await screen.findByRole('button', { name: 'Continue with Acme' }));
  unmet = null;
  expect((await created).data).toEqual({ id: 'rsk_1' });
});

test('a demand that a sign-in left unmet begins with an empty form', async () => {
  chooseOrganization(ORGANIZATION);
  let signIns = 0;
  const unmet = () => (signIns < 2 ? 'idle' : null);
  answer({
    '/v1/risks': () => (unmet() ? refusal('idle') : { body: { id: 'rsk_1' } }),
    '/v1/auth/login': () => {
      signIns += 1;
      return { body: { token: 't', user: { id: 'usr_1' } } };
    },
    '/v1/auth/security': () => ({ body: { arePasskeysAvailable: false, demands: [] } }),
    '/v1/auth/session': () => session(unmet()),
  });
  const { user } = draw(<Reauthentication onSignOut={() => undefined} />);
  const created = create();
  const password = () => screen.findByLabelText<HTMLInputElement>('Password (ada@example.com)');
  await user.type(await password(), 'secret{Enter}');
  await waitFor(async () => expect((await password()).value).toBe(''));
  await user.type(await password(), 'secret{Enter}');
  expect((await created).data).toEqual({ id: 'rsk_1' });
});
