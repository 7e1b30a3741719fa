import type { ClientRun } from "../client-run.ts";
import { asksModel, type ClientResult, type RealClient, resultOfModel, SERVER } from "../real-client.ts";

const PROGRAM = "codex";

export const codex: RealClient = {
  name: "Codex",
  packageName: "@openai/codex",
  version: "0.169.0",
  async connectWithToken(run, token) {
    await writeConfig(run, `bearer_token_env_var = "SERVICE_TOKEN"`);
    return askModel(run, { SERVICE_TOKEN: token });
  },
  async connectWithOAuth(run) {
    await writeConfig(run, "");
    await run.runWithSignIn(PROGRAM, ["mcp", "login", SERVER]);
    return askModel(run, {});
  },
};

async function writeConfig(run: ClientRun, serverSetting: string): Promise<void> {
  await run.writeHomeFile(
    ".codex/config.toml",
    `model = "scripted"
model_provider = "scripted"
mcp_oauth_credentials_store = "file"

[model_providers.scripted]
name = "Scripted"
base_url = "${run.model.url}/v1"
wire_api = "responses"

[mcp_servers.${SERVER}]
url = "${run.gatewayUrl}"
${serverSetting}
`,
  );
}

async function askModel(run: ClientRun, env: Record<string, string>): Promise<ClientResult> {
  const args = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "List my apps."];
  const output = await run.run(PROGRAM, args, { env });
  return resultOfModel(run, output, `mcp__${SERVER}__`, asksModel("codex exec"));
}
