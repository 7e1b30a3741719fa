import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Whether a request id is safe to log. */
export function isRequestId(id: unknown): id is string {
  return typeof id === "string" && /^[\w.:-]{1,128}$/.test(id);
}

/** Returns the client's request id if it is safe to log, so that a call can be traced across services; else a new one. */
export function readRequestId({ headers }: { headers: IncomingHttpHeaders }): string {
  const id = headers["x-request-id"];
  return isRequestId(id) ? id : randomUUID();
}

/** Sends the request id with every response, and logs one line per response. */
export function addRequestIds(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => setRequestId(request, reply));
  app.addHook("onResponse", async (request, reply) => {
    const details = { method: request.method, path: loggedPath(request.url), status: reply.statusCode };
    request.log.info({ ...details, ms: Math.round(reply.elapsedTime) }, "request completed");
  });
}

export function setRequestId(request: FastifyRequest, reply: FastifyReply): void {
  void reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff" });
}

/** Removes the query string and the id of an invitation, which may be secrets. */
function loggedPath(url: string): string | undefined {
  return url
    .split("?", 1)[0]
    ?.replace(/^\/invitations\/.*/, "/invitations/…")
    .slice(0, 200);
}
