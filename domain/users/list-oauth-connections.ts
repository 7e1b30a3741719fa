import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { requireSignedInUser } from "./signed-in-user.ts";

export interface OAuthConnectionView {
  id: string;
  /** The client chose this name itself. */
  name: string | null;
  /** The host of the client's metadata document, which only its owner can publish; `null` for a registered client. */
  host: string | null;
  scopes: string[];
  /** The name of the only organization in which the client may act; `null` for all organizations of the user. */
  organization: string | null;
  connected_at: string;
  /** When the client last received an access token, which is valid for a few minutes. */
  last_used_at: string;
}

export interface ListOAuthConnectionsDeps {
  db: Db;
}

/**
 * Lists the OAuth clients that the user has connected, the last used first.
 *
 * @throws {ServiceError} `forbidden` for a machine token
 */
export async function listOAuthConnections(
  { db }: ListOAuthConnectionsDeps,
  caller: Caller,
): Promise<{ connections: OAuthConnectionView[] }> {
  const rows = await db
    .selectFrom("auth.oauthConnection as connection")
    .innerJoin("auth.oauthClient as client", "client.clientId", "connection.clientId")
    .leftJoin("auth.organization as organization", "organization.id", "connection.organizationId")
    .select(["connection.id", "connection.clientId", "connection.scope"])
    .select(["connection.connectedAt", "connection.lastUsedAt"])
    .select(["client.name", "organization.name as organization"])
    .where("connection.userId", "=", requireSignedInUser(caller))
    .orderBy("connection.lastUsedAt", "desc")
    .orderBy("connection.id")
    .execute();
  const connections = rows.map(({ id, clientId, scope, connectedAt, lastUsedAt, name, organization }) => ({
    id,
    name,
    // The id of a registered client is not a URL.
    host: URL.parse(clientId)?.host ?? null,
    scopes: scope.split(" ").filter((part) => part !== ""),
    organization,
    connected_at: toIsoTimestamp(connectedAt),
    last_used_at: toIsoTimestamp(lastUsedAt),
  }));
  return { connections };
}
