/** What a document shows of a file: the charts of its recording, or why there are none. */

import { trans } from '../../../lib/translate';
import type { ComponentChildren } from '../../../charts/ui/render';
import { createRef, render } from '../../../charts/ui/render';
import { adoptStyles } from '../../../charts/ui/theme';
import type { FileRecording } from '../../../files/read';
import { DamagedFileError, inFile, readRecording } from '../../../files/read';
import { printable } from '../../../lib/format';
import type { TaskStore } from '../../../store';
import { ALL_RUNS, ClusterStore, countRuns } from '../../../store';
import type { Run } from '../../../wire';
import { bytesOfBase64 } from '../../../wire';
import { MOUNTS, recordedCharts } from '../../chart-host';
import { recordedStore } from '../../recorded';

/**
 * Show a file in `el`, until `signal` aborts; resolves when it is there.
 *
 * A file that cannot be read is a message in `el`, and what stands before its damage is one click away.
 */
export async function showFile(el: HTMLElement, base64: string, signal: AbortSignal): Promise<void> {
  adoptStyles(el, DOCUMENT_CSS);
  const show = async (partial: boolean): Promise<void> => {
    render(<Note role="status" text={trans.__('Reading…')} />, el);
    try {
      const recording = await readRecording(bytesOfBase64(base64, 'file'), { partial });
      if (!signal.aborted) {
        showRecording(el, recording, signal);
      }
    } catch (error) {
      if (!(error instanceof DamagedFileError)) {
        throw error;
      }
      if (!signal.aborted) {
        render(<Wrong error={error} readPart={partial ? null : () => void show(true)} />, el);
      }
    }
  };
  await show(false);
}

function showRecording(el: HTMLElement, recording: FileRecording, signal: AbortSignal): void {
  const store = storeOf(recording);
  const { title, facts } = factsOf(recording, store.tables.runsIn(ALL_RUNS));
  const body = createRef<HTMLDivElement>();
  // Newest first: where the file is not complete, that is the last one.
  const notes = [...store.tables.remarks.map(remark => remark.text), ...(recording.problem === null ? [] : [recording.problem])].reverse();
  render(
    <>
      <header class="tsk-document-head">
        <h1>{title}</h1>
        <p>{facts}</p>
      </header>
      {notes.map(note => <Note role="status" text={note} />)}
      <div class="tsk-document-charts" ref={body} />
    </>,
    el
  );
  if (body.current !== null) {
    const { options } = recordedCharts(store, signal);
    MOUNTS.dashboard(body.current, { store, options: { ...options, prefixes: 'legend' } });
  }
}

/** The store of a file's recording; computes that were cut off end where the file does. */
export function storeOf({ batches, stream, problem }: FileRecording): TaskStore {
  const store = inFile(() => recordedStore(batches, stream, new ClusterStore()));
  if (problem !== null) {
    store.end();
  }
  return store;
}

/** Problems before which parts of a file may stand. */
const AFTER_SOMETHING = /part (?!1 )\d+ cannot be read|contradicts/;

/** @param readPart is null where that has been tried */
function Wrong({ error, readPart }: { readonly error: DamagedFileError; readonly readPart: (() => void) | null }): ComponentChildren {
  return (
    <>
      <Note role="alert" text={trans.__('This file cannot be shown: %1.', error.message)} />
      {readPart !== null && AFTER_SOMETHING.test(error.message) && (
        <button type="button" class="jp-mod-styled" onClick={readPart}>{trans.__('Show what stands before the damage')}</button>
      )}
    </>
  );
}

function Note({ role, text }: { readonly role: 'status' | 'alert'; readonly text: string }): ComponentChildren {
  return <p class="tsk-document-note" role={role}>{text}</p>;
}

const MAX_FACT = 80;
const VERSIONS = ['dask', 'distributed', 'python', 'taskscope'];

export interface Facts {
  readonly title: string;
  readonly facts: string;
}

export function factsOf({ metadata, startedAt }: FileRecording, runs: readonly Run[]): Facts {
  const label = text(metadata.label) ?? text(runs.find(run => run.label !== null)?.label) ?? trans.__('Recording');
  const when = new Date(startedAt).toLocaleString();
  const computes = trans._n('%2 compute', '%2 computes', countRuns(runs), String(countRuns(runs)));
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

export const DOCUMENT_CSS = `
.tsk-document { overflow: auto; background: var(--jp-layout-color0, #ffffff); color: var(--jp-ui-font-color1, #1f2328); }
.tsk-document-head { padding: 10px 12px 6px; font-family: var(--jp-ui-font-family, system-ui, sans-serif); }
.tsk-document-head h1 { margin: 0; font-size: 16px; font-weight: 600; overflow-wrap: anywhere; }
.tsk-document-head p { margin: 2px 0 0; font-size: 12px; color: var(--jp-ui-font-color2, #59636e); overflow-wrap: anywhere; }
.tsk-document-note {
  margin: 6px 12px;
  padding: 6px 10px;
  border-left: 3px solid var(--jp-warn-color1, #f57c00);
  background: var(--jp-layout-color1, #f6f8fa);
  font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
  overflow-wrap: anywhere;
}
.tsk-document-note[role='alert'] { border-color: var(--jp-error-color1, #c00000); }
.tsk-document > button { margin: 0 12px; }
`;
