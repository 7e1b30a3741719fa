import { useQuery } from "@tanstack/react-query";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { useApp } from "./app-context.ts";

type Delivery = Awaited<ReturnType<Api["pushDeploy"]["deliveries"]["query"]>>["deliveries"][number];

const SHOWN = 10;
const COMMIT_LENGTH = 8;

/** The newest pushes to the repository of an app, and what became of them. */
export function PushDeliveries() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const list = useQuery({
    queryKey: ["app", orgId, id, "push", "deliveries"],
    queryFn: () => api.pushDeploy.deliveries.query({ id, limit: SHOWN }),
  });
  return (
    <QueryContent query={list}>
      {({ deliveries }) =>
        deliveries.length === 0 ? (
          <EmptyState>
            <p>No pushes yet.</p>
          </EmptyState>
        ) : (
          <Table caption="Newest pushes" columns={["Time", "Commit", "Result"]}>
            {deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} />
            ))}
          </Table>
        )
      }
    </QueryContent>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { created_at: at, commit, event, message, result, reason, deployment, status_problem: problem } = delivery;
  return (
    <Row>
      <Cell>
        <Timestamp at={at} />
      </Cell>
      <Cell>
        {commit === null ? event : <code>{commit.slice(0, COMMIT_LENGTH)}</code>}
        {message !== null && <p className="line-clamp-2 text-muted wrap-anywhere">{message}</p>}
      </Cell>
      <Cell>
        <StatusBadge status={deployment?.status ?? result} />
        {deployment !== null && <span className="text-muted"> Deployment {deployment.number}</span>}
        {reason !== null && <p className="text-muted wrap-anywhere">{reason}</p>}
        {problem !== null && <p className="text-danger wrap-anywhere">{problem}</p>}
      </Cell>
    </Row>
  );
}
