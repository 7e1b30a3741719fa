import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { isInProgress } from "../../../../domain/apps/app-status.ts";
import type { Api } from "../api.ts";
import { useOrganization } from "../organization.ts";
import { Button } from "../ui/button.tsx";

import { EmptyState } from "../ui/empty-state.tsx";
import { Panel } from "../ui/panel.tsx";
import { PageTitle } from "../ui/page-layout.tsx";
import { Preformatted } from "../ui/preformatted.tsx";
import { QueryContent } from "../ui/query-content.tsx";
import { RequireRole } from "../ui/require-role.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Timestamp } from "../ui/timestamp.tsx";

type App = Awaited<ReturnType<Api["apps"]["browse"]["query"]>>["apps"][number];

/** How often the page reads the status of apps that are being deployed. */
const REFRESH_MS = 2_000;

export function AppsPage() {
  const { id: orgId, api } = useOrganization();
  const apps = useInfiniteQuery({
    queryKey: ["apps", orgId],
    queryFn: ({ pageParam }) => api.apps.browse.query(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.apps),
    refetchInterval: ({ state: { data } }) => hasAppInProgress(data?.pages ?? []) && REFRESH_MS,
  });
  return (
    <>
      <PageTitle>Apps</PageTitle>
      <Panel title="Deployed apps">
        <QueryContent query={apps}>
          {(list) => (list.length === 0 ? <NoApps /> : <AppTable apps={list} />)}
        </QueryContent>
        {apps.hasNextPage && (
          <Button busy={apps.isFetchingNextPage} onClick={() => void apps.fetchNextPage()}>
            Load older apps
          </Button>
        )}
      </Panel>
    </>
  );
}

function hasAppInProgress(pages: { apps: App[] }[]): boolean {
  return pages.some((page) => page.apps.some(({ status }) => isInProgress(status) || status === "deleting"));
}

function NoApps() {
  const { id: orgId } = useOrganization();
  return (
    <EmptyState>
      <p>No apps yet. Programs deploy apps with an API key.</p>
      <RequireRole role="admin" to="create API keys">
        <p>
          <Link to="/settings/tokens" search={{ org: orgId }} className="font-medium underline">
            Create an API key
          </Link>
          , then deploy an example:
        </p>
        <Preformatted
          label="Command that deploys an example"
          text={`curl ${location.origin}/v1/apps/deploy \\
  -H 'Authorization: Bearer YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '{"repo": "examples/guestbook"}'`}
        />
      </RequireRole>
    </EmptyState>
  );
}

function AppTable({ apps }: { apps: App[] }) {
  return (
    <Table caption="Deployed apps" columns={["Name", "URL", "Status", "Created", "Log"]}>
      {apps.map((app) => (
        <AppRow key={app.id} app={app} />
      ))}
    </Table>
  );
}

function AppRow({ app }: { app: App }) {
  const { id, name, url, status, status_message: message, created_at: createdAt } = app;
  const { id: orgId } = useOrganization();
  return (
    <Row>
      <Cell>{name}</Cell>
      <Cell>
        <a href={url} className="underline" rel="noreferrer">
          {new URL(url).host}
        </a>
      </Cell>
      <Cell>
        <span className={status === "failed" ? "font-medium text-red-700 dark:text-red-300" : ""}>{status}</span>
        {status === "failed" && <FailureReason app={app} />}
        {message !== null && <p className="max-w-md">{message}</p>}
      </Cell>
      <Cell>
        <Timestamp at={createdAt} />
      </Cell>
      <Cell>
        <Link
          to="/apps/$id/logs"
          params={{ id }}
          search={{ org: orgId }}
          aria-label={`Build log of ${name}`}
          className="whitespace-nowrap underline"
        >
          Build log
        </Link>
      </Cell>
    </Row>
  );
}

/** Why the newest deployment of an app failed. The list of apps does not contain it. */
function FailureReason({ app: { id, updated_at: updatedAt } }: { app: App }) {
  const { api } = useOrganization();
  const reason = useQuery({
    queryKey: ["failure-reason", id, updatedAt],
    queryFn: async () => (await api.apps.get.query({ id })).error,
    staleTime: Infinity,
  });
  return <QueryContent query={reason}>{(text) => text !== null && <p className="max-w-md">{text}</p>}</QueryContent>;
}
