import { queryOptions, useQuery } from "@tanstack/react-query";
import { type Api, getApi } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { BarChart } from "../../ui/bar-chart.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";

type Daily = Awaited<ReturnType<Api["usage"]["daily"]["query"]>>;

const DAYS = 30;

/** @param appId - only the requests to this app */
function dailyUsageQuery(organizationId: string, appId: string | undefined) {
  return queryOptions({
    queryKey: ["usage", organizationId, "daily", appId],
    queryFn: () =>
      getApi(organizationId).usage.daily.query({ days: DAYS, ...(appId !== undefined && { app_id: appId }) }),
  });
}

/** The requests by day: to an app, or to all apps of the organization. */
export function DailyUsage({ appId }: { appId?: string }) {
  const { id: orgId } = useOrganization();
  const usage = useQuery(dailyUsageQuery(orgId, appId));
  return (
    <Panel title="Requests by day" intro={`The last ${DAYS} days (UTC)`}>
      <QueryContent query={usage}>
        {({ days, apps }) => (
          <>
            <RequestChart days={days} />
            {appId === undefined && apps.length > 0 && <RequestsByApp apps={apps} />}
          </>
        )}
      </QueryContent>
    </Panel>
  );
}

function RequestChart({ days }: { days: Daily["days"] }) {
  const total = days.reduce((sum, { requests }) => sum + requests, 0);
  const errors = days.reduce((sum, day) => sum + day.errors, 0);
  if (total === 0)
    return (
      <EmptyState>
        <p>No requests yet. Open the URL of an app, and they appear here.</p>
      </EmptyState>
    );
  return (
    <BarChart
      title={`${formatCount(total, "request")}, ${formatCount(errors, "error")} (red)`}
      columns={["Day", "Requests", "Errors"]}
      bars={days.map(({ day, requests, errors: part }) => ({ label: formatDay(day), value: requests, part }))}
    />
  );
}

function RequestsByApp({ apps }: { apps: Daily["apps"] }) {
  return (
    <Table caption="Requests by app" columns={["App", "Requests", "Errors"]}>
      {apps.map(({ app_id: id, slug, requests, errors }) => (
        <Row key={id}>
          <Cell>{slug}</Cell>
          <Cell>{requests.toLocaleString("en")}</Cell>
          <Cell>{errors.toLocaleString("en")}</Cell>
        </Row>
      ))}
    </Table>
  );
}

function formatDay(date: string): string {
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });
}
