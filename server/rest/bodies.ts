import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { answerTo } from "./error-status.ts";

/** The largest request body, in bytes. */
export const BODY_LIMIT = 256 * 1024;

/** Answers what ends a request before a procedure is reached. Only a fault of ours is logged as one. */
export function answerError(
  thrown: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = translateDatabaseOutage(thrown) as typeof thrown;
  const status = error.statusCode ?? 500;
  if (error instanceof ServiceError || status >= 500) {
    if (!(error instanceof ServiceError)) request.log.error({ err: error }, "a request failed");
    const answer = answerTo(error, undefined);
    return reply.code(answer.status).headers(answer.headers).send(answer.body);
  }
  return reply.code(status).send({ error: EARLY_ERRORS[status] ?? "The request is malformed." });
}

const EARLY_ERRORS: Record<number, string> = {
  413: `The body may have ${BODY_LIMIT / 1024} KiB at most.`,
  415: "Send the body as Content-Type: application/json.",
};

export function parseBodies(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    // Clients send an empty body under this content type with DELETE; it is no body.
    if (body === "") return done(null, undefined);
    void parse(request, body as string, (error, value) => {
      const isObject = error === null && typeof value === "object" && value !== null && !Array.isArray(value);
      // Refused by the procedure, not here: an attempt counts against the rate limit whatever its body is.
      if (!isObject) request.malformedBody = new ServiceError("invalid", MALFORMED);
      done(null, isObject ? value : {});
    });
  });
}

const MALFORMED = 'The body must be a JSON object, such as {"repo": "acme/site"}.';
