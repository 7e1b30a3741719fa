import { addServer } from "../add-server.ts";
import { driveWithModel } from "../model-client.ts";
import { SERVER } from "../server-name.ts";

const PROGRAM = "opencode";

export const opencode = driveWithModel({
  name: "opencode",
  packageName: "opencode-ai",
  version: "1.18.33",
  installScript: "postinstall.mjs",
  program: PROGRAM,
  promptArgs: ["run"],
  toolPrefix: `${SERVER}_`,
  environment: () => ({}),
  async configure(run, token) {
    const model = { name: "Scripted", tool_call: true, limit: { context: 200_000, output: 8000 } };
    const provider = { options: { baseURL: `${run.model.url}/v1`, apiKey: "scripted" }, models: { scripted: model } };
    const config = {
      autoupdate: false,
      share: "disabled",
      model: "anthropic/scripted",
      small_model: "anthropic/scripted",
      provider: { anthropic: provider },
    };
    await run.writeHomeFile(".config/opencode/opencode.json", JSON.stringify(config));
    await addServer(run, "opencode", token);
  },
  async signIn(run) {
    await run.runWithSignIn(PROGRAM, ["mcp", "auth", SERVER]);
  },
});
