import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // Making a page takes longer than most tests: one that needs none says `@vitest-environment node` in its first line.
    environment: 'jsdom',
    setupFiles: ['test/setup.ts'],
    // No test is about speed, and a machine may be busy.
    testTimeout: 60_000,
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    unstubGlobals: true
  }
});
