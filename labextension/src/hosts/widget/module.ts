/** What the widget manager loads: models, and views that know their surroundings. */
import type { ExportMap } from '@jupyter-widgets/base';

import type { ChartName } from '../lab/panels/charts';
import { WIDGETS } from './charts';
import { CHART_MODELS, RecordingModel } from './models';
import { type Surroundings, chartView } from './view';

export function widgetModule(surroundings: Surroundings): ExportMap {
  const view = (chart: ChartName): ReturnType<typeof chartView> => chartView(surroundings, chart, WIDGETS[chart]);
  return {
    RecordingModel,
    ...CHART_MODELS,
    ProgressView: view('progress'),
    GanttView: view('task-stream'),
    DashboardView: view('dashboard'),
    ResourceView: view('resources'),
    CacheView: view('cache'),
    FlameView: view('flame')
  };
}
