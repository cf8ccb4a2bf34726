import { expect, expectAccessible, signIn, test } from './server';
import { AUDITOR, LEAD } from './steps';

const TITLE = 'Access review';

test('who can get in is reviewed: findings, one person, the export', async ({ page, demo, errors }, info) => {
  const isPhone = info.project.name === 'phone';
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/people`);
  await page.getByRole('link', { name: TITLE }).click();
  await expect(page.getByRole('heading', { level: 1, name: TITLE })).toBeVisible();
  const people = isPhone
    ? page.getByRole('list', { name: TITLE }).getByRole('link')
    : page.getByRole('table', { name: TITLE }).locator('tr[data-row] a');
  await expect(people.first()).toBeVisible();
  expect(await page.getByText(/^\d+ people can get in$/).textContent()).toBe(`${await people.count()} people can get in`);

  const finding = page.getByRole('button', { name: /^\d+ without a second factor$/ });
  const found = Number.parseInt((await finding.textContent()) ?? '', 10);
  await finding.click();
  await expect(page).toHaveURL(/hasSecondFactor=false/);
  await expect(people).toHaveCount(found);
  await expectAccessible(page, 'people without a second factor in the access review');

  await page.goto(`${demo.url}/people/access-review?q=Tomasz`);
  await people.first().click();
  await expect(page.getByRole('complementary', { name: /Tomasz/ })).toBeVisible();
  await expectAccessible(page, 'a person in the access review');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('complementary')).toHaveCount(0);

  await page.getByRole('button', { name: 'Export' }).click();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Excel (XLSX)' }).click()]);
  expect(file.suggestedFilename()).toMatch(/^access-review-\d{4}-\d\d-\d\d\.xlsx$/);
  expect(errors).toEqual([]);
});

test('the access review can be read at every width and on paper', async ({ page, demo, errors }, info) => {
  test.skip(info.project.name === 'phone', 'the widths are set here');
  await signIn(page, demo, AUDITOR);
  await page.goto(`${demo.url}/settings/security`);
  await page.getByRole('link', { name: TITLE }).click();
  const table = page.getByRole('table', { name: TITLE });
  for (const width of [1440, 1024, 768]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(table.locator('tr[data-row]').first()).toBeVisible();
    await expect(table.getByRole('columnheader', { name: 'Second factor' })).toBeVisible();
    const sideways = await page.locator('#main').evaluate((main) => main.scrollWidth > main.clientWidth);
    expect(sideways, `sideways at ${width}`).toBe(false);
    await expectAccessible(page, `${TITLE} at ${width}`);
  }
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const head of ['Roles', 'Signs in with', 'Second factor', 'API keys', 'Last sign-in'])
    await expect(table.getByRole('columnheader', { name: head })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Export' })).toBeHidden();
  await page.emulateMedia({ media: 'screen' });
  expect(errors).toEqual([]);
});
