import type { ClientRun } from "../client-run.ts";
import { asksModel, type ClientResult, DISPLAY, type RealClient, resultOfModel, SERVER, TOOL } from "../real-client.ts";

const PROGRAM = "claude";

export const claudeCode: RealClient = {
  name: "Claude Code",
  packageName: "@anthropic-ai/claude-code",
  version: "2.1.330",
  installScript: "install.cjs",
  async connectWithToken(run, token) {
    await run.run(PROGRAM, [...addServer(run), "--header", `Authorization: Bearer ${token}`]);
    return askModel(run);
  },
  async connectWithOAuth(run) {
    await run.run(PROGRAM, addServer(run));
    await run.runWithSignIn(PROGRAM, ["mcp", "login", SERVER], { terminal: true, env: DISPLAY });
    return askModel(run);
  },
};

function addServer(run: ClientRun): string[] {
  return ["mcp", "add", "--transport", "http", SERVER, run.gatewayUrl];
}

async function askModel(run: ClientRun): Promise<ClientResult> {
  const env = {
    ANTHROPIC_BASE_URL: run.model.url,
    ANTHROPIC_API_KEY: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Otherwise it asks the model before the server is connected.
    MCP_CONNECTION_NONBLOCKING: "false",
    // Otherwise the model has to search for the tools first.
    ENABLE_TOOL_SEARCH: "false",
  };
  const args = ["-p", "List my apps.", "--allowedTools", `mcp__${SERVER}__${TOOL}`];
  const output = await run.run(PROGRAM, args, { env });
  return resultOfModel(run, output, `mcp__${SERVER}__`, asksModel("claude -p"));
}
