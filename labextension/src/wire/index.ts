export { Field, WireError } from './check';
export type { WireBuffer } from './batch';
export { PageStream } from './batch';
export { Budget, crc32, inflate } from './frames';
export type { LinkRow, LinkRows, LinksAnswer } from './links';
export { MAX_LINKS, decodeLinks } from './links';
export { pythonRepr, tupleKey } from './key';
export * from './schema';
