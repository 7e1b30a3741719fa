import { mkdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestUser } from "../support/identity/test-user.ts";
import { createInstallation, type ServiceProcess } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type BrowserUser, openBrowserUser } from "./browser-user.ts";
import { ClientRun } from "./client-run.ts";
import { ClientsReport } from "./clients-report.ts";
import { claudeCode } from "./drivers/claude-code.ts";
import { codex } from "./drivers/codex.ts";
import { inspector } from "./drivers/inspector.ts";
import { mcpRemote } from "./drivers/mcp-remote.ts";
import { installClient } from "./install-client.ts";
import type { ClientResult, RealClient } from "./real-client.ts";
import { openScriptedModel } from "./scripted-model.ts";

const CLIENTS: RealClient[] = [inspector, mcpRemote, claudeCode, codex];

const resources = new AsyncDisposableStack();
const report = new ClientsReport(CLIENTS);
let service: ServiceProcess;
let user: BrowserUser;
let folder: string;
let appId: string;

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  service = await resources.use(await createInstallation()).start();
  // The first user owns the organization of the first start, and therefore its apps.
  const owner = new TestUser(service.publicUrl);
  expect((await owner.signUp()).status).toBe(200);
  user = resources.use(await openBrowserUser(service.publicUrl, owner));
  const { status, body } = await service.rest.post("/v1/apps/deploy", { repo: "examples/hello" });
  expect(status).toBe(201);
  appId = String(body["app_id"]);
});

afterAll(async () => {
  await resources.disposeAsync();
  await report.write();
});

/** Runs a client against the service with a home folder of its own. */
async function runClient(
  programs: string,
  connect: (run: ClientRun) => Promise<ClientResult>,
): Promise<ClientResult> {
  await using model = await openScriptedModel();
  await using home = await temporaryFolder();
  await using run = await ClientRun.create({
    folder: home.path,
    programs,
    model,
    gatewayUrl: `${service.publicUrl}/mcp`,
    authorize: (url) => user.authorize(url),
  });
  const result = await connect(run);
  expect(result.tools).toContain("service_execute");
  expect(result.toolResult).toContain(appId);
  return result;
}

for (const client of CLIENTS)
  describe(client.name, () => {
    let programs: string;

    beforeAll(async () => {
      const installed = path.join(folder, client.packageName.replaceAll("/", "-"));
      await mkdir(installed);
      programs = await installClient(client, installed);
    });

    test("connects with a personal access token, lists the tools and calls one", async () => {
      const token = service.tokens.personal_access_token;
      const connect = (run: ClientRun) => client.connectWithToken(run, token);
      await report.record(client, "token", () => runClient(programs, connect));
    });

    test("connects with only the URL: the user signs in and consents, and the client calls a tool", async () => {
      const connect = (run: ClientRun) => client.connectWithOAuth(run);
      await report.record(client, "oauth", () => runClient(programs, connect));
    });
  });
