import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { type CursorPosition, decodeCursor, encodeCursor } from "../shared/keyset-cursor.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { type ServerConnectionRow, type ServerView, toAgentView, toConnectionView } from "./agent-view.ts";

export interface ReadAgentsDeps {
  db: Db;
}

export interface ServerPageRequest {
  /** The maximum number of servers. */
  limit: number;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

export interface ServerPage {
  servers: ServerView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/** What remains for the servers, because the cursor has to fit too. */
const SERVERS_CHARACTERS = RESPONSE_CHARACTERS - 200;

interface ServerRow extends ServerConnectionRow {
  id: string;
  name: string;
  created_at: unknown;
}

/**
 * Returns one page of the organization's servers with their agents, oldest first. It ends after `limit` servers, or
 * earlier at the size limit of a response.
 *
 * @throws {ServiceError} `invalid` for a cursor that this service did not return
 */
export async function listServers(
  { db }: ReadAgentsDeps,
  { orgId }: Caller,
  { limit, cursor }: ServerPageRequest,
): Promise<ServerPage> {
  const after = cursor === undefined ? null : decodeCursor(cursor);
  const rows = await selectServers(db, orgId, after, limit + 1);
  const page = rows.slice(0, limit);
  const listed = await addAgents(db, page);
  const servers = takeWithinBudget(listed, SERVERS_CHARACTERS);
  const isCut = servers.length < listed.length;
  const last = isCut ? page.find(({ id }) => id === servers.at(-1)?.server_id) : page.at(-1);
  const hasMore = last !== undefined && (isCut || rows.length > limit);
  return {
    servers,
    next_cursor: hasMore ? encodeCursor({ created_at: toIsoTimestamp(last.created_at), id: last.id }) : null,
  };
}

function selectServers(db: Db, orgId: string, after: CursorPosition | null, limit: number): Promise<ServerRow[]> {
  return db
    .selectFrom("agent_servers")
    .select(["id", "name", "kind", "url", "status", "created_at"])
    .select(["status_since as statusSince", "status_message as statusMessage"])
    .where("org_id", "=", orgId)
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("created_at", "id"), ">", tuple(after?.createdAt as never, after?.id as never)),
      ),
    )
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit)
    .execute();
}

async function addAgents(db: Db, servers: readonly ServerRow[]): Promise<ServerView[]> {
  if (servers.length === 0) return [];
  const ids = servers.map(({ id }) => id);
  const agents = await db
    .selectFrom("agents")
    .select(["id", "server_id", "name", "model", "is_main"])
    .where("server_id", "in", ids)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  const agentsOf = Map.groupBy(agents, ({ server_id }) => server_id);
  return servers.flatMap((server) => {
    const own = agentsOf.get(server.id) ?? [];
    const main = own.find(({ is_main }) => is_main);
    // A server that is deleted meanwhile.
    if (main === undefined) return [];
    const specialized = own.filter((agent) => agent !== main).map(toAgentView);
    return [
      {
        server_id: server.id,
        name: server.name,
        ...toConnectionView(server),
        agent: { ...toAgentView(main), specialized_agents: specialized },
      },
    ];
  });
}
