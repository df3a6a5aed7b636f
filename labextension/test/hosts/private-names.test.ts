/** What others do not promise is as we use it, in the releases that are installed. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { Panel, Widget } from '@lumino/widgets';
import { expect, it, vi } from 'vitest';

import { element } from '../../src/charts/ui/dom';
import { addBelowInput, hearOthers, inputOf, kernelOf, setBy } from '../../src/hosts/private-names';
import { chartModel } from '../../src/hosts/widget/models';

it('the input of a cell has its class, right below the cell', () => {
  const source = readFileSync(createRequire(import.meta.url).resolve('@jupyterlab/cells/lib/widget.js'), 'utf8');
  const name = /const CELL_INPUT_WRAPPER_CLASS = '(.+)';/.exec(source)?.[1] ?? '';
  const cell = element('div', {}, element('p', {}, element('i', { class: name })), element('b', { class: name }));
  expect([inputOf(cell)?.localName, source.includes('inputWrapper.addClass(CELL_INPUT_WRAPPER_CLASS)'), source.includes('layout.addWidget(inputWrapper)')]).toEqual(['b', true, true]);
});

it('what is added below the input of a cell stands before its output, and goes with the cell', () => {
  const [cell, added] = [new Panel(), new Widget()];
  const parts = ['header', 'jp-Cell-inputWrapper', 'jp-Cell-outputWrapper', 'footer'].map(name => {
    const part = new Widget();
    part.addClass(name);
    cell.addWidget(part);
    return part;
  });
  addBelowInput(cell, added);
  expect(cell.widgets).toEqual([...parts.slice(0, 2), added, ...parts.slice(2)]);
  cell.dispose();
  expect(added.isDisposed).toBe(true);
});

it('who hears of a trait is told who set it', () => {
  const comm = { comm_id: 'w', target_name: 'jupyter.widget', on_close: vi.fn(), on_msg: vi.fn(), send: vi.fn(() => ''), close: vi.fn() };
  const model = new (chartModel('Progress'))({}, { model_id: 'w', comm, widget_manager: { display_view: vi.fn() } });
  const [self, other] = [{ name: 'self' }, { name: 'other' }];
  const heard: unknown[] = [];
  const end = hearOthers(self, model, 'total', value => heard.push(value));
  setBy(self, model, 'total', 1);
  setBy(other, model, 'total', 2);
  model.set('total', 3);
  end();
  model.set('total', 4);
  expect(heard).toEqual([2, 3]);
});

it('a manager without a kernel has none', () => {
  const model = { id: 'k', name: 'python3' };
  expect([{ kernel: { model } }, { kernel: null }, {}].map(kernelOf)).toEqual([model, null, null]);
});
