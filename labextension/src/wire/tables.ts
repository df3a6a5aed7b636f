// Made by `python -m taskscope.schema` from the declarations in Python; do not edit.

/** The version of frames and of what a header says. */
export const FORMAT = 1;

export const LIMITS = { frame: 16777216, header: 1048576, rows: 262144, columns: 256, text: 4096, floor: 67108864, factor: 256 } as const;

/**
 * What each table's columns are, as `kind[?] [of table | < n]`: `time` and `duration` are ticks, `?` may be unknown,
 * `of` is the number of a row of that table, `<` is one of n choices.
 */
export const TABLES = {
  groups: { name: 'text', prefix: 'text' },
  lanes: { worker: 'text', thread: 'int', label: 'text' },
  runs: {
    run: 'int', label: 'text?', cell: 'text?', execution_count: 'int?', source_crc: 'int?', scheduler: 'text?', n_workers: 'int?',
    n_tasks: 'int', start_s: 'time?', stop_s: 'time?', status: 'int < 4', error: 'text?', metric: 'text?'
  },
  errors: { text: 'text' },
  sources: { text: 'text' },
  workers: { worker: 'int', address: 'text', name: 'text', n_threads: 'int' },
  keys: {
    dims: 'int', i0: 'int', i1: 'int', i2: 'int', i3: 'int', i4: 'int', i5: 'int', i6: 'int', i7: 'int', text: 'text?'
  },
  tasks: {
    run: 'int', group: 'int of groups', lane: 'int of lanes', status: 'int < 4', observed_by: 'int < 2', stop_s: 'time',
    duration_s: 'duration', cpu_s: 'duration?', nbytes: 'int?', error: 'int? of errors'
  },
  cache: {
    run: 'int', group: 'int of groups', time_s: 'time', n_keys: 'int', nbytes: 'int', n_unsized: 'int', value: 'f8?', n_unvalued: 'int'
  },
  resources: { time_s: 'time', cpu_percent: 'f4?', rss_bytes: 'int', n_processes: 'int', gap: 'int < 2' },
  activities: {
    run: 'int', lane: 'int of lanes', activity: 'int < 7', group: 'int of groups', source: 'int? of sources', start_s: 'time',
    duration_s: 'duration', nbytes: 'int?'
  },
  completed: { row: 'int', nbytes: 'int?' },
  worker_samples: {
    worker: 'int', time_s: 'time', n_threads: 'int', n_executing: 'int?', cpu_percent: 'f4?', rss_bytes: 'int?', managed_bytes: 'int?',
    spilled_bytes: 'int?', limit_bytes: 'int?'
  },
  progress: {
    run: 'int', prefix: 'text', total: 'int', finished: 'int', erred: 'int', running: 'int', interrupted: 'int', spared: 'int',
    again: 'int', duration_s: 'f8?', scheduled_s: 'time?', asked: 'int?', is_all: 'int?', queued: 'int?', waiting: 'int?', no_worker: 'int?'
  },
  estimates: { run: 'int', stop_s: 'time', earliest_s: 'time', latest_s: 'time', n_unseen: 'int' },
  running: { run: 'int', lane: 'int? of lanes', group: 'int of groups', key: 'text', start_s: 'time?' },
  messages: { time_s: 'time?', level: 'text', text: 'text' },
  state: {
    now_s: 'time', active: 'int < 2', final: 'int < 2', recorded: 'int', dropped: 'int', activities_dropped: 'int', n_cores: 'int?',
    limit_bytes: 'int?', cache_unknown: 'int < 2'
  }
} as const;

/** What a batch does to a table: `append` rows, replace those with the same values in these columns, or replace `whole`. */
export const MODES = {
  groups: 'append', lanes: 'append', runs: 'by run', errors: 'whole', sources: 'append', workers: 'by worker', keys: 'append', tasks: 'append',
  cache: 'append', resources: 'append', activities: 'append', completed: 'whole', worker_samples: 'append', progress: 'by run prefix',
  estimates: 'whole', running: 'whole', messages: 'append', state: 'whole'
} as const;

/** Columns told as differences to the last row of the same class: its column, and one that is added. */
export const BY = { tasks: { stop_s: ['lane', 'duration_s'], nbytes: ['group'] } } as const;
