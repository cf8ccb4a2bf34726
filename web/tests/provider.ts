import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Page } from '@playwright/test';
import { test as base } from './server';

/** The packages of the tests in Node live outside the checkout. */
const PACKAGES = process.env.TEST_NODE ?? join(homedir(), '.cache/attestry/node');

export type Provider = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Signs in on the provider's page as a user, whose address is in acme.example, and consents if that is asked for. */
  signIn: (page: Page, user: string) => Promise<void>;
};

/** Starts the certified OpenID provider of the API's tests: it lets anybody in under the name they type. */
async function started(use: (provider: Provider) => Promise<void>) {
  const child = spawn(process.execPath, ['../tests/node/oidc-provider.mjs'], {
    env: { ...process.env, TEST_NODE: PACKAGES, NODE_NO_WARNINGS: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const port = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => /^\d+$/.test(line) && resolve(line));
      child.once('exit', (code) => reject(new Error(`the identity provider ended with ${code}`)));
    });
    const issuer = `http://127.0.0.1:${port}`;
    const isAway = (url: URL) => url.origin !== issuer;
    const signIn = async (page: Page, user: string) => {
      await page.locator('input[name=login]').fill(user);
      await page.locator('input[name=password]').fill('any');
      await page.getByRole('button', { name: 'Sign-in' }).click();
      // Consent is asked for once in a browser, and a window may close itself.
      const consent = page.getByRole('button', { name: 'Continue', exact: true });
      const ways = [consent.waitFor(), page.waitForURL(isAway), page.waitForEvent('close')];
      await Promise.race(ways.map((way) => way.catch(() => undefined)));
      if (!page.isClosed() && !isAway(new URL(page.url()))) await consent.click();
    };
    await use({ issuer, clientId: 'attestry', clientSecret: "the client's secret", signIn });
  } finally {
    // It stops when its standard input ends.
    child.stdin.end();
    await ended;
  }
}

export const test = base.extend<{ provider: Provider }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright asks for the pattern
  provider: async ({}, use) => {
    await started(use);
  },
});
