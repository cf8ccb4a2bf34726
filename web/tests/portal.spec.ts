import { expect, expectAccessible, test } from './server';

test('the public portal is readable without JavaScript', async ({ browser, demo }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${demo.url}/trust/northwind`);
  await expect(page.getByRole('heading', { name: 'Security at Northwind Robotics' })).toBeVisible();
  await expect(page.getByText('Access Control Policy').first()).toBeVisible();
  expect(await page.locator('meta[property="og:title"]').getAttribute('content')).toContain('Northwind Robotics');
  await context.close();
});

for (const scheme of ['light', 'dark'] as const) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme });
    test('the public portal loads nothing from elsewhere and is accessible', async ({ page, demo, errors }, info) => {
      const elsewhere: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(demo.url)) elsewhere.push(request.url());
      });
      await page.goto(`${demo.url}/trust/northwind`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await page.screenshot({ path: `pictures/portal-${info.project.name}-${scheme}.png` });
      await expectAccessible(page, `portal ${scheme}`);
      expect(elsewhere).toEqual([]);
      expect(errors).toEqual([]);
    });
  });
}
