import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";
import { SERVICES } from "../support/service/databases.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";

/** The servers through which processes of one installation exchange notices, with the Redis to configure. */
const WAYS = SERVICES === null ? { Postgres: null } : { Postgres: null, Redis: SERVICES.redisUrl };

for (const [way, redisUrl] of Object.entries(WAYS))
  test(`a client of one process receives changes that happen on another process, through ${way}`, async () => {
    await using working = await createHarness({ worker: true, config: { redisUrl } });
    await using other = await createHarness({ config: { databaseUrl: working.config.databaseUrl, redisUrl } });
    const [tenant, stranger] = [await working.tenant(), await working.tenant()];
    const heard: string[] = [];
    await using stack = new AsyncDisposableStack();
    for (const [name, caller] of Object.entries({ tenant, stranger }))
      stack.adopt(await listening(other, caller, () => heard.push(name)), (client) => client.close());

    for (const told of [["tenant"], ["tenant", "tenant"]]) {
      const { id } = await working.givenApp(tenant);
      expect((await tenant.rest.delete(`/v1/apps/${id}`)).body).toEqual({ status: "deleted" });
      await vi.waitFor(() => expect(heard).toEqual(told), 10_000);
    }
  });

async function listening({ service }: Harness, caller: Tenant, onChange: () => void): Promise<Client> {
  const client = new Client(
    { name: "listener", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const headers = { authorization: `Bearer ${caller.personal_access_token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${service.publicUrl}/mcp`), { requestInit: { headers } }),
  );
  client.setNotificationHandler("notifications/tools/list_changed", onChange);
  await client.listen({ toolsListChanged: true });
  return client;
}
