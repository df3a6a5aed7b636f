/** What hovering an activity says. */
import { formatBytes, formatDuration, printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { ActivityDetail, ClusterStore, Tables } from '../../store';
import type { ActivityKind } from '../../wire';
import type { Facts } from '../timeline/track';
import { nameOf } from './activity-legend';

/**
 * @param label of the lane
 * @param zeroS what counts as 0
 */
export function activityFacts(
  detail: ActivityDetail, label: string, zeroS: number, tables: Tables, { workers }: ClusterStore
): Facts {
  const { kind, startS, stopS, nbytes } = detail;
  const durationS = stopS - startS;
  const group = tables.groups[detail.group];
  const rows: [string, string][] = [
    [trans.__('Activity'), nameOf(kind)],
    ...(kind === 'transfer' ? [[trans.__('From'), sourceText(detail, workers.nameOf(detail.source ?? ''))] as [string, string]] : []),
    ...(kind === 'transfer' ? [[trans.__('Bytes'), nbytes === null ? trans.__('unknown') : formatBytes(nbytes)] as [string, string]] : []),
    ...(kind === 'failed-attempt' ? [[trans.__('Error'), detail.source === null ? trans.__('unknown') : printable(detail.source, 400)] as [string, string]] : []),
    [trans.__('For'), group === undefined ? trans.__('unknown') : printable(group.name, 200)],
    [trans.__('Thread'), label],
    [trans.__('Start'), formatDuration(startS - zeroS)],
    [trans.__('Duration'), formatDuration(durationS)]
  ];
  if (nbytes !== null && durationS > 0) {
    rows.push([trans.__('Rate'), trans.__('%1/s', formatBytes(nbytes / durationS))]);
  }
  return { key: nameOf(kind), rows, note: noteOn(kind) };
}

function noteOn(kind: ActivityKind): string | null {
  if (kind === 'failed-attempt') {
    return trans.__('The task was tried again: its bar is its last attempt. This one counts neither as a task nor as computing.');
  }
  return kind === 'transfer' ? trans.__('Data may be needed by several tasks: the scheduler names one of them.') : null;
}

function sourceText({ source }: ActivityDetail, name: string | null): string {
  if (source === null) {
    return trans.__('unknown');
  }
  return name === null || name === source ? printable(source, 80) : trans.__('worker %1 (%2)', printable(name, 40), printable(source, 80));
}
