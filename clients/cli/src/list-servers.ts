import type { Client, Output } from "../../sdk/src/client.ts";

export type Server = Output<"servers", "list">["servers"][number];

const PAGE = 100;

/** Reads all servers of the organization, oldest first, page by page. */
export async function listServers(client: Client, signal: AbortSignal): Promise<Server[]> {
  const servers: Server[] = [];
  let cursor: string | undefined;
  do {
    const request = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await client.servers.list(request, { signal });
    servers.push(...page.servers);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return servers;
}
