/** What leaves the chart: tables for the clipboard, a picture as a file. */
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { Outlet } from '../ui/outlet';
import type { Emphasis } from './emphasis';
import { pictureOf } from './exporter';
import type { PrefixSummary } from './legend';
import type { Scene } from './model';
import { laneTable, prefixTable, taskTable } from './tables';

const MAX_LEGEND = 60;

/** What there is to give away now. */
export interface Shown {
  readonly scene: Scene | null;
  readonly prefixes: readonly PrefixSummary[];
  readonly canvas: HTMLCanvasElement;
  readonly title: string;
  readonly theme: Theme;
}

export class Output {
  constructor(
    private readonly store: TaskStore,
    private readonly emphasis: Emphasis,
    private readonly shown: () => Shown,
    private readonly colourOf: (prefix: string) => string,
    private readonly outlet: Outlet,
    private readonly t: Translate
  ) {}

  copyGroups(): void {
    const { scene, prefixes } = this.shown();
    if (scene !== null) {
      this.outlet.copy([prefixTable(prefixes, this.t), laneTable(this.store, scene, this.t)]);
    }
  }

  copyTasks(): void {
    const { scene } = this.shown();
    if (scene !== null) {
      this.outlet.copy([taskTable(this.store, scene, this.emphasis.sight(this.store.tables), this.t)]);
    }
  }

  savePicture(): void {
    const { prefixes, canvas, title, theme } = this.shown();
    const legend = prefixes
      .filter(({ prefix }) => !this.emphasis.isHidden(prefix))
      .slice(0, MAX_LEGEND)
      .map(({ prefix }) => ({ name: prefix, colour: this.colourOf(prefix) }));
    this.outlet.save(pictureOf(canvas, title, legend, theme), 'taskscope-gantt.png');
  }
}
