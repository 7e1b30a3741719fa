import { Client as Client2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";

const INFO = { name: "a-client", version: "1.0.0" };

/** The transport to connect with, by the major version of the SDK. */
export interface Transports {
  v1(): Parameters<Client1["connect"]>[0];
  v2(): Parameters<Client2["connect"]>[0];
}

/** The methods that the scenarios use. Both major versions of the SDK have them. */
export interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

type Connect = (transports: Transports) => Promise<AnyClient>;

async function connect2({ v2 }: Transports, mode?: object | string): Promise<AnyClient> {
  const client = new Client2(INFO, mode === undefined ? {} : { versionNegotiation: { mode } as never });
  await client.connect(v2());
  return client;
}

/** The clients of both SDKs in every mode, and how they connect. */
export const MCP_CLIENTS: Readonly<Record<string, Connect>> = {
  "the v1 SDK's client": async ({ v1 }) => {
    const client = new Client1(INFO);
    await client.connect(v1());
    return client;
  },
  "the v2 SDK's client": (transports) => connect2(transports),
  "the v2 SDK's client, legacy": (transports) => connect2(transports, "legacy"),
  "the v2 SDK's client, auto": (transports) => connect2(transports, "auto"),
  "the v2 SDK's client, pinned to 2026-07-28": (transports) => connect2(transports, { pin: "2026-07-28" }),
};

/** Lists the tools, calls one, and makes a wrong call, an unknown call and a call with a text that HTTP headers cannot contain. */
export async function useTools(client: AnyClient, appId: string): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain("service_list_apps");
  const listed = await client.callTool({ name: "service_list_apps", arguments: {} });
  expect(listed).toMatchObject({ structuredContent: { apps: [{ id: appId }], next_cursor: null } });
  const refused = await client.callTool({ name: "service_list_apps", arguments: { limit: -1 } });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("limit") }] });
  for (const name of ["no_such_tool", "kein Wörkzeug\n"])
    await expect(client.callTool({ name, arguments: {} })).rejects.toThrow("Unknown tool");
}

/** Connects a client that is notified about changes of the tool list: an earlier revision with both SDKs, or a subscription. */
export async function connectListener(
  kind: "v1" | "v2" | "subscription",
  { v1, v2 }: Transports,
  onChange: () => void,
): Promise<AnyClient> {
  if (kind === "v1") {
    const client = new Client1(INFO);
    client.setNotificationHandler(ToolListChangedNotificationSchema, onChange);
    await client.connect(v1());
    return client;
  }
  const mode = kind === "v2" ? ("legacy" as const) : { pin: "2026-07-28" };
  const client = new Client2(INFO, { versionNegotiation: { mode } });
  client.setNotificationHandler("notifications/tools/list_changed", onChange);
  await client.connect(v2());
  if (kind === "subscription") await client.listen({ toolsListChanged: true });
  return client;
}
