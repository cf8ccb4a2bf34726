import { defineConfig } from '@playwright/test';

/** Debian's browser; its own download is not needed. Each worker starts a server of its own, so nothing is shared. */
export default defineConfig({
  testDir: 'tests',
  outputDir: 'results',
  globalSetup: './tests/demo.ts',
  // These only end what hangs: a machine that others use, too, can be ten times as slow for minutes.
  timeout: 600_000,
  expect: { timeout: 60_000 },
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  reporter: 'list',
  use: {
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
    locale: 'en-GB',
    timezoneId: 'UTC',
    contextOptions: { reducedMotion: 'reduce' },
    actionTimeout: 120_000,
    // Recording every step slows all tests down: set `TRACE=1` to look into one that fails.
    trace: process.env.TRACE ? 'retain-on-failure' : 'off',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'desktop', use: { viewport: { width: 1440, height: 900 } } },
    { name: 'phone', use: { viewport: { width: 390, height: 844 }, hasTouch: true } },
  ],
});
