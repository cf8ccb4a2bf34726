import { PASSWORD } from './demo';
import { expect, expectAccessible, test } from './server';
import { pick } from './steps';

test('an empty installation becomes an organization, and its first risk is rated', async ({ page, empty, errors }, info) => {
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
  await expect(page.getByText(/^atk_/)).toBeVisible();

  await page.getByRole('link', { name: /first risk/ }).click();
  await expect(page.getByRole('heading', { name: 'Write down what could go wrong' })).toBeVisible();
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
  expect(errors.filter((error) => !/40[01]/.test(error))).toEqual([]);
});
