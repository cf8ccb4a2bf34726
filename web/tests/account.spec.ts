import { PASSWORD } from './demo';
import { expect, expectAccessible, signIn, test } from './server';
import { ADMIN, AUDITOR, organization } from './steps';

test('people see where they are signed in, end what they do not know, and change their name', async ({ page, demo }, info) => {
  const other = await page.request.post(`${demo.url}/v1/auth/login`, {
    data: { email: AUDITOR, password: PASSWORD },
    headers: { 'User-Agent': `tester-${info.project.name}/1.0` },
  });
  const { token } = (await other.json()) as { token: string };
  await page.context().clearCookies();
  await signIn(page, demo, AUDITOR);
  await page.goto(`${demo.url}/settings/account`);
  await expect(page.getByText('This session')).toBeVisible();
  const line = page.getByRole('row', { name: new RegExp(`tester-${info.project.name}`) });
  await expectAccessible(page, 'account');
  await line.getByRole('button', { name: /End session/ }).click();
  await expect(line).toHaveCount(0);
  const gone = await page.request.get(`${demo.url}/v1/auth/session`, {
    headers: { Authorization: `Bearer ${token}`, Cookie: '' },
  });
  expect(gone.status()).toBe(401);

  await page.getByRole('button', { name: /^Name:/ }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(`Helena Nováková ${info.project.name}`);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: `Name: Helena Nováková ${info.project.name}` })).toBeVisible();
});

test('edits made without a connection wait, and are saved when it is back', async ({ page, context, demo }, info) => {
  test.skip(info.project.name === 'phone', 'the same code at another width');
  await signIn(page, demo, ADMIN);
  await page.goto(`${demo.url}/vendors?sort=createdAt&order=desc`);
  await page.getByRole('table').getByRole('link').first().click();
  const drawer = page.getByRole('complementary', { name: /^V-\d+/ });
  const id = new URL(page.url()).searchParams.get('open') ?? '';
  await drawer.getByRole('button', { name: /What they do for us/ }).click();
  await context.setOffline(true);
  await drawer.getByRole('textbox', { name: 'What they do for us' }).fill('Typed in a tunnel');
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('No connection to the server.')).toBeVisible();
  await expect(drawer.getByText('Not saved yet: What they do for us')).toBeVisible();
  await expect(drawer.getByRole('button', { name: /What they do for us/ })).toContainText('Typed in a tunnel');

  await context.setOffline(false);
  await expect(page.getByText('No connection to the server.')).toHaveCount(0);
  await expect(drawer.getByText('Not saved yet')).toHaveCount(0);
  const saved = await page.request.get(`${demo.url}/v1/vendors/${id}`, {
    headers: { 'X-Organization-Id': await organization(page, demo) },
  });
  expect(((await saved.json()) as { description: string }).description).toBe('Typed in a tunnel');
});
