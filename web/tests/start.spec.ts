import { PASSWORD } from './demo';
import { expect, expectAccessible, test } from './server';
import { pick } from './steps';

test('from an empty installation to a published portal, as the pages lead', async ({ page, empty, errors }, info) => {
  test.skip(info.project.name === 'phone' || !empty.setupUrl, 'a server is set up once');
  await page.goto(empty.url);
  await expect(page).toHaveURL(/\/setup$/);
  await page.goto(empty.setupUrl ?? '');
  await expectAccessible(page, 'set-up');
  await page.getByLabel('Organization').fill('Acme');
  await page.getByLabel('Your name').fill('Ada Byron');
  await page.getByLabel('E-mail').fill('not an address');
  await page.getByRole('textbox', { name: 'Password' }).fill('short');
  await page.getByRole('button', { name: 'Create organization' }).click();
  await expect(page.getByText(/8 characters/).last()).toBeVisible();
  await page.getByLabel('E-mail').fill('ada@acme.example');
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create organization' }).click();
  await expect(page.getByRole('heading', { name: 'Acme is ready' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Build your plan' })).toBeVisible();
  await page.getByText('A first API key for scripts').click();
  await expect(page.getByText(/^atk_/)).toBeVisible();

  await page.getByRole('link', { name: /first risk/ }).click();
  await expect(page.getByRole('heading', { name: 'Record what could go wrong' })).toBeVisible();
  await expectAccessible(page, 'empty register');
  await page.keyboard.press('n');
  await page.getByRole('button', { name: 'Create risk' }).click();
  await expect(page.getByText('Is required').first()).toBeVisible();
  await page.getByLabel('Title').fill('Backups cannot be restored within eight hours');
  await page.getByLabel('Description').fill('Restores are not tested.');
  await pick(page, 'Category', 'Technology');
  await pick(page, 'Inherent likelihood', 'Likely');
  await pick(page, 'Inherent impact', 'Major');
  await page.getByRole('button', { name: 'Create risk' }).click();
  const drawer = page.getByRole('complementary', { name: /R-1 Backups/ });
  await expect(drawer.getByText('Critical')).toBeVisible();
  // The rest of the way, as the home page leads.
  const next = async (step: string) => {
    await page.goto(empty.url);
    await page.getByRole('region', { name: 'Set-up' }).getByRole('link', { name: step }).click();
  };
  await next('Invite a colleague');
  const invitation = page.getByRole('dialog', { name: 'Invite people' });
  await invitation.getByLabel('E-mail addresses').fill('Grace <grace@acme.example>');
  await invitation.getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(invitation.getByRole('row', { name: /grace@acme.example/ })).toContainText('Invited');

  await next('Upload evidence');
  await page.getByRole('button', { name: 'New task' }).first().click();
  const task = page.getByRole('dialog', { name: 'New task' });
  await task.getByLabel('Title').fill('Test that backups can be restored');
  await task.getByRole('button', { name: 'Create task' }).click();
  await expect(page).toHaveURL(/\/tasks\/tsk_/);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'restore.txt', mimeType: 'text/plain', buffer: Buffer.from('Restored in four hours.') });
  await expect(page.getByRole('region', { name: 'Evidence' }).getByText('restore.txt').first()).toBeVisible();

  await next('Publish a policy');
  await page.getByRole('button', { name: 'From template' }).click();
  const gallery = page.getByRole('dialog', { name: 'Policy templates' });
  await gallery
    .getByRole('button', { name: /^Access Control/ })
    .first()
    .click();
  await gallery.getByRole('button', { name: 'Use this template' }).click();
  await gallery.getByRole('button', { name: 'Create policy' }).click();
  await page.getByRole('button', { name: 'Submit for approval' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Submit for approval' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and publish v1' }).click();
  await expect(page.getByText('Published', { exact: true }).first()).toBeVisible();

  await next('Publish the trust portal');
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  const warning = page.getByRole('dialog', { name: 'Publish the trust portal as it is?' });
  await expect(warning.getByText(/no document is shown.*no address of its own/)).toBeVisible();
  await warning.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('textbox', { name: /^Address/ }).fill('acme');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Trust portal saved')).toBeVisible();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Publish/ })
    .click();
  await expect(page.getByText('Published', { exact: true }).first()).toBeVisible();
  await page.goto(`${empty.url}/trust/acme`);
  await expect(page.getByRole('heading', { level: 1, name: 'Security at Acme' })).toBeVisible();
  expect(errors.filter((error) => !/status of 40[01] /.test(error))).toEqual([]);
});
