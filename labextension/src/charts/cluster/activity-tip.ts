/** What hovering an activity says. */
import { formatBytes, formatDuration, printable } from '../../lib/format';
import type { Translate } from '../../lib/translate';
import type { ActivityDetail, ClusterStore, Tables } from '../../store';
import type { ActivityKind } from '../../wire';
import type { Facts } from '../timeline/track';
import { nameOf } from './activity-legend';

/**
 * @param label of the lane
 * @param zeroS what counts as 0
 */
export function activityFacts(
  detail: ActivityDetail, label: string, zeroS: number, tables: Tables, { workers }: ClusterStore, t: Translate
): Facts {
  const { kind, startS, stopS, nbytes } = detail;
  const durationS = stopS - startS;
  const group = tables.groups[detail.group];
  const rows: [string, string][] = [
    [t('Activity'), nameOf(kind, t)],
    ...(kind === 'transfer' ? [[t('From'), sourceText(detail, workers.nameOf(detail.source ?? ''), t)] as [string, string]] : []),
    ...(kind === 'transfer' ? [[t('Bytes'), nbytes === null ? t('unknown') : formatBytes(nbytes)] as [string, string]] : []),
    ...(kind === 'failed-attempt' ? [[t('Error'), detail.source === null ? t('unknown') : printable(detail.source, 400)] as [string, string]] : []),
    [t('For'), group === undefined ? t('unknown') : printable(group.name, 200)],
    [t('Lane'), label],
    [t('Start'), formatDuration(startS - zeroS)],
    [t('Duration'), formatDuration(durationS)]
  ];
  if (nbytes !== null && durationS > 0) {
    rows.push([t('Rate'), t('%1/s', formatBytes(nbytes / durationS))]);
  }
  return { key: nameOf(kind, t), rows, note: noteOn(kind, t) };
}

function noteOn(kind: ActivityKind, t: Translate): string | null {
  if (kind === 'failed-attempt') {
    return t('The task was tried again: its bar is its last attempt. This one counts neither as a task nor as computing.');
  }
  return kind === 'transfer' ? t('Data may be needed by several tasks: the scheduler names one of them.') : null;
}

function sourceText({ source }: ActivityDetail, name: string | null, t: Translate): string {
  if (source === null) {
    return t('unknown');
  }
  return name === null || name === source ? printable(source, 80) : t('worker %1 (%2)', printable(name, 40), printable(source, 80));
}
