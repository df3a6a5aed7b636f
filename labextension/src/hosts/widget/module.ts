/** What the widget manager loads: models, and views that know their surroundings. */
import type { ExportMap } from '@jupyter-widgets/base';

import { mountCacheOf, mountDashboardOf, mountFlameOf, mountGanttOf, mountProgressOf, mountResourcesOf } from './charts';
import { CHART_MODELS, RecordingModel } from './models';
import { type Surroundings, chartView } from './view';

export function widgetModule(surroundings: Surroundings): ExportMap {
  return {
    RecordingModel,
    ...CHART_MODELS,
    ProgressView: chartView(surroundings, 'progress', mountProgressOf),
    GanttView: chartView(surroundings, 'task-stream', mountGanttOf),
    DashboardView: chartView(surroundings, 'dashboard', mountDashboardOf),
    ResourceView: chartView(surroundings, 'resources', mountResourcesOf),
    CacheView: chartView(surroundings, 'cache', mountCacheOf),
    FlameView: chartView(surroundings, 'flame', mountFlameOf)
  };
}
