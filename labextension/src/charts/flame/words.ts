/** A flame graph in words: names, figures, and the table. */
import { formatCount, formatDuration, formatPercent, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { TextTable } from '../ui/tables';
import type { FlameData } from './data';
import { type FlameNode, walk } from './tree';

const MAX_TABLE = 100;

/** What a bar is called. */
export function nameOf(data: FlameData, node: FlameNode, t: Translate): string {
  switch (node.kind) {
    case 'all':
      return t('all tasks');
    case 'prefix':
      return printable(data.prefixes[node.place] ?? '?');
    case 'function':
      return printable(data.functions[node.place]?.name ?? '?');
  }
}

/** What is known of a call, in one line. */
export function describeNode(data: FlameData, node: FlameNode, root: FlameNode, t: Translate): string {
  const fn = node.kind === 'function' ? data.functions[node.place] : undefined;
  const place = fn === undefined ? '' : ` (${printable(fn.file)}:${fn.line})`;
  const share = formatPercent(root.seconds > 0 ? node.seconds / root.seconds : null);
  return t(
    '%1: %2, %3 of what is shown, %4 itself, %5 samples',
    `${nameOf(data, node, t)}${place}`,
    formatDuration(node.seconds),
    share,
    formatDuration(node.ownSeconds),
    formatCount(node.count)
  );
}

/** What a whole graph amounts to. */
export function describeAll(data: FlameData, root: FlameNode, t: Translate): string {
  const said = t(
    '%1 samples, about %2 of task time',
    formatCount(root.count),
    formatDuration(root.seconds)
  );
  return data.nLeftOut === 0 ? said : `${said}. ${t('%1 short calls are not drawn', formatCount(data.nLeftOut))}`;
}

/** Functions by their own time, over all places they are called from. */
export function ownTimes(data: FlameData, root: FlameNode, t: Translate): TextTable {
  const own = new Map<string, { name: string; place: string; seconds: number }>();
  walk(root, node => {
    if (node.ownSeconds > 0) {
      const fn = node.kind === 'function' ? data.functions[node.place] : undefined;
      const place = fn === undefined ? t('C code that Dask called') : `${printable(fn.file)}:${fn.line}`;
      const key = `${node.kind} ${node.place}`;
      const known = own.get(key) ?? { name: nameOf(data, node, t), place, seconds: 0 };
      known.seconds += node.ownSeconds;
      own.set(key, known);
    }
    return true;
  });
  const rows = [...own.values()].sort((a, b) => b.seconds - a.seconds || (a.name < b.name ? -1 : 1)).slice(0, MAX_TABLE);
  return {
    caption: t('Functions by their own time'),
    columns: [t('Function'), t('Own time'), t('Share'), t('Defined in')],
    rows: rows.map(row => [
      row.name,
      formatDuration(row.seconds),
      formatPercent(root.seconds > 0 ? row.seconds / root.seconds : null),
      row.place
    ])
  };
}
