import { expect, expectAccessible, signIn, test } from './server';
import { ask, LEAD, mailed, pick } from './steps';

test('the overview of the portal is changed beside its preview', async ({ page, demo, errors }, info) => {
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/trust-portal`);
  const overview = page.getByRole('textbox', { name: /^Overview/ });
  const before = await overview.inputValue();
  const words = `We protect what robots see, on the ${info.project.name} too.`;
  await overview.fill(words);
  const preview = page.getByRole('complementary', { name: 'Preview' }).locator('iframe').contentFrame();
  await expect(preview.getByRole('heading', { level: 1 })).toHaveText('Security at Northwind Robotics');
  await expect(preview.getByText(words)).toBeVisible();
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await expect(overview).toHaveValue(before);
  await expect(preview.getByText(words)).toHaveCount(0);

  await overview.fill(words);
  await page.getByRole('textbox', { name: /^Address/ }).fill('No spaces!');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('textbox', { name: /^Address/ })).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('textbox', { name: /^Address/ }).fill('northwind');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Trust portal saved')).toBeVisible();
  await expectAccessible(page, 'settings of the portal');
  await page.goto(`${demo.url}/trust/northwind`);
  await expect(page.getByText(words)).toBeVisible();
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

test('an update and a question are written, published and read by visitors', async ({ page, demo, errors }, info) => {
  const news = `The report of the ${info.project.name} is here`;
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/trust-portal?tab=updates`);
  await page.getByRole('button', { name: 'New update' }).click();
  const form = page.getByRole('dialog', { name: 'New update' });
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText(/required|empty/i).first()).toBeVisible();
  await form.getByLabel('Headline').fill(news);
  await form.getByLabel(/^Text/).fill('Nothing serious was found.');
  await expectAccessible(page, 'a new update');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toHaveCount(0);
  await page.goto(`${demo.url}/trust/northwind`);
  await expect(page.getByText(news)).toHaveCount(0);
  await page.goto(`${demo.url}/trust-portal?tab=updates`);
  await page.getByRole('button', { name: `Publish ${news}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await expect(page.getByRole('button', { name: `Hide ${news}` })).toBeVisible();

  const question = `Who holds the keys of the ${info.project.name}?`;
  await page.getByRole('tab', { name: 'FAQ' }).click();
  await page.getByRole('button', { name: 'New question' }).click();
  const other = page.getByRole('dialog', { name: 'New question' });
  await other.getByLabel('Question').fill(question);
  await other.getByLabel(/^Answer/).fill('Two people of operations.');
  await other.getByRole('checkbox', { name: 'Publish at once' }).check();
  await other.getByRole('button', { name: 'Publish' }).click();
  await expect(other).toHaveCount(0);
  await expectAccessible(page, 'questions');

  await page.goto(`${demo.url}/trust/northwind`);
  await expect(page.getByText(news)).toBeVisible();
  await expect(page.getByText(question)).toBeVisible();
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

test('who may read a document is chosen, and shown to visitors', async ({ page, demo, browser, errors }, info) => {
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/trust-portal?tab=certificates`);
  const title = info.project.name === 'phone' ? 'Incident Response Policy' : 'Acceptable Use Policy';
  const visitor = await (await browser.newContext({ viewport: page.viewportSize() })).newPage();
  const row = visitor.getByRole('listitem').filter({ hasText: title });
  for (const [choice, words] of [
    ['Hidden', undefined],
    ['On request', 'on request'],
    ['After the NDA', 'after a confidentiality agreement'],
    ['Public', 'public'],
  ] as const) {
    await pick(page, `Who may read ${title}`, choice);
    await expect(page.getByText(`${title}: ${choice}`)).toBeVisible();
    await visitor.goto(`${demo.url}/trust/northwind`);
    if (words) await expect(row.getByText(words)).toBeVisible();
    else await expect(visitor.getByText(title)).toHaveCount(0);
    if (choice === 'On request') {
      await visitor.getByRole('link', { name: `Request access to ${title}` }).click();
      await expect(visitor.getByRole('checkbox', { name: title })).toBeChecked();
      await expectAccessible(visitor, 'documents on request');
    }
  }
  const download = visitor.waitForEvent('download');
  await visitor.getByRole('link', { name: `Download ${title}` }).click();
  expect((await download).suggestedFilename()).toMatch(/\.pdf$/);
  await expectAccessible(page, 'who may read');
  await pick(page, `Who may read ${title}`, 'After the NDA');
  await expect(page.getByText(`${title}: After the NDA`).first()).toBeVisible();
  await visitor.context().close();
  expect(errors).toEqual([]);
});

test('a visitor asks for documents, signs and reads what the console grants', async ({ page, demo, browser, errors }, info) => {
  const who = `Vera Visitor ${info.project.name}`;
  const email = `vera.${info.project.name}@customer.example`;
  const visitor = await (await browser.newContext({ viewport: page.viewportSize() })).newPage();
  await visitor.goto(`${demo.url}/trust/northwind`);
  const form = visitor.getByRole('complementary', { name: 'Request access' });
  await form.getByRole('button', { name: 'Request access' }).click();
  await expect(form.getByLabel('Your name')).toHaveAttribute('aria-invalid', 'true');
  await form.getByLabel('Your name').fill(who);
  await form.getByLabel('Work email').fill(email);
  await form.getByLabel(/^Company/).fill('Customer Inc');
  await form.getByLabel(/^What you need them for/).fill('A yearly review of our vendors.');
  await form.getByRole('button', { name: 'Request access' }).click();
  await expect(form.getByRole('status').filter({ hasText: 'Your request has arrived.' })).toBeVisible();
  await expectAccessible(visitor, 'a sent request');

  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/trust-portal?tab=requests`);
  await page.getByText(who).first().click();
  const drawer = page.getByRole('complementary', { name: `Request of ${who}` });
  await expect(drawer.getByText('A yearly review of our vendors.')).toBeVisible();
  await expectAccessible(page, 'a request');
  await drawer.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog', { name: `Approve access for ${who}` });
  await dialog.getByLabel('Days of access').fill('900');
  await dialog.getByRole('button', { name: 'Approve and send' }).click();
  await expect(dialog.getByLabel('Days of access')).toHaveAttribute('aria-invalid', 'true');
  await dialog.getByLabel('Days of access').fill('30');
  await dialog.getByRole('button', { name: 'Approve and send' }).click();
  await expect(page.getByText(`Agreement sent to ${email}`)).toBeVisible();
  await expect(drawer.getByText(/^Sent, not signed/)).toBeVisible();
  await expect(drawer.getByRole('button', { name: 'Send agreement again' })).toBeVisible();

  await visitor.goto(await mailed(demo, email, '/trust/nda'));
  await expect(visitor.getByRole('region', { name: 'Text of the agreement' })).toContainText('Northwind Robotics');
  await expectAccessible(visitor, 'an agreement');
  await visitor.getByLabel('Full name').fill(who);
  await visitor.getByLabel('Email').fill('somebody@else.example');
  await visitor.getByRole('checkbox').check();
  await visitor.getByRole('button', { name: 'Sign agreement' }).click();
  await expect(visitor.getByText('Sign with the e-mail address that requested access.')).toBeVisible();
  await visitor.getByLabel('Email').fill(email);
  await visitor.getByRole('button', { name: 'Sign agreement' }).click();
  await expect(visitor.getByRole('heading', { name: 'Signed' })).toBeVisible();
  await visitor.getByRole('link', { name: 'Open the documents' }).click();
  await expect(visitor.getByRole('heading', { level: 1, name: 'Documents of Northwind Robotics' })).toBeVisible();
  await expectAccessible(visitor, 'documents');
  const download = visitor.waitForEvent('download');
  await visitor
    .getByRole('link', { name: /^Download / })
    .first()
    .click();
  expect((await download).suggestedFilename()).toMatch(/\.pdf$/);
  await visitor.context().close();
  // The page of the one who approved hears of it.
  await expect(drawer.getByText(/^Signed/).first()).toBeVisible();
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

test('whoever has access is listed with what they read, and loses it at once', async ({ page, demo, errors }) => {
  await signIn(page, demo, LEAD);
  const { data: grants } = await ask<{ data: { id: string; name: string; status: string }[] }>(
    page,
    demo,
    '/v1/trust-access/admin/grants?limit=100',
  );
  const grant = grants.find(({ status }) => status === 'active');
  const name = grant?.name ?? '';
  await page.goto(`${demo.url}/trust-portal?tab=grants`);
  await expect(page.getByText(name).first()).toBeVisible();
  await expectAccessible(page, 'access');
  await page.goto(`${demo.url}/trust-portal?tab=visits&grant=${grant?.id}`);
  await expect(page.getByText(`Visitor is ${name}`)).toBeVisible();
  await page.goto(`${demo.url}/trust-portal?tab=visits`);
  await expect(page.getByText(/Opened the documents|Downloaded/).first()).toBeVisible();
  await expectAccessible(page, 'visits');

  await page.goto(`${demo.url}/trust-portal?tab=grants`);
  await page
    .getByRole('button', { name: `Revoke access of ${name}` })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('The review is over.');
  await dialog.getByRole('button', { name: 'Revoke access' }).click();
  await expect(page.getByText(`${name} no longer has access`)).toBeVisible();
  await expect(page.getByRole('button', { name: `Revoke access of ${name}` })).toHaveCount(0);
  expect(errors).toEqual([]);
});
