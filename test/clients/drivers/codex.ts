import { addServer } from "../add-server.ts";
import { driveWithModel } from "../model-client.ts";
import { SERVER } from "../server-name.ts";

const PROGRAM = "codex";

export const codex = driveWithModel({
  name: "Codex",
  packageName: "@openai/codex",
  version: "0.171.0",
  program: PROGRAM,
  promptArgs: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
  toolPrefix: `mcp__${SERVER}__`,
  environment: () => ({}),
  async configure(run, token) {
    await run.writeHomeFile(
      ".codex/config.toml",
      `model = "scripted"
model_provider = "scripted"
mcp_oauth_credentials_store = "file"

[model_providers.scripted]
name = "Scripted"
base_url = "${run.model.url}/v1"
wire_api = "responses"
`,
    );
    await addServer(run, "codex", token);
  },
  async signIn(run) {
    await run.runWithSignIn(PROGRAM, ["mcp", "login", SERVER]);
  },
});
