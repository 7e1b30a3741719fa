import { setImmediate as nextTurn } from "node:timers/promises";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import type { ProcedureResult } from "../../domain/ports/app-caller.ts";
import type { JsonSchema } from "../../domain/ports/procedure-discovery.ts";
import { getScopeError } from "../../domain/procedures/call-procedure.ts";
import type { LiveProcedure } from "../../domain/procedures/list-procedures.ts";
import type { OfferedProcedures } from "../../domain/procedures/procedure-index.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import { INTERNAL_ERROR, InsufficientScope, ServiceError } from "../../domain/shared/errors.ts";
import type { Service } from "../../routers/core/context.ts";
import { omitAbsent } from "../../routers/core/omit-absent.ts";
import { findNearestNames } from "../../domain/shared/nearest-names.ts";
import { callTool, callToolProcedure, type ToolEntry, TOOLS } from "../../routers/tool-registry.ts";
import { callContext } from "../call-context.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createDirectTool, type DirectTool } from "./direct-tool.ts";
import { formatProcedureResult } from "./direct-tool-result.ts";
import type { ToolMethods } from "./fast-path.ts";
import { toPortableInput } from "./tool-schema/portable-schema.ts";

/** One request of the gateway. */
export interface GatewayCall {
  caller: Caller;
  /** The client address. */
  address: string;
  log: Logger;
  /** Aborted when the client disconnects before it has the response. */
  signal: AbortSignal;
}

interface ToolList {
  /** The version of the procedures that the list was built from. */
  version: string;
  /** The result of `tools/list`. */
  json: string;
  /** The names of the tools in the list. */
  listedNames: readonly string[];
  directToolByName: ReadonlyMap<string, ListedProcedure>;
}

interface ListedProcedure extends DirectTool {
  procedure: LiveProcedure;
}

interface CachedResult {
  version: string;
  /** The result of `tools/call`. */
  json: string;
}

/** A cached result takes up to 60 KB. */
const MAX_CACHED_RESULTS = 300;
/** About the number of organizations whose procedures are cached, too. */
const MAX_CACHED_LISTS = 100;

/** Lists and calls the tools of the caller's organization: those of the service, and the direct tools of its apps. */
export class GatewayTools implements ToolMethods<GatewayCall> {
  readonly #service: Service;
  /** Results of tools with `resultVersion`, by organization, tool and input. */
  readonly #results = new LRUCache<string, CachedResult>({ max: MAX_CACHED_RESULTS });
  /** Lists by organization, scope and role. */
  readonly #lists = new LRUCache<string, ToolList>({ max: MAX_CACHED_LISTS });
  /** The direct tools of an organization, which are the same for all scopes and roles. */
  readonly #directTools = new WeakMap<OfferedProcedures, Promise<ListedProcedure[]>>();

  constructor(service: Service) {
    this.#service = service;
  }

  async list(call: GatewayCall): Promise<string> {
    return (await this.#getList(call)).json;
  }

  async call(call: GatewayCall, name: string, input: unknown): Promise<string | null> {
    const entry = TOOLS.get(name);
    if (entry !== undefined) return this.#callTool(call, entry, input ?? {});
    const listed = (await this.#getList(call)).directToolByName.get(name);
    return listed === undefined ? null : this.#callDirectTool(call, listed, input ?? {});
  }

  /** Returns the number of tools in the list of a caller; 0 if it cannot be read. */
  async countTools(call: GatewayCall): Promise<number> {
    const list = await this.#getList(call).catch(() => null);
    return list?.listedNames.length ?? 0;
  }

  /** Returns the error of a call that the caller's scope does not permit; `null` for any other call. */
  async findInsufficientScope(call: GatewayCall, name: string): Promise<InsufficientScope | null> {
    const entry = TOOLS.get(name);
    if (entry !== undefined) {
      const error = entry.getAccessError(call.caller);
      return error instanceof InsufficientScope ? error : null;
    }
    // A list that cannot be read is an error of the call itself, which reports it.
    const list = await this.#getList(call).catch(() => null);
    const listed = list?.directToolByName.get(name);
    return listed === undefined ? null : getScopeError(call.caller, listed.procedure.kind);
  }

  /** Only tools that the caller may call. */
  async findNearestTools(call: GatewayCall, name: string): Promise<string[]> {
    return findNearestNames(name, (await this.#getList(call)).listedNames);
  }

  async #callTool(call: GatewayCall, entry: ToolEntry, input: unknown): Promise<string> {
    const { tool, resultVersion, argumentNames } = entry;
    try {
      const parsedInput = resultVersion && entry.input.safeParse(omitAbsent(entry.input, input)).data;
      // The version is read before the result, so a result is never older than the version it is stored with.
      const version = parsedInput && (await resultVersion(this.#service, call.caller, parsedInput));
      if (!version) return await this.#run(call, entry, input);
      const key = `${call.caller.orgId} ${tool.name} ${JSON.stringify(parsedInput)}`;
      const cached = this.#results.get(key);
      if (cached?.version === version) return cached.json;
      const json = await this.#run(call, entry, input);
      this.#results.set(key, { version, json });
      return json;
    } catch (error) {
      return renderError(call, tool.name, error, argumentNames);
    }
  }

  async #run(call: GatewayCall, entry: ToolEntry, args: unknown): Promise<string> {
    const value = await callTool(this.#createContext(call), entry, args, call.signal);
    return renderResult({ text: JSON.stringify(value), isJson: true });
  }

  async #callDirectTool(call: GatewayCall, { procedure, toInput }: ListedProcedure, args: unknown): Promise<string> {
    const { slug, name, kind } = procedure;
    try {
      const invocation = { app: slug, procedure: name, input: toInput(args) };
      const context = this.#createContext(call);
      const result = await callToolProcedure<ProcedureResult>(context, "procedures.invoke", invocation, call.signal);
      return renderResult({ ...formatProcedureResult(result, kind), isJson: true });
    } catch (error) {
      return renderError(call, `${slug} ${name}`, error);
    }
  }

  /** @throws {ProtocolError} without the details of an internal error, which are in the log */
  async #getList({ caller, log }: GatewayCall): Promise<ToolList> {
    try {
      const offered = await this.#service.procedureIndex.get(caller.orgId);
      const key = `${caller.orgId} ${caller.scope} ${caller.role}`;
      const cached = this.#lists.get(key);
      if (cached?.version === offered.version) return cached;
      const list = createToolList(offered.version, await this.#getDirectTools(offered), caller);
      this.#lists.set(key, list);
      return list;
    } catch (err) {
      log.error({ err }, "the gateway could not read the tools of an organization");
      throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_ERROR);
    }
  }

  #getDirectTools(offered: OfferedProcedures): Promise<ListedProcedure[]> {
    let tools = this.#directTools.get(offered);
    if (tools === undefined) this.#directTools.set(offered, (tools = createDirectTools(offered)));
    return tools;
  }

  #createContext({ caller, address }: GatewayCall): ReturnType<typeof callContext> {
    return callContext(this.#service, caller, { address });
  }
}

/** The service's own tools with input schemas that every model API accepts, as those of apps. */
const OWN_TOOLS = [...TOOLS.values()].map((entry) => {
  const { schema } = toPortableInput(entry.tool.inputSchema as JsonSchema, { isInputOptional: false });
  return { entry, tool: { ...entry.tool, inputSchema: schema } };
});

/** How long schemas are converted before other requests get their turn. The largest one takes about 20 ms. */
const SLICE_MS = 10;

async function createDirectTools({ toolNames }: OfferedProcedures): Promise<ListedProcedure[]> {
  const tools: ListedProcedure[] = [];
  let since = performance.now();
  for (const [procedure, name] of toolNames) {
    tools.push({ procedure, ...createDirectTool(name, procedure) });
    if (performance.now() - since < SLICE_MS) continue;
    await nextTurn();
    since = performance.now();
  }
  return tools;
}

/** Lists the tools that the caller may call. The map also contains direct tools that the caller may not call. */
function createToolList(version: string, direct: readonly ListedProcedure[], caller: Caller): ToolList {
  const tools = [
    ...OWN_TOOLS.filter(({ entry }) => entry.getAccessError(caller) === null).map(({ tool }) => tool),
    ...direct.filter(({ procedure }) => getScopeError(caller, procedure.kind) === null).map(({ tool }) => tool),
  ];
  return {
    version,
    json: JSON.stringify({ tools }),
    listedNames: tools.map(({ name }) => name),
    directToolByName: new Map(direct.map((listed) => [listed.tool.name, listed])),
  };
}

interface ToolResult {
  text: string;
  /** Whether the text is a JSON object, which is then the structured content, too. */
  isJson: boolean;
  isError?: boolean;
  /** Content blocks that follow the text. */
  blocks?: readonly object[];
}

/** Renders the result of `tools/call` as JSON, without serializing its value a second time. */
function renderResult({ text, isJson, isError = false, blocks = [] }: ToolResult): string {
  const further = blocks.map((block) => `,${JSON.stringify(block)}`).join("");
  const content = `"content":[{"type":"text","text":${JSON.stringify(text)}}${further}]`;
  const structuredContent = isJson ? `,"structuredContent":${text}` : "";
  return `{${content}${structuredContent}${isError ? ',"isError":true' : ""}}`;
}

/** Renders an error that the caller can act on; an internal error is logged, and its details are not shown. */
function renderError({ log }: GatewayCall, toolName: string, thrown: unknown, argumentNames?: string): string {
  const error = translateDatabaseOutage(thrown);
  if (!(error instanceof ServiceError)) {
    log.error({ err: error, tool: toolName }, "a tool failed");
    return renderResult({ text: INTERNAL_ERROR, isJson: false, isError: true });
  }
  const advice = error.code === "invalid" && argumentNames !== undefined ? ` ${argumentNames}` : "";
  return renderResult({ text: `${error.message}${advice}`, isJson: false, isError: true });
}
