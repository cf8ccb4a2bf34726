import type { Page } from '@playwright/test';
import { PASSWORD } from './demo';
import { type Provider, test } from './provider';
import { expect, expectAccessible } from './server';
import {
  type App,
  ask,
  confirmIfAsked,
  exemptOwner,
  setUp,
  setUpApp,
  signOut,
  typeIfAsked,
  unexpected,
  verifyDomain,
  visitor,
  WRONG_CODE,
} from './steps';

const EVE = 'eve@acme.example';

/** Adds a connection to the provider, as an owner does. */
async function connect(page: Page, provider: Provider, app: App) {
  await page.getByRole('button', { name: 'Add connection' }).click();
  const form = page.getByRole('dialog', { name: 'Add connection' });
  await form.getByLabel('Name', { exact: true }).fill('Acme');
  await form.getByLabel('Issuer').fill(provider.issuer);
  await form.getByLabel('Client ID').fill(provider.clientId);
  await form.getByRole('textbox', { name: 'Client secret' }).fill('not the secret');
  await form.getByRole('checkbox', { name: /^Add people of verified domains/ }).check();
  await form.getByRole('button', { name: 'Add group' }).click();
  await form.getByRole('textbox', { name: 'Group 1' }).fill('Compliance');
  await expectAccessible(page, 'a new connection');
  const add = form.getByRole('button', { name: 'Add connection' });
  const refusal = form.getByText(/refused by the provider/i);
  await add.click();
  await confirmIfAsked(page, app, () => refusal.isVisible());
  await expect(refusal).toBeVisible();
  await form.getByRole('textbox', { name: 'Client secret' }).fill(provider.clientSecret);
  await add.click();
  const panel = page.getByRole('dialog', { name: 'Acme', exact: true });
  await expect(panel.getByText(/\/v1\/auth\/sso\/idc_\w+\/callback$/)).toBeVisible();
  await panel.getByRole('button', { name: 'Check now' }).click();
  await expect(panel.getByText('The token endpoint knows the client.')).toBeVisible();
  await expectAccessible(page, 'a connection');
  await panel.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(panel).toHaveCount(0);
}

/** Starts a test of the connection in its window. */
async function openTest(page: Page): Promise<Page> {
  const opened = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Test Acme' }).click();
  return opened;
}

async function requireSso(page: Page, app: App) {
  await expect(page.getByText(/Exempt an owner with a second factor first/)).toBeVisible();
  await exemptOwner(page, app);
  await page.getByRole('checkbox', { name: 'Require single sign-on' }).check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Require single sign-on?' });
  await expect(question.getByText(/Exempt: Ada Byron\./)).toBeVisible();
  await expectAccessible(page, 'the question before single sign-on is required');
  await typeIfAsked(question, app);
  await question.getByRole('button', { name: 'Require single sign-on' }).click();
  await expect(page.getByText('Single sign-on is required.')).toBeVisible();
  await expectAccessible(page, 'required single sign-on');
}

test('an organization connects its identity provider, tests and requires it, and its people sign in there', async ({
  page,
  fresh,
  provider,
  browser,
  errors,
}) => {
  test.slow();
  await setUp(page, fresh);
  const { app } = await setUpApp(page, fresh);
  await page.goto(`${fresh.url}/settings/security`);
  await expect(page.getByRole('checkbox', { name: 'Require single sign-on' })).toBeDisabled();
  await expectAccessible(page, 'sign-in without connections');
  await connect(page, provider, app);

  // The domain is not verified, so a test says what is missing.
  const failing = await openTest(page);
  await provider.signIn(failing, 'eve');
  await expect(failing.getByText(/does not belong to a domain that is verified/)).toBeVisible();
  await expect(failing.getByText(EVE).first()).toBeVisible();
  await expectAccessible(failing, 'a failed test');
  await failing.close();
  await verifyDomain(page, fresh, app);
  const passing = await openTest(page);
  await expect(passing.getByText('The test passed. Nobody was signed in.')).toBeVisible();
  const claims = passing.getByRole('table', { name: 'Claims received' });
  await expect(claims.getByRole('row', { name: /^email / })).toContainText(EVE);
  await expect(claims.getByRole('row', { name: /^groups / })).toContainText('Compliance');
  await expectAccessible(passing, 'a test that passed');
  await passing.getByRole('dialog').getByRole('button', { name: 'Enable Acme' }).click();
  const enabled = passing.getByText('Acme is enabled');
  await confirmIfAsked(passing, app, () => enabled.isVisible());
  await expect(enabled).toBeVisible();
  await passing.close();
  await page.reload();
  await expect(page.getByRole('row', { name: /Acme/ })).toContainText('Enabled');

  // While it is optional, it stands beside the password.
  const guest = await visitor(page, browser);
  await guest.goto(`${fresh.url}/sign-in`);
  await guest.getByLabel('E-mail').fill(EVE);
  const byAcme = guest.getByRole('link', { name: 'Continue with Acme' });
  await expect(byAcme).toBeVisible();
  await expect(guest.getByRole('textbox', { name: 'Password' })).toBeVisible();
  await expectAccessible(guest, 'a sign-in that offers single sign-on');
  await byAcme.click();
  await guest.getByRole('link', { name: /Cancel/ }).click();
  await expect(guest.getByRole('alert')).toContainText('The identity provider refused the sign-in, or it was cancelled.');
  await expect(guest.getByRole('alert')).toContainText(/Reference \w+/);
  await expect(byAcme).toBeVisible();
  await expectAccessible(guest, 'a failed single sign-on');
  await guest.getByLabel('E-mail').fill('mallory@other.example');
  await expect(byAcme).toHaveCount(0);
  await expect(guest.getByRole('textbox', { name: 'Password' })).toBeVisible();

  await requireSso(page, app);
  await guest.goto(`${fresh.url}/sign-in`);
  await guest.getByLabel('E-mail').fill(EVE);
  await expect(guest.getByText('Your organization signs in with Acme.')).toBeVisible();
  await expect(guest.getByRole('textbox', { name: 'Password' })).toHaveCount(0);
  await expectAccessible(guest, 'a sign-in that requires single sign-on');
  await guest.getByRole('button', { name: 'Use another way' }).click();
  await expect(guest.getByRole('textbox', { name: 'Password' })).toBeVisible();
  await guest.reload();
  await guest.getByLabel('E-mail').fill(EVE);
  await guest.getByLabel('E-mail').press('Enter');
  await provider.signIn(guest, 'eve');
  await guest.waitForURL(`${fresh.url}/`);
  await expect(guest.getByRole('heading', { level: 1 })).toBeVisible();

  // A signature is confirmed in a window, and what it is about stays open.
  const approverId = (await ask<{ data: { id: string; user: { name: string } }[] }>(page, fresh, '/v1/people')).data.find(
    ({ user }) => user.name === 'Ada Byron',
  )?.id;
  const content = [{ type: 'paragraph', content: [{ type: 'text', text: 'Desks are empty at night.' }] }];
  const { id } = await ask(page, fresh, '/v1/policies', { name: 'Clean Desk Policy', content });
  await ask(page, fresh, `/v1/policies/${id}/submit-for-approval`, { approverId });
  await ask(page, fresh, '/v1/auth/confirm', { password: PASSWORD, code: await app() });
  await ask(page, fresh, `/v1/policies/${id}/approve`, {});
  await guest.goto(`${fresh.url}/policies/${id}`);
  await guest.getByRole('button', { name: 'Sign v1' }).click();
  const signature = guest.getByRole('dialog');
  await expect(signature.getByText(/You confirm by signing in with Acme/)).toBeVisible();
  await expectAccessible(guest, 'a signature by single sign-on');
  const opened = guest.waitForEvent('popup');
  await signature.getByRole('button', { name: 'Sign v1' }).click();
  await provider.signIn(await opened, 'eve');
  await expect(signature).toHaveCount(0);
  await expect(guest.getByRole('button', { name: 'Sign v1' })).toHaveCount(0);

  await guest.goto(`${fresh.url}/settings/account`);
  await expect(guest.getByRole('table', { name: 'Single sign-on' }).getByRole('row', { name: /Acme/ })).toContainText(EVE);
  await expect(guest.getByRole('row', { name: /This session/ })).toContainText('Single sign-on');
  await expectAccessible(guest, 'an account with a linked identity');
  await signOut(guest, fresh);
  await expect(byAcme).toBeVisible();
  await guest.context().close();

  await page.goto(`${fresh.url}/people?q=${encodeURIComponent(EVE)}`);
  await page.getByText('eve', { exact: true }).first().click();
  const drawer = page.getByRole('complementary', { name: 'eve' });
  await expect(drawer.getByRole('button', { name: 'Unlink Acme' })).toBeVisible();
  await expectAccessible(page, 'a person with a linked identity');
  await page.goto(`${fresh.url}/people?q=Ada`);
  await expect(page.getByText('Exempt', { exact: true }).first()).toBeVisible();
  // A secret that the provider refuses, and confirmations that have run out meanwhile.
  const [connections, domains] = ['/v1/organization/sso-connections', '/v1/organization/domains'];
  const refusals = [WRONG_CODE, `400 ${connections}`, `403 ${connections}`, `403 ${domains}`];
  expect(unexpected(errors, ...refusals)).toEqual([]);
});
