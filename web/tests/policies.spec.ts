import type { Locator, Page } from '@playwright/test';
import { PASSWORD } from './demo';
import { expect, expectAccessible, type Server, signIn, test } from './server';
import { ADMIN, ask, EMPLOYEE, LEAD, organization, pick } from './steps';

const text = (...words: string[]) => words.map((one) => ({ type: 'paragraph', content: [{ type: 'text', text: one }] }));
const heading = (words: string) => ({ type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: words }] });

/** A policy of the test's own, with a text. */
async function openPolicy(page: Page, demo: Server, name: string, content: unknown[]) {
  await signIn(page, demo, LEAD);
  const { id } = await ask(page, demo, '/v1/policies', { name, content });
  await page.goto(`${demo.url}/policies/${id}`);
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  return id;
}

/** Says yes in a dialog. */
async function agree(dialog: Locator, verb: string | RegExp) {
  await dialog.getByRole('button', { name: verb }).click();
  await expect(dialog).toHaveCount(0);
}

/** Agrees where the password is asked for again: to approve and to sign. */
async function confirm(dialog: Locator, verb: string | RegExp) {
  const password = dialog.getByRole('textbox', { name: 'Your password' });
  await password.fill('not my password');
  await dialog.getByRole('button', { name: verb }).click();
  await expect(dialog.getByText('Is not the password of this account')).toBeVisible();
  await password.fill(PASSWORD);
  await agree(dialog, verb);
}

test('a policy goes from a template to a signature', async ({ page, demo, browser, errors }, info) => {
  const name = `Clean Desk Policy of the ${info.project.name}`;
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/policies?templates=yes`);
  const gallery = page.getByRole('dialog', { name: 'Policy templates' });
  await gallery.getByRole('textbox', { name: 'Find a template' }).fill('incident');
  await gallery
    .getByRole('button', { name: /^Incident/ })
    .first()
    .click();
  await gallery.getByRole('button', { name: 'Use this template' }).click();
  await gallery.getByRole('textbox', { name: 'Title' }).fill(name);
  await pick(page, 'Review cycle', 'Quarterly');
  await expectAccessible(page, 'templates');
  await gallery.getByRole('button', { name: 'Create policy' }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  const path = new URL(page.url()).pathname;

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const editor = page.getByRole('textbox', { name: /Text/ });
  await editor.locator('p').first().click();
  await page.keyboard.press('Home');
  await page.keyboard.type('Desks are empty at night. ');
  await expect(page.getByText('Saved when you leave the text')).toBeVisible();
  await expectAccessible(page, 'the editor');
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('button', { name: 'Edit', exact: true })).toBeVisible();
  await expect(page.getByText('Desks are empty at night.')).toBeVisible();
  await page.reload();
  await expect(page.getByText('Desks are empty at night.')).toBeVisible();

  await page.getByRole('button', { name: 'Submit for approval' }).click();
  await pick(page, 'Approver', /Rafael Costa/);
  await agree(page.getByRole('dialog'), 'Submit for approval');
  await expect(page.getByText('In review').first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Approve' })).toHaveCount(0);

  const other = await browser.newContext({ viewport: page.viewportSize() });
  const approver = await other.newPage();
  await signIn(approver, demo, ADMIN);
  await approver.goto(`${demo.url}${path}`);
  await approver.getByRole('button', { name: 'Approve' }).click();
  await confirm(approver.getByRole('dialog'), 'Approve and publish v1');
  await expect(approver.getByText('Published', { exact: true }).first()).toBeVisible();
  await other.close();

  // The page of the author hears of it.
  await page.getByRole('tab', { name: /Versions/ }).click();
  await expect(page.getByRole('row', { name: /v1 published now/ })).toBeVisible();
  const pdf = await page.request.get(`${demo.url}/v1${path}/pdf?version=1`, {
    headers: { 'X-Organization-Id': await organization(page, demo) },
  });
  expect(pdf.headers()['content-type']).toContain('application/pdf');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download as PDF: v1' }).click();
  expect((await download).suggestedFilename()).toMatch(/\.pdf$/);

  // Printing the text prints the PDF; a browser that cannot show one downloads it.
  await page.evaluate(() => Object.defineProperty(navigator, 'pdfViewerEnabled', { value: false }));
  await page.getByRole('tab', { name: 'Text' }).click();
  const onPaper = page.waitForEvent('download');
  await page.keyboard.press('ControlOrMeta+p');
  expect((await onPaper).suggestedFilename()).toMatch(/\.pdf$/);

  const reader = await (await browser.newContext({ viewport: page.viewportSize() })).newPage();
  await signIn(reader, demo, EMPLOYEE);
  await reader.goto(`${demo.url}/policies`);
  await reader.getByRole('link', { name }).first().click();
  await expect(reader.getByText('Desks are empty at night.')).toBeVisible();
  await expect(reader.getByRole('button', { name: 'Edit', exact: true })).toHaveCount(0);
  await expectAccessible(reader, 'a policy to sign');
  await reader.getByRole('button', { name: 'Sign v1' }).click();
  await confirm(reader.getByRole('dialog'), 'Sign v1');
  await expect(reader.getByRole('button', { name: 'Sign v1' })).toHaveCount(0);
  await reader.context().close();

  await page.goto(`${demo.url}${path}?tab=signatures`);
  await expect(page.getByRole('table', { name: '1 signed' }).getByRole('row', { name: /Tomasz Zieliński/ })).toBeVisible();
  await expectAccessible(page, 'signatures');
  expect(errors).toEqual([]);
});

test('two versions of a policy are compared, and an approver sends one back', async ({ page, demo, errors }, info) => {
  const id = await openPolicy(page, demo, `Visitor Policy of the ${info.project.name}`, text('Visitors wear a badge.'));
  const { data: people } = await ask<{ data: { id: string; user: { email: string } }[] }>(page, demo, '/v1/people?limit=200');
  const me = people.find(({ user }) => user.email === LEAD)?.id;
  await ask(page, demo, `/v1/policies/${id}/submit-for-approval`, { approverId: me });
  await ask(page, demo, '/v1/auth/confirm', { password: PASSWORD });
  await ask(page, demo, `/v1/policies/${id}/approve`, {});
  await ask(page, demo, `/v1/policies/${id}`, { content: text('Visitors wear a red badge.', 'They are led out.') }, 'PATCH');
  await ask(page, demo, `/v1/policies/${id}/submit-for-approval`, { approverId: me });
  await page.reload();
  await page.getByRole('button', { name: 'Send back' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Send back' })).toBeDisabled();
  await dialog.getByLabel('What has to change').fill('Say which red.');
  await dialog.getByRole('button', { name: 'Send back' }).click();
  await expect(page.getByText('Draft').first()).toBeVisible();
  await page.getByRole('tab', { name: /Comments/ }).click();
  await expect(page.getByText('Say which red.')).toBeVisible();

  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Compare with v1' }).click();
  const sheet = page.getByRole('tabpanel');
  await expect(sheet.getByText('1 changed, 1 added')).toBeVisible();
  await expect(sheet.locator('ins').filter({ hasText: 'red' })).toBeVisible();
  await expectAccessible(page, 'two versions');
  await page.getByRole('button', { name: 'End the comparison' }).click();
  await expect(page).not.toHaveURL(/compare/);
  expect(errors).toEqual([]);
});

test('the assistant proposes, and each change is decided in the text', async ({ page, demo, errors }, info) => {
  await openPolicy(page, demo, `Badge Policy of the ${info.project.name}`, [
    heading('Purpose'),
    ...text('The Security Lead issues badges.'),
    heading('Review'),
    ...text('The Security Lead reviews this policy every year.'),
  ]);
  await page.getByRole('button', { name: 'Assistant' }).click();
  const panel = page.getByRole('complementary', { name: 'Assistant' });
  await expectAccessible(page, 'the assistant');
  await panel.getByRole('textbox', { name: 'Ask, or describe a change' }).fill('Rename “Security Lead” to “CISO”');
  await panel.getByRole('button', { name: 'Send' }).click();
  await expect(panel.getByText('Proposal with 2 changes')).toBeVisible();
  if (info.project.name === 'phone') await panel.getByRole('button', { name: 'Show in the text' }).click();
  const sheet = page.getByRole('tabpanel');
  const changes = sheet.getByRole('group', { name: /^Change \d of 2/ });
  await expect(changes).toHaveCount(2);
  await expect(changes.first().locator('ins').filter({ hasText: 'CISO' })).toBeVisible();
  await expectAccessible(page, 'a proposal');
  await changes.first().getByRole('button', { name: 'Accept' }).click();
  await changes.last().getByRole('button', { name: 'Reject' }).click();
  await sheet.getByRole('button', { name: 'Save 1 accepted change' }).click();
  await expect(sheet.getByText('The CISO issues badges.')).toBeVisible();
  await expect(sheet.getByText('The Security Lead reviews this policy every year.')).toBeVisible();
  await expect(sheet.getByRole('button', { name: 'Accept' })).toHaveCount(0);
  await page.reload();
  await expect(sheet.getByText('The CISO issues badges.')).toBeVisible();
  expect(errors).toEqual([]);
});
