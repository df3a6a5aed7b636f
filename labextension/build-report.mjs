/** Builds the scripts of static results, which each notebook carries: as small as they get. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';
import { minify } from 'terser';

import withoutStyleSpace from './style-space.cjs';

const REPORT = join(import.meta.dirname, 'src/hosts/report');
const OUT = join(import.meta.dirname, '../src/taskscope/static');
const SCRIPTS = { report: 'index', 'report-cluster': 'cluster', 'report-profile': 'profile', 'report-cluster-profile': 'cluster-profile' };
/** Names of lengths in pixels are ours alone: nothing outside of a script reads them. */
const OWN = /Px$/;
/** Calls of `h` pack better than those of the automatic runtime, whose children are a property. esbuild takes tsconfig.json's choice before its own options. */
const { compilerOptions } = JSON.parse(await readFile(join(import.meta.dirname, 'tsconfig.json'), 'utf8'));
const JSX = {
  tsconfigRaw: { compilerOptions: { ...compilerOptions, jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' } },
  inject: [join(import.meta.dirname, 'jsx-in-reports.mjs')]
};
const SHARED = { bundle: true, format: 'iife', minify: true, charset: 'ascii', legalComments: 'none' };

const styles = {
  name: 'styles',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.tsx?$/ }, async ({ path }) => {
      const contents = withoutStyleSpace(await readFile(path, 'utf8'));
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts', resolveDir: join(path, '..') };
    });
  }
};

await mkdir(OUT, { recursive: true });
for (const [name, entry] of Object.entries(SCRIPTS)) {
  const { outputFiles } = await build({ ...SHARED, ...JSX, entryPoints: [join(REPORT, `${entry}.ts`)], target: 'es2022', mangleProps: OWN, plugins: [styles], write: false });
  const { code } = await minify(outputFiles[0].text, {
    ecma: 2022,
    compress: { passes: 5, ecma: 2022, unsafe_arrows: true, keep_fargs: false },
    format: { ascii_only: true }
  });
  await writeFile(join(OUT, `${name}.js`), code);
}
// It runs in browsers that may be too old for the rest, to say so.
await build({ ...SHARED, ...JSX, entryPoints: [join(REPORT, 'loader.ts')], target: 'es2017', outdir: OUT });
