// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { lastStart, rememberStart } from '../api/sso';
import { answer, draw } from '../parts/testing/render';
import { SignInForm } from './SignInForm';

afterEach(() => vi.unstubAllGlobals());

const refusal = (status: number, code: string, more: object = {}) => ({ status, body: { status, code, detail: code, ...more } });
const challenge = (expiresAt = '2030-01-01T00:00:00.000Z') =>
  refusal(401, 'second_factor_required', { challenge: 'chl', methods: ['totp', 'recovery'], expiresAt });
const offer = (isRequired: boolean) => ({
  body: {
    methods: ['password', 'passkey'],
    sso: { connectionId: 'idc_1', name: 'Acme', startUrl: '/v1/auth/sso/idc_1/start', isRequired },
  },
});
const none = { body: { methods: ['password', 'passkey'], sso: null } };
const signedIn = { body: { token: 't', user: { id: 'usr_1' }, method: 'password', secondFactor: 'totp' } };

test('the code is asked for after the password; a recovery code does as well', async () => {
  const asked = answer({
    '/v1/auth/login': () => challenge(),
    '/v1/auth/login/second-factor': ({ body }) => (body.includes('abcde') ? signedIn : refusal(401, 'invalid_second_factor')),
  });
  const onSignedIn = vi.fn(async () => undefined);
  const { user } = draw(<SignInForm next="/risks" verb="Sign in" onSignedIn={onSignedIn} />);
  await user.type(screen.getByLabelText('E-mail'), 'ada@example.com');
  await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
  const code = await screen.findByLabelText('Code from your authenticator app');
  expect(code.getAttribute('autocomplete')).toBe('one-time-code');
  expect(code.getAttribute('inputmode')).toBe('numeric');
  expect(document.activeElement).toBe(code);
  await user.type(code, '123456{Enter}');
  expect(await screen.findByText(/The code is wrong/)).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Use a recovery code' }));
  expect(screen.queryByText(/The code is wrong/)).toBeNull();
  await user.type(screen.getByLabelText('Recovery code'), 'abcde-fghjk{Enter}');
  await waitFor(() => expect(onSignedIn).toHaveBeenCalledOnce());
  const sent = asked.filter(({ path }) => path.endsWith('/second-factor')).map(({ body }) => JSON.parse(body));
  expect(sent).toEqual([
    { challenge: 'chl', code: '123456' },
    { challenge: 'chl', code: 'abcde-fghjk' },
  ]);
});

test('an expired challenge leads back to the password, which is still there', async () => {
  answer({
    '/v1/auth/login': () => challenge(),
    '/v1/auth/login/second-factor': () => refusal(410, 'ceremony_expired'),
  });
  const { user } = draw(<SignInForm email="ada@example.com" verb="Go on" onSignedIn={async () => undefined} />);
  await user.type(screen.getByLabelText('Password (ada@example.com)'), 'secret{Enter}');
  await user.type(await screen.findByLabelText('Code from your authenticator app'), '123456{Enter}');
  expect((await screen.findByRole('alert')).textContent).toContain('Enter your password again');
  expect(screen.getByLabelText<HTMLInputElement>('Password (ada@example.com)').value).toBe('secret');
});

test('the server decides whether a challenge has expired, not the clock of the browser', async () => {
  answer({ '/v1/auth/login': () => challenge('2000-01-01T00:00:00.000Z'), '/v1/auth/login/second-factor': () => signedIn });
  const onSignedIn = vi.fn(async () => undefined);
  const { user } = draw(<SignInForm email="ada@example.com" verb="Go on" onSignedIn={onSignedIn} />);
  await user.type(screen.getByLabelText('Password (ada@example.com)'), 'secret{Enter}');
  await user.type(await screen.findByLabelText('Code from your authenticator app'), '123456{Enter}');
  await waitFor(() => expect(onSignedIn).toHaveBeenCalledOnce());
});

test('without passkeys in the browser none are asked for or shown', async () => {
  const asked = answer({});
  draw(<SignInForm next="/risks" verb="Sign in" onSignedIn={async () => undefined} />);
  expect((await screen.findByLabelText('E-mail')).getAttribute('autocomplete')).toBe('username');
  expect(screen.queryByRole('button', { name: 'Sign in with a passkey' })).toBeNull();
  expect(asked).toEqual([]);
});

test('a passkey chosen in the autofill signs in; the button is there only if the server has passkeys', async () => {
  let choose: (credential: unknown) => void = () => undefined;
  const get = vi.fn(({ signal }: CredentialRequestOptions) => {
    signal?.throwIfAborted();
    return new Promise((resolve) => {
      choose = resolve;
    });
  });
  vi.stubGlobal('PublicKeyCredential', {
    parseRequestOptionsFromJSON: (options: unknown) => options,
    isConditionalMediationAvailable: async () => true,
  });
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { get } });
  const asked = answer({
    '/v1/auth/passkeys/sign-in-options': () => ({
      body: { ticket: 'tkt', publicKey: {}, expiresAt: '2030-01-01T00:00:00.000Z' },
    }),
    '/v1/auth/passkeys/sign-in': () => signedIn,
  });
  const onSignedIn = vi.fn(async () => undefined);
  draw(<SignInForm next="/risks" verb="Sign in" onSignedIn={onSignedIn} />);
  expect(await screen.findByRole('button', { name: 'Sign in with a passkey' })).toBeTruthy();
  await waitFor(() => expect(get).toHaveBeenCalledWith(expect.objectContaining({ mediation: 'conditional' })));
  choose({ toJSON: () => ({ id: 'abc' }) });
  await waitFor(() => expect(onSignedIn).toHaveBeenCalledOnce());
  expect(JSON.parse(asked.at(-1)?.body ?? '')).toEqual({ ticket: 'tkt', credential: { id: 'abc' } });
  Reflect.deleteProperty(navigator, 'credentials');
});

const byAcme = () => screen.findByRole<HTMLAnchorElement>('link', { name: 'Continue with Acme' });
const password = () => screen.queryByLabelText('Password');

test('a domain with single sign-on offers it beside the password', async () => {
  answer({ '/v1/auth/sign-in-methods': () => offer(false) });
  const { user } = draw(<SignInForm next="/risks" verb="Sign in" onSignedIn={async () => undefined} />);
  await user.type(screen.getByLabelText('E-mail'), 'eve@acme.example');
  const link = await byAcme();
  expect(link.getAttribute('href')).toBe('/v1/auth/sso/idc_1/start?next=%2Frisks&login_hint=eve%40acme.example');
  expect(password()).toBeTruthy();
});

test('where it is required nothing else is shown, until an exempt owner asks for another way', async () => {
  answer({ '/v1/auth/sign-in-methods': () => offer(true) });
  const { user } = draw(<SignInForm next="/" verb="Sign in" onSignedIn={async () => undefined} />);
  await user.type(screen.getByLabelText('E-mail'), 'eve@acme.example');
  await byAcme();
  expect(password()).toBeNull();
  expect(screen.queryByRole('button', { name: 'Sign in' })).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Use another way' }));
  expect(password()).toBeTruthy();
});

test('Enter in the e-mail field leads to the password where there is no single sign-on', async () => {
  const asked = answer({ '/v1/auth/sign-in-methods': () => none });
  const { user } = draw(<SignInForm next="/" verb="Sign in" onSignedIn={async () => undefined} />);
  await user.type(screen.getByLabelText('E-mail'), 'ada@example.com{Enter}');
  await waitFor(() => expect(document.activeElement).toBe(password()));
  expect(asked.map(({ path }) => path)).toEqual(['/v1/auth/sign-in-methods']);
  await user.type(screen.getByLabelText('E-mail'), '.uk');
  expect(screen.queryByRole('link')).toBeNull();
});

test('the last connection comes first, and is forgotten after a sign-in by password', async () => {
  rememberStart({ name: 'Acme', startUrl: '/v1/auth/sso/idc_1/start' });
  answer({ '/v1/auth/sign-in-methods': () => none, '/v1/auth/login': () => signedIn });
  const onSignedIn = vi.fn(async () => undefined);
  const { user } = draw(<SignInForm next="/" verb="Sign in" onSignedIn={onSignedIn} />);
  const link = await byAcme();
  expect(link.compareDocumentPosition(screen.getByLabelText('E-mail'))).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  await user.type(screen.getByLabelText('E-mail'), 'ada@example.com');
  await user.type(screen.getByLabelText('Password'), 'secret{Enter}');
  await waitFor(() => expect(onSignedIn).toHaveBeenCalledOnce());
  expect(lastStart()).toBeUndefined();
});
