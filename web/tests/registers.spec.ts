import { join } from 'node:path';
import { PASSWORD } from './demo';
import { expect, expectAccessible, signIn, signInByForm, test } from './server';
import { LEAD, organization, pick } from './steps';

test.describe('risks', () => {
  test('a cell of the heat map narrows the table, and Back widens it again', async ({ page, demo }, info) => {
    test.skip(info.project.name === 'phone', 'there is no heat map on a phone');
    await signIn(page, demo, LEAD);
    await page.goto(`${demo.url}/risks`);
    await page.getByRole('button', { name: 'Heat map' }).click();
    for (const [map, field] of [
      ['Inherent', /[?&]likelihood=/],
      ['Residual', /[?&]residualLikelihood=/],
    ] as const) {
      await page.getByRole('radiogroup', { name: 'Heat map' }).getByText(map).click();
      const cell = page
        .getByRole('group', { name: `Heat map: ${map}` })
        .getByRole('button', { name: /: [1-9]/ })
        .first();
      const count = Number(/: (\d+)/.exec((await cell.getAttribute('aria-label')) ?? '')?.[1]);
      await cell.click();
      await expect(page.getByText(`${count} of `)).toBeVisible();
      await expect(page).toHaveURL(field);
      await page.goBack();
      await expect(page).not.toHaveURL(field);
    }
  });

  test('a record is edited where it stands, undone, commented on and given a file', async ({ page, demo }, info) => {
    await signIn(page, demo, LEAD);
    await page.goto(`${demo.url}/risks?sort=createdAt&order=${info.project.name === 'phone' ? 'asc' : 'desc'}`);
    if (info.project.name === 'phone') await page.getByRole('list', { name: 'Risks' }).getByRole('link').first().click();
    else await page.getByRole('table').getByRole('link').first().click();
    const drawer = page.getByRole('complementary', { name: /^R-\d+/ });
    await expect(drawer).toBeVisible();

    const title = drawer.getByRole('button', { name: /^Title:/ });
    const before = ((await title.textContent()) ?? '').replace('Title: ', '');
    await title.click();
    await drawer.getByRole('textbox', { name: 'Title' }).fill(`${before} again`);
    await page.keyboard.press('Enter');
    await expect(drawer.getByRole('heading', { level: 2 })).toHaveText(`${before} again`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(drawer.getByRole('heading', { level: 2 })).toHaveText(before);

    await title.click();
    await drawer.getByRole('textbox', { name: 'Title' }).fill('');
    await page.keyboard.press('Enter');
    await expect(drawer.getByText('Must not be empty')).toBeVisible();
    await page.keyboard.press('Escape');

    const words = `Seen on the ${info.project.name}`;
    await drawer.getByRole('textbox', { name: 'Write a comment' }).fill(words);
    await page.keyboard.press('Control+Enter');
    await drawer.getByRole('tab', { name: /Comments/ }).click();
    await expect(drawer.getByText(words)).toBeVisible();

    // Somebody is mentioned by a few letters, and a file comes with the comment.
    const box = drawer.getByRole('textbox', { name: 'Write a comment' });
    await box.click();
    await box.pressSequentially('Look, @Rafael Co');
    await expect(page.getByRole('option', { name: 'Rafael Costa' })).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(box).toHaveValue('Look, @Rafael Costa ');
    await drawer
      .locator('input[type=file][aria-label="Attach a file to the comment"]')
      .setInputFiles({ name: 'photo.txt', mimeType: 'text/plain', buffer: Buffer.from('A photo.') });
    await expect(drawer.getByRole('button', { name: 'Leave out photo.txt' })).toBeVisible();
    await expectAccessible(page, 'a comment with a file');
    await drawer.getByRole('button', { name: 'Comment', exact: true }).click();
    await expect(drawer.getByText('@Rafael Costa').first()).toBeVisible();
    await expect(drawer.getByRole('button', { name: 'photo.txt' }).first()).toBeVisible();
    await expect(drawer.getByRole('region', { name: 'Controls' })).toBeVisible();

    await drawer.getByRole('tab', { name: /Files/ }).click();
    await drawer
      .locator('input[type=file][aria-label="Attach a file"]')
      .setInputFiles({ name: 'report.txt', mimeType: 'text/plain', buffer: Buffer.from('All disks are encrypted.') });
    await expect(drawer.getByRole('button', { name: 'report.txt', exact: true })).toBeVisible();
  });

  test('two people who edit the same field decide which value stays', async ({ page, demo }, info) => {
    test.skip(info.project.name === 'phone', 'the same code at another width');
    await signIn(page, demo, LEAD);
    await page.goto(`${demo.url}/vendors?sort=createdAt`);
    await page.getByRole('table').getByRole('link').first().click();
    const drawer = page.getByRole('complementary', { name: /^V-\d+/ });
    const field = drawer.getByRole('button', { name: /What they do for us/ });
    await field.click();
    await drawer.getByRole('textbox', { name: 'What they do for us' }).fill('My words');

    const id = new URL(page.url()).searchParams.get('open') ?? '';
    await page.request.patch(`${demo.url}/v1/vendors/${id}`, {
      data: { description: 'Their words' },
      headers: { 'X-Organization-Id': await organization(page, demo) },
    });
    // The page hears of it, and still knows what the reader began with.
    await expect(drawer.getByRole('tabpanel').getByText('Their words').first()).toBeVisible();
    await page.keyboard.press('Control+Enter');
    await expect(drawer.getByText('Someone else saved this')).toBeVisible();
    await expect(drawer.getByText(/^Ingrid Solberg saved /)).toBeVisible();
    await expect(drawer.getByRole('radio', { name: 'Yours My words' })).toBeChecked();
    await drawer.getByRole('radio', { name: 'Ingrid Solberg Their words' }).click();
    await drawer.getByRole('button', { name: 'Save chosen values' }).click();
    await expect(field).toContainText('Their words');
  });

  test('the page can be turned into its past, where nothing can be edited', async ({ page, demo }) => {
    await signIn(page, demo, LEAD);
    await page.goto(`${demo.url}/risks`);
    await page.getByRole('button', { name: 'As of' }).click();
    await expect(page.getByText('Risks as of')).toBeVisible();
    await expect(page.getByRole('button', { name: 'New risk' })).toHaveCount(0);
    const dayIn = () => new URL(page.url()).searchParams.get('asOf') ?? '';
    const monthAgo = dayIn();
    await page.getByRole('slider', { name: 'Date shown' }).fill('100');
    await expect.poll(dayIn).not.toBe(monthAgo);
    // Much of the register came later; hardly anything did on the very next day.
    const added = page.getByRole('radiogroup', { name: /What changed/ }).getByText(/^\d+ added$/);
    await expect(added).toHaveText(/^[1-9]\d+ added$/);
    const next = new Date(Date.parse(dayIn()) + 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('Compared with').fill(next);
    await expect(page).toHaveURL(new RegExp(`until=${next}`));
    await expect(added).toHaveText(/^\d added$/);
    await page.getByRole('button', { name: 'Return to today' }).click();
    await expect(page).not.toHaveURL(/asOf/);
  });

  test('a table is imported after a check of its rows', async ({ page, demo }, info) => {
    test.skip(info.project.name === 'phone', 'the same code at another width');
    await signIn(page, demo, LEAD);
    await page.goto(`${demo.url}/risks?import=yes`);
    const [sample] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download a sample file' }).click(),
    ]);
    expect(sample.suggestedFilename()).toBe('risks.csv');
    await page.locator('input[type=file]').setInputFiles({
      name: 'risks.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(
        'Risk name;Details;Type;Owner;Chance\nImported one;x;Technology;ingrid.solberg@northwind.example;Very likely\n' +
          'Imported two;y;weather;;possible\nImported three;z;people;Nobody;possible\n',
      ),
    });
    // Columns are known by common names for them.
    await expect(page.getByRole('combobox', { name: 'Risk name: Becomes' })).toHaveValue('Title');
    const preview = page.getByRole('region', { name: 'Rows of your file' });
    await expect(preview.getByText('Imported three')).toBeVisible();
    await page.getByRole('button', { name: 'Check the rows' }).click();
    await expect(page.getByText('2 errors to fix')).toBeVisible();
    // Rows are numbered as in the file, and fixed or left out where they are told.
    await pick(page, 'Row 3: Category', 'People');
    await page.getByRole('checkbox', { name: 'Leave out row 4' }).click();
    await page.getByRole('button', { name: 'Check the rows' }).click();
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await expect(page.getByText('2 rows imported')).toBeVisible();
    await page.goto(`${demo.url}/risks?q=Imported`);
    await expect(page.getByRole('link', { name: 'Imported one' })).toBeVisible();
  });

  test('a sheet of a workbook is chosen, checked and fixed like any table', async ({ page, demo }, info) => {
    test.skip(info.project.name === 'phone', 'the same code at another width');
    await signIn(page, demo, LEAD);
    await page.goto(`${demo.url}/risks?import=yes`);
    await page.locator('input[type=file]').setInputFiles(join(import.meta.dirname, 'files', 'two-sheets.xlsx'));
    await pick(page, 'Sheet', 'Our risks');
    await expect(page.getByRole('combobox', { name: 'Risk name: Becomes' })).toHaveValue('Title');
    await page.getByRole('button', { name: 'Check the rows' }).click();
    // Numbered as in the file, where rows were left empty.
    await pick(page, 'Row 5: Category', 'People');
    await expectAccessible(page, 'a sheet with an error');
    await page.getByRole('button', { name: 'Check the rows' }).click();
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await expect(page.getByText('2 rows imported')).toBeVisible();
  });
});

test('changes of others appear without a reload', async ({ page, demo }) => {
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/risks?q=Appears`);
  await expect(page.getByText('No results match these filters.')).toBeVisible();
  const body = { title: 'Appears by itself', description: 'x', category: 'other' };
  await page.request.post(`${demo.url}/v1/risks`, {
    data: body,
    headers: { 'X-Organization-Id': await organization(page, demo) },
  });
  await expect(page.getByText('Appears by itself').first()).toBeVisible();
});

test('a session that ends is renewed over the page, and what was typed stays', async ({ page, demo, context }, info) => {
  test.skip(info.project.name === 'phone', 'the same code at another width');
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/risks?new=yes`);
  await page.getByLabel('Title').fill('Half a thought');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create risk' }).click();
  const ended = page.getByText('Your session has ended. What you typed is still here.');
  await expect(ended).toBeVisible();
  await page.getByRole('textbox', { name: /Password/ }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in and go on' }).click();
  await expect(ended).toHaveCount(0);
  await expect(page.getByLabel('Title')).toHaveValue('Half a thought');
});

test('the palette finds a record from any page', async ({ page, demo }, info) => {
  test.skip(info.project.name === 'phone', 'the same code at another width');
  await signInByForm(page, demo, LEAD);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('/');
  const field = page.getByRole('textbox', { name: 'Find a record, a page or a command' });
  const found = page.getByRole('dialog').getByRole('button');
  await field.fill('R-1');
  await found.filter({ hasText: /R-1\b/ }).first().click();
  await expect(page).toHaveURL(/\/risks\?open=/);
  await page.keyboard.press('Control+k');
  await field.fill('8.13');
  await found
    .filter({ hasText: /^8\.13 / })
    .first()
    .click();
  await expect(page).toHaveURL(/\/frameworks\/.*open=/);
  await page.keyboard.press('Control+k');
  await field.fill('New ven');
  await found.filter({ hasText: 'New vendor' }).click();
  await expect(page.getByRole('dialog', { name: 'New vendor' })).toBeVisible();
});

test('the console speaks German', async ({ browser, demo }) => {
  const context = await browser.newContext({ locale: 'de-DE' });
  const page = await context.newPage();
  await page.goto(`${demo.url}/sign-in`);
  await expect(page.getByRole('heading', { name: 'Anmelden' })).toBeVisible();
  await context.close();
});
