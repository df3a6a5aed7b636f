import { expect, test } from 'vitest';

import { LaneTurns } from '../../../src/hosts/report/lane-turns';

test('lanes come by when their last tasks ended, those that had none last and by number', () => {
  const turns = new LaneTurns(4);
  const taken = [
    [1, 5],
    [2, 3],
    [0, 9],
    [0, 9],
    [1, 7],
    [0, 8]
  ].map(([turn = 0, stop = 0]) => {
    const lane = turns.take(turn);
    turns.put(lane, stop);
    return lane;
  });
  expect(taken).toEqual([1, 2, 2, 1, 1, 1]);
});

test('that is so however long it goes on', () => {
  const nLanes = 5;
  const turns = new LaneTurns(nLanes);
  const idle: { lane: number; stop: number }[] = [];
  for (let i = 0; i < 20 * nLanes; i += 1) {
    const turn = i < nLanes ? i : (i * i) % nLanes;
    const lane = idle.splice(turn, 1)[0]?.lane ?? i;
    expect(turns.take(turn)).toBe(lane);
    const stop = (i * 7) % 11 + i;
    turns.put(lane, stop);
    const place = idle.findIndex(other => other.stop > stop);
    idle.splice(place === -1 ? idle.length : place, 0, { lane, stop });
  }
});
