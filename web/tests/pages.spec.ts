import { expect, expectAccessible, signIn, test } from './server';
import { LEAD } from './steps';

/** Every page of the console, in light and dark, at both widths: it shows, without errors, for everybody. */
const pages = [
  '/',
  '/inbox',
  '/risks',
  '/vendors',
  '/tasks',
  '/tasks?view=board',
  '/people',
  '/people/access-review',
  '/plan',
  '/plan/set-up',
  '/policies',
  '/frameworks',
  '/controls',
  '/applicability',
  '/trust-portal',
  '/audit',
  '/settings',
  '/settings/account',
  '/settings/chat',
  '/settings/criteria',
  '/settings/keys',
  '/settings/security',
  '/settings/service-accounts',
  '/nowhere',
];

declare global {
  interface Window {
    shifted: number;
  }
}

/** Adds up how far things moved without the reader doing anything, as browsers measure it: more than 0.1 is felt. */
function watchShifts() {
  window.shifted = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += (entry as unknown as { value: number }).value;
  });
  observer.observe({ type: 'layout-shift', buffered: true });
}

for (const path of pages)
  test(`${path} is whole and accessible`, async ({ page, demo, errors }, info) => {
    await signIn(page, demo, LEAD);
    await page.addInitScript(watchShifts);
    await page.goto(`${demo.url}${path}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.locator('[aria-busy=true]')).toHaveCount(0);
    for (const scheme of info.project.name === 'phone' ? (['light'] as const) : (['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme: scheme });
      await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', scheme);
      const name = `${path.replace(/\W+/g, '-').replace(/^-|-$/g, '') || 'home'}-${info.project.name}-${scheme}`;
      await page.screenshot({ path: `pictures/${name}.png` });
      await expectAccessible(page, name);
    }
    expect(await page.evaluate(() => window.shifted), 'what is shown stays where it is while the rest is loaded').toBeLessThan(
      0.1,
    );
    const sideways = await page.evaluate(() =>
      [document.documentElement, document.getElementById('main')].some((box) => box && box.scrollWidth > box.clientWidth),
    );
    expect(sideways, 'the page does not scroll sideways').toBe(false);
    const isTaller = await page.evaluate(() => document.documentElement.scrollHeight > innerHeight);
    expect(isTaller, 'the content scrolls, and not the page around it').toBe(false);
    expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
  });
