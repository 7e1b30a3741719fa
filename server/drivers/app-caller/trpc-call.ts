import superjson from "superjson";
import type { AppCall } from "../../../domain/ports/app-caller.ts";
import { acceptsNoInput, type Invocation } from "../../../domain/ports/procedure-discovery.ts";
import { stringifyJson } from "../../../domain/shared/json.ts";
import { type CallEncoding, InvalidArguments, JSON_HEADERS, parseBody, toFailedResult } from "./call-encoding.ts";

type TrpcInvocation = Extract<Invocation, { via: "trpc" }>;

interface TrpcResponse {
  result?: { data?: unknown };
  error?: { message?: unknown; json?: { message?: unknown } };
}

/** A batch with one call without input. Outside a batch, tRPC up to 11.4 takes an empty body for broken JSON. */
const EMPTY_BATCH = "{}";

/** tRPC 11 over HTTP. */
export const trpcCall: CallEncoding<"trpc"> = {
  encode(call, invocation) {
    const payload = encodeInput(call, invocation);
    const path = `${invocation.endpoint}/${encodeURIComponent(invocation.procedure ?? call.name)}`;
    if (call.kind === "mutation" && payload === null)
      return { method: "POST", path: `${path}?batch=1`, headers: JSON_HEADERS, body: EMPTY_BATCH };
    if (call.kind === "mutation") return { method: "POST", path, headers: JSON_HEADERS, body: payload };
    const query = payload === null ? "" : `?input=${encodeURIComponent(payload)}`;
    return { method: "GET", path: `${path}${query}`, headers: JSON_HEADERS, body: null };
  },

  decode(response, { transformer }) {
    const body = parseBody(response);
    const { result, error } = (Array.isArray(body) ? body[0] : body) as TrpcResponse;
    if (result === undefined) return toFailedResult(response, error?.message ?? error?.json?.message);
    const { data } = result;
    return { ok: true, output: transformer === "superjson" ? superjson.deserialize(data as never) : data };
  },
};

/** @returns `null` for a call without input, which only some procedures accept: to the others, no arguments are `{}` */
function encodeInput({ input }: AppCall, invocation: TrpcInvocation): string | null {
  if (input === undefined && acceptsNoInput(invocation)) return null;
  const { transformer } = invocation;
  const value = input === undefined ? {} : input;
  try {
    return transformer === "superjson" ? superjson.stringify(value) : stringifyJson(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidArguments("The input is nested too deeply.");
  }
}
