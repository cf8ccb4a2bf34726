import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.{ts,tsx}'],
    exclude: ['node_modules', 'tests'],
    // Components are drawn; what needs no page is tested without one.
    setupFiles: ['parts/testing/setup.ts'],
  },
});
