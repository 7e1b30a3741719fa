import { mkdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { addServer } from "./add-server.ts";
import { ClientRun } from "./client-run.ts";
import { type ClientTarget, startClientTarget } from "./client-target.ts";
import { ClientsReport } from "./clients-report.ts";
import { claudeCode } from "./drivers/claude-code.ts";
import { codex } from "./drivers/codex.ts";
import { inspector } from "./drivers/inspector.ts";
import { mcpRemote } from "./drivers/mcp-remote.ts";
import { opencode } from "./drivers/opencode.ts";
import { installClient } from "./install-client.ts";
import { driveWithModel } from "./model-client.ts";
import { type ClientResult, DISPLAY, type RealClient, SERVER } from "./real-client.ts";
import { openScriptedModel } from "./scripted-model.ts";

const PROGRAM = "gemini";
const COMMAND = `/mcp auth ${SERVER}`;
const ENTER = "\r";
/** Clears the input field before the cursor. */
const CTRL_U = "\u0015";

const geminiCli = driveWithModel({
  name: "Gemini CLI",
  packageName: "@google/gemini-cli",
  version: "0.61.0",
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

/** Of the whole run. It takes about five minutes; later tests fail at once. */
const RUN_TIMEOUT_MS = 20 * 60_000;
const CLIENTS: RealClient[] = [inspector, mcpRemote, claudeCode, codex, opencode, geminiCli];

const resources = new AsyncDisposableStack();
const signal = AbortSignal.timeout(RUN_TIMEOUT_MS);
const report = new ClientsReport(CLIENTS);
let target: ClientTarget;
let folder: string;

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  target = resources.use(await startClientTarget());
});

afterAll(async () => {
  const canReachInternet = target.canReachInternet();
  await resources.disposeAsync();
  await report.write(canReachInternet);
});

/** Runs a client against the service with a home folder of its own. */
async function runClient(programs: string, connect: (run: ClientRun) => Promise<ClientResult>): Promise<ClientResult> {
  signal.throwIfAborted();
  await using model = await openScriptedModel();
  await using home = await temporaryFolder();
  await using run = await ClientRun.create({
    folder: home.path,
    programs,
    model,
    signal,
    gatewayUrl: target.gatewayUrl,
    authorize: (url) => target.authorize(url),
  });
  const result = await connect(run);
  expect(result.tools).toContain("service_execute");
  expect(result.toolResult).toContain(target.appId);
  return result;
}

describe.each(CLIENTS)("$name", (client) => {
  let programs: string;

  beforeAll(async () => {
    const installed = path.join(folder, client.packageName.replaceAll("/", "-"));
    await mkdir(installed);
    programs = await installClient(client, installed, signal);
  });

  test("connects with a personal access token, lists the tools and calls one", async () => {
    const connect = (run: ClientRun) => client.connectWithToken(run, target.personalToken);
    await report.record(client, "token", () => runClient(programs, connect));
  });

  test("connects with only the URL: the user signs in and consents, and the client calls a tool", async () => {
    const connect = (run: ClientRun) => client.connectWithOAuth(run);
    await report.record(client, "oauth", () => runClient(programs, connect));
  });
});
