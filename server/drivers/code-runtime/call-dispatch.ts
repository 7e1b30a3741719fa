import { ServiceError } from "../../../domain/shared/errors.ts";
import { CallError, type CallHandler } from "../../../domain/ports/code-runtime.ts";
import { MAX_ANSWER_BYTES, MAX_NAME_LENGTH } from "./call-limits.ts";

export interface Call {
  /** The program's own number for the call, which the answer carries. */
  id: number;
  name: string;
  input: unknown;
}

export interface Answering {
  handle: CallHandler;
  /** Told of what is neither a refusal nor a `CallError`, because the program is not. */
  onFault: (error: unknown, name: string) => void;
  signal: AbortSignal;
}

/** @throws when the line is no call; the program cannot write such a line through `service` */
export function parseCall(line: string): Call {
  const { id, name, input } = JSON.parse(line) as Record<string, unknown>;
  if (typeof id !== "number" || typeof name !== "string" || name.length > MAX_NAME_LENGTH)
    throw new SyntaxError("Not a call");
  return { id, name, input };
}

/** The line that answers a call. Never throws. */
export async function answerCall(call: Call, answering: Answering): Promise<string> {
  try {
    const output = (await answering.handle(call.name, call.input, answering.signal)) ?? null;
    const line = `${JSON.stringify({ id: call.id, output })}\n`;
    if (Buffer.byteLength(line) <= MAX_ANSWER_BYTES) return line;
    return failure(call, new CallError("too_large", `${call.name} answered more than 1 MB: ask for less at a time`));
  } catch (error) {
    if (error instanceof ServiceError || error instanceof CallError) return failure(call, error);
    if (!answering.signal.aborted) answering.onFault(error, call.name);
    return failure(
      call,
      new CallError("internal", `${call.name} failed for a reason of the service, not of the program`),
    );
  }
}

export function failure({ id }: Call, { code, message }: { code: string; message: string }): string {
  return `${JSON.stringify({ id, error: { code, message } })}\n`;
}
