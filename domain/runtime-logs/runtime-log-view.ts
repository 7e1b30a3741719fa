import { LOG_LEVELS, type LogLevel, type RuntimeLogRecord } from "../ports/runtime-logs.ts";

/** One record, the same in the list and in the stream. */
export interface RuntimeLogView {
  /** RFC 3339 in UTC with milliseconds. */
  time: string;
  level: LogLevel;
  message: string;
  request_id: string | null;
}

export function toRuntimeLogView({ time, level, message, requestId }: RuntimeLogRecord): RuntimeLogView {
  return { time, level, message, request_id: requestId };
}

/** Which records a reader wants. */
export interface RuntimeLogFilter {
  /** RFC 3339: only records at this time or later. */
  since?: string | undefined;
  /** RFC 3339: only records before this time. */
  until?: string | undefined;
  /** Only records of this level or a higher one. */
  level?: LogLevel | undefined;
}

export function matchesFilter({ since, until, level = "debug" }: RuntimeLogFilter) {
  const from = since === undefined ? -Infinity : new Date(since).getTime();
  const to = until === undefined ? Infinity : new Date(until).getTime();
  const minimum = LOG_LEVELS.indexOf(level);
  return (record: RuntimeLogRecord): boolean => {
    const time = new Date(record.time).getTime();
    return LOG_LEVELS.indexOf(record.level) >= minimum && time >= from && time < to;
  };
}
