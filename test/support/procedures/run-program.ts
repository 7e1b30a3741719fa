import {
  CallError,
  type CodeRuntime,
  RUN_TIME_MS,
  type RunRequest,
  type RunResult,
} from "../../../domain/ports/code-runtime.ts";

/** Returns the name and input of the call. Calls of `refuse` fail with an error for the program, calls of `break` with an internal error. */
async function echoCall(name: string, input: unknown): Promise<unknown> {
  if (name.endsWith(".refuse")) throw new CallError("not_found", "There is no such thing; list them first");
  if (name.endsWith(".break")) throw new Error("secret of the host");
  return { name, input };
}

/** Runs one program. By default its time limit is long, and each of its calls returns its name and input. */
export function runProgram(runtime: CodeRuntime, code: string, options: Partial<RunRequest> = {}): Promise<RunResult> {
  const signal = new AbortController().signal;
  return runtime.run({ orgId: "org-1", code, timeoutMs: RUN_TIME_MS.max, handleCall: echoCall, signal, ...options });
}
