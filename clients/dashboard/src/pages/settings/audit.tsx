import { useInfiniteQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type AuditFilter, readAuditFilter } from "../../audit-filter.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Table } from "../../ui/table.tsx";
import { AUDIT_ACTIONS } from "./audit-actions.ts";
import { type AuditEvent, AuditRow } from "./audit-row.tsx";
import { AuditFilterForm } from "./audit-filter-form.tsx";

export function AuditPage() {
  return (
    <>
      <PageTitle>Audit log</PageTitle>
      <Panel title="Events" intro="Newest first. Only owners can see the audit log.">
        <AuditLog />
      </Panel>
    </>
  );
}

function AuditLog() {
  const { id: orgId, api } = useOrganization();
  const filter = readAuditFilter(useSearch({ strict: false }));
  const events = useInfiniteQuery({
    queryKey: ["audit", orgId, filter],
    queryFn: ({ pageParam }) => api.audit.list.query(pageParam === null ? filter : { ...filter, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.events),
  });
  const actions = [...new Set([...AUDIT_ACTIONS, ...(events.data ?? []).map(({ action }) => action)])].toSorted();
  return (
    <>
      <AuditFilterForm key={JSON.stringify(filter)} filter={filter} actions={actions} />
      <QueryContent query={events}>
        {(list) => (list.length === 0 ? <NoEvents filter={filter} /> : <EventTable events={list} filter={filter} />)}
      </QueryContent>
      {events.hasNextPage && (
        <Button busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
          Load older events
        </Button>
      )}
    </>
  );
}

function NoEvents({ filter }: { filter: AuditFilter }) {
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <EmptyState>{isFiltered ? "No event matches the filters. Change or clear them." : "No events yet."}</EmptyState>
  );
}

function EventTable({ events, filter }: { events: AuditEvent[]; filter: AuditFilter }) {
  return (
    <Table caption="Audit log" columns={["Time", "Action", "Outcome", "Actor", "Target", "Address"]}>
      {events.map((event) => (
        <AuditRow key={event.id} event={event} filter={filter} />
      ))}
    </Table>
  );
}
