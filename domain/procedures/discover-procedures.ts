import type { Discovery, DiscoveryRequest, ProcedureDiscovery } from "../ports/procedure-discovery.ts";

/** What apps describe their procedures with. */
const SOURCES = { trpc: "tRPC", openapi: "OpenAPI", mcp: "MCP" } as const;

interface FindDeps {
  discovery: ProcedureDiscovery;
  /** Called with a fault of ours. */
  onFault: (fault: unknown) => void;
}

/**
 * Finds the procedures of an app that was just built. An app is worth having without them, so nothing that goes wrong
 * here is thrown but the abort of `request.signal`.
 */
export async function findProcedures({ discovery, onFault }: FindDeps, request: DiscoveryRequest): Promise<Discovery> {
  try {
    return await discovery.discover(request);
  } catch (fault) {
    request.signal.throwIfAborted();
    onFault(fault);
    return {
      procedures: [],
      problem: "The platform failed to look for procedures. Deploy again to have it look once more.",
    };
  }
}

/** What was found, in one line of a build log. */
export function foundLine({ procedures }: Discovery): string {
  const [first] = procedures;
  if (first === undefined) return "found no procedures";
  return `found ${procedures.length} ${procedures.length === 1 ? "procedure" : "procedures"} (${SOURCES[first.invocation.via]})`;
}
