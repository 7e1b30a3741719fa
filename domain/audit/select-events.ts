import type { Expression, ExpressionBuilder, OrderByItemBuilder, SqlBool } from "kysely";
import type { DatabaseTables, Db } from "../database-types.ts";
import { type CursorPosition, isAfterCursor } from "../shared/keyset-cursor.ts";

export interface EventFilter {
  /** The actor. */
  userId?: string | undefined;
  /** The id of the credential of the actor, such as a token. */
  credentialId?: string | undefined;
  action?: string | undefined;
  /** The object of the action. */
  target?: string | undefined;
  /** Timestamps in UTC. `to` is exclusive. */
  from?: string | undefined;
  to?: string | undefined;
  /** The event after which the page begins. */
  after?: CursorPosition | undefined;
}

export const EVENT_COLUMNS = [
  "id",
  "user_id",
  "credential_kind",
  "credential_id",
  "credential_name",
  "action",
  "target",
  "target_kind",
  "target_name",
  "variable_name",
  "outcome",
  "address",
  "created_at",
] as const;

/**
 * Selects the newest audit events of an organization: its own, and those without an organization whose user is a member,
 * such as a failed sign-in. Each of the two parts reads an index in the order of the page, so the time of a page does not
 * depend on the number of events.
 */
export function selectEvents(db: Db, orgId: string, filter: EventFilter, limit: number) {
  // The planner would overestimate the events of a user who has many in organizations. It does not for a member.
  const { userId, ...filterOfMembers } = filter;
  const ownEvents = db
    .selectFrom("audit_events")
    .select(EVENT_COLUMNS)
    .where("org_id", "=", orgId)
    .where((builder) => matchesFilter(builder, filter))
    .orderBy("created_at", newestFirst)
    .orderBy("id", "desc")
    .limit(limit);
  const eventsOfMembers = db
    .selectFrom("auth.member as member")
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom("audit_events")
          .select(EVENT_COLUMNS)
          .where("org_id", "is", null)
          .whereRef("user_id", "=", "member.userId")
          .where((builder) => matchesFilter(builder as never, filterOfMembers))
          .orderBy("created_at", newestFirst)
          .orderBy("id", "desc")
          .limit(limit)
          .as("event"),
      (join) => join.onTrue(),
    )
    .selectAll("event")
    .where("member.organizationId", "=", orgId)
    .$if(userId !== undefined, (query) => query.where("member.userId", "=", userId ?? ""));
  return db
    .selectFrom(db.selectFrom(ownEvents.as("own")).selectAll().unionAll(eventsOfMembers).as("events"))
    .selectAll()
    .orderBy("created_at", newestFirst)
    .orderBy("id", "desc")
    .limit(limit);
}

/** The order of the page indexes. */
const newestFirst = (order: OrderByItemBuilder) => order.desc().nullsLast();

function matchesFilter(
  builder: ExpressionBuilder<DatabaseTables, "audit_events">,
  { userId, credentialId, action, target, from, to, after }: EventFilter,
): Expression<SqlBool> {
  const { and, eb } = builder;
  return and([
    ...(userId === undefined ? [] : [eb("user_id", "=", userId)]),
    ...(credentialId === undefined ? [] : [eb("credential_id", "=", credentialId)]),
    ...(action === undefined ? [] : [eb("action", "=", action)]),
    ...(target === undefined ? [] : [eb("target", "=", target)]),
    ...(from === undefined ? [] : [eb("created_at", ">=", from as never)]),
    ...(to === undefined ? [] : [eb("created_at", "<", to as never)]),
    ...(after === undefined ? [] : [isAfterCursor(builder, after)]),
  ]);
}
