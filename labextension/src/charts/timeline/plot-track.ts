/** A track of plots over time, one below the other: what its axes, readings and keys have in common. */
import { trans } from '../../lib/translate';
import type { CanvasPoint } from '../ui/dom';
import type { ComponentChildren } from '../ui/render';
import type { TextTable } from '../ui/tables';
import type { ButtonSpec } from '../ui/toolbar';
import type { Brush, Plot, PlotSpec } from './drawing';
import { gutterPx, layoutPlots } from './drawing';
import type { OwnKeys } from './keys';
import type { LegendEntry } from '../ui/export';
import type { TimeFrame } from './time';
import type { Drawn, Tip, Track, TrackContext } from './track';

export abstract class PlotTrack implements Track {
  abstract readonly name: string;
  abstract readonly label: string;
  readonly inBrief?: 'head';
  readonly css: string = '';
  readonly keys: OwnKeys = {
    others: [
      { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], shown: trans.__('Shift+← →'), does: trans.__('read values'), act: key => { this.context.stepCursor(key === 'ArrowLeft' ? -1 : 1); } },
      { keys: ['Escape'], shown: trans.__('Esc'), does: trans.__('read no values'), act: () => { this.context.stepCursor(null); } }
    ]
  };

  constructor(protected readonly context: TrackContext) {}

  get classes(): readonly [string, string] {
    return ['tsk-series', `tsk-${this.name}`];
  }

  abstract update(frame: TimeFrame | null): string | null;
  abstract version(): string;
  abstract plots(): readonly PlotSpec[];
  abstract drawPlots(brush: Brush, plots: readonly Plot[]): void;
  /** What there is at a time, a line each; null: nothing. */
  abstract readout(timeS: number): readonly string[] | null;
  abstract description(frame: TimeFrame): string;
  abstract tables(): readonly TextTable[];
  abstract head(): ComponentChildren;
  abstract foot(): ComponentChildren;

  title(): string {
    return this.label;
  }

  legend(): readonly LegendEntry[] {
    return [];
  }

  copies(): readonly ButtonSpec[] {
    const { exporter } = this.context;
    return [{ text: trans.__('Copy as a table'), act: () => { exporter.copy(this.copied()); } }];
  }

  /** What is copied, where that is more than its tables. */
  copied(): readonly TextTable[] {
    return this.tables();
  }

  gutterPx(): number {
    return gutterPx(this.plots());
  }

  heightPx(): number {
    return layoutPlots(this.plots()).heightPx;
  }

  draw(brush: Brush): Drawn {
    const { plots } = layoutPlots(this.plots());
    plots.forEach(plot => { brush.plotAxis(plot); });
    this.drawPlots(brush, plots);
    return 'exact';
  }

  hit(_: CanvasPoint | null, timeS: number | null): Tip | null {
    const lines = timeS === null ? null : this.readout(timeS);
    return lines === null ? null : { kind: 'reading', lines };
  }
}
