/** Builds the scripts of static results, which each notebook carries: as small as they get; and the module of VS Code. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { build } from 'esbuild';

import withoutStyleSpace from './style-space.cjs';

const REPORT = join(import.meta.dirname, 'src/hosts/report');
const OUT = join(import.meta.dirname, '../src/taskscope/static');
const SCRIPTS = { report: 'index', 'report-cluster': 'cluster', 'report-profile': 'profile', 'report-cluster-profile': 'cluster-profile' };
/** Names with a capital in them are ours, and shortened, but for those of others: nothing outside of a script reads them. */
const OWN = /^[a-z]\w*[A-Z]/;
const OTHERS = await namesOfOthers();

/** Names of the platform and of preact, of handlers and of attributes `data-jp-…`, and columns of the wire, which are made of those in its tables. */
async function namesOfOthers() {
  const find = createRequire(import.meta.url).resolve;
  const libraries = dirname(find('typescript'));
  const types = (await readdir(libraries)).filter(name => /^lib\..*\.d\.ts$/.test(name)).map(name => join(libraries, name));
  const found = async (files, pattern) => (await Promise.all(files.map(file => readFile(file, 'utf8')))).flatMap(text => text.match(pattern) ?? []);
  const columns = await found([join(import.meta.dirname, 'src/wire/tables.ts')], /\b[a-z0-9]+(_[a-z0-9]+)+\b/g);
  return [
    '(on|jp)[A-Z]\\w*',
    ...await found([...types, find('preact')], /\b[a-z]\w*[A-Z]\w*/g),
    ...columns.map(name => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()))
  ];
}

/** Build a script with our names shortened, but for those that it has as text, too. */
async function withShortNames(options) {
  const { outputFiles: [plain] } = await build({ ...options, write: false });
  const texts = plain.text.match(/(?<=['"`])[a-z]\w*[A-Z]\w*(?=['"`])/g) ?? [];
  const { outputFiles: [short] } = await build({ ...options, mangleProps: OWN, reserveProps: new RegExp(`^(${[...new Set([...OTHERS, ...texts])].join('|')})$`), write: false });
  return short.text;
}

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

/** Terser takes seconds a script, so each has a thread. */
const minified = text => new Promise((resolve, reject) => {
  new Worker(join(import.meta.dirname, 'minify.mjs'), { workerData: text }).once('message', resolve).once('error', reject);
});

await mkdir(OUT, { recursive: true });
await Promise.all(Object.entries(SCRIPTS).map(async ([name, entry]) => {
  const text = await withShortNames({ ...SHARED, ...JSX, entryPoints: [join(REPORT, `${entry}.ts`)], target: 'es2022', plugins: [styles] });
  await writeFile(join(OUT, `${name}.js`), await minified(text));
}));
// It runs in browsers that may be too old for the rest, to say so.
await build({ ...SHARED, ...JSX, entryPoints: [join(REPORT, 'loader.ts')], target: 'es2017', outdir: OUT });

// VS Code copies what lies in share/jupyter/nbextensions, and reads this call as text to find the module of the widgets.
const NBEXTENSION = join(import.meta.dirname, '../src/taskscope/nbextension');
const EXTENSION = `define(() => {
  window.require.config({ map: { '*': { taskscope: 'nbextensions/taskscope/index' } } });
  return { load_ipython_extension() {} };
});
`;
const { outputFiles, metafile } = await build({
  ...SHARED, ...JSX, format: 'cjs', entryPoints: [join(import.meta.dirname, 'src/hosts/vscode/index.ts')], target: 'es2022', external: ['@jupyter-widgets/base'],
  banner: { js: "define(['@jupyter-widgets/base'],base=>{const module={exports:{}},require=()=>base;" }, footer: { js: 'return module.exports.default});' },
  plugins: [styles], metafile: true, write: false
});
const packages = new Set(Object.keys(metafile.inputs).flatMap(path => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []));
const ours = await readFile(join(import.meta.dirname, '../LICENSE'), 'utf8');
const licences = await Promise.all([...packages].sort().map(async name => {
  const path = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { version, license } = JSON.parse(await readFile(path, 'utf8'));
  // Jupyter's packages have the terms of our own licence, and no file of them.
  const terms = name.startsWith('@lumino/') ? ours.replace(/^Copyright.*$/m, 'Copyright (c) Project Jupyter Contributors') : await readFile(join(dirname(path), 'LICENSE'), 'utf8');
  return `${name} ${version} (${license})\n\n${terms}`;
}));
await mkdir(NBEXTENSION, { recursive: true });
await writeFile(join(NBEXTENSION, 'extension.js'), EXTENSION);
await writeFile(join(NBEXTENSION, 'index.js'), outputFiles[0].text);
await writeFile(join(NBEXTENSION, 'third-party-licenses.txt'), licences.join('\n\n'));
