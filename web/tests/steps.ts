import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { Server } from './server';

export const LEAD = 'ingrid.solberg@northwind.example';
export const ADMIN = 'rafael.costa@northwind.example';
export const EMPLOYEE = 'tomasz.zielinski@northwind.example';
export const AUDITOR = 'helena.novakova@northwind.example';

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
