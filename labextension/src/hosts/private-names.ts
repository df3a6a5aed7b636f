/**
 * What is used of JupyterLab, its widgets and Backbone that they do not promise: here and nowhere else, so that a
 * release of theirs that changes it fails one test (`test/hosts/private-names.test.ts`).
 */
import type { WidgetModel } from '@jupyter-widgets/base';
import type { Kernel } from '@jupyterlab/services';
import type { PanelLayout, Widget } from '@lumino/widgets';

/** Where the input of a cell stands, in its element; null: the cell has none yet. A class of `@jupyterlab/cells`. */
export function inputOf(cell: HTMLElement): Element | null {
  return cell.querySelector(':scope > .jp-Cell-inputWrapper');
}

export function addBelowInput(cell: Widget, added: Widget): void {
  const input = inputOf(cell.node);
  const layout = cell.layout as PanelLayout;
  layout.insertWidget(layout.widgets.findIndex(({ node }) => node === input) + 1, added);
}

/** The connection to the kernel that a widget manager serves; the base type does not say that it has one. */
export function connectionOf(manager: unknown): Kernel.IKernelConnection | null {
  return (manager as { readonly kernel?: Kernel.IKernelConnection | null }).kernel ?? null;
}

export function kernelOf(manager: unknown): Kernel.IModel | null {
  return connectionOf(manager)?.model ?? null;
}

/** Set a trait; those who hear of the change hear who set it. Backbone passes on options that it does not know. */
export function setBy(teller: object, model: WidgetModel, trait: string, value: unknown): void {
  model.set(trait, value, { taskscopeTeller: teller });
}

/** Call `listener` for each change of a trait, unless `teller` set it; returns what ends that. */
export function hearOthers(teller: object, model: WidgetModel, trait: string, listener: (value: unknown) => void): () => void {
  const changed = (_: WidgetModel, value: unknown, options?: { readonly taskscopeTeller?: object }): void => {
    if (options?.taskscopeTeller !== teller) {
      listener(value);
    }
  };
  model.on(`change:${trait}`, changed);
  return () => {
    model.off(`change:${trait}`, changed);
  };
}
