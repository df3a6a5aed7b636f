/** What a document shows of a file: the charts of its recording, or why there are none. */
import type { TranslationBundle } from '@jupyterlab/translation';

import { CLUSTER_CHARTS } from '../../../charts/cluster';
import { mount } from '../../../charts/dashboard';
import { element } from '../../../charts/ui/dom';
import { adoptStyles } from '../../../charts/ui/styles';
import { EPOCH } from '../../../files/batch';
import { DamagedFileError } from '../../../files/read';
import { type FileRecording, readRecording } from '../../../files/recording';
import { ClusterStore, TaskStore } from '../../../store';
import { factsOf } from './facts';
import { DOCUMENT_CSS } from './style';

/**
 * Show a file in `el`, until `signal` aborts; resolves when it is there.
 *
 * A file that cannot be read is a message in `el`, and what stands before its damage is one click away.
 */
export async function showFile(el: HTMLElement, base64: string, trans: TranslationBundle, signal: AbortSignal): Promise<void> {
  adoptStyles(el, DOCUMENT_CSS);
  const show = async (partial: boolean): Promise<void> => {
    el.replaceChildren(note('status', trans.__('Reading…')));
    try {
      const recording = await readRecording(bytesOf(base64), { partial });
      if (!signal.aborted) {
        showRecording(el, recording, trans, signal);
      }
    } catch (error) {
      if (!(error instanceof DamagedFileError)) {
        throw error;
      }
      if (!signal.aborted) {
        el.replaceChildren(...whatIsWrong(error, partial ? null : () => show(true), trans, signal));
      }
    }
  };
  await show(false);
}

function showRecording(el: HTMLElement, recording: FileRecording, trans: TranslationBundle, signal: AbortSignal): void {
  const { title, facts } = factsOf(recording, trans);
  const body = element('div', { class: 'tsk-document-charts' });
  el.replaceChildren(
    element('header', { class: 'tsk-document-head' }, element('h1', {}, title), element('p', {}, facts)),
    // Newest first: where the file is not complete, that is the last one.
    ...recording.batch.remarks.map(({ text }) => note('status', text)).reverse(),
    body
  );
  const linksOfRow = recording.links();
  const store: TaskStore = new TaskStore({
    cluster: new ClusterStore(),
    ask: row => {
      queueMicrotask(() => {
        store.answerLinks(EPOCH, { row, links: linksOfRow(row) });
      });
      return true;
    }
  });
  store.append(recording.batch);
  const clusters = CLUSTER_CHARTS;
  mount(body, store, { signal, clusters, prefixes: 'legend', follow: false, isOver: true, trans });
}

function whatIsWrong(
  error: DamagedFileError, readPart: (() => Promise<void>) | null, trans: TranslationBundle, signal: AbortSignal
): HTMLElement[] {
  const said = note('alert', trans.__('This file cannot be shown: %1.', error.message));
  if (readPart === null || !/damaged|contradicts/.test(error.message)) {
    return [said];
  }
  const button = element('button', { type: 'button', class: 'jp-mod-styled' }, trans.__('Show what stands before the damage'));
  button.addEventListener('click', () => void readPart(), { signal });
  return [said, button];
}

function note(role: 'status' | 'alert', text: string): HTMLElement {
  return element('p', { class: 'tsk-document-note', role }, text);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) {
    bytes[i] = binary.charCodeAt(i);
  }
  return bytes;
}
