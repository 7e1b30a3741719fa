import { addServer } from "../add-server.ts";
import type { ClientRun } from "../client-run.ts";
import { driveWithModel } from "../model-client.ts";
import { DISPLAY } from "../real-client.ts";
import { SERVER } from "../server-name.ts";

const PROGRAM = "gemini";
const COMMAND = `/mcp auth ${SERVER}`;
const ENTER = "\r";
/** Clears the input field before the cursor. */
const CTRL_U = "\u0015";

export const geminiCli = driveWithModel({
  name: "Gemini CLI",
  packageName: "@google/gemini-cli",
  version: "0.61.0",
  limits: ["only in folders that it trusts"],
  program: PROGRAM,
  promptArgs: ["--yolo", "--model", "gemini-2.5-flash", "--prompt"],
  toolPrefix: `mcp_${SERVER}_`,
  environment,
  async configure(run, token) {
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
    };
    await run.writeHomeFile(".gemini/settings.json", JSON.stringify(settings));
    await addServer(run, "gemini", token);
  },
  /** It has no command for signing in, only `/mcp auth` in its user interface. */
  async signIn(run) {
    await run.signInInTerminal(PROGRAM, {
      env: { ...environment(run), ...DISPLAY },
      ready: /Type your message/,
      steps: [
        // It suggests the name of the server once it has loaded its commands. Before, it would send the text to the model.
        { keys: CTRL_U + COMMAND, shows: new RegExp(`^ *${SERVER} *\\r?$`, "m") },
        { keys: ENTER, shows: /Do you want to continue\?/ },
        { keys: ENTER, shows: /Opening your browser/ },
      ],
      done: /Successfully authenticated and reloaded tools/,
    });
  },
});

function environment(run: ClientRun): Record<string, string> {
  return {
    GEMINI_API_KEY: "scripted",
    GOOGLE_GEMINI_BASE_URL: run.model.url,
    // Otherwise it asks the operating system's key chain for its tokens.
    GEMINI_FORCE_FILE_STORAGE: "true",
  };
}
