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

/** Sets of modules that lead to each other, by Tarjan. */
function circles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
      } else if (stack.includes(next)) {
        low.set(node, Math.min(low.get(node) ?? 0, order.get(next) ?? 0));
      }
    }
    if (low.get(node) === order.get(node)) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1) {
        found.push(circle.sort());
      }
    }
  };
  [...graph.keys()].forEach(node => {
    if (!order.has(node)) {
      visit(node);
    }
  });
  return found;
}

it('finds a circle where there is one', () => {
  expect(circles(new Map([['a', ['b']], ['b', ['c', 'd']], ['c', ['a']], ['d', []]]))).toEqual([['a', 'b', 'c']]);
});

it('no module of ours imports itself through others', () => {
  const graph = new Map(files.map(file => [file, importsOf(file)]));
  const unknown = [...graph].flatMap(([file, names]) => names.filter(name => !graph.has(name)).map(name => `${file}: ${name}`));
  expect(unknown).toEqual([]);
  expect(graph.get('charts/tracks.ts')).toContain('charts/timeline/timeline.ts');
  expect(circles(graph)).toEqual([]);
});
