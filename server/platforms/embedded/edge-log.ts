/** Where the edge reports what happens to apps; pino's logger is one. */
export interface EdgeLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
