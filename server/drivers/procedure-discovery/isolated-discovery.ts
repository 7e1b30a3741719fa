import { readFile } from "node:fs/promises";
import path from "node:path";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import type {
  DiscoveryRequest,
  DiscoveryResult,
  ProcedureDiscovery,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import type { AddedModule, IsolatedApp, IsolatedRuntime } from "../../ports/isolated-runtime.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { loadIntrospectionModules } from "./introspection-modules.ts";
import { listMcpTools } from "./mcp-endpoints.ts";
import { listRepositoryOperations, listServedOperations } from "./openapi-procedures.ts";
import { AppResponseError } from "./request-app.ts";
import { readSources } from "./server-sources.ts";
import { quoteAppText, type SourceResult } from "./source-result.ts";
import { listTrpcProcedures } from "./trpc-procedures.ts";
import { joinProblems, validateProcedures } from "./validate-procedures.ts";

export interface IsolatedDiscoveryOptions {
  runtime: IsolatedRuntime;
  /** The time for everything that involves code of the app, its start included. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 8000;
const NO_ROUTER =
  "The app depends on @trpc/server, but its script creates no router. Export the router from the main module as appRouter, and serve it at /trpc.";
const NO_PROCEDURES: SourceResult = { candidates: [], problems: [] };

/** Starts the app in an isolated runtime and reads its procedures from it. */
export class IsolatedDiscovery implements ProcedureDiscovery {
  readonly #runtime: IsolatedRuntime;
  readonly #timeoutMs: number;
  #modules: Promise<(mainPath: string) => AddedModule[]> | undefined;

  constructor({ runtime, timeoutMs = DEFAULT_TIMEOUT_MS }: IsolatedDiscoveryOptions) {
    this.#runtime = runtime;
    this.#timeoutMs = timeoutMs;
  }

  async discover(request: DiscoveryRequest): Promise<DiscoveryResult> {
    const found = await this.#discover(request);
    const { procedures, problem } = found;
    if (procedures.length > 0 || problem !== null || !(await dependsOnTrpcServer(request.sourceDirectory)))
      return found;
    return { procedures, problem: NO_ROUTER };
  }

  async #discover({ code, sourceDirectory, signal }: DiscoveryRequest): Promise<DiscoveryResult> {
    const readDocument = () => listRepositoryOperations(sourceDirectory);
    const script =
      code.runtime === "worker" ? await readFile(code.scriptPath, "latin1") : await readSources(sourceDirectory);
    if (!mayOfferProcedures(script)) return validateProcedures((await readDocument()) ?? NO_PROCEDURES);
    this.#modules ??= loadIntrospectionModules();
    const addModules = await this.#modules;
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const stop = AbortSignal.any([signal, timeout]);
    let isModule = false;
    const added = (mainPath: string) => {
      isModule = true;
      return addModules(mainPath);
    };
    try {
      await using app =
        code.runtime === "worker"
          ? await this.#runtime.start({ scriptPath: code.scriptPath, addModules: added, editModule: editTrpc }, stop)
          : await this.#runtime.startServer(code.server, stop);
      const trpcPaths = isModule ? guessTrpcPaths(script) : null;
      return validateProcedures(await readFirstSource(app, { script, trpcPaths }, readDocument, stop));
    } catch (error) {
      signal.throwIfAborted();
      const problem = describeFailure(error, timeout, this.#timeoutMs);
      if (problem === null) throw error;
      // The document in the repository can be read without running the app.
      const document = await readDocument();
      return document === null ? { procedures: [], problem: joinProblems([problem]) } : validateProcedures(document);
    }
  }
}

/** @param trpcPaths - the paths of tRPC routers; `null` for a script that cannot report its router */
async function readFirstSource(
  app: IsolatedApp,
  { script, trpcPaths }: { script: string; trpcPaths: string[] | null },
  readDocument: () => Promise<SourceResult | null>,
  signal: AbortSignal,
): Promise<SourceResult> {
  return (
    (trpcPaths && (await listTrpcProcedures(app, trpcPaths, signal))) ??
    (await readDocument()) ??
    (await listServedOperations(app, guessOpenApiPaths(script), signal)) ??
    (await listMcpTools(app, script, signal)) ??
    NO_PROCEDURES
  );
}

/** @returns why the procedures could not be read, for the owner of the app; `null` for an internal error */
function describeFailure(error: unknown, timeout: AbortSignal, timeoutMs: number): string | null {
  if (timeout.aborted)
    return `The app's procedures could not be read: the app did not start and respond within ${timeoutMs / 1000} s in a test run without network and bindings.`;
  if (error instanceof UnhealthyScript)
    return `The app's procedures could not be read: the app does not start in a test run without network and bindings. It reported ${quoteAppText(error.message)}`;
  return error instanceof AppResponseError ? error.message : null;
}

const MAX_BYTES = 1024 * 1024;

/** Whether the package.json of a checkout has tRPC's server among its dependencies. */
async function dependsOnTrpcServer(sourceDirectory: string): Promise<boolean> {
  const text = await readUntrusted(path.join(sourceDirectory, "package.json"), MAX_BYTES).catch(() => null);
  const packageJson = parseJson(text ?? "");
  if (!isRecord(packageJson)) return false;
  const lists = [packageJson["dependencies"], packageJson["devDependencies"]];
  return lists.some((list) => isRecord(list) && Object.hasOwn(list, "@trpc/server"));
}

/** The place where tRPC 11 creates a router, in a bundle with or without short names. */
const CREATED = /\bcreateCaller:\s*([\w$]+\(\))\(\{\s*(_def(?:\s*:\s*[\w$]+)?)\s*\}\)/g;

/** Edits tRPC in a module of an app, so that `inside/created-routers.mjs` gets every router that the app creates. */
function editTrpc(source: string): string {
  return source.replaceAll(CREATED, "createCaller: $1(globalThis.__serviceRouterCreated({ $2 }))");
}

/** At most this many paths of a script are tried, because each one costs a request. */
const MAX_PATHS = 10;

/** Options of tRPC's adapters, and the mount of a middleware: `endpoint: "/rpc"`, `app.use("/rpc", ...)`. */
const TRPC_PATH = /(?:\b(?:endpoint|prefix|basePath):\s*|\.use\(\s*|\.all\(\s*)["'`](\/[\w./-]{1,100})(?:\/\*)?["'`]/g;

/** A path that names a document. */
const OPENAPI_PATH = /["'`](\/(?:[\w.-]{1,50}\/){0,4}[\w.-]*(?:openapi|swagger|api-docs|api-json)[\w./-]{0,50})["'`]/gi;

/** The paths that a script contains and at which it may serve a tRPC router. They have no `/` at the end. */
function guessTrpcPaths(script: string): string[] {
  return guess(script, TRPC_PATH)
    .map((path) => path.replace(/(?<!\/)\/+$/, ""))
    .filter((path) => path !== "");
}

/** The paths that a script contains and at which it may serve an OpenAPI document. */
function guessOpenApiPaths(script: string): string[] {
  return guess(script, OPENAPI_PATH);
}

function guess(script: string, pattern: RegExp): string[] {
  const paths = new Set<string>();
  for (const [, path] of script.matchAll(pattern)) {
    if (path !== undefined) paths.add(path);
    if (paths.size === MAX_PATHS) break;
  }
  return [...paths];
}

/**
 * Text that every script with procedures contains: a property of tRPC routers, or a word of OpenAPI or JSON-RPC.
 * `_def` must stand alone, because every bundle contains the bundler's own `__defProp`.
 */
const PROCEDURE_TEXT = /(?<![\w$])_def(?![\w$])|openapi|jsonrpc|tools\/list/;

/**
 * Scans a script for signs of procedures. Most apps have none, and then need not be started. The scan can be wrong in
 * one direction only: a script may contain the text for another reason.
 */
function mayOfferProcedures(script: string): boolean {
  return PROCEDURE_TEXT.test(script);
}
