import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { BINARY, PASSWORD } from './demo';

/** `folder` holds its data, and with them the mails it sends. */
export type Server = { url: string; folder: string; setupUrl?: string };
const READY = /Attestry is ready at (\S+)/;
const SETUP = /set it up at (\S+)/;

/** Starts the real binary on a port of the system's choice and stops it afterwards. */
async function started(folder: string, use: (server: Server) => Promise<void>, host = '127.0.0.1') {
  const child: ChildProcess = spawn(BINARY, ['serve', '--data-dir', folder], {
    env: {
      ...process.env,
      ATTESTRY_LISTEN: `${host}:0`,
      ATTESTRY_AI_PROVIDER: 'rules',
      ATTESTRY_RATE_LIMIT_PER_SECOND: '0',
      // The identity provider of a test is on this machine.
      ATTESTRY_IDENTITY_ALLOW_PRIVATE_NETWORKS: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const server = await new Promise<Server>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const url = READY.exec(said)?.[1];
      if (url) resolve({ url, folder, setupUrl: SETUP.exec(said)?.[1] });
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  try {
    await use(server);
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.removeAllListeners('exit');
    child.once('exit', () => undefined);
    child.kill('SIGTERM');
    await Promise.race([ended, new Promise((resolve) => child.once('close', resolve))]);
    rmSync(folder, { recursive: true, force: true });
  }
}

const temporary = () => mkdtempSync(join(tmpdir(), 'attestry-web-'));

type Errors = { errors: string[]; fresh: Server; local: Server };
type Servers = { demo: Server; empty: Server };

/**
 * `demo` is a server with the sample organization, `empty` one that nobody has set up, `fresh` such a one for this test alone,
 * `local` the same at localhost, as browsers have no passkeys for IP addresses.
 * `errors` is what the page complained of.
 */
export const test = base.extend<Errors, Servers>({
  demo: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for the pattern
    async ({}, use) => {
      const folder = temporary();
      cpSync(process.env.TEST_DEMO_DIR ?? '', folder, { recursive: true });
      await started(folder, use);
    },
    { scope: 'worker' },
  ],
  empty: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for the pattern
    async ({}, use) => {
      await started(temporary(), use);
    },
    { scope: 'worker' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for the pattern
  fresh: async ({}, use) => {
    await started(temporary(), use);
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for the pattern
  local: async ({}, use) => {
    await started(temporary(), use, 'localhost');
  },
  errors: async ({ page }, use) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(`${message.text()} (${message.location().url})`);
    });
    await use(errors);
  },
});

export { expect };

const tokens = new Map<string, string>();

/** Signs in without the form, once for each person and server. */
export async function signIn(page: Page, server: Server, email: string) {
  const name = `${server.url} ${email}`;
  if (!tokens.has(name)) {
    const answer = await page.request.post(`${server.url}/v1/auth/login`, { data: { email, password: PASSWORD } });
    tokens.set(name, ((await answer.json()) as { token: string }).token);
  }
  await page.context().addCookies([{ name: 'attestry_session', value: tokens.get(name) ?? '', url: server.url }]);
}

export async function signInByForm(page: Page, server: Server, email: string) {
  await page.goto(`${server.url}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${server.url}/`);
}

/** WCAG 2.2 AA, as far as a machine can tell. */
export async function expectAccessible(page: Page, name: string) {
  const found = await new AxeBuilder({ page })
    // Otherwise each check opens a page of its own, for frames of other origins. There are none.
    .setLegacyMode()
    // No script runs in a preview; the page that it shows is checked by itself.
    .exclude('iframe[sandbox]')
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const told = found.violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map(({ target }) => target.join(' ')).join('\n  ')}`,
  );
  expect(told, name).toEqual([]);
}
