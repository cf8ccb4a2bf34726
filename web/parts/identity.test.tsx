// @vitest-environment jsdom
import { screen, waitFor } from '@testing-library/react';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { chooseOrganization } from '../api/organization';
import { Problem, words } from '../api/problem';
import { useConfirm } from './confirm';
import { useConfirmed } from './confirmed';
import { Dialog } from './Dialog';
import { confirmingConnections } from './identity';
import { answer, draw } from './testing/render';

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, 'credentials');
});

const known = (methods: string[], more: object = {}) => ({
  body: { isConfirmed: false, confirmedUntil: null, methods, needsCode: false, connections: [], ...more },
});
const invalid = (field: string, message: string) => ({
  status: 400,
  body: { status: 400, code: 'validation_failed', detail: 'Invalid.', errors: [{ field, message }] },
});

/** A browser with passkeys, whose user agrees or refuses. */
function browserWithPasskeys(get: () => Promise<unknown>) {
  vi.stubGlobal('PublicKeyCredential', { parseRequestOptionsFromJSON: (options: unknown) => options });
  Object.defineProperty(navigator, 'credentials', { configurable: true, value: { get } });
}

test('with an authenticator app the password is confirmed together with a code', async () => {
  const act = vi.fn(async () => undefined);
  const asked = answer({
    '/v1/auth/confirm': ({ method, body }) => {
      if (method === 'GET') return known(['password'], { needsCode: true });
      return body.includes('123456') ? { body: { success: true } } : invalid('code', 'is wrong');
    },
  });
  const { user } = draw(
    <Dialog title="Sign?" verb="Sign" withPassword act={act} onClose={() => undefined}>
      Text
    </Dialog>,
  );
  await user.type(await screen.findByLabelText('Your password'), 'secret');
  const sign = screen.getByRole<HTMLButtonElement>('button', { name: 'Sign' });
  expect(sign.disabled).toBe(true);
  await user.type(screen.getByLabelText('Code from your authenticator app'), '000000');
  await user.click(sign);
  expect(await screen.findByText('Is wrong')).toBeTruthy();
  expect(act).not.toHaveBeenCalled();
  await user.clear(screen.getByLabelText('Code from your authenticator app'));
  await user.type(screen.getByLabelText('Code from your authenticator app'), '123 456');
  await user.click(sign);
  await waitFor(() => expect(act).toHaveBeenCalledOnce());
  const sent = asked.filter(({ path, method }) => path === '/v1/auth/confirm' && method === 'POST');
  expect(JSON.parse(sent.at(-1)?.body ?? '')).toEqual({ password: 'secret', code: '123456' });
});

test('a passkey comes first, and the password stays a way', async () => {
  const act = vi.fn(async () => undefined);
  let isWilling = false;
  browserWithPasskeys(async () => {
    if (!isWilling) throw new DOMException('', 'NotAllowedError');
    return { toJSON: () => ({ id: 'abc' }) };
  });
  const asked = answer({
    '/v1/auth/confirm': () => known(['passkey', 'password']),
    '/v1/auth/passkeys/confirm-options': () => ({
      body: { ticket: 'tkt', publicKey: {}, expiresAt: '2030-01-01T00:00:00.000Z' },
    }),
    '/v1/auth/passkeys/confirm': () => ({ body: { success: true } }),
  });
  const { user } = draw(
    <Dialog title="Sign?" verb="Sign" withPassword act={act} onClose={() => undefined}>
      Text
    </Dialog>,
  );
  expect(await screen.findByText('You confirm with your passkey.')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Sign' }));
  expect((await screen.findByRole('alert')).textContent).toContain('No passkey was used');
  await user.click(screen.getByRole('button', { name: 'Use your password instead' }));
  expect(screen.getByLabelText('Your password')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Use a passkey instead' }));
  isWilling = true;
  await user.click(screen.getByRole('button', { name: 'Sign' }));
  await waitFor(() => expect(act).toHaveBeenCalledOnce());
  const sent = asked.find(({ path }) => path === '/v1/auth/passkeys/confirm');
  expect(JSON.parse(sent?.body ?? '')).toEqual({ ticket: 'tkt', credential: { id: 'abc' } });
});

function Asking({ act }: { act: () => Promise<unknown> }) {
  const { ask, dialog } = useConfirm();
  return (
    <>
      <button type="button" onClick={() => ask({ title: 'Remove?', text: 'Text', verb: 'Remove it', withIdentity: true, act })}>
        Ask
      </button>
      {dialog}
    </>
  );
}

test('who has just confirmed is not asked again, until the server asks for it', async () => {
  const confirmedUntil = new Date(Date.now() + 60_000).toISOString();
  answer({
    '/v1/auth/confirm': ({ method }) =>
      method === 'GET' ? known(['password'], { isConfirmed: true, confirmedUntil }) : { body: { success: true, confirmedUntil } },
    '/v1/refused': () => ({ status: 403, body: { status: 403, code: 'confirmation_required', detail: 'Confirm.' } }),
  });
  let refusals = 1;
  const act = vi.fn(async () => {
    if (refusals-- > 0) throw new Problem(403, 'confirmation_required', 'Confirm.');
  });
  const { user } = draw(<Asking act={act} />);
  await user.click(screen.getByRole('button', { name: 'Ask' }));
  await user.click(await screen.findByRole('button', { name: 'Remove it' }));
  await user.type(await screen.findByLabelText('Your password'), 'secret{Enter}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(act).toHaveBeenCalledTimes(2);
});

const acme = { id: 'idc_1', organizationId: 'org_1', name: 'Acme' };
const until = (minute: number) => new Date(Date.parse('2030-01-01T00:00:00.000Z') + minute * 60_000).toISOString();

test('single sign-on confirms in a window: only a confirmation that is newer counts', async () => {
  chooseOrganization('org_1');
  const opened = { location: { replace: vi.fn() }, close: vi.fn() };
  vi.stubGlobal(
    'open',
    vi.fn(() => opened),
  );
  let confirmedUntil = until(1);
  const asked = answer({
    '/v1/auth/confirm': () => known(['sso'], { isConfirmed: true, confirmedUntil, connections: [acme] }),
    '/v1/auth/sso/idc_1/start-ticket': () => ({ body: { startUrl: 'http://localhost/v1/auth/sso/idc_1/start?ticket=t' } }),
  });
  const act = vi.fn(async () => undefined);
  const { user } = draw(
    <Dialog title="Sign?" verb="Sign" withPassword act={act} onClose={() => undefined}>
      Text
    </Dialog>,
  );
  expect(await screen.findByText(/You confirm by signing in with Acme/)).toBeTruthy();
  await user.click(screen.getByRole('button', { name: 'Sign' }));
  expect(await screen.findByText(/in the window that opened/)).toBeTruthy();
  await waitFor(() => expect(asked.filter(({ method }) => method === 'GET').length).toBeGreaterThan(3));
  expect(act).not.toHaveBeenCalled();
  confirmedUntil = until(2);
  await waitFor(() => expect(act).toHaveBeenCalledOnce());
  const sent = asked.find(({ method }) => method === 'POST');
  expect(JSON.parse(sent?.body ?? '')).toEqual({ purpose: 'confirm', next: '/sign-in/confirmed' });
  expect(opened.close).toHaveBeenCalled();
});

test('a connection confirms in its own organization, and no change of an account with credentials of its own', () => {
  chooseOrganization('org_1');
  const own = { ...known(['password', 'sso'], { connections: [acme] }).body } as never;
  expect(confirmingConnections(own, {})).toEqual([acme]);
  expect(confirmingConnections(own, { isOfAccount: true })).toEqual([]);
  expect(confirmingConnections(own, { isSecondFactor: true })).toEqual([]);
  const none = { ...known(['sso'], { connections: [acme] }).body } as never;
  expect(confirmingConnections(none, { isOfAccount: true })).toEqual([acme]);
  chooseOrganization('org_2');
  expect(confirmingConnections(none, {})).toEqual([]);
});

const posts = (asked: { path: string; method: string }[]) =>
  asked.filter(({ path, method }) => path === '/v1/auth/confirm' && method === 'POST').length;

test('who cancels while the confirmation is on its way has not acted', async () => {
  let arrive = () => undefined as unknown;
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  answer({ '/v1/auth/confirm': () => known(['password']) });
  const send = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request, options?: RequestInit) => {
    if (input.method === 'POST') await arrival;
    return send(input, options);
  });
  const act = vi.fn(async () => undefined);
  const { user } = draw(<Asking act={act} />);
  await user.click(screen.getByRole('button', { name: 'Ask' }));
  await user.type(await screen.findByLabelText('Your password'), 'secret{Enter}');
  await user.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  arrive();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(act).not.toHaveBeenCalled();
});

test('the focus returns to the button that asked', async () => {
  answer({ '/v1/auth/confirm': () => known(['password']) });
  const { user } = draw(<Asking act={async () => undefined} />);
  await user.click(screen.getByRole('button', { name: 'Ask' }));
  await user.click(await screen.findByRole('button', { name: 'Cancel' }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Ask' })));
});

test('a confirmation holds when the act fails after it, until the server asks for another one', async () => {
  const failures = [new Error('It failed.'), new Problem(403, 'confirmation_required', 'Confirm.')];
  const act = vi.fn(async () => {
    const failure = failures.shift();
    if (failure) throw failure;
  });
  const asked = answer({ '/v1/auth/confirm': () => known(['password']) });
  const { user } = draw(
    <Dialog title="Sign?" verb="Sign" withPassword act={act} onClose={() => undefined}>
      Text
    </Dialog>,
  );
  await user.type(await screen.findByLabelText('Your password'), 'secret{Enter}');
  expect((await screen.findByRole('alert')).textContent).toBe('It failed.');
  expect(screen.queryByLabelText('Your password')).toBeNull();
  await user.click(screen.getByRole('button', { name: 'Sign' }));
  expect(await screen.findByLabelText('Your password')).toBeTruthy();
  expect(posts(asked)).toBe(1);
  await user.click(screen.getByRole('button', { name: 'Sign' }));
  await waitFor(() => expect(act).toHaveBeenCalledTimes(3));
  expect(posts(asked)).toBe(2);
});

test('ways to confirm that could not be looked up are looked up again', async () => {
  let isDown = true;
  answer({
    '/v1/auth/confirm': () =>
      isDown ? { status: 500, body: { status: 500, code: 'internal', detail: 'It failed.' } } : known(['password']),
  });
  const { user } = draw(
    <Dialog title="Sign?" verb="Sign" withPassword act={async () => undefined} onClose={() => undefined}>
      Text
    </Dialog>,
  );
  expect((await screen.findByRole('alert')).textContent).toBe('It failed.');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Sign' }).disabled).toBe(true);
  isDown = false;
  await user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByLabelText('Your password')).toBeTruthy();
});

function Saving({ save }: { save: () => Promise<unknown> }) {
  const { run, dialog } = useConfirmed();
  const [problem, setProblem] = useState<string>();
  return (
    <>
      <button type="button" onClick={() => void run(save).catch((error) => setProblem(words(error)))}>
        Save
      </button>
      <p>{problem}</p>
      {dialog}
    </>
  );
}

test('a failure after the confirmation reaches the form that asked', async () => {
  answer({ '/v1/auth/confirm': () => known(['password']) });
  const failures = [new Problem(403, 'confirmation_required', 'Confirm.'), new Problem(409, 'taken', 'It is taken.')];
  const save = vi.fn(async () => {
    throw failures.shift();
  });
  const { user } = draw(<Saving save={save} />);
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await user.type(await screen.findByLabelText('Your password'), 'secret{Enter}');
  expect(await screen.findByText('It is taken.')).toBeTruthy();
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(save).toHaveBeenCalledTimes(2);
});

test('a request is not sent again when the confirmation is cancelled', async () => {
  answer({ '/v1/auth/confirm': () => known(['password']) });
  const save = vi.fn(async () => {
    throw new Problem(403, 'confirmation_required', 'Confirm.');
  });
  const { user } = draw(<Saving save={save} />);
  await user.click(screen.getByRole('button', { name: 'Save' }));
  await user.click(await screen.findByRole('button', { name: 'Cancel' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(save).toHaveBeenCalledOnce();
});
