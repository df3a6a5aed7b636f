/** What leaves the chart: tables for the clipboard, a picture as a file. */
import { formatCount } from '../../lib/format';
import type { Theme } from '../../lib/theme';
import type { Translate } from '../../lib/translate';
import type { TaskStore } from '../../store';
import { savePng } from '../ui/save-picture';
import type { TextTable } from '../ui/text-table';
import { copyText, tabSeparated } from '../ui/text-table';
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
  /** @param say tells the person how it went */
  constructor(
    private readonly store: TaskStore,
    private readonly emphasis: Emphasis,
    private readonly shown: () => Shown,
    private readonly colourOf: (prefix: string) => string,
    private readonly say: (text: string) => void,
    private readonly t: Translate
  ) {}

  copyGroups(): void {
    const { scene, prefixes } = this.shown();
    if (scene !== null) {
      this.#copy([prefixTable(prefixes, this.t), laneTable(this.store, scene, this.t)]);
    }
  }

  copyTasks(): void {
    const { scene } = this.shown();
    if (scene !== null) {
      this.#copy([taskTable(this.store, scene, this.emphasis.sight(this.store.tables), this.t)]);
    }
  }

  savePicture(): void {
    const { prefixes, canvas, title, theme } = this.shown();
    const legend = prefixes
      .filter(({ prefix }) => !this.emphasis.isHidden(prefix))
      .slice(0, MAX_LEGEND)
      .map(({ prefix }) => ({ name: prefix, colour: this.colourOf(prefix) }));
    savePng(pictureOf(canvas, title, legend, theme), 'taskscope-gantt.png').then(
      () => { this.say(this.t('saved taskscope-gantt.png')); },
      (error: unknown) => { this.say(this.t('could not save the picture: %1', messageOf(error))); }
    );
  }

  #copy(tables: readonly TextTable[]): void {
    const rows = tables.reduce((sum, table) => sum + table.rows.length, 0);
    const captions = tables.length === 1 ? ` (${tables[0]?.caption ?? ''})` : '';
    copyText(tables.map(tabSeparated).join('\n\n')).then(
      () => { this.say(this.t('copied %1 rows', formatCount(rows)) + captions); },
      (error: unknown) => { this.say(this.t('could not copy: %1', messageOf(error))); }
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
