import { toPlainText } from "../../../domain/shared/plain-text.ts";

const MAX_TEXT_LENGTH = 500;

/** One entry of `errors` in a response of Cloudflare's API. */
export interface ReportedError {
  code: number;
  /** A text of Cloudflare, which can contain texts of apps. Bounded and without control characters. */
  message: string;
}

/**
 * Cloudflare's API did not do what was asked. The message contains neither the token nor the path of the request.
 *
 * `isTransient` says that the same request can succeed later, and may have had its effect already.
 */
export class CloudflareError extends Error {
  override readonly name = "CloudflareError";
  /** `null` without a response. */
  readonly status: number | null;
  readonly errors: readonly ReportedError[];
  readonly isTransient: boolean;

  constructor(operation: string, status: number | null, errors: readonly ReportedError[], options?: ErrorOptions) {
    super(describe(operation, status, errors), options);
    this.status = status;
    this.errors = errors;
    this.isTransient = status === null || status === 429 || status === 408 || status >= 500;
  }

  hasCode(...codes: readonly number[]): boolean {
    return this.errors.some(({ code }) => codes.includes(code));
  }
}

/** Whether an error says that the addressed thing does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof CloudflareError && error.status === 404;
}

export function isTransient(error: unknown): boolean {
  return error instanceof CloudflareError && error.isTransient;
}

/** Bounds a text of Cloudflare, and removes what only a terminal understands. */
export function boundText(text: string): string {
  return toPlainText(text).slice(0, MAX_TEXT_LENGTH);
}

function describe(operation: string, status: number | null, errors: readonly ReportedError[]): string {
  if (status === null) return `Cloudflare did not respond to the request to ${operation}.`;
  const [first] = errors;
  const reason = first === undefined ? "" : `: ${first.message} (code ${first.code})`;
  return `Cloudflare responded with status ${status} to the request to ${operation}${reason}`;
}
