// @vitest-environment node
import type { ILabShell } from '@jupyterlab/application';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import { expect, it } from 'vitest';

import { Owners } from '../../../../src/hosts/lab/panels/owners';
import { FakeOwner, FakeTracker } from './sessions';

class FakeShell {
  readonly currentChanged = new Signal<this, { newValue: Widget | null }>(this);
  currentWidget: Widget | null = null;

  use(widget: Widget | null): void {
    this.currentWidget = widget;
    this.currentChanged.emit({ newValue: widget });
  }

  get shell(): ILabShell {
    return this as unknown as ILabShell;
  }
}

it('the notebook or console in use is the current one, and stays so while something else is in use', () => {
  const [notebooks, consoles, shell] = [new FakeTracker(), new FakeTracker(), new FakeShell()];
  const owners = new Owners([notebooks.tracker, consoles.tracker], shell.shell);
  const said: (string | undefined)[] = [];
  owners.changed.connect(() => said.push(owners.current?.session.path));
  expect(owners.current).toBeNull();
  const [first, second] = [notebooks.open('a.ipynb', 'k1'), consoles.open('console', 'k2')];
  shell.use(first.widget);
  shell.use(second.widget);
  shell.use(new FakeOwner('a launcher', null).widget);
  expect(owners.current?.widget).toBe(second);
  shell.use(first.widget);
  expect(owners.current?.widget).toBe(first);
  expect(said.at(-1)).toBe('a.ipynb');
});

it('one that is opened behind the one in use does not take its place', () => {
  const [notebooks, shell] = [new FakeTracker(), new FakeShell()];
  const owners = new Owners([notebooks.tracker], shell.shell);
  const first = notebooks.open('a.ipynb', 'k1');
  shell.use(first.widget);
  notebooks.open('b.ipynb', 'k2');
  expect(owners.current?.widget).toBe(first);
});

it('without a shell of JupyterLab, as in Notebook 7, the trackers say what is in use', () => {
  const notebooks = new FakeTracker();
  const first = notebooks.open('a.ipynb', 'k1');
  const owners = new Owners([notebooks.tracker], null);
  expect(owners.current?.widget).toBe(first);
  const second = notebooks.open('b.ipynb', 'k2');
  expect(owners.current?.widget).toBe(second);
  notebooks.use(first);
  expect(owners.current?.widget).toBe(first);
});

it('when the one in use is closed, another takes its place, until none is left', () => {
  const notebooks = new FakeTracker();
  const [first, second] = [notebooks.open('a.ipynb', 'k1'), notebooks.open('b.ipynb', 'k2')];
  const owners = new Owners([notebooks.tracker], null);
  notebooks.currentWidget = first;
  second.dispose();
  expect(owners.current?.widget).toBe(first);
  notebooks.currentWidget = null;
  first.dispose();
  expect([owners.current, owners.byPath('a.ipynb'), owners.byKernel('k1')]).toEqual([null, null, null]);
});

it('of several on one kernel the one in use is found first', () => {
  const notebooks = new FakeTracker();
  const [first, second] = [notebooks.open('a.ipynb', 'k1'), notebooks.open('b.ipynb', 'k1')];
  const owners = new Owners([notebooks.tracker], null);
  expect(owners.byKernel('k1')?.widget).toBe(second);
  notebooks.use(first);
  expect(owners.byKernel('k1')?.widget).toBe(first);
  expect([owners.byPath('b.ipynb')?.widget, owners.byKernel('k2')]).toEqual([second, null]);
});
