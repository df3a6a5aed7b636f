// @vitest-environment node
/** Each module can be read without those that read it: no import leads back, not even one of a type. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

import { expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');
const FROM = /(?:^(?:import|export) [^;]*?from |import\()'(\.[^']*)'/gmu;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(FROM)].map(([, path = '']) => {
    const base = join(SRC, dirname(file), path);
    const found = [`${base}.ts`, `${base}.tsx`, join(base, 'index.ts')].find(existsSync);
    return relative(SRC, found ?? base);
  });
}

/** The modules that lead to themselves, or to some that do: what is left once those that import nothing else are taken away. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(graph);
  for (let size = Infinity; left.size < size;) {
    size = left.size;
    left.forEach((names, file) => names.some(name => left.has(name)) || left.delete(file));
  }
  return [...left.keys()];
}

it('finds a circle where there is one', () => {
  expect(circles(new Map([['a', ['b']], ['b', ['c', 'd']], ['c', ['a']], ['d', []]]))).toEqual(['a', 'b', 'c']);
});

it('no module of ours imports itself through others', () => {
  const graph = new Map(files.map(file => [file, importsOf(file)]));
  const unknown = [...graph].flatMap(([file, names]) => names.filter(name => !graph.has(name)).map(name => `${file}: ${name}`));
  expect(unknown).toEqual([]);
  expect(graph.get('charts/tracks.ts')).toContain('charts/timeline/timeline.ts');
  expect(circles(graph)).toEqual([]);
});
