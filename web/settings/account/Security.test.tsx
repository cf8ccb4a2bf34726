// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { refetch } from '../../api/query';
import { answer, draw } from '../../parts/testing/render';
import { Security } from './Security';

vi.mock('@tanstack/react-router', () => ({ Link: () => null }));
afterEach(() => vi.unstubAllGlobals());

const security = {
  arePasskeysAvailable: false,
  demands: [],
  identities: [],
  passkeys: [],
  recoveryCodes: { left: 0, createdAt: null },
  totp: { isActive: false, since: null },
};
const secret = { secret: 'JBSWY3DP', uri: 'otpauth://totp/x', qr: ['101', '010', '111'], expiresAt: '2030-01-01T00:00:00.000Z' };
const failed = { status: 500, body: { status: 500, code: 'internal', detail: 'It failed.' } };

/** Sets up an app, whose first code is answered once `arrive` is called. */
async function setUp(activation: () => { status?: number; body: unknown }) {
  let isDown = false;
  answer({
    '/v1/auth/security': () => (isDown ? failed : { body: security }),
    '/v1/auth/totp': () => ({ body: secret }),
    '/v1/auth/totp/activate': activation,
  });
  let arrive = () => undefined as unknown;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const send = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request, options?: RequestInit) => {
    if (input.url.endsWith('/activate')) await arrival;
    return send(input, options);
  });
  const { user } = draw(<Security />);
  await user.click(await screen.findByRole('button', { name: 'Set up app' }));
  await user.type(await screen.findByLabelText('Code from your authenticator app'), '123456{Enter}');
  return {
    user,
    arrive,
    fail: () => {
      isDown = true;
    },
  };
}

test('recovery codes stay until they are stored: over Escape, and when the page cannot be fetched again', async () => {
  const { user, arrive, fail } = await setUp(() => ({ body: { recoveryCodes: ['abcde-fghjk'] } }));
  await user.keyboard('{Escape}');
  expect(screen.queryByRole('button', { name: 'Close' })).toBeNull();
  fail();
  arrive();
  expect(await screen.findByText('abcde-fghjk', { selector: 'main *, [role=dialog] *' })).toBeTruthy();
  await refetch('/v1/auth/');
  await user.keyboard('{Escape}');
  expect(screen.getByRole('list', { name: 'Recovery codes' })).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'I have stored them' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('after a code that is refused the panel can be closed', async () => {
  const errors = [{ field: 'code', message: 'is wrong' }];
  const { user, arrive } = await setUp(() => ({
    status: 400,
    body: { status: 400, code: 'validation_failed', detail: 'Invalid.', errors },
  }));
  arrive();
  expect(await screen.findByText('Is wrong')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});
