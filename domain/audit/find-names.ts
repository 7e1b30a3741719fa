import type { Db } from "../database-types.ts";
import { isUuid } from "../shared/ids.ts";
import type { TargetKind } from "./audit-event.entity.ts";

export interface Name {
  kind: TargetKind;
  /** For an app its slug, and for an invitation its email address. */
  name: string;
}

export type Names = ReadonlyMap<string, Name>;

export const NO_NAMES: Names = new Map();

/**
 * Finds what ids stand for in an organization. Ids of other organizations, of deleted records and of users are not found.
 *
 * @param ids - values that are not a UUID are ignored
 */
export async function findNames(db: Db, orgId: string | null, ids: readonly (string | null)[]): Promise<Names> {
  const uuids = [...new Set(ids.filter(isUuid))];
  if (orgId === null || uuids.length === 0) return NO_NAMES;
  const rows = await selectTokenNames(db, orgId, uuids)
    .unionAll(
      db
        .selectFrom("apps")
        .select(({ val }) => ["id", "slug as name", val<TargetKind>("app").as("kind")])
        .where("org_id", "=", orgId)
        .where("id", "in", uuids),
    )
    .unionAll(
      db
        .selectFrom("projects")
        .select(({ val }) => ["id", "name", val<TargetKind>("project").as("kind")])
        .where("org_id", "=", orgId)
        .where("id", "in", uuids),
    )
    .unionAll(selectAgentNames(db, orgId, uuids))
    .unionAll(selectIdentityNames(db, orgId, uuids))
    .execute();
  return toNames(rows);
}

/** The same for an id that can only be a token's. The database needs a tenth of the time to plan it. */
export async function findTokenName(db: Db, orgId: string, id: string): Promise<Names> {
  return isUuid(id) ? toNames(await selectTokenNames(db, orgId, [id]).execute()) : NO_NAMES;
}

function toNames(rows: readonly (Name & { id: string })[]): Names {
  return new Map(rows.map(({ id, ...name }) => [id, name]));
}

function selectTokenNames(db: Db, orgId: string, uuids: string[]) {
  return db
    .selectFrom("machine_tokens")
    .select(({ val }) => ["id", "name", val<TargetKind>("token").as("kind")])
    .where("org_id", "=", orgId)
    .where("id", "in", uuids);
}

/**
 * Finds those of the ids that are invitations of the organization which can still be accepted. The link of an invitation
 * contains only the id, so no one may read it in the audit log.
 */
export async function findOpenInvitations(db: Db, orgId: string, names: Names): Promise<ReadonlySet<string>> {
  const ids = [...names].filter(([, { kind }]) => kind === "invitation").map(([id]) => id);
  if (ids.length === 0) return new Set();
  const open = await db
    .selectFrom("auth.invitation")
    .select("id")
    .where("organizationId", "=", orgId)
    .where("id", "in", ids)
    .where("status", "=", "pending")
    .where("expiresAt", ">", new Date().toISOString())
    .execute();
  return new Set(open.map(({ id }) => id));
}

/** The names of agents and of their servers. */
function selectAgentNames(db: Db, orgId: string, uuids: string[]) {
  return db
    .selectFrom("agents")
    .select(({ val }) => ["id", "name", val<TargetKind>("agent").as("kind")])
    .where("org_id", "=", orgId)
    .where("id", "in", uuids)
    .unionAll(
      db
        .selectFrom("agent_servers")
        .select(({ val }) => ["id", "name", val<TargetKind>("server").as("kind")])
        .where("org_id", "=", orgId)
        .where("id", "in", uuids),
    );
}

/** The names in the tables of the identity provider. */
function selectIdentityNames(db: Db, orgId: string, uuids: string[]) {
  const members = db.selectFrom("auth.member").select("userId").where("organizationId", "=", orgId);
  return db
    .selectFrom("auth.organization")
    .select(({ val }) => ["id", "name", val<TargetKind>("organization").as("kind")])
    .where("id", "=", orgId)
    .where("id", "in", uuids)
    .unionAll(
      db
        .selectFrom("auth.invitation")
        .select(({ val }) => ["id", "email as name", val<TargetKind>("invitation").as("kind")])
        .where("organizationId", "=", orgId)
        .where("id", "in", uuids),
    )
    .unionAll(
      db
        .selectFrom("auth.oauthConnection as connection")
        .innerJoin("auth.oauthClient as client", "client.clientId", "connection.clientId")
        .select(({ fn, val }) => [
          "connection.id",
          fn.coalesce("client.name", "client.clientId").as("name"),
          val<TargetKind>("oauth_client").as("kind"),
        ])
        .where("connection.userId", "in", members)
        .where("connection.id", "in", uuids),
    );
}
