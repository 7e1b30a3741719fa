import { StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { MCP_CLIENTS, useTools } from "../support/clients/mcp-scenarios.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

for (const [name, connect] of Object.entries(MCP_CLIENTS)) {
  verifies(
    "gateway.clients.any",
    `${name} connects, lists the tools, calls one, and gets an error for a wrong call`,
    async () => {
      const tenant = await service().tenant();
      const app = await service().givenApp(tenant);
      const options = { requestInit: { headers: { authorization: `Bearer ${tenant.personal_access_token}` } } };
      const url = new URL(`${service().service.publicUrl}/mcp`);
      const client = await connect({ v1: () => new Transport1(url, options), v2: () => new Transport2(url, options) });
      try {
        await useTools(client, app.id);
      } finally {
        await client.close();
      }
    },
  );
}
