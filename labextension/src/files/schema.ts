/** What the frames of a `.taskscope` file hold: the types of columns, as `taskscope/export/schema.py` has them. */

export type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

/** numpy's names of the types that columns have. */
export const TYPES = {
  '|u1': Uint8Array,
  '<u2': Uint16Array,
  '<u4': Uint32Array,
  '<i4': Int32Array,
  '<f4': Float32Array,
  '<f8': Float64Array
} as const;
export type TypeName = keyof typeof TYPES;

/** The types that each column may have. */
export type Kinds = Readonly<Record<string, readonly TypeName[]>>;

const KEYS = { dims: ['|u1'], ints: ['<i4'], text_bytes: ['<u4'], texts: ['|u1'] } as const;

export const ROWS = {
  task: ['<i4'],
  start: ['<f8'],
  duration: ['<f4'],
  cpu: ['<f4'],
  size: ['<u4', '<f8'],
  lane: ['<u2'],
  flags: ['|u1']
} as const satisfies Kinds;

export const TASK = {
  run: ['<i4'],
  group: ['<u4'],
  lane: ['<u2'],
  start: ['<f8'],
  duration: ['<f4'],
  cpu: ['<f4'],
  size: ['<u4', '<f8'],
  flags: ['|u1'],
  ...KEYS
} as const satisfies Kinds;

export const GRAPH = {
  group: ['<u4'],
  n_dependencies: ['|u1', '<u4'],
  edges: ['<i4'],
  enter: ['<u4', '<f8'],
  kept: ['<i4'],
  data: ['<i4'],
  data_sizes: ['<f8'],
  values: ['<f8'],
  spared: ['<i4'],
  ...KEYS
} as const satisfies Kinds;

export const LANDED = { task: ['<i4'], enter: ['<f8'], values: ['<f8'], spared: ['|u1'] } as const satisfies Kinds;

export const SAMPLES = {
  time: ['<f8'],
  cpu_percent: ['<f8'],
  rss_bytes: ['<f8'],
  n_processes: ['<f8'],
  gap: ['<f8']
} as const satisfies Kinds;

/** What workers of a cluster were seen to hold. */
export const HOLDINGS = {
  run: ['<i4'],
  group: ['<u4'],
  time: ['<f8'],
  n_keys: ['<u4'],
  nbytes: ['<f8'],
  n_unsized: ['<u4']
} as const satisfies Kinds;

export const ACTIVITY = {
  run: ['<i4'],
  task: ['<i4'],
  lane: ['<u2'],
  kind: ['|u1'],
  start: ['<f8'],
  duration: ['<f4'],
  source: ['<u4'],
  nbytes: ['<f8']
} as const satisfies Kinds;

/** Bytes of activities by their place among those in the file. */
export const ACTIVITY_SIZES = { place: ['<i4'], nbytes: ['<f8'] } as const satisfies Kinds;

/** Stands for an unknown size or time in columns of `u4`. */
export const UNKNOWN_U4 = 2 ** 32 - 1;
