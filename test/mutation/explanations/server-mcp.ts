import type { Explanation } from "./explanation.ts";

const TEXT = "The text of an error.";
const MEMORY = "Not caught: it only frees memory.";
const LONGER = "Equivalent: only a text is cut that is longer than the limit.";
const SAME_NAME = "Equivalent: the header equals the name in the body at this point.";

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
  "server/mcp/subscription-bus.ts": [
    { original: "listeners.size === 0", replacement: "false", reason: MEMORY },
    { original: "this.#listenersByOrgId.delete(orgId);", reason: MEMORY },
  ],
};
