/** The buttons of charts other than the Gantt chart, which in a dashboard has those that concern all of them. */
import type { Translate } from '../../lib/translate';
import { setText } from './dom';
import { maySaveFiles } from './may-save';
import { Toolbar, setPressed } from './toolbar';

export interface ChartActions {
  togglePause(): void;
  toggleClear(): void;
  copy(): void;
  savePicture(): void;
}

/** What charts over time can do besides. */
export interface TimeActions {
  fit(): void;
  toggleFollow(): void;
  toggleTable(): void;
}

export interface ChartToolState {
  readonly paused: boolean;
  readonly cleared: boolean;
  /** Whether anything may still come, so that pausing and clearing make sense. */
  readonly live: boolean;
  readonly following?: boolean;
  readonly table?: boolean;
}

export class ChartTools {
  readonly el: HTMLElement;
  readonly #toolbar: Toolbar;
  readonly #follow: HTMLButtonElement | null;
  readonly #pause: HTMLButtonElement | null;
  readonly #table: HTMLButtonElement | null;
  readonly #clear: HTMLButtonElement | null;

  /**
   * @param time null for a chart without a time axis
   * @param alone whether no other chart of a dashboard has the buttons that concern all
   */
  constructor(actions: ChartActions, time: TimeActions | null, alone: boolean, private readonly t: Translate, signal: AbortSignal) {
    const toolbar = new Toolbar(t('View'), signal);
    this.#toolbar = toolbar;
    this.el = toolbar.el;
    const own = alone ? time : null;
    if (own !== null) {
      toolbar.button({ text: t('Fit'), label: t('Fit: show everything (Home)'), act: () => { own.fit(); } });
    }
    this.#follow = own === null ? null : toolbar.toggle({ text: t('Follow'), label: t('Follow: move with the present (F)'), act: () => { own.toggleFollow(); } });
    this.#pause = alone ? toolbar.toggle({ text: t('Pause'), label: t('Pause: hold the picture; recording goes on'), act: () => { actions.togglePause(); } }) : null;
    const menu = toolbar.menu(t('More'), t('More actions'));
    menu.item(t('Copy as a table'), () => { actions.copy(); });
    this.#table = time === null ? null : menu.item('', () => { time.toggleTable(); });
    menu.item(t('Save as PNG'), () => { actions.savePicture(); }).hidden = !maySaveFiles();
    this.#clear = alone ? menu.item('', () => { actions.toggleClear(); }) : null;
    toolbar.keepStop();
  }

  refresh({ paused, cleared, live, following = false, table = false }: ChartToolState): void {
    const { t } = this;
    if (this.#follow !== null) {
      setPressed(this.#follow, following);
    }
    if (this.#pause !== null) {
      setPressed(this.#pause, paused);
      this.#pause.hidden = !live && !paused;
    }
    if (this.#table !== null) {
      setText(this.#table, table ? t('Hide the table') : t('Show as a table'));
    }
    if (this.#clear !== null) {
      setText(this.#clear, cleared ? t('Show all computes again') : t('Clear: show only what comes'));
      this.#clear.hidden = !live && !cleared;
    }
    this.#toolbar.keepStop();
  }
}
