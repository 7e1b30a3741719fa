import type { FastifyInstance } from "fastify";
import { ServiceError } from "../../domain/shared/errors.ts";

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT = 256 * 1024;

const MALFORMED = 'The body must be a JSON object, such as {"repo": "acme/site"}.';

/** Parses JSON bodies. A malformed body sets `request.malformedBody`. */
export function addBodyParser(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    // With DELETE, clients send this content type and an empty body, which counts as no body.
    if (body === "") return done(null, undefined);
    void parse(request, body as string, (error, value) => {
      const isObject = error === null && typeof value === "object" && value !== null && !Array.isArray(value);
      // The procedure throws the error, because an attempt counts against the rate limit whatever its body is.
      if (!isObject) request.malformedBody = new ServiceError("invalid", MALFORMED);
      done(null, isObject ? value : {});
    });
  });
}
