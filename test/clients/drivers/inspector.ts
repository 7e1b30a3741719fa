import type { ClientRun } from "../client-run.ts";
import { type ClientResult, type RealClient, TOOL } from "../real-client.ts";

const PROGRAM = "mcp-inspector";

export const inspector: RealClient = {
  name: "MCP Inspector",
  packageName: "@modelcontextprotocol/inspector",
  version: "2.12.0",
  async connectWithToken(run, token) {
    const header = ["--header", `Authorization: Bearer ${token}`];
    return listAndCall((args) => run.run(PROGRAM, [...argumentsOf(run), ...header, ...args]));
  },
  async connectWithOAuth(run) {
    // Otherwise it opens a browser only from a terminal, and forgets the token when it ends.
    const env = { MCP_AUTO_OPEN_ENABLED: "true", MCP_INSPECTOR_SECRET_STORE: "file" };
    await run.runWithSignIn(PROGRAM, [...argumentsOf(run), "--method", "tools/list"], { env });
    return listAndCall((args) => run.run(PROGRAM, [...argumentsOf(run), "--stored-auth-only", ...args], { env }));
  },
};

function argumentsOf(run: ClientRun): string[] {
  return ["--cli", "--server-url", run.gatewayUrl, "--transport", "http", "--format", "json", "--quiet"];
}

async function listAndCall(run: (args: string[]) => Promise<string>): Promise<ClientResult> {
  // It ends with 6 if a schema has an error, and lists errors and warnings.
  const list = JSON.parse(lastLine(await run(["--method", "tools/list", "--strict"]))) as {
    result: { tools: { name: string }[] };
    schemaFindings?: object[];
  };
  if (list.schemaFindings !== undefined)
    throw new Error(`--strict reported schemas:\n${JSON.stringify(list.schemaFindings, null, 2)}`);
  return {
    tools: list.result.tools.map(({ name }) => name),
    toolResult: await run(["--method", "tools/call", "--tool-name", TOOL]),
  };
}

/** Returns the last line that is a JSON object. Warnings precede or follow it. */
function lastLine(output: string): string {
  return output.split("\n").findLast((line) => line.startsWith("{")) ?? output;
}
