/** What the chart has besides its picture: details of tasks, finding them, tables, and what leaves the chart. */
import type { Notice } from '../ui/notice';
import { Outlet } from '../ui/outlet';
import { adoptStyles } from '../ui/styles';
import { fillTable } from '../ui/text-table';
import { Details, type DetailsHost } from './details';
import { EXTRAS_CSS } from './extras-style';
import { FindBar } from './find-bar';
import { fillHelp } from './help';
import type { PrefixSummary } from './legend';
import { Locator } from './locator';
import type { Scene } from './model';
import { Output, type Shown } from './output';
import { TaskSearch } from './search';
import { Steps } from './steps';
import { laneTable, prefixTable } from './tables';

export interface ExtrasHost extends DetailsHost {
  readonly notice: Notice;
  shown(): Shown;
}

export class Extras {
  readonly details: Details;
  readonly findBar: FindBar;
  readonly locator: Locator;
  readonly output: Output;
  readonly steps: Steps;

  constructor(private readonly host: ExtrasHost) {
    const { store, parts, notice, emphasis, t, signal } = host;
    adoptStyles(parts.root, EXTRAS_CSS);
    fillHelp(parts.help, t);
    this.details = new Details(host);
    this.steps = new Steps(host);
    this.locator = new Locator(store, signal);
    const outlet = new Outlet(notice, t);
    this.output = new Output(store, emphasis, () => host.shown(), prefix => host.colourOf(prefix), outlet, t);
    this.findBar = new FindBar(
      {
        search: query => new TaskSearch(store, query, host.viewport.scene?.runs ?? null, emphasis.sight(store.tables)),
        selected: () => store.selection.current?.ref ?? null,
        goTo: ref => { this.steps.goTo(ref); },
        closed: () => { parts.canvas.focus(); }
      },
      t,
      signal
    );
    notice.el.after(this.findBar.el);
  }

  /** Say in tables what there is. */
  fillTables(prefixes: readonly PrefixSummary[], scene: Scene | null): void {
    const { store, parts, t } = this.host;
    fillTable(parts.prefixTable, prefixTable(prefixes, t));
    if (scene !== null) {
      fillTable(parts.laneTable, laneTable(store, scene, t));
    }
  }
}
