/** What the widget manager loads: models, and views that know their surroundings. */
import type { ExportMap } from '@jupyter-widgets/base';

import { mountCacheOf, mountDashboardOf, mountGanttOf, mountProgressOf, mountResourcesOf } from './charts';
import { CacheModel, DashboardModel, GanttModel, ProgressModel, RecordingModel, ResourceModel } from './models';
import { type Surroundings, chartView } from './view';

export function widgetModule(surroundings: Surroundings): ExportMap {
  return {
    RecordingModel,
    ProgressModel,
    GanttModel,
    DashboardModel,
    ResourceModel,
    CacheModel,
    ProgressView: chartView(surroundings, mountProgressOf),
    GanttView: chartView(surroundings, mountGanttOf),
    DashboardView: chartView(surroundings, mountDashboardOf),
    ResourceView: chartView(surroundings, mountResourcesOf),
    CacheView: chartView(surroundings, mountCacheOf)
  };
}
