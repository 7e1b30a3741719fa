import { z } from "zod";
import { isRecord, parseJson } from "../../../../domain/shared/json.ts";
import { isTooComplexJson } from "../../../../domain/shared/json-limits.ts";

/** An error response of the gateway. The message is for humans, so only the codes decide what it means. */
export const gatewayError = z.object({
  code: z.string().catch(""),
  message: z.string().catch(""),
  details: z.record(z.string(), z.unknown()).catch({}),
});

export type GatewayError = z.infer<typeof gatewayError>;

export type Frame =
  | { type: "challenge"; nonce: string; sentAtMs: number }
  | { type: "response"; id: string; ok: true; payload: unknown }
  | { type: "response"; id: string; ok: false; error: GatewayError }
  /** An event, or a frame of a later version of the protocol. */
  | { type: "other" };

const challenge = z.object({
  event: z.literal("connect.challenge"),
  payload: z.object({ nonce: z.string().min(1).max(512), ts: z.int().min(0) }),
});

const success = z.object({ id: z.string(), ok: z.literal(true), payload: z.unknown() });
const failure = z.object({ id: z.string(), ok: z.literal(false), error: gatewayError });

/** @returns `null` for a text that no gateway sends. One with too many values is not parsed. */
export function parseFrame(text: string): Frame | null {
  if (isTooComplexJson(text)) return null;
  const value = parseJson(text);
  if (!isRecord(value)) return null;
  if (value["type"] === "event") return parseEvent(value);
  if (value["type"] !== "res") return { type: "other" };
  const response = success.or(failure).safeParse(value);
  return response.success ? { type: "response", ...response.data } : null;
}

function parseEvent(value: Record<string, unknown>): Frame {
  const parsed = challenge.safeParse(value);
  if (!parsed.success) return { type: "other" };
  const { nonce, ts } = parsed.data.payload;
  return { type: "challenge", nonce, sentAtMs: ts };
}

export const hello = z.object({
  type: z.literal("hello-ok"),
  protocol: z.int(),
  /** What this connection may do, whatever it has requested. */
  auth: z.object({ scopes: z.array(z.string()) }),
});
