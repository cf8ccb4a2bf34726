import type { Page } from '@playwright/test';
import { type Provider, test } from './provider';
import { expect, expectAccessible, type Server } from './server';
import { ask, setUp, verifyAsOperator, visitor } from './steps';

/** Connects the provider as an owner, and returns the address at which a sign-in starts. */
async function connect(page: Page, server: Server, provider: Provider, more: object = {}): Promise<string> {
  await setUp(page, server);
  await ask(page, server, '/v1/organization/domains', { name: 'acme.example' });
  verifyAsOperator(server);
  const { issuer, clientId, clientSecret } = provider;
  const client = { name: 'Acme', issuer, clientId, clientSecret, isEnabled: true, addsMembers: true, defaultRole: 'auditor' };
  const body = { ...client, ...more };
  return (await ask<{ startUrl: string }>(page, server, '/v1/organization/sso-connections', body)).startUrl;
}

/** Opens an address that leads to the provider, whose pages refer to fonts that may not be reachable. */
const open = (page: Page, address: string) => page.goto(address, { waitUntil: 'commit' });

async function expectSignedIn(page: Page, address: string) {
  await page.waitForURL((url) => url.origin + url.pathname === address);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
}

const sessionStatus = async (page: Page, server: Server) => (await page.request.get(`${server.url}/v1/auth/session`)).status();

test('a tile of the identity provider signs in and leads to its target', async ({ page, fresh, provider, browser }) => {
  const start = await connect(page, fresh, provider);
  const guest = await visitor(page, browser);
  const tile = (iss: string) => `${start}?${new URLSearchParams({ iss, target_link_uri: '/policies' })}`;
  await open(guest, tile('https://other.example'));
  await expect(guest.getByRole('alert')).toContainText('This connection is switched off.');
  await open(guest, tile(provider.issuer));
  await provider.signIn(guest, 'eve');
  await expectSignedIn(guest, `${fresh.url}/policies`);
  await guest.context().close();
});

test('signing out ends the session here and at the identity provider', async ({ page, fresh, provider, browser }) => {
  const start = await connect(page, fresh, provider, { signsOutAtProvider: true });
  const guest = await visitor(page, browser);
  await open(guest, start);
  await provider.signIn(guest, 'eve');
  await expectSignedIn(guest, `${fresh.url}/`);
  await guest.goto(`${fresh.url}/settings/account`);
  const session = guest.getByRole('row', { name: /This session/ });
  await session.getByRole('button', { name: 'Sign out' }).click();
  await expect(guest).toHaveURL(new RegExp(`^${provider.issuer}/session/end`));
  expect(await sessionStatus(guest, fresh)).toBe(401);
  await guest.getByRole('button', { name: 'Yes, sign me out' }).click();
  await expect(guest).toHaveURL(new RegExp(`^${fresh.url}/sign-in`));
  // The provider asks who it is, too.
  await open(guest, start);
  await expect(guest.locator('input[name=login]')).toBeVisible();
  await guest.context().close();
});

/** Signs in at the provider, and returns the address of the callback without opening it. */
async function callbackOf({ request }: Page, start: string): Promise<string> {
  const login = await request.get(start);
  const consent = await request.post(login.url(), { form: { prompt: 'login', login: 'eve', password: 'any' } });
  const granted = await request.post(consent.url(), { form: { prompt: 'consent' }, maxRedirects: 0 });
  const answered = await request.get(granted.headers().location ?? '', { maxRedirects: 0 });
  return answered.headers().location ?? '';
}

test('the answer of the identity provider is refused in another browser', async ({ page, fresh, provider, browser }) => {
  const start = await connect(page, fresh, provider);
  const own = await visitor(page, browser);
  const other = await visitor(page, browser);
  const callback = await callbackOf(own, start);
  expect(callback).toContain('/callback?');
  await other.goto(callback);
  const failure = other.getByRole('alert');
  await expect(failure).toContainText('The sign-in began in another browser.');
  await expect(failure).toContainText(/Reference \w+/);
  await expectAccessible(other, 'a sign-in that began in another browser');
  expect(await sessionStatus(other, fresh)).toBe(401);
  // It still works in its own.
  await own.goto(callback);
  await expectSignedIn(own, `${fresh.url}/`);
  await Promise.all([own, other].map((one) => one.context().close()));
});

test('a sign-in in two tabs ends in both', async ({ page, fresh, provider, browser }) => {
  const start = await connect(page, fresh, provider);
  const first = await visitor(page, browser);
  const second = await first.context().newPage();
  await open(first, `${start}?next=%2Ftasks`);
  await open(second, `${start}?next=%2Fpolicies`);
  await provider.signIn(first, 'eve');
  await expectSignedIn(first, `${fresh.url}/tasks`);
  await provider.signIn(second, 'eve');
  await expectSignedIn(second, `${fresh.url}/policies`);
  await first.reload();
  await expectSignedIn(first, `${fresh.url}/tasks`);
  await first.context().close();
});
