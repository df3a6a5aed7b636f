/** The prebuilt JupyterLab extension. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { plugin as labPlugin } from './hosts/lab/plugin';
import { plugin as widgetPlugin } from './hosts/widget/plugin';

const plugins: JupyterFrontEndPlugin<unknown>[] = [labPlugin, widgetPlugin];

export default plugins;
