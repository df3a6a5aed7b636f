/** A bar of segments: what finished, erred, was interrupted and runs. Each has a pattern of its own. */
import { element } from '../ui/dom';
import type { Counts } from './layout';

const SEGMENTS = ['finished', 'erred', 'interrupted', 'running'] as const;

export interface Bar {
  readonly el: HTMLElement;
  /** @param total what the whole bar stands for */
  set(counts: Counts, total: number): void;
}

export function makeBar(): Bar {
  const el = element('div', { class: 'tsk-progress-bar' });
  const segments = SEGMENTS.map(name => {
    const segment = element('div', { class: `tsk-segment tsk-${name}` });
    el.append(segment);
    return { name, segment };
  });
  return {
    el,
    set(counts, total) {
      for (const { name, segment } of segments) {
        const n = counts[name];
        segment.style.width = total > 0 ? `${(100 * n) / total}%` : '0%';
        segment.classList.toggle('tsk-some', n > 0);
      }
    }
  };
}
