import { expect, expectAccessible, signIn, test } from './server';
import { ask, LEAD, pick } from './steps';

test('an API key is shown once, works, and stops working when it is revoked', async ({
  page,
  demo,
  errors,
  playwright,
}, info) => {
  const name = `Import of the ${info.project.name}`;
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/settings/keys`);
  await page.getByRole('button', { name: 'Create API key' }).click();
  const form = page.getByRole('dialog', { name: 'Create API key' });
  await form.getByRole('textbox', { name: 'Name' }).fill(name);
  await form.getByRole('button', { name: 'Create API key' }).click();
  await expect(form.getByText('Choose at least one permission.')).toBeVisible();
  await form.getByRole('checkbox', { name: 'All of Risks' }).check();
  await expectAccessible(page, 'a new key');
  await form.getByRole('button', { name: 'Create API key' }).click();
  const once = page.getByRole('dialog', { name: 'Copy the key now' });
  const key = (await once.getByText(/^atk_/).textContent()) ?? '';
  await page.keyboard.press('Escape');
  await expect(once).toBeVisible();
  await expectAccessible(page, 'a key');
  await once.getByRole('button', { name: 'I have stored it' }).click();
  await expect(page.getByText(key)).toHaveCount(0);
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('Ingrid Solberg');

  const script = await playwright.request.newContext({ extraHTTPHeaders: { 'X-API-Key': key } });
  expect((await script.get(`${demo.url}/v1/risks`)).status()).toBe(200);
  expect((await script.get(`${demo.url}/v1/vendors`)).status()).toBe(403);
  await page.getByRole('button', { name: `Revoke ${name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText(`${name} is revoked`)).toBeVisible();
  expect((await script.get(`${demo.url}/v1/risks`)).status()).toBe(401);
  await script.dispose();
  expect(errors).toEqual([]);
});

test('the audit log is filtered, opened, and found intact', async ({ page, demo, errors }, info) => {
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/audit`);
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('menuitem', { name: 'Record' }).click();
  await page.getByRole('menuitem', { name: 'Vendor', exact: true }).click();
  await expect(page).toHaveURL(/entityType=vendor/);
  await expect(page.getByText('Record is Vendor')).toBeVisible();
  await pick(page, 'Actor', 'Ingrid Solberg');
  await expect(page).toHaveURL(/actor=/);
  await page.goBack();
  await expect(page).not.toHaveURL(/actor=/);
  const isPhone = info.project.name === 'phone';
  const entries = isPhone
    ? page.getByRole('list', { name: 'Audit log' }).getByRole('link')
    : page.getByRole('link', { name: /show what changed$/ });
  await entries.first().click();
  await expect(page.getByText('What changed').first()).toBeVisible();
  await expectAccessible(page, 'an entry of the log');

  await page.getByRole('button', { name: 'Verify now' }).click();
  await expect(page.getByText('Chain intact')).toBeVisible({ timeout: 120_000 });
  await expectAccessible(page, 'an intact log');
  expect(errors).toEqual([]);
});

test('a control is made and linked to a requirement and to a task that proves it', async ({ page, demo, errors }, info) => {
  const name = `Spare keys are counted on the ${info.project.name}`;
  await signIn(page, demo, LEAD);
  const task = await ask<{ reference: string }>(page, demo, '/v1/tasks', {
    title: `${name}, monthly`,
    description: 'Count them.',
  });
  await page.goto(`${demo.url}/controls?new=yes`);
  const form = page.getByRole('dialog', { name: 'New control' });
  await form.getByRole('textbox', { name: 'Name' }).fill(name);
  await form.getByLabel('How it is done').fill('Reception counts them on the first of the month.');
  await form.getByRole('button', { name: 'Create control' }).click();
  const drawer = page.getByRole('complementary', { name: new RegExp(name) });
  await expect(drawer.getByText('No requirements linked yet.')).toBeVisible();
  await drawer.getByRole('combobox', { name: 'Add a requirement' }).fill('backup');
  await page.getByRole('option').first().click();
  await expect(drawer.getByText('No requirements linked yet.')).toHaveCount(0);
  await drawer.getByRole('combobox', { name: 'Add a task' }).fill(name);
  await page.getByRole('option', { name: new RegExp(task.reference) }).click();
  await expect(drawer.getByText('No tasks linked yet.')).toHaveCount(0);
  await expectAccessible(page, 'a linked control');
  await drawer.getByRole('button', { name: new RegExp(`^Unlink.*${name}`) }).click();
  await expect(drawer.getByText('No tasks linked yet.')).toBeVisible();
  expect(errors).toEqual([]);
});

test('a framework shows its requirements and what meets them', async ({ page, demo, errors }) => {
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/frameworks`);
  await page
    .getByRole('link', { name: /ISO\/IEC 27001/ })
    .first()
    .click();
  await expect(page).toHaveURL(/\/frameworks\/.+/);
  await expect(page.getByRole('heading', { level: 1, name: /ISO\/IEC 27001/ })).toBeVisible();
  await expectAccessible(page, 'a framework');
  expect(errors).toEqual([]);
});
