import { randomUUID } from "node:crypto";
import { AgentServer } from "../../../domain/agents/agent-server.entity.ts";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { ValueCipher } from "../../../domain/shared/value-cipher.ts";
import type { Orm } from "../../../server/database/orm.ts";
import { nextMillisecond } from "../next-millisecond.ts";

/** Encrypts the tokens for gateways. */
export const tokenCipher = new ValueCipher("secret of the test", "agent-servers");

export const GATEWAY_TOKEN = "oc-secret";

export interface GivenServer {
  orgId?: string;
  /** By default an OpenClaw gateway that was not reached yet. */
  isManaged?: boolean;
  /** The ids of its agents on the gateway, the main one first; `null` before the first contact. */
  agents?: (string | null)[];
  status?: "connecting" | "ready";
}

/** Stores a server with its agents. Returns the ids of the agents in the order of `agents`, the main one first. */
export async function givenServer(
  { em: root }: Pick<Orm, "em">,
  { orgId = randomUUID(), isManaged = false, agents = [null], status = "connecting" }: GivenServer = {},
): Promise<{ orgId: string; serverId: string; agentIds: string[] }> {
  const em = root.fork();
  const serverId = randomUUID();
  const gateway = {
    kind: "openclaw",
    url: "wss://gateway.example.com",
    sealedToken: tokenCipher.seal(GATEWAY_TOKEN, [serverId]),
    status,
  } as const;
  em.create(AgentServer, { id: serverId, orgId, name: "Server", ...(isManaged ? {} : gateway) });
  const rows = agents.map((externalId, index) =>
    em.create(Agent, { orgId, serverId, name: externalId ?? "Main", externalId, isMain: index === 0 }),
  );
  await em.flush();
  await nextMillisecond();
  return { orgId, serverId, agentIds: rows.map(({ id }) => id) };
}

/** A user of an organization, or with `agentId` an agent with its gateway token. */
export function callerOf(orgId: string, agentId?: string): Caller {
  const kind = agentId === undefined ? "personal_access_token" : "gateway_token";
  const credential = { kind, id: "token" } as const;
  const agent = agentId === undefined ? {} : { agentId };
  return { orgId, userId: null, role: "owner", scope: "everything", credential, ...agent };
}
