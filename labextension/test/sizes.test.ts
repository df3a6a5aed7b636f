// @vitest-environment node
/** What a browser has to load stays within its budget; sizes are of the built, minified, gzipped scripts. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';

import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const BUDGET = { report: 65_500, cluster: 75_000, lab: 150_000, profile: 7_000 };

/** As text in an output: in base64, and with what unpacks it. */
const CARRIED = { report: 88_200, cluster: 100_500 };

const packed = (script: Uint8Array): number => gzipSync(script, { level: 9 }).length;
const sizeOf = (name: string): number => packed(readFileSync(join(ROOT, `src/taskscope/static/${name}.js`)));

it('the script of a static result is at most 65.5 kB, and that of a cluster 75 kB', () => {
  expect(sizeOf('report')).toBeLessThanOrEqual(BUDGET.report);
  expect(sizeOf('report-cluster')).toBeLessThanOrEqual(BUDGET.cluster);
});

it('a result carries its script packed: at most 88.2 kB of text in a notebook, and 100.5 kB for a cluster', () => {
  const script = (name: string): Uint8Array => readFileSync(join(ROOT, `src/taskscope/static/${name}.js`));
  const carried = (name: string): number => deflateSync(script(name), { level: 9 }).toString('base64').length + script('loader').length;
  expect(carried('report')).toBeLessThanOrEqual(CARRIED.report);
  expect(carried('report-cluster')).toBeLessThanOrEqual(CARRIED.cluster);
});

it('the whole extension is at most 150 kB', () => {
  const folder = join(ROOT, 'src/taskscope/labextension/static');
  const scripts = readdirSync(folder).filter(name => name.endsWith('.js'));
  expect(scripts).toContainEqual(expect.stringMatching(/^remoteEntry/));
  expect(scripts.reduce((bytes, name) => bytes + packed(readFileSync(join(folder, name))), 0)).toBeLessThanOrEqual(BUDGET.lab);
});

it('a page with a profile loads at most 7 kB more', () => {
  expect(sizeOf('report-profile') - sizeOf('report')).toBeLessThanOrEqual(BUDGET.profile);
  expect(sizeOf('report-cluster-profile') - sizeOf('report-cluster')).toBeLessThanOrEqual(BUDGET.profile);
});
