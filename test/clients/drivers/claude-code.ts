import { addServer } from "../add-server.ts";
import { driveWithModel } from "../model-client.ts";
import { DISPLAY, TOOL } from "../real-client.ts";
import { SERVER } from "../server-name.ts";

const PROGRAM = "claude";
const TOOL_PREFIX = `mcp__${SERVER}__`;

export const claudeCode = driveWithModel({
  name: "Claude Code",
  packageName: "@anthropic-ai/claude-code",
  version: "2.1.332",
  installScript: "install.cjs",
  program: PROGRAM,
  promptArgs: ["--allowedTools", TOOL_PREFIX + TOOL, "-p"],
  toolPrefix: TOOL_PREFIX,
  environment: ({ model }) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Otherwise it asks the model before the server is connected.
    MCP_CONNECTION_NONBLOCKING: "false",
    // Otherwise the model has to search for the tools first.
    ENABLE_TOOL_SEARCH: "false",
  }),
  configure: (run, token) => addServer(run, "claude-code", token),
  async signIn(run) {
    await run.runWithSignIn(PROGRAM, ["mcp", "login", SERVER], { terminal: true, env: DISPLAY });
  },
});
