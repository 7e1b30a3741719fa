import { initTRPC } from "@trpc/server";
import { fastify, type FastifyReply, type FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { INTERNAL_ERROR, InsufficientScope, RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import { sendMethodNotAllowed, sendProcedureError, sendRequestError } from "../../server/rest/error-response.ts";
import type { Operation } from "../../server/rest/operations.ts";
import {
  addBodyParser,
  bodyTooLarge,
  formatSize,
  toUnreadableBody,
  UnreadableBody,
  unsupportedType,
} from "../../server/rest/request-body.ts";

const trpc = initTRPC.create();

/** The error that tRPC throws for an error of a procedure, or for a procedure that does not exist. */
async function trpcErrorOf(error: Error | null): Promise<unknown> {
  const fail = trpc.procedure.query(() => {
    throw error ?? new Error("not called");
  });
  const caller = trpc.router({ fail }).createCaller({}) as unknown as Record<string, () => Promise<unknown>>;
  try {
    return await caller[error === null ? "absent" : "fail"]?.();
  } catch (thrown) {
    return thrown;
  }
}

/** The response of a server that only sends an error, and its log lines of the level `error`. */
async function respond(
  send: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
  headers: Record<string, string> = {},
) {
  const errors: Record<string, unknown>[] = [];
  const write = (line: string) => void errors.push(JSON.parse(line) as Record<string, unknown>);
  await using server = fastify({ logger: { level: "error", stream: { write } } });
  server.get("/", (request, reply) => send(request, reply));
  const { statusCode: status, headers: received, body } = await server.inject({ url: "/", headers });
  return { status, headers: received, body: JSON.parse(body) as unknown, errors };
}

const procedureError = (error: unknown, headers?: Record<string, string>) =>
  respond((_request, reply) => sendProcedureError(error, { procedure: "apps.get" } as Operation, reply), headers);
const requestError = (error: Error) => respond((request, reply) => sendRequestError(error, request, reply));

test.each([
  ["invalid", 400],
  ["unauthenticated", 401],
  ["forbidden", 403],
  ["plan_limit", 403],
  ["not_found", 404],
  ["conflict", 409],
  ["key_reused", 422],
  ["rate_limited", 429],
  ["teardown_pending", 500],
  ["unavailable", 503],
] as const)("an error %s has the status %i and its message", async (code, status) => {
  const response = await procedureError(await trpcErrorOf(new ServiceError(code, "Why.")));
  expect([response.status, response.body]).toEqual([status, { error: "Why." }]);
  // Errors with which the service fails are logged.
  expect(response.errors.map(({ procedure }) => procedure)).toEqual(status < 500 ? [] : ["apps.get"]);
});

test("an internal error of a procedure is logged, and its text is not in the response", async () => {
  for (const error of [new Error("secret"), await trpcErrorOf(new Error("secret"))]) {
    const { status, body, errors } = await procedureError(error);
    expect([status, body]).toEqual([500, { error: INTERNAL_ERROR }]);
    expect(errors).toMatchObject([{ procedure: "apps.get", err: { message: "secret" } }]);
  }
  const { errors } = await procedureError(await trpcErrorOf(null));
  expect(errors).toMatchObject([{ err: { message: expect.stringContaining("absent") } }]);
});

test("an error tells the client when to try again, and how to authenticate", async () => {
  expect((await procedureError(new RateLimited("Wait.", 7))).headers).toMatchObject({ "retry-after": "7" });
  expect((await procedureError(new ServiceError("not_found", "No."))).headers).not.toHaveProperty("retry-after");
  const unauthenticated = new ServiceError("unauthenticated", "No token.");
  expect((await procedureError(unauthenticated)).headers["www-authenticate"]).toBe("Bearer");
  expect((await procedureError(unauthenticated, { authorization: "Bearer x" })).headers["www-authenticate"]).toBe(
    'Bearer error="invalid_token"',
  );
  expect((await procedureError(new InsufficientScope("deploy", "read"))).headers["www-authenticate"]).toBe(
    'Bearer error="insufficient_scope", scope="deploy"',
  );
  expect((await procedureError(new ServiceError("forbidden", "No."))).headers).not.toHaveProperty("www-authenticate");
});

const withStatus = (statusCode: number) => Object.assign(new Error("details"), { statusCode });

test.each([
  [withStatus(413), 413, "The request body is too large."],
  [withStatus(415), 415, "Send the body as Content-Type: application/json."],
  [withStatus(404), 404, "The request is malformed."],
  [new UnreadableBody(415), 415, "Send the body as Content-Type: application/json."],
  [new ServiceError("not_found", "Unknown."), 404, "Unknown."],
])("an error %# before a procedure has the status %i", async (error, status, message) => {
  const response = await requestError(error);
  expect([response.status, response.body, response.errors]).toEqual([status, { error: message }, []]);
});

test.each([[withStatus(500)], [withStatus(503)], [new Error("details")]])(
  "an internal error %# before a procedure is logged, and its text is not in the response",
  async (error) => {
    const { status, body, errors } = await requestError(error);
    expect([status, body]).toEqual([500, { error: INTERNAL_ERROR }]);
    expect(errors).toMatchObject([{ err: { message: "details" } }]);
  },
);

test("an unreachable database is temporary, and not an error of the service", async () => {
  const { status, headers, errors } = await requestError(Object.assign(new Error("stopped"), { code: "57P01" }));
  expect([status, headers["retry-after"], errors]).toEqual([503, "1", []]);
});

test("a method that a path does not have is 405 with those that it has", async () => {
  const { status, headers, body } = await respond((_request, reply) => sendMethodNotAllowed(reply, ["GET", "HEAD"]));
  expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
  expect(body).toEqual({ error: "Method not allowed. This endpoint has: GET, HEAD." });
});

const NO_OBJECT = 'The body must be a JSON object, such as {"repo": "acme/site"}.';

test("an error of a body parser says what is wrong, and any other error does not concern the body", () => {
  const parse = (statusCode: number | undefined, contentTypes?: string[]) => {
    const found = toUnreadableBody({ code: "FST_ERR_CTP_X", ...(statusCode && { statusCode }) }, 1024, contentTypes);
    return [found?.status, found?.code, found?.message];
  };
  expect(parse(413)).toEqual([413, "invalid", "The request body exceeds 1 KiB."]);
  expect(parse(415)).toEqual([415, "invalid", "Send the body as Content-Type: application/json."]);
  expect(parse(415, ["a/b", "c/d"])).toEqual([
    415,
    "invalid",
    "Send the file as the body, with Content-Type: a/b or c/d.",
  ]);
  for (const status of [400, undefined]) expect(parse(status)).toEqual([400, "invalid", NO_OBJECT]);
  for (const error of [{ code: "FST_ERR_VALIDATION", statusCode: 400 }, {}, { code: "x FST_ERR_CTP_" }])
    expect(toUnreadableBody(error, 1024)).toBeNull();
});

test("sizes are shown in whole units", () => {
  expect([formatSize(1024), formatSize(256 * 1024), formatSize(4 * 1024 * 1024)]).toEqual([
    "1 KiB",
    "256 KiB",
    "4 MiB",
  ]);
  expect([bodyTooLarge(1024).status, unsupportedType().message]).toEqual([
    413,
    "Send the body as Content-Type: application/json.",
  ]);
});

test("a body is a JSON object, or absent", async () => {
  await using server = fastify();
  server.decorateRequest("unreadableBody", null);
  addBodyParser(server);
  server.post("/", (request) => ({ body: request.body ?? null, problem: request.unreadableBody?.message ?? null }));
  const send = async (payload: string, type = "application/json") => {
    const response = await server.inject({ method: "POST", url: "/", headers: { "content-type": type }, payload });
    return response.statusCode === 200 ? response.json<unknown>() : response.statusCode;
  };
  expect(await send('{"a":1}')).toEqual({ body: { a: 1 }, problem: null });
  expect(await send("")).toEqual({ body: null, problem: null });
  expect(await send("null")).toEqual({ body: null, problem: null });
  for (const payload of ["{", "[]", "7", '"text"', '{"__proto__":{}}', '{"constructor":{"prototype":{}}}'])
    expect([payload, await send(payload)]).toEqual([payload, { body: {}, problem: NO_OBJECT }]);
  expect(await send("text", "text/plain")).toBe(415);
});
