/** Makes JavaScript of the sources, a file each, without a look at their types: `npm run typecheck` does that. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';

const SOURCES = join(import.meta.dirname, 'src');
const OUT = join(import.meta.dirname, 'lib');

await rm(OUT, { recursive: true, force: true });
const files = (await readdir(SOURCES, { recursive: true })).filter(name => /\.tsx?$/.test(name));
await build({ entryPoints: files.map(name => join(SOURCES, name)), outbase: SOURCES, outdir: OUT, tsconfig: join(import.meta.dirname, 'tsconfig.json') });
