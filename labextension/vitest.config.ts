import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    environment: 'jsdom',
    // No test is about speed, and a machine may be busy.
    testTimeout: 60_000,
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    unstubGlobals: true
  }
});
