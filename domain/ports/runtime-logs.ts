/** In ascending order. `console.log` has the level `info`, an uncaught exception `error`. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One message that an app printed, or an error that it did not catch. */
export interface RuntimeLogRecord {
  /** Grows with every record of the app; at least 1. */
  id: number;
  /** RFC 3339 in UTC with milliseconds. */
  time: string;
  level: LogLevel;
  /** At most 8,192 characters. Without control characters and known secrets. It can have several lines. */
  message: string;
  /** The `X-Request-Id` of the request that was being handled; `null` outside of requests. */
  requestId: string | null;
}

export interface LoggedApp {
  id: string;
  slug: string;
}

/** Stores what running apps print. Only the newest records of an app are kept. They are removed with its script. */
export interface RuntimeLogs {
  /** Reads all kept records, oldest first. An app that never ran has none. */
  read(app: LoggedApp): Promise<RuntimeLogRecord[]>;
  /**
   * @param listener - called with new records of the app once they can be read, in the order of their ids. After a lost connection,
   *   records can come again. If an app runs on several machines, a record of one can come after newer ones of another. It must
   *   not throw
   * @returns a function that removes the listener
   */
  listen(app: LoggedApp, listener: (records: readonly RuntimeLogRecord[]) => void): () => void;
}
