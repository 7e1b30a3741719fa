import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger };

/** What must never be written down, wherever a log line carries it. */
const SECRETS = [
  "req.headers.authorization",
  "req.headers.cookie",
  "req.headers['idempotency-key']",
  "authorization",
  "token",
  "app_token",
  "*.token",
  "*.app_token",
];

/** Structured logs, one JSON object a line, on standard output unless a stream is given. */
export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options = {
    level,
    base: {},
    redact: { paths: SECRETS, censor: "[masked]" },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}
