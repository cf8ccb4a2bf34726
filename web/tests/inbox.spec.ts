import type { Browser, Page } from '@playwright/test';
import { expect, expectAccessible, type Server, signIn, test } from './server';
import { ADMIN, ask, LEAD } from './steps';

/** The lead's member id, and a page of a colleague who gives work to the lead. */
async function colleague(page: Page, demo: Server, browser: Browser) {
  await signIn(page, demo, LEAD);
  const session = await ask<{ organizations: { memberId: string }[] }>(page, demo, '/v1/auth/session');
  const other = await (await browser.newContext()).newPage();
  await signIn(other, demo, ADMIN);
  return { assigneeId: session.organizations[0]?.memberId ?? '', other };
}

test('a notification appears by itself, is read by opening it, and can be marked', async ({
  page,
  demo,
  browser,
  errors,
}, info) => {
  const title = `Try the spare keys on the ${info.project.name}`;
  const { assigneeId, other } = await colleague(page, demo, browser);
  await page.goto(`${demo.url}/inbox`);
  await expect(page.getByRole('heading', { level: 1, name: 'Inbox' })).toBeVisible();
  await ask(other, demo, '/v1/tasks', { title, description: 'All of them.', assigneeId });
  const item = page.getByRole('link', { name: new RegExp(title) });
  await expect(item).toBeVisible();
  await expect(page.getByRole('link', { name: /^Inbox, \d+ unread$/ })).toBeVisible();
  await expectAccessible(page, 'an unread notification');

  await item.click();
  await expect(page).toHaveURL(/\/tasks\/tsk_/);
  await page.goBack();
  await page.getByRole('button', { name: new RegExp(`^Mark as unread: .*${title}`) }).click();
  await expect(page.getByRole('button', { name: new RegExp(`^Mark as read: .*${title}`) })).toBeVisible();

  await page.goto(`${demo.url}/inbox?unread=true&kind=assigned`);
  await expect(item).toBeVisible();
  await page.getByRole('button', { name: 'Mark all as read' }).click();
  await expect(page.getByText('Everything is read')).toBeVisible();
  await expect(page.getByText('No results match these filters.')).toBeVisible();
  await expect(page.getByRole('link', { name: 'Inbox', exact: true })).toBeVisible();
  await other.context().close();
  expect(errors).toEqual([]);
});

test('many notifications of one change are one that leads to their list', async ({ page, demo, browser, errors }, info) => {
  test.skip(info.project.name === 'phone', 'the same code at another width');
  const { assigneeId, other } = await colleague(page, demo, browser);
  const taskIds: string[] = [];
  for (let number = 1; number <= 12; number += 1)
    taskIds.push((await ask(other, demo, '/v1/tasks', { title: `Count shelf ${number}`, description: 'Once.' })).id);
  await ask(other, demo, '/v1/tasks/bulk/assignee', { taskIds, assigneeId }, 'PATCH');
  await page.goto(`${demo.url}/inbox`);
  await page.getByRole('link', { name: /12 things were assigned to you/ }).click();
  await expect(page).toHaveURL(/\/tasks\?.*assigneeId=mem_/);
  await expect(page.getByRole('link', { name: 'Count shelf 12' })).toBeVisible();
  await other.context().close();
  expect(errors).toEqual([]);
});

test('the inbox can be read at every width', async ({ page, demo, browser }, info) => {
  test.skip(info.project.name === 'phone', 'the widths are set here');
  const { assigneeId, other } = await colleague(page, demo, browser);
  const title = 'A title that is long enough to need more than the room that a narrow list has for names of tasks';
  await ask(other, demo, '/v1/tasks', { title, description: 'Once.', assigneeId });
  for (const width of [1440, 1280, 1024, 768]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${demo.url}/inbox`);
    await expect(page.getByRole('table', { name: 'Inbox' }).getByRole('row').nth(1)).toBeVisible();
    const sideways = await page.locator('#main').evaluate((main) => main.scrollWidth > main.clientWidth);
    expect(sideways, `sideways at ${width}`).toBe(false);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${demo.url}/inbox`);
  const first = page.getByRole('list', { name: 'Inbox' }).getByRole('link').first();
  await expect(first).toBeVisible();
  expect((await first.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await other.context().close();
});
