/**
 * Made by `python -m docs.tables` from taskscope.model.streams; change it there.
 *
 * What a column is: `int`, `time` (seconds after the zero), `duration` (at least 0), `f4`, `f8`, `text`; `?`:
 * it may be unknown; `< n`: a place in `choices`, or 0 and 1; `of <table>`: a row of that table, by number.
 * `by`: the columns that transform 2 goes by.
 */
export const FORMAT = 1;

export const LIMITS = { frame: 16777216, header: 1048576, rows: 262144, columns: 256, text: 4096, value: 4503599627370496, step: 17179869184 } as const;

export const TABLES = {
  state: {
    mode: 'whole',
    columns: {
      now_s: 'time',
      active: 'int < 2',
      final: 'int < 2',
      n_tasks: 'int',
      n_dropped: 'int',
      n_activities_dropped: 'int',
      n_cores: 'int?',
      limit_bytes: 'int?',
      cache_unknown: 'int < 2'
    },
    by: {},
    choices: {}
  },
  groups: {
    mode: 'append',
    columns: {
      name: 'text',
      prefix: 'text'
    },
    by: {},
    choices: {}
  },
  lanes: {
    mode: 'append',
    columns: {
      worker: 'text',
      thread: 'int',
      label: 'text'
    },
    by: {},
    choices: {}
  },
  runs: {
    mode: 'by run',
    columns: {
      run: 'int',
      label: 'text?',
      cell: 'text?',
      scheduler: 'text?',
      n_workers: 'int?',
      n_tasks: 'int',
      start_s: 'time?',
      stop_s: 'time?',
      status: 'int < 4',
      error: 'text?',
      execution_count: 'int?',
      source_crc: 'int?',
      metric: 'text?'
    },
    by: {},
    choices: { status: ['running', 'finished', 'erred', 'interrupted'] }
  },
  progress: {
    mode: 'by run,prefix',
    columns: {
      run: 'int',
      prefix: 'text',
      total: 'int',
      finished: 'int',
      erred: 'int',
      running: 'int',
      interrupted: 'int',
      duration_s: 'duration',
      spared: 'int',
      again: 'int',
      scheduled_s: 'time?',
      asked: 'int?',
      is_all: 'int? < 2',
      queued: 'int?',
      waiting: 'int?',
      no_worker: 'int?'
    },
    by: {},
    choices: {}
  },
  estimates: {
    mode: 'whole',
    columns: {
      run: 'int',
      stop_s: 'time',
      earliest_s: 'time',
      latest_s: 'time',
      n_unseen: 'int'
    },
    by: {},
    choices: {}
  },
  running: {
    mode: 'whole',
    columns: {
      run: 'int',
      lane: 'int? of lanes',
      group: 'int of groups',
      key_text: 'text',
      start_s: 'time?'
    },
    by: {},
    choices: {}
  },
  messages: {
    mode: 'append',
    columns: {
      time_s: 'time?',
      level: 'int < 2',
      text: 'text'
    },
    by: {},
    choices: { level: ['info', 'warning'] }
  },
  errors: {
    mode: 'whole',
    columns: {
      text: 'text'
    },
    by: {},
    choices: {}
  },
  keys: {
    mode: 'append',
    columns: {
      dims: 'int',
      i0: 'int',
      i1: 'int',
      i2: 'int',
      i3: 'int',
      i4: 'int',
      i5: 'int',
      i6: 'int',
      i7: 'int',
      text: 'text?'
    },
    by: {},
    choices: {}
  },
  tasks: {
    mode: 'append',
    columns: {
      run: 'int',
      lane: 'int of lanes',
      group: 'int of groups',
      status: 'int < 4',
      observed_by: 'int < 2',
      duration_s: 'duration',
      stop_s: 'time',
      cpu_s: 'duration?',
      nbytes: 'int?',
      error: 'int? of errors'
    },
    by: { stop_s: ['lane', 'duration_s'] },
    choices: { status: ['finished', 'erred', 'interrupted', 'lost'], observed_by: ['worker', 'scheduler'] }
  },
  cache: {
    mode: 'append',
    columns: {
      run: 'int',
      group: 'int of groups',
      time_s: 'time',
      n_keys: 'int',
      nbytes: 'int',
      n_unsized: 'int',
      value: 'f8?',
      n_unvalued: 'int'
    },
    by: {},
    choices: {}
  },
  resources: {
    mode: 'append',
    columns: {
      time_s: 'time',
      cpu_percent: 'f4?',
      rss_bytes: 'int',
      n_processes: 'int',
      gap: 'int < 2'
    },
    by: {},
    choices: {}
  },
  sources: {
    mode: 'append',
    columns: {
      text: 'text'
    },
    by: {},
    choices: {}
  },
  activities: {
    mode: 'append',
    columns: {
      run: 'int',
      lane: 'int of lanes',
      group: 'int of groups',
      activity: 'int < 7',
      source: 'int? of sources',
      start_s: 'time',
      duration_s: 'duration',
      nbytes: 'int?'
    },
    by: {},
    choices: { activity: ['transfer', 'disk-read', 'disk-write', 'deserialize', 'serialize', 'other', 'failed-attempt'] }
  },
  completed: {
    mode: 'whole',
    columns: {
      row: 'int',
      nbytes: 'int?'
    },
    by: {},
    choices: {}
  },
  workers: {
    mode: 'by worker',
    columns: {
      worker: 'int',
      address: 'text',
      name: 'text',
      n_threads: 'int'
    },
    by: {},
    choices: {}
  },
  worker_samples: {
    mode: 'append',
    columns: {
      time_s: 'time',
      worker: 'int',
      n_threads: 'int',
      n_executing: 'int?',
      cpu_percent: 'f4?',
      rss_bytes: 'int?',
      managed_bytes: 'int?',
      spilled_bytes: 'int?',
      limit_bytes: 'int?'
    },
    by: {},
    choices: {}
  }
} as const;
