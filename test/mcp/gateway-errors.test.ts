import { expect, test } from "vitest";
import { INTERNAL_ERROR, InsufficientScope, ServiceError } from "../../domain/shared/errors.ts";
import {
  forbidden,
  foreignOrigin,
  type GatewayError,
  insufficientScope,
  methodNotAllowed,
  rateLimited,
  tooManyStreams,
  unauthenticated,
  unavailable,
  unreadableBody,
  unsupportedTransport,
} from "../../server/mcp/gateway-errors.ts";

const URL = "https://service.example.com";
const METADATA = `resource_metadata="${URL}/.well-known/oauth-protected-resource/mcp"`;

const summarize = ({ status, headers, body }: GatewayError) => [status, body.error.code, headers];

test("every error is a JSON-RPC error without an id", () => {
  expect(forbidden(new ServiceError("forbidden", "Not a member."))).toEqual({
    status: 403,
    headers: {},
    body: { jsonrpc: "2.0", id: null, error: { code: -32_003, message: "Not a member." } },
  });
});

test("the challenge of a 401 has the metadata and the scope to request, and says whether a token was invalid", () => {
  const scope = 'scope="everything offline_access"';
  expect(summarize(unauthenticated({}, URL))).toEqual([
    401,
    -32_001,
    { "www-authenticate": `Bearer ${METADATA}, ${scope}` },
  ]);
  expect(unauthenticated({ authorization: "Bearer x" }, URL).headers).toEqual({
    "www-authenticate": `Bearer ${METADATA}, ${scope}, error="invalid_token"`,
  });
  expect(unauthenticated({}, URL).body.error.message).toContain(URL);
});

test("the challenge of a 403 has the scope to request", () => {
  const error = new InsufficientScope("deploy", "read");
  const response = insufficientScope(error, URL);
  expect(summarize(response)).toEqual([
    403,
    -32_003,
    { "www-authenticate": `Bearer error="insufficient_scope", scope="deploy", ${METADATA}` },
  ]);
  expect(response.body.error.message).toBe(error.message);
});

test("a client learns when to try again", () => {
  expect(summarize(unavailable(new ServiceError("unavailable", "Stopping.")))).toEqual([
    503,
    -32_000,
    { "retry-after": "1" },
  ]);
  const limited = rateLimited({ message: "Too many calls.", retryAfterSeconds: 7 });
  expect(summarize(limited)).toEqual([429, -32_029, { "retry-after": "7" }]);
  expect(limited.body.error).toMatchObject({ message: "Too many calls.", data: { retry_after_seconds: 7 } });
});

test.each([
  ["token", "This token has 16 open streams"],
  ["organization", "Your organization has 16 open streams"],
] as const)("the error for too many streams of a %s says whose they are", (of, beginning) => {
  const error = tooManyStreams({ limit: 16, of });
  expect(summarize(error)).toEqual([429, -32_029, { "retry-after": "60" }]);
  expect(error.body.error.message).toContain(beginning);
});

test("a process with too many streams is busy", () => {
  expect(summarize(tooManyStreams({ limit: 16, of: "process" }))).toEqual([503, -32_000, { "retry-after": "60" }]);
});

test("other methods, transports and origins are rejected", () => {
  expect(summarize(methodNotAllowed())).toEqual([405, -32_000, { allow: "GET, POST" }]);
  expect(summarize(unsupportedTransport(URL))).toEqual([404, -32_000, {}]);
  expect(unsupportedTransport(URL).body.error.message).toContain(`${URL}/mcp`);
  expect(summarize(foreignOrigin())).toEqual([403, -32_000, {}]);
});

test.each([
  [413, 413, -32_000, "4 MiB"],
  [415, 415, -32_000, "application/json"],
  [400, 400, -32_700, "not valid JSON"],
  [499, 400, -32_700, "not valid JSON"],
  [500, 500, -32_603, INTERNAL_ERROR],
  [503, 500, -32_603, INTERNAL_ERROR],
])("a body that the parser rejects with %i is rejected with %i", (parsed, status, code, message) => {
  const error = unreadableBody(parsed);
  expect([error.status, error.body.error.code]).toEqual([status, code]);
  expect(error.body.error.message).toContain(message);
});
