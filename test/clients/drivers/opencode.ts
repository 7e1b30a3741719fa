import type { ClientRun } from "../client-run.ts";
import { asksModel, type ClientResult, type RealClient, resultOfModel, SERVER } from "../real-client.ts";

const PROGRAM = "opencode";

export const opencode: RealClient = {
  name: "opencode",
  packageName: "opencode-ai",
  version: "1.18.33",
  installScript: "postinstall.mjs",
  async connectWithToken(run, token) {
    await writeConfig(run, { headers: { Authorization: `Bearer ${token}` } });
    return askModel(run);
  },
  async connectWithOAuth(run) {
    await writeConfig(run, {});
    await run.runWithSignIn(PROGRAM, ["mcp", "auth", SERVER]);
    return askModel(run);
  },
};

async function writeConfig(run: ClientRun, serverSettings: object): Promise<void> {
  const model = { name: "Scripted", tool_call: true, limit: { context: 200_000, output: 8000 } };
  const provider = { options: { baseURL: `${run.model.url}/v1`, apiKey: "scripted" }, models: { scripted: model } };
  const config = {
    autoupdate: false,
    share: "disabled",
    model: "anthropic/scripted",
    small_model: "anthropic/scripted",
    provider: { anthropic: provider },
    mcp: { [SERVER]: { type: "remote", url: run.gatewayUrl, enabled: true, ...serverSettings } },
  };
  await run.writeHomeFile(".config/opencode/opencode.json", JSON.stringify(config));
}

async function askModel(run: ClientRun): Promise<ClientResult> {
  const output = await run.run(PROGRAM, ["run", "List my apps."]);
  return resultOfModel(run, output, `${SERVER}_`, asksModel("opencode run"));
}
