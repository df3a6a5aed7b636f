/** Strings reach JupyterLab's language packs: its extractor finds each of them, and a pack's words reach the page. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { Gettext } from '@jupyterlab/translation/lib/gettext';
import ts from 'typescript';
import { afterEach, describe, expect, it } from 'vitest';

import { mount } from '../src/charts/progress/view';
import { english, setTranslator } from '../src/lib/translate';
import { smallBatch, smallProgress, smallRun } from './charts/small-batch';
import { storeWith } from './store/rows';

const SRC = join(import.meta.dirname, '../src');
/** As jupyterlab-translate tells its extractor; what is called otherwise reaches no pack. */
const ROOTS = ['trans', 'this._trans', 'this.props.trans', 'props.trans'];
const TEXTS: Readonly<Record<string, number>> = { __: 1, _n: 2 };

interface Call {
  readonly at: string;
  readonly root: string;
  /** Null: it is no literal. */
  readonly texts: readonly (string | null)[];
}

function callsIn(file: string): Call[] {
  const source = ts.createSourceFile(file, readFileSync(join(SRC, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const calls: Call[] = [];
  const visit = (node: ts.Node): void => {
    const callee = ts.isCallExpression(node) ? node.expression : null;
    if (ts.isCallExpression(node) && callee !== null && ts.isPropertyAccessExpression(callee) && Object.hasOwn(TEXTS, callee.name.text)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const texts = node.arguments.slice(0, TEXTS[callee.name.text]).map(text => (ts.isStringLiteral(text) ? text.text : null));
      calls.push({ at: `${file}:${line + 1}`, root: callee.expression.getText(), texts });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return calls;
}

const CALLS = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(name => /\.tsx?$/.test(name)).flatMap(callsIn);

describe('the strings of the source', () => {
  it('are literals, in calls that the extractor of JupyterLab knows', () => {
    const odd = CALLS.filter(({ root, texts }) => !ROOTS.includes(root) || texts.includes(null));
    expect(odd.map(({ at, root }) => `${at} ${root}`)).toEqual([]);
    const found = new Set(CALLS.map(({ texts }) => texts[0]));
    expect(found.size).toBeGreaterThan(300);
    expect(['Dask Dashboard', 'Pin to this notebook', 'Fit: show everything (Home)', '%2 task', 'this list'].filter(text => !found.has(text))).toEqual([]);
  });

  it('count by plural forms: each has its values in one and in many', () => {
    const places = (text: string): string => [...text.matchAll(/%\d/g)].map(([place]) => place).join('');
    const counted = CALLS.filter(({ texts }) => texts.length === 2).map(({ texts: [one, many] }) => [one ?? '', many ?? '']);
    expect(counted.length).toBeGreaterThan(25);
    // JupyterLab fills %1 with the bare number; ours are grouped by thousands.
    expect(counted.flat().filter(text => text.includes('%1'))).toEqual([]);
    const shorter = counted.filter(([one = '', many = '']) => [...new Set(places(one))].some(place => !places(many).includes(place)));
    expect(shorter).toEqual([]);
  });
});

afterEach(() => { setTranslator(english); });

it('a language pack gives the words of a chart, and as many plural forms as its language has', () => {
  const gettext = new Gettext({ domain: 'taskscope', locale: 'ru', pluralForms: 'nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);' });
  gettext.loadJSON(
    {
      '': { domain: 'taskscope', language: 'ru', pluralForms: 'nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);' },
      'Running': ['Выполняется'],
      '%2 of %3 task': ['%2 из %3 задачи', '%2 из %3 задач', '%2 из %3 задач'],
      'Show %2 more task type': ['Ещё %2 вид', 'Ещё %2 вида', 'Ещё %2 видов']
    },
    'taskscope'
  );
  setTranslator(gettext);
  const texts = [9, 10, 13].map(n => {
    const store = storeWith(smallBatch({ runs: [smallRun({ nTasks: 12_001 })], progress: Array.from({ length: n }, (_, i) => smallProgress({ prefix: `p${i}`, total: 1 })) }));
    const end = new AbortController();
    const { el } = mount(document.body, store, { signal: end.signal });
    const said = ['.tsk-progress-state', '.tsk-progress-count', '.tsk-progress-prefixes .tsk-progress-more'].map(part => el.querySelector(part)?.textContent);
    end.abort();
    return said;
  });
  expect(texts).toEqual([
    ['Выполняется', '0 из 12,001 задачи', 'Ещё 1 вид'],
    ['Выполняется', '0 из 12,001 задачи', 'Ещё 2 вида'],
    ['Выполняется', '0 из 12,001 задачи', 'Ещё 5 видов']
  ]);
});
