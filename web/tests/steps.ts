import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, expect, type Locator, type Page } from '@playwright/test';
import { BINARY, PASSWORD } from './demo';
import { expectAccessible, type Server, signIn } from './server';

export const LEAD = 'ingrid.solberg@northwind.example';
export const ADMIN = 'rafael.costa@northwind.example';
export const EMPLOYEE = 'tomasz.zielinski@northwind.example';
export const AUDITOR = 'helena.novakova@northwind.example';

/** The owner of an organization of the test's own. */
export const OWNER = 'ada@acme.example';

/** An organization of the test's own, signed in by its owner. */
export async function setUp(page: Page, server: Server): Promise<string> {
  const token = new URL(server.setupUrl ?? '').searchParams.get('token');
  const data = { token, organization: 'Acme', name: 'Ada Byron', email: OWNER, password: PASSWORD };
  const made = await page.request.post(`${server.url}/v1/setup`, { data });
  await signIn(page, server, OWNER);
  return ((await made.json()) as { memberId: string }).memberId;
}

const STEP_MS = 30_000;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code of an authenticator app at a step of 30 seconds (RFC 6238). */
function codeAt(secret: string, step: number): string {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', key).update(counter).digest();
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** The codes of an authenticator app. */
export type App = () => Promise<string>;

/** An authenticator app. A code works once, so each call waits for the code of a later step. */
export function authenticator(secret: string): App {
  let last = 0;
  const now = () => Math.floor(Date.now() / STEP_MS);
  return async () => {
    last = Math.max(last + 1, now());
    // The server accepts the code of the next step as well.
    while (last > now() + 1) await new Promise((resolve) => setTimeout(resolve, 500));
    return codeAt(secret.replace(/\s/g, ''), last);
  };
}

export const CODE = 'Code from your authenticator app';

/** Sets up an authenticator app in what shows its QR code; returns the app and the recovery codes. */
export async function enrol(page: Page, where: Locator) {
  await expect(where.getByRole('img', { name: 'QR code for the authenticator app' })).toBeVisible();
  await expectAccessible(page, 'the QR code');
  const app = authenticator((await where.locator('code').textContent()) ?? '');
  await where.getByLabel(CODE).fill('000000');
  await where.getByRole('button', { name: 'Activate' }).click();
  await expect(where.getByLabel(CODE)).toHaveAttribute('aria-invalid', 'true');
  await where.getByLabel(CODE).fill(await app());
  await where.getByRole('button', { name: 'Activate' }).click();
  const codes = where.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
  await expect(codes).toHaveCount(10);
  await expectAccessible(page, 'recovery codes');
  const recoveryCodes = await codes.allTextContents();
  await where.getByRole('button', { name: 'I have stored them' }).click();
  return { app, recoveryCodes };
}

/** Sets up an authenticator app for whoever is signed in. */
export async function setUpApp(page: Page, server: Server) {
  await page.goto(`${server.url}/settings/account`);
  await page.getByRole('button', { name: 'Set up app' }).click();
  const panel = page.getByRole('dialog', { name: 'Set up authenticator app' });
  const made = await enrol(page, panel);
  await expect(panel).toHaveCount(0);
  await expect(page.getByText('10 codes left')).toBeVisible();
  return made;
}

/** Signs out where the sessions are listed. */
export async function signOut(page: Page, server: Server) {
  await page.goto(`${server.url}/settings/account`);
  await page
    .getByRole('row', { name: /This session/ })
    .getByRole('button', { name: 'Sign out' })
    .click();
  await expect(page).toHaveURL(/\/sign-in/);
}

/** The complaints of the page, without the refusals that a test brings about, such as `401 /v1/auth/login`. */
export const unexpected = (errors: string[], ...refusals: string[]) =>
  errors.filter((error) => {
    const [, status, url] = /status of (\d{3}) .*\((\S+)\)$/.exec(error) ?? [];
    return !status || !url || !refusals.includes(`${status} ${new URL(url).pathname}`);
  });

/** The refusal of the code that `enrol` tries first. */
export const WRONG_CODE = '400 /v1/auth/totp/activate';

/** A device with passkeys, whose user agrees at once while `setPresent` is on. */
export async function virtualAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const setPresent = (enabled: boolean) => session.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
  return { setPresent };
}

/** Chooses an option of a select. */
export async function pick(page: Page, label: string | RegExp, option: string | RegExp) {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

/** The organization of whoever is signed in. */
export async function organization(page: Page, server: Server): Promise<string> {
  const session = await page.request.get(`${server.url}/v1/auth/session`);
  return ((await session.json()) as { organizations: { id: string }[] }).organizations[0]?.id ?? '';
}

/** Asks the API as whoever is signed in, to make what a test begins with. */
export async function ask<T = { id: string }>(page: Page, server: Server, path: string, data?: unknown, method = 'POST') {
  const answer = await page.request.fetch(`${server.url}${path}`, {
    method: data === undefined && method === 'POST' ? 'GET' : method,
    data,
    headers: { 'X-Organization-Id': await organization(page, server) },
  });
  if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
  return (answer.status() === 204 ? undefined : await answer.json()) as T;
}

/** The link to such a page in a mail to somebody. Mails are files in the folder of the server. */
export async function mailed(server: Server, to: string, path: string): Promise<string> {
  const folder = join(server.folder, 'mail');
  const found = () => {
    const all = existsSync(folder) ? readdirSync(folder).sort().reverse() : [];
    const texts = all.map((name) => readFileSync(join(folder, name), 'utf8')).filter((text) => text.includes(to));
    return texts.map((text) => text.match(new RegExp(`https?://[^\\s"<>]+${path}[^\\s"<>]+`))?.[0]).find(Boolean) ?? '';
  };
  await expect.poll(found, { message: `a mail to ${to} with a link to ${path}` }).not.toBe('');
  return found();
}

/** Types the password and a code into a dialog that asks for them, as the last confirmation is too old. */
export async function typeIfAsked(dialog: Locator, app: App): Promise<boolean> {
  const password = dialog.getByRole('textbox', { name: 'Your password' });
  if (!(await password.isVisible())) return false;
  await password.fill(PASSWORD);
  await dialog.getByLabel(CODE).fill(await app());
  return true;
}

/** Waits until something is done, and confirms it where that is asked for. */
export async function confirmIfAsked(page: Page, app: App, isDone: () => Promise<boolean>) {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await expect.poll(async () => (await isDone()) || (await dialog.isVisible())).toBe(true);
  if (await typeIfAsked(dialog, app)) await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
}

/** Another browser, of the same size. */
export async function visitor(page: Page, browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: page.viewportSize(), reducedMotion: 'reduce' });
  return context.newPage();
}

/** Verifies the domain of the organization as the operator of the server, who answers for it. */
export function verifyAsOperator(server: Server) {
  const args = ['admin', 'verify-domain', '--organization', 'Acme', '--domain', 'acme.example', '--data-dir', server.folder];
  execFileSync(BINARY, args, { stdio: 'pipe', timeout: 300_000 });
}

/** Adds a domain of the organization, for which the operator of the server then answers. */
export async function verifyDomain(page: Page, server: Server, app: App) {
  await page.getByLabel('Domain', { exact: true }).fill('acme.example');
  await page.getByRole('button', { name: 'Add domain' }).click();
  const record = page.getByText('_attestry-identity.acme.example');
  await confirmIfAsked(page, app, () => record.isVisible());
  await expect(record).toBeVisible();
  await expect(page.getByText('Not verified yet')).toBeVisible();
  await expectAccessible(page, 'a domain to verify');
  verifyAsOperator(server);
  await page.reload();
  await expect(page.getByText('Verified', { exact: true })).toBeVisible();
}

/** Exempts the owner from single sign-on. */
export async function exemptOwner(page: Page, app: App) {
  await pick(page, 'Owner', 'Ada Byron');
  await page.getByRole('button', { name: 'Exempt from single sign-on' }).click();
  const exemption = page.getByRole('dialog', { name: 'Exempt Ada Byron from single sign-on?' });
  await expect(exemption).toBeVisible();
  await expectAccessible(page, 'the question before an owner is exempt');
  await typeIfAsked(exemption, app);
  await exemption.getByRole('button', { name: 'Exempt from single sign-on' }).click();
  await expect(page.getByRole('button', { name: 'End the exemption of Ada Byron' })).toBeVisible();
}
