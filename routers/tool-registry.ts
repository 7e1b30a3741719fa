import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { isReservedName } from "../domain/procedures/direct-tool-names.ts";
import { ServiceError } from "../domain/shared/errors.ts";
import type { Context } from "./core/context.ts";
import { formatValidationIssues } from "./core/format-validation-issues.ts";
import type { ToolMeta } from "./core/trpc.ts";
import { appRouter, createCaller } from "./index.ts";

/** A tool as a client sees it. */
export interface Tool extends Pick<ToolMeta, "name" | "title" | "description" | "annotations"> {
  inputSchema: object;
  outputSchema: object;
}

export interface ToolEntry {
  /** The dotted path of the procedure behind the tool. */
  path: string;
  tool: Tool;
  /** The names of its arguments, in a sentence for who got them wrong. */
  takes: string;
}

interface Procedure {
  _def: { meta?: { tool?: ToolMeta }; inputs: z.ZodType[]; output?: z.ZodType };
}

const PROCEDURES = appRouter._def.procedures as unknown as Record<string, Procedure>;

/** What schemas say of themselves, but for the names they have in the REST description: those would become references. */
const NAMELESS = {
  get(type: z.ZodType): object {
    const { id: _name, ...said } = z.globalRegistry.get(type) ?? {};
    return said;
  },
  has: (type: z.ZodType): boolean => z.globalRegistry.has(type),
};

/** Every procedure with `meta.tool`, by the tool's name. Made once: no schema is built for a request. */
export const TOOLS: ReadonlyMap<string, ToolEntry> = new Map(
  Object.entries(PROCEDURES)
    .flatMap(([path, { _def }]) =>
      _def.meta?.tool ? [entryOf(path, _def.meta.tool, _def.inputs[0], _def.output)] : [],
    )
    .toSorted((a, b) => (a.tool.name < b.tool.name ? -1 : 1))
    .map((entry) => [entry.tool.name, entry]),
);

/** In an order that never changes, so that clients can cache it. */
export const TOOL_LIST: readonly Tool[] = [...TOOLS.values()].map(({ tool }) => tool);

function entryOf(path: string, meta: ToolMeta, input?: z.ZodType, output?: z.ZodType): ToolEntry {
  const { name, title, description, annotations } = meta;
  // Without an input schema, tRPC would take any arguments and drop them.
  if (input === undefined || output === undefined)
    throw new Error(`the tool ${name} does not say what it takes and returns`);
  if (!isReservedName(name)) throw new Error(`the name of the tool ${name} could be that of an app's tool`);
  const [inputSchema, outputSchema] = [schemaOf(input, "input"), schemaOf(output, "output")];
  const tool = { name, title, description, annotations, inputSchema, outputSchema };
  return { path, tool, takes: takes(inputSchema) };
}

function takes({ properties = {}, required = [] }: z.core.JSONSchema.BaseSchema): string {
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name} (optional)`));
  return `It takes ${names.length === 0 ? "no arguments" : names.join(", ")}.`;
}

function schemaOf(type: z.ZodType, io: "input" | "output"): z.core.JSONSchema.BaseSchema {
  const override = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => shorten(jsonSchema, io);
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io, metadata: NAMELESS as never, override });
  return schema;
}

/** Takes out what tells an agent nothing, since every list is read whole. An output may come to have further fields. */
function shorten(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (io === "input") return;
  delete schema.examples;
  delete schema.minimum;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}

/** A program must not start another program, which could start another, and so on. */
const NOT_FOR_PROGRAMS = "service_execute";

/** The tools that a program can call. */
export const TOOLS_FOR_PROGRAMS: readonly Tool[] = TOOL_LIST.filter(({ name }) => name !== NOT_FOR_PROGRAMS);

/**
 * Calls a tool for a program, with the rights of the call that started the program.
 *
 * @throws {ServiceError} for every error that the program's author can act on
 */
export async function callToolForProgram(
  context: Context,
  name: string,
  input: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const entry = TOOLS.get(name);
  if (entry !== undefined && name !== NOT_FOR_PROGRAMS) return callProcedureAt(context, entry.path, input, signal);
  const names = TOOLS_FOR_PROGRAMS.map((tool) => tool.name).join(", ");
  throw new ServiceError("not_found", `Programs have no such tool. Available tools: ${names}.`);
}

/**
 * Calls the procedure at a dotted path of the router.
 *
 * @throws {ServiceError} for every error that the caller can act on; anything else thrown is an internal error
 */
export async function callProcedureAt<T = Record<string, unknown>>(
  context: Context,
  path: string,
  input: unknown,
  signal: AbortSignal,
): Promise<T> {
  const procedure = path
    .split(".")
    .reduce<unknown>((router, key) => (router as Record<string, unknown>)[key], createCaller(context, { signal }));
  try {
    return await (procedure as (input: unknown) => Promise<T>)(input);
  } catch (error) {
    throw serviceErrorFrom(error) ?? error;
  }
}

function serviceErrorFrom(error: unknown): ServiceError | null {
  if (!(error instanceof TRPCError)) return null;
  if (error.cause instanceof ServiceError) return error.cause;
  const issues = error.code === "BAD_REQUEST" ? formatValidationIssues(error.cause) : null;
  return issues === null ? null : new ServiceError("invalid", `Invalid arguments: ${issues}.`);
}
