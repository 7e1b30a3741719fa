import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect } from "vitest";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
const INFO = { name: "a-client", version: "1.0.0" };

/** The methods that the test uses. Both major versions of the SDK have them. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

type Connect = (url: URL, headers: Record<string, string>) => Promise<AnyClient>;

async function connect2(url: URL, headers: Record<string, string>, mode?: object | string): Promise<AnyClient> {
  const client = new Client2(INFO, mode === undefined ? {} : { versionNegotiation: { mode } as never });
  await client.connect(new Transport2(url, { requestInit: { headers } }));
  return client;
}

const CLIENTS: Record<string, Connect> = {
  "the v1 SDK's client": async (url, headers) => {
    const client = new Client1(INFO);
    await client.connect(new Transport1(url, { requestInit: { headers } }));
    return client;
  },
  "the v2 SDK's client": (url, headers) => connect2(url, headers),
  "the v2 SDK's client, legacy": (url, headers) => connect2(url, headers, "legacy"),
  "the v2 SDK's client, auto": (url, headers) => connect2(url, headers, "auto"),
  "the v2 SDK's client, pinned to 2026-07-28": (url, headers) => connect2(url, headers, { pin: "2026-07-28" }),
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  verifies(
    "gateway.clients.any",
    `${name} connects, lists the tools, calls one, and gets an error for a wrong call`,
    async () => {
      const tenant = await service().tenant();
      const app = await service().givenApp(tenant);
      const headers = { authorization: `Bearer ${tenant.personal_access_token}` };
      const client = await connect(new URL(`${service().service.publicUrl}/mcp`), headers);
      try {
        const { tools } = await client.listTools();
        expect(tools.map((tool) => tool.name)).toContain("service_list_apps");
        const listed = await client.callTool({ name: "service_list_apps", arguments: {} });
        expect(listed).toMatchObject({ structuredContent: { apps: [{ id: app.id }], next_cursor: null } });
        const refused = await client.callTool({ name: "service_list_apps", arguments: { limit: -1 } });
        expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("limit") }] });
        await expect(client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toThrow("Unknown tool");
      } finally {
        await client.close();
      }
    },
  );
}
