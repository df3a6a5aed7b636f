// @vitest-environment node
import type { ILabShell } from '@jupyterlab/application';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import { expect, it, beforeEach, describe } from 'vitest';
import type { Kernel, Session } from '@jupyterlab/services';

import { Owners } from '../../../../src/hosts/lab/panels/owners';
import { FakeOwner, FakeTracker, FakeRunning, kernelsOf, modelOf, sessionsOf } from './sessions';
import { type TargetState, PanelTarget } from '../../../../src/hosts/lab/panels/target';

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
  // Nor does one that is opened behind it take its place.
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

let notebooks: FakeTracker;
let sessions: FakeRunning<Session.IModel>;
let kernels: FakeRunning<Kernel.IModel>;
let subject: PanelTarget;

beforeEach(() => {
  notebooks = new FakeTracker();
  sessions = new FakeRunning();
  kernels = new FakeRunning();
  subject = new PanelTarget(new Owners([notebooks.tracker], null), sessionsOf(sessions), kernelsOf(kernels));
});

const looksAt = (name: string, kernelId: string, open = true): TargetState => ({ kind: 'kernel', name, model: modelOf(kernelId), open });
const sessionOn = (path: string, kernelId: string): Session.IModel => ({ id: '1', name: path, path, type: 'notebook', kernel: modelOf(kernelId) });

describe('a panel that follows', () => {
  it('looks at the kernel of the notebook in use, and at its next one', () => {
    expect(subject.state).toEqual({ kind: 'none' });
    const first = notebooks.open('a.ipynb', 'k1');
    const second = notebooks.open('b.ipynb', 'k2');
    expect(subject.state).toEqual(looksAt('b.ipynb', 'k2'));
    notebooks.use(first);
    expect(subject.state).toEqual(looksAt('a.ipynb', 'k1'));
    first.sessionContext.setKernel('k3');
    expect(subject.state).toEqual(looksAt('a.ipynb', 'k3'));
    second.sessionContext.setKernel('k4');
    expect(subject.state).toEqual(looksAt('a.ipynb', 'k3'));
  });

  it('tells a kernel that starts from none at all', () => {
    const { sessionContext: fake } = notebooks.open('a.ipynb', null);
    expect(subject.state).toEqual({ kind: 'no-kernel', name: 'a.ipynb' });
    fake.isReady = false;
    fake.statusChanged.emit();
    expect(subject.state).toEqual({ kind: 'starting', name: 'a.ipynb' });
    fake.hasNoKernel = true;
    fake.statusChanged.emit();
    expect(subject.state).toEqual({ kind: 'no-kernel', name: 'a.ipynb' });
  });

  it('tells of a change once, and of nothing else', () => {
    const { sessionContext: fake } = notebooks.open('a.ipynb', 'k1');
    let told = 0;
    subject.changed.connect(() => (told += 1));
    fake.statusChanged.emit();
    sessions.set([sessionOn('a.ipynb', 'k1')]);
    expect(told).toBe(0);
    fake.setKernel('k2');
    expect(told).toBe(1);
    subject.dispose();
    fake.setKernel('k3');
    expect(told).toBe(1);
  });
});

describe('a panel that is pinned', () => {
  it('stays with its notebook through renaming, while others are in use', () => {
    const first = notebooks.open('a.ipynb', 'k1');
    subject.setPinned(true);
    notebooks.open('b.ipynb', 'k2');
    expect([subject.state, subject.pin]).toEqual([looksAt('a.ipynb', 'k1'), { path: 'a.ipynb', kernelId: 'k1' }]);
    first.rename('c.ipynb');
    expect([subject.state, subject.pin]).toEqual([looksAt('c.ipynb', 'k1'), { path: 'c.ipynb', kernelId: 'k1' }]);
    subject.setPinned(false);
    expect([subject.state, subject.pin]).toEqual([looksAt('b.ipynb', 'k2'), null]);
  });

  it('looks on at the kernel of a notebook that was closed, until that is gone, and finds it opened again', () => {
    const first = notebooks.open('folder/a.ipynb', 'k1');
    subject.setPinned(true);
    kernels.set([modelOf('k1')]);
    first.dispose();
    expect(subject.state).toEqual(looksAt('a.ipynb', 'k1', false));
    sessions.set([sessionOn('folder/a.ipynb', 'k2')]);
    expect(subject.state).toEqual(looksAt('a.ipynb', 'k2', false));
    sessions.set([]);
    kernels.set([]);
    expect(subject.state).toEqual({ kind: 'closed', name: 'a.ipynb' });
    notebooks.open('folder/a.ipynb', 'k5');
    expect(subject.state).toEqual(looksAt('folder/a.ipynb', 'k5'));
  });

  it('takes up its pin after a reload, before and after its notebook is there', () => {
    subject.setPin({ path: 'a.ipynb', kernelId: 'k1' });
    expect(subject.state).toEqual({ kind: 'closed', name: 'a.ipynb' });
    notebooks.open('b.ipynb', 'k2');
    notebooks.open('a.ipynb', 'k1');
    notebooks.open('c.ipynb', 'k3');
    expect(subject.state).toEqual(looksAt('a.ipynb', 'k1'));
  });

  it('is pinned to nothing where there is nothing', () => {
    subject.setPinned(true);
    expect([subject.state, subject.pin]).toEqual([{ kind: 'none' }, null]);
  });
});
