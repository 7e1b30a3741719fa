import type { Explanation } from "./explanation.ts";

const HTTP = "A test of the area server/rest detects it; this area has no test that starts a service.";

const PRESENT = "Equivalent: the generator always writes it.";
const NEWER_GENERATOR = "Not caught: the check is for other versions of the generator.";
const STOPPING = "Not caught: the request would have to arrive while the service stops.";
const MEMORY = "Not caught: it only frees memory.";
const AUTHENTICATED = "Never evaluated: a hook rejects a request without a valid token before.";
const HAS_INPUT = "Equivalent: every operation with a stream has an input.";
const OTHER_TYPE = "Equivalent: the parser of the body rejects every other content type.";
const PROCESS_LIMIT = "Not caught: a test would have to open 2,048 streams.";

export const SERVER_REST: Record<string, Explanation[]> = {
  "server/rest/openapi.ts": [
    { original: "document.paths[operation.path]?.[operation.method.toLowerCase()]", reason: PRESENT },
    { original: "documented === undefined", replacement: "false", reason: PRESENT },
    { original: "throw new Error(`${operation.procedure} has no documented success`);", reason: NEWER_GENERATOR },
    { original: "success === undefined", replacement: "false", reason: PRESENT },
    {
      original: "[]",
      reason:
        "Equivalent in the loop, which reads only the field `in`. Elsewhere the generator always writes the list.",
    },
    { original: "json?.properties", reason: PRESENT },
    { original: "throw new Error(`${procedure} has no field for its body`);", reason: NEWER_GENERATOR },
    { original: "file === undefined", replacement: "false", reason: PRESENT },
    {
      original: "json?.required?.includes(name) === true",
      replacement: "false",
      reason: "Equivalent: no operation with a streamed body has another required field.",
    },
    { original: "json?.required?.includes", reason: PRESENT },
    { original: "json?.required", reason: PRESENT },
    {
      original: "description !== undefined",
      replacement: "true",
      reason: "Equivalent: all these fields have a description.",
    },
    { original: '""', reason: "Equivalent: all these operations have a description." },
    {
      original: '`${documented.description ?? ""} ${stream.description}`.trim()',
      reason: "Equivalent: both descriptions begin and end with a word.",
    },
    { original: '"204"', reason: "Equivalent: the headers of 204 are those of any other success." },
    { original: "input?.meta", reason: "Equivalent: an operation with a body has an input." },
    { original: "name === undefined", replacement: "false", reason: "Equivalent: all these bodies have a name." },
  ],
  "server/rest/operations.ts": [
    { original: "[]", reason: "A test of the area server/rest detects it; the document ignores such an entry." },
    { original: "_def.meta?.access", reason: "Equivalent: a procedure without this metadata is left out before." },
    {
      original: "_def.meta?.isRepeatable",
      reason: "Equivalent: a procedure without this metadata is left out before.",
    },
  ],
  "server/rest/schema-corrections.ts": [
    { original: "value === null", replacement: "false", reason: "Equivalent: the document has no `null`." },
    {
      original: "!Array.isArray(value)",
      replacement: "true",
      reason: "Equivalent: an array has none of these fields.",
    },
  ],
  "server/rest/error-response.ts": [
    { original: '"Unknown endpoint. GET /v1/openapi.json lists all endpoints."', reason: "The text of an error." },
  ],
  "server/rest/request-body.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: "Equivalent: neither is a code of a body parser." },
    { original: '"error"', reason: "Equivalent: the parser rejects such a body for every text that it does not know." },
    { original: "error === null", replacement: "true", reason: "Equivalent: with an error there is no value." },
    { original: "256 * 1024", reason: HTTP },
  ],
  "server/rest/docs.ts": [
    { original: "false", replacement: "true", reason: "Equivalent: nothing uses the decorator." },
    {
      original: "/^\\/swagger-ui(-bundle)?\\.(css|js)$/",
      replacement: "/\\/swagger-ui(-bundle)?\\.(css|js)$/",
      reason: "Equivalent: the package has no folders.",
    },
  ],
  "server/rest/plugin.ts": [
    { original: "type === undefined", replacement: "true", reason: OTHER_TYPE },
    { original: '"application/json"', reason: OTHER_TYPE },
    { original: '"caller"', reason: "Equivalent: the hook sets the property of every request that a handler gets." },
    {
      original: "own.removeAllContentTypeParsers();",
      reason: "Equivalent but larger: a JSON body is read before it is rejected.",
    },
    {
      original: "input === undefined",
      replacement: "false",
      reason: "Equivalent: an operation without an input ignores it.",
    },
    {
      original: "operation.streamedBody !== null",
      replacement: "true",
      reason: "Differs for a body that is not JSON: the client has to open another connection after the error.",
    },
  ],
  "server/rest/streams/event-stream.ts": [
    {
      original: "true",
      replacement: "false",
      reason: "Equivalent: a stream is read before its first interval, and not after its end.",
    },
    { original: "chunk.at(-1)?.type", reason: "Equivalent: a chunk has at least one event." },
    { original: "encoded.set(chunk, bytes);", reason: "Equivalent but slower: each reader encodes the chunk." },
  ],
  "server/rest/streams/open-streams.ts": [
    { original: 'throw new Error("a request got a stream before it was authenticated");', reason: AUTHENTICATED },
    { original: "caller === null", replacement: "false", reason: AUTHENTICATED },
    { original: '"query"', reason: "Equivalent: the access of these operations is complete." },
    { original: "operation.input?.safeParse", reason: HAS_INPUT },
    { original: "valid?.success", reason: HAS_INPUT },
    { original: '""', replacement: '"Stryker was here!"', reason: "Only the length that a response to HEAD states." },
    { original: "request.caller?.orgId", reason: "Equivalent: the request of an open stream has a caller." },
    { original: "stream.destroy();", reason: MEMORY },
    { original: "reached === null", replacement: "false", reason: STOPPING },
    { original: '"unavailable"', reason: STOPPING },
    { original: '"close"', reason: MEMORY },
    { original: "() => this.#streams.delete(stream)", reason: MEMORY },
    { original: "true", replacement: "false", reason: STOPPING },
    { original: "clearInterval(this.#timer);", reason: "Equivalent: the process of a stopped service ends." },
    { original: "this.#revocation.stop();", reason: "Equivalent: the process of a stopped service ends." },
    { original: '"The service is stopping. Try again."', reason: "The text of an error." },
    { original: 'of === "process"', reason: PROCESS_LIMIT },
    { original: '"process"', reason: PROCESS_LIMIT },
  ],
  "server/rest/streamed-bodies.ts": [
    { original: "this.#open.delete(body);", reason: "Not caught: it only frees memory." },
    { original: "{ destroyOnReturn: false }", reason: "Equivalent: no loop ends the iterator early." },
    { original: "false", replacement: "true", reason: "Equivalent: no loop ends the iterator early." },
    {
      original: "this.#failure !== null",
      replacement: "false",
      reason: "Not caught: the service would have to stop between two reads.",
    },
  ],
};
