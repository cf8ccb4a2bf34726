import type { Page } from '@playwright/test';
import { PASSWORD } from './demo';
import { expect, expectAccessible, type Server, signIn, test } from './server';
import { AUDITOR, ask, EMPLOYEE, LEAD, pick } from './steps';

test('a colleague is invited, joins by the link, changes role and is deactivated', async ({
  page,
  demo,
  context,
  browser,
  errors,
}, info) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const email = `nora.${info.project.name}@northwind.example`;
  const name = `Nora ${info.project.name}`;
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/people`);
  await page.getByRole('button', { name: 'Invite people' }).click();
  const form = page.getByRole('dialog', { name: 'Invite people' });
  await form.getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(form.getByText('Write at least one e-mail address.')).toBeVisible();
  await form.getByLabel('E-mail addresses').fill(`${name} <${email}>\nnot an address`);
  await expect(form.getByText('1 person to invite.')).toBeVisible();
  await expect(form.getByText(/1 line has no e-mail address/)).toBeVisible();
  await pick(page, 'Department', 'IT');
  await expectAccessible(page, 'an invitation');
  await form.getByRole('button', { name: 'Invite', exact: true }).click();
  await expect(form.getByRole('row', { name: new RegExp(email) })).toContainText('Invited');
  await form.getByRole('button', { name: `Copy the invitation link for ${email}` }).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link).toContain('/accept-invitation');
  await form.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText(name).first()).toBeVisible();

  const guest = await (await browser.newContext({ viewport: page.viewportSize() })).newPage();
  await guest.goto(`${demo.url}${new URL(link).pathname}${new URL(link).search}${new URL(link).hash}`);
  await guest.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await expectAccessible(guest, 'an accepted invitation');
  await guest.getByRole('button', { name: /Join|Accept/ }).click();
  await expect(guest).toHaveURL(`${demo.url}/`);
  await expect(guest.getByRole('heading', { level: 1 })).toBeVisible();
  await guest.context().close();

  await page.goto(`${demo.url}/people?q=${encodeURIComponent(name)}`);
  await page.getByText(name).first().click();
  const drawer = page.getByRole('complementary', { name });
  await drawer.getByRole('button', { name: /^Roles:/ }).click();
  await drawer.getByRole('checkbox', { name: 'Auditor' }).check();
  await drawer.getByRole('button', { name: 'Save' }).click();
  await expect(drawer.getByText(/Auditor/).first()).toBeVisible();
  await expectAccessible(page, 'a person');
  const memberId = new URL(page.url()).searchParams.get('open');
  const task = await ask(page, demo, '/v1/tasks', { title: `A task of ${name}`, assigneeId: memberId });
  await drawer.getByRole('button', { name: 'Deactivate' }).click();
  const dialog = page.getByRole('dialog', { name: `Deactivate ${name}?` });
  await expect(dialog.getByRole('link', { name: '1 task' })).toBeVisible();
  await expectAccessible(page, 'somebody who leaves');
  await dialog.getByRole('combobox', { name: 'Hand over to' }).click();
  await page.getByRole('option', { name: 'Rafael Costa' }).click();
  await dialog.getByRole('button', { name: 'Hand over and deactivate' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText(`${name} is deactivated`)).toBeVisible();
  const handed = await ask<{ assigneeId: string | null }>(page, demo, `/v1/tasks/${task.id}`);
  expect(handed.assigneeId).not.toBeNull();
  expect(handed.assigneeId).not.toBe(memberId);
  const refused = await page.request.post(`${demo.url}/v1/auth/login`, { data: { email, password: PASSWORD } });
  expect(refused.ok()).toBe(false);

  // Invited again, the account has a password: the link alone does not open it.
  await page.goto(`${demo.url}/people`);
  await page.getByRole('button', { name: 'Invite people' }).click();
  await form.getByLabel('E-mail addresses').fill(email);
  await form.getByRole('button', { name: 'Invite', exact: true }).click();
  await form.getByRole('button', { name: `Copy the invitation link for ${email}` }).click();
  const again = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  const known = await (await browser.newContext({ viewport: page.viewportSize() })).newPage();
  await known.goto(`${demo.url}${again.pathname}${again.search}${again.hash}`);
  const password = known.getByRole('textbox', { name: 'Password' });
  await password.fill('not the password');
  await expectAccessible(known, 'an invitation of an account');
  await known.getByRole('button', { name: /Join|Accept/ }).click();
  await expect(known.getByText('Is not the password of this account')).toBeVisible();
  await expect(known).toHaveURL(/accept-invitation/);
  await password.fill(PASSWORD);
  await known.getByRole('button', { name: /Join|Accept/ }).click();
  await expect(known).toHaveURL(`${demo.url}/`);
  await known.context().close();
  expect(errors).toEqual([]);
});

/** Opens a page as somebody, and waits until it is whole. */
async function openAs(page: Page, demo: Server, email: string, path: string) {
  await signIn(page, demo, email);
  await page.goto(`${demo.url}${path}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0);
}

/** What nobody without the right to change may be offered. */
const MAKING =
  /^(New |Add |Create |Import|Invite|Delete|Edit$|Publish|Take offline|Submit|Approve|From template|Propose|Save|Mark done|Open again|Run now|Assistant$)/;

const alike = 'what a role is offered is the same at every width';

test.describe('an auditor', () => {
  const pages = [
    '/',
    '/risks',
    '/vendors',
    '/tasks',
    '/tasks?view=list',
    '/policies',
    '/frameworks',
    '/controls',
    '/applicability',
    '/people',
    '/people/access-review',
    '/trust-portal',
    '/audit',
    '/settings',
  ];
  test('reads every page and is offered no change', async ({ page, demo, errors }, info) => {
    test.skip(info.project.name === 'phone', alike);
    test.slow();
    for (const path of pages) {
      await openAs(page, demo, AUDITOR, path);
      await expect(page.getByRole('heading', { name: 'Not found' }), path).toHaveCount(0);
      await expect(page.getByRole('button', { name: MAKING }), path).toHaveCount(0);
      await expect(page.getByRole('checkbox', { name: /^Select/ }), path).toHaveCount(0);
      await expectAccessible(page, path);
      expect(errors, path).toEqual([]);
    }
  });

  test('opens records, where nothing can be edited', async ({ page, demo, errors }, info) => {
    test.skip(info.project.name === 'phone', alike);
    test.slow();
    await signIn(page, demo, AUDITOR);
    for (const kind of ['risks', 'vendors', 'controls', 'tasks', 'policies']) {
      const found = await ask<{ id: string }[] | { data: { id: string }[] }>(page, demo, `/v1/${kind}?limit=1`);
      const id = (Array.isArray(found) ? found : found.data)[0]?.id;
      const isPage = kind === 'tasks' || kind === 'policies';
      await page.goto(`${demo.url}/${kind}${isPage ? '/' : '?open='}${id}`);
      await expect(page.getByRole('heading', { level: isPage ? 1 : 2 }).first()).toBeVisible();
      await expect(page.getByRole('tab').first()).toBeVisible();
      await expect(page.getByRole('button', { name: /^(Title|Name|Description|What to show|Status|Owner):/ })).toHaveCount(0);
      await expect(page.getByRole('button', { name: MAKING }), kind).toHaveCount(0);
      await expectAccessible(page, kind);
      expect(errors, kind).toEqual([]);
    }
  });
});

test.describe('an employee', () => {
  test('is led to their own work only', async ({ page, demo, errors }, info) => {
    await openAs(page, demo, EMPLOYEE, '/');
    if (info.project.name === 'phone') await page.getByRole('button', { name: 'Open navigation' }).click();
    const rail = page.getByRole('navigation', { name: 'Main' });
    await expect(rail.getByRole('link', { name: /Tasks/ })).toBeVisible();
    await expect(rail.getByRole('link', { name: /Policies/ })).toBeVisible();
    for (const name of ['Risks', 'Vendors', 'Controls', 'Audit log', 'Trust portal', 'Applicability'])
      await expect(rail.getByRole('link', { name })).toHaveCount(0);
    expect(errors).toEqual([]);
  });

  test('reads their pages and is offered nothing they may not do', async ({ page, demo, errors }, info) => {
    test.skip(info.project.name === 'phone', alike);
    test.slow();
    for (const path of ['/', '/tasks', '/tasks?view=list', '/policies', '/people', '/settings/account']) {
      await openAs(page, demo, EMPLOYEE, path);
      await expect(page.getByRole('heading', { name: 'Not found' }), path).toHaveCount(0);
      await expect(page.getByRole('button', { name: /^(New |Import|Invite|Delete|From template)/ }), path).toHaveCount(0);
      await expectAccessible(page, path);
      expect(errors, path).toEqual([]);
    }
  });

  test('finds nothing where they may not look', async ({ page, demo, errors }, info) => {
    test.skip(info.project.name === 'phone', alike);
    test.slow();
    for (const path of [
      '/risks',
      '/vendors',
      '/controls',
      '/audit',
      '/trust-portal',
      '/applicability',
      '/people/access-review',
      '/settings/keys',
      '/settings/security',
      '/settings/service-accounts',
    ]) {
      await openAs(page, demo, EMPLOYEE, path);
      // What one may not see reads like what is not there.
      await expect(page.getByRole('heading', { level: 1, name: 'Not found' }), path).toBeVisible();
      expect(errors, path).toEqual([]);
    }
    await expectAccessible(page, 'nothing here');
  });
});

test('an employee does a task of their own', async ({ page, demo, errors }, info) => {
  await signIn(page, demo, LEAD);
  const found = await ask<{ data: { id: string; user: { email: string } }[] }>(page, demo, '/v1/people?limit=200');
  const assigneeId = found.data.find(({ user }) => user.email === EMPLOYEE)?.id;
  const title = `Read the handbook on the ${info.project.name}`;
  const { id } = await ask(page, demo, '/v1/tasks', { title, description: 'All of it.', assigneeId });
  await signIn(page, demo, EMPLOYEE);
  await page.goto(`${demo.url}/tasks`);
  await page.getByRole('link', { name: title }).click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(page.getByRole('button', { name: /^Title:/ })).toHaveCount(0);
  await expectAccessible(page, 'a task of an employee');
  await page.getByRole('button', { name: 'Mark done' }).click();
  await expect(page.getByText('Done').first()).toBeVisible();
  expect(errors).toEqual([]);
});
