import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { ClientRun } from "../client-run.ts";
import { type ClientResult, type RealClient, TOOL } from "../real-client.ts";

export const mcpRemote: RealClient = {
  name: "mcp-remote",
  packageName: "mcp-remote",
  version: "0.15.1",
  connectWithToken: (run, token) => connect(run, ["--header", `Authorization: Bearer ${token}`], null),
  connectWithOAuth: (run) => connect(run, [], run.signIn()),
};

/** Connects through the bridge, as a client that knows only stdio does. */
async function connect(run: ClientRun, args: string[], signedIn: Promise<void> | null): Promise<ClientResult> {
  const transport = new StdioClientTransport({
    command: run.program("mcp-remote"),
    args: [run.gatewayUrl, ...args],
    env: run.env,
    cwd: run.workFolder,
    stderr: "pipe",
  });
  let output = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    output += String(chunk);
  });
  const client = new Client({ name: "a-client", version: "1.0.0" });
  try {
    await Promise.all([client.connect(transport), signedIn]);
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: TOOL, arguments: {} });
    return {
      tools: tools.map(({ name }) => name),
      toolResult: JSON.stringify(result),
    };
  } catch (error) {
    throw new Error(`mcp-remote did not connect:\n${output.slice(-4000)}`, { cause: error });
  } finally {
    await client.close();
  }
}
