// @vitest-environment node
/** What a browser has to load stays within its budget; sizes are of the built, minified, gzipped scripts. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const BUDGET = { gantt: 25_000, lab: 150_000, flame: 10_000 };

const packed = (script: Uint8Array): number => gzipSync(script, { level: 9 }).length;

/** The gzipped bytes of a chart: what its first picture needs, and what comes after that. */
async function sizesOf(chart: string): Promise<{ first: number; later: number }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(ROOT, 'labextension/src/charts', chart, 'index.ts')], absWorkingDir: ROOT, outdir: 'build', bundle: true, splitting: true,
    format: 'esm', target: 'es2022', charset: 'ascii', legalComments: 'none', minify: true, write: false, metafile: true
  });
  const scripts = new Map(outputFiles.map(({ path, contents }) => [path.slice(ROOT.length + 1), packed(contents)]));
  const first = new Set(Object.keys(metafile.outputs).filter(path => metafile.outputs[path]?.entryPoint?.endsWith(`${chart}/index.ts`)));
  for (const path of first) {
    for (const { path: needed, kind } of metafile.outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') {
        first.add(needed);
      }
    }
  }
  const sum = (paths: Iterable<string>): number => [...paths].reduce((bytes, path) => bytes + (scripts.get(path) ?? NaN), 0);
  return { first: sum(first), later: sum(scripts.keys()) - sum(first) };
}

it('the Gantt chart is drawn by 25 kB of script; details, search and tables come after that', async () => {
  const { first, later } = await sizesOf('gantt');
  expect(first).toBeLessThanOrEqual(BUDGET.gantt);
  expect(later).toBeGreaterThan(5_000);
});

it('the whole extension is at most 150 kB', () => {
  const folder = join(ROOT, 'src/taskscope/labextension/static');
  const scripts = readdirSync(folder).filter(name => name.endsWith('.js'));
  expect(scripts).toContainEqual(expect.stringMatching(/^remoteEntry/));
  expect(scripts.reduce((bytes, name) => bytes + packed(readFileSync(join(folder, name))), 0)).toBeLessThanOrEqual(BUDGET.lab);
});

it('a page with a profile loads at most 10 kB more', () => {
  expect(packed(readFileSync(join(ROOT, 'src/taskscope/static/report-flame.js')))).toBeLessThanOrEqual(BUDGET.flame);
});
