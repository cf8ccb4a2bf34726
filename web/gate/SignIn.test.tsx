// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { answer, draw } from '../parts/testing/render';
import { SignIn } from './SignIn';

const view = vi.hoisted(() => ({ current: {} as Record<string, string> }));
vi.mock('../parts/search', () => ({ useView: () => ({ view: view.current, change: vi.fn() }) }));
vi.mock('@tanstack/react-router', () => ({ Link: () => null }));
afterEach(() => vi.unstubAllGlobals());

const refusal = (status: number, code: string) => ({ status, body: { status, code, detail: code } });
const signedIn = { body: { user: { id: 'usr_1', email: 'ada@example.com' }, organizations: [] } };

test('a failed single sign-on says what happened, what to do, and its reference', async () => {
  view.current = { error: 'sso_denied', reference: '01jcq' };
  answer({ '/v1/auth/session': () => refusal(401, 'missing_credentials') });
  draw(<SignIn />);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('The identity provider refused the sign-in, or it was cancelled.');
  expect(alert.textContent).toContain('Try again.');
  expect(alert.textContent).toContain('Reference 01jcq');
  expect(screen.getByLabelText('E-mail')).toBeTruthy();
});

test('who is still signed in is led back instead', async () => {
  view.current = { error: 'sso_wrong_account', reference: '01jcq' };
  answer({ '/v1/auth/session': () => signedIn });
  draw(<SignIn />);
  expect((await screen.findByRole('alert')).textContent).toContain('with another account');
  expect(screen.getByRole('link', { name: 'Back to Attestry' }).getAttribute('href')).toBe('/');
  expect(screen.queryByLabelText('E-mail')).toBeNull();
});

test('the session of another person is replaced by a click only', async () => {
  view.current = { switch: 'tkt' };
  const asked = answer({
    '/v1/auth/session': () => signedIn,
    '/v1/auth/sso/switch': () => refusal(410, 'ceremony_expired'),
  });
  const { user } = draw(<SignIn />);
  expect(await screen.findByText(/You are signed in as ada@example.com/)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Stay signed in as ada@example.com' }).getAttribute('href')).toBe('/');
  expect(asked.some(({ method }) => method === 'POST')).toBe(false);
  await user.click(screen.getByRole('button', { name: 'Sign in as the other person' }));
  await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('This took too long'));
  expect(JSON.parse(asked.find(({ method }) => method === 'POST')?.body ?? '')).toEqual({ ticket: 'tkt' });
});
