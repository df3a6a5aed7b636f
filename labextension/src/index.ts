/** The prebuilt JupyterLab extension. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { plugin as cellsPlugin } from './hosts/lab/cells/plugin';
import { plugin as documentsPlugin } from './hosts/lab/documents/plugin';
import { plugin as panelsPlugin } from './hosts/lab/panels/plugin';
import { plugin as labPlugin } from './hosts/lab/feed/plugin';
import { plugin as resultsPlugin } from './hosts/lab/results';
import { plugin as widgetPlugin } from './hosts/widget/plugin';

const plugins: JupyterFrontEndPlugin<unknown>[] = [labPlugin, cellsPlugin, panelsPlugin, widgetPlugin, documentsPlugin, resultsPlugin];

export default plugins;
