/** The details of the selected task, which stay while the pointer is elsewhere; and the buttons of workers. */
import { formatCount } from '../../../lib/format';
import { trans } from '../../../lib/translate';
import { FactList } from '../../timeline/tip';
import type { Facts } from '../../timeline/track';
import type { ComponentChildren } from '../../ui/render';
import { Button } from '../../ui/toolbar';
import type { FoundOpen, FoundTask } from '../finding/find-task';
import type { LaneLayout } from '../layout';
import type { Neighbours } from './neighbours';
import { NeighbourList } from './neighbours';

/** What is known of the selected task. */
export interface Selection {
  readonly facts: Facts;
  readonly colour: string;
  /** What there is to say of its dependencies, besides which they are. */
  readonly note: string;
  readonly isOpen: boolean;
  /** Leads to the cell that computed it; null: this page has none. */
  readonly showCell: (() => void) | null;
}

interface CardProps {
  readonly selection: Selection | null;
  readonly neighbours: readonly Neighbours[];
  readonly goTo: (task: FoundTask | FoundOpen) => void;
  readonly relating: boolean;
  readonly toggleRelations: () => void;
  readonly zoom: () => void;
  readonly close: () => void;
}

export function Card({ selection, neighbours, goTo, relating, toggleRelations, zoom, close }: CardProps): ComponentChildren {
  return (
    <div class="tsk-gantt-card" role="region" aria-label={trans.__('Selected task')} hidden={selection === null}>
      {selection !== null && (
        <>
          <div class="tsk-gantt-details"><FactList facts={selection.facts} colour={selection.colour} /></div>
          {neighbours.map(of => <NeighbourList neighbours={of} goTo={goTo} />)}
          <p class="tsk-gantt-tip-note" hidden={selection.note === ''}>{selection.note}</p>
          <div class="tsk-bar">
            <Button
              text={trans.__('Draw dependencies')} label={trans.__('Draw dependencies: lines from what it needs and to what needs it (R)')} act={toggleRelations}
              pressed={relating} disabled={selection.isOpen}
            />
            <Button
              text={trans.__('Go to the cell')} label={trans.__('Go to the cell that computed it')} act={() => { selection.showCell?.(); }}
              hidden={selection.showCell === null}
            />
            <Button text={trans.__('Zoom to task')} label={trans.__('Zoom to task: the selected one fills the chart (Z)')} act={zoom} />
            <Button text={trans.__('Close')} label={trans.__('Close: select nothing (Escape)')} act={close} />
          </div>
        </>
      )}
    </div>
  );
}

interface WorkersProps {
  readonly layout: LaneLayout;
  readonly toggle: (worker: string, collapsed: boolean) => void;
}

/** Buttons over the labels of workers, which open and close them; only those in sight exist. */
export function WorkerButtons({ layout: { boxes, plotLeftPx, plotHeightPx, rowPx }, toggle }: WorkersProps): ComponentChildren {
  return (
    <div class="tsk-gantt-workers" style={{ width: `${plotLeftPx}px`, height: `${plotHeightPx}px` }}>
      {boxes.map(({ row, topPx }) => {
        if (row.kind === 'lane') {
          return null;
        }
        const { worker, collapsed } = row;
        const lanes = formatCount(row.lanes.length);
        const title = collapsed ? trans.__('%1: mean of %2 threads; show them', row.label, lanes) : trans.__('%1: collapse its %2 threads', row.label, lanes);
        return (
          <button
            key={worker} type="button" class="tsk-gantt-worker" title={title} aria-label={title} aria-expanded={!collapsed}
            style={{ top: `${topPx}px`, height: `${rowPx}px` }} onClick={() => { toggle(worker, !collapsed); }}
          />
        );
      })}
    </div>
  );
}
