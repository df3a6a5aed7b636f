// @vitest-environment node
import { describe, expect, it } from 'vitest';

import { layoutProgress } from '../../../src/charts/progress/layout';
import { progressTables } from '../../../src/charts/progress/words';
import { smallProgress, smallRun } from '../small-batch';

describe('progressTables', () => {
  it('have a column of what did not have to run where there is any', () => {
    const tables = [0, 7].map(skipped => {
      const rows = [smallProgress({ finished: 4, running: 1, skipped })];
      return progressTables(layoutProgress({ rows, runs: [smallRun()], estimates: [], failures: [], nowS: 1 }));
    });
    const columns = ['Task type', 'Tasks', 'Finished', 'Running', 'Failed', 'Interrupted, lost or released'];
    expect(tables).toEqual([
      [{ caption: '1 task type', columns, rows: [['add', '10', '4', '1', '0', '0']] }],
      [{ caption: '1 task type', columns: [...columns, 'Skipped'], rows: [['add', '10', '4', '1', '0', '0', '7']] }]
    ]);
  });
});
