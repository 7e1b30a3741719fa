import { z } from "zod";
import { OVERLAPS } from "../../domain/tokens/rotate-token.ts";

const TIMESTAMP = { description: "RFC 3339 in UTC, with milliseconds" };

/**
 * The argument of a tool for an app. The registry of the tools turns a slug into the id. The bound is not in the JSON Schema,
 * because an agent reads it with every tool and needs it for none.
 */
export const appOfTool = z
  .string()
  .refine(({ length }) => length >= 1 && length <= 63, "must have 1 to 63 characters")
  .meta({ description: "The slug or the id of the app" });

export const timestamp = z.string().meta(TIMESTAMP);

export const timestampWithExample = z.string().meta({ ...TIMESTAMP, examples: ["2026-11-20T09:30:00.000Z"] });

const INVALID_TIME = "must be an RFC 3339 time with an offset, such as 2026-11-20T09:30:00Z";

/** A time that a caller sends. */
export const time = z.iso.datetime({ offset: true, error: INVALID_TIME });

/** The overlap of a rotation, during which the previous token and the new one are valid. */
export const overlap = z
  .enum(Object.keys(OVERLAPS) as (keyof typeof OVERLAPS)[])
  .default("day")
  .meta({ description: "How long the previous token stays valid" });

/** Without bounds, which would only make the list of tools longer. */
export const tokenCounters = z.object({
  input: z.number(),
  output: z.number(),
  cache_read: z.number(),
  cache_write: z.number(),
  total: z.number(),
});

export const deleteResponse = z.object({ status: z.literal("deleted") }).meta({ id: "DeleteResponse" });

/** A file that is the body of a REST request, which the procedure reads while it arrives. */
export function streamedFile(description: string) {
  return z
    .custom<AsyncIterable<Uint8Array>>(isAsyncIterable, "send the file as the body of the request, over REST")
    .meta({ description, override: { type: "string", format: "binary" } });
}

function isAsyncIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Descriptions of the responses of an operation that may ask the gateway of an agent. */
export const HOST_ERRORS = {
  409: "The OpenClaw gateway of the server does not permit it, or cannot do it",
  503: "The OpenClaw gateway of the server does not respond as it should, or the service's database is temporarily unavailable",
} as const;
