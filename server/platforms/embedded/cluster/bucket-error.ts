/** The S3 server refused a request, or did not respond. The message has no credential. */
export class BucketError extends Error {
  override readonly name = "BucketError";
  /** The HTTP status; `null` when there was no response. */
  readonly status: number | null;
  /** The error code of S3, such as `SlowDown`; empty when the response has none. */
  readonly code: string;

  /** @param request - what was sent, such as `PUT apps/1/node.json` */
  constructor(request: string, { status, code, reason }: { status: number | null; code: string; reason: string }) {
    super(`The S3 server did not complete ${request}: ${[status, code, reason].filter(Boolean).join(" ")}`);
    this.status = status;
    this.code = code;
  }

  /** Whether the same request can succeed later. */
  get isTransient(): boolean {
    return this.status === null || this.status >= 500 || this.status === 429 || this.status === 408;
  }
}
