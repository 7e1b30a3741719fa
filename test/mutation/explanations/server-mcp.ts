import type { Explanation } from "./explanation.ts";

const TEXT = "The text of an error.";
const MEMORY = "Not caught: it only frees memory.";
const LONGER = "Equivalent: only a text is cut that is longer than the limit.";
const NOT_CACHED = "Equivalent but slower: nothing is cached.";
const LOG = "Only the log differs.";
const AUTHENTICATED = "Never evaluated: a hook rejects a request without a valid token before.";
const STOPPED = "Equivalent: the process of a stopped service ends.";
const STOPPING = "Not caught: the request would have to arrive while the service stops.";
const RESPONDED = "Equivalent: after the response, nothing waits for the signal.";
const EVERY_SCOPE = "Equivalent but slower: this scope permits every tool.";
const IDENTIFIED = "Equivalent: every request has an object that identifies its call.";
const OTHER_HEADERS = "Not caught: the other headers of a request do not change what the SDK does.";
const NOT_READ = "Equivalent: the server reads only the object that identifies the call.";
const SAME_NAME = "Equivalent: the header equals the name in the body at this point.";
const ERRORS = "Equivalent: the authentication and the rate limit throw no further ServiceError.";

export const SERVER_MCP: Record<string, Explanation[]> = {
  "server/mcp/direct-tool-result.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Never evaluated: the index is within the text." },
    { original: "end < json.length", reason: LONGER },
    { original: "length > maxLength", reason: LONGER },
    { original: "length <= maxLength", reason: "Equivalent: the last character is added or removed once, as before." },
  ],
  "server/mcp/fast-path.ts": [
    {
      original: 'typeof method !== "string"',
      replacement: "false",
      reason: "Equivalent: the method is compared with the two names of methods later.",
    },
    { original: '"_meta"', replacement: '""', reason: "Equivalent: unknown parameters are left to the SDK too." },
    { original: "mcpNameHeader !== undefined && { mcpNameHeader: String(mcpNameHeader) }", reason: SAME_NAME },
    { original: "mcpNameHeader !== undefined", reason: SAME_NAME },
    { original: "{ mcpNameHeader: String(mcpNameHeader) }", reason: SAME_NAME },
    {
      original: "outcome.classification.revision === MODERN",
      replacement: "true",
      reason: "Equivalent: the SDK knows one revision of this kind.",
    },
  ],
  "server/mcp/gateway-tools.ts": [
    { original: "() => null", reason: "Equivalent: `undefined` is no list either." },
    { original: "resultVersion && entry.input.safeParse(input).data", replacement: "false", reason: NOT_CACHED },
    {
      original: "parsedInput && (await resultVersion(this.#capabilities, call.caller, parsedInput))",
      replacement: "false",
      reason: NOT_CACHED,
    },
    { original: "!version", replacement: "true", reason: NOT_CACHED },
    { original: "cached?.version === version", replacement: "false", reason: NOT_CACHED },
    { original: "{ version, json }", reason: NOT_CACHED },
    { original: "cached?.version === offered.version", replacement: "false", reason: NOT_CACHED },
    { original: "this.#lists.set(key, list);", reason: NOT_CACHED },
    { original: "`${slug} ${name}`", reason: LOG },
    {
      original: "argumentNames !== undefined",
      replacement: "true",
      reason: "Equivalent: only direct tools have no names, and their error is never `invalid`.",
    },
  ],
  "server/mcp/plugin.ts": [
    { original: '(err) => log.debug({ err }, "the gateway rejected a message")', reason: LOG },
    { original: '"caller"', reason: "Equivalent: the hook sets the property of every request that a handler gets." },
    { original: "ownUrl !== null", replacement: "true", reason: "Equivalent: the public URL is valid." },
    { original: "caller === null", replacement: "false", reason: AUTHENTICATED },
    {
      original: 'throw new Error("a request reached the gateway before it was authenticated");',
      reason: AUTHENTICATED,
    },
    { original: 'throw new Error("a request got a stream before it was authenticated");', reason: AUTHENTICATED },
    { original: "revocation.stop();", reason: STOPPED },
    { original: "unlisten();", reason: STOPPED },
    { original: "false", replacement: "true", reason: "Equivalent: Fastify adds HEAD to routes with GET only." },
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: neither text is a host." },
    { original: 'scope !== "everything"', replacement: "true", reason: EVERY_SCOPE },
    { original: '"everything"', reason: EVERY_SCOPE },
    { original: "!raw.writableFinished", replacement: "true", reason: RESPONDED },
    {
      original: 'error instanceof ServiceError && error.code === "unavailable"',
      replacement: 'error instanceof ServiceError || error.code === "unavailable"',
      reason: ERRORS,
    },
    { original: 'error.code === "unavailable"', replacement: "true", reason: ERRORS },
    { original: "stream === null", replacement: "false", reason: STOPPING },
    { original: '"unavailable"', reason: STOPPING },
    { original: '"The service is stopping. Try again."', reason: TEXT },
    { original: "response.body === null", replacement: "false", reason: "Equivalent: the body is then empty." },
    {
      original: 'response.headers.get("content-type")?.startsWith("text/event-stream")',
      reason: "Equivalent: the SDK sends this type without parameters.",
    },
    {
      original: 'response.headers.get("content-type")?.startsWith',
      reason: "Equivalent: a response with a body has a content type.",
    },
    { original: "stream.destroy();", reason: MEMORY },
  ],
  "server/mcp/gateway-errors.ts": [
    {
      original: '"Send requests with POST. GET with Accept: text/event-stream opens a stream of notifications."',
      reason: TEXT,
    },
    { original: '"Too many streams of notifications are open. Try again later."', reason: TEXT },
    { original: '"The Origin or Host of this request is not allowed."', reason: TEXT },
  ],
  "server/mcp/notification-streams.ts": [
    { original: "streams.size === 0", replacement: "false", reason: MEMORY },
    { original: "this.#streamsByOrgId.delete(orgId);", reason: MEMORY },
    { original: "[]", replacement: '["Stryker was here"]', reason: "Equivalent: a text is no stream with room." },
    { original: "stream.readableLength < MAX_BUFFERED", reason: "Differs for a stream with exactly this many bytes." },
  ],
  "server/mcp/step-up.ts": [
    { original: "[]", reason: "Equivalent: no tool has the name that the mutant adds." },
    { original: 'typeof name === "string"', replacement: "true", reason: "Equivalent: every tool's name is a text." },
  ],
  "server/mcp/transport.ts": [
    { original: "authInfo?.extra", reason: IDENTIFIED },
    { original: "call === undefined", replacement: "false", reason: IDENTIFIED },
    { original: 'throw new Error("the SDK passed no call to the server");', reason: IDENTIFIED },
    { original: '"reject"', reason: "Equivalent: only requests of 2026-07-28 reach this handler." },
    { original: "(error) => options.onError(error)", reason: LOG },
    { original: "{ await server.close(); }", reason: MEMORY },
    { original: 'name.startsWith("mcp-") || name === "content-type"', replacement: "true", reason: OTHER_HEADERS },
    { original: '"mcp-"', replacement: '""', reason: OTHER_HEADERS },
    { original: '{ token: "", clientId: "", scopes: [] }', reason: NOT_READ },
    { original: '""', replacement: '"Stryker was here!"', reason: NOT_READ },
    { original: "[]", replacement: '["Stryker was here"]', reason: NOT_READ },
  ],
  "server/mcp/subscription-bus.ts": [
    { original: "listeners.size === 0", replacement: "false", reason: MEMORY },
    { original: "this.#listenersByOrgId.delete(orgId);", reason: MEMORY },
  ],
};
