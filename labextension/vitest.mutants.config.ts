import { defineConfig } from 'vitest/config';

import config from './vitest.config';

/** The tests of what `make mutants` changes: those of charts would notice much of it, a minute later. */
export default defineConfig({ ...config, test: { ...config.test, include: ['test/{store,wire}/**/*.test.ts'] } });
