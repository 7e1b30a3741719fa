import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isChanging } from "../../apps-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { useApp } from "./app-context.ts";
import type { AppProcedure } from "./procedure-call.tsx";
import { ProcedureItem } from "./procedure-item.tsx";

/** The operations that the app offers to agents, each with a form to call it. */
export function ProceduresTab() {
  const { id: orgId, api } = useOrganization();
  const { id, live_deployment_id: live } = useApp();
  const procedures = useInfiniteQuery({
    queryKey: ["app", orgId, id, "procedures", live],
    queryFn: ({ pageParam: cursor }) => api.procedures.list.query({ id, cursor }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = procedures;
  return (
    <Panel
      title="Procedures"
      intro="Operations that the live version of this app offers to agents. Names, descriptions and schemas are text of the app."
    >
      <QueryContent query={procedures}>
        {({ pages }) => {
          const loaded = pages.flatMap((page) => page.procedures);
          return loaded.length === 0 ? (
            <NoProcedures />
          ) : (
            <>
              <ProcedureList key={live} procedures={loaded} />
              {hasNextPage && (
                <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                  Load more
                </Button>
              )}
            </>
          );
        }}
      </QueryContent>
    </Panel>
  );
}

/** A list of this length has a search field. */
const SEARCHED_LENGTH = 8;

function ProcedureList({ procedures }: { procedures: readonly AppProcedure[] }) {
  const [query, setQuery] = useState("");
  const wanted = query.trim().toLowerCase();
  const shown = procedures.filter(({ name, description }) =>
    [name, description].some((text) => text.toLowerCase().includes(wanted)),
  );
  return (
    <>
      {procedures.length >= SEARCHED_LENGTH && (
        <input
          type="search"
          aria-label="Search procedures"
          placeholder="Search by name or description"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
          className="min-h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 placeholder:text-muted sm:max-w-96 pointer-coarse:min-h-10"
        />
      )}
      {shown.length === 0 ? (
        <p className="text-muted">No procedure matches. Change the search.</p>
      ) : (
        <ul className="divide-y divide-line rounded-md border border-line">
          {shown.map((procedure) => (
            <ProcedureItem key={procedure.name} procedure={procedure} />
          ))}
        </ul>
      )}
    </>
  );
}

function NoProcedures() {
  const { status, live_deployment_id: live } = useApp();
  if (live === null)
    return (
      <EmptyState>
        <p className="text-muted">
          {isChanging(status)
            ? "The procedures appear here when the deployment is live."
            : "No version of this app is live. Redeploy the app, and its procedures appear here."}
        </p>
      </EmptyState>
    );
  return (
    <EmptyState>
      <p className="font-medium">This app offers no procedures.</p>
      <p className="text-muted">
        Export a tRPC router, add an <code>openapi.json</code> to the repository, or serve MCP at <code>/mcp</code>. The
        next deployment finds them.
      </p>
    </EmptyState>
  );
}
