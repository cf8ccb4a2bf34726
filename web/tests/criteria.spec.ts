import { PASSWORD } from './demo';
import { expect, expectAccessible, signIn, test } from './server';
import { ask, LEAD, pick, setUp } from './steps';

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const rated = (title: string, residualImpact: string) => ({
  title,
  description: 'x',
  category: 'other',
  likelihood: 'very_likely',
  impact: 'severe',
  residualLikelihood: 'likely',
  residualImpact,
});

test('the steps have the names of the organization, and what is above its appetite is found', async ({
  page,
  fresh,
  errors,
}, info) => {
  await setUp(page, fresh);
  await ask(page, fresh, '/v1/risks', rated('Everything burns', 'moderate'));
  await ask(page, fresh, '/v1/risks', rated('A lamp breaks', 'minor'));
  await page.goto(`${fresh.url}/settings/criteria`);
  const likelihood = page.getByRole('group', { name: 'Steps of likelihood' });
  await likelihood.getByRole('textbox', { name: 'Name of step 5' }).fill('Unlikely');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(likelihood.getByText('Another step has this name.')).toBeVisible();
  await likelihood.getByRole('textbox', { name: 'Name of step 5' }).fill('Every month');
  await likelihood.getByRole('textbox', { name: 'When step 5 applies' }).fill('It happened twice this quarter.');
  await page.getByRole('spinbutton', { name: /^Appetite/ }).fill('9');
  // What was typed survives a reload.
  await page.reload();
  await expect(likelihood.getByRole('textbox', { name: 'Name of step 5' })).toHaveValue('Every month');
  await expectAccessible(page, 'risk criteria');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Risk criteria saved')).toBeVisible();

  await page.goto(`${fresh.url}/risks`);
  await page.getByRole('button', { name: '1 above appetite' }).click();
  await expect(page).toHaveURL(/minResidualScore=10/);
  await expect(page.getByRole('link', { name: /Everything burns/ })).toBeVisible();
  await expect(page.getByRole('link', { name: /A lamp breaks/ })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Above appetite is Yes. Change' })).toBeVisible();
  if (info.project.name !== 'phone') {
    await page.getByRole('button', { name: 'Heat map' }).click();
    const map = page.getByRole('group', { name: 'Heat map: Residual' });
    await expect(map.getByRole('button', { name: 'Likely, Moderate: 1, High, above appetite' })).toBeVisible();
    await expect(map.getByRole('button', { name: /^Every month, Severe/ })).toBeVisible();
    await expectAccessible(page, 'a heat map with an appetite');
  }
  await page.goto(`${fresh.url}/risks?new=yes`);
  await pick(page, /^Inherent likelihood/, /^Every month/);
  await expect(page.getByText('It happened twice this quarter.').first()).toBeVisible();
  expect(errors).toEqual([]);
});

test('the owner accepts a risk until a day, and a change of its rating ends that', async ({ page, fresh, errors }, info) => {
  const assigneeId = await setUp(page, fresh);
  const { id } = await ask(page, fresh, '/v1/risks', { ...rated('Everything burns', 'moderate'), assigneeId });
  const { id: unowned } = await ask(page, fresh, '/v1/risks', rated('A lamp breaks', 'minor'));
  await page.goto(`${fresh.url}/risks?open=${id}`);
  const drawer = page.getByRole('complementary', { name: /^R-\d+ Everything burns/ });
  const acceptance = drawer.getByRole('region', { name: 'Acceptance' });
  await acceptance.getByRole('button', { name: 'Accept risk' }).click();
  const dialog = page.getByRole('dialog', { name: /^Accept R-\d+ as it is rated\?$/ });
  const accept = dialog.getByRole('button', { name: 'Accept risk' });
  await dialog.getByLabel('Accept until').fill(inDays(900));
  await dialog.getByLabel('Reason').fill('The building is replaced in spring.');
  await dialog.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
  await accept.click();
  await expect(dialog.getByText(/^Must be after today/)).toBeVisible();
  await expect(dialog.getByLabel('Reason')).toHaveValue('The building is replaced in spring.');
  await expectAccessible(page, 'a refused acceptance');
  await dialog.getByLabel('Accept until').fill(inDays(60));
  await accept.click();
  await expect(dialog).toHaveCount(0);
  await expect(acceptance.getByText(/^Accepted until/)).toBeVisible();
  await expect(acceptance.getByText('The building is replaced in spring.')).toBeVisible();
  await expect(acceptance.getByText(/by Ada Byron/)).toBeVisible();
  await expectAccessible(page, 'an accepted risk');

  await drawer.getByRole('button', { name: /^Residual impact:/ }).click();
  await page.getByRole('option', { name: 'Major' }).click();
  await expect(acceptance.getByText('Not accepted.')).toBeVisible();
  await page.goto(`${fresh.url}/risks?open=${unowned}`);
  await expect(page.getByText('Only the owner can accept a risk. Assign an owner first.')).toBeVisible();
  if (info.project.name !== 'phone') {
    await page.goto(`${fresh.url}/risks?columns=residualScore,acceptedUntil`);
    await page.getByRole('columnheader', { name: 'Accepted until' }).getByRole('button').click();
    await expect(page).toHaveURL(/sort=acceptedUntil/);
    await expect(page.getByRole('link', { name: /Everything burns/ })).toBeVisible();
  }
  // The refused acceptance is an answer with an error.
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});

test('a chat channel is added, tested, changed and deleted, and its address is not shown again', async ({
  page,
  demo,
  errors,
}, info) => {
  const name = `Compliance of the ${info.project.name}`;
  await signIn(page, demo, LEAD);
  await page.goto(`${demo.url}/settings/chat`);
  await page.getByRole('button', { name: 'Add channel' }).click();
  const form = page.getByRole('dialog', { name: 'Add channel' });
  await form.getByRole('textbox', { name: 'Name' }).fill(name);
  const address = form.getByRole('textbox', { name: 'Webhook address' });
  await address.fill('hooks.slack.com/nothing');
  await form.getByRole('button', { name: 'Add channel' }).click();
  await expect(form.getByText(/^Must be the address of an incoming webhook/)).toBeVisible();
  await expect(address).toHaveValue('hooks.slack.com/nothing');
  await expectAccessible(page, 'a new chat channel');
  // Private addresses are refused when a message is sent.
  await address.fill('http://127.0.0.1/services/T000/B000/abcdefghwXyZ');
  await form.getByRole('checkbox', { name: 'Policies' }).uncheck();
  await form.getByRole('button', { name: 'Add channel' }).click();
  const row = page.getByRole('row', { name: new RegExp(name) });
  await expect(row).toContainText('127.0.0.1/…wXyZ');
  await expect(row).not.toContainText('Policies');
  await expect(page.getByText('abcdefghwXyZ')).toHaveCount(0);

  await page.getByRole('button', { name: `Send a test message to ${name}` }).click();
  await expect(row.getByText(/^Not delivered/)).toBeVisible({ timeout: 60_000 });
  await expectAccessible(page, 'chat channels');

  await page.getByRole('button', { name: `Edit ${name}` }).click();
  const edit = page.getByRole('dialog', { name: 'Edit channel' });
  await expect(edit.getByRole('textbox', { name: /^Webhook address/ })).toHaveValue('');
  await edit.getByRole('checkbox', { name: 'Post notifications' }).uncheck();
  await edit.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(row.getByText('Off', { exact: true })).toBeVisible();

  await page.getByRole('button', { name: `Delete ${name}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText(`${name} deleted`)).toBeVisible();
  await expect(row).toHaveCount(0);
  expect(errors.filter((error) => !error.includes('400'))).toEqual([]);
});
