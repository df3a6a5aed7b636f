export { EPOCH, batchOf, isEnded } from './batch';
export { DamagedFileError } from './errors';
export { linksOf } from './links';
export { readRecording } from './read';
export type { FileRecording } from './recording';
