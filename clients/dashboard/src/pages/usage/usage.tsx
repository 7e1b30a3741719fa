import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useOrganization } from "../../organization.ts";
import { type Usage, usageQuery } from "../../usage-query.ts";
import { Fact, FactList } from "../../ui/definition-list.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { Meter } from "../../ui/meter.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatMonth, formatSeconds } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { DailyUsage } from "./daily-usage.tsx";
import { QUOTA_NAMES } from "./quota-names.ts";
import { StoragePanel } from "./storage-panel.tsx";

/** The limits change while the page is open, also by others. */
const REFRESH_MS = 10_000;

/** The plan, what is used of it, and what happened in this month. */
export function UsagePage() {
  const { id: orgId } = useOrganization();
  const usage = useQuery({ ...usageQuery(orgId), refetchInterval: REFRESH_MS });
  const plan = usage.data === undefined ? <span className="min-h-5" /> : <span>Plan {usage.data.plan}</span>;
  return (
    <>
      <PageHeader title="Usage" details={plan} />
      <QueryContent query={usage}>
        {({ quotas, rate_limits: rateLimits, activity, storage }) => (
          <>
            <div className="grid items-start gap-5 lg:grid-cols-2">
              <Quotas quotas={quotas} />
              <ActivityPanel activity={activity} />
            </div>
            <DailyUsage />
            <RateLimits limits={rateLimits} />
            <StoragePanel storage={storage} />
          </>
        )}
      </QueryContent>
    </>
  );
}

function Quotas({ quotas }: { quotas: Usage["quotas"] }) {
  return (
    <Panel title="Quotas">
      <ul className="space-y-4">
        {quotas.map(({ metric, used, limit }) => {
          const { label, format } = QUOTA_NAMES[metric] ?? { label: metric, format: String };
          const text = `${format(used)} of ${format(limit)}`;
          return (
            <li key={metric} className="space-y-1.5">
              <div className="flex flex-wrap justify-between gap-x-4">
                <span>{label}</span>
                <span className="text-muted tabular-nums">{text}</span>
              </div>
              <Meter label={label} value={used} max={limit} text={text} />
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

const TOKEN_KINDS: Readonly<Record<string, string | undefined>> = {
  input: "Input tokens of agents",
  output: "Output tokens of agents",
  cache_read: "Tokens read from caches",
  cache_write: "Tokens written to caches",
};

function ActivityPanel({
  activity: { period, deployments, requests, programs, tokens },
}: {
  activity: Usage["activity"];
}) {
  const figures = [
    ["Requests to apps", requests],
    ["Deployments", deployments],
    ["Programs of agents", programs],
    ...Object.entries(tokens).flatMap(([kind, count]) => {
      const name = TOKEN_KINDS[kind];
      return name === undefined ? [] : [[name, count] as const];
    }),
  ] as const;
  return (
    <Panel title={`Activity in ${formatMonth(period)}`}>
      <FactList>
        {figures.map(([name, count]) => (
          <Fact key={name} name={name} large>
            {count.toLocaleString("en")}
          </Fact>
        ))}
      </FactList>
    </Panel>
  );
}

const LIMIT_NAMES: Readonly<Record<string, string | undefined>> = {
  deploy: "Deployments",
  restarts: "Variable changes and rollbacks",
  model_calls: "Answers of a language model",
  tool_calls: "Tool calls of agents",
};

function RateLimits({ limits }: { limits: Usage["rate_limits"] }) {
  return (
    <Panel title="Rate limits">
      <HelpText>A call beyond a limit is refused, and the error says how long to wait.</HelpText>
      <Table caption="Rate limits" columns={["Limit", "Left", "Period", "Resets"]}>
        {limits.map(({ name, limit, window_seconds: period, remaining, reset_seconds: reset }) => (
          <Row key={name}>
            <Cell>{LIMIT_NAMES[name] ?? name}</Cell>
            <Cell>
              <Left remaining={remaining}>
                {remaining.toLocaleString("en")} of {limit.toLocaleString("en")}
              </Left>
            </Cell>
            <Cell>{formatSeconds(period)}</Cell>
            <Cell>{remaining === limit ? "not used" : `one more in ${formatReset(reset)}`}</Cell>
          </Row>
        ))}
      </Table>
    </Panel>
  );
}

function Left({ remaining, children }: { remaining: number; children: ReactNode }) {
  return <span className={`tabular-nums ${remaining === 0 ? "font-medium text-danger" : ""}`}>{children}</span>;
}

/** Rounded up to minutes or hours, so that what is promised is there. */
function formatReset(seconds: number): string {
  if (seconds <= 90) return formatSeconds(seconds);
  return seconds <= 5_400
    ? formatSeconds(Math.ceil(seconds / 60) * 60)
    : formatSeconds(Math.ceil(seconds / 3_600) * 3_600);
}
