import type { FastifyError, FastifyInstance } from "fastify";
import { isTooComplexJson, TOO_COMPLEX } from "../../domain/shared/json-limits.ts";
import { ServiceError } from "../../domain/shared/errors.ts";

/** The maximum size of the request body of most operations, in bytes. */
export const BODY_LIMIT = 256 * 1024;

/** By the status of the response. */
export const BODY_ERRORS = {
  400: 'The body must be a JSON object, such as {"repo": "acme/site"}.',
  413: "The request body is too large.",
  415: "Send the body as Content-Type: application/json.",
} as const;

/** The body of a request cannot be read. */
export class UnreadableBody extends ServiceError {
  readonly status: keyof typeof BODY_ERRORS;

  constructor(status: keyof typeof BODY_ERRORS, message: string = BODY_ERRORS[status], options?: ErrorOptions) {
    super("invalid", message, options);
    this.status = status;
  }
}

/**
 * Converts an error of Fastify's body parsers; returns `null` for any other error.
 *
 * @param bodyLimit - of the operation, in bytes
 * @param contentTypes - those that a streamed body can have
 */
export function toUnreadableBody(
  { code = "", statusCode = 400 }: Partial<FastifyError>,
  bodyLimit: number,
  contentTypes?: readonly string[],
): UnreadableBody | null {
  if (!code.startsWith("FST_ERR_CTP_")) return null;
  if (statusCode === 413) return bodyTooLarge(bodyLimit);
  return statusCode === 415 ? unsupportedType(contentTypes) : new UnreadableBody(400);
}

/** @param bodyLimit - in bytes */
export function bodyTooLarge(bodyLimit: number): UnreadableBody {
  return new UnreadableBody(413, `The request body exceeds ${formatSize(bodyLimit)}.`);
}

/** @param contentTypes - those of a streamed body; by default JSON */
export function unsupportedType(contentTypes?: readonly string[]): UnreadableBody {
  if (contentTypes === undefined) return new UnreadableBody(415);
  return new UnreadableBody(415, `Send the file as the body, with Content-Type: ${contentTypes.join(" or ")}.`);
}

export function formatSize(bytes: number): string {
  const kibibytes = bytes / 1024;
  return kibibytes % 1024 === 0 ? `${kibibytes / 1024} MiB` : `${kibibytes} KiB`;
}

/** Parses JSON bodies, and rejects all others. A malformed body sets `request.unreadableBody`; null counts as no body. */
export function addBodyParser(scope: FastifyInstance): void {
  // Fastify would accept it.
  scope.removeContentTypeParser("text/plain");
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    // With DELETE, clients send this content type and an empty body, which counts as no body.
    if (body === "") return done(null, undefined);
    if (isTooComplexJson(body as string)) {
      request.unreadableBody = new UnreadableBody(400, `The request body ${TOO_COMPLEX}.`);
      return done(null, {});
    }
    void parse(request, body as string, (error, value) => {
      if (error === null && value === null) return done(null, undefined);
      const isObject = error === null && typeof value === "object" && value !== null && !Array.isArray(value);
      if (!isObject) request.unreadableBody = new UnreadableBody(400);
      done(null, isObject ? value : {});
    });
  });
}
