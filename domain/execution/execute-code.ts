import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { CallError, type CallHandler, type CodeRuntime, MAX_CODE_BYTES } from "../ports/code-runtime.ts";
import { callProcedure, type CallDeps } from "../procedures/call-procedure.ts";
import type { ToolDeclaration } from "./call-declarations.ts";
import { declarationsOf, programDeclarations } from "./program-declarations.ts";
import { shortenOutput } from "./truncate-output.ts";

export interface ExecuteDeps extends CallDeps {
  codeRuntime: CodeRuntime;
  /** The tools that a program can call. */
  toolDeclarations: readonly ToolDeclaration[];
}

/** Calls a tool of the service with the rights of the caller. */
export type CallTool = (name: string, input: unknown, signal: AbortSignal) => Promise<unknown>;

export interface Program {
  code: string;
  timeoutMs: number;
  callTool: CallTool;
}

export interface Execution {
  stdout: string;
  stderr: string;
  exit_code: number;
  /** In milliseconds. */
  duration_ms: number;
  truncated: boolean;
  timed_out: boolean;
}

/**
 * Runs an agent's TypeScript. The program holds no token: what it asks of `service` is carried out here, with the rights
 * of the caller, call by call.
 *
 * @throws {ServiceError} `invalid` for code that is too long
 */
export async function executeCode(
  deps: ExecuteDeps,
  caller: Caller,
  { code, timeoutMs, callTool }: Program,
  signal: AbortSignal,
): Promise<Execution> {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES)
    throw new ServiceError("invalid", `code: may have ${MAX_CODE_BYTES / 1024} KiB at most. Run it in parts.`);
  const offered = await deps.procedureIndex.get(caller.orgId);
  const declarations = programDeclarations(offered, deps.toolDeclarations);
  const calls: CallHandler = (name, input, callSignal) => carryOut(deps, { caller, callTool, name, input }, callSignal);
  const result = await deps.codeRuntime.run({ code, declarations, timeoutMs, calls, signal });
  const { stdout, stderr, isCut } = shortenOutput(result);
  return {
    stdout,
    stderr,
    exit_code: result.exitCode,
    duration_ms: result.durationMs,
    truncated: result.truncated || isCut,
    timed_out: result.timedOut,
  };
}

interface ProgramCall {
  caller: Caller;
  callTool: CallTool;
  name: string;
  input: unknown;
}

async function carryOut(
  deps: ExecuteDeps,
  { caller, callTool, name, input }: ProgramCall,
  signal: AbortSignal,
): Promise<unknown> {
  if (name === "types")
    return declarationsOf(await deps.procedureIndex.get(caller.orgId), deps.toolDeclarations, input);
  const [kind, target = "", ...rest] = name.split(".");
  if (kind === "tools" && rest.length === 0) return callTool(target, input ?? {}, signal);
  if (kind !== "apps" || rest.length === 0)
    throw new ServiceError("invalid", "Call service.apps.<slug>.<procedure>(input) or service.tools.<tool>(input).");
  const call = { app: target, procedure: rest.join("."), input: inputOf(input) };
  const answer = await callProcedure(deps, caller, call, signal);
  // The app's own words, which the program may look at: they are an error's message, and nothing acts on them.
  if (!answer.ok) throw new CallError("app_error", answer.message);
  return answer.output ?? null;
}

function inputOf(input: unknown): Record<string, unknown> {
  if (input === undefined || input === null) return {};
  if (typeof input === "object" && !Array.isArray(input)) return input as Record<string, unknown>;
  throw new ServiceError("invalid", "A procedure takes one object, such as { id: 7 }.");
}
