import { mkdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { ClientRun } from "./client-run.ts";
import { type ClientTarget, startClientTarget } from "./client-target.ts";
import { ClientsReport } from "./clients-report.ts";
import { claudeCode } from "./drivers/claude-code.ts";
import { codex } from "./drivers/codex.ts";
import { geminiCli } from "./drivers/gemini-cli.ts";
import { inspector } from "./drivers/inspector.ts";
import { mcpRemote } from "./drivers/mcp-remote.ts";
import { opencode } from "./drivers/opencode.ts";
import { installClient } from "./install-client.ts";
import type { ClientResult, RealClient } from "./real-client.ts";
import { runWithModel } from "./run-with-model.ts";

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
  await resources.disposeAsync();
  await report.write();
});

/** Runs a client against the service with a home folder of its own. */
async function runClient(programs: string, connect: (run: ClientRun) => Promise<ClientResult>): Promise<ClientResult> {
  signal.throwIfAborted();
  const { gatewayUrl } = target;
  const authorize = (url: string) => target.authorize(url);
  const result = await runWithModel({ programs, signal, gatewayUrl, authorize }, connect);
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
