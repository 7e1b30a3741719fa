import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger };

/** Fields that a log line must not contain in plain text. */
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

/** Creates a logger that writes one JSON object per line, to standard output unless a stream is given. */
export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options = {
    level,
    base: {},
    redact: { paths: SECRETS, censor: "[masked]" },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}
