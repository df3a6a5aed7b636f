export { Field, WireError } from './check';
export type { WireBuffer } from './columns';
export { decodeBatch } from './decode';
export type { LinkRow, LinkRows, LinksAnswer } from './links';
export { decodeLinks } from './links';
export { pythonRepr, tupleKey } from './key';
export * from './schema';
