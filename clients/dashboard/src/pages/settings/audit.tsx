import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { When } from "../../ui/timestamp.tsx";

export function AuditPage() {
  const events = useInfiniteQuery({
    queryKey: ["audit"],
    queryFn: ({ pageParam }) => api.audit.list.query(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const all = events.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <PageTitle>Audit log</PageTitle>
      <Panel title="What was done" intro="Newest first. Owners see it.">
        <Problem error={events.error} />
        {all.length > 0 && (
          <Table caption="Audit log" columns={["When", "Action", "Outcome", "Who", "On", "From"]}>
            {all.map(({ id, created_at, action, outcome, user_id, credential_kind, target, address }) => (
              <tr key={id}>
                <Cell>
                  <When at={created_at} />
                </Cell>
                <Cell>{action}</Cell>
                <Cell>{outcome}</Cell>
                <Cell>{user_id ?? credential_kind ?? "nobody"}</Cell>
                <Cell>{target}</Cell>
                <Cell>{address}</Cell>
              </tr>
            ))}
          </Table>
        )}
        {events.hasNextPage && (
          <Button busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
            Show older
          </Button>
        )}
      </Panel>
    </>
  );
}
