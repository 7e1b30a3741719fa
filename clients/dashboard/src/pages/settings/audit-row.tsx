import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Api } from "../../api.ts";
import type { AuditFilter } from "../../audit-filter.ts";
import { useOrganization } from "../../organization.ts";
import { Cell, Row } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

export type AuditEvent = Awaited<ReturnType<Api["audit"]["list"]["query"]>>["events"][number];

const CREDENTIALS: Readonly<Record<string, string | undefined>> = {
  api_key: "API key",
  personal_access_token: "Personal access token",
  gateway_token: "Gateway token",
  access_token: "Access token",
  session: "Session",
  operator: "Operator",
};
/** Credentials that are used again and again, so that filtering by one is useful. */
const TOKENS = ["api_key", "personal_access_token", "gateway_token"];

const TARGETS: Readonly<Record<string, string | undefined>> = {
  app: "App",
  token: "Token",
  oauth_client: "Client",
  invitation: "Invitation for",
  organization: "Organization",
  user: "User",
};

interface Props {
  event: AuditEvent;
  filter: AuditFilter;
}

/** An event. Action, user, token and target are links to all events that have the same one. */
export function AuditRow({ event, filter }: Props) {
  return (
    <Row>
      <Cell>
        <Timestamp at={event.created_at} />
      </Cell>
      <Cell>
        <FilterLink filter={{ ...filter, action: event.action }}>{event.action}</FilterLink>
      </Cell>
      <Cell>{event.outcome}</Cell>
      <Cell>
        <Actor event={event} filter={filter} />
      </Cell>
      <Cell>
        <Target event={event} filter={filter} />
      </Cell>
      <Cell>{event.address}</Cell>
    </Row>
  );
}

function Actor({ event, filter }: Props) {
  const { user_id, user_name, user_email, credential_kind: kind, credential_id, credential_name } = event;
  const credential = [CREDENTIALS[kind ?? ""] ?? kind, credential_name].filter(Boolean).join(" ");
  const isToken = credential_id !== null && TOKENS.includes(kind ?? "");
  return (
    <>
      {user_id !== null && (
        <div title={user_id}>
          <FilterLink filter={{ ...filter, user_id }}>{user_name ?? "Deleted user"}</FilterLink> {user_email}
        </div>
      )}
      {isToken ? <FilterLink filter={{ ...filter, credential_id }}>{credential}</FilterLink> : credential}
      {user_id === null && credential === "" && "Unknown"}
    </>
  );
}

function Target({ event: { target, ...event }, filter }: Props) {
  const text = describeTarget({ target, ...event });
  if (target === null) return <bdi>{text}</bdi>;
  return (
    <span title={target}>
      <FilterLink filter={{ ...filter, target }}>{text}</FilterLink>
    </span>
  );
}

function describeTarget(event: AuditEvent): string {
  const { target, target_kind: kind, target_name: name, target_email: email, variable_name: variable } = event;
  if (kind === null) return target ?? "";
  if (kind === "user" && name === null) return "Deleted user";
  const names = [name, email, variable].filter((text) => text !== null);
  return `${TARGETS[kind] ?? kind} ${names.length === 0 ? (target ?? "") : names.join(" ")}`;
}

function FilterLink({ filter, children }: { filter: AuditFilter; children: ReactNode }) {
  const { id: org } = useOrganization();
  return (
    <Link to="/settings/audit" search={{ org, ...filter }} className="underline">
      <bdi>{children}</bdi>
    </Link>
  );
}
