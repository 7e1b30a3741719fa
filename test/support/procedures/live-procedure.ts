import type { LiveProcedure } from "../../../domain/procedures/list-procedures.ts";

/** A procedure of the app at `slug`, as the domain has it once the app is ready. */
export function liveProcedure(slug: string, name: string, more: Partial<LiveProcedure> = {}): LiveProcedure {
  return {
    ...{ appId: `app-${slug}`, app: slug, slug, tokenVersion: 1, name, kind: "query", description: "" },
    ...{ inputSchema: { type: "object" }, outputSchema: null },
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
    ...more,
  };
}
