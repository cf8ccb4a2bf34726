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
  await page.getByRole('menuitemcheckbox', { name: 'Vendor', exact: true }).click();
  await expect(page).toHaveURL(/entityType=vendor/);
  await page.keyboard.press('Escape');
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

test('the controls of every record are linked and unlinked from its side', async ({ page, demo, errors }, info) => {
  const name = `Visitors are met on the ${info.project.name}`;
  await signIn(page, demo, LEAD);
  const control = await ask<{ id: string; reference: string }>(page, demo, '/v1/controls', { name });
  const first = async (path: string) => {
    const found = await ask<{ data: { id: string }[] } | { id: string }[]>(page, demo, `${path}?limit=1`);
    return (Array.isArray(found) ? found : found.data)[0]?.id ?? '';
  };
  const addresses = [
    `/risks?open=${await first('/v1/risks')}`,
    `/vendors?open=${await first('/v1/vendors')}`,
    `/tasks/${await first('/v1/tasks')}`,
    `/policies/${await first('/v1/policies')}?tab=details`,
    `/frameworks/iso_27001?open=${await first('/v1/frameworks/iso_27001/requirements')}`,
  ];
  for (const address of addresses) {
    await page.goto(`${demo.url}${address}`);
    const linked = page.getByRole('region', { name: 'Controls', exact: true });
    await linked.getByRole('combobox', { name: 'Add a control' }).fill(name);
    await page.getByRole('option', { name: `${control.reference} ${name}`, exact: true }).click();
    await expect(linked.getByRole('link', { name })).toBeVisible();
    await expect(page.getByText(`${control.reference} linked`)).toBeVisible();
  }
  await expectAccessible(page, 'a linked requirement');

  // The other end has them all, and leads back.
  await page.goto(`${demo.url}/controls?open=${control.id}`);
  const drawer = page.getByRole('complementary', { name: new RegExp(name) });
  await expect(drawer.getByRole('button', { name: /^Unlink/ })).toHaveCount(addresses.length);
  await drawer.getByRole('region', { name: 'Risks', exact: true }).getByRole('link').click();
  await expect(page).toHaveURL(/\/risks\?open=/);
  for (const address of addresses) {
    await page.goto(`${demo.url}${address}`);
    const linked = page.getByRole('region', { name: 'Controls', exact: true });
    await linked.getByRole('button', { name: new RegExp(`^Unlink.*${name}`) }).click();
    await expect(linked.getByRole('link', { name })).toHaveCount(0);
    await expect(page.getByText(`${control.reference} unlinked`)).toBeVisible();
  }
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
