import type { LiveProcedure } from "../../../domain/procedures/list-procedures.ts";

/** Creates a procedure of the live app at `slug`. */
export function liveProcedure(slug: string, name: string, overrides: Partial<LiveProcedure> = {}): LiveProcedure {
  return {
    appId: `app-${slug}`,
    deploymentId: `deployment-${slug}`,
    app: slug,
    slug,
    tokenVersion: 1,
    name,
    kind: "query",
    description: "",
    inputSchema: { type: "object" },
    outputSchema: null,
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
    ...overrides,
  };
}
