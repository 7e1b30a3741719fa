import superjson from "superjson";
import { type CallEncoding, JSON_HEADERS, parseBody, toFailedResult } from "./call-encoding.ts";

interface TrpcResponse {
  result?: { data?: unknown };
  error?: { message?: unknown; json?: { message?: unknown } };
}

/** tRPC 11 over HTTP, without batching. */
export const trpcCall: CallEncoding<"trpc"> = {
  encode({ name, kind, input }, { endpoint, transformer }) {
    const payload = JSON.stringify(transformer === "superjson" ? superjson.serialize(input) : input);
    const path = `${endpoint}/${encodeURIComponent(name)}`;
    if (kind === "mutation") return { method: "POST", path, headers: JSON_HEADERS, body: payload };
    return { method: "GET", path: `${path}?input=${encodeURIComponent(payload)}`, headers: JSON_HEADERS, body: null };
  },

  decode(response, { transformer }) {
    const { result, error }: TrpcResponse = parseBody(response);
    if (result === undefined) return toFailedResult(response, error?.message ?? error?.json?.message);
    const { data } = result;
    return { ok: true, output: transformer === "superjson" ? superjson.deserialize(data as never) : data };
  },
};
