import { z } from "zod";
import { isRecord, parseJson } from "../../../../domain/shared/json.ts";
import { isTooComplexJson } from "../../../../domain/shared/json-limits.ts";
import { type GatewayMethod, responses } from "./gateway-schemas.ts";

/** An error response of the gateway. The message is for humans, so only the codes decide what it means. */
export const gatewayError = z.object({
  code: z.string().catch(""),
  message: z.string().catch(""),
  details: z.record(z.string(), z.unknown()).catch({}),
});

export type GatewayError = z.infer<typeof gatewayError>;

export type Frame =
  | { type: "challenge"; nonce: string; sentAtMs: number }
  /** The payload is the part of the response that the schema of its method describes. */
  | { type: "response"; id: string; payload: unknown }
  | { type: "error"; id: string; error: GatewayError }
  | { type: "invalid_response"; id: string; method: GatewayMethod; problem: string }
  /** An event, a response to a call that does not wait any more, or a frame of a later version of the protocol. */
  | { type: "other" };

const challenge = z.object({
  event: z.literal("connect.challenge"),
  payload: z.object({ nonce: z.string().min(1).max(512), ts: z.int().min(0) }),
});

const success = z.object({ id: z.string(), ok: z.literal(true), payload: z.unknown() });
const failure = z.object({ id: z.string(), ok: z.literal(false), error: gatewayError });

/** In characters: a list can have thousands of invalid elements. */
const MAX_PROBLEM = 1000;

/** The methods of the calls that wait, by the ids of the calls. */
export type WaitingMethods = ReadonlyMap<string, GatewayMethod>;

/** @returns `null` for a text that no gateway sends. One with too many values is not parsed. */
export function parseFrame(text: string, waiting: WaitingMethods): Frame | null {
  if (isTooComplexJson(text)) return null;
  const value = parseJson(text);
  if (!isRecord(value)) return null;
  if (value["type"] === "event") return parseEvent(value);
  if (value["type"] !== "res") return { type: "other" };
  const response = success.or(failure).safeParse(value);
  if (!response.success) return null;
  const { id } = response.data;
  if (!response.data.ok) return { type: "error", id, error: response.data.error };
  const method = waiting.get(id);
  return method === undefined ? { type: "other" } : parseResponse(id, method, response.data.payload);
}

function parseResponse(id: string, method: GatewayMethod, payload: unknown): Frame {
  const parsed = responses[method].safeParse(payload);
  if (parsed.success) return { type: "response", id, payload: parsed.data };
  return { type: "invalid_response", id, method, problem: parsed.error.message.slice(0, MAX_PROBLEM) };
}

/** What runs in a worker thread, because it would occupy the thread that responds to requests: 40 ms for 7 MiB. */
export interface GatewayTasks {
  parseLargeFrame(input: { message: Uint8Array; waiting: WaitingMethods }): Frame | null;
}

export const parseLargeFrame: GatewayTasks["parseLargeFrame"] = ({ message, waiting }) =>
  parseFrame(Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString(), waiting);

function parseEvent(value: Record<string, unknown>): Frame {
  const parsed = challenge.safeParse(value);
  if (!parsed.success) return { type: "other" };
  const { nonce, ts } = parsed.data.payload;
  return { type: "challenge", nonce, sentAtMs: ts };
}
