/** A request that the forwarder does not pass on. */
export class S3Refusal extends Error {
  override readonly name = "S3Refusal";
  /** The HTTP status. */
  readonly status: number;
  /** An error code of S3. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function accessDenied(message: string): S3Refusal {
  return new S3Refusal(403, "AccessDenied", message);
}

export function notImplemented(message: string): S3Refusal {
  return new S3Refusal(501, "NotImplemented", message);
}
