/** The buttons of the Gantt chart. */
import type { Translate } from '../../lib/translate';
import { setText } from '../ui/dom';
import { maySaveFiles } from '../ui/may-save';
import { Toolbar, setPressed } from '../ui/toolbar';

/** What the buttons ask of the chart. */
export interface ToolActions {
  zoom(factor: number): void;
  fit(): void;
  toggleFollow(): void;
  togglePause(): void;
  find(): void;
  toggleBox(): void;
  toggleLanes(): void;
  toggleTables(): void;
  copyGroups(): void;
  copyTasks(): void;
  savePicture(): void;
  toggleClear(): void;
  help(): void;
}

export interface ToolState {
  readonly following: boolean;
  readonly paused: boolean;
  readonly boxing: boolean;
  readonly tables: boolean;
  readonly cleared: boolean;
  /** Whether anything may still come, so that pausing and clearing make sense. */
  readonly live: boolean;
  /** Null: there is nothing to collapse. */
  readonly collapsed: boolean | null;
}

export class Tools {
  readonly el: HTMLElement;
  readonly #toolbar: Toolbar;
  readonly #follow: HTMLButtonElement;
  readonly #pause: HTMLButtonElement;
  readonly #box: HTMLButtonElement;
  readonly #lanes: HTMLButtonElement;
  readonly #tables: HTMLButtonElement;
  readonly #clear: HTMLButtonElement;

  constructor(
    actions: ToolActions,
    private readonly t: Translate,
    signal: AbortSignal
  ) {
    const toolbar = new Toolbar(t('View'), signal);
    this.#toolbar = toolbar;
    this.el = toolbar.el;
    toolbar.button({ text: '−', label: t('Zoom out'), act: () => { actions.zoom(2); } });
    toolbar.button({ text: '+', label: t('Zoom in'), act: () => { actions.zoom(0.5); } });
    toolbar.button({ text: t('Fit'), label: t('Fit: show everything (Home)'), act: () => { actions.fit(); } });
    this.#follow = toolbar.toggle({ text: t('Follow'), label: t('Follow: move with the present (F)'), act: () => { actions.toggleFollow(); } });
    this.#pause = toolbar.toggle({ text: t('Pause'), label: t('Pause: hold the picture; recording goes on'), act: () => { actions.togglePause(); } });
    toolbar.button({ text: t('Find'), label: t('Find tasks (/)'), act: () => { actions.find(); } });
    const menu = toolbar.menu(t('More'), t('More actions'));
    this.#box = menu.item('', () => { actions.toggleBox(); });
    this.#lanes = menu.item('', () => { actions.toggleLanes(); });
    this.#tables = menu.item('', () => { actions.toggleTables(); });
    menu.item(t('Copy prefixes and lanes as a table'), () => { actions.copyGroups(); });
    menu.item(t('Copy tasks in sight as a table'), () => { actions.copyTasks(); });
    menu.item(t('Save as PNG'), () => { actions.savePicture(); }).hidden = !maySaveFiles();
    this.#clear = menu.item('', () => { actions.toggleClear(); });
    menu.item(t('Keys'), () => { actions.help(); });
  }

  refresh({ following, paused, boxing, tables, cleared, live, collapsed }: ToolState): void {
    const { t } = this;
    setPressed(this.#follow, following);
    setPressed(this.#pause, paused);
    this.#pause.hidden = !live && !paused;
    setText(this.#box, boxing ? t('Drag moves the chart') : t('Drag zooms to a box (Shift+drag)'));
    this.#lanes.hidden = collapsed === null;
    setText(this.#lanes, collapsed === true ? t('Show the lanes of workers (C)') : t('Collapse workers (C)'));
    setText(this.#tables, tables ? t('Hide the tables') : t('Show as tables'));
    setText(this.#clear, cleared ? t('Show all computes again') : t('Clear: show only what comes'));
    this.#clear.hidden = !live && !cleared;
    this.#toolbar.keepStop();
  }
}
