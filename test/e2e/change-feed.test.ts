import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { SERVICES } from "../support/service/test-databases.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { waitFor } from "../support/time-limits.ts";

/** The `REDIS_URL` of each change feed. Without it, processes notify each other through Postgres. */
const FEEDS = SERVICES === null ? { Postgres: null } : { Postgres: null, Redis: SERVICES.redisUrl };

for (const [feed, redisUrl] of Object.entries(FEEDS))
  test(`a client of one process is notified of changes in another process, through ${feed}`, async () => {
    await using working = await createHarness({ worker: true, config: { redisUrl } });
    await using other = await createHarness({ config: { databaseUrl: working.config.databaseUrl, redisUrl } });
    const [tenant, otherTenant] = [await working.tenant(), await working.tenant()];
    const notified: string[] = [];
    await using stack = new AsyncDisposableStack();
    for (const [name, caller] of Object.entries({ tenant, otherTenant }))
      stack.adopt(await connectListener(other, caller, () => notified.push(name)), (client) => client.close());

    for (const expected of [["tenant"], ["tenant", "tenant"]]) {
      const { id } = await working.givenApp(tenant);
      expect((await tenant.rest.delete(`/v1/apps/${id}`)).body).toEqual({ status: "deleted" });
      await waitFor(() => expect(notified).toEqual(expected));
    }
  });

/** Connects a client that calls `onChange` when its list of tools changes. */
async function connectListener({ service }: Harness, caller: Tenant, onChange: () => void): Promise<Client> {
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
