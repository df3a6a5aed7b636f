export { WireError } from './check';
export type { WireBuffer } from './columns';
export { decodeBatch } from './decode';
export { pythonRepr, tupleKey } from './key';
export * from './schema';
