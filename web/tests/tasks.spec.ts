import type { Page } from '@playwright/test';
import { expect, expectAccessible, type Server, signIn, test } from './server';
import { ask, LEAD, pick } from './steps';

/** A task of the test's own, open. */
async function openTask(page: Page, demo: Server, title: string, extra: Record<string, unknown> = {}) {
  await signIn(page, demo, LEAD);
  const { id } = await ask(page, demo, '/v1/tasks', { title, description: 'Show that it was done.', ...extra });
  await page.goto(`${demo.url}/tasks/${id}`);
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  return id;
}

test('a task is made, moved on the board and found in the list', async ({ page, demo, errors }, info) => {
  const title = `Count the spare keys on the ${info.project.name}`;
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/tasks`);
  await page.getByRole('button', { name: 'New task' }).click();
  const form = page.getByRole('dialog', { name: 'New task' });
  await form.getByRole('button', { name: 'Create task' }).click();
  await expect(form.getByText('Is required').first()).toBeVisible();
  await form.getByLabel('Title').fill(title);
  await form.getByLabel('What to show').fill('A list of the keys, signed by whoever counted.');
  await pick(page, /^Repeats/, 'Monthly');
  await form.getByRole('button', { name: 'Create task' }).click();

  await expect(page).toHaveURL(/\/tasks\/tsk_/);
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  const id = page.url().split('/').at(-1) ?? '';
  const { reference } = await ask<{ reference: string }>(page, demo, `/v1/tasks/${id}`);
  await expectAccessible(page, 'a new task');

  await page.goto(`${demo.url}/tasks?q=${encodeURIComponent(title)}`);
  const board = page.getByRole('region', { name: 'Board' });
  await expect(board.getByRole('region', { name: 'To do' }).getByRole('link', { name: title })).toBeVisible();
  await page.getByRole('button', { name: `Move ${reference}` }).click();
  await page.getByRole('menuitem', { name: 'In progress' }).click();
  await expect(board.getByRole('region', { name: 'In progress' }).getByRole('link', { name: title })).toBeVisible();

  await page.getByRole('radiogroup', { name: 'View' }).getByText('List').click();
  await expect(page).toHaveURL(/view=list/);
  await page.getByText(title).first().click();
  await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
  await page.getByRole('button', { name: 'Mark done' }).click();
  await expect(page.getByRole('button', { name: 'Open again' })).toBeVisible();
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

test('evidence is uploaded, and the page says how long it stays fresh', async ({ page, demo, errors }, info) => {
  await openTask(page, demo, `Review the door log on the ${info.project.name}`, { frequency: 'monthly' });
  const evidence = page.getByRole('region', { name: 'Evidence' });
  await expect(evidence.getByText('No evidence yet.')).toBeVisible();
  await evidence
    .locator('input[type=file]')
    .setInputFiles({ name: 'door-log.txt', mimeType: 'text/plain', buffer: Buffer.from('Nobody came in at night.') });
  const row = evidence.getByRole('row', { name: /door-log.txt/ });
  await expect(row).toContainText(/\d+ d/);
  await expect(evidence.getByText('1 of 1 fresh')).toBeVisible();

  await evidence.getByLabel('Evidence date').fill('2025-01-31');
  await evidence
    .locator('input[type=file]')
    .setInputFiles({ name: 'old-log.txt', mimeType: 'text/plain', buffer: Buffer.from('Nobody came in at night either.') });
  await expect(evidence.getByRole('row', { name: /old-log.txt/ })).toContainText('Earlier evidence');
  await expect(evidence.getByText('1 of 2 fresh')).toBeVisible();
  await expectAccessible(page, 'evidence');

  await evidence.getByRole('button', { name: 'Delete evidence: old-log.txt' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete evidence' }).click();
  await expect(evidence.getByRole('row', { name: /old-log.txt/ })).toHaveCount(0);
  expect(errors).toEqual([]);
});

test('a built-in check is picked and given its parameters', async ({ page, demo, errors }, info) => {
  await openTask(page, demo, `Watch the certificate on the ${info.project.name}`);
  await page.getByRole('button', { name: /^Built-in check/ }).click();
  const form = page.getByRole('dialog', { name: 'New automation' });
  await form.getByRole('button', { name: 'Create automation' }).click();
  await expect(form.getByText('Choose a check.')).toBeVisible();
  await form.getByRole('radio', { name: 'TLS certificate' }).check();
  await form.getByRole('button', { name: 'Create automation' }).click();
  const host = form.getByRole('textbox', { name: 'Server' });
  await expect(host).toHaveAttribute('aria-invalid', 'true');
  await expect(host).toHaveAccessibleDescription(/required/i);
  await expectAccessible(page, 'a check without its parameter');
  await host.fill('status.northwind.example');
  await form.getByRole('button', { name: 'Create automation' }).click();
  await expect(form).toHaveCount(0);

  const side = page.getByRole('complementary', { name: 'Automations' });
  await expect(side.getByRole('heading', { level: 3, name: 'TLS certificate' }).first()).toBeVisible();
  await expect(side.getByRole('textbox', { name: 'Server' })).toHaveValue('status.northwind.example');
  await side.getByRole('textbox', { name: /^Port/ }).fill('ninety');
  await side.getByRole('button', { name: 'Save parameters' }).click();
  await expect(side.getByRole('textbox', { name: /^Port/ })).toHaveAttribute('aria-invalid', 'true');
  await side.getByRole('textbox', { name: /^Port/ }).fill('8443');
  await side.getByRole('button', { name: 'Save parameters' }).click();
  await expect(page.getByText('Parameters saved')).toBeVisible();
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

const WRONG = `export default async function (ctx) {
  const answer = ;
  return { status: "pass", summary: "x" };
}
`;
const RIGHT = `export default async function (ctx) {
  ctx.log("counted", 3, "keys");
  return { status: "pass", summary: "All three keys are here.", evidence: { keys: 3 } };
}
`;
const FAILS = `export default async function (ctx) {
  ctx.log("counted", 2, "keys");
  return { status: "fail", summary: "One key is missing." };
}
`;

test('a script with a mistake is refused at its line; mended, it runs and passes', async ({ page, demo, errors }, info) => {
  await openTask(page, demo, `Count the keys by script on the ${info.project.name}`);
  await page.getByRole('button', { name: /^Custom script/ }).click();
  const form = page.getByRole('dialog', { name: 'New automation' });
  const editor = form.getByRole('textbox', { name: 'Script' });
  await editor.fill(WRONG);
  await form.getByRole('textbox', { name: 'Name' }).fill('Key counter');
  await form.getByRole('button', { name: 'Create automation' }).click();
  await expect(form.getByRole('alert')).toContainText('Line 2, column');
  await expect(form.locator('.cm-line.cm-wrong')).toHaveText('  const answer = ;');
  await expect(form.locator('.cm-problem')).toBeVisible();
  await expectAccessible(page, 'a script with a mistake');

  await editor.fill(RIGHT);
  await form.getByRole('button', { name: 'Create automation' }).click();
  await expect(form).toHaveCount(0);
  const side = page.getByRole('complementary', { name: 'Automations' });
  await expect(side.getByText('version 1')).toBeVisible();
  const runs = page.getByRole('region', { name: /^Runs/ });
  await expect(runs.getByText('No runs yet.')).toBeVisible();

  await side.getByRole('button', { name: 'Run now' }).click();
  const log = side.getByRole('region', { name: 'Log' });
  await expect(log.getByText('Passed')).toBeVisible({ timeout: 30_000 });
  await expect(log.getByRole('log')).toContainText('counted 3 keys');
  await expect(log.getByText('All three keys are here.')).toBeVisible();
  await expect(runs.getByRole('img', { name: 'The last 1 run: 1 passed, 0 failed' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Evidence' }).getByRole('row', { name: /\d{4}-\d\d-\d\d\.json/ })).toBeVisible();

  await side.getByRole('textbox', { name: 'Script' }).fill(WRONG);
  await side.getByRole('button', { name: 'Save as version 2' }).click();
  await expect(side.getByRole('alert')).toContainText('Line 2, column');
  await side.getByRole('textbox', { name: 'Script' }).fill(FAILS);
  await side.getByRole('button', { name: 'Save as version 2' }).click();
  // Exact: the label of the save button contains it, too.
  await expect(side.getByText('version 2', { exact: true })).toBeVisible();
  await side.getByRole('button', { name: 'Run now' }).click();
  await expect(log.getByText('Failed')).toBeVisible({ timeout: 30_000 });
  await expect(runs.getByRole('img', { name: 'The last 2 runs: 1 passed, 1 failed' })).toBeVisible();
  await runs.getByRole('button', { name: /One key is missing/ }).click();
  await expect(runs.getByRole('log')).toContainText('counted 2 keys');
  await expectAccessible(page, 'runs');

  await side.getByRole('tab', { name: 'Versions' }).click();
  await side.getByRole('button', { name: 'Show version 1' }).click();
  await side.getByRole('button', { name: 'Use this version again' }).click();
  await expect(side.getByText('version 3', { exact: true })).toBeVisible();
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

test('the board can be turned into its past, where nothing can be moved', async ({ page, demo, errors }, info) => {
  test.skip(info.project.name === 'phone', 'the same code at another width');
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/tasks`);
  await expect(page.getByRole('button', { name: /^Move / }).first()).toBeVisible();
  await page.getByRole('button', { name: 'As of' }).click();
  await expect(page.getByText('Tasks as of')).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Move |New task|Import|From templates)/ })).toHaveCount(0);
  await page.getByRole('region', { name: 'Board' }).getByRole('link').first().click();
  await expect(page).toHaveURL(/\/tasks\/tsk_.*asOf=/);
  await expect(page.getByText('Read-only')).toBeVisible();
  await expect(page.getByRole('button', { name: /^(Title|Status|Owner):|Mark done|Add evidence/ })).toHaveCount(0);
  await expectAccessible(page, 'a task as it was');
  // Before it existed, there is still a way back.
  await page.getByRole('slider', { name: 'Date shown' }).fill('0');
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible();
  await page.getByRole('button', { name: 'Return to today' }).click();
  await expect(page.getByRole('button', { name: /^Title:/ })).toBeVisible();
  expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
});
