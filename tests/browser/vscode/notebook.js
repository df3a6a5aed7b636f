/**
 * A notebook as VS Code's Jupyter extension shows it: its widget manager, its way to find and load the modules of
 * widgets, and the outputs of cells. A widget is shown only in an output that began with it, and no comm is opened.
 */
import { ServerConnection } from '@jupyterlab/services';
import { KernelConnection } from '@jupyterlab/services/lib/kernel/default';

const WIDGET = 'application/vnd.jupyter.widget-view+json';
const SCRIPTS = '/vscode/jupyter/';

/** What tests read: the stream, and what the page sent. */
const seen = { batches: [], sent: [] };
let manager;
let connection;
let nCells = 0;

async function loadWidgetScript(name) {
  // VS Code reads the text, and runs none of it.
  const text = await (await fetch(`${SCRIPTS}nbextensions/${name}/extension.js`)).text();
  const config = text.slice(text.indexOf('require.config({'));
  const mapped = config.slice(0, config.indexOf(')')).split('{')[3].split('}')[0].split(':');
  const [module, path] = mapped.map(part => part.trim().replace(/^['"]|['"]$/g, ''));
  window.requirejs.config({ paths: { [module]: new URL(SCRIPTS + path, location.href).href } });
}

function open({ kernel, token, dropsBuffers }) {
  const serverSettings = ServerConnection.makeSettings({ baseUrl: location.origin, wsUrl: location.origin.replace('http', 'ws'), token, appendToken: true });
  connection = new KernelConnection({ model: kernel, serverSettings, handleComms: true });
  connection.commsOverSubshells = 'disabled';
  connection.anyMessage.connect((_, { msg, direction }) => {
    if (direction === 'send') {
      seen.sent.push(msg.header.msg_type);
    } else if (msg.header.msg_type === 'comm_msg' && msg.content.data.content?.kind === 'batch') {
      seen.batches.push({ comm: msg.content.comm_id, isBinary: msg.buffers.length === 1 && msg.buffers[0].byteLength > 0 });
      if (dropsBuffers) {
        msg.buffers.length = 0;
      }
    }
  });
  const loader = {
    widgetsRegisteredInRequireJs: new Set(), loadWidgetScript, successHandler() {},
    errorHandler: (...error) => { console.error('cannot load', ...error); }
  };
  window.vscIPyWidgets8.load();
  manager = new window.vscIPyWidgets.WidgetManager(connection, document.body, loader, () => {});
}

/** Show an output, or what it was updated to. */
async function show(output, data, isUpdate) {
  output.shown = (output.shown ?? 0) + 1;
  const { shown } = output;
  const view = data[WIDGET];
  if (view === undefined) {
    output.view?.dispose();
    output.view = undefined;
    output.replaceChildren();
    output[data['text/html'] === undefined ? 'textContent' : 'innerHTML'] = data['text/html'] ?? data['text/plain'];
  } else if (!isUpdate) {
    const model = await manager.get_model(view.model_id);
    const body = document.createElement('div');
    body.className = 'cell-output-ipywidget-background';
    output.replaceChildren(body);
    const made = await manager.create_view(model, { el: body });
    if (output.shown === shown) {
      output.view = await manager.display_view(view, made, { node: body });
    }
  }
}

/** Run a cell, and begin its outputs anew; resolves when it is done. */
async function run(code, number = nCells++) {
  const cell = document.getElementById(`cell-${number}`) ?? document.createElement('section');
  cell.id = `cell-${number}`;
  for (const { view } of cell.children) {
    view?.dispose();
  }
  cell.replaceChildren();
  document.body.append(cell);
  const metadata = { cellId: `vscode-notebook-cell:/notebook.ipynb#W${number}sZmlsZQ%3D%3D` };
  const future = connection.requestExecute({ code, stop_on_error: false }, false, metadata);
  const byId = new Map();
  future.registerMessageHook(({ header: { msg_type: type }, content }) => {
    const id = content.transient?.display_id;
    if (type === 'display_data' || type === 'execute_result') {
      const output = document.createElement('div');
      cell.append(output);
      byId.set(id, output);
      outputs.set(id, output);
      void show(output, content.data, false);
    } else if (type === 'error') {
      console.error(content.ename, content.evalue);
    }
    return true;
  });
  await future.done;
}

const outputs = new Map();

function follow() {
  connection.iopubMessage.connect((_, { header: { msg_type: type }, content }) => {
    if (type === 'update_display_data') {
      const output = outputs.get(content.transient.display_id);
      if (output !== undefined) {
        void show(output, content.data, true);
      }
    }
  });
}

window.notebook = { open: options => { open(options); follow(); }, run, seen };
