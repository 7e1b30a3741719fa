import { type EntityManager, LockMode } from "@mikro-orm/core";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { inTransaction } from "../shared/transaction.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { type ServerConnectionView, serverNotFound, toConnectionView } from "./agent-view.ts";
import { checkConnection, checkGatewayToken, type ConnectionDeps, sealToken } from "./gateway-connection-rules.ts";

export interface UpdateServerDeps extends ConnectionDeps {
  em: EntityManager;
  serverChanges: ChangeFeed;
}

export interface UpdateServer {
  id: string;
  name?: string | undefined;
  /** Only together with the token, so that the stored one is never sent to another address. */
  url?: string | undefined;
  token?: string | undefined;
}

export interface UpdatedServer extends ServerConnectionView {
  server_id: string;
  name: string;
}

/**
 * Changes the name of a server, or how the service connects to its gateway. With another URL or token, the service connects
 * again.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed; `not_found` when the organization has no such server;
 *   `conflict` for a URL or a token of a managed server
 */
export async function updateServer(
  deps: UpdateServerDeps,
  { orgId }: Caller,
  { id, name, url, token }: UpdateServer,
): Promise<UpdatedServer> {
  if (name === undefined && url === undefined && token === undefined)
    throw new ServiceError("invalid", "Nothing to change. Send one or more of: name, token, url together with token.");
  if (name !== undefined) checkDisplayName(name);
  const connection = toConnection(deps, { url, token });
  const server = await inTransaction(deps.em, async (em) => {
    const found = await em.findOne(AgentServer, { id, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (found === null) throw serverNotFound();
    found.name = name ?? found.name;
    if (connection !== null) changeConnection(deps, found, connection);
    return found;
  });
  if (connection !== null) deps.serverChanges.announce(id);
  return { server_id: id, name: server.name, ...toConnectionView(server) };
}

interface NewConnection {
  url: string | undefined;
  token: string;
}

/** @returns `null` when the connection does not change */
function toConnection(deps: ConnectionDeps, { url, token }: Partial<NewConnection>): NewConnection | null {
  if (token === undefined) {
    if (url === undefined) return null;
    throw new ServiceError(
      "invalid",
      "token: is required with url, because the stored token is sent to no other address.",
    );
  }
  if (url === undefined) checkGatewayToken(token);
  else checkConnection(deps, { url, token });
  return { url, token };
}

function changeConnection(deps: ConnectionDeps, server: AgentServer, { url, token }: NewConnection): void {
  if (server.kind === "managed")
    throw new ServiceError("conflict", "url and token: this is a managed server, which has none.");
  server.url = url ?? server.url;
  server.sealedToken = sealToken(deps, server.id, token);
  server.connectionVersion += 1;
  server.status = "connecting";
  server.statusSince = new Date();
  server.statusMessage = null;
}
