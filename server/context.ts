import { TRPCError } from "@trpc/server";
import type { Caller } from "../domain/shared/caller.ts";
import { ServiceError } from "../domain/shared/errors.ts";
import type { Context, Services } from "../routers/core/context.ts";
import { createCaller } from "../routers/index.ts";
import { TOOL_LIST, TOOLS } from "./mcp/tool-table.ts";
import { formatValidationIssues } from "../routers/core/format-validation-issues.ts";

/** What a face adds of its own to a call. */
type FaceOf = Pick<Context, "address" | "callerRefused" | "idempotencyKey" | "malformedBody" | "reportRateLimit">;

const NO_FACE: FaceOf = {
  ...{ address: null, callerRefused: null, idempotencyKey: null, malformedBody: null },
  reportRateLimit: () => undefined,
};

/** One call of one caller. */
export function callContext(services: Services, caller: Caller | null, face: Partial<FaceOf> = {}): Context {
  const context: Context = {
    ...services,
    ...NO_FACE,
    ...face,
    caller,
    callTool: (name, input, signal) => callToolAt(context, name, input, signal),
    toolDeclarations: TOOLS_FOR_CODE,
  };
  return context;
}

/** Not a program of a program: that one could start another, and so on. */
const NOT_FROM_CODE = "service_execute";
const TOOLS_FOR_CODE = TOOL_LIST.filter(({ name }) => name !== NOT_FROM_CODE);

async function callToolAt(context: Context, name: string, input: unknown, signal: AbortSignal): Promise<unknown> {
  const entry = TOOLS.get(name);
  if (entry === undefined || name === NOT_FROM_CODE)
    throw new ServiceError(
      "not_found",
      `There is no such tool for code. There are: ${TOOLS_FOR_CODE.map((tool) => tool.name).join(", ")}.`,
    );
  try {
    return await procedureAt(createCaller(context, { signal }), entry.path)(input);
  } catch (error) {
    throw serviceErrorOf(error) ?? error;
  }
}

export type ProcedureCall = (input: unknown) => Promise<Record<string, unknown>>;

/** The procedure at a dotted path of a caller. */
export function procedureAt(caller: object, path: string): ProcedureCall {
  const found = path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], caller);
  return found as ProcedureCall;
}

/** What a failed call refuses, in words for the caller; `null` for a fault. */
export function serviceErrorOf(error: unknown): ServiceError | null {
  if (!(error instanceof TRPCError)) return null;
  if (error.cause instanceof ServiceError) return error.cause;
  const issues = error.code === "BAD_REQUEST" ? formatValidationIssues(error.cause) : null;
  return issues === null ? null : new ServiceError("invalid", `These arguments are not what it takes: ${issues}.`);
}
