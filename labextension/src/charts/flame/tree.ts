/** Samples of some prefixes and some time as one tree of calls; pure. */
import { formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { TextTable } from '../ui/text-table';
import type { FlameData } from './data';

export interface FlameNode {
  readonly kind: 'all' | 'prefix' | 'function';
  /** Where a prefix stands among the prefixes, a function among the functions; -1 for all. */
  readonly place: number;
  /** The prefix it belongs to, -1 for all. */
  readonly prefix: number;
  readonly parent: FlameNode | null;
  readonly depth: number;
  /** Seconds, and samples, of it and all calls made from it. */
  seconds: number;
  count: number;
  /** Those of itself. */
  ownSeconds: number;
  /** Seconds of the tree before it, from the left. */
  fromS: number;
  children: FlameNode[];
}

export interface Choice {
  /** Only this prefix; null: all. */
  readonly prefix: number | null;
  /** Only bins from the first on and before the second; null: all. */
  readonly bins: readonly [number, number] | null;
}

/** Add up what was chosen; children are ordered by time, the longest first. */
export function growTree(data: FlameData, choice: Choice): FlameNode {
  const root = makeNode('all', -1, -1, null);
  const prefixes = new Map<number, FlameNode>();
  const calls = new Map<number, FlameNode>();
  const n = data.parent.length;
  const prefixNode = (prefix: number): FlameNode => {
    const known = prefixes.get(prefix) ?? makeNode('prefix', prefix, prefix, root);
    prefixes.set(prefix, known);
    return known;
  };
  const callNode = (prefix: number, call: number): FlameNode => {
    if (call < 0) {
      return prefixNode(prefix);
    }
    const known = calls.get(prefix * n + call);
    if (known !== undefined) {
      return known;
    }
    const parent = callNode(prefix, data.parent[call] as number);
    const made = makeNode('function', data.fn[call] as number, prefix, parent);
    calls.set(prefix * n + call, made);
    return made;
  };
  for (let row = 0; row < data.bin.length; row += 1) {
    const prefix = data.prefix[row] as number;
    if (isChosen(choice, prefix, data.bin[row] as number)) {
      const seconds = data.seconds[row] as number;
      const leaf = callNode(prefix, data.node[row] as number);
      leaf.ownSeconds += seconds;
      for (let node: FlameNode | null = leaf; node !== null; node = node.parent) {
        node.seconds += seconds;
        node.count += data.count[row] as number;
      }
    }
  }
  place(root);
  return root;
}

/** Visit a call and all below it, each before the calls made from it; what `visit` answers says whether to go on below. */
export function walk(root: FlameNode, visit: (node: FlameNode) => boolean): void {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (visit(node)) {
      for (let i = node.children.length - 1; i >= 0; i -= 1) {
        waiting.push(node.children[i] as FlameNode);
      }
    }
  }
}

/** The same call in another tree, or the nearest above it that is there. */
export function findSame(root: FlameNode, wanted: FlameNode): FlameNode {
  const path: FlameNode[] = [];
  for (let node: FlameNode = wanted; node.parent !== null; node = node.parent) {
    path.unshift(node);
  }
  let found = root;
  for (const { kind, place: at } of path) {
    const next = found.children.find(child => child.kind === kind && child.place === at);
    if (next === undefined) {
      break;
    }
    found = next;
  }
  return found;
}

function isChosen({ prefix, bins }: Choice, of: number, bin: number): boolean {
  return (prefix === null || of === prefix) && (bins === null || (bin >= bins[0] && bin < bins[1]));
}

function makeNode(kind: FlameNode['kind'], at: number, prefix: number, parent: FlameNode | null): FlameNode {
  const depth = parent === null ? 0 : parent.depth + 1;
  const node = { kind, place: at, prefix, parent, depth, seconds: 0, count: 0, ownSeconds: 0, fromS: 0, children: [] };
  parent?.children.push(node);
  return node;
}

function place(root: FlameNode): void {
  walk(root, node => {
    node.children.sort((a, b) => b.seconds - a.seconds || a.place - b.place);
    let fromS = node.fromS;
    for (const child of node.children) {
      child.fromS = fromS;
      fromS += child.seconds;
    }
    return true;
  });
}

const MAX_TABLE = 100;

/** What a bar is called. */
export function nameOf(data: FlameData, node: FlameNode): string {
  switch (node.kind) {
    case 'all':
      return trans.__('all tasks');
    case 'prefix':
      // Often a function of the same name stands below it.
      return trans.__('tasks: %1', printable(data.prefixes[node.place] ?? '?'));
    case 'function':
      return printable(data.functions[node.place]?.name ?? '?');
  }
}

/** Where a function is defined: a notebook's cell has no colon before its line. */
export function placeText(file: string, line: number): string {
  const name = printable(file);
  return /^In \[\d+\]$/.test(file) ? trans.__('%1, line %2', name, String(line)) : `${name}:${line}`;
}

/** What is known of a call, in one line. */
export function describeNode(data: FlameData, node: FlameNode, root: FlameNode): string {
  const fn = node.kind === 'function' ? data.functions[node.place] : undefined;
  const place = fn === undefined ? '' : ` (${placeText(fn.file, fn.line)})`;
  const share = formatPercent(root.seconds > 0 ? node.seconds / root.seconds : null);
  return trans._n(
    '%2: %3, %4 of what is shown, %5 self, %6 sample',
    '%2: %3, %4 of what is shown, %5 self, %6 samples',
    node.count,
    `${nameOf(data, node)}${place}`,
    formatDuration(node.seconds),
    share,
    formatDuration(node.ownSeconds),
    formatCount(node.count)
  );
}

/** What a whole graph amounts to. */
export function describeAll(data: FlameData, root: FlameNode): string {
  const said = trans._n(
    '%2 sample, about %3 in tasks',
    '%2 samples, about %3 in tasks',
    root.count,
    formatCount(root.count),
    formatDuration(root.seconds)
  );
  return data.nLeftOut === 0 ? said : `${said}. ${trans._n('%2 short call is not drawn', '%2 short calls are not drawn', data.nLeftOut, formatCount(data.nLeftOut))}`;
}

/** Functions by their own time, over all places they are called from. */
export function ownTimes(data: FlameData, root: FlameNode): TextTable {
  const own = new Map<string, { name: string; place: string; seconds: number }>();
  walk(root, node => {
    if (node.ownSeconds > 0) {
      const fn = node.kind === 'function' ? data.functions[node.place] : undefined;
      const place = fn === undefined ? trans.__('C code that Dask called') : placeText(fn.file, fn.line);
      const key = `${node.kind} ${node.place}`;
      const known = own.get(key) ?? { name: nameOf(data, node), place, seconds: 0 };
      known.seconds += node.ownSeconds;
      own.set(key, known);
    }
    return true;
  });
  const rows = [...own.values()].sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1)).slice(0, MAX_TABLE);
  return {
    caption: trans.__('Functions by self time'),
    columns: [trans.__('Function'), trans.__('Self time'), trans.__('Share'), trans.__('Defined in')],
    rows: rows.map(row => [
      row.name,
      formatDuration(row.seconds),
      formatPercent(root.seconds > 0 ? row.seconds / root.seconds : null),
      row.place
    ])
  };
}
