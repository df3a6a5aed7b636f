/** The tables of a file, as in `../wire/tables`; made by `python -m docs.tables`. */
/* eslint max-lines: off -- as long as what is declared, and nobody reads it */

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
  unknown: {
    mode: 'whole',
    columns: {
      name: 'text'
    }
  },
  metadata: {
    mode: 'last',
    columns: {
      text: 'text'
    }
  },
  messages: {
    mode: 'last',
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
      span: 'text?',
      function: 'text?',
      fused: 'text?'
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
      array: 'text?'
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
    mode: 'append',
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
  kept: {
    mode: 'append',
    columns: {
      key: 'int of keys'
    }
  },
  data: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      nbytes: 'int?'
    }
  },
  landed: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      time_s: 'time'
    }
  },
  valued: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      value: 'f8?'
    }
  },
  skipped: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      is_skipped: 'int < 2'
    }
  },
  errors: {
    mode: 'append',
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
      cpu_from: 'int? < 2',
      duration_s: 'duration',
      stop_s: 'time',
      cpu_s: 'duration?',
      nbytes: 'int?',
      error: 'int? of errors'
    }
  },
  metered: {
    mode: 'append',
    columns: {
      key: 'int of keys',
      start_s: 'time',
      cpu_s: 'duration?',
      cpu_from: 'int? < 2'
    }
  },
  running: {
    mode: 'whole',
    columns: {
      key: 'int of keys',
      lane: 'int of lanes',
      observed_by: 'int < 2',
      start_s: 'time'
    }
  },
  holdings: {
    mode: 'append',
    columns: {
      run: 'int',
      group: 'int of groups',
      time_s: 'time',
      n_keys: 'int',
      nbytes: 'int',
      n_unsized: 'int'
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
      ready_threads: 'f8?',
      peak_bytes: 'int?',
      beside_percent: 'f8?'
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
      key: 'int of keys',
      lane: 'int of lanes',
      activity: 'int < 7',
      source: 'int? of sources',
      start_s: 'time',
      duration_s: 'duration',
      nbytes: 'int?'
    }
  },
  completed: {
    mode: 'whole',
    columns: {
      row: 'int',
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
      gpu_bytes: 'int?',
      unmanaged_bytes: 'int?'
    }
  },
  transfers: {
    mode: 'append',
    columns: {
      worker: 'text',
      peer: 'text?',
      direction: 'int < 2',
      start_s: 'time',
      stop_s: 'time',
      nbytes: 'int?',
      compressed_bytes: 'int?',
      n_keys: 'int'
    }
  },
  transfer_keys: {
    mode: 'append',
    columns: {
      transfer: 'int of transfers',
      text: 'text'
    }
  },
  steals: {
    mode: 'append',
    columns: {
      time_s: 'f8',
      run: 'int',
      key: 'text',
      from_worker: 'text',
      to_worker: 'text',
      outcome: 'int < 3',
      cost_s: 'f8?',
      from_occupancy_s: 'f8?',
      to_occupancy_s: 'f8?'
    }
  },
  metrics: {
    mode: 'append',
    columns: {
      run: 'int',
      worker: 'text',
      prefix: 'text',
      activity: 'text',
      seconds: 'f8',
      nbytes: 'f8',
      count: 'f8'
    }
  },
  functions: {
    mode: 'append',
    columns: {
      name: 'text',
      file: 'text',
      line: 'int'
    }
  },
  calls: {
    mode: 'append',
    columns: {
      parent: 'int?',
      function: 'int of functions'
    }
  },
  stack_prefixes: {
    mode: 'append',
    columns: {
      name: 'text'
    }
  },
  stack_workers: {
    mode: 'append',
    columns: {
      name: 'text'
    }
  },
  sampling: {
    mode: 'last',
    columns: {
      interval_s: 'f8',
      cycle_s: 'f8?',
      n_dropped: 'int',
      first: 'int'
    }
  },
  stacks: {
    mode: 'append',
    columns: {
      start_s: 'time',
      run: 'int',
      prefix: 'int of stack_prefixes',
      worker: 'int of stack_workers',
      call: 'int? of calls',
      count: 'int',
      seconds: 'f8'
    }
  },
  open_stacks: {
    mode: 'whole',
    columns: {
      start_s: 'time',
      run: 'int',
      prefix: 'int of stack_prefixes',
      worker: 'int of stack_workers',
      call: 'int? of calls',
      count: 'int',
      seconds: 'f8'
    }
  },
  lines: {
    mode: 'append',
    columns: {
      run: 'int',
      prefix: 'int of stack_prefixes',
      worker: 'int of stack_workers',
      function: 'int? of functions',
      line: 'int',
      count: 'int',
      seconds: 'f8',
      self_seconds: 'f8',
      cpu_s: 'f8',
      cpu_known_s: 'f8',
      squares: 'f8',
      self_squares: 'f8'
    }
  },
  measured_lines: {
    mode: 'append',
    columns: {
      run: 'int',
      key: 'text?',
      prefix: 'text',
      worker: 'text',
      file: 'text',
      function: 'text',
      first_line: 'int',
      line: 'int',
      hits: 'int',
      seconds: 'f8',
      cpu_s: 'f8',
      counting_s: 'f8'
    }
  },
  peak_lines: {
    mode: 'append',
    columns: {
      peak: 'int',
      run: 'int?',
      key: 'text?',
      prefix: 'text?',
      file: 'text?',
      function: 'text?',
      line: 'int?',
      nbytes: 'int',
      n_allocations: 'int'
    }
  },
  totals: {
    mode: 'append',
    columns: {
      group: 'text',
      prefix: 'text',
      n_tasks: 'int',
      n_erred: 'int',
      duration_s: 'f8',
      cpu_s: 'f8',
      result_bytes: 'f8'
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
  tasks: {
    status: ['finished', 'erred', 'interrupted', 'lost', 'running'],
    observed_by: ['worker', 'scheduler'],
    cpu_from: ['measured', 'shared']
  },
  metered: {
    cpu_from: ['measured', 'shared']
  },
  running: {
    observed_by: ['worker', 'scheduler']
  },
  activities: {
    activity: ['transfer', 'disk-read', 'disk-write', 'deserialize', 'serialize', 'other', 'failed-attempt']
  },
  transfers: {
    direction: ['incoming', 'outgoing']
  },
  steals: {
    outcome: ['stolen', 'refused', 'rescheduled']
  }
} as const;
