/**
 * Made by `python -m docs.tables` from taskscope.model.streams; change it there.
 *
 * What a column of TABLES is: `int`, `time` (seconds after the zero), `duration` (at least 0), `f8`,
 * `text`; `?`: it may be unknown; `< n`: a place in CHOICES, or 0 and 1; `of <table>`: the number of a row.
 */
export const FORMAT = 1;

export const LIMITS = { frame: 16777216, rows: 262144, value: 4503599627370496 } as const;

export const TABLES = {
  state: {
    mode: 'whole',
    columns: {
      now_s: 'time?',
      active: 'int < 2',
      final: 'int < 2',
      n_tasks: 'int',
      n_dropped: 'int',
      n_activities_dropped: 'int',
      n_cores: 'int?',
      limit_bytes: 'int?',
      cache_unknown: 'int < 2'
    }
  },
  metadata: {
    mode: 'restart',
    columns: {
      text: 'text'
    }
  },
  messages: {
    mode: 'restart',
    columns: {
      time_s: 'time?',
      level: 'int < 2',
      text: 'text',
      worker: 'text?',
      event: 'int? < 9'
    }
  },
  groups: {
    mode: 'append',
    columns: {
      name: 'text',
      prefix: 'text',
      colour: 'int?',
      function: 'text?'
    }
  },
  lanes: {
    mode: 'append',
    columns: {
      worker: 'text',
      thread: 'int',
      label: 'text'
    }
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
      send_s: 'duration?',
      received_s: 'time?',
      materialize_s: 'duration?',
      order_s: 'duration?',
      initialize_s: 'duration?',
      pool_start_s: 'duration?',
      lock_share: 'f8?',
      graph_bytes: 'int?',
      largest_argument: 'text?',
      largest_argument_bytes: 'int?',
      called_from: 'text?',
      array: 'text?',
      n_runs: 'int?',
      last_run: 'int?',
      computing_s: 'duration?',
      metric: 'text?'
    }
  },
  graphs: {
    mode: 'by run',
    columns: {
      run: 'int',
      start_s: 'time',
      is_known: 'int < 2',
      is_valued: 'int < 2'
    }
  },
  keys: {
    mode: 'restart',
    columns: {
      run: 'int',
      group: 'int of groups',
      dims: 'int',
      i0: 'int',
      i1: 'int',
      i2: 'int',
      i3: 'int',
      i4: 'int',
      i5: 'int',
      i6: 'int',
      i7: 'int',
      key_text: 'text?'
    }
  },
  dependencies: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      dependency: 'int of keys'
    }
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
      skipped: 'int',
      released: 'int',
      again: 'int',
      first_s: 'time?',
      duration_s: 'duration?',
      scheduled_s: 'time?',
      asked: 'int?',
      is_all: 'int? < 2',
      queued: 'int?',
      waiting: 'int?',
      no_worker: 'int?'
    }
  },
  estimates: {
    mode: 'whole',
    columns: {
      run: 'int',
      stop_s: 'time',
      earliest_s: 'time',
      latest_s: 'time',
      n_unseen: 'int'
    }
  },
  stops: {
    mode: 'whole',
    columns: {
      run: 'int',
      way: 'int < 5'
    }
  },
  live_states: {
    mode: 'whole',
    columns: {
      run: 'int',
      text: 'text'
    }
  },
  running: {
    mode: 'whole',
    columns: {
      key: 'int of keys',
      lane: 'int? of lanes',
      start_s: 'time?'
    }
  },
  errors: {
    mode: 'restart',
    columns: {
      text: 'text'
    }
  },
  tasks: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      lane: 'int of lanes',
      status: 'int < 5',
      observed_by: 'int < 2',
      duration_s: 'duration',
      stop_s: 'time',
      cpu_s: 'duration?',
      nbytes: 'int?',
      error: 'int? of errors'
    }
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
    }
  },
  resources: {
    mode: 'append',
    columns: {
      time_s: 'time',
      cpu_percent: 'f8?',
      rss_bytes: 'int',
      n_processes: 'int',
      gap: 'int < 2',
      peak_bytes: 'int?'
    }
  },
  sources: {
    mode: 'append',
    columns: {
      text: 'text'
    }
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
    }
  },
  workers: {
    mode: 'by worker',
    columns: {
      worker: 'int',
      address: 'text',
      name: 'text',
      n_threads: 'int'
    }
  },
  worker_samples: {
    mode: 'append',
    columns: {
      time_s: 'time',
      worker: 'int',
      n_threads: 'int',
      n_executing: 'int?',
      cpu_percent: 'f8?',
      rss_bytes: 'int?',
      managed_bytes: 'int?',
      spilled_bytes: 'int?',
      limit_bytes: 'int?',
      tick_s: 'duration?',
      gil_contention: 'f8?',
      net_read_bps: 'f8?',
      net_write_bps: 'f8?',
      disk_read_bps: 'f8?',
      disk_write_bps: 'f8?',
      n_fds: 'f8?',
      gpu_percent: 'f8?',
      gpu_bytes: 'int?'
    }
  },
  seconds: {
    mode: 'by run,prefix,activity',
    columns: {
      run: 'int',
      prefix: 'text',
      activity: 'text',
      seconds: 'duration'
    }
  },
  path_names: {
    mode: 'append',
    columns: {
      text: 'text'
    }
  },
  path: {
    mode: 'append',
    columns: {
      stop_s: 'time',
      name: 'int? of path_names',
      is_wait: 'int < 2',
      row: 'int?'
    }
  },
  steals: {
    mode: 'append',
    columns: {
      time_s: 'time',
      run: 'int',
      from_worker: 'text',
      to_worker: 'text',
      outcome: 'int < 3',
      cost_s: 'f8?'
    }
  },
  logs: {
    mode: 'append',
    columns: {
      time_s: 'time',
      worker: 'text?',
      level: 'int < 5',
      text: 'text'
    }
  }
} as const;

export const CHOICES = {
  messages: {
    level: ['info', 'warning'],
    event: ['came', 'restarted', 'paused', 'resumed', 'retired', 'left', 'killed', 'timed out', 'died']
  },
  runs: {
    status: ['running', 'finished', 'erred', 'interrupted']
  },
  stops: {
    way: ['interrupt', 'cancel', 'thread', 'asked', 'either']
  },
  tasks: {
    status: ['finished', 'erred', 'interrupted', 'lost', 'released'],
    observed_by: ['worker', 'scheduler']
  },
  activities: {
    activity: ['transfer', 'disk-read', 'disk-write', 'deserialize', 'serialize', 'other', 'failed-attempt']
  },
  steals: {
    outcome: ['stolen', 'refused', 'rescheduled']
  },
  logs: {
    level: ['debug', 'info', 'warning', 'error', 'critical']
  }
} as const;
