import type { ClientRun } from "../client-run.ts";
import { asksModel, type ClientResult, DISPLAY, type RealClient, resultOfModel, SERVER } from "../real-client.ts";

const PROGRAM = "gemini";

export const geminiCli: RealClient = {
  name: "Gemini CLI",
  packageName: "@google/gemini-cli",
  version: "0.61.0",
  async connectWithToken(run, token) {
    await writeConfig(run, { headers: { Authorization: `Bearer ${token}` } });
    return askModel(run);
  },
  async connectWithOAuth(run) {
    await writeConfig(run, {});
    // It has no command for signing in, only `/mcp auth` in its user interface.
    await run.signInInTerminal(PROGRAM, ["--prompt-interactive", `/mcp auth ${SERVER}`], {
      env: { ...modelSettings(run), ...DISPLAY },
      confirm: /Authentication required/,
      done: /Successfully authenticated|Successfully reloaded/i,
    });
    return askModel(run);
  },
};

async function writeConfig(run: ClientRun, serverSettings: object): Promise<void> {
  const settings = {
    mcpServers: { [SERVER]: { url: run.gatewayUrl, type: "http", ...serverSettings } },
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    general: { enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
  };
  await run.writeHomeFile(".gemini/settings.json", JSON.stringify(settings));
}

function modelSettings(run: ClientRun): Record<string, string> {
  return {
    GEMINI_API_KEY: "scripted",
    GOOGLE_GEMINI_BASE_URL: run.model.url,
    // Otherwise it asks the operating system's key chain for its tokens.
    GEMINI_FORCE_FILE_STORAGE: "true",
  };
}

async function askModel(run: ClientRun): Promise<ClientResult> {
  const args = ["--yolo", "--model", "gemini-2.5-flash", "--prompt", "List my apps."];
  const output = await run.run(PROGRAM, args, { env: modelSettings(run) });
  return resultOfModel(run, output, `mcp_${SERVER}_`, asksModel("gemini --prompt"));
}
