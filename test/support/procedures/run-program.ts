import { CallError, type CodeRuntime, type RunRequest, type RunResult } from "../../../domain/ports/code-runtime.ts";

/** Answers with what it was asked, but for names that say how a call should fail. */
async function echo(name: string, input: unknown): Promise<unknown> {
  if (name.endsWith(".refuse")) throw new CallError("not_found", "There is no such thing; list them first");
  if (name.endsWith(".break")) throw new Error("secret of the host");
  return { name, input };
}

/** Runs one program with time enough and calls that are echoed, but for what the test chooses. */
export function runProgram(runtime: CodeRuntime, code: string, choices: Partial<RunRequest> = {}): Promise<RunResult> {
  return runtime.run({ code, timeoutMs: 20_000, calls: echo, signal: new AbortController().signal, ...choices });
}
