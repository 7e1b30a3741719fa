import type { DiscoveryRequest, DiscoveryResult, ProcedureDiscovery } from "../ports/procedure-discovery.ts";

const SOURCE_NAMES = { trpc: "tRPC", openapi: "OpenAPI", mcp: "MCP" } as const;

interface DiscoverDeps {
  discovery: ProcedureDiscovery;
  reportInternalError: (error: unknown) => void;
}

/**
 * Finds the procedures of an app that was just built. An app is useful without them, so an internal error is reported
 * and never fails the deployment.
 *
 * @throws the reason of `request.signal` when it is aborted
 */
export async function discoverProcedures(
  { discovery, reportInternalError }: DiscoverDeps,
  request: DiscoveryRequest,
): Promise<DiscoveryResult> {
  try {
    return await discovery.discover(request);
  } catch (error) {
    request.signal.throwIfAborted();
    reportInternalError(error);
    return {
      procedures: [],
      problem: "Looking for procedures failed because of an internal error. Deploy again to repeat it.",
    };
  }
}

/** Formats the result as one line of a build log. */
export function formatDiscovery({ procedures }: DiscoveryResult): string {
  const [first] = procedures;
  if (first === undefined) return "found no procedures";
  return `found ${procedures.length} ${procedures.length === 1 ? "procedure" : "procedures"} (${SOURCE_NAMES[first.invocation.via]})`;
}
