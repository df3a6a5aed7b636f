/** What a person may set for all feeds of a page, and what they are before. */
export interface FeedSettings {
  /** Messages a second, at most. */
  readonly updatesPerSecond: number;
  /** How many tasks a store holds at most. */
  readonly maxTasks: number;
}

export const FEED_DEFAULTS: FeedSettings = { updatesPerSecond: 10, maxTasks: 5_000_000 };
