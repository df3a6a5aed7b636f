/** Progress as tables of text. */
import { formatCount, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { TextTable } from '../ui/tables';
import type { ProgressLayout } from './layout';

/** A table of the prefixes, and one of what went wrong where anything did. */
export function progressTables({ prefixes, errors }: ProgressLayout, t: Translate): TextTable[] {
  const isTold = prefixes.some(row => row.ahead !== null);
  const areSpared = prefixes.some(row => row.spared > 0);
  const byPrefix: TextTable = {
    caption: t('%1 prefixes', formatCount(prefixes.length)),
    columns: [
      ...[t('Prefix'), t('Tasks'), t('Finished'), t('Running'), t('Erred'), t('Interrupted or lost')],
      ...(areSpared ? [t('Did not have to run')] : []),
      ...(isTold ? [t('Fit no worker'), t('Queued'), t('Waiting'), t('Of how many asked')] : [])
    ],
    rows: prefixes.map(({ prefix, ahead, ...counts }) => [
      printable(prefix),
      ...[counts.total, counts.finished, counts.running, counts.erred, counts.interrupted].map(String),
      ...(areSpared ? [String(counts.spared)] : []),
      ...(isTold ? [ahead?.noWorker, ahead?.queued, ahead?.waiting, ahead?.asked].map(n => (n === undefined ? '' : String(n))) : [])
    ])
  };
  const rows = errors.map(({ prefix, error, n, first }) => [printable(prefix), error === null ? t('unknown error') : printable(error), String(n), printable(first.key)]);
  return rows.length === 0 ? [byPrefix] : [byPrefix, { caption: t('Errors'), columns: [t('Prefix'), t('Error'), t('Tasks'), t('First task')], rows }];
}
