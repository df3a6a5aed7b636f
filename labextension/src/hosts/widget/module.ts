/** What the widget manager loads: models, and views that know their surroundings. */
import type { ExportMap } from '@jupyter-widgets/base';

import { mountDashboardOf, mountGanttOf, mountProgressOf } from './charts';
import { DashboardModel, GanttModel, ProgressModel, RecordingModel } from './models';
import { type Surroundings, chartView } from './view';

export function widgetModule(surroundings: Surroundings): ExportMap {
  return {
    RecordingModel,
    ProgressModel,
    GanttModel,
    DashboardModel,
    ProgressView: chartView(surroundings, mountProgressOf),
    GanttView: chartView(surroundings, mountGanttOf),
    DashboardView: chartView(surroundings, mountDashboardOf)
  };
}
