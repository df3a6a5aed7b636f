/** The module that VS Code's widget manager loads: all widgets, with one feed for each manager, which has one kernel. */
import { adoptStyles } from '../../charts/ui/theme';
import { trans } from '../../lib/translate';
import { Feed } from '../lab/feed/feed';
import { FEED_DEFAULTS } from '../lab/feed/state';
import { connectionOf } from '../private-names';
import { widgetModule } from '../widget/charts';
import { type LiveModel, liveModels } from '../widget/live-models';
import { type CommModel, WidgetComms } from './widget-comms';

/** VS Code's colours and fonts under JupyterLab's names, by which all charts read theirs; the ground around a widget is white there. */
const CSS = `
body[class*='vscode-'] .tsk-widget {
  --jp-layout-color0: var(--vscode-editor-background);
  --jp-layout-color1: var(--vscode-editorWidget-background);
  --jp-layout-color2: var(--vscode-toolbar-hoverBackground);
  --jp-ui-font-color1: var(--vscode-editor-foreground);
  --jp-ui-font-color2: var(--vscode-descriptionForeground);
  --jp-border-color2: var(--vscode-panel-border);
  --jp-brand-color1: var(--vscode-textLink-foreground);
  --jp-ui-font-family: var(--vscode-font-family);
  --jp-code-font-family: var(--vscode-editor-font-family);
  background: var(--jp-layout-color0);
}
`;
adoptStyles(document.body, CSS);

const reached = new WeakMap<object, { readonly comms: WidgetComms; readonly feed: Feed }>();

const openPage = (): void => {
  throw new Error(trans.__('this page can open no other one: taskscope.compare(before, after) in a cell shows it'));
};

// Messages follow the opening of a widget's comm at once, before a view of it is made.
liveModels.added.connect((_, added) => {
  const model = added as LiveModel & CommModel;
  const manager = model.widget_manager;
  const known = reached.get(manager);
  if (model.get('recorder_id') === '') {
    // It shows a recording.
  } else if (known !== undefined) {
    known.comms.add(model);
  } else {
    const connection = connectionOf(manager);
    const comms = new WidgetComms(connection);
    comms.add(model);
    reached.set(manager, { comms, feed: new Feed(connection?.id ?? '', comms, FEED_DEFAULTS, openPage) });
  }
});

export default widgetModule({
  feedOf: ({ widget_manager: manager }) => {
    const value = reached.get(manager)?.feed;
    return value === undefined ? null : { value, release: () => undefined };
  },
  buttons: () => [],
  cells: null
});
