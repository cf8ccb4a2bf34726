import type { APIRequest, Page } from '@playwright/test';
import { PASSWORD } from './demo';
import { expect, expectAccessible, type Server, test } from './server';
import { ask, pick, setUp, unexpected } from './steps';

const NAME = 'Nightly import';

/** Adds a colleague who has joined, and returns their member id. */
async function addColleague(page: Page, server: Server, request: APIRequest): Promise<string> {
  const body = { email: 'grace@acme.example', name: 'Grace Hopper', role: 'admin' };
  const invited = await ask<{ id: string; invitationLink: string }>(page, server, '/v1/people/invite', body);
  const token = new URL(invited.invitationLink).searchParams.get('token');
  const guest = await request.newContext();
  const joined = await guest.post(`${server.url}/v1/auth/accept-invitation`, { data: { token, password: PASSWORD } });
  expect(joined.ok()).toBe(true);
  await guest.dispose();
  return invited.id;
}

/** The key that is shown once, after it was stored. */
async function storeKey(page: Page): Promise<string> {
  const once = page.getByRole('dialog', { name: 'Copy the key now' });
  const key = (await once.getByText(/^atk_/).textContent()) ?? '';
  await page.keyboard.press('Escape');
  await expect(once).toBeVisible();
  await expectAccessible(page, 'a key that is shown once');
  await once.getByRole('button', { name: 'I have stored it' }).click();
  await expect(page.getByText(key)).toHaveCount(0);
  return key;
}

test('a service account gets keys, loses its owner, is taken over and deleted', async ({ page, fresh, errors, playwright }) => {
  test.slow();
  await setUp(page, fresh);
  const colleague = await addColleague(page, fresh, playwright.request);
  const script = await playwright.request.newContext();
  const statusOf = async (key: string) => (await script.get(`${fresh.url}/v1/risks`, { headers: { 'X-API-Key': key } })).status();

  await page.goto(`${fresh.url}/settings/service-accounts`);
  await page.getByRole('button', { name: 'Create service account' }).click();
  const panel = page.getByRole('dialog', { name: 'Create service account' });
  await expect(panel.getByRole('combobox', { name: 'Owner' })).toHaveValue('Ada Byron');
  await panel.getByRole('textbox', { name: 'Name' }).fill(NAME);
  await pick(page, 'Role', /^Auditor/);
  await pick(page, 'Owner', 'Grace Hopper');
  await expectAccessible(page, 'a new service account');
  await panel.getByRole('button', { name: 'Create service account' }).click();

  const account = page.getByRole('dialog', { name: NAME });
  await account.getByRole('button', { name: 'Create API key' }).click();
  const id = new URL(page.url()).searchParams.get('open');
  const form = page.getByRole('dialog', { name: 'Create API key' });
  await form.getByRole('textbox', { name: 'Name' }).fill('Import key');
  await form.getByRole('checkbox', { name: 'All of Risks' }).check();
  await expectAccessible(page, 'a new key of a service account');
  await form.getByRole('button', { name: 'Create API key' }).click();
  const first = await storeKey(page);
  expect(await statusOf(first)).toBe(200);
  await expect(account.getByRole('row', { name: /Import key/ })).toBeVisible();
  await expectAccessible(page, 'a service account with a key');

  await account.getByRole('button', { name: 'Rotate Import key' }).click();
  const rotation = page.getByRole('dialog', { name: 'Rotate Import key?' });
  await pick(page, 'The old key stops working', 'Immediately');
  await expectAccessible(page, 'the rotation of a key');
  await rotation.getByRole('button', { name: 'Rotate' }).click();
  const second = await storeKey(page);
  expect(await statusOf(first)).toBe(401);
  expect(await statusOf(second)).toBe(200);
  await expect(account.getByRole('button', { name: 'Rotate Import key' })).toHaveCount(1);
  await account.getByRole('button', { name: 'Close' }).click();
  await expect(account).toHaveCount(0);

  // The owner leaves; the key works on.
  const row = page.getByRole('row', { name: new RegExp(NAME) });
  await expect(row).toContainText('Grace Hopper');
  await ask(page, fresh, `/v1/people/${colleague}`, undefined, 'DELETE');
  await expect(row).toContainText('No owner');
  await expectAccessible(page, 'a service account without an owner');
  expect(await statusOf(second)).toBe(200);
  await page.getByRole('button', { name: `Take over ${NAME}` }).click();
  await expect(page.getByText(`You are the owner of ${NAME} now`)).toBeVisible();
  await expect(row).toContainText('Ada Byron');

  await page.goto(`${fresh.url}/settings/keys`);
  const key = page.getByRole('row', { name: /Import key/ });
  await expect(key).toContainText(NAME);
  await expect(key).toContainText('Service account');
  await expect(key).toContainText('127.0.0.1');
  await expectAccessible(page, 'API keys with one of a service account');
  await page.goto(`${fresh.url}/audit?entityType=service_account`);
  await expect(page.getByText('Lost its owner').first()).toBeVisible();

  await page.goto(`${fresh.url}/settings/service-accounts`);
  await page.getByRole('button', { name: `Edit ${NAME}` }).click();
  await account.getByRole('button', { name: 'Delete service account' }).click();
  const question = page.getByRole('dialog', { name: `Delete ${NAME}?` });
  await expect(question.getByText(/^Its API keys stop working immediately/)).toBeVisible();
  await expectAccessible(page, 'the question before a service account is deleted');
  await question.getByRole('button', { name: 'Delete service account' }).click();
  await expect(page.getByText('No service accounts yet.')).toBeVisible();
  expect(await statusOf(second)).toBe(401);
  await script.dispose();
  // Its keys may be fetched once more before its panel is gone.
  expect(unexpected(errors, `404 /v1/organization/service-accounts/${id}/api-keys`)).toEqual([]);
});
