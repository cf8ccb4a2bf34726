import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, type Server, test } from './server';
import { type App, ask, confirmIfAsked, exemptOwner, pick, setUp, setUpApp, unexpected, verifyDomain, WRONG_CODE } from './steps';

const EVE = 'eve@acme.example';
const SCHEMAS = 'urn:ietf:params:scim';

/** Sends a request of an identity provider with its token. */
async function push(server: Server, token: string, method: string, path: string, body: object): Promise<string> {
  const answer = await fetch(`${server.url}/scim/v2${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/scim+json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

/** Creates a token as an owner does, and returns it. */
async function createToken(page: Page, app: App): Promise<string> {
  await page.getByRole('button', { name: 'Create token' }).click();
  const form = page.getByRole('dialog', { name: 'Create token' });
  await form.getByLabel('Name', { exact: true }).fill('Entra ID');
  await expectAccessible(page, 'a new token of the directory');
  await form.getByRole('button', { name: 'Create token' }).click();
  const created = page.getByRole('dialog', { name: 'Copy the token now' });
  await confirmIfAsked(page, app, () => created.isVisible());
  await expect(created).toBeVisible();
  await page.keyboard.press('Escape');
  await expectAccessible(page, 'a token that is shown once');
  const token = (await created.locator('code').last().textContent()) ?? '';
  await created.getByRole('button', { name: 'I have stored it' }).click();
  await expect(created).toHaveCount(0);
  await expect(page.getByText(token)).toHaveCount(0);
  return token;
}

/** Looks at the requests of the identity provider, the last of which failed. */
async function expectRequests(page: Page, server: Server) {
  const path = '/v1/organization/directory/requests';
  // They are written in the background.
  const statuses = async () => (await ask<{ data: { status: number }[] }>(page, server, path)).data.map(({ status }) => status);
  await expect.poll(statuses).toContain(400);
  await page.getByText('Recent requests').click();
  const requests = page.getByRole('list', { name: 'Recent requests' }).getByRole('button');
  await expect(requests).toHaveCount(3);
  await page.getByRole('checkbox', { name: 'Only failures' }).check();
  await expect(requests).toHaveCount(1);
  await expect(requests).toContainText('400');
  await expect(requests).toContainText('The domain other.example is not verified');
  await requests.click();
  await expect(page.getByLabel('Body', { exact: true })).toContainText('"userName": "eve@other.example"');
  const isSideways = await page.locator('#main').evaluate((main) => main.scrollWidth > main.clientWidth);
  expect(isSideways).toBe(false);
  await expectAccessible(page, 'the requests of a directory');
}

/** Opens the drawer of a person. */
async function openPerson(page: Page, server: Server, name: string, isActive: boolean): Promise<Locator> {
  await page.goto(`${server.url}/people?q=${encodeURIComponent(name)}${isActive ? '' : '&isActive=false'}`);
  await page.getByText(name).first().click();
  const drawer = page.getByRole('complementary', { name });
  await expect(drawer).toBeVisible();
  return drawer;
}

test('a directory adds people and gives them roles, and what a leaver had is handed over', async ({ page, fresh, errors }) => {
  test.slow();
  const ownerId = await setUp(page, fresh);
  const { app } = await setUpApp(page, fresh);
  await page.goto(`${fresh.url}/settings/security`);
  await expect(page.getByRole('link', { name: 'Verify a domain' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Create token' })).toBeDisabled();
  await expectAccessible(page, 'a directory that is not connected');
  await page.getByRole('link', { name: 'Exempt an owner' }).click();
  await expect(page.getByRole('heading', { name: 'Exempt owners' })).toBeInViewport();
  await verifyDomain(page, fresh, app);
  await expect(page.getByText('The operator of this server answers for it. No TXT record is needed.')).toBeVisible();
  await exemptOwner(page, app);
  const token = await createToken(page, app);
  expect(token).toMatch(/^ats_/);
  await expect(page.getByRole('row', { name: /Entra ID/ })).toContainText(token.slice(0, 12));
  await expect(page.getByText('No request yet')).toBeVisible();

  const userId = await push(fresh, token, 'POST', '/Users', {
    schemas: [`${SCHEMAS}:schemas:core:2.0:User`],
    userName: EVE,
    name: { givenName: 'Eve', familyName: 'Doe' },
    active: true,
    emails: [{ value: EVE, type: 'work', primary: true }],
  });
  const groupId = await push(fresh, token, 'POST', '/Groups', {
    schemas: [`${SCHEMAS}:schemas:core:2.0:Group`],
    displayName: 'Compliance',
    members: [{ value: userId }],
  });
  await page.reload();
  await expect(page.getByText('Manages 1 person and 1 group.')).toBeVisible();
  const role = page.getByRole('combobox', { name: 'Role of Compliance' });
  await expect(role).toHaveValue('No role');
  await pick(page, 'Role of Compliance', 'Auditor');
  await confirmIfAsked(page, app, async () => (await role.inputValue()) === 'Auditor');
  await expect(role).toHaveValue('Auditor');
  await expectAccessible(page, 'a directory with a group');

  const outside = { schemas: [`${SCHEMAS}:schemas:core:2.0:User`], userName: 'eve@other.example', active: true };
  await expect(push(fresh, token, 'POST', '/Users', outside)).rejects.toThrow('400');
  await expectRequests(page, fresh);

  const added = await openPerson(page, fresh, 'Eve Doe', true);
  await expect(added.getByText('Auditor').first()).toBeVisible();
  await expectAccessible(page, 'a person whom the directory added');

  const risk = { title: 'Phishing', description: 'x', category: 'other', assigneeId: userId };
  const { id: riskId } = await ask(page, fresh, '/v1/risks', risk);
  await ask(page, fresh, '/v1/tasks', { title: 'Test that backups can be restored', assigneeId: userId });
  await push(fresh, token, 'PATCH', `/Users/${userId}`, {
    schemas: [`${SCHEMAS}:api:messages:2.0:PatchOp`],
    Operations: [{ op: 'replace', path: 'active', value: false }],
  });
  const left = await openPerson(page, fresh, 'Eve Doe', false);
  await expect(left.getByRole('heading', { name: 'What they left behind' })).toBeVisible();
  await expect(left.getByRole('link', { name: 'Phishing' })).toHaveAttribute('href', new RegExp(riskId));
  await expect(left.getByText('No owner', { exact: true })).toHaveCount(2);
  await expectAccessible(page, 'what a person left behind');
  await left.getByRole('button', { name: 'Reactivate' }).click();
  await expect(page.getByText(/^The directory keeps this person out/)).toBeVisible();
  await left.getByRole('button', { name: 'Hand over' }).click();
  const question = page.getByRole('dialog', { name: 'Hand over what Eve Doe left behind?' });
  await expect(question.getByRole('checkbox', { name: '1 risk' })).toBeChecked();
  await expectAccessible(page, 'the question before a hand-over');
  await pick(page, 'Hand over to', 'Ada Byron');
  await question.getByRole('button', { name: 'Hand over', exact: true }).click();
  await expect(page.getByText('2 records handed over to Ada Byron')).toBeVisible();
  await expect(left.getByText('No owner', { exact: true })).toHaveCount(0);
  const handed = await ask<{ assigneeId: string | null }>(page, fresh, `/v1/risks/${riskId}`);
  expect(handed.assigneeId).toBe(ownerId);

  await page.goto(`${fresh.url}/audit?entityType=directory_group`);
  await expect(page.getByText('Changed the role').first()).toBeVisible();
  await expect(page.getByText('Compliance').first()).toBeVisible();
  await expectAccessible(page, 'the audit log of a directory');
  // Confirmations that have run out meanwhile, and the person whom the directory keeps out.
  const refusals = ['domains', 'directory/tokens', `directory/groups/${groupId}`].map((path) => `403 /v1/organization/${path}`);
  expect(unexpected(errors, WRONG_CODE, `409 /v1/people/${userId}`, ...refusals)).toEqual([]);
});
