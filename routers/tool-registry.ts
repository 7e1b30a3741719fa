import { TRPCError } from "@trpc/server";
import { z } from "zod";
import { findOwnAgent } from "../domain/agents/find-agent.ts";
import { resolveAppId } from "../domain/apps/resolve-app-id.ts";
import { describeArguments } from "../domain/procedures/describe-arguments.ts";
import { isReservedToolName } from "../domain/procedures/direct-tool-names.ts";
import type { Caller } from "../domain/shared/caller.ts";
import { ServiceError } from "../domain/shared/errors.ts";
import { askForName, findNearestNames } from "../domain/shared/nearest-names.ts";
import { type AccessMeta, getAccessError, type ProcedureType, requiredAccess } from "./core/access.ts";
import type { Context } from "./core/context.ts";
import { fromValidation, InvalidInput } from "./core/invalid-input.ts";
import { omitAbsent } from "./core/omit-absent.ts";
import type { Meta, ToolMeta } from "./core/trpc.ts";
import { appRouter, callRouterProcedure } from "./index.ts";

/** A tool as `tools/list` returns it. */
export interface Tool extends Pick<ToolMeta, "name" | "title" | "description" | "annotations"> {
  inputSchema: object;
  outputSchema: object;
}

export interface ToolEntry {
  tool: Tool;
  /** The dotted path of the procedure that the tool calls. */
  path: string;
  input: z.ZodType<object>;
  /** Turns arguments into the input of the procedure. @throws {InvalidInput} */
  toInput(args: unknown): object;
  /** Turns the output of the procedure into the result. */
  toResult(output: unknown, input: object): object;
  /** See {@link ToolMeta.ownAgent}. */
  ownAgent: string | undefined;
  /** The field of the input that is an app, which the tool accepts by its slug, too. */
  appField: string | undefined;
  /** The argument for a field of the input that has another name. */
  argumentOf: ReadonlyMap<string, string>;
  /** A sentence with the names of the arguments, for error messages. */
  argumentNames: string;
  /** The scope and the role that a caller needs. */
  access: Required<AccessMeta>;
  /** Returns the error for a caller who may not call the tool; `null` for one who may. */
  getAccessError(caller: Caller): ServiceError | null;
  /** See {@link ToolMeta.resultVersion}. */
  resultVersion: ToolMeta["resultVersion"];
}

interface Procedure {
  _def: { type: ProcedureType; meta?: Meta; inputs: z.ZodType<object>[]; output?: z.ZodType };
}

const PROCEDURES = appRouter._def.procedures as unknown as Record<string, Procedure>;

/** The metadata of schemas without their names in the OpenAPI document, which would turn into references. */
export const METADATA_WITHOUT_IDS = {
  get(type: z.ZodType): object {
    const { id: _id, ...metadata } = z.globalRegistry.get(type) ?? {};
    return metadata;
  },
  has: (type: z.ZodType): boolean => z.globalRegistry.has(type),
};

/** The argument of every tool for one app. */
const APP_ARGUMENT = "app_id";

/** Every procedure with `meta.tool`, by the tool's name. Built once, because building schemas is slow. */
export const TOOLS: ReadonlyMap<string, ToolEntry> = new Map(
  Object.entries(PROCEDURES)
    .flatMap(([path, procedure]) => createEntries(path, procedure))
    .toSorted((a, b) => (a.tool.name < b.tool.name ? -1 : 1))
    .map((entry) => [entry.tool.name, entry]),
);

/** In a stable order, so that clients can cache the list. */
export const TOOL_LIST: readonly Tool[] = [...TOOLS.values()].map(({ tool }) => tool);

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
  if (entry !== undefined && name !== NOT_FOR_PROGRAMS) return callTool(context, entry, input, signal);
  const names = TOOLS_FOR_PROGRAMS.map((tool) => tool.name);
  const nearest = askForName(findNearestNames(name, names));
  throw new ServiceError("not_found", `Programs have no such tool.${nearest} Available tools: ${names.join(", ")}.`);
}

/**
 * Calls a tool.
 *
 * @throws {ServiceError} for every error that the caller can act on; anything else thrown is an internal error
 */
export async function callTool(
  context: Context,
  entry: ToolEntry,
  args: unknown,
  signal: AbortSignal,
): Promise<object> {
  const { path, toResult, argumentOf } = entry;
  // The procedure reads its input after it has checked the caller and counted the call.
  let input: Promise<object> | undefined;
  const readInput = (): Promise<object> => (input ??= createInput(context, entry, args));
  try {
    const forAgent = { ...context, isForAgent: true, acceptsRepositoryUrls: true };
    const output = await callRouterProcedure(forAgent, path, readInput, signal);
    return toResult(output, await readInput());
  } catch (error) {
    throw toServiceError(error, argumentOf) ?? error;
  }
}

/** Adds the agent of the caller if the arguments name none, and turns the slug of an app into its id. */
async function createInput(
  { service, caller }: Context,
  { toInput, ownAgent, appField }: ToolEntry,
  args: unknown,
): Promise<object> {
  const input = toInput(args) as Record<string, unknown>;
  if (caller === null) return input;
  if (ownAgent !== undefined && input[ownAgent] === undefined)
    input[ownAgent] = (await findOwnAgent(service.db, caller, undefined)).id;
  if (appField !== undefined) input[appField] = await resolveAppId(service, caller, String(input[appField]));
  return input;
}

/**
 * Calls a procedure for the gateway, with an input of its own.
 *
 * @param path - the dotted path of the procedure
 * @throws {ServiceError} for every error that the caller can act on; anything else thrown is an internal error
 */
export async function callToolProcedure<T = Record<string, unknown>>(
  context: Context,
  path: string,
  input: unknown,
  signal: AbortSignal,
): Promise<T> {
  try {
    return (await callRouterProcedure(context, path, () => input, signal)) as T;
  } catch (error) {
    throw toServiceError(error) ?? error;
  }
}

const NO_OTHER_NAMES: ReadonlyMap<string, string> = new Map();

function toServiceError(error: unknown, argumentOf = NO_OTHER_NAMES): ServiceError | null {
  if (!(error instanceof TRPCError)) return null;
  const { cause } = error;
  if (cause instanceof InvalidInput)
    return new ServiceError("invalid", `Invalid arguments: ${cause.message}${/[.?]$/.test(cause.message) ? "" : "."}`);
  if (!(cause instanceof ServiceError)) return null;
  // The domain names the field of its input.
  const [, field = "", rest] = /^(\w{1,40}): (.*)$/s.exec(cause.message) ?? [];
  const name = argumentOf.get(field);
  return name === undefined ? cause : new ServiceError(cause.code, `${name}: ${rest}`);
}

/** Returns the tool of a procedure; an empty list for a procedure without `meta.tool`. */
function createEntries(path: string, { _def: { type, meta, inputs, output } }: Procedure): ToolEntry[] {
  if (meta?.tool === undefined) return [];
  const {
    name,
    title,
    description,
    annotations,
    resultVersion,
    ownAgent,
    fields = {},
    present = (value) => value,
  } = meta.tool;
  const { arguments: input = inputs[0], result = output } = meta.tool;
  // Without an input schema, tRPC would accept any arguments and ignore them.
  if (input === undefined || result === undefined) throw new Error(`the tool ${name} has no input or output schema`);
  if (!isReservedToolName(name))
    throw new Error(`the tool name ${name} is not reserved, so an app's tool could have it`);
  // A cached result is returned without the access check of the procedure.
  if (resultVersion !== undefined && (type !== "query" || meta.access !== undefined))
    throw new Error(`the tool ${name} must be a query with the default access, because its result is cached`);
  const inputSchema = toJsonSchema(input, "input");
  const outputSchema = toJsonSchema(result, "output");
  const tool = { name, title, description, annotations, inputSchema, outputSchema };
  const argumentNames = describeArguments(inputSchema);
  const access = requiredAccess(type, meta.access);
  const appField = APP_ARGUMENT in (inputSchema.properties ?? {}) ? (fields[APP_ARGUMENT] ?? APP_ARGUMENT) : undefined;
  const getError = (caller: Caller) => getAccessError(caller, type, meta.access);
  return [
    {
      ...{ tool, path, input, argumentNames, access, getAccessError: getError, resultVersion, ownAgent, appField },
      argumentOf: new Map(Object.entries(fields).map(([argument, field]) => [field, argument])),
      toInput: (args) => renameFields(parseArguments(input, args), fields),
      toResult: (value, given) =>
        (meta.tool?.result === undefined ? value : result.parse(present(value as object, given))) as object,
    },
  ];
}

function parseArguments(schema: z.ZodType<object>, args: unknown): object {
  const parsed = schema.safeParse(omitAbsent(schema, args));
  if (parsed.success) return parsed.data;
  throw fromValidation(parsed.error, "", schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
}

function renameFields(args: object, fields: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [fields[name] ?? name, value as unknown]));
}

function toJsonSchema(type: z.ZodType, io: "input" | "output"): z.core.JSONSchema.BaseSchema {
  const override = ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => shorten(jsonSchema, io);
  const metadata = METADATA_WITHOUT_IDS as never;
  const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io, metadata, override });
  splitTypeUnions(schema);
  return schema;
}

/** Replaces lists of types by `anyOf`. Some clients convert the schemas to dialects in which a schema has a single type. */
function splitTypeUnions(node: object): void {
  const schema = node as z.core.JSONSchema.BaseSchema;
  const types: unknown = schema.type;
  if (Array.isArray(types)) {
    delete schema.type;
    schema.anyOf = types.map((type) => ({ type }));
  }
  for (const child of Object.values(node)) if (typeof child === "object" && child !== null) splitTypeUnions(child);
}

/**
 * Removes keywords that do not help an agent, because every agent reads the whole list. In an output schema it also
 * removes keywords that would forbid fields of a later version.
 */
function shorten(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (io === "input") return;
  delete schema.examples;
  delete schema.minimum;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}
