import { LRUCache } from "lru-cache";
import { findProgramWorkspace } from "../agent-workspaces/find-workspace.ts";
import type { Db } from "../database-types.ts";
import { CallError, type CallHandler, type CodeRuntime } from "../ports/code-runtime.ts";
import { type CallDeps, callProcedure, formatNames } from "../procedures/call-procedure.ts";
import type { OfferedProcedures } from "../procedures/procedure-index.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { askForName, findNearestNames } from "../shared/nearest-names.ts";
import type { UsageCounter } from "../usage/usage-counter.ts";
import type { ToolDeclaration } from "./call-declarations.ts";
import { generateDeclarations, generateDeclarationsOf } from "./program-declarations.ts";
import { presentOutput } from "./present-output.ts";

export interface ExecuteDeps extends CallDeps {
  db: Db;
  codeRuntime: CodeRuntime;
  usageCounter: UsageCounter;
  /** The tools that a program can call. */
  toolDeclarations: readonly ToolDeclaration[];
}

/** Calls a tool of the service with the rights of the caller. */
export type CallTool = (name: string, input: unknown, signal: AbortSignal) => Promise<unknown>;

export interface Program {
  /** At most `MAX_CODE_BYTES`. */
  code: string;
  timeoutMs: number;
  /** The agent whose workspace the program has; by default the agent of a gateway token. */
  agentId?: string | undefined;
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
 * The declarations by organization and version of its procedures. For 500 apps, generating them takes longer than starting
 * a program. The tools never change while the process runs.
 */
const declarationsCache = new LRUCache<string, string>({ max: 100 });

/**
 * Runs a program that an agent wrote. The program has no token: each of its calls is made here, with the rights of the
 * caller.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `forbidden` for another agent than that of a
 *   gateway token; `unavailable` while too many programs wait
 */
export async function executeCode(
  deps: ExecuteDeps,
  caller: Caller,
  { code, timeoutMs, agentId, callTool }: Program,
  signal: AbortSignal,
): Promise<Execution> {
  const workspace = await findProgramWorkspace(deps, caller, agentId);
  const offered = await deps.procedureIndex.get(caller.orgId);
  const declarations = cachedDeclarations(caller.orgId, offered, deps.toolDeclarations);
  const handleCall: CallHandler = (name, input, callSignal) =>
    dispatchCall(deps, { caller, callTool, name, input }, callSignal);
  deps.usageCounter.countProgram(caller.orgId);
  const result = await deps.codeRuntime.run({
    orgId: caller.orgId,
    code,
    declarations,
    timeoutMs,
    handleCall,
    workspace,
    signal,
  });
  const { stdout, stderr, isTruncated } = presentOutput({
    code,
    ...result,
    slugs: [...new Set(offered.all.map(({ slug }) => slug))],
    toolNames: deps.toolDeclarations.map(({ name }) => name),
  });
  return {
    stdout,
    stderr,
    exit_code: result.exitCode,
    duration_ms: result.durationMs,
    truncated: result.truncated || isTruncated,
    timed_out: result.timedOut,
  };
}

function cachedDeclarations(orgId: string, offered: OfferedProcedures, tools: readonly ToolDeclaration[]): string {
  const key = `${orgId} ${offered.version}`;
  let declarations = declarationsCache.get(key);
  if (declarations === undefined) declarationsCache.set(key, (declarations = generateDeclarations(offered, tools)));
  return declarations;
}

interface ProgramCall {
  caller: Caller;
  callTool: CallTool;
  name: string;
  input: unknown;
}

async function dispatchCall(
  deps: ExecuteDeps,
  { caller, callTool, name, input }: ProgramCall,
  signal: AbortSignal,
): Promise<unknown> {
  if (name === "types")
    return generateDeclarationsOf(await deps.procedureIndex.get(caller.orgId), deps.toolDeclarations, input);
  const [kind, target = "", ...rest] = name.split(".");
  if (kind === "tools" && rest.length === 0) return callTool(target, input ?? {}, signal);
  if (kind !== "apps" || rest.length === 0)
    throw incompleteCall(kind, target, await deps.procedureIndex.get(caller.orgId));
  const call = { app: target, procedure: rest.join("."), input };
  const result = await callProcedure(deps, caller, call, signal);
  // The message is text of the app. The program may read it as the message of an error, and nothing acts on it.
  if (!result.ok) throw new CallError("app_error", result.message);
  return result.output ?? null;
}

/** A call without the name of a procedure or a tool. */
function incompleteCall(kind: string | undefined, target: string, { all }: OfferedProcedures): ServiceError {
  const own = all.filter(({ slug }) => slug === target).map(({ name }) => name);
  const nearest = own.length > 0 ? "" : askForName(findNearestNames(target, new Set(all.map(({ slug }) => slug))));
  const procedures = own.length > 0 ? ` Its procedures: ${formatNames(own)}.` : nearest;
  const wrong = kind === "apps" ? "The call names no procedure of an app" : "The call names no tool";
  return new ServiceError(
    "invalid",
    `${wrong}. Call service.apps["<slug>"].<procedure>(input) or service.tools.<tool>(input).${procedures}`,
  );
}
