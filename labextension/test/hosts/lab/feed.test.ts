// @vitest-environment node
import { describe, expect, it, vi } from 'vitest';

import { RUN, TABLES } from '../../wire/wire-fixture';
import { FakeKernel } from './fake-kernel';
import { CONTROL, DATA, batch, feedOf, live, reply, started, useFakeTime } from './live-feed';
import { SharedMap } from '../../../src/hosts/lab/feed/shared';

useFakeTime();

describe('a feed', () => {
  it('opens both comms on a subshell of its own, says hello, marks all that it sends so that the kernel takes it quietly, and leaves nothing behind', async () => {
    const { kernel, feed } = await started();
    expect(kernel.verbs()).toEqual([{ verb: 'hello', cursor: 0, epoch: '' }]);
    feed.dispose();
    expect(kernel.sent.map(m => [m.type, m.subshell, m.metadata])).toEqual([
      ['kernel_info_request', null], ['create_subshell_request', null], ['kernel_info_request', null],
      ['comm_open', 'sub'], ['comm_open', 'sub'], ['comm_msg', 'sub'], ['comm_close', 'sub'], ['comm_close', 'sub'],
      // Where it is handled after all that was sent before it.
      ['delete_subshell_request', 'sub']
    ].map(sent => [...sent, { taskscope: true }]));
    expect(kernel.sent.at(-1)?.content).toMatchObject({ subshell_id: 'sub' });
    expect([kernel.comms.size, kernel.isDisposed, vi.getTimerCount()]).toEqual([0, true, 0]);
  });

  it('uses the main shell where there are no subshells', async () => {
    const kernel = new FakeKernel(['taskscope']);
    const feed = await live(kernel, { subshell: false });
    expect(kernel.sent.map(m => [m.type, m.subshell])).toEqual([
      ['kernel_info_request', null],
      ['comm_open', null],
      ['comm_open', null],
      ['comm_msg', null]
    ]);
    expect(feed.state).toEqual({ kind: 'live', subshell: false });
  });

  it('has the cell that runs until that ends or the kernel is another, and the number of its first compute', async () => {
    const { kernel, feed } = await started();
    const begin = (count: number): void => { kernel.say('execute_input', { execution_count: count }, [], `cell-${count}`); };
    const idle = (request: string): void => { kernel.say('status', { execution_state: 'idle' }, [], request); };
    begin(3);
    expect(feed.cell).toEqual({ count: 3, sinceMs: performance.now(), firstRun: 0 });
    kernel.push(DATA, ...batch(0, 0, 2, { tables: { runs: [RUN] } }));
    idle('another');
    expect(feed.cell?.count).toBe(3);
    idle('cell-3');
    expect(feed.cell).toBeNull();
    begin(4);
    expect(feed.cell).toEqual({ count: 4, sinceMs: performance.now(), firstRun: 1 });
    feed.restarted();
    expect(feed.cell).toBeNull();
  });

  it('puts what comes into the store of its recorder', async () => {
    const { kernel, feed } = await started();
    const { value: store } = feed.use('r');
    kernel.push(DATA, ...batch(0, 0, 3));
    kernel.push(DATA, ...batch(1, 3, 2));
    expect([store.nTasks, store.cursor, feed.active]).toEqual([5, 5, true]);
  });

  it('asks once for what a lost message held and ignores the rest until it comes', async () => {
    const { kernel, feed } = await started();
    const { value: store } = feed.use('r');
    kernel.push(DATA, ...batch(0, 0, 3));
    kernel.push(DATA, ...batch(2, 5, 1));
    kernel.push(DATA, ...batch(3, 6, 1));
    expect(kernel.verbs().slice(1)).toEqual([{ verb: 'resync', cursor: 3 }]);
    kernel.push(DATA, ...batch(0, 3, 4));
    expect(store.nTasks).toBe(7);
  });

  it('renews its lease three times as often as it must', async () => {
    const { kernel } = await started();
    kernel.push(DATA, ...batch(0, 0, 0));
    await vi.advanceTimersByTimeAsync(10_000);
    kernel.push(CONTROL, reply('renew'));
    await vi.advanceTimersByTimeAsync(10_000);
    kernel.push(CONTROL, reply('renew'));
    expect(kernel.verbs().slice(1)).toEqual([{ verb: 'renew' }, { verb: 'renew' }]);
  });

  it('asks until it is answered, for a server that is flooded with output drops answers', async () => {
    const kernel = new FakeKernel();
    const feed = feedOf(kernel);
    await vi.advanceTimersByTimeAsync(10_000);
    const [hello, ...renewals] = kernel.verbs();
    expect(hello).toEqual({ verb: 'hello', cursor: 0, epoch: '' });
    expect(renewals).toEqual(Array.from({ length: 8 }, () => ({ verb: 'renew' })));
    kernel.push(CONTROL, reply('renew'));
    expect(feed.state).toEqual({ kind: 'live', subshell: true });
    kernel.push(DATA, ...batch(0, 0, 0));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(kernel.verbs().slice(9)).toEqual([{ verb: 'resync', cursor: 0 }, { verb: 'renew' }]);
  });

  it('keeps its comms while one answer in six comes', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 3));
    const comms = [...kernel.comms.keys()];
    await vi.advanceTimersByTimeAsync(12_900);
    kernel.push(CONTROL, reply('renew', { cursor: 3 }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([feed.state, [...kernel.comms.keys()]]).toEqual([{ kind: 'live', subshell: true }, comms]);
    expect(kernel.verbs().slice(1)).toEqual(Array.from({ length: 6 }, () => ({ verb: 'renew' })));
  });

  it('asks once where it is heard only between cells', async () => {
    const kernel = new FakeKernel(['taskscope']);
    feedOf(kernel);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kernel.verbs()).toEqual([{ verb: 'hello', cursor: 0, epoch: '' }]);
  });

  it('says that taskscope is not loaded when the kernel knows no such comm, and gives up its subshell', async () => {
    const kernel = new FakeKernel();
    const feed = feedOf(kernel);
    await vi.advanceTimersByTimeAsync(0);
    const before = [...kernel.subshells];
    kernel.refuse(CONTROL);
    expect([feed.state, before, kernel.subshells.size]).toEqual([{ kind: 'not-loaded', language: 'python' }, ['sub'], 0]);
  });

  it('keeps its comms over a lost connection', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 0));
    kernel.connection('connecting');
    expect(feed.state).toEqual({ kind: 'disconnected' });
    kernel.connection('connected');
    kernel.push(CONTROL, reply('renew'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(kernel.verbs().slice(1)).toEqual([{ verb: 'renew' }]);
    expect(feed.state).toEqual({ kind: 'live', subshell: true });
  });

  it('opens new comms where the kernel has been replaced behind a lost connection', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 3));
    kernel.connection('connecting');
    kernel.replace();
    kernel.connection('connected');
    await vi.advanceTimersByTimeAsync(3_001);
    expect(kernel.verbs().at(-1)).toEqual({ verb: 'hello', cursor: 3, epoch: 'r-1' });
    expect(feed.state).toEqual({ kind: 'connecting' });
    expect(kernel.comms.size).toBe(2);
    // A subshell of the former one is not to be deleted: this one knows none of that name.
    expect(kernel.sent.filter(m => m.type === 'comm_close' || m.type === 'delete_subshell_request')).toEqual([]);
  });

  it('notices a kernel that was restarted from elsewhere when its lease is due', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 0));
    kernel.replace();
    await vi.advanceTimersByTimeAsync(13_001);
    expect(kernel.verbs().at(-1)).toEqual({ verb: 'hello', cursor: 0, epoch: 'r-1' });
    kernel.refuse(CONTROL);
    expect(feed.state).toEqual({ kind: 'not-loaded', language: 'python' });
  });

  it('waits for a kernel that a C call holds up, and asks nothing more meanwhile', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 3));
    const before = [...kernel.comms.keys(), ...kernel.subshells];
    await vi.advanceTimersByTimeAsync(9_999);
    kernel.isHeldUp = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kernel.verbs().slice(1)).toEqual(Array.from({ length: 6 }, () => ({ verb: 'renew' })));
    kernel.isHeldUp = false;
    kernel.push(CONTROL, reply('renew', { cursor: 3 }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect([feed.state, [...kernel.comms.keys(), ...kernel.subshells]]).toEqual([{ kind: 'live', subshell: true }, before]);
  });

  it('opens new comms where the kernel answers everything but us', async () => {
    const { kernel } = await started();
    kernel.push(DATA, ...batch(0, 0, 3));
    const before = [...kernel.comms.keys()];
    await vi.advanceTimersByTimeAsync(12_999);
    expect([...kernel.comms.keys()]).toEqual(before);
    await vi.advanceTimersByTimeAsync(3_002);
    expect(kernel.verbs().at(-1)).toEqual({ verb: 'hello', cursor: 3, epoch: 'r-1' });
    expect([kernel.comms.size, kernel.subshells.size, [...kernel.comms.keys()].some(id => before.includes(id))]).toEqual([2, 1, false]);
  });

  it('does without a subshell where somebody drops the request for one', async () => {
    const kernel = new FakeKernel();
    kernel.dropped.add('create_subshell_request');
    const feed = await live(kernel, { subshell: false });
    expect(kernel.sent.filter(m => m.type.startsWith('comm_')).map(m => m.subshell)).toEqual([null, null, null]);
    expect(feed.state).toEqual({ kind: 'live', subshell: false });
  });

  it('leaves nothing in the kernel while the browser has put the page aside, and goes on after that', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 3));
    feed.suspend();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([kernel.comms.size, kernel.subshells.size, vi.getTimerCount()]).toEqual([0, 0, 0]);
    feed.attach();
    await vi.advanceTimersByTimeAsync(0);
    expect(kernel.verbs().at(-1)).toEqual({ verb: 'hello', cursor: 3, epoch: 'r-1' });
  });

  it('looks for a start that does not come, and asks for it until it does', async () => {
    const { kernel } = await started();
    const lost = [{ verb: 'renew' }, { verb: 'resync', cursor: 0 }];
    for (const n of [1, 2, 3]) {
      await vi.advanceTimersByTimeAsync(1_000);
      kernel.push(CONTROL, reply('renew'));
      expect(kernel.verbs().slice(1)).toEqual(Array.from({ length: n }, () => lost).flat());
    }
    kernel.push(DATA, ...batch(0, 0, 0));
    await vi.advanceTimersByTimeAsync(6_000);
    expect(kernel.verbs()).toHaveLength(7);
  });

  it('notices at the next renewals that the last messages were lost', async () => {
    const { kernel } = await started();
    kernel.push(DATA, ...batch(0, 0, 3));
    for (const afterMs of [10_000, 10_000, 1_000]) {
      await vi.advanceTimersByTimeAsync(afterMs);
      kernel.push(CONTROL, reply('renew', { cursor: 5 }));
    }
    expect(kernel.verbs().slice(1)).toEqual([
      { verb: 'renew' }, { verb: 'renew' }, { verb: 'resync', cursor: 3 }, { verb: 'renew' }, { verb: 'resync', cursor: 3 }
    ]);
    kernel.push(DATA, ...batch(0, 3, 2));
    await vi.advanceTimersByTimeAsync(9_000);
    kernel.push(CONTROL, reply('renew', { cursor: 5 }));
    await vi.advanceTimersByTimeAsync(9_000);
    expect(kernel.verbs().slice(6)).toEqual([{ verb: 'renew' }]);
  });

  it('says that the kernel was restarted by this page', async () => {
    const { kernel, feed } = await started();
    feed.restarted();
    await vi.advanceTimersByTimeAsync(30_000);
    expect([feed.state, kernel.verbs().length]).toEqual([{ kind: 'restarted' }, 1]);
  });

  it('says that the kernel restarted, and follows its next recorder, which it tells of', async () => {
    const { kernel, feed } = await started();
    const told: unknown[] = [];
    feed.recorderChanged.connect((_, store) => told.push(store));
    const former = feed.use('r');
    expect(feed.store).toBeNull();
    kernel.push(DATA, ...batch(0, 0, 2));
    kernel.push(DATA, ...batch(1, 2, 1));
    const first = feed.store;
    kernel.statusChanged.emit('restarting');
    expect(feed.state).toEqual({ kind: 'restarted' });
    kernel.comms.clear();
    feed.attach();
    await vi.advanceTimersByTimeAsync(0);
    kernel.push(CONTROL, reply('hello', { recorder: 'r2', epoch: 'r2-1' }));
    kernel.push(DATA, ...batch(0, 0, 1, { recorder: 'r2', epoch: 'r2-1' }));
    expect([former.value.nTasks, feed.use('r2').value.nTasks, feed.store?.nTasks]).toEqual([3, 1, 1]);
    expect([told, feed.state]).toEqual([[first, feed.store], { kind: 'live', subshell: true }]);
  });

  it('what ran in a kernel that restarted was cut off', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 0, { tables: TABLES }));
    const { value: store } = feed.use('r');
    kernel.statusChanged.emit('restarting');
    const { tables, clock } = store;
    const [run] = tables.runsIn({ firstRun: 0, lastRun: null });
    const [row] = tables.progressIn({ firstRun: 0, lastRun: null });
    expect([run?.status, run?.stopS, clock.active, tables.estimates, row?.running, row?.interrupted]).toEqual(['interrupted', 10, false, [], 0, 1]);
    // It is drawn as far as it was when the kernel was last heard of.
    expect(tables.running).toEqual([{ run: 0, group: 1, keyText: 'x', lane: null, startS: 5.5 }]);
  });

  it('asks the kernel what a task needs, once, and gives the answer to the store', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 5, 2, { dropped: 5 }));
    const { value: store } = feed.use('r');
    expect([store.links(1), store.links(1)]).toEqual([{ kind: 'asked', isLate: false }, { kind: 'asked', isLate: false }]);
    expect(kernel.verbs().slice(1)).toEqual([{ verb: 'dependencies', row: 6, request: 0 }]);
    const links = { dependencies: [[5, "('x-1', 5)"]], n_dependencies: 1, dependents: [[null, 'last']], n_dependents: 1 };
    kernel.push(CONTROL, reply('dependencies', { request: 0, links }));
    await vi.advanceTimersByTimeAsync(0);
    expect(store.links(1)).toEqual({
      kind: 'known',
      dependencies: [{ key: "('x-1', 5)", place: { lane: 0, row: 0, startS: 1 } }], nDependencies: 1,
      dependents: [{ key: 'last', place: null }], nDependents: 1
    });
    store.links(0);
    kernel.push(CONTROL, reply('dependencies', { request: 1, links: 7 }));
    await vi.advanceTimersByTimeAsync(0);
    expect(store.links(0)).toEqual({ kind: 'unknown' });
  });

  it('asks for nothing more once a message could not be read, for the next one could not be either', async () => {
    const { kernel, feed } = await started();
    kernel.push(DATA, ...batch(0, 0, 2));
    kernel.push(DATA, ...batch(1, 2, 1, { message: { kind: 'x' } }));
    await vi.advanceTimersByTimeAsync(60_000);
    expect([feed.state, kernel.verbs().slice(1), kernel.comms.size, kernel.subshells.size]).toEqual([
      { kind: 'refused', error: 'message.kind must be one of batch, got "x"' }, [], 0, 0
    ]);
  });
});

it('a thing is made once, stays while anybody uses it, and goes when it may', () => {
  const gone: string[] = [];
  let mayGo = false;
  const map = new SharedMap<string, string>(() => mayGo, value => gone.push(value));
  const seen = (): unknown[] => [map.values(), [...gone]];
  const [first, second] = ['one', 'another'].map(value => map.use('a', () => value));
  map.open('b', () => 'unused');
  const steps = [[first?.value, second?.value], seen()];
  first?.release();
  first?.release();
  mayGo = true;
  map.sweep();
  steps.push(seen());
  second?.release();
  expect([...steps, seen()]).toEqual([['one', 'one'], [['one', 'unused'], []], [['one'], ['unused']], [[], ['unused', 'one']]]);
});

it('all go when it is cleared, and a release after that changes nothing', () => {
  const gone: string[] = [];
  const map = new SharedMap<string, string>(() => true, value => gone.push(value));
  const use = map.use('a', () => 'one');
  map.clear();
  use.release();
  expect([map.get('a'), gone]).toEqual([undefined, ['one']]);
});
