import { readFile } from "node:fs/promises";
import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import type { AddedModule, IsolatedApp, IsolatedRuntime } from "../../ports/isolated-runtime.ts";
import type {
  DiscoveryRequest,
  DiscoveryResult,
  ProcedureDiscovery,
} from "../../../domain/ports/procedure-discovery.ts";
import { dependsOnTrpcServer } from "./depends-on-trpc.ts";
import { editTrpc } from "./edit-trpc.ts";
import { guessOpenApiPaths, guessTrpcPaths } from "./guess-paths.ts";
import { loadIntrospectionModules } from "./introspection-modules.ts";
import { listMcpTools } from "./mcp-tools.ts";
import { listRepositoryOperations, listServedOperations } from "./openapi-procedures.ts";
import { mayOfferProcedures } from "./quick-scan.ts";
import { AppResponseError } from "./request-app.ts";
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
    const { procedures, problem } = await this.#discover(request);
    if (procedures.length > 0 || problem !== null || !(await dependsOnTrpcServer(request.sourceDirectory)))
      return { procedures, problem };
    return { procedures, problem: NO_ROUTER };
  }

  async #discover({ scriptPath, sourceDirectory, signal }: DiscoveryRequest): Promise<DiscoveryResult> {
    const readDocument = () => listRepositoryOperations(sourceDirectory);
    const script = await readFile(scriptPath, "latin1");
    if (!mayOfferProcedures(script)) return validateProcedures((await readDocument()) ?? NO_PROCEDURES);
    this.#modules ??= loadIntrospectionModules();
    const addModules = await this.#modules;
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const stop = AbortSignal.any([signal, timeout]);
    try {
      await using app = await this.#runtime.start({ scriptPath, addModules, editModule: editTrpc }, stop);
      return validateProcedures(await readFirstSource(app, script, readDocument, stop));
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

async function readFirstSource(
  app: IsolatedApp,
  script: string,
  readDocument: () => Promise<SourceResult | null>,
  signal: AbortSignal,
): Promise<SourceResult> {
  return (
    (await listTrpcProcedures(app, guessTrpcPaths(script), signal)) ??
    (await readDocument()) ??
    (await listServedOperations(app, guessOpenApiPaths(script), signal)) ??
    (await listMcpTools(app, signal)) ??
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
