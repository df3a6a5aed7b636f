/** The line above the charts of a file: what was recorded, when, where and with what. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { printable } from '../../../lib/format';
import type { FileRecording } from '../../../files/recording';
import { isOfOthers } from '../../../wire';

const MAX_FACT = 80;
const VERSIONS = ['dask', 'distributed', 'python', 'taskscope'];

export interface Facts {
  readonly title: string;
  readonly facts: string;
}

/** Say what a recording is of. */
export function factsOf(recording: FileRecording, trans: TranslationBundle): Facts {
  const { metadata, batch: { runs } } = recording;
  const label = text(metadata.label) ?? text(runs.find(run => run.label !== null)?.label) ?? trans.__('Recording');
  const nComputes = runs.filter(run => !isOfOthers(run)).length;
  const when = new Date(recording.startedAt).toLocaleString();
  const computes = trans._n('%2 compute', '%2 computes', nComputes, String(nComputes));
  const schedulers = [...new Set(runs.flatMap(run => text(run.scheduler) ?? []))].join(' + ');
  const versions = VERSIONS.flatMap(name => {
    const version = text(metadata[name]);
    return version === null ? [] : [`${name} ${version}`];
  });
  const facts = [when, computes, schedulers, text(metadata.host), ...versions];
  return { title: label, facts: facts.filter(fact => fact !== null && fact !== '').join(' · ') };
}

/** Text on one line, every character of which can be seen; null for anything else. */
function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? printable(value, MAX_FACT) : null;
}
