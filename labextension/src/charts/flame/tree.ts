/** Samples of some prefixes and some time as one tree of calls; pure. */
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
