import { readFile } from "node:fs/promises";
import path from "node:path";
import type { AppCode, Runtime } from "../../../domain/ports/bundler.ts";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import type {
  DiscoveryRequest,
  DiscoveryResult,
  ProcedureDiscovery,
} from "../../../domain/ports/procedure-discovery.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import type { IsolatedApp, IsolatedRuntime } from "../../ports/isolated-runtime.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { editTrpc, type IntrospectionModules, loadIntrospectionModules } from "./introspection-modules.ts";
import { listMcpTools } from "./mcp-endpoints.ts";
import { listRepositoryOperations, listServedOperations } from "./openapi-procedures.ts";
import { AppResponseError } from "./request-app.ts";
import { findPaths } from "./script-paths.ts";
import { readSources } from "./server-sources.ts";
import { quoteAppText, type SourceResult } from "./source-result.ts";
import { guessTrpcPaths, routeOfFile } from "./trpc-paths.ts";
import { listTrpcProcedures } from "./trpc-procedures.ts";
import { joinProblems, validateProcedures } from "./validate-procedures.ts";

export interface IsolatedDiscoveryOptions {
  runtime: IsolatedRuntime;
  /** The time for everything that involves code of the app, its start included. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 8000;
/** The files of a Node server are unpacked within its time, and it loads thousands of them. */
const SERVER_TIMEOUT_FACTOR = 3;

const NO_ROUTER: Readonly<Record<Runtime, string>> = {
  worker:
    "The app depends on @trpc/server, but its script creates no router. Export the router from the main module as appRouter, and serve it at /trpc.",
  node: "The app depends on @trpc/server, but its server created no router in a test run without network. Create the router at the start of the server, and serve it at /trpc.",
};
const NO_PROCEDURES: SourceResult = { candidates: [], problems: [] };

/** What can be read of an app before it starts. */
interface AppText {
  /** The script of a Worker, or the sources of a Node server. */
  script: string;
  /** The paths of tRPC routers that the names of files say. */
  routes: string[];
}

/** Starts the app in an isolated runtime and reads its procedures from it. */
export class IsolatedDiscovery implements ProcedureDiscovery {
  readonly #runtime: IsolatedRuntime;
  readonly #timeoutMs: number;
  #modules: Promise<IntrospectionModules> | undefined;

  constructor({ runtime, timeoutMs = DEFAULT_TIMEOUT_MS }: IsolatedDiscoveryOptions) {
    this.#runtime = runtime;
    this.#timeoutMs = timeoutMs;
  }

  async discover(request: DiscoveryRequest): Promise<DiscoveryResult> {
    const found = await this.#discover(request);
    const { procedures, problem } = found;
    if (procedures.length > 0 || problem !== null || !(await dependsOnTrpcServer(request.sourceDirectory)))
      return found;
    return { procedures, problem: NO_ROUTER[request.code.runtime] };
  }

  async #discover({ code, sourceDirectory, variables, signal }: DiscoveryRequest): Promise<DiscoveryResult> {
    const readDocument = () => listRepositoryOperations(sourceDirectory);
    const text = await readText(code, sourceDirectory);
    if (!mayOfferProcedures(code.runtime, text.script))
      return validateProcedures((await readDocument()) ?? NO_PROCEDURES);
    const timeoutMs = this.#timeoutMs * (code.runtime === "node" ? SERVER_TIMEOUT_FACTOR : 1);
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = AbortSignal.any([signal, timeout]);
    try {
      await using app = await this.#start({ code, variables }, text, stop);
      return validateProcedures(await readFirstSource(app, text, readDocument, stop));
    } catch (error) {
      signal.throwIfAborted();
      const problem = describeFailure(error, timeout, timeoutMs);
      if (problem === null) throw error;
      // The document in the repository can be read without running the app.
      const document = await readDocument();
      return document === null ? { procedures: [], problem: joinProblems([problem]) } : validateProcedures(document);
    }
  }

  /** Starts the app with the modules that report its tRPC router. A service worker cannot have them. */
  async #start(
    { code, variables }: Pick<DiscoveryRequest, "code" | "variables">,
    { script }: AppText,
    signal: AbortSignal,
  ): Promise<ReportingApp> {
    this.#modules ??= loadIntrospectionModules();
    const modules = await this.#modules;
    if (code.runtime === "node") {
      const addedModules = mentionsTrpc(script) ? modules.forServer : [];
      const app = await this.#runtime.startServer({ server: code.server, addedModules, variables }, signal);
      return toReportingApp(app, addedModules.length > 0);
    }
    let isModule = false;
    const addModules = (mainPath: string) => {
      isModule = true;
      return modules.forWorker(mainPath);
    };
    const request = { scriptPath: code.scriptPath, addModules, editModule: editTrpc };
    const app = await this.#runtime.start(request, signal);
    return toReportingApp(app, isModule);
  }
}

interface ReportingApp extends IsolatedApp {
  /** Whether it can report its tRPC router. */
  reportsRouter: boolean;
}

function toReportingApp(app: IsolatedApp, reportsRouter: boolean): ReportingApp {
  return { address: app.address, reportsRouter, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

async function readText(code: AppCode, sourceDirectory: string): Promise<AppText> {
  if (code.runtime === "worker") return { script: await readFile(code.scriptPath, "latin1"), routes: [] };
  const { text, files } = await readSources(sourceDirectory);
  return { script: text, routes: files.map(routeOfFile).filter((route) => route !== null) };
}

async function readFirstSource(
  app: ReportingApp,
  { script, routes }: AppText,
  readDocument: () => Promise<SourceResult | null>,
  signal: AbortSignal,
): Promise<SourceResult> {
  const trpc = app.reportsRouter ? await listTrpcProcedures(app, guessTrpcPaths(script, routes), signal) : null;
  if (trpc !== null && trpc.candidates.length > 0) return trpc;
  const other =
    (await readDocument()) ??
    (await listServedOperations(app, guessOpenApiPaths(script), signal)) ??
    (await listMcpTools(app, script, signal)) ??
    NO_PROCEDURES;
  // A router without procedures for agents does not hide those of another source.
  return { ...other, problems: [...(trpc?.problems ?? []), ...other.problems] };
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

/** A path that names a document. */
const OPENAPI_PATH = /["'`](\/(?:[\w.-]{1,50}\/){0,4}[\w.-]*(?:openapi|swagger|api-docs|api-json)[\w./-]{0,50})["'`]/gi;

/** The paths that a script contains and at which it may serve an OpenAPI document. */
function guessOpenApiPaths(script: string): string[] {
  return findPaths(script, OPENAPI_PATH);
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
function mayOfferProcedures(runtime: Runtime, script: string): boolean {
  return PROCEDURE_TEXT.test(script) || (runtime === "node" && mentionsTrpc(script));
}

/** The sources of a Node server name the package of tRPC, and do not contain it. */
function mentionsTrpc(sources: string): boolean {
  return /trpc/i.test(sources);
}
