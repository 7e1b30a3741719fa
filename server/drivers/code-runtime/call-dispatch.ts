import { CallError, type CallHandler } from "../../../domain/ports/code-runtime.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";
import { parse, stringify } from "./inside/typed-json.ts";

/** Bounds on the calls of one program. Sizes are in bytes of JSON. */
export const MAX_CALLS = 1000;
export const MAX_CONCURRENT_CALLS = 16;
export const MAX_CALL_BYTES = 1024 * 1024;
export const MAX_TOTAL_CALL_BYTES = 32 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_NAME_CHARACTERS = 512;

export interface Call {
  /** The program's own number for the call. The response carries it. */
  id: number;
  name: string;
  input: unknown;
}

export interface CallContext {
  handleCall: CallHandler;
  /** Receives errors that the program is not told about. */
  onInternalError: (error: unknown, name: string) => void;
  signal: AbortSignal;
}

/** @throws when the line is not a call. Programs cannot send such a line through `service`. */
export function parseCall(line: string): Call {
  const { id, name, input } = parse(line) as Record<string, unknown>;
  if (typeof id !== "number" || typeof name !== "string" || name.length > MAX_NAME_CHARACTERS)
    throw new SyntaxError("Not a call");
  return { id, name, input };
}

/** Handles a call and returns the line of its response. Never throws. */
export async function dispatchCall(call: Call, context: CallContext): Promise<string> {
  const { id, name } = call;
  try {
    const output = (await context.handleCall(name, call.input, context.signal)) ?? null;
    const line = `${stringify({ id, output })}\n`;
    if (Buffer.byteLength(line) <= MAX_RESPONSE_BYTES) return line;
    return formatErrorResponse(
      call,
      "too_large",
      `The response of ${name} is larger than 1 MiB: request less at a time`,
    );
  } catch (error) {
    if (error instanceof ServiceError || error instanceof CallError)
      return formatErrorResponse(call, error.code, error.message);
    if (!context.signal.aborted) context.onInternalError(error, name);
    return formatErrorResponse(call, "internal", `${name} failed because of an internal error of the service`);
  }
}

export function formatErrorResponse({ id }: Call, code: string, message: string): string {
  return `${JSON.stringify({ id, error: { code, message } })}\n`;
}
