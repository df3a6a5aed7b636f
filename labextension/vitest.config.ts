import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    environment: 'jsdom',
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    unstubGlobals: true
  }
});
