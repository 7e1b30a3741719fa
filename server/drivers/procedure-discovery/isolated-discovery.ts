import { UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import type { Discovery, DiscoveryRequest, ProcedureDiscovery } from "../../../domain/ports/procedure-discovery.ts";
import { admit, problemOf } from "./validate-procedures.ts";
import { type Finding, quoted } from "./source-result.ts";
import { introspectionModules } from "./introspection-modules.ts";
import type { AddedModule, IsolatedApp, IsolatedRuntime } from "../../../domain/ports/isolated-runtime.ts";
import { Unanswered } from "./isolated-app.ts";
import { mcpTools } from "./mcp-tools.ts";
import { mayOfferProcedures } from "./quick-scan.ts";
import { repositoryOperations, servedOperations } from "./openapi.ts";
import { trpcProcedures } from "./trpc-procedures.ts";

export interface IsolatedDiscoveryOptions {
  runtime: IsolatedRuntime;
  /** For everything that involves code of the app, its start included. */
  timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 8000;
const NOTHING: Finding = { candidates: [], problems: [] };

/** Asks the app itself, in a process that exists for this purpose only and can reach nothing. */
export class IsolatedDiscovery implements ProcedureDiscovery {
  readonly #runtime: IsolatedRuntime;
  readonly #timeoutMs: number;
  #modules: Promise<(main: string) => AddedModule[]> | undefined;

  constructor({ runtime, timeoutMs = DEFAULT_TIMEOUT_MS }: IsolatedDiscoveryOptions) {
    this.#runtime = runtime;
    this.#timeoutMs = timeoutMs;
  }

  async discover({ scriptPath, sourceDirectory, signal }: DiscoveryRequest): Promise<Discovery> {
    const documented = () => repositoryOperations(sourceDirectory);
    if (!(await mayOfferProcedures(scriptPath))) return admit((await documented()) ?? NOTHING);
    this.#modules ??= introspectionModules();
    const addModules = await this.#modules;
    const late = AbortSignal.timeout(this.#timeoutMs);
    const bound = AbortSignal.any([signal, late]);
    try {
      await using app = await this.#runtime.start({ scriptPath, addModules }, bound);
      return admit(await firstOf(app, documented, bound));
    } catch (error) {
      signal.throwIfAborted();
      const reason = reasonOf(error, late, this.#timeoutMs);
      if (reason === null) throw error;
      // The document in the repository is data and can be read whatever the app does.
      const finding = await documented();
      return finding === null ? { procedures: [], problem: problemOf([reason]) } : admit(finding);
    }
  }
}

async function firstOf(
  app: IsolatedApp,
  documented: () => Promise<Finding | null>,
  signal: AbortSignal,
): Promise<Finding> {
  return (
    (await trpcProcedures(app, signal)) ??
    (await documented()) ??
    (await servedOperations(app, signal)) ??
    (await mcpTools(app, signal)) ??
    NOTHING
  );
}

/** Why the app could not be asked, in words for its owner; `null` for a fault of ours. */
function reasonOf(error: unknown, late: AbortSignal, timeoutMs: number): string | null {
  if (late.aborted)
    return `Its procedures could not be looked for: the app did not start and answer within ${timeoutMs / 1000} s while it ran on its own, without network and bindings.`;
  if (error instanceof UnhealthyScript)
    return `Its procedures could not be looked for: it does not start on its own, without network and bindings. It reported ${quoted(error.message)}`;
  return error instanceof Unanswered ? error.message : null;
}
