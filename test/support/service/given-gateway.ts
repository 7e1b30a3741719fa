import { expect } from "vitest";
import type { ScriptedGateway } from "../agents/scripted-gateway.ts";
import { type ListedServer, listServers } from "./main-agent.ts";
import type { Tenant } from "./harness.ts";

/** Registers a gateway of agents and waits until its agents are listed. */
export async function givenGateway(
  { rest }: Tenant,
  { url, token }: Pick<ScriptedGateway, "url" | "token">,
): Promise<ListedServer> {
  const { body } = await rest.post("/v1/servers", { name: "Gateway", kind: "openclaw", url, token });
  const find = async () => (await listServers(rest)).find(({ server_id: id }) => id === body["server_id"]);
  await expect.poll(find).toMatchObject({ status: "ready" });
  return (await find())!;
}
