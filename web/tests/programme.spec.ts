import type { Locator, Page } from '@playwright/test';
import { PASSWORD } from './demo';
import { expect, expectAccessible, type Server, signIn, test } from './server';
import { ask } from './steps';

const EMAIL = 'ada@acme.example';
/** More would be work. */
const MAX_INTERACTIONS = 40;

type Traced = { code: string; status: string; controls: TracedControl[] };
type TracedControl = { reference: string; assigneeId: string | null; policies: unknown[]; tasks: unknown[] };
type Task = { reference: string; dueDate: string | null };

/** A day so many days from now, as an input takes it. */
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Every applicable requirement has a control, every control an owner and a policy or a task, every task a due date. */
async function expectWhole(page: Page, server: Server, frameworks: string[]) {
  for (const framework of frameworks) {
    const { requirements } = await ask<{ requirements: Traced[] }>(page, server, `/v1/frameworks/${framework}/trace`);
    const applicable = requirements.filter(({ status }) => status !== 'not_applicable');
    expect(applicable.length).toBeGreaterThan(20);
    expect(applicable.filter(({ controls }) => controls.length === 0).map(({ code }) => code)).toEqual([]);
    const controls = requirements.flatMap((one) => one.controls);
    const lacking = controls.filter(({ assigneeId, policies, tasks }) => !assigneeId || policies.length + tasks.length === 0);
    expect(lacking.map(({ reference }) => reference)).toEqual([]);
  }
  const tasks = await ask<Task[]>(page, server, '/v1/tasks');
  expect(tasks.length).toBeGreaterThan(20);
  expect(tasks.filter(({ dueDate }) => dueDate === null).map(({ reference }) => reference)).toEqual([]);
}

test('from an empty installation to a started plan, answering only what is asked', async ({ page, fresh, errors }, info) => {
  test.skip(info.project.name === 'phone', 'the same questions at every width');
  let interactions = 0;
  const fill = async (field: Locator, text: string) => {
    interactions += 1;
    await field.fill(text);
  };
  const click = async (target: Locator) => {
    interactions += 1;
    await target.click();
  };
  const heading = (name: string) => expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await page.goto(fresh.setupUrl ?? '');
  await fill(page.getByLabel('Organization'), 'Acme');
  await fill(page.getByLabel('Your name'), 'Ada Byron');
  await fill(page.getByLabel('E-mail'), EMAIL);
  await fill(page.getByRole('textbox', { name: 'Password' }), PASSWORD);
  await click(page.getByRole('button', { name: 'Create organization' }));
  await click(page.getByRole('link', { name: 'Build your plan' }));

  await heading('Which frameworks do you work towards?');
  await click(page.getByRole('checkbox', { name: /ISO\/IEC 27001/ }));
  await click(page.getByRole('checkbox', { name: /^SOC 2/ }));
  await expect(page.getByText(/\d+ controls for 177 requirements/)).toBeVisible();
  await expectAccessible(page, 'frameworks');
  await click(page.getByRole('button', { name: 'Continue with 2 frameworks' }));

  await heading('What is in scope?');
  const answer = (question: RegExp, word: string) =>
    click(page.getByRole('radiogroup', { name: question }).getByText(word, { exact: true }));
  await fill(page.getByRole('spinbutton', { name: /How many people/ }), '40');
  await fill(page.getByRole('spinbutton', { name: /How many offices/ }), '0');
  await answer(/outside the company's premises/, 'Yes');
  await answer(/servers, network rooms/, 'No');
  await answer(/cloud or online services/, 'Yes');
  await expect(page.getByRole('radiogroup', { name: /outside developers/i })).toHaveCount(0);
  await answer(/develop software/, 'Yes');
  await answer(/outside developers/i, 'No');
  await answer(/online service that you operate/, 'Yes');
  await answer(/AI tools/, 'Yes');
  await answer(/data about people/, 'Yes');
  await answer(/on behalf of your customers/, 'Yes');
  await answer(/European Economic Area/, 'Yes');
  await click(page.getByRole('group', { name: /Which of these apply/ }).getByLabel('None of these'));
  await answer(/US health data/, 'No US health data');
  await click(page.getByRole('group', { name: /SOC 2 report/ }).getByLabel('Availability'));
  await expectAccessible(page, 'scope');
  // Answers survive a reload.
  await page.reload();
  await expect(page.getByRole('spinbutton', { name: /How many people/ })).toHaveValue('40');
  await click(page.getByRole('button', { name: 'Next' }));

  await heading('Who does what?');
  await expect(page.getByRole('combobox', { name: 'Security lead' })).toHaveValue('Ada Byron');
  await expectAccessible(page, 'people and roles');
  await click(page.getByRole('button', { name: 'Next' }));

  await heading('Your plan to the audit');
  await fill(page.getByLabel(/Audit date/), inDays(200));
  await expect(page.getByText(/weeks of work/)).toBeVisible();
  await expect(page.getByRole('img', { name: /policies and tasks in/ })).toBeVisible();
  await page.getByText(/requirements left out, with justification/).click();
  await expect(page.getByText(/no premises of its own/).first()).toBeVisible();
  await expectAccessible(page, 'preview');
  await click(page.getByRole('button', { name: 'Start the plan' }));

  await expect(page).toHaveURL(/\/plan$/);
  await heading('Plan');
  await expect(page.getByText(/Plan started, \d+ records created/)).toBeVisible();
  expect(interactions).toBeLessThan(MAX_INTERACTIONS);
  await expectWhole(page, fresh, ['iso_27001', 'soc_2']);
  await expectAccessible(page, 'plan');

  // A due date is changed where it stands.
  const due = page.getByRole('button', { name: /^T-\d+ is due/ }).first();
  const reference = /T-\d+/.exec((await due.getAttribute('aria-label')) ?? '')?.[0] ?? '';
  await due.click();
  await page.getByLabel(`${reference}: due date`).fill(inDays(30));
  await page.keyboard.press('Enter');
  await expect(page.getByText(new RegExp(`${reference} is now due`))).toBeVisible();
  expect(errors.filter((error) => !/404/.test(error))).toEqual([]);
});

test('the start of a plan is undone', async ({ page, fresh }, info) => {
  test.skip(info.project.name === 'phone', 'the same at every width');
  await started(page, fresh);
  await page.goto(`${fresh.url}/plan`);
  await page.getByRole('button', { name: 'Undo start' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Undo start' }).click();
  await expect(page.getByRole('heading', { name: 'No plan yet' })).toBeVisible();
  expect(await ask<Task[]>(page, fresh, '/v1/tasks')).toEqual([]);
});

/** An organization with a plan, made by the API. */
async function started(page: Page, server: Server) {
  const token = new URL(server.setupUrl ?? '').searchParams.get('token');
  const data = { token, organization: 'Acme', name: 'Ada Byron', email: EMAIL, password: PASSWORD };
  const answer = await page.request.post(`${server.url}/v1/setup`, { data });
  const { memberId } = (await answer.json()) as { memberId: string };
  await signIn(page, server, EMAIL);
  const owners = { security_lead: memberId, it_lead: memberId };
  await ask(page, server, '/v1/programme', { frameworkIds: ['iso_27001'], owners, auditDate: inDays(200) });
}

test('items are moved to another week by the pointer and by the keyboard', async ({ page, fresh, errors }, info) => {
  test.skip(info.project.name === 'phone', 'a phone has no handles: the date is changed in the record');
  await started(page, fresh);
  await page.goto(`${fresh.url}/plan`);
  const row = page.locator('tr[data-row]').filter({ hasText: /T-\d+/ }).first();
  const id = (await row.getAttribute('data-row')) ?? '';
  const due = async () => (await ask<{ dueDate: string }>(page, fresh, `/v1/tasks/${id}`)).dueDate;
  const before = await due();

  await row.locator('[data-drag]').hover();
  await page.mouse.down();
  await page.mouse.move(300, 300, { steps: 3 });
  const week = page.locator('li[data-group]').last();
  const startsOn = (await week.getAttribute('data-group')) ?? '';
  await week.hover();
  await expect(week).toHaveAttribute('data-over');
  await page.keyboard.press('Escape');
  await expect(week).toHaveCount(0);
  await page.mouse.up();
  expect(await due()).toBe(before);

  await row.locator('[data-drag]').hover();
  await page.mouse.down();
  await page.mouse.move(300, 300, { steps: 3 });
  await week.hover();
  await page.mouse.up();
  await expect(page.getByText(/T-\d+ moved to week \d+, due/)).toBeVisible();
  await expect.poll(async () => (await due()) >= startsOn).toBe(true);
  await page.keyboard.press('Control+z');
  await expect.poll(due).toBe(before);

  const link = page.locator(`[data-open="${id}"]`);
  await link.focus();
  await page.keyboard.press('Alt+ArrowDown');
  await expect(page.getByText(/T-\d+ moved to week \d+, due/)).toBeVisible();
  await expect.poll(async () => (await due()) > before).toBe(true);
  await expect(link).toBeFocused();
  await expectAccessible(page, 'a plan with a moved item');
  expect(errors).toEqual([]);
});

test('the plan is exported and printed week by week', async ({ page, fresh, errors }, info) => {
  test.skip(info.project.name === 'phone', 'the same file, and paper has one width');
  await started(page, fresh);
  await page.goto(`${fresh.url}/plan`);
  for (const [format, end] of [
    ['CSV', 'csv'],
    ['Excel (XLSX)', 'xlsx'],
  ]) {
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: format, exact: true }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${end}$`));
  }
  await expect(page.getByText('Printed on')).toBeHidden();
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await expect(page.getByRole('heading', { level: 1, name: 'Plan' })).toBeVisible();
  await expect(page.getByText(/^Acme · Printed on/)).toBeVisible();
  await expect(page.locator('th[scope=rowgroup]').first()).toHaveText(/^Week \d+/);
  for (const screen of [page.getByRole('button', { name: 'Export' }), page.locator('[data-drag]').first()])
    await expect(screen).toBeHidden();
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  expect(errors).toEqual([]);
});

test('the plan can be read on a phone', async ({ page, fresh, errors }, info) => {
  test.skip(info.project.name !== 'phone', 'at the width of a phone');
  await started(page, fresh);
  await page.goto(`${fresh.url}/plan`);
  await expect(page.getByRole('img', { name: /^0 of \d+ done/ })).toBeVisible();
  const rows = page.getByRole('list', { name: 'Policies and tasks of the plan' });
  await expect(rows.getByRole('link').first()).toBeVisible();
  const box = await rows.getByRole('link').first().boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  const sideways = await page.locator('#main').evaluate((main) => main.scrollWidth > main.clientWidth);
  expect(sideways).toBe(false);
  await expectAccessible(page, 'plan at 390');
  await page.goto(`${fresh.url}/plan/set-up?step=plan`);
  await expect(page.getByRole('button', { name: 'Update the plan' })).toBeInViewport();
  await expectAccessible(page, 'preview at 390');
  expect(errors).toEqual([]);
});
