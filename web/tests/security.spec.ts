import type { Page } from '@playwright/test';
import { PASSWORD } from './demo';
import { expect, expectAccessible, type Server, signIn, test } from './server';
import {
  AUDITOR,
  ask,
  CODE,
  enrol,
  OWNER,
  setUp,
  setUpApp,
  signOut,
  unexpected,
  virtualAuthenticator,
  WRONG_CODE,
} from './steps';

async function typePassword(page: Page, email = OWNER) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

test('an authenticator app is set up, asked for at the sign-in, replaced by a recovery code, and removed', async ({
  page,
  fresh,
  errors,
}) => {
  test.slow();
  await setUp(page, fresh);
  const { app, recoveryCodes } = await setUpApp(page, fresh);
  await expect(page.getByRole('row', { name: /This session/ })).toContainText('authenticator app');
  await expect(page.getByText(/open http:\/\/localhost:\d+ instead/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Add passkey' })).toHaveCount(0);
  await expectAccessible(page, 'an account with an authenticator app');

  await signOut(page, fresh);
  // Without a name of its own the site has no passkeys: neither in the autofill nor by the button.
  await expect(page.getByLabel('E-mail')).toHaveAttribute('autocomplete', 'username');
  await expect(page.getByRole('button', { name: 'Sign in with a passkey' })).toHaveCount(0);
  await typePassword(page);
  await expect(page.getByRole('heading', { name: 'Confirm your sign-in' })).toBeVisible();
  await expect(page.getByLabel(CODE)).toBeFocused();
  await expectAccessible(page, 'the code at the sign-in');
  await page.getByLabel(CODE).fill('000000');
  await page.keyboard.press('Enter');
  await expect(page.getByText('The code is wrong, was used already, or is too old.')).toBeVisible();
  await page.getByLabel(CODE).fill(await app());
  await page.keyboard.press('Enter');
  await page.waitForURL(`${fresh.url}/`);

  await signOut(page, fresh);
  await typePassword(page);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await expectAccessible(page, 'a recovery code at the sign-in');
  // Case, spaces and hyphens do not matter.
  await page.getByLabel('Recovery code').fill((recoveryCodes[0] ?? '').toUpperCase().replace('-', ' '));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${fresh.url}/`);

  await page.goto(`${fresh.url}/settings/account`);
  await expect(page.getByText('9 codes left')).toBeVisible();
  await page.getByRole('button', { name: 'Create new codes' }).click();
  const renewal = page.getByRole('dialog', { name: 'Create new recovery codes?' });
  await renewal.getByRole('button', { name: 'Create new codes' }).click();
  await page.getByRole('button', { name: 'I have stored them' }).click();
  await expect(page.getByText('10 codes left')).toBeVisible();
  await page.getByRole('button', { name: 'Remove app' }).click();
  const removal = page.getByRole('dialog', { name: 'Remove the authenticator app?' });
  await expect(removal).toBeVisible();
  await expectAccessible(page, 'the question before the app is removed');
  await removal.getByRole('button', { name: 'Remove app' }).click();
  await expect(page.getByText('Authenticator app removed')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Set up app' })).toBeVisible();
  expect(unexpected(errors, WRONG_CODE, '401 /v1/auth/login', '401 /v1/auth/login/second-factor')).toEqual([]);
});

test('a passkey is added, signs in by the button and by autofill, approves a policy, and is removed', async ({
  page,
  local,
  errors,
}) => {
  test.slow();
  const approverId = await setUp(page, local);
  const { setPresent } = await virtualAuthenticator(page);
  await page.goto(`${local.url}/settings/account`);
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add passkey' });
  await expect(dialog).toBeVisible();
  await expectAccessible(page, 'a new passkey');
  await dialog.getByLabel('Name').fill('Laptop');
  await dialog.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('row', { name: /Laptop/ })).toBeVisible();
  await page.getByRole('button', { name: 'Rename Laptop' }).click();
  const renaming = page.getByRole('dialog', { name: 'Rename passkey' });
  await renaming.getByLabel('Name').fill('Work laptop');
  await renaming.getByRole('button', { name: 'Rename' }).click();
  await expect(page.getByRole('row', { name: /Work laptop/ })).toBeVisible();
  await expectAccessible(page, 'an account with a passkey');

  // The device does not answer the autofill, so that the button is used.
  await setPresent(false);
  await signOut(page, local);
  const button = page.getByRole('button', { name: 'Sign in with a passkey' });
  await expect(button).toBeVisible();
  await expect(page.getByLabel('E-mail')).toHaveAttribute('autocomplete', 'username webauthn');
  await expectAccessible(page, 'the sign-in with passkeys');
  await setPresent(true);
  await button.click();
  await page.waitForURL(`${local.url}/`);

  await signOut(page, local);
  // The device answers the autofill at once.
  await page.waitForURL(`${local.url}/`);

  const content = [{ type: 'paragraph', content: [{ type: 'text', text: 'Desks are empty at night.' }] }];
  const { id } = await ask(page, local, '/v1/policies', { name: 'Clean Desk Policy', content });
  await ask(page, local, `/v1/policies/${id}/submit-for-approval`, { approverId });
  await page.goto(`${local.url}/policies/${id}`);
  await page.getByRole('button', { name: 'Approve' }).click();
  const approval = page.getByRole('dialog');
  await expect(approval.getByText('You confirm with your passkey.')).toBeVisible();
  await expect(approval.getByRole('textbox', { name: 'Your password' })).toHaveCount(0);
  await expectAccessible(page, 'an approval by passkey');
  await approval.getByRole('button', { name: 'Use your password instead' }).click();
  await expect(approval.getByRole('textbox', { name: 'Your password' })).toBeFocused();
  await approval.getByRole('button', { name: 'Use a passkey instead' }).click();
  await approval.getByRole('button', { name: 'Approve and publish v1' }).click();
  await expect(page.getByText('Published', { exact: true }).first()).toBeVisible();

  await page.goto(`${local.url}/settings/account`);
  await expect(page.getByRole('row', { name: /This session/ })).toContainText('Passkey');
  await page.getByRole('button', { name: 'Remove Work laptop' }).click();
  const removal = page.getByRole('dialog', { name: 'Remove the passkey “Work laptop”?' });
  await removal.getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('row', { name: /Work laptop/ })).toHaveCount(0);
  expect(errors).toEqual([]);
});

const GUEST = 'grace@acme.example';

/** A colleague who has joined and is signed in, on a page of their own. */
async function joined(page: Page, server: Server): Promise<Page> {
  const invited = await ask<{ id: string; invitationLink: string }>(page, server, '/v1/people/invite', {
    email: GUEST,
    name: 'Grace Hopper',
    role: 'admin',
  });
  const token = new URL(invited.invitationLink).searchParams.get('token');
  const context = await page.context().browser()?.newContext({ viewport: page.viewportSize(), reducedMotion: 'reduce' });
  if (!context) throw new Error('no browser');
  const guest = await context.newPage();
  await guest.request.post(`${server.url}/v1/auth/accept-invitation`, { data: { token, password: PASSWORD } });
  await signIn(guest, server, GUEST);
  return guest;
}

test('a policy demands a second factor at once: it is enrolled over the page, and nothing typed is lost', async ({
  page,
  fresh,
  errors,
}) => {
  test.slow();
  await setUp(page, fresh);
  const guest = await joined(page, fresh);
  // The stream of events would tell of the policy before the request does.
  await guest.route('**/v1/events', (route) => route.abort());
  await guest.goto(`${fresh.url}/tasks`);
  await guest.getByRole('button', { name: 'New task' }).first().click();
  const task = guest.getByRole('dialog', { name: 'New task' });
  await task.getByLabel('Title').fill('Test that backups can be restored');

  await page.goto(`${fresh.url}/settings/security`);
  await expect(page.getByText('2 active members have no second factor.')).toBeVisible();
  await expectAccessible(page, 'the sign-in policy');
  await page.getByRole('checkbox', { name: 'Require a second factor' }).check();
  const days = page.getByLabel('Days to add one');
  await days.fill('91');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Enter a whole number from 0 to 90.')).toBeVisible();
  await days.fill('0');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Require a second factor?' });
  await expect(question.getByText(/^2 active members have none yet/)).toBeVisible();
  await expectAccessible(page, 'the question before a second factor is required');
  await question.getByRole('button', { name: 'Require second factor' }).click();
  await expect(question.getByText(/would lock you out: your account has no second factor/)).toBeVisible();

  // What was typed in the policy stays.
  const { app } = await setUpApp(page, fresh);
  await page.goto(`${fresh.url}/settings/security`);
  await expect(days).toHaveValue('0');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await question.getByRole('button', { name: 'Require second factor' }).click();
  await expect(page.getByText('Sign-in policy saved')).toBeVisible();
  await expect(page.getByText(/^Holds since/)).toBeVisible();

  await task.getByRole('button', { name: 'Create task' }).click();
  await expect(guest.getByRole('heading', { name: 'Add a second factor' })).toBeVisible();
  await expectAccessible(guest, 'a demanded enrolment');
  const cover = guest.getByRole('dialog', { name: 'Add a second factor' });
  await guest.keyboard.press('Escape');
  await expect(cover).toBeVisible();
  await cover.getByRole('button', { name: 'Set up app' }).click();
  const { app: guestApp } = await enrol(guest, cover);
  await expect(guest).toHaveURL(/\/tasks\/tsk_/);
  await expect(guest.getByText('Test that backups can be restored').first()).toBeVisible();

  await page.goto(`${fresh.url}/people?q=Grace`);
  await page.getByText('Grace Hopper').first().click();
  const drawer = page.getByRole('complementary', { name: 'Grace Hopper' });
  await expectAccessible(page, 'a person with a second factor');
  await drawer.getByRole('button', { name: 'Sign out here' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out here' }).click();
  await expect(page.getByText('Grace Hopper is signed out here')).toBeVisible();
  await guest.goto(`${fresh.url}/tasks`);
  await expect(guest.getByRole('heading', { name: 'Sign in again' })).toBeVisible();
  await expectAccessible(guest, 'a demanded sign-in');
  await guest.getByLabel(`Password (${GUEST})`).fill(PASSWORD);
  await guest.getByRole('button', { name: 'Sign in and go on' }).click();
  await guest.getByLabel(CODE).fill(await guestApp());
  await guest.getByRole('button', { name: 'Sign in and go on' }).click();
  await expect(guest.getByRole('heading', { name: 'Sign in again' })).toHaveCount(0);
  await expect(guest.getByText('Test that backups can be restored').first()).toBeVisible();

  await drawer.getByRole('button', { name: 'Reset second factor' }).click();
  const reset = page.getByRole('dialog', { name: 'Reset the second factor of Grace Hopper?' });
  await expect(reset).toBeVisible();
  await expectAccessible(page, 'the question before a second factor is reset');
  const password = reset.getByRole('textbox', { name: 'Your password' });
  // The owner's confirmation may have run out meanwhile.
  if (await password.isVisible()) {
    await password.fill(PASSWORD);
    await reset.getByLabel(CODE).fill(await app());
  }
  await reset.getByRole('button', { name: 'Reset second factor' }).click();
  await expect(page.getByText('The second factor of Grace Hopper is reset')).toBeVisible();
  await guest.goto(`${fresh.url}/tasks`);
  await expect(guest).toHaveURL(/\/sign-in/);
  await page.goto(`${fresh.url}/settings/security`);
  await page.getByRole('link', { name: 'Show them' }).click();
  await expect(page.getByRole('main').getByText('Grace Hopper').first()).toBeVisible();
  await expect(page.getByText('No second factor').first()).toBeVisible();
  await expect(page.getByRole('main').getByText('Ada Byron', { exact: true })).toHaveCount(0);
  await expectAccessible(page, 'people without a second factor');
  expect(unexpected(errors, WRONG_CODE, '409 /v1/organization/sign-in-policy')).toEqual([]);
  await guest.context().close();
});

test('an owner signs everybody out, and everybody signs in again', async ({ page, fresh, errors }) => {
  await setUp(page, fresh);
  const guest = await joined(page, fresh);
  await page.goto(`${fresh.url}/settings/security`);
  await page.getByRole('button', { name: 'Sign everybody out' }).click();
  const question = page.getByRole('dialog', { name: 'Sign everybody out?' });
  await expect(question.getByText(/yourself included/)).toBeVisible();
  await expectAccessible(page, 'the question before everybody is signed out');
  await question.getByRole('button', { name: 'Sign everybody out' }).click();
  const again = page.getByRole('heading', { name: 'Sign in again' });
  await expect(again).toBeVisible();
  await page.getByLabel(`Password (${OWNER})`).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in and go on' }).click();
  await expect(again).toHaveCount(0);
  await expect(question).toHaveCount(0);
  await guest.goto(`${fresh.url}/tasks`);
  await expect(guest.getByRole('heading', { name: 'Sign in again' })).toBeVisible();
  await guest.context().close();
  await page.goto(`${fresh.url}/audit?entityType=organization`);
  await expect(page.getByText('Signed everybody out').first()).toBeVisible();
  // Whatever the page asked for until then was refused.
  expect(errors.filter((error) => !error.includes('status of 403'))).toEqual([]);
});

test('an auditor reads the sign-in policy and changes nothing', async ({ page, demo, errors }) => {
  await signIn(page, demo, AUDITOR);
  await page.goto(`${demo.url}/settings/security`);
  await expect(page.getByRole('heading', { level: 2, name: 'Sign-in & security' })).toBeVisible();
  await expect(page.getByText('Optional', { exact: true })).toBeVisible();
  await expect(page.getByRole('checkbox')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toHaveCount(0);
  await expectAccessible(page, 'the sign-in policy for an auditor');
  expect(errors).toEqual([]);
});
