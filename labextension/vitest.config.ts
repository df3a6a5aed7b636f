import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    // A test that needs no page says `@vitest-environment node` in its first line.
    environment: 'jsdom',
    // Files share what they import, which took longer than the tests themselves; `setup.ts` leaves each an empty page.
    isolate: false,
    pool: 'threads',
    setupFiles: ['test/setup.ts'],
    // No test is about speed, and a machine may be busy.
    testTimeout: 60_000,
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    unstubGlobals: true
  }
});
