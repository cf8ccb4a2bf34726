import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['node_modules', 'tests'],
    // Components are drawn; what needs no page is tested without one.
    setupFiles: ['parts/testing/setup.ts'],
    // It only ends a test that hangs: a busy machine can be ten times as slow for minutes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
