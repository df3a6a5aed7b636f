/** A flame graph in words: names, figures, and the table. */
import { formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { TextTable } from '../ui/tables';
import type { FlameData } from './data';
import { type FlameNode, walk } from './tree';

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

/** What is known of a call, in one line. */
export function describeNode(data: FlameData, node: FlameNode, root: FlameNode): string {
  const fn = node.kind === 'function' ? data.functions[node.place] : undefined;
  const place = fn === undefined ? '' : ` (${printable(fn.file)}:${fn.line})`;
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
      const place = fn === undefined ? trans.__('C code that Dask called') : `${printable(fn.file)}:${fn.line}`;
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
