/** What a person looks for, as a test of groups and keys; no DOM. */

/** How a group answers: all its tasks match, none does, or each key has to be looked at. */
export type GroupVerdict = 'all' | 'none' | 'text' | 'key';

export interface Query {
  ofGroup(name: string, prefix: string): GroupVerdict;
  /** A text that matching keys contain, whatever its case, and others do not; null: only `ofKey` tells. */
  readonly contains: string | null;
  /** For groups that answered `text` (only keys that are text are asked) or `key`. */
  ofKey(key: string): boolean;
}

const TUPLE = /^\(?\s*['"]?([^'",]+)['"]?\s*,\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*,?\s*\)?$/;

/**
 * Tasks whose key, group or prefix contains `text`, whatever its case; `name, 3, 4` or a whole tuple key
 * finds keys that begin so.
 */
export function textQuery(text: string): Query {
  const wanted = text.trim().toLowerCase();
  const tuple = TUPLE.exec(wanted);
  if (tuple !== null) {
    const name = tuple[1]?.trim() ?? '';
    const ints = (tuple[2] ?? '').split(',').map(Number).join(', ');
    const begins = new RegExp(`^\\([^,]*, ${ints}(?![0-9])`);
    return {
      contains: null,
      ofGroup: (group, prefix) => (group.toLowerCase().startsWith(name) || prefix.toLowerCase() === name ? 'key' : 'text'),
      ofKey: key => begins.test(key) || key.toLowerCase().includes(wanted)
    };
  }
  const name = wanted.replace(/^\(?['"]?/, '').replace(/['"]$/, '');
  const isIn = (where: string): boolean => name !== '' && where.toLowerCase().includes(name);
  return {
    contains: wanted,
    ofGroup: (group, prefix) => (isIn(group) || isIn(prefix) ? 'all' : 'text'),
    ofKey: key => key.toLowerCase().includes(wanted)
  };
}

/** The one task of this key. */
export function exactQuery(key: string): Query {
  return {
    contains: null,
    ofGroup: group => (key.startsWith(`('${group}'`) || key.startsWith(`("${group}"`) || /['"\\]/.test(group) ? 'key' : 'text'),
    ofKey: other => other === key
  };
}
